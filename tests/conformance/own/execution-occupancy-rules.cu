// Rule: what the occupancy functions say of kernels with static shared memory, launch bounds, clusters and changed
// attributes, to blocks and configurations that can't be launched, and to null pointers.
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
__global__ void __cluster_dims__(4, 1, 1) fixed() {}
extern __shared__ char dynamic[];
__global__ void takes(char* p) { *p = dynamic[threadIdx.x]; }

static void blocks(const char* name, const void* f) {
  for (int threads : {1, 32, 33, 64, 96, 100, 128, 129, 512, 1000, 1024})
    for (size_t shared :
         {(size_t)0, (size_t)1, (size_t)1000, (size_t)10000, (size_t)49152, (size_t)100000, (size_t)232448}) {
      int n = 77;
      std::printf("%s %d %zu: %s", name, threads, shared,
                  E(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, threads, shared)));
      std::printf(" %d\n", n);
    }
}
static void resident() {
  blocks("plain", (const void*)plain);
  blocks("holds", (const void*)holds);
  blocks("bounded", (const void*)bounded);
  blocks("both", (const void*)both_bounds);
  blocks("fixed", (const void*)fixed);
  MUST(cudaFuncSetAttribute((const void*)takes, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  blocks("takes", (const void*)takes);
  MUST(cudaFuncSetAttribute((const void*)takes, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000));
  blocks("takes little", (const void*)takes);
  MUST(cudaFuncSetAttribute((const void*)takes, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  for (int c : {-1, 0, 1, 10, 50, 99, 100}) {
    MUST(cudaFuncSetAttribute((const void*)takes, cudaFuncAttributePreferredSharedMemoryCarveout, c));
    int n = 77;
    std::printf("carveout %d:", c);
    for (size_t shared : {(size_t)0, (size_t)1000, (size_t)10000, (size_t)100000}) {
      std::printf(" %s", E(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)takes, 128, shared)));
      std::printf(" %d", n);
    }
    std::puts("");
  }
}
static void available() {
  struct {
    const char* name;
    const void* f;
  } fs[] = {{"plain", (const void*)plain}, {"holds", (const void*)holds}, {"bounded", (const void*)bounded}};
  for (auto& k : fs)
    for (int blocks : {1, 2, 3, 4, 7, 8, 11, 12, 16, 31, 32})
      for (int threads : {32, 64, 128, 256, 1024}) {
        size_t n = 77;
        std::printf("%s %d %d: %s", k.name, blocks, threads,
                    E(cudaOccupancyAvailableDynamicSMemPerBlock(&n, k.f, blocks, threads)));
        std::printf(" %zu\n", n);
      }
}
static void clusters() {
  MUST(cudaFuncSetAttribute((const void*)takes, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  cudaLaunchConfig_t c = {};
  cudaLaunchAttribute a[2] = {};
  c.attrs = a;
  a[0].id = cudaLaunchAttributeClusterDimension;
  const auto ask = [&](const char* what, const void* f) {
    int n = 77, m = 77;
    std::printf("%s: %s", what, E(cudaOccupancyMaxActiveClusters(&n, f, &c)));
    std::printf(" %d", n == 77 ? 77 : n > 0);
    std::printf(" %s", E(cudaOccupancyMaxPotentialClusterSize(&m, f, &c)));
    std::printf(" %d\n", m);
  };
  const auto set = [&](unsigned x, unsigned y, unsigned z, dim3 grid, dim3 block, size_t shared, unsigned n) {
    a[0].val.clusterDim.x = x;
    a[0].val.clusterDim.y = y;
    a[0].val.clusterDim.z = z;
    c.gridDim = grid;
    c.blockDim = block;
    c.dynamicSmemBytes = shared;
    c.numAttrs = n;
  };
  const void* p = (const void*)plain;
  set(2, 1, 1, 8, 128, 0, 1);
  ask("two", p);
  set(2, 2, 1, 8, 128, 0, 1);
  ask("two by two of one row", p);
  set(2, 2, 1, dim3(4, 4), 128, 0, 1);
  ask("two by two", p);
  set(3, 1, 1, 9, 128, 0, 1);
  ask("three", p);
  set(3, 1, 1, 8, 128, 0, 1);
  ask("three of eight", p);
  set(8, 1, 1, 8, 128, 0, 1);
  ask("eight", p);
  set(9, 1, 1, 9, 128, 0, 1);
  ask("nine", p);
  set(16, 1, 1, 16, 128, 0, 1);
  ask("sixteen", p);
  set(0, 1, 1, 8, 128, 0, 1);
  ask("none", p);
  set(1, 1, 1, 8, 128, 0, 0);
  ask("no attributes", p);
  set(2, 1, 1, 8, 0, 0, 1);
  ask("no threads", p);
  set(2, 1, 1, 8, 1025, 0, 1);
  ask("too many threads", p);
  set(2, 1, 1, 0, 128, 0, 1);
  ask("no blocks", p);
  set(2, 1, 1, 8, 128, 50000, 1);
  ask("too much shared memory", p);
  set(2, 1, 1, 8, 128, 232448, 1);
  ask("all shared memory", (const void*)takes);
  set(2, 1, 1, 8, 128, 232449, 1);
  ask("one byte more", (const void*)takes);
  set(8, 1, 1, 8, 1024, 100000, 1);
  ask("eight large ones", (const void*)takes);
  set(1, 1, 1, 8, 128, 0, 0);
  ask("fixed", (const void*)fixed);
  set(4, 1, 1, 8, 128, 0, 1);
  ask("fixed, the same", (const void*)fixed);
  set(2, 1, 1, 8, 128, 0, 1);
  ask("fixed, another", (const void*)fixed);
  set(1, 1, 1, 6, 128, 0, 0);
  ask("fixed, not a multiple", (const void*)fixed);
  set(2, 1, 1, 8, 128, 0, 1);
  a[0].id = (cudaLaunchAttributeID)99;
  ask("unknown attribute", p);
  a[0].id = cudaLaunchAttributeCooperative;
  a[0].val.cooperative = 1;
  ask("cooperative", p);
  a[0].id = cudaLaunchAttributeClusterDimension;
  MUST(cudaFuncSetAttribute(p, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  set(16, 1, 1, 16, 128, 0, 1);
  ask("sixteen, allowed", p);
  set(17, 1, 1, 17, 128, 0, 1);
  ask("seventeen, allowed", p);
  set(1, 1, 1, 8, 128, 0, 0);
  ask("no attributes, allowed", p);
  int n = 77;
  c.numAttrs = 0;
  CALL(cudaOccupancyMaxActiveClusters(&n, (const void*)nullptr, &c));
  CALL(cudaOccupancyMaxPotentialClusterSize(nullptr, p, &c));
  CALL(cudaOccupancyMaxPotentialClusterSize(&n, (const void*)nullptr, &c));
}
static void suggested() {
  int g = 77, b = 77;
  for (int limit : {-1, 0, 1, 31, 33, 100, 1024, 1025})
    for (size_t shared : {(size_t)0, (size_t)1000, (size_t)49152, (size_t)49153}) {
      g = b = 77;
      std::printf("limit %d shared %zu: %s", limit, shared,
                  E(cudaOccupancyMaxPotentialBlockSize(&g, &b, plain, shared, limit)));
      std::printf(" %d", b);
      std::printf(" %s", E(cudaOccupancyMaxPotentialBlockSize(&g, &b, holds, shared, limit)));
      std::printf(" %d", b);
      std::printf(" %s", E(cudaOccupancyMaxPotentialBlockSize(&g, &b, bounded, shared, limit)));
      std::printf(" %d\n", b);
    }
  CALL(cudaOccupancyMaxPotentialBlockSize((int*)nullptr, &b, plain));
  CALL(cudaOccupancyMaxPotentialBlockSize(&g, (int*)nullptr, plain));
  MUST(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&g, &b, takes, [](int threads) { return (size_t)threads * 40; }));
  FACT(b);
  MUST(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      &g, &b, plain, [](int) { return (size_t)0; }, 0, cudaOccupancyDisableCachingOverride));
  FACT(b);
  CALL(cudaOccupancyMaxPotentialBlockSizeWithFlags(&g, &b, plain, 0, 0, 7));
}
int main() {
  alone("resident", resident);
  alone("available", available);
  alone("clusters", clusters);
  alone("suggested", suggested);
}
