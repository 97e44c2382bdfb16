// API reference, "External Resource Interoperability" and "Graphics Interoperability".
//
// Memory that other processes own is imported by the descriptor of a memory file, semaphores as eventfds (binary,
// EFD_SEMAPHORE) and as memory files with the value in the first eight bytes (timeline). There is no graphics API to
// share with: the cudaGraphics functions, and arrays in external memory, return cudaErrorNotSupported.
#ifndef MILLRACE_API_INTEROP_H
#define MILLRACE_API_INTEROP_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaImportExternalMemory(cudaExternalMemory_t* extMem_out,
                                  const struct cudaExternalMemoryHandleDesc* memHandleDesc);
__MR_API cudaExternalMemoryGetMappedBuffer(void** devPtr, cudaExternalMemory_t extMem,
                                           const struct cudaExternalMemoryBufferDesc* bufferDesc);
__MR_API cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t* mipmap, cudaExternalMemory_t extMem,
                                                   const struct cudaExternalMemoryMipmappedArrayDesc* mipmapDesc);
__MR_API cudaDestroyExternalMemory(cudaExternalMemory_t extMem);
__MR_API cudaImportExternalSemaphore(cudaExternalSemaphore_t* extSem_out,
                                     const struct cudaExternalSemaphoreHandleDesc* semHandleDesc);
__MR_API cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t* extSemArray,
                                           const struct cudaExternalSemaphoreSignalParams* paramsArray,
                                           unsigned int numExtSems, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t* extSemArray,
                                         const struct cudaExternalSemaphoreWaitParams* paramsArray,
                                         unsigned int numExtSems, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem);

__MR_API cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
__MR_API cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags);
__MR_API cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaGraphicsResourceGetMappedPointer(void** devPtr, size_t* size, cudaGraphicsResource_t resource);
__MR_API cudaGraphicsSubResourceGetMappedArray(cudaArray_t* array, cudaGraphicsResource_t resource,
                                               unsigned int arrayIndex, unsigned int mipLevel);
__MR_API cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t* mipmappedArray,
                                                     cudaGraphicsResource_t resource);

#if defined(__cplusplus)
}
#endif

#endif
