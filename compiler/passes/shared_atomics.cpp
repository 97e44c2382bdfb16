#include "shared_atomics.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

#include "own_memory.h"

namespace mrcc {
using namespace llvm;

namespace {

bool is_shared(const Value* pointer, const Function& f) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [&](const Value* o) { return is_shared_base(*o, f); });
}

}  // namespace

void lower_shared_atomics(Function& f) {
  SmallVector<Instruction*, 16> atomics;
  for (Instruction& i : instructions(f)) {
    if (auto* rmw = dyn_cast<AtomicRMWInst>(&i); rmw && !rmw->isVolatile() && is_shared(rmw->getPointerOperand(), f))
      atomics.push_back(&i);
    if (auto* cas = dyn_cast<AtomicCmpXchgInst>(&i);
        cas && !cas->isVolatile() && is_shared(cas->getPointerOperand(), f))
      atomics.push_back(&i);
  }
  for (Instruction* i : atomics)  // what they become has no metadata
    if (auto* rmw = dyn_cast<AtomicRMWInst>(i))
      lowerAtomicRMWInst(rmw);
    else
      lowerAtomicCmpXchgInst(cast<AtomicCmpXchgInst>(i));
}

}  // namespace mrcc
