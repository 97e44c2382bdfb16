#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include "stages.h"

namespace mrcc {
using namespace llvm;

namespace {

// A part of a local variable that others may know of, whose own address is given to nobody.
bool overlooked(const Value* pointer) {
  const Value* variable = getUnderlyingObject(pointer);
  return isa<AllocaInst>(variable) && pointer->stripPointerCasts() != variable &&
         !PointerMayBeCaptured(pointer, /*ReturnCaptures=*/true, /*StoreCaptures=*/true) &&
         PointerMayBeCaptured(variable, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

}  // namespace

PreservedAnalyses LocalMembers::run(Function& function, FunctionAnalysisManager&) {
  if (!function.hasFnAttribute(Attribute::SanitizeThread)) return PreservedAnalyses::all();
  // All are found before the first is changed: what is hidden counts as given away.
  SmallVector<Use*, 16> found;
  for (Instruction& i : instructions(function))
    if (isa<LoadInst, StoreInst>(i)) {
      Use& address = i.getOperandUse(isa<LoadInst>(i) ? 0u : 1u);
      if (overlooked(address)) found.push_back(&address);
    }
  for (Use* address : found) {
    auto* access = cast<Instruction>(address->getUser());
    address->set(new FreezeInst(address->get(), "part", access->getIterator()));
  }
  if (found.empty()) return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

}  // namespace mrcc
