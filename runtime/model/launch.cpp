#include <model/launch.h>

#include <cstring>

#include <simt/grid.h>

namespace mr::model {
namespace {

constexpr std::uint32_t max_shared_opt_in = 227 * 1024;

bool exceeds(const dim3& d, unsigned x, unsigned y, unsigned z) noexcept {
  return d.x - 1 >= x || d.y - 1 >= y || d.z - 1 >= z;   // zero wraps: exceeds too
}

// Where the arguments begin in the record: aligned for every parameter.
std::size_t arguments_offset(const MrKernel& kernel) noexcept {
  for (std::uint32_t i = 0; i < kernel.param_count; ++i)
    if (kernel.params[i].align > 16) return 128;
  return engine::KernelOp::header;
}

}  // namespace

cudaError_t check_launch(const LaunchRequest& request, Context& context, const MrKernel** out) noexcept {
  cudaError_t error = cudaSuccess;
  const MrKernel* kernel = kernel_on(*request.function, context.ordinal, &error);
  if (!kernel) return error;
  const dim3 &grid = request.grid, &block = request.block;
  if (exceeds(grid, 0x7fffffffu, 65535, 65535) || exceeds(block, 1024, 1024, 64)) return cudaErrorInvalidValue;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > 1024 || (kernel->max_threads && threads > kernel->max_threads)) return cudaErrorInvalidValue;
  const std::size_t limit = static_cast<std::size_t>(request.function->max_dynamic_shared.load(std::memory_order_relaxed));
  const std::size_t allowed = limit > 48 * 1024 ? limit : (kernel->static_shared < 48 * 1024 ? 48 * 1024 - kernel->static_shared : 0);
  if (request.dynamic_shared > allowed || request.dynamic_shared + kernel->static_shared > max_shared_opt_in) return cudaErrorInvalidValue;
  if (request.cluster.x) {
    const std::uint64_t size = std::uint64_t{request.cluster.x} * request.cluster.y * request.cluster.z;
    const std::uint64_t most = request.function->non_portable_cluster.load(std::memory_order_relaxed) ? 16 : 8;
    if (size == 0 || size > most || grid.x % request.cluster.x || grid.y % request.cluster.y || grid.z % request.cluster.z)
      return cudaErrorInvalidClusterSize;
  }
  *out = kernel;
  return cudaSuccess;
}

std::size_t kernel_op_bytes(const MrKernel& kernel, bool cluster) noexcept {
  return arguments_offset(kernel) + ((kernel.args_size + 3u) & ~3u) + (cluster ? 12 : 0);
}

void fill_kernel_op(engine::KernelOp& op, const LaunchRequest& request, const MrKernel& kernel, Context& context) noexcept {
  char* arguments = reinterpret_cast<char*>(&op) + arguments_offset(kernel);
  for (std::uint32_t i = 0; i < kernel.param_count; ++i) {
    const MrParam& p = kernel.params[i];
    const void* from = request.arguments[i];
    char* to = arguments + p.offset;
    // The two commonest sizes without a call.
    if (p.size == 8) std::memcpy(to, from, 8);
    else if (p.size == 4) std::memcpy(to, from, 4);
    else std::memcpy(to, from, p.size);
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
  grid.flags = request.cooperative ? simt::grid_cooperative : 0u;
  grid.total_blocks = std::uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  grid.grid_id = 0;
  grid.device = &context.device;
  grid.cluster = nullptr;
  grid.shared = nullptr;
  grid.launch = nullptr;
  if (request.cluster.x) {
    auto* extents = reinterpret_cast<std::uint32_t*>(arguments + ((kernel.args_size + 3u) & ~3u));
    extents[0] = request.cluster.x;
    extents[1] = request.cluster.y;
    extents[2] = request.cluster.z;
    grid.cluster = extents;
  }
  if (simt::needs_residency(grid)) op.flags |= engine::op_workers_only;
}

cudaError_t launch(const LaunchRequest& request, Stream& stream) noexcept {
  Context& context = *stream.context;
  const MrKernel* kernel;
  if (const cudaError_t error = check_launch(request, context, &kernel)) return error;
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::KernelOp>(engine::OpKind::kernel, kernel_op_bytes(*kernel, request.cluster.x != 0));
  fill_kernel_op(*op, request, *kernel, context);
  op->grid.grid_id = enqueue.sequence();
  return cudaSuccess;
}

}  // namespace mr::model
