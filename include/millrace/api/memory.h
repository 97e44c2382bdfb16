// API reference, "Memory Management" and "Unified Addressing". Thread-safe. Sizes and pitches in bytes; widths in bytes
// too, except for arrays, whose extents are in elements. A call without Async may still return before a
// device-to-device copy or a set of device memory is done; it is ordered like work of the default stream.
#ifndef MILLRACE_API_MEMORY_H
#define MILLRACE_API_MEMORY_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaMalloc(void** devPtr, size_t size);
__MR_API cudaMallocHost(void** ptr, size_t size);
__MR_API cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height);
__MR_API cudaMallocManaged(void** devPtr, size_t size, unsigned int flags __MR_DEFAULT(cudaMemAttachGlobal));
__MR_API cudaMalloc3D(struct cudaPitchedPtr* pitchedDevPtr, struct cudaExtent extent);
__MR_API cudaFree(void* devPtr);
__MR_API cudaFreeHost(void* ptr);
__MR_API cudaHostAlloc(void** pHost, size_t size, unsigned int flags);
__MR_API cudaHostRegister(void* ptr, size_t size, unsigned int flags);
__MR_API cudaHostUnregister(void* ptr);
__MR_API cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags);
__MR_API cudaHostGetFlags(unsigned int* pFlags, void* pHost);
__MR_API cudaMemGetInfo(size_t* free, size_t* total);
__MR_API cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr);
__MR_API cudaGetSymbolAddress(void** devPtr, const void* symbol);
__MR_API cudaGetSymbolSize(size_t* size, const void* symbol);

/* Copies. */
__MR_API cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
__MR_API cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind,
                         cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count);
__MR_API cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                             cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                      enum cudaMemcpyKind kind);
__MR_API cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpy3D(const struct cudaMemcpy3DParms* p);
__MR_API cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* p, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* p);
__MR_API cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* p, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset __MR_DEFAULT(0),
                            enum cudaMemcpyKind kind __MR_DEFAULT(cudaMemcpyHostToDevice));
__MR_API cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset __MR_DEFAULT(0),
                              enum cudaMemcpyKind kind __MR_DEFAULT(cudaMemcpyDeviceToHost));
__MR_API cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                 enum cudaMemcpyKind kind, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                                   cudaStream_t stream __MR_DEFAULT(0));
/* Many copies in one call; copies of a batch are not ordered among each other. Not on the default stream. */
__MR_API cudaMemcpyBatchAsync(void* const* dsts, const void* const* srcs, const size_t* sizes, size_t count,
                              struct cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                              cudaStream_t stream);
__MR_API cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp* opList, unsigned long long flags,
                                cudaStream_t stream);

/* Sets. */
__MR_API cudaMemset(void* devPtr, int value, size_t count);
__MR_API cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height);
__MR_API cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height,
                           cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent);
__MR_API cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                           cudaStream_t stream __MR_DEFAULT(0));

/* Managed memory. */
__MR_API cudaMemPrefetchAsync(const void* devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                              cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count, struct cudaMemLocation* prefetchLocs,
                                   size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                   cudaStream_t stream);
__MR_API cudaMemDiscardBatchAsync(void** dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                  cudaStream_t stream);
__MR_API cudaMemDiscardAndPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                             struct cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                             size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
__MR_API cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice, struct cudaMemLocation location);
__MR_API cudaMemRangeGetAttribute(void* data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void* devPtr,
                                  size_t count);
__MR_API cudaMemRangeGetAttributes(void** data, size_t* dataSizes, enum cudaMemRangeAttribute* attributes,
                                   size_t numAttributes, const void* devPtr, size_t count);

/* Memory of other processes of the same user. */
__MR_API cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr);
__MR_API cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned int flags);
__MR_API cudaIpcCloseMemHandle(void* devPtr);

#if defined(__cplusplus)
}
#endif

#endif
