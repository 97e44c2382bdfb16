// Occupancy: how many blocks of a kernel fit a multiprocessor, and the block size that fills it best.
#ifndef MILLRACE_CPP_OCCUPANCY_H
#define MILLRACE_CPP_OCCUPANCY_H

#include "begin.h"

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                                      size_t dynamicSMemSize) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                dynamicSMemSize, cudaOccupancyDefault);
}

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func, int blockSize,
                                                                               size_t dynamicSMemSize,
                                                                               unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                dynamicSMemSize, flags);
}

template <class T>
__MR_INLINE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, T* func, int numBlocks,
                                                                  int blockSize) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void*)func, numBlocks, blockSize);
}

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, T* func,
                                                             const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void*)func, config);
}

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, T* func, const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(numClusters, (const void*)func, config);
}

/* The largest block size with the most resident threads per multiprocessor, and the grid that fills the device with
   such blocks. `blockSizeToDynamicSMemSize(blockSize)` gives a block's dynamic shared memory in bytes; blockSizeLimit 0
   means no limit. */
template <class UnaryFunction, class T>
__MR_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* minGridSize, int* blockSize, T func, UnaryFunction blockSizeToDynamicSMemSize, int blockSizeLimit = 0,
    unsigned int flags = 0) {
  if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
  int device = 0, warp = 0, processors = 0, threads_of_processor = 0, limit = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&threads_of_processor, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, (const void*)func);
  if (error != cudaSuccess) return error;
  if (attributes.maxThreadsPerBlock < limit) limit = attributes.maxThreadsPerBlock;
  if (blockSizeLimit != 0 && blockSizeLimit < limit) limit = blockSizeLimit; /* nothing fits a negative one */

  int best_threads = 0, best_block = 0, best_blocks = 0;
  /* Whole warps from above; the first candidate may be a limit that isn't a multiple of the warp. */
  for (int candidate = limit; candidate > 0; candidate = (candidate - 1) / warp * warp) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)func, candidate,
                                                                   blockSizeToDynamicSMemSize(candidate), flags);
    if (error != cudaSuccess) return error;
    if (candidate * blocks > best_threads) {
      best_threads = candidate * blocks;
      best_block = candidate;
      best_blocks = blocks;
    }
    if (best_threads == threads_of_processor) break;
  }
  *minGridSize = best_blocks * processors;
  *blockSize = best_block;
  return cudaSuccess;
}

template <class UnaryFunction, class T>
__MR_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                       UnaryFunction blockSizeToDynamicSMemSize,
                                                                       int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minGridSize, blockSize, func, blockSizeToDynamicSMemSize, blockSizeLimit, cudaOccupancyDefault);
}

struct __mr_same_shared_memory {
  size_t bytes;
  __host__ size_t operator()(int) const { return bytes; }
};

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                                    size_t dynamicSMemSize = 0, int blockSizeLimit = 0,
                                                                    unsigned int flags = 0) {
  const __mr_same_shared_memory same = {dynamicSMemSize};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, same, blockSizeLimit,
                                                                 flags);
}

template <class T>
__MR_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                                           size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit,
                                                     cudaOccupancyDefault);
}

#endif
