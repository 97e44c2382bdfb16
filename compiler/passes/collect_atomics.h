// Blocks add what they found to results of the whole grid, `atomicAdd(&bins[threadIdx.x], mine[threadIdx.x])`. An entry
// that runs several blocks collects that in memory of its own and adds it up once, in the end: a locked instruction
// costs as much as twenty others, and much more where another processor has the line.
//
// Nobody can tell: the operations commute (integers, one kind of operation in a kernel), their results aren't used, the
// address doesn't depend on the block, and behind them a block touches nothing that other threads might. They come
// later, which is in order with what they follow. A kernel with fences or sequentially consistent operations, or one
// that uses what an atomic operation gives, keeps all as it is.
#pragma once
#include "llvm/IR/PassManager.h"

namespace mrcc {

class CollectAtomics : public llvm::PassInfoMixin<CollectAtomics> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace mrcc
