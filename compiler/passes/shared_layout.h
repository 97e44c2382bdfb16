// Offsets of `__shared__` variables in a block's shared window.
//
// A variable has one offset in the whole image, because a device function that uses it may be reached from several
// kernels. Two variables may overlap unless one kernel reaches both. A kernel's static size is the end of the last
// variable that it reaches.
#pragma once
#include <cstdint>

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace mrcc {
class CallGraph;
// Replaces the accessors by offsets from the shared_base placeholder. Returns bytes of static shared memory by kernel.
llvm::DenseMap<llvm::Function*, std::uint32_t> lay_out_shared(llvm::Module& module, const CallGraph& graph);
}  // namespace mrcc
