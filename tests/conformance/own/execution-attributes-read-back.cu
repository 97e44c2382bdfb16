// Rule: what a kernel's attributes read after each was set, to which values; kernels with static shared memory, launch
// bounds, fixed clusters; which setting makes a launch fail.
#include "call_sections.h"

__global__ void plain() {}
__global__ void holds(int* p) {
  __shared__ int x[5000];
  x[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = x[(threadIdx.x * 37) % 5000];
}
__global__ void __launch_bounds__(128) bounded() {}
__global__ void __launch_bounds__(96, 4) both_bounds() {}
__global__ void __cluster_dims__(4, 2, 1) fixed() {}
template <class T> __global__ void templated(T* p) { *p = T(); }
static void show(const void* f) {
  cudaFuncAttributes a;
  std::memset(&a, 0x55, sizeof a);
  std::printf("  %s", E(cudaFuncGetAttributes(&a, f)));
  std::printf(" threads %d shared %zu dynamic %d carveout %d cluster %d %d %d must %d policy %d large %d\n",
              a.maxThreadsPerBlock, a.sharedSizeBytes, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout,
              a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth, a.clusterDimMustBeSet,
              a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
}
static void set(const void* f, int which, int value) {
  std::printf("set %d to %d: %s\n", which, value, E(cudaFuncSetAttribute(f, (cudaFuncAttribute)which, value)));
  show(f);
}
static void first() {
  show((const void*)plain);
  show((const void*)holds);
  show((const void*)bounded);
  show((const void*)both_bounds);
  show((const void*)fixed);
  show((const void*)templated<int>);
}
static void values() {
  for (int which = 8; which < 15; ++which)
    for (int v : {0, 1, 2, 3, -1}) set((const void*)plain, which, v);
  for (int v : {0, 1, 1000, 49152, 49153, 212448, 212449, 227 << 10}) set((const void*)holds, 8, v);
  for (int which = 10; which < 15; ++which)
    for (int v : {0, 1, 2, 4}) set((const void*)fixed, which, v);
  set((const void*)bounded, 8, 100000);
  set((const void*)templated<float>, 9, 30);
  show((const void*)templated<double>);
}
static const char* launch(const void* f, unsigned grid, unsigned block, size_t shared, cudaStream_t s = 0) {
  static int* p;
  if (!p) MUST(cudaMalloc(&p, 1 << 16));
  void* args[] = {&p};
  const cudaError_t e = cudaLaunchKernel(f, grid, block, args, shared, s), then = cudaDeviceSynchronize();
  cudaGetLastError();
  return then ? cudaGetErrorName(then) : cudaGetErrorName(e);
}
static void launches() {
  for (size_t n : {(size_t)0, (size_t)29152, (size_t)29153, (size_t)49152, (size_t)212448, (size_t)212449})
    std::printf("holds %zu %s\n", n, launch((const void*)holds, 1, 32, n));
  set((const void*)holds, 8, 212448);
  for (size_t n : {(size_t)0, (size_t)29152, (size_t)29153, (size_t)49152, (size_t)212448, (size_t)212449})
    std::printf("holds %zu %s\n", n, launch((const void*)holds, 1, 32, n));
  set((const void*)holds, 8, 100);
  for (size_t n : {(size_t)100, (size_t)101, (size_t)29152})
    std::printf("holds %zu %s\n", n, launch((const void*)holds, 1, 32, n));
  for (unsigned n : {0u, 1u, 128u, 129u, 1024u, 1025u})
    std::printf("bounded %u %s\n", n, launch((const void*)bounded, 1, n, 0));
  for (unsigned n : {0u, 1u, 8u, 12u, 16u}) std::printf("fixed %u %s\n", n, launch((const void*)fixed, n, 32, 0));
  set((const void*)plain, 11, 2);
  for (unsigned n : {1u, 2u, 3u, 4u}) std::printf("wanted width %u %s\n", n, launch((const void*)plain, n, 32, 0));
  set((const void*)plain, 12, 2);
  for (unsigned n : {1u, 2u, 3u, 4u})
    std::printf("wanted width and height %u %s\n", n, launch((const void*)plain, n, 32, 0));
  set((const void*)plain, 11, 0);
  set((const void*)plain, 12, 0);
  for (unsigned n : {1u, 3u}) std::printf("nothing wanted %u %s\n", n, launch((const void*)plain, n, 32, 0));
}
static void handles() {
  cudaKernel_t k;
  MUST(cudaGetKernel(&k, (const void*)plain));
  cudaFuncAttributes a;
  CALL(cudaFuncGetAttributes(&a, (const void*)k));
  CALL(cudaFuncSetAttribute((const void*)k, cudaFuncAttributePreferredSharedMemoryCarveout, 40));
  show((const void*)plain);
  CALL(cudaFuncSetCacheConfig((const void*)k, cudaFuncCachePreferL1));
  const char* n = nullptr;
  CALL(cudaFuncGetName(&n, (const void*)k));
  std::puts(n ? n : "null");
  size_t at = 77, size = 77;
  CALL(cudaFuncGetParamInfo((const void*)k, 0, &at, &size));
  int blocks = 77;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void*)k, 32, 0));
  std::printf("by handle %s\n", launch((const void*)k, 1, 32, 0));
  cudaKernel_t again = nullptr;
  CALL(cudaGetKernel(&again, (const void*)k));
  cudaGetLastError();
  cudaSetDevice(99);
  CALL(cudaFuncSetAttribute((const void*)plain, cudaFuncAttributePreferredSharedMemoryCarveout, 40));
  CALL(cudaGetLastError());
}
int main() {
  alone("first", first);
  alone("values", values);
  alone("launches", launches);
  alone("handles", handles);
}
