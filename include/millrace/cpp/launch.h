// Kernels by their function: launches, attributes, names.
#ifndef MILLRACE_CPP_LAUNCH_H
#define MILLRACE_CPP_LAUNCH_H

#include "begin.h"

#if __cplusplus >= 201103L
#include <utility>
#endif

#if defined(__CUDACC__)
/* What `kernel<<<grid, block, shared, stream>>>(...)` compiles to, before the kernel's stub takes it up again. */
extern "C" __host__ unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0,
                                                                   struct CUstream_st* stream = 0);
extern "C" __host__ cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem,
                                                                     void* stream);
#endif

template <class T>
__MR_INLINE cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                         cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T>
__MR_INLINE cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                                                    size_t sharedMem = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

#if __cplusplus >= 201103L
/* Converts the arguments to the kernel's parameter types, as a call would, and launches. */
template <class... Params> struct __mr_launch_with {
  static __host__ cudaError_t launch(const cudaLaunchConfig_t* config, const void* kernel, Params... params) {
    void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(params)))..., nullptr};
    return cudaLaunchKernelExC(config, kernel, pointers);
  }
};

template <class... Params, class... Args>
__MR_INLINE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Params...),
                                           Args&&... args) {
  return __mr_launch_with<Params...>::launch(config, reinterpret_cast<const void*>(kernel),
                                             std::forward<Args>(args)...);
}

/* A kernel handle doesn't know its parameters' types: the arguments are taken as they are. */
template <class... Args>
__MR_INLINE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, const cudaKernel_t kernel,
                                           Args&&... args) {
  void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(args)))..., nullptr};
  return cudaLaunchKernelExC(config, static_cast<const void*>(kernel), pointers);
}
#endif

template <class T> __MR_INLINE cudaError_t cudaFuncSetAttribute(T* func, enum cudaFuncAttribute attr, int value) {
  return cudaFuncSetAttribute((const void*)func, attr, value);
}

template <class T> __MR_INLINE cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, T* entry) {
  return cudaFuncGetAttributes(attr, (const void*)entry);
}

template <class T> __MR_INLINE cudaError_t cudaFuncSetCacheConfig(T* func, enum cudaFuncCache cacheConfig) {
  return cudaFuncSetCacheConfig((const void*)func, cacheConfig);
}

template <class T> __MR_INLINE cudaError_t cudaFuncSetSharedMemConfig(T* func, enum cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig((const void*)func, config);
}

template <class T> __MR_INLINE cudaError_t cudaFuncGetName(const char** name, T* func) {
  return cudaFuncGetName(name, (const void*)func);
}

template <class T>
__MR_INLINE cudaError_t cudaFuncGetParamInfo(T* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return cudaFuncGetParamInfo((const void*)func, paramIndex, paramOffset, paramSize);
}

template <class T> __MR_INLINE cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, T* func) {
  return cudaGetKernel(kernelPtr, (const void*)func);
}

template <class T> __MR_INLINE cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, T* symbol) {
  return cudaGetFuncBySymbol(functionPtr, (const void*)symbol);
}

template <class T>
__MR_INLINE cudaError_t cudaLibraryGetGlobal(T** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetGlobal(__mr_result(dptr), bytes, library, name);
}

template <class T>
__MR_INLINE cudaError_t cudaLibraryGetManaged(T** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetManaged(__mr_result(dptr), bytes, library, name);
}

template <class T>
__MR_INLINE cudaError_t cudaLibraryGetUnifiedFunction(T** fptr, cudaLibrary_t library, const char* symbol) {
  return cudaLibraryGetUnifiedFunction(__mr_result(fptr), library, symbol);
}

#endif
