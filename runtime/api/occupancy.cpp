// Occupancy (CUDA Runtime API, "Occupancy"): how many blocks and clusters of a kernel fit.
#include <algorithm>

#include <api/kernel.h>
#include <model/device.h>
#include <model/launch.h>
#include <model/launch_attributes.h>
#include <model/occupancy.h>

using namespace mr;

namespace {

// The dynamic shared memory that a block of a question may have.
std::size_t most_shared(const model::Function& function, const MrKernel& kernel) {
  return model::most_dynamic_shared(function, kernel, model::current_device());
}

cudaError_t active_blocks(int* blocks, const void* func, int threads, std::size_t dynamic_shared, unsigned flags) {
  model::Function* function;
  const MrKernel* kernel;
  if (func && (flags & ~static_cast<unsigned>(cudaOccupancyDisableCachingOverride))) return cudaErrorInvalidValue;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return error;
  if (!blocks || threads <= 0) return cudaErrorInvalidValue;
  *blocks = dynamic_shared > most_shared(*function, *kernel)
                ? 0  // could not be launched
                : model::blocks_per_multiprocessor(*kernel, threads, dynamic_shared, function->carveout());
  return cudaSuccess;
}

// The launch that a configuration describes, its clusters (0: none), and how many of its blocks the device holds at a
// time.
cudaError_t describe(const void* func, const cudaLaunchConfig_t& config, model::LaunchRequest* request,
                     std::uint64_t* cluster, std::int64_t* blocks) {
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &request->function, &kernel)) return error;
  if (config.numAttrs && !config.attrs) return cudaErrorInvalidValue;
  request->grid = config.gridDim;
  request->dynamic_shared = config.dynamicSmemBytes;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (const cudaError_t error = model::apply_attribute(*request, config.attrs[i], model::Purpose::stream))
      return error;
  const std::uint64_t threads = std::uint64_t{config.blockDim.x} * config.blockDim.y * config.blockDim.z;
  if (!config.gridDim.x || !config.gridDim.y || !config.gridDim.z) return cudaErrorInvalidValue;
  *cluster = 0;
  if (model::has_clusters(*request, *kernel)) {
    // Where more than the portable size is allowed, any is answered.
    const std::uint64_t portable = model::shape::max_cluster;
    const std::uint64_t most = model::largest_cluster(*request->function) > portable ? ~std::uint64_t{0} : portable;
    if (const cudaError_t error = model::check_clusters(*request, *kernel, most)) return error;
    const dim3 extent = model::cluster_of(*request, *kernel);
    *cluster = std::uint64_t{extent.x} * extent.y * extent.z;
  }
  if (request->preferred_cluster.x)
    if (const cudaError_t error = model::check_preferred_cluster(*request, *kernel)) return error;
  if (threads == 0) return cudaErrorInvalidValue;
  *blocks = threads > model::shape::max_threads_per_block ||
                    config.dynamicSmemBytes > most_shared(*request->function, *kernel)
                ? 0  // could not be launched
                : std::int64_t{model::blocks_per_multiprocessor(
                      *kernel, static_cast<int>(threads), config.dynamicSmemBytes, request->function->carveout())} *
                      model::multiprocessors();
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
  model::Function* function;
  const MrKernel* kernel;
  if (func && blocks <= 0) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  if (!bytes || blocks <= 0 || threads <= 0) return api::result(cudaErrorInvalidValue);
  if (!model::dynamic_shared_for(*kernel, blocks, threads, bytes, function->carveout()))
    return api::result(cudaErrorInvalidValue);
  *bytes = std::min<std::size_t>(*bytes, function->dynamic_shared_limit(*kernel, model::current_device()));
  return cudaSuccess;
}

MR_API cudaOccupancyMaxPotentialClusterSize(int* size, const void* func, const cudaLaunchConfig_t* config) {
  if (!size || !config) return api::result(cudaErrorInvalidValue);
  model::LaunchRequest request;
  std::uint64_t cluster = 0;
  std::int64_t blocks = 0;
  if (const cudaError_t error = describe(func, *config, &request, &cluster, &blocks)) return api::result(error);
  const auto most = static_cast<std::int64_t>(model::largest_cluster(*request.function));
  *size = static_cast<int>(std::min(most, blocks));
  return cudaSuccess;
}

// Of a launch without clusters there are none.
MR_API cudaOccupancyMaxActiveClusters(int* clusters, const void* func, const cudaLaunchConfig_t* config) {
  if (!clusters || !config) return api::result(cudaErrorInvalidValue);
  model::LaunchRequest request;
  std::uint64_t cluster = 0;
  std::int64_t blocks = 0;
  if (const cudaError_t error = describe(func, *config, &request, &cluster, &blocks)) return api::result(error);
  *clusters = cluster ? static_cast<int>(blocks / static_cast<std::int64_t>(cluster)) : 0;
  return cudaSuccess;
}
