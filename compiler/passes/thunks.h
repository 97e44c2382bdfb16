// A kernel's two entries: run_lane (one lane, on its own stack) and run_blocks (whole blocks, as loops over their threads).
#pragma once
#include "context.h"

namespace mrcc {
struct KernelInfo;

// Makes the function of type MrRunLane. It takes the kernel's name and linkage; `kernel` itself (a declaration by now) is gone
// afterwards and every use of its address means the new function.
llvm::Function* make_run_lane(llvm::Function* kernel, const KernelInfo& info, const Extended& body);
// Makes the function of type MrRunBlocks. With `store_lane` each iteration stores its thread indices into the lane.
llvm::Function* make_run_blocks(llvm::StringRef name, const KernelInfo& info, const Extended& body, bool store_lane, bool optimise);
}  // namespace mrcc
