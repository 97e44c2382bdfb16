// Rule: what a preferred share of shared memory, a lowered limit of dynamic shared memory and wanted clusters change in
// what fits and in what can be launched.
#include "call_sections.h"

__global__ void plain(int* p) {
  if (p) *p = 1;
}
__global__ void __cluster_dims__(2, 1, 1) fixed(int* p) {
  if (p) *p = 1;
}
static const void* const f = (const void*)plain;
static void available(const char* what) {
  for (int blocks : {1, 2, 8, 32}) {
    size_t n = 77;
    std::printf("%s, %d blocks: %s", what, blocks, E(cudaOccupancyAvailableDynamicSMemPerBlock(&n, f, blocks, 32)));
    std::printf(" %zu\n", n);
  }
}
static void preference() {
  for (int limit : {49152, 100, 232448}) {
    MUST(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, limit));
    for (int c : {-1, 0, 3, 10, 25, 50, 75, 100}) {
      MUST(cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, c));
      std::printf("limit %d carveout %d\n", limit, c);
      available("available");
      std::printf("resident:");
      for (size_t n : {0, 1, 1000, 4000, 12000, 30000, 60000, 120000}) {
        int b = 77;
        std::printf(" %s", E(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, f, 32, n)));
        std::printf(" %d", b);
      }
      std::puts("");
    }
  }
}
static const char* cooperative(unsigned blocks, size_t shared) {
  int* p = nullptr;
  void* args[] = {&p};
  const cudaError_t e = cudaLaunchCooperativeKernel(f, blocks, 128, args, shared, 0), then = cudaDeviceSynchronize();
  cudaGetLastError();
  return cudaGetErrorName(e ? e : then);
}
static void cooperating() {
  int processors;
  MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  for (int c : {-1, 0, 10, 50}) {
    MUST(cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, c));
    for (size_t shared : {0, 10000})
      for (unsigned each : {1, 2, 8, 9, 16, 17})
        std::printf("carveout %d shared %zu, %u each: %s\n", c, shared, each, cooperative(each * processors, shared));
  }
}
static const char* launch(const void* k, dim3 grid, unsigned x, unsigned y, unsigned z, bool given) {
  int* p = nullptr;
  void* args[] = {&p};
  cudaLaunchConfig_t c = {};
  c.gridDim = grid;
  c.blockDim = 32;
  cudaLaunchAttribute a[1];
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim.x = x;
  a[0].val.clusterDim.y = y;
  a[0].val.clusterDim.z = z;
  c.attrs = a;
  c.numAttrs = given;
  const cudaError_t e = cudaLaunchKernelExC(&c, k, args), then = cudaDeviceSynchronize();
  cudaGetLastError();
  return cudaGetErrorName(e ? e : then);
}
static void want(int x, int y, int z) {
  const int v[3] = {x, y, z};
  std::printf("wanted");
  for (int i = 0; i < 3; ++i)
    std::printf(" %d %s", v[i],
                E(cudaFuncSetAttribute(f, (cudaFuncAttribute)(cudaFuncAttributeRequiredClusterWidth + i), v[i])));
  std::printf(": %s", launch(f, 8, 0, 0, 0, false));
  std::printf(" two given %s", launch(f, 8, 2, 1, 1, true));
  std::printf(" four given %s", launch(f, 8, 4, 1, 1, true));
  std::printf(" none given %s", launch(f, 8, 0, 0, 0, true));
  std::printf(" odd grid %s\n", launch(f, 7, 0, 0, 0, false));
}
static void clusters() {
  want(0, 0, 0);
  want(2, 0, 0);
  want(2, 1, 0);
  want(2, 1, 1);
  want(0, 1, 1);
  want(1, 1, 1);
  want(0, 2, 0);
  want(4, 1, 1);
  want(8, 1, 1);
  want(16, 1, 1);
  want(3, 1, 1);
  want(1, 2, 1);
  want(0, 0, 0);
  std::printf("fixed: %s", launch((const void*)fixed, 8, 0, 0, 0, false));
  std::printf(" the same %s", launch((const void*)fixed, 8, 2, 1, 1, true));
  std::printf(" another %s", launch((const void*)fixed, 8, 4, 1, 1, true));
  std::printf(" none given %s\n", launch((const void*)fixed, 8, 0, 0, 0, true));
  for (unsigned n : {8u, 9u, 16u, 17u}) std::printf("%u given %s\n", n, launch(f, n, n, 1, 1, true));
  for (int allowed : {1, 0, 2, -1}) {
    MUST(cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed));
    for (unsigned n : {8u, 9u, 16u, 17u})
      std::printf("allowed %d, %u given %s\n", allowed, n, launch(f, n, n, 1, 1, true));
  }
}
int main() {
  alone("preference", preference);
  alone("cooperating", cooperating);
  alone("clusters", clusters);
}
