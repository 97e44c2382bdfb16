// Kernels that launch kernels (programming guide, "CUDA Dynamic Parallelism").
//
// What a grid launches is recorded while it runs and starts when it has ended: the guide promises no overlap of a
// parent and its children, and a child may not be waited for in device code. Children of one grid run in the order of
// their launches, which is the order of every device stream; tail launches (cudaStreamTailLaunch) run behind them. Each
// child is complete when its own descendants are. In the queue that the parent came through stand two operations:
//
//   Q: the kernel; "family": if there are children, they are put into a queue of their own, whose last operation
//      completes this one
//
// so that whatever waits for the launch waits for all descendants.
#pragma once
#include <cstdint>

#include <model/launch.h>
#include <model/stream.h>

namespace mr::model {

// True for launches that have to go through launch_family: kernels that may launch kernels, or (refused) graphs.
inline bool concerns_family(const MrKernel& kernel) noexcept {
  return (kernel.flags & (MR_KERNEL_LAUNCHES | MR_KERNEL_GRAPHS)) != 0;
}
// Enqueues a checked launch. Thread-safe.
void launch_family(const LaunchRequest& request, const MrKernel& kernel, Stream& stream);
// The same for a graph's kernel that is about to be published (Domain::on_launching).
void launch_family_of_node(engine::Appender& appender, engine::KernelOp& op);
// Whether Grid::launch is such a launch's (and not programmatic.h's).
inline bool is_family(const void* launch) noexcept { return (reinterpret_cast<std::uintptr_t>(launch) & 1) != 0; }

// simt's hooks. Thread-safe: many blocks of one grid may call at once. Both return a cudaError_t.
int device_launch(const simt::Grid& parent, const void* kernel, const std::uint32_t* grid_block, void* const* arguments,
                  std::uint64_t shared_bytes, std::uint64_t stream);
int device_api(const simt::Grid& caller, std::uint32_t function, const std::uint64_t* arguments);

}  // namespace mr::model
