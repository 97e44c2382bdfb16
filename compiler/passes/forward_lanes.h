// Behind vectorisation: what was stored to a block's own memory reaches the loads that follow in the same straight-line
// code without going through memory, lane by lane.
//
//   store <16 x float> %a, s[0..15]
//   store <16 x float> %b, s[16..31]         becomes    %c = shufflevector %a, %b, <1, 2, ... 16>
//   %c = load <16 x float>, s[1..16]
//
// A processor can't forward two stores to one load. Its own memory is shared memory (MrBlock::shared) and the entry's
// scratch memory (barrier_split.h), as far as the function accesses them at constant offsets; stores that nothing reads
// any more vanish, since nobody else looks at them and no block finds what another one left.
#pragma once
#include "llvm/IR/PassManager.h"

namespace mrcc {

class ForwardLanes : public llvm::PassInfoMixin<ForwardLanes> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace mrcc
