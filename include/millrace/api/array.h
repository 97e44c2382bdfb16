// API reference, "Memory Management" (arrays), "Texture Object Management", "Surface Object Management". Thread-safe.
// Positions and widths of arrays are in bytes in the 2D calls (wOffset, width) and in elements in the 3D calls.
#ifndef MILLRACE_API_ARRAY_H
#define MILLRACE_API_ARRAY_H

#include "begin.h"

#if defined(__cplusplus)
extern "C" {
#endif

__MR_API cudaMallocArray(cudaArray_t* array, const struct cudaChannelFormatDesc* desc, size_t width,
                         size_t height __MR_DEFAULT(0), unsigned int flags __MR_DEFAULT(0));
__MR_API cudaMalloc3DArray(cudaArray_t* array, const struct cudaChannelFormatDesc* desc, struct cudaExtent extent,
                           unsigned int flags __MR_DEFAULT(0));
__MR_API cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray, const struct cudaChannelFormatDesc* desc,
                                  struct cudaExtent extent, unsigned int numLevels, unsigned int flags __MR_DEFAULT(0));
__MR_API cudaGetMipmappedArrayLevel(cudaArray_t* levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                    unsigned int level);
__MR_API cudaFreeArray(cudaArray_t array);
__MR_API cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray);
__MR_API cudaArrayGetInfo(struct cudaChannelFormatDesc* desc, struct cudaExtent* extent, unsigned int* flags,
                          cudaArray_t array);
__MR_API cudaArrayGetPlane(cudaArray_t* pPlaneArray, cudaArray_t hArray, unsigned int planeIdx);
__MR_API cudaArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements* memoryRequirements, cudaArray_t array,
                                        int device);
__MR_API cudaMipmappedArrayGetMemoryRequirements(struct cudaArrayMemoryRequirements* memoryRequirements,
                                                 cudaMipmappedArray_t mipmap, int device);
__MR_API cudaArrayGetSparseProperties(struct cudaArraySparseProperties* sparseProperties, cudaArray_t array);
__MR_API cudaMipmappedArrayGetSparseProperties(struct cudaArraySparseProperties* sparseProperties,
                                               cudaMipmappedArray_t mipmap);
__MR_API cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind);
__MR_API cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                                  size_t width, size_t height, enum cudaMemcpyKind kind,
                                  cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpy2DFromArray(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                               size_t width, size_t height, enum cudaMemcpyKind kind);
__MR_API cudaMemcpy2DFromArrayAsync(void* dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                    size_t width, size_t height, enum cudaMemcpyKind kind,
                                    cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                  size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                  enum cudaMemcpyKind kind __MR_DEFAULT(cudaMemcpyDeviceToDevice));
/* Deprecated in favour of the 2D and 3D forms. */
__MR_API cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                           enum cudaMemcpyKind kind);
__MR_API cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                             enum cudaMemcpyKind kind);
__MR_API cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
                                size_t wOffsetSrc, size_t hOffsetSrc, size_t count,
                                enum cudaMemcpyKind kind __MR_DEFAULT(cudaMemcpyDeviceToDevice));
__MR_API cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                                enum cudaMemcpyKind kind, cudaStream_t stream __MR_DEFAULT(0));
__MR_API cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                  enum cudaMemcpyKind kind, cudaStream_t stream __MR_DEFAULT(0));

__MR_API cudaGetChannelDesc(struct cudaChannelFormatDesc* desc, cudaArray_const_t array);
extern __host__ struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                             enum cudaChannelFormatKind f);

__MR_API cudaCreateTextureObject(cudaTextureObject_t* pTexObject, const struct cudaResourceDesc* pResDesc,
                                 const struct cudaTextureDesc* pTexDesc,
                                 const struct cudaResourceViewDesc* pResViewDesc);
__MR_API cudaDestroyTextureObject(cudaTextureObject_t texObject);
__MR_API cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* pResDesc, cudaTextureObject_t texObject);
__MR_API cudaGetTextureObjectTextureDesc(struct cudaTextureDesc* pTexDesc, cudaTextureObject_t texObject);
__MR_API cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc* pResViewDesc, cudaTextureObject_t texObject);
__MR_API cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject, const struct cudaResourceDesc* pResDesc);
__MR_API cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject);
__MR_API cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc* pResDesc, cudaSurfaceObject_t surfObject);

#if defined(__cplusplus)
}
#endif

#endif
