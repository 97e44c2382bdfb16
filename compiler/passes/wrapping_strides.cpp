#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include "stages.h"

namespace mrcc {
using namespace llvm;

namespace {

// An index of 32 bits wraps around only where the program's arrays are as large.
constexpr unsigned narrow_bits = 32;

// Made of a narrow value that goes on by a constant step in a loop: `(t * 3) & 63` is {0,+,3} in six bits, widened.
bool wraps_in_strides(const SCEV* value) {
  return SCEVExprContains(value, [](const SCEV* part) {
    auto* wide = dyn_cast<SCEVIntegralCastExpr>(part);
    if (!wide || !isa<SCEVZeroExtendExpr, SCEVSignExtendExpr>(wide)) return false;
    auto* narrow = dyn_cast<SCEVAddRecExpr>(wide->getOperand());
    if (!narrow || narrow->getType()->getIntegerBitWidth() >= narrow_bits) return false;
    auto* step = dyn_cast<SCEVConstant>(narrow->getOperand(1));
    return !step || !step->getAPInt().abs().isPowerOf2();
  });
}

}  // namespace

PreservedAnalyses WrappingStrides::run(Function& function, FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty()) return PreservedAnalyses::all();
  auto& se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<Instruction*, 4> found;
  for (Instruction& i : instructions(function))
    if (isa<BinaryOperator, CastInst>(i) && i.getType()->isIntegerTy() && loops.getLoopFor(i.getParent()) &&
        wraps_in_strides(se.getSCEV(&i)))
      found.push_back(&i);
  for (Instruction* i : found) {
    auto* hidden = new FreezeInst(i, i->getName() + ".wraps", std::next(i->getIterator()));
    i->replaceUsesWithIf(hidden, [&](const Use& use) { return use.getUser() != hidden; });
  }
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

}  // namespace mrcc
