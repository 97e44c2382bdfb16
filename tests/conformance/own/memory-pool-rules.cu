// Rule: properties, attributes, access and sharing of memory pools: each parameter out of range, each kind of pointer.
#include "call_sections.h"

static cudaMemPoolProps good() {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location = {cudaMemLocationTypeDevice, 0};
  return p;
}
static void create() {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps p = good();
  CALL(cudaMemPoolCreate(&pool, &p));
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMemPoolDestroy(nullptr));
  CALL(cudaMemPoolCreate(nullptr, &p));
  CALL(cudaMemPoolCreate(&pool, nullptr));
  for (int t : {0, 1, 2, 3, 0x7fffffff}) {
    p = good();
    p.allocType = (cudaMemAllocationType)t;
    std::printf("type %d %s\n", t, E(cudaMemPoolCreate(&pool, &p)));
  }
  for (int h : {0, 1, 2, 3, 4, 5, 8, 9, 16}) {
    p = good();
    p.handleTypes = (cudaMemAllocationHandleType)h;
    if (h != 8 && h != 9) std::printf("handle %d %s\n", h, E(cudaMemPoolCreate(&pool, &p)));
  }
  for (int l = 0; l < 6; ++l)
    for (int id : {-1, 0, 1, 2, 99}) {
      p = good();
      p.location = {(cudaMemLocationType)l, id};
      std::printf("location %d %d %s\n", l, id, E(cudaMemPoolCreate(&pool, &p)));
    }
  for (size_t n : {(size_t)1, (size_t)4096, (size_t)1 << 25, (size_t)1 << 50}) {
    p = good();
    p.maxSize = n;
    std::printf("most %zu %s", n, E(cudaMemPoolCreate(&pool, &p)));
    void* x = nullptr;
    std::printf(" %s", E(cudaMallocFromPoolAsync(&x, 1 << 20, pool, 0)));
    std::printf(" %s\n", E(cudaMallocFromPoolAsync(&x, 256 << 20, pool, 0)));
  }
  p = good();
  p.usage = 1;
  CALL(cudaMemPoolCreate(&pool, &p));
  p.usage = 0xffff;
  CALL(cudaMemPoolCreate(&pool, &p));
  p = good();
  p.reserved[0] = 1;
  CALL(cudaMemPoolCreate(&pool, &p));
}
static void attributes() {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps p = good();
  MUST(cudaMemPoolCreate(&pool, &p));
  for (int a = 0; a < 15; ++a) {
    unsigned long long v[2] = {77, 77};
    std::printf("get %d %s", a, E(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)a, v)));
    std::printf(" %llu", v[0] & 0xffffffff);
    for (unsigned long long w : {0ull, 1ull, 2ull, ~0ull}) {
      v[0] = w;
      std::printf(" %s", E(cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)a, v)));
      v[0] = 77;
      cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)a, v);
      std::printf(" %llu", v[0] & 0xffffffff);
    }
    cudaGetLastError();
    std::puts("");
  }
  unsigned long long v = 0;
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, nullptr));
  CALL(cudaMemPoolGetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &v));
  CALL(cudaMemPoolSetAttribute(nullptr, cudaMemPoolAttrReleaseThreshold, &v));
  CALL(cudaMemPoolTrimTo(pool, 0));
  CALL(cudaMemPoolTrimTo(pool, ~(size_t)0));
  CALL(cudaMemPoolTrimTo(nullptr, 0));
}
static void access() {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps p = good();
  MUST(cudaMemPoolCreate(&pool, &p));
  for (int l = 0; l < 5; ++l)
    for (int id : {-1, 0, 1})
      for (int f : {0, 1, 2, 3, 4}) {
        cudaMemAccessDesc d = {{(cudaMemLocationType)l, id}, (cudaMemAccessFlags)f};
        cudaMemAccessFlags now = (cudaMemAccessFlags)77;
        std::printf("access %d %d %d %s", l, id, f, E(cudaMemPoolSetAccess(pool, &d, 1)));
        std::printf(" %s", E(cudaMemPoolGetAccess(&now, pool, &d.location)));
        std::printf(" %d\n", (int)now);
      }
  cudaMemAccessDesc d = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  cudaMemAccessFlags now;
  CALL(cudaMemPoolSetAccess(nullptr, &d, 1));
  CALL(cudaMemPoolSetAccess(pool, nullptr, 0));
  CALL(cudaMemPoolSetAccess(pool, &d, 0));
  CALL(cudaMemPoolGetAccess(&now, nullptr, &d.location));
  CALL(cudaMemPoolGetAccess(&now, pool, nullptr));
}
static void devices() {
  cudaMemPool_t pool = nullptr, one = nullptr, two = nullptr;
  cudaMemPoolProps p = good();
  MUST(cudaMemPoolCreate(&pool, &p));
  CALL(cudaDeviceGetDefaultMemPool(&one, 0));
  CALL(cudaDeviceGetMemPool(&two, 0));
  FACT(one == two);
  CALL(cudaDeviceGetDefaultMemPool(&one, 1));
  CALL(cudaDeviceGetDefaultMemPool(&one, -1));
  CALL(cudaDeviceGetDefaultMemPool(nullptr, 0));
  CALL(cudaDeviceGetMemPool(&two, 1));
  CALL(cudaDeviceGetMemPool(nullptr, 0));
  CALL(cudaMemPoolDestroy(one));
  CALL(cudaDeviceSetMemPool(0, pool));
  CALL(cudaDeviceGetMemPool(&two, 0));
  FACT(two == pool);
  CALL(cudaDeviceSetMemPool(1, pool));
  CALL(cudaDeviceSetMemPool(0, nullptr));
  CALL(cudaDeviceGetMemPool(&two, 0));
  FACT(two == pool);
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaDeviceGetMemPool(&two, 0));
  FACT(two == one);
  cudaMemPool_t mine = nullptr, host = nullptr;
  MUST(cudaMemPoolCreate(&mine, &p));
  for (int l = 0; l < 6; ++l)
    for (int id : {-1, 0, 1})
      for (int t : {0, 1, 2, 3}) {
        cudaMemLocation at = {(cudaMemLocationType)l, id};
        std::printf("place %d %d type %d: %s", l, id, t,
                    E(cudaMemGetDefaultMemPool(&two, &at, (cudaMemAllocationType)t)));
        std::printf(" %s", E(cudaMemGetMemPool(&two, &at, (cudaMemAllocationType)t)));
        std::printf(" %s\n", E(cudaMemSetMemPool(&at, (cudaMemAllocationType)t, mine)));
      }
  (void)host;
  cudaMemLocation at = {cudaMemLocationTypeDevice, 0};
  CALL(cudaMemGetDefaultMemPool(nullptr, &at, cudaMemAllocationTypePinned));
  CALL(cudaMemGetDefaultMemPool(&two, nullptr, cudaMemAllocationTypePinned));
  CALL(cudaMemGetMemPool(nullptr, &at, cudaMemAllocationTypePinned));
  CALL(cudaMemGetMemPool(&two, nullptr, cudaMemAllocationTypePinned));
  CALL(cudaMemSetMemPool(&at, cudaMemAllocationTypePinned, nullptr));
  CALL(cudaMemSetMemPool(nullptr, cudaMemAllocationTypePinned, mine));
}
static char hostmem[64];
static void allocate() {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps p = good();
  MUST(cudaMemPoolCreate(&pool, &p));
  char *x = (char*)8, *d, *h, *g;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&g, 4096));
  cudaStream_t s, gone;
  MUST(cudaStreamCreate(&s));
  CALL(cudaMallocAsync(&x, 0, s));
  FACT(x == (char*)8 ? 8 : x ? 1 : 0);
  CALL(cudaMallocAsync((void**)nullptr, 10, s));
  x = (char*)8;
  CALL(cudaMallocAsync(&x, (size_t)1 << 50, s));
  FACT(x == (char*)8 ? 8 : x ? 1 : 0);
  CALL(cudaMallocFromPoolAsync(&x, 10, (cudaMemPool_t) nullptr, s));
  CALL(cudaMallocFromPoolAsync((void**)nullptr, 10, pool, s));
  CALL(cudaMallocFromPoolAsync(&x, 0, pool, s));
  CALL(cudaMallocFromPoolAsync(&x, 1000, pool, s));
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaFreeAsync(x + 1, s));
  CALL(cudaFreeAsync(x, s));
  CALL(cudaFreeAsync(x, s));
  CALL(cudaFreeAsync(nullptr, s));
  CALL(cudaFreeAsync(h, s));
  CALL(cudaFreeAsync(g, s));
  CALL(cudaFreeAsync(hostmem, s));
  CALL(cudaFreeAsync(d + 1, s));
  CALL(cudaFree(d));
  CALL(cudaMallocAsync(&x, 1000, s));
  CALL(cudaFree(x));
  CALL(cudaFree(x));
  CALL(cudaMallocAsync(&x, 1000, s));
  CALL(cudaFreeHost(x));
  CALL(cudaFreeAsync(x, cudaStreamLegacy));
  CALL(cudaMallocAsync(&x, 1000, cudaStreamPerThread));
  CALL(cudaFreeAsync(x, cudaStreamPerThread));
  CALL(cudaDeviceSynchronize());
}
static void share() {
  cudaMemPool_t pool = nullptr, plain = nullptr, in = nullptr;
  cudaMemPoolProps p = good();
  MUST(cudaMemPoolCreate(&plain, &p));
  p.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  MUST(cudaMemPoolCreate(&pool, &p));
  int fd = -1;
  char big[256];
  CALL(cudaMemPoolExportToShareableHandle(&fd, plain, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypeNone, 0));
  CALL(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 1));
  CALL(cudaMemPoolExportToShareableHandle(nullptr, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolExportToShareableHandle(&fd, nullptr, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  FACT(fd >= 0);
  CALL(cudaMemPoolImportFromShareableHandle(nullptr, (void*)(intptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolImportFromShareableHandle(&in, (void*)(intptr_t)fd, cudaMemHandleTypeNone, 0));
  CALL(cudaMemPoolImportFromShareableHandle(&in, (void*)(intptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 1));
  CALL(cudaMemPoolImportFromShareableHandle(&in, (void*)(intptr_t)1000, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolImportFromShareableHandle(&in, (void*)(intptr_t)0, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaMemPoolImportFromShareableHandle(&in, (void*)(intptr_t)fd, cudaMemHandleTypePosixFileDescriptor, 0));
  cudaMemPoolPtrExportData data;
  std::memset(&data, 0, sizeof data);
  void *x, *y, *d, *z = nullptr;
  MUST(cudaMalloc(&d, 100));
  MUST(cudaMallocFromPoolAsync(&x, 1000, pool, 0));
  MUST(cudaMallocFromPoolAsync(&y, 1000, plain, 0));
  MUST(cudaDeviceSynchronize());
  CALL(cudaMemPoolExportPointer(&data, y));
  CALL(cudaMemPoolExportPointer(&data, d));
  CALL(cudaMemPoolExportPointer(&data, big));
  CALL(cudaMemPoolExportPointer(&data, nullptr));
  CALL(cudaMemPoolExportPointer(nullptr, x));
  CALL(cudaMemPoolExportPointer(&data, (char*)x + 8));
  CALL(cudaMemPoolExportPointer(&data, x));
  CALL(cudaMemPoolImportPointer(nullptr, in, &data));
  CALL(cudaMemPoolImportPointer(&z, nullptr, &data));
  CALL(cudaMemPoolImportPointer(&z, in, nullptr));
  CALL(cudaMemPoolImportPointer(&z, pool, &data));
  CALL(cudaMemPoolImportPointer(&z, in, &data));
  FACT(z != nullptr);
  FACT(z == x);
  void* w;
  CALL(cudaMallocFromPoolAsync(&w, 100, in, 0));
  CALL(cudaMemPoolTrimTo(in, 0));
  unsigned long long v = 0;
  CALL(cudaMemPoolSetAttribute(in, cudaMemPoolAttrReleaseThreshold, &v));
  CALL(cudaDeviceSetMemPool(0, in));
  CALL(cudaMemPoolExportToShareableHandle(&fd, in, cudaMemHandleTypePosixFileDescriptor, 0));
  CALL(cudaFreeAsync(z, 0));
  CALL(cudaFreeAsync(x, 0));
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemPoolDestroy(in));
  CALL(cudaMemPoolDestroy(pool));
}
int main() {
  alone("create", create);
  alone("attributes", attributes);
  alone("access", access);
  alone("devices", devices);
  alone("allocate", allocate);
  alone("share", share);
}
