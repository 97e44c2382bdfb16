// Typed allocation and symbol access. A symbol is passed by name: its host-side address identifies it.
#ifndef MILLRACE_CPP_MEMORY_H
#define MILLRACE_CPP_MEMORY_H

#include "begin.h"

template <class T> __MR_INLINE cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc(__mr_result(devPtr), size);
}

template <class T> __MR_INLINE cudaError_t cudaMallocPitch(T** devPtr, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(__mr_result(devPtr), pitch, width, height);
}

__MR_INLINE cudaError_t cudaMallocHost(void** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(ptr, size, flags);
}

template <class T> __MR_INLINE cudaError_t cudaMallocHost(T** ptr, size_t size, unsigned int flags = 0) {
  return cudaHostAlloc(__mr_result(ptr), size, flags);
}

template <class T> __MR_INLINE cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(__mr_result(ptr), size, flags);
}

template <class T> __MR_INLINE cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
  return cudaHostGetDevicePointer(__mr_result(pDevice), pHost, flags);
}

template <class T>
__MR_INLINE cudaError_t cudaMallocManaged(T** devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(__mr_result(devPtr), size, flags);
}

/* Stream-ordered allocation, from the device's current pool or from a given one. */
template <class T> __MR_INLINE cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(__mr_result(ptr), size, stream);
}

__MR_INLINE cudaError_t cudaMallocAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

template <class T>
__MR_INLINE cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(__mr_result(ptr), size, memPool, stream);
}

template <class T>
__MR_INLINE cudaError_t cudaMallocFromPoolAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(__mr_result(ptr), size, memPool, stream);
}

template <class T> __MR_INLINE cudaError_t cudaGetSymbolAddress(void** devPtr, const T& symbol) {
  return cudaGetSymbolAddress(devPtr, __mr_symbol(symbol));
}

template <class T> __MR_INLINE cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, __mr_symbol(symbol));
}

template <class T>
__MR_INLINE cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(__mr_symbol(symbol), src, count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                                enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync(__mr_symbol(symbol), src, count, offset, kind, stream);
}

template <class T>
__MR_INLINE cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(dst, __mr_symbol(symbol), count, offset, kind);
}

template <class T>
__MR_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                  cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(dst, __mr_symbol(symbol), count, offset, kind, stream);
}

/* Batches in which every copy has the same attributes, or every range the same destination. */
__MR_INLINE cudaError_t cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes,
                                             size_t count, struct cudaMemcpyAttributes attr, cudaStream_t stream) {
  size_t first = 0;
  return cudaMemcpyBatchAsync(dsts, srcs, sizes, count, &attr, &first, 1, stream);
}

/* The same for lists of pointers to const. */
__MR_INLINE cudaError_t cudaMemcpyBatchAsync(const void** dsts, const void** srcs, const size_t* sizes, size_t count,
                                             struct cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                                             cudaStream_t stream) {
  return cudaMemcpyBatchAsync(const_cast<void* const*>(dsts), srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream);
}
__MR_INLINE cudaError_t cudaMemcpyBatchAsync(const void** dsts, const void** srcs, const size_t* sizes, size_t count,
                                             struct cudaMemcpyAttributes attr, cudaStream_t stream) {
  size_t first = 0;
  return cudaMemcpyBatchAsync(const_cast<void* const*>(dsts), srcs, sizes, count, &attr, &first, 1, stream);
}

__MR_INLINE cudaError_t cudaMemPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                                  struct cudaMemLocation location, unsigned long long flags,
                                                  cudaStream_t stream) {
  size_t first = 0;
  return cudaMemPrefetchBatchAsync(dptrs, sizes, count, &location, &first, 1, flags, stream);
}

__MR_INLINE cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                                            struct cudaMemLocation location, unsigned long long flags,
                                                            cudaStream_t stream) {
  size_t first = 0;
  return cudaMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count, &location, &first, 1, flags, stream);
}

#endif
