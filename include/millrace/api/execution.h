// API reference, "Execution Control", "Occupancy" and "Library Management". Thread-safe. Launches return before the
// kernel has run; its arguments are copied during the call.
#ifndef MILLRACE_API_EXECUTION_H
#define MILLRACE_API_EXECUTION_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                          cudaStream_t stream);
__MR_API cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args);
/* All blocks are resident at once; cudaErrorCooperativeLaunchTooLarge if they can't be. */
__MR_API cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                     cudaStream_t stream);
/* Not called when the device has failed; may not call this API. */
__MR_API cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData);
__MR_API cudaFuncSetCacheConfig(const void* func, enum cudaFuncCache cacheConfig);
__MR_API cudaFuncSetSharedMemConfig(const void* func, enum cudaSharedMemConfig config);
__MR_API cudaFuncGetAttributes(struct cudaFuncAttributes* attr, const void* func);
__MR_API cudaFuncSetAttribute(const void* func, enum cudaFuncAttribute attr, int value);
__MR_API cudaFuncGetName(const char** name, const void* func);
__MR_API cudaFuncGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize);
__MR_API cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr);
__MR_API cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr);

__MR_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                       size_t dynamicSMemSize);
__MR_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func, int blockSize,
                                                                size_t dynamicSMemSize, unsigned int flags);
__MR_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func, int numBlocks,
                                                   int blockSize);
__MR_API cudaOccupancyMaxPotentialClusterSize(int* clusterSize, const void* func,
                                              const cudaLaunchConfig_t* launchConfig);
__MR_API cudaOccupancyMaxActiveClusters(int* numClusters, const void* func, const cudaLaunchConfig_t* launchConfig);

__MR_API cudaLibraryLoadData(cudaLibrary_t* library, const void* code, enum cudaJitOption* jitOptions,
                             void** jitOptionsValues, unsigned int numJitOptions,
                             enum cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                             unsigned int numLibraryOptions);
__MR_API cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* fileName, enum cudaJitOption* jitOptions,
                                 void** jitOptionsValues, unsigned int numJitOptions,
                                 enum cudaLibraryOption* libraryOptions, void** libraryOptionValues,
                                 unsigned int numLibraryOptions);
__MR_API cudaLibraryUnload(cudaLibrary_t library);
__MR_API cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library, const char* name);
__MR_API cudaLibraryGetGlobal(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name);
__MR_API cudaLibraryGetManaged(void** dptr, size_t* bytes, cudaLibrary_t library, const char* name);
__MR_API cudaLibraryGetUnifiedFunction(void** fptr, cudaLibrary_t library, const char* symbol);
__MR_API cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib);
__MR_API cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int numKernels, cudaLibrary_t lib);
__MR_API cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device);

#if defined(__cplusplus)
}
#endif

#endif
