// Kernel launches: checking a configuration, copying the arguments, enqueueing.
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>
#include <model/function.h>
#include <model/stream.h>
#include <vector_types.h>

namespace mr::model {

// A launch as the API describes it, used by streams and graph nodes alike.
struct LaunchRequest {
  Function* function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;
  void** arguments = nullptr;           // one pointer per parameter
  bool cooperative = false;
  dim3 cluster{0, 0, 0};                // 0 = none given
  bool programmatic = false;            // may start before the previous kernel of the stream has ended (2.5.5)
  int priority = 0;                     // of this launch, if has_priority
  bool has_priority = false;
};

// Checks everything the real runtime checks at the call; cudaSuccess and the kernel, or the error that wins.
cudaError_t check_launch(const LaunchRequest& request, Context& context, const MrKernel** kernel) noexcept;
// Bytes that a KernelOp for this kernel needs, arguments and cluster extents included.
std::size_t kernel_op_bytes(const MrKernel& kernel, bool cluster) noexcept;
// Fills an operation record (of kernel_op_bytes) from a checked request. Copies the arguments.
void fill_kernel_op(engine::KernelOp& op, const LaunchRequest& request, const MrKernel& kernel, Context& context) noexcept;
// check, enqueue. No capture handling: the API diverts before.
cudaError_t launch(const LaunchRequest& request, Stream& stream) noexcept;

}  // namespace mr::model
