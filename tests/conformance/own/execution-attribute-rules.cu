// Rule: attributes, occupancy and look-ups of kernels and symbols: values out of range and what is no kernel or
// variable.
#include "call_sections.h"

__global__ void __launch_bounds__(256) bounded(int* p, double d, char c) { *p = (int)d + c; }
__global__ void plain() {}
__global__ void clustered() {}
__device__ int variable[4];
__constant__ char constant[100];
__managed__ int managed;
static int host_variable;
static void function() {
  cudaFuncAttributes a;
  std::memset(&a, 0, sizeof a);
  CALL(cudaFuncGetAttributes(&a, (const void*)bounded));
  FACT(a.maxThreadsPerBlock);
  FACT(a.sharedSizeBytes);
  FACT(a.constSizeBytes);
  FACT(a.maxDynamicSharedSizeBytes);
  FACT(a.preferredShmemCarveout);
  FACT(a.clusterDimMustBeSet);
  FACT(a.requiredClusterWidth);
  FACT(a.clusterSchedulingPolicyPreference);
  FACT(a.nonPortableClusterSizeAllowed);
  CALL(cudaFuncGetAttributes(nullptr, (const void*)plain));
  CALL(cudaFuncGetAttributes(&a, nullptr));
  CALL(cudaFuncGetAttributes(&a, (const void*)host_variable));
  CALL(cudaFuncGetAttributes(&a, &variable));
  for (int at = 0; at < 20; ++at) {
    std::printf("set %d:", at);
    for (int v : {-2, -1, 0, 1, 2, 50, 100, 101, 1024, 48 << 10, 227 << 10, (227 << 10) + 1, 1 << 30})
      std::printf(" %s", E(cudaFuncSetAttribute((const void*)plain, (cudaFuncAttribute)at, v)));
    std::puts("");
  }
  CALL(cudaFuncSetAttribute(nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  CALL(cudaFuncSetAttribute(&host_variable, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  for (int c = -1; c < 5; ++c) {
    std::printf("cache %d %s", c, E(cudaFuncSetCacheConfig((const void*)plain, (cudaFuncCache)c)));
    std::printf(" %s\n", E(cudaFuncSetSharedMemConfig((const void*)plain, (cudaSharedMemConfig)c)));
  }
  CALL(cudaFuncSetCacheConfig((const void*)nullptr, cudaFuncCachePreferL1));
  const char* n = nullptr;
  CALL(cudaFuncGetName(&n, (const void*)plain));
  std::puts(n ? n : "null");
  CALL(cudaFuncGetName(nullptr, (const void*)plain));
  CALL(cudaFuncGetName(&n, nullptr));
  CALL(cudaFuncGetName(&n, &host_variable));
  size_t at = 77, size = 77;
  for (size_t i = 0; i < 5; ++i) {
    at = size = 77;
    std::printf("parameter %zu %s", i, E(cudaFuncGetParamInfo((const void*)bounded, i, &at, &size)));
    std::printf(" %zu %zu\n", at, size);
  }
  CALL(cudaFuncGetParamInfo((const void*)bounded, 0, nullptr, &size));
  CALL(cudaFuncGetParamInfo((const void*)bounded, 0, &at, nullptr));
  CALL(cudaFuncGetParamInfo((const void*)plain, 0, &at, &size));
  CALL(cudaFuncGetParamInfo(nullptr, 0, &at, &size));
  cudaFunction_t f = nullptr;
  CALL(cudaGetFuncBySymbol(&f, (const void*)plain));
  FACT(f != nullptr);
  CALL(cudaGetFuncBySymbol(nullptr, (const void*)plain));
  CALL(cudaGetFuncBySymbol(&f, nullptr));
  CALL(cudaGetFuncBySymbol(&f, &host_variable));
  cudaKernel_t k = nullptr;
  CALL(cudaGetKernel(&k, (const void*)plain));
  FACT(k != nullptr);
  CALL(cudaGetKernel(nullptr, (const void*)plain));
  CALL(cudaGetKernel(&k, nullptr));
  CALL(cudaGetKernel(&k, &host_variable));
}
static void occupancy() {
  int n = 77, m = 77;
  const void* f = (const void*)plain;
  for (int threads : {-1, 0, 1, 31, 256, 1024, 1025})
    for (size_t shared : {(size_t)0, (size_t)48 << 10, ((size_t)48 << 10) + 1, (size_t)227 << 10, (size_t)1 << 30}) {
      n = 77;
      std::printf("%d %zu %s", threads, shared,
                  E(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, threads, shared)));
      std::printf(" %d", n);
      n = 77;
      std::printf(" %s", E(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)bounded, threads, shared)));
      std::printf(" %d\n", n);
    }
  for (unsigned g : {0u, 1u, 2u, 3u, 99u})
    std::printf("flags %u %s\n", g, E(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 32, 0, g)));
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, f, 32, 0));
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)nullptr, 32, 0));
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)&host_variable, 32, 0));
  size_t s = 77;
  for (int blocks : {-1, 0, 1, 2, 16, 32, 33})
    for (int threads : {-1, 0, 32, 1024, 1025}) {
      s = 77;
      std::printf("shared %d %d %s", blocks, threads,
                  E(cudaOccupancyAvailableDynamicSMemPerBlock(&s, f, blocks, threads)));
      std::printf(" %zu\n", s);
    }
  CALL(cudaOccupancyAvailableDynamicSMemPerBlock(&s, (const void*)nullptr, 1, 32));
  CALL(cudaOccupancyMaxPotentialBlockSize(&n, &m, plain, 0, 0));
  FACT(m);
  CALL(cudaOccupancyMaxPotentialBlockSize(&n, &m, bounded, 0, 0));
  FACT(m);
  CALL(cudaOccupancyMaxPotentialBlockSize(&n, &m, plain, 0, 100));
  FACT(m);
  CALL(cudaOccupancyMaxPotentialBlockSize(&n, &m, plain, (size_t)1 << 30, 0));
  cudaLaunchConfig_t c = {};
  c.gridDim = 8;
  c.blockDim = 128;
  cudaLaunchAttribute at[1];
  at[0].id = cudaLaunchAttributeClusterDimension;
  for (unsigned x : {0u, 1u, 2u, 3u, 8u, 16u, 17u}) {
    at[0].val.clusterDim.x = x;
    at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
    c.attrs = at;
    c.numAttrs = 1;
    n = 77;
    std::printf("clusters of %u %s", x, E(cudaOccupancyMaxActiveClusters(&n, clustered, &c)));
    std::printf(" %d\n", n == 77 ? 77 : n > 0);
  }
  c.numAttrs = 0;
  n = 77;
  CALL(cudaOccupancyMaxPotentialClusterSize(&n, clustered, &c));
  FACT(n);
  CALL(cudaOccupancyMaxActiveClusters(nullptr, clustered, &c));
}
static void symbols() {
  void* p = (void*)8;
  size_t n = 77;
  int x[4] = {};
  CALL(cudaGetSymbolAddress(&p, &host_variable));
  FACT(p == (void*)8);
  CALL(cudaGetSymbolAddress(&p, (const void*)nullptr));
  CALL(cudaGetSymbolAddress(&p, (const char*)variable + 4));
  CALL(cudaGetSymbolSize(&n, &host_variable));
  CALL(cudaGetSymbolSize(&n, (const void*)nullptr));
  CALL(cudaGetSymbolSize(&n, variable));
  FACT(n);
  CALL(cudaGetSymbolSize(&n, constant));
  FACT(n);
  CALL(cudaGetSymbolSize(&n, managed));
  FACT(n);
  CALL(cudaGetSymbolAddress(&p, (const void*)plain));
  for (size_t count : {0, 4, 16, 17})
    for (size_t at : {0, 4, 16, 17}) {
      std::printf("%zu at %zu", count, at);
      for (int k = -1; k < 6; ++k) {
        std::printf(" %s", E(cudaMemcpyToSymbol(variable, x, count, at, (cudaMemcpyKind)k)));
        std::printf(" %s", E(cudaMemcpyFromSymbol(x, variable, count, at, (cudaMemcpyKind)k)));
      }
      std::puts("");
    }
  CALL(cudaMemcpyToSymbol(variable, (void*)nullptr, 4));
  CALL(cudaMemcpyFromSymbol((void*)nullptr, variable, 4));
  CALL(cudaMemcpyToSymbol((const void*)&host_variable, x, 4, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpyToSymbol((const void*)nullptr, x, 4, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpyToSymbol(constant, x, 16, 84));
  CALL(cudaMemcpyToSymbol(constant, x, 16, 85));
  CALL(cudaMemcpyToSymbol(managed, x, 4));
  CALL(cudaMemcpyToSymbol(managed, x, 5));
  CALL(cudaMemcpyToSymbol(variable, x, 4, ~(size_t)0));
}
static void libraries() {
  cudaLibrary_t l = nullptr;
  static const char garbage[4096] = "nonsense";
  CALL(cudaLibraryLoadData(nullptr, garbage, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryLoadData(&l, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryLoadFromFile(&l, "/nonexistent/file", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryLoadFromFile(&l, "", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryLoadFromFile(&l, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryLoadFromFile(nullptr, "/nonexistent/file", nullptr, nullptr, 0, nullptr, nullptr, 0));
  CALL(cudaLibraryUnload(nullptr));
  cudaKernel_t k;
  unsigned n;
  void* p;
  size_t b;
  CALL(cudaLibraryGetKernel(&k, nullptr, "x"));
  CALL(cudaLibraryGetKernelCount(&n, nullptr));
  CALL(cudaLibraryGetGlobal(&p, &b, nullptr, "x"));
  CALL(cudaLibraryGetManaged(&p, &b, nullptr, "x"));
  CALL(cudaLibraryGetUnifiedFunction(&p, nullptr, "x"));
  CALL(cudaLibraryEnumerateKernels(&k, 1, nullptr));
  CALL(cudaKernelSetAttributeForDevice(nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 0));
  MUST(cudaGetKernel(&k, (const void*)plain));
  CALL(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 0));
  CALL(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, 99));
  CALL(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1, -1));
  CALL(cudaKernelSetAttributeForDevice(k, (cudaFuncAttribute)99, 1, 0));
  CALL(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30, 0));
}
static void external() {
  cudaExternalMemory_t m = nullptr;
  cudaExternalSemaphore_t s = nullptr;
  cudaExternalMemoryHandleDesc d = {};
  cudaExternalSemaphoreHandleDesc e = {};
  CALL(cudaImportExternalMemory(&m, nullptr));
  CALL(cudaImportExternalMemory(nullptr, &d));
  for (int t = 0; t < 11; ++t) {
    d = {};
    d.type = (cudaExternalMemoryHandleType)t;
    d.handle.fd = -1;
    d.size = 4096;
    if (t < 2 || t > 8) std::printf("memory %d %s\n", t, E(cudaImportExternalMemory(&m, &d)));
  }
  d.type = cudaExternalMemoryHandleTypeOpaqueFd;
  d.size = 0;
  CALL(cudaImportExternalMemory(&m, &d));
  CALL(cudaImportExternalSemaphore(&s, nullptr));
  CALL(cudaImportExternalSemaphore(nullptr, &e));
  e.type = (cudaExternalSemaphoreHandleType)0;
  CALL(cudaImportExternalSemaphore(&s, &e));
  e.type = (cudaExternalSemaphoreHandleType)99;
  CALL(cudaImportExternalSemaphore(&s, &e));
  CALL(cudaDestroyExternalMemory(nullptr));
  CALL(cudaDestroyExternalSemaphore(nullptr));
  void* p;
  cudaExternalMemoryBufferDesc b = {};
  CALL(cudaExternalMemoryGetMappedBuffer(&p, nullptr, &b));
  CALL(cudaSignalExternalSemaphoresAsync(nullptr, nullptr, 0, 0));
  CALL(cudaWaitExternalSemaphoresAsync(nullptr, nullptr, 0, 0));
  CALL(cudaSignalExternalSemaphoresAsync(nullptr, nullptr, 1, 0));
}
int main() {
  alone("function", function);
  alone("occupancy", occupancy);
  alone("symbols", symbols);
  alone("libraries", libraries);
  alone("external", external);
}
