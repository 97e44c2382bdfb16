// Occupancy (CUDA Runtime API, "Occupancy"): how many blocks and clusters of a kernel fit.
#include <algorithm>

#include <api/kernel.h>
#include <model/device.h>
#include <model/launch_attributes.h>
#include <model/occupancy.h>

using namespace mr;

namespace {

cudaError_t active_blocks(int* blocks, const void* func, int threads, std::size_t dynamic_shared, unsigned flags) {
  if (!blocks || threads <= 0 || (flags & ~static_cast<unsigned>(cudaOccupancyDisableCachingOverride)))
    return cudaErrorInvalidValue;
  model::Function* function;
  const MrKernel* kernel;
  if (func && !model::find_function(func)) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = api::find_kernel(func, &function, &kernel)) return error;
  *blocks = dynamic_shared > function->dynamic_shared_limit(*kernel, model::current_device())
                ? 0  // could not be launched
                : model::blocks_per_multiprocessor(*kernel, threads, dynamic_shared);
  return cudaSuccess;
}

// The launch that a configuration describes, its kernel, and the resident blocks of one multiprocessor.
cudaError_t describe(const void* func, const cudaLaunchConfig_t& config, model::LaunchRequest* request, dim3* cluster,
                     int* blocks) {
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel(func, &request->function, &kernel)) return error;
  request->grid = config.gridDim;
  request->block = config.blockDim;
  request->dynamic_shared = config.dynamicSmemBytes;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const cudaError_t error = model::apply_attribute(*request, config.attrs[i])) return error;
  *cluster = model::cluster_of(*request, *kernel);
  const std::uint64_t threads = std::uint64_t{config.blockDim.x} * config.blockDim.y * config.blockDim.z;
  if (threads == 0 || threads > model::shape::max_threads_per_block) return cudaErrorInvalidValue;
  *blocks = model::blocks_per_multiprocessor(*kernel, static_cast<int>(threads), config.dynamicSmemBytes);
  return cudaSuccess;
}

}  // namespace

MR_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* func, int threads,
                                                     std::size_t dynamic_shared) {
  return api::result(active_blocks(blocks, func, threads, dynamic_shared, cudaOccupancyDefault));
}

MR_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* func, int threads,
                                                              std::size_t dynamic_shared, unsigned flags) {
  return api::result(active_blocks(blocks, func, threads, dynamic_shared, flags));
}

MR_API cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* func, int blocks, int threads) {
  if (!bytes || blocks <= 0 || threads <= 0) return api::result(cudaErrorInvalidValue);
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel(func, &function, &kernel)) return api::result(error);
  if (!model::dynamic_shared_for(*kernel, blocks, threads, bytes)) return api::result(cudaErrorInvalidValue);
  *bytes = std::min<std::size_t>(*bytes, function->dynamic_shared_limit(*kernel, model::current_device()));
  return cudaSuccess;
}

MR_API cudaOccupancyMaxPotentialClusterSize(int* size, const void* func, const cudaLaunchConfig_t* config) {
  if (!size || !config) return api::result(cudaErrorInvalidValue);
  model::LaunchRequest request;
  dim3 cluster;
  int blocks = 0;
  if (const cudaError_t error = describe(func, *config, &request, &cluster, &blocks)) return api::result(error);
  const int most = request.function->non_portable_cluster.load(std::memory_order_relaxed)
                       ? model::shape::max_cluster_non_portable
                       : model::shape::max_cluster;
  *size = static_cast<int>(std::min<std::int64_t>(most, std::int64_t{blocks} * model::multiprocessors()));
  return cudaSuccess;
}

MR_API cudaOccupancyMaxActiveClusters(int* clusters, const void* func, const cudaLaunchConfig_t* config) {
  if (!clusters || !config) return api::result(cudaErrorInvalidValue);
  model::LaunchRequest request;
  dim3 cluster;
  int blocks = 0;
  if (const cudaError_t error = describe(func, *config, &request, &cluster, &blocks)) return api::result(error);
  const std::uint64_t size = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  const int most = request.function->non_portable_cluster.load(std::memory_order_relaxed)
                       ? model::shape::max_cluster_non_portable
                       : model::shape::max_cluster;
  if (size == 0 || size > static_cast<std::uint64_t>(most) || config->gridDim.x % cluster.x ||
      config->gridDim.y % cluster.y || config->gridDim.z % cluster.z)
    return api::result(cudaErrorInvalidClusterSize);
  *clusters = static_cast<int>(static_cast<std::uint64_t>(blocks) *
                               static_cast<std::uint64_t>(model::multiprocessors()) / size);
  return cudaSuccess;
}
