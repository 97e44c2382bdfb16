#include <model/launch.h>

#include <algorithm>
#include <cstring>

#include <model/device.h>
#include <model/device_launch.h>
#include <model/event.h>
#include <model/occupancy.h>
#include <model/programmatic.h>
#include <simt/grid.h>

namespace mr::model {
namespace {

bool exceeds(const dim3& d, unsigned x, unsigned y, unsigned z) noexcept {
  return d.x - 1 >= x || d.y - 1 >= y || d.z - 1 >= z;  // zero wraps: exceeds too
}

std::uint64_t threads_of(const dim3& block) noexcept { return std::uint64_t{block.x} * block.y * block.z; }

bool wrong_block(const dim3& block, const MrKernel& kernel) noexcept {
  if (exceeds(block, shape::max_block[0], shape::max_block[1], shape::max_block[2])) return true;
  const std::uint64_t threads = threads_of(block);
  return threads > shape::max_threads_per_block || (kernel.max_threads && threads > kernel.max_threads);
}

// Where the arguments begin in the record: aligned for every parameter.
std::size_t arguments_offset(const MrKernel& kernel) noexcept {
  for (std::uint32_t i = 0; i < kernel.param_count; ++i)
    if (kernel.params[i].align > 16) return 128;
  return engine::KernelOp::header;
}

}  // namespace

cudaError_t check_preferred_cluster(const LaunchRequest& request, const MrKernel& kernel) noexcept {
  const auto fits = [](const dim3& whole, const dim3& part) {
    return part.x && part.y && part.z && whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
  };
  if (!fits(request.grid, request.preferred_cluster)) return cudaErrorInvalidClusterSize;
  if (!has_clusters(request, kernel) || !fits(request.preferred_cluster, cluster_of(request, kernel)))
    return cudaErrorInvalidClusterSize;
  return cudaSuccess;
}

dim3 cluster_of(const LaunchRequest& request, const MrKernel& kernel) noexcept {
  if (request.cluster_given || request.cluster.x) return request.cluster;
  if (kernel.cluster_dim[0]) return {kernel.cluster_dim[0], kernel.cluster_dim[1], kernel.cluster_dim[2]};
  const auto& wanted = request.function->required_cluster;
  const auto wish = [&](int i) { return static_cast<unsigned>(wanted[i].load(std::memory_order_relaxed)); };
  return {wish(0), wish(1), wish(2)};  // all of them, or some only, which is no cluster
}

cudaError_t check_clusters(const LaunchRequest& request, const MrKernel& kernel, std::uint64_t most) noexcept {
  const dim3 cluster = cluster_of(request, kernel);
  const std::uint64_t size = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  if (size == 0 || size > most || (kernel.max_cluster && size > kernel.max_cluster)) return cudaErrorInvalidClusterSize;
  if (request.grid.x % cluster.x || request.grid.y % cluster.y || request.grid.z % cluster.z)
    return cudaErrorInvalidClusterSize;
  // A kernel with clusters of its own can be given no others, and none that its attributes contradict.
  const unsigned* own = kernel.cluster_dim;
  const unsigned given[3] = {cluster.x, cluster.y, cluster.z};
  for (int i = 0; i < 3; ++i) {
    const auto wanted = own[0] ? own[i]
                               : static_cast<unsigned>(
                                     request.function->required_cluster[i].load(std::memory_order_relaxed));
    if (wanted && wanted != given[i]) return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

std::size_t most_dynamic_shared(const Function& function, const MrKernel& kernel, int device) noexcept {
  constexpr std::size_t plain = 48 << 10;
  return std::max(function.dynamic_shared_limit(kernel, device),
                  plain - std::min<std::size_t>(plain, kernel.static_shared));
}

std::uint64_t largest_cluster(const Function& function) noexcept {
  return function.non_portable_cluster.load(std::memory_order_relaxed) ? shape::max_cluster_non_portable
                                                                       : shape::max_cluster;
}

cudaError_t check_block(const LaunchRequest& request, Context& context) noexcept {
  cudaError_t error = cudaSuccess;
  const MrKernel* kernel = kernel_on(*request.function, context.ordinal, &error);
  if (!kernel) return error;
  return wrong_block(request.block, *kernel) ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t check_launch(const LaunchRequest& request, Context& context, Purpose purpose,
                         const MrKernel** out) noexcept {
  cudaError_t error = cudaSuccess;
  const MrKernel* kernel = kernel_on(*request.function, context.ordinal, &error);
  if (!kernel) return error;
  const dim3& grid = request.grid;
  if (exceeds(grid, shape::max_grid[0], shape::max_grid[1], shape::max_grid[2]) || wrong_block(request.block, *kernel))
    return cudaErrorInvalidValue;
  if (has_clusters(request, *kernel)) [[unlikely]]
    if (const cudaError_t wrong = check_clusters(request, *kernel, largest_cluster(*request.function))) return wrong;
  const bool too_much = request.dynamic_shared > request.function->dynamic_shared_limit(*kernel, context.ordinal);
  if (too_much && purpose == Purpose::node) return cudaErrorInvalidValue;
  if (request.preferred_cluster.x) [[unlikely]]
    if (const cudaError_t wrong = check_preferred_cluster(request, *kernel)) return wrong;
  if (request.cooperative) {
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    if (request.dynamic_shared > most_dynamic_shared(*request.function, *kernel, context.ordinal) ||
        blocks > resident_blocks(*kernel, static_cast<int>(threads_of(request.block)), request.dynamic_shared,
                                 request.function->carveout()))
      return cudaErrorCooperativeLaunchTooLarge;
  }
  if (too_much) return cudaErrorInvalidValue;
  *out = kernel;
  return cudaSuccess;
}

std::size_t kernel_op_bytes(const MrKernel& kernel, bool cluster) noexcept {
  return arguments_offset(kernel) + ((kernel.args_size + 3u) & ~3u) + (cluster ? 12 : 0);
}

void fill_kernel_op(engine::KernelOp& op, const LaunchRequest& request, const MrKernel& kernel,
                    Context& context) noexcept {
  char* arguments = reinterpret_cast<char*>(&op) + arguments_offset(kernel);
  for (std::uint32_t i = 0; i < kernel.param_count; ++i) {
    const MrParam& p = kernel.params[i];
    const void* from = request.arguments[i];
    char* to = arguments + p.offset;
    // The two commonest sizes without a call.
    if (p.size == 8)
      std::memcpy(to, from, 8);
    else if (p.size == 4)
      std::memcpy(to, from, 4);
    else
      std::memcpy(to, from, p.size);
  }
  simt::Grid& grid = op.grid;
  grid.kernel = &kernel;
  grid.args = arguments;
  grid.grid[0] = request.grid.x;
  grid.grid[1] = request.grid.y;
  grid.grid[2] = request.grid.z;
  grid.block[0] = request.block.x;
  grid.block[1] = request.block.y;
  grid.block[2] = request.block.z;
  grid.dynamic_shared = static_cast<std::uint32_t>(request.dynamic_shared);
  grid.flags = simt::grid_in_stream | (request.cooperative ? simt::grid_cooperative : 0u);
  grid.total_blocks = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  grid.grid_id = 0;
  grid.device = &context.device;
  grid.cluster = nullptr;
  grid.shared = nullptr;
  grid.launch = nullptr;
  if (has_clusters(request, kernel)) [[unlikely]] {
    const dim3 cluster = cluster_of(request, kernel);
    auto* extents = reinterpret_cast<std::uint32_t*>(arguments + ((kernel.args_size + 3u) & ~3u));
    extents[0] = cluster.x;
    extents[1] = cluster.y;
    extents[2] = cluster.z;
    grid.cluster = extents;
  }
  if (simt::needs_residency(grid)) op.flags |= engine::op_workers_only;
}

void give_priority(engine::Op& op, engine::Queue& queue, int priority) noexcept {
  const unsigned level = level_of(std::clamp(priority, greatest_priority, 0));
  op.flags |= static_cast<std::uint8_t>((level + 1) << engine::op_level_shift);
  if (level < queue.level() || !queue.has_work()) queue.borrow_level(level);
}

cudaError_t launch(const LaunchRequest& request, Stream& stream) noexcept {
  Context& context = *stream.context;
  const MrKernel* kernel;
  if (const cudaError_t error = check_launch(request, context, Purpose::stream, &kernel)) return error;
  if (concerns_family(*kernel)) [[unlikely]] {
    if (kernel->flags & MR_KERNEL_GRAPHS) return cudaErrorNotSupported;  // for graphs' kernels only
    launch_family(request, *kernel, stream);
    // Complete at the end of the whole family: never too early.
    if (request.programmatic_event) record_event(*request.programmatic_event, stream);
    if (request.completion_event) record_event(*request.completion_event, stream);
  } else if (concerns_programmatic(request, *kernel)) [[unlikely]] {
    launch_programmatic(request, *kernel, stream);
  } else {
    Enqueue enqueue(stream);
    auto* op = enqueue.push<engine::KernelOp>(engine::OpKind::kernel,
                                              kernel_op_bytes(*kernel, has_clusters(request, *kernel)));
    fill_kernel_op(*op, request, *kernel, context);
    op->grid.grid_id = enqueue.sequence();
    if (request.has_priority) [[unlikely]]
      give_priority(*op, enqueue.queue(), request.priority);
  }
  return cudaSuccess;
}

}  // namespace mr::model
