// Warp-synchronous programs: the lanes of a warp exchange values through volatile shared memory without a barrier, and
// count on running in step, as GPUs run lanes that have not diverged:
//
//   volatile int* s = shared;   s[t] += s[t + 16];   s[t] += s[t + 8];   ...
//
// Fibers run one lane after the other, so a volatile store to shared memory becomes a point where the lanes of a warp
// meet: those that got there go on together once no other lane of the warp can run. A kernel with such stores runs on
// fibers.
#pragma once

namespace llvm {
class Module;
}

namespace mrcc {

// Before shared memory is laid out, after inlining.
void keep_volatile_stores_in_step(llvm::Module& module);

}  // namespace mrcc
