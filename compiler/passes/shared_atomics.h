// Atomic operations on a block's shared memory, where one processor runs the whole block.
#pragma once

namespace llvm {
class Function;
}

namespace mrcc {

// `run_blocks` runs all threads of a block one after the other, and no other block reaches its shared memory (kernels
// of clusters that do have no such entry): atomic operations on it become plain ones. They are no longer independent of
// what other threads do, so they leave the thread loop's access group.
void lower_shared_atomics(llvm::Function& run_blocks);

}  // namespace mrcc
