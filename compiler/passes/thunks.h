// A kernel's two entries: run_lane (one lane, on its own stack) and run_blocks (whole blocks, as loops over their
// threads).
#pragma once
#include "llvm/ADT/SmallVector.h"

#include "barrier_split.h"
#include "context.h"

namespace llvm {
class CallInst;
}

namespace mrcc {
struct KernelInfo;

// Makes the function of type MrRunLane. It takes the kernel's name and linkage; `kernel` itself (a declaration by now)
// is gone afterwards and every use of its address means the new function.
llvm::Function* make_run_lane(llvm::Function* kernel, const KernelInfo& info, const Extended& body);
// Declares the function of type MrRunBlocks, which define_run_blocks() fills once the body has been simplified. With
// `store_lane` each iteration stores its thread indices into the lane. The body keeps its signature until then.
llvm::Function* declare_run_blocks(llvm::StringRef name, llvm::StringRef kernel_attribute, const Extended& body,
                                   bool store_lane);
// Defines what declare_run_blocks() declared: loops over blocks, rows and threads around one call of the body, or loops
// over blocks around what the body was split into. With `versions` there is one more for each of the extents that the
// unit's launches use (KernelInfo::blocks), in which they are constants: the kernel's entry chooses by the extents that
// the launch brings. Returns the calls for the caller to inline; none when `declared` is no such function.
llvm::SmallVector<llvm::CallInst*, 3> define_run_blocks(llvm::Function* declared, const Split& split, bool versions);
// The kernel's body as declare_run_blocks() got it; null when `declared` is no such function.
Extended body_of(const llvm::Function& declared);
// A parameter that is held by address may be written: each thread has a copy of its own.
bool has_private_parameters(const llvm::Function& declared);
}  // namespace mrcc
