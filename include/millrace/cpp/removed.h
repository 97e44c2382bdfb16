// Functions that releases before 13.0 declare and old programs call, by those that took their places.
#ifndef MILLRACE_CPP_REMOVED_H
#define MILLRACE_CPP_REMOVED_H

#include "begin.h"

__MR_INLINE cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
__MR_INLINE cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
__MR_INLINE cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
__MR_INLINE cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
__MR_INLINE cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
__MR_INLINE cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }

#endif
