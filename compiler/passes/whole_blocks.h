// Short chains of thread loops dissolve: where a block's extents are known and small, the loops that follow each other
// between barriers become straight-line code of vectors. What one of them stores to shared memory, or keeps for the
// next one, then needn't go through memory (forward_lanes.h).
//
// A chain is two thread loops or more that follow each other in one place of the control flow. It counts when its
// loops' extents are constant, whole vectors, and the code that it becomes is of moderate size. Blocks of one row only:
// tiles of several rows have more vectors than a processor has registers, and what is read across rows is better
// loaded.
#pragma once

namespace llvm {
class BranchInst;
class Function;
class LoopInfo;
}  // namespace llvm

namespace mrcc {

// Marks the branch that ends a loop over rows of threads (threadIdx.y, .z).
void mark_row_loop(llvm::BranchInst& back);
// Before thread loops are divided (thread_loops.h): marks those of chains, which aren't, since conditions become
// constant masks.
void mark_chains(llvm::Function& function, const llvm::LoopInfo& loops);
// Before vectorisation: marked loops will be unrolled behind it.
void unroll_chains(llvm::Function& function, const llvm::LoopInfo& loops);

}  // namespace mrcc
