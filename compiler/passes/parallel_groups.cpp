#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

#include "stages.h"
#include "thread_loops.h"
#include "whole_blocks.h"

namespace mrcc {
using namespace llvm;

PreservedAnalyses ParallelGroups::run(Function& function, FunctionAnalysisManager& analyses) {
  const bool revealed = reveal_constants(function);
  if (revealed) analyses.invalidate(function, PreservedAnalyses::none());
  auto& se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  unroll_chains(function, analyses.getResult<LoopAnalysis>(function));
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    allow_unrolling(*loop, se);
    if (!findOptionMDForLoop(loop, "llvm.loop.parallel_accesses")) continue;
    // A private variable in memory is one location for all iterations.
    bool private_memory = false;
    for (BasicBlock* block : loop->blocks())
      for (Instruction& i : *block)
        for (Value* operand : i.operands())
          private_memory |= operand->getType()->isPointerTy() && isa<AllocaInst>(getUnderlyingObject(operand));
    for (BasicBlock* block : loop->blocks())
      for (Instruction& i : *block)
        if (i.getMetadata(LLVMContext::MD_access_group) && (private_memory || i.isVolatile() || i.isAtomic()))
          i.setMetadata(LLVMContext::MD_access_group, nullptr);
  }
  return revealed ? PreservedAnalyses::none() : PreservedAnalyses::all();  // else metadata only
}

}  // namespace mrcc
