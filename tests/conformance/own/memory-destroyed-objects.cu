// Rule: what memory functions say to textures, surfaces, pools and pointers that were destroyed or freed before, as far
// as a GPU answers: arrays and mipmapped arrays that are freed again crash its runtime.
#include "call_sections.h"

static cudaArray_t array;
static cudaTextureObject_t texture;
static cudaSurfaceObject_t surface;
static cudaMipmappedArray_t levels;
static cudaMemPool_t pool;
static float host[64 * 64];
static void prepare() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  MUST(cudaMallocArray(&array, &d, 64, 64, cudaArraySurfaceLoadStore));
  MUST(cudaMallocMipmappedArray(&levels, &d, make_cudaExtent(64, 64, 0), 3));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc t = {};
  MUST(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  MUST(cudaCreateSurfaceObject(&surface, &r));
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location = {cudaMemLocationTypeDevice, 0};
  MUST(cudaMemPoolCreate(&pool, &p));
}
static void textures() {
  prepare();
  CALL(cudaDestroyTextureObject(texture));
  CALL(cudaDestroyTextureObject(texture));
  cudaResourceDesc r;
  CALL(cudaGetTextureObjectResourceDesc(&r, texture));
  CALL(cudaDestroyTextureObject(0));
  CALL(cudaDestroySurfaceObject(surface));
  CALL(cudaDestroySurfaceObject(surface));
  CALL(cudaGetSurfaceObjectResourceDesc(&r, surface));
  CALL(cudaDestroySurfaceObject(0));
  CALL(cudaDestroyTextureObject(12345));
  CALL(cudaDestroySurfaceObject(12345));
}
static void mipmapped() {
  prepare();
  cudaArray_t level = nullptr, gone = nullptr;
  CALL(cudaGetMipmappedArrayLevel(&level, levels, 1));
  CALL(cudaFreeArray(level));
  CALL(cudaGetMipmappedArrayLevel(&gone, levels, 9));
  CALL(cudaFreeMipmappedArray(levels));
}
static void pointers() {
  char *d, *h, *m;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  char *keep, *keeph;
  MUST(cudaMalloc(&keep, 4096));
  MUST(cudaMallocHost(&keeph, 4096));
  MUST(cudaFree(d));
  MUST(cudaFreeHost(h));
  MUST(cudaFree(m));
  CALL(cudaFree(d));
  CALL(cudaFreeHost(h));
  CALL(cudaFree(m));
  CALL(cudaMemset(d, 0, 16));
  CALL(cudaMemcpy(keep, d, 16, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy(host, d, 16, cudaMemcpyDeviceToHost));
  CALL(cudaMemPrefetchAsync(m, 16, {cudaMemLocationTypeDevice, 0}, 0, 0));
  CALL(cudaHostGetDevicePointer(&h, h, 0));
  cudaIpcMemHandle_t i;
  CALL(cudaIpcGetMemHandle(&i, d));
  CALL(cudaDeviceSynchronize());
}
static void pools() {
  prepare();
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMemPoolDestroy(pool));
}
static void pools_allocating() {
  prepare();
  void* p;
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMallocFromPoolAsync(&p, 100, pool, 0));
}
static void pools_described() {
  prepare();
  unsigned long long v;
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &v));
  CALL(cudaMemPoolTrimTo(pool, 0));
}
int main() {
  alone("textures", textures);
  alone("pointers", pointers);
  alone("mipmapped", mipmapped);
  alone("pools", pools);
  alone("pools allocating", pools_allocating);
  alone("pools described", pools_described);
}
