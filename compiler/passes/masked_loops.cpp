#include "masked_loops.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "row_addresses.h"
#include "thread_loops.h"
#include "thread_vectors.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr std::size_t most_instructions = 400;  // of a thread loop
constexpr unsigned fewest_lanes = 4;

// One way in, one way back, one way out; threads counted by phis that grow by what doesn't change; nothing carried from
// thread to thread or out of the loop.
bool is_counted(const Loop& loop, ScalarEvolution& se) {
  BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch(), *after = loop.getExitBlock();
  if (!before || !latch || !after || loop.getExitingBlock() != latch) return false;
  const SCEV* count = se.getBackedgeTakenCount(&loop);
  SCEVExpander expander(se, se.getDataLayout(), "threads");
  const auto usable = [&](const SCEV* s) { return expander.isSafeToExpandAt(s, before->getTerminator()); };
  if (isa<SCEVCouldNotCompute>(count) || !usable(count)) return false;
  for (PHINode& phi : loop.getHeader()->phis()) {
    const auto* affine = se.isSCEVable(phi.getType()) ? dyn_cast<SCEVAddRecExpr>(se.getSCEV(&phi)) : nullptr;
    if (!affine || affine->getLoop() != &loop || !affine->isAffine() || !usable(affine->getStepRecurrence(se)))
      return false;
  }
  for (PHINode& phi : after->phis())
    if (const auto* i = dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch)); i && loop.contains(i)) return false;
  return true;
}

// Inner loops have one way in and one way back, and leave to the loop around them only.
bool are_nested(const Loop& loop, const LoopInfo& loops) {
  return all_of(loop.getSubLoops(), [&](const Loop* inner) {
    SmallVector<BasicBlock*, 4> exits;
    inner->getExitBlocks(exits);
    return inner->getLoopPreheader() && inner->getLoopLatch() && !exits.empty() && are_nested(*inner, loops) &&
           all_of(exits, [&](const BasicBlock* exit) { return loops.getLoopFor(exit) == &loop; });
  });
}

// How many threads go into a vector of the widest type that the inner loops compute with, but for indices, which are
// the same for all threads or neighbours; 0 where there is none.
unsigned lanes_of(const Loop& loop, const LoopInfo& loops, ScalarEvolution& se, unsigned register_bits) {
  RowAddresses addresses(loop, se);
  const auto is_index = [&](Instruction& i) { return se.isSCEVable(i.getType()) && addresses.stride(&i); };
  unsigned widest = 0;
  for (BasicBlock* block : loop.blocks()) {
    if (loops.getLoopFor(block) == &loop) continue;
    for (Instruction& i : *block)
      if ((i.getType()->isIntegerTy() || i.getType()->isFloatingPointTy()) && !is_index(i))
        widest = std::max(widest, static_cast<unsigned>(i.getType()->getScalarSizeInBits()));
  }
  const unsigned lanes = widest ? register_bits / std::max(widest, 32u) : 0;
  return lanes >= fewest_lanes ? lanes : 0;
}

bool can_be_vectors(const Loop& loop) {
  if (!loop.isAnnotatedParallel()) return false;
  std::size_t size = 0;
  for (const BasicBlock* block : loop.blocks()) {
    size += block->size();
    if (!all_of(*block, has_vector_form)) return false;
  }
  return size <= most_instructions;
}

// What inner loops touch is in rows, or the same for all threads; or there is much to compute with it. (Lanes that
// gather or divide do so one by one, whoever takes part.)
bool is_worth_it(const Loop& loop, LoopInfo& loops, ScalarEvolution& se, const TargetTransformInfo& target,
                 unsigned lanes) {
  constexpr unsigned enough = 8;  // instructions for each of those
  RowAddresses addresses(loop, se);
  unsigned computes = 0, dear = 0;
  for (BasicBlock* block : loop.blocks()) {
    if (loops.getLoopFor(block) == &loop) continue;
    for (Instruction& i : *block) {
      Value* pointer = getLoadStorePointerOperand(&i);
      if (!pointer) {
        computes += !isa<PHINode, GetElementPtrInst, CastInst, BranchInst>(i);
        dear += may_trap(i);
        continue;
      }
      const bool loads = isa<LoadInst>(i);
      Type* type = FixedVectorType::get(getLoadStoreType(&i), lanes);
      const Align align = getLoadStoreAlignment(&i);
      const auto stride = addresses.stride(pointer);
      if (loads && stride == 0) continue;
      if (stride == static_cast<std::int64_t>(se.getDataLayout().getTypeStoreSize(getLoadStoreType(&i)))) {
        if (!(loads ? target.isLegalMaskedLoad(type, align) : target.isLegalMaskedStore(type, align))) return false;
      } else {
        if (!(loads ? target.isLegalMaskedGather(type, align) : target.isLegalMaskedScatter(type, align))) return false;
        ++dear;
      }
    }
  }
  return computes >= dear * enough;
}

}  // namespace

PreservedAnalyses MaskedLoops::run(Function& function, FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<TargetIRAnalysis>(function);
  const unsigned register_bits = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    auto& se = analyses.getResult<ScalarEvolutionAnalysis>(function);
    auto& dominators = analyses.getResult<DominatorTreeAnalysis>(function);
    for (Loop* loop : loops.getLoopsInPreorder()) {
      BasicBlock* latch = loop->getLoopLatch();
      if (!latch || loop->isInnermost() || !is_thread_loop(*latch->getTerminator()) || !can_be_vectors(*loop)) continue;
      changed = true;  // perhaps only the form of its loops
      simplifyLoop(loop, &dominators, &loops, &se, &analyses.getResult<AssumptionAnalysis>(function), nullptr,
                   /*PreserveLCSSA=*/false);
      formLCSSARecursively(*loop, dominators, &loops, &se);
      const unsigned lanes = lanes_of(*loop, loops, se, register_bits);
      if (!lanes || !is_counted(*loop, se) || !are_nested(*loop, loops) ||
          !is_worth_it(*loop, loops, se, target, lanes))
        continue;
      make_vectors(*loop, lanes, loops, se);
      EliminateUnreachableBlocks(function);
      analyses.invalidate(function, PreservedAnalyses::none());
      again = true;
      break;
    }
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace mrcc
