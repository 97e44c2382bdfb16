// Kernel launches: checking a configuration, copying the arguments, enqueueing.
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>
#include <model/function.h>
#include <model/stream.h>
#include <vector_types.h>

namespace mr::model {

struct Event;

// A launch as the API describes it, used by streams and graph nodes alike.
struct LaunchRequest {
  Function* function = nullptr;
  dim3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;
  void** arguments = nullptr;  // one pointer per parameter
  bool cooperative = false;
  dim3 cluster{0, 0, 0};            // in blocks; 0 = the kernel's own (__cluster_dims__), or none
  bool cluster_given = false;       // `cluster` counts even if it is 0 (and is an error then)
  dim3 preferred_cluster{0, 0, 0};  // checked only: clusters are as large as they must be
  bool programmatic = false;        // may start before the previous kernel of the stream has ended (2.5.5)
  int priority = 0;                 // of this launch, if has_priority
  // Where the handle of a captured launch's node is to go, which device code may change then; null: it may not.
  cudaGraphDeviceNode_t* device_updatable = nullptr;
  bool has_priority = false;
  // As they were given, for the node of a captured launch, which shows them.
  const cudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
  // Recorded by the launch: complete when all blocks have triggered or ended, or (launch completion) begun. Untimed, of
  // this context.
  Event* programmatic_event = nullptr;
  bool trigger_at_block_start = false;
  Event* completion_event = nullptr;
};
// Whether a launch has clusters, its own or the function's: almost none has.
inline bool has_clusters(const LaunchRequest& request, const MrKernel& kernel) noexcept {
  return request.cluster_given || request.cluster.x || kernel.cluster_dim[0] ||
         request.function->wants_cluster.load(std::memory_order_relaxed);
}
// The clusters of a launch: as given, else the function's own; 0,0,0 without clusters.
dim3 cluster_of(const LaunchRequest& request, const MrKernel& kernel) noexcept;

// Whether a launch that has clusters can have them, of at most `most` blocks each: cudaErrorInvalidClusterSize if not.
cudaError_t check_clusters(const LaunchRequest& request, const MrKernel& kernel, std::uint64_t most) noexcept;
// A preferred cluster is made of whole clusters, and the grid of whole preferred ones: cudaErrorInvalidClusterSize if
// not.
cudaError_t check_preferred_cluster(const LaunchRequest& request, const MrKernel& kernel) noexcept;
// The dynamic shared memory with which a block fits on a multiprocessor. What every kernel may have by default counts
// also where the function's limit was set lower, as recorded.
std::size_t most_dynamic_shared(const Function& function, const MrKernel& kernel, int device) noexcept;
// The blocks that a cluster of this function may have.
std::uint64_t largest_cluster(const Function& function) noexcept;

// What a launch is for: it says which of several errors wins.
enum class Purpose : std::uint8_t { stream, node };
// Checks everything the real runtime checks at the call; cudaSuccess and the kernel, or the error that wins.
cudaError_t check_launch(const LaunchRequest& request, Context& context, Purpose purpose,
                         const MrKernel** kernel) noexcept;
// The part of it that launches into streams are checked for ahead of their attributes: the size of a block.
cudaError_t check_block(const LaunchRequest& request, Context& context) noexcept;
// Bytes that a KernelOp for this kernel needs, arguments and, for launches with clusters (cluster_of), their extents
// included.
std::size_t kernel_op_bytes(const MrKernel& kernel, bool cluster) noexcept;
// Fills an operation record (of kernel_op_bytes) from a checked request. Copies the arguments.
void fill_kernel_op(engine::KernelOp& op, const LaunchRequest& request, const MrKernel& kernel,
                    Context& context) noexcept;
// Gives an operation that is being pushed into `queue` a priority of its own (clamped; CUDA's scale), until it has
// completed. A queue without work is listed by it from the beginning; one with work is not delayed by a lower one.
// Under the queue's append lock.
void give_priority(engine::Op& op, engine::Queue& queue, int priority) noexcept;
// check, enqueue. No capture handling: the API diverts before.
cudaError_t launch(const LaunchRequest& request, Stream& stream) noexcept;

}  // namespace mr::model
