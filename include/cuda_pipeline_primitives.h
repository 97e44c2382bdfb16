// Asynchronous copies of a thread, as C functions (programming guide, "Pipeline Primitives Interface"). A copy is made
// where it is called, so that there is never one to wait for.
#ifndef MILLRACE_CUDA_PIPELINE_PRIMITIVES_H
#define MILLRACE_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

#if defined(__CUDACC__)
typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

// Copies size - zfill bytes and clears the rest; size is 4, 8 or 16.
static __device__ __forceinline__ void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from,
                                                               size_t size, size_t zfill = 0) {
  for (size_t i = 0; i < size; ++i) ((char*)to)[i] = i < size - zfill ? ((const char*)from)[i] : (char)0;
}
static __device__ __forceinline__ void __pipeline_commit() {}
static __device__ __forceinline__ void __pipeline_wait_prior(size_t) { __threadfence_block(); }
#endif

#endif
