// API reference, "Stream Ordered Memory Allocator". Thread-safe. Memory of cudaMallocAsync may be used by work ordered
// after the allocation and before the free.
#ifndef MILLRACE_API_POOL_H
#define MILLRACE_API_POOL_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream);
__MR_API cudaFreeAsync(void* devPtr, cudaStream_t hStream);
__MR_API cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream);
__MR_API cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep);
__MR_API cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void* value);
__MR_API cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void* value);
__MR_API cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc* descList, size_t count);
__MR_API cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t memPool, struct cudaMemLocation* location);
__MR_API cudaMemPoolCreate(cudaMemPool_t* memPool, const struct cudaMemPoolProps* poolProps);
__MR_API cudaMemPoolDestroy(cudaMemPool_t memPool);
__MR_API cudaMemGetDefaultMemPool(cudaMemPool_t* memPool, struct cudaMemLocation* location,
                                  enum cudaMemAllocationType type);
__MR_API cudaMemGetMemPool(cudaMemPool_t* memPool, struct cudaMemLocation* location, enum cudaMemAllocationType type);
__MR_API cudaMemSetMemPool(struct cudaMemLocation* location, enum cudaMemAllocationType type, cudaMemPool_t memPool);
__MR_API cudaMemPoolExportToShareableHandle(void* shareableHandle, cudaMemPool_t memPool,
                                            enum cudaMemAllocationHandleType handleType, unsigned int flags);
__MR_API cudaMemPoolImportFromShareableHandle(cudaMemPool_t* memPool, void* shareableHandle,
                                              enum cudaMemAllocationHandleType handleType, unsigned int flags);
__MR_API cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData* exportData, void* ptr);
__MR_API cudaMemPoolImportPointer(void** ptr, cudaMemPool_t memPool, struct cudaMemPoolPtrExportData* exportData);

#if defined(__cplusplus)
}
#endif

#endif
