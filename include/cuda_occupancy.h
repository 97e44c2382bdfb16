// The occupancy calculator that needs no device: how many blocks of a kernel fit on a multiprocessor, from numbers that
// the caller has (programming guide, "Occupancy Calculator"). The rule is that of compute capability 9.0, as the
// runtime's own (cudaOccupancyMaxActiveBlocksPerMultiprocessor).
#ifndef MILLRACE_CUDA_OCCUPANCY_H
#define MILLRACE_CUDA_OCCUPANCY_H
#include <stddef.h>

typedef enum cudaOccError_enum {
  CUDA_OCC_SUCCESS = 0,
  CUDA_OCC_ERROR_INVALID_INPUT = 1,
  CUDA_OCC_ERROR_UNKNOWN_DEVICE = 2,
} cudaOccError;

typedef enum cudaOccLimitingFactors_enum {
  OCC_LIMIT_WARPS = 1,
  OCC_LIMIT_REGISTERS = 2,
  OCC_LIMIT_SHARED_MEMORY = 4,
  OCC_LIMIT_BLOCKS = 8,
} cudaOccLimitingFactors;

// Bytes and counts with the names of cudaDeviceProp.
struct cudaOccDeviceProp {
  int computeMajor, computeMinor;
  int maxThreadsPerBlock, maxThreadsPerMultiprocessor;
  int regsPerBlock, regsPerMultiprocessor;
  int warpSize;
  size_t sharedMemPerBlock, sharedMemPerMultiprocessor;
  int numSms;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
#ifdef __cplusplus
  cudaOccDeviceProp() = default;
  template <class Properties>
  explicit cudaOccDeviceProp(const Properties& p)
      : computeMajor(p.major), computeMinor(p.minor), maxThreadsPerBlock(p.maxThreadsPerBlock),
        maxThreadsPerMultiprocessor(p.maxThreadsPerMultiProcessor), regsPerBlock(p.regsPerBlock),
        regsPerMultiprocessor(p.regsPerMultiprocessor), warpSize(p.warpSize), sharedMemPerBlock(p.sharedMemPerBlock),
        sharedMemPerMultiprocessor(p.sharedMemPerMultiprocessor), numSms(p.multiProcessorCount),
        sharedMemPerBlockOptin(p.sharedMemPerBlockOptin), reservedSharedMemPerBlock(p.reservedSharedMemPerBlock) {}
#endif
};
typedef struct cudaOccDeviceProp cudaOccDeviceProp;

typedef enum cudaOccPartitionedGCConfig_enum {
  PARTITIONED_GC_OFF,
  PARTITIONED_GC_ON,
  PARTITIONED_GC_ON_STRICT,
} cudaOccPartitionedGCConfig;

typedef enum cudaOccFuncShmemConfig_enum {
  FUNC_SHMEM_LIMIT_DEFAULT,
  FUNC_SHMEM_LIMIT_OPTIN,
} cudaOccFuncShmemConfig;

// Registers per thread, static shared memory in bytes.
struct cudaOccFuncAttributes {
  int maxThreadsPerBlock, numRegs;
  size_t sharedSizeBytes;
  cudaOccPartitionedGCConfig partitionedGCConfig;
  cudaOccFuncShmemConfig shmemLimitConfig;
  size_t maxDynamicSharedSizeBytes;
  int numBlockBarriers;
#ifdef __cplusplus
  cudaOccFuncAttributes() = default;
  template <class Attributes>
  explicit cudaOccFuncAttributes(const Attributes& a)
      : maxThreadsPerBlock(a.maxThreadsPerBlock), numRegs(a.numRegs), sharedSizeBytes(a.sharedSizeBytes),
        partitionedGCConfig(PARTITIONED_GC_OFF), shmemLimitConfig(FUNC_SHMEM_LIMIT_OPTIN),
        maxDynamicSharedSizeBytes(a.maxDynamicSharedSizeBytes), numBlockBarriers(1) {}
#endif
};
typedef struct cudaOccFuncAttributes cudaOccFuncAttributes;

typedef enum cudaOccCacheConfig_enum {
  CACHE_PREFER_NONE,
  CACHE_PREFER_SHARED,
  CACHE_PREFER_L1,
  CACHE_PREFER_EQUAL,
} cudaOccCacheConfig;

typedef enum cudaOccCarveout_enum {
  SHAREDMEM_CARVEOUT_DEFAULT = -1,
  SHAREDMEM_CARVEOUT_MAX_L1 = 0,
  SHAREDMEM_CARVEOUT_HALF = 50,
  SHAREDMEM_CARVEOUT_MAX_SHARED = 100,
} cudaOccCarveout;

// A preference: without effect here, since all of a multiprocessor's shared memory can be had.
struct cudaOccDeviceState {
  cudaOccCacheConfig cacheConfig;
  int carveoutConfig;
#ifdef __cplusplus
  cudaOccDeviceState() : cacheConfig(CACHE_PREFER_NONE), carveoutConfig(SHAREDMEM_CARVEOUT_DEFAULT) {}
#endif
};
typedef struct cudaOccDeviceState cudaOccDeviceState;

struct cudaOccResult {
  int activeBlocksPerMultiprocessor;
  unsigned limitingFactors;  // cudaOccLimitingFactors of all limits that are the smallest
  int blockLimitRegs, blockLimitSharedMem, blockLimitWarps, blockLimitBlocks;
  int allocatedRegistersPerBlock;
  size_t allocatedSharedMemPerBlock;
  cudaOccPartitionedGCConfig partitionedGCConfig;
};
typedef struct cudaOccResult cudaOccResult;

static inline cudaOccError cudaOccMaxActiveBlocksPerMultiprocessor(cudaOccResult* result,
                                                                   const cudaOccDeviceProp* properties,
                                                                   const cudaOccFuncAttributes* attributes,
                                                                   const cudaOccDeviceState* state, int blockSize,
                                                                   size_t dynamicSmemSize) {
  const size_t shared_unit = 128, register_unit = 256;
  size_t warps, by_warps, by_registers, by_shared, registers_of_warp, shared, fewest;
  (void)state;
  if (!result || !properties || !attributes || blockSize <= 0 || properties->warpSize <= 0 ||
      properties->maxThreadsPerMultiprocessor <= 0)
    return CUDA_OCC_ERROR_INVALID_INPUT;
  warps = ((size_t)blockSize + properties->warpSize - 1) / properties->warpSize;
  by_warps = (size_t)(properties->maxThreadsPerMultiprocessor / properties->warpSize) / warps;
  if (blockSize > properties->maxThreadsPerBlock || blockSize > attributes->maxThreadsPerBlock) by_warps = 0;
  registers_of_warp = ((size_t)attributes->numRegs * properties->warpSize + register_unit - 1) / register_unit *
                      register_unit;
  by_registers = registers_of_warp ? (size_t)properties->regsPerMultiprocessor / registers_of_warp / warps
                                   : (size_t)0x7fffffff;
  shared = attributes->sharedSizeBytes + dynamicSmemSize + properties->reservedSharedMemPerBlock;
  shared = (shared + shared_unit - 1) / shared_unit * shared_unit;
  by_shared = shared ? properties->sharedMemPerMultiprocessor / shared : (size_t)0x7fffffff;
  if (attributes->sharedSizeBytes + dynamicSmemSize > (attributes->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN
                                                           ? properties->sharedMemPerBlockOptin
                                                           : properties->sharedMemPerBlock))
    by_shared = 0;
  result->blockLimitWarps = (int)by_warps;
  result->blockLimitRegs = (int)by_registers;
  result->blockLimitSharedMem = (int)by_shared;
  result->blockLimitBlocks = 32;
  fewest = 32;
  if (by_warps < fewest) fewest = by_warps;
  if (by_registers < fewest) fewest = by_registers;
  if (by_shared < fewest) fewest = by_shared;
  result->activeBlocksPerMultiprocessor = (int)fewest;
  result->limitingFactors = (by_warps == fewest ? OCC_LIMIT_WARPS : 0u) |
                            (by_registers == fewest ? OCC_LIMIT_REGISTERS : 0u) |
                            (by_shared == fewest ? OCC_LIMIT_SHARED_MEMORY : 0u) |
                            (fewest == 32 ? OCC_LIMIT_BLOCKS : 0u);
  result->allocatedRegistersPerBlock = (int)(registers_of_warp * warps);
  result->allocatedSharedMemPerBlock = shared;
  result->partitionedGCConfig = PARTITIONED_GC_OFF;
  return CUDA_OCC_SUCCESS;
}

#endif
