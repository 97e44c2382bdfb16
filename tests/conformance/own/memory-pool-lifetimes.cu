// Rule: pools that are destroyed while blocks live, blocks that outlive them, streams and devices; lists of access with
// a wrong entry; blocks of one pool freed in many ways; what is in use and reserved meanwhile.
#include "call_sections.h"

static cudaMemPool_t make(cudaMemAllocationType type = cudaMemAllocationTypePinned) {
  cudaMemPoolProps p = {};
  p.allocType = type;
  p.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr;
  MUST(cudaMemPoolCreate(&pool, &p));
  return pool;
}
static void usage(const char* what, cudaMemPool_t pool) {
  unsigned long long v[4] = {};
  const cudaMemPoolAttr which[] = {cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrReservedMemHigh,
                                   cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh};
  for (int i = 0; i < 4; ++i) MUST(cudaMemPoolGetAttribute(pool, which[i], &v[i]));
  std::printf("%s: reserved %llu high %llu used %llu high %llu\n", what, v[0], v[1], v[2], v[3]);
}
static void usages() {
  cudaMemPool_t pool = make();
  cudaStream_t s, t;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamCreate(&t));
  usage("new", pool);
  char *a, *b, *c, *d;
  MUST(cudaMallocFromPoolAsync(&a, 1, pool, s));
  usage("one byte", pool);
  MUST(cudaMallocFromPoolAsync(&b, 1000, pool, s));
  usage("and 1000", pool);
  MUST(cudaMallocFromPoolAsync(&c, 31 << 20, pool, s));
  usage("and 31 MiB", pool);
  MUST(cudaMallocFromPoolAsync(&d, 33 << 20, pool, t));
  usage("and 33 MiB", pool);
  MUST(cudaFreeAsync(c, s));
  usage("31 MiB freed", pool);
  MUST(cudaStreamSynchronize(t));
  usage("the other stream waited for", pool);
  MUST(cudaStreamSynchronize(s));
  usage("waited for", pool);
  MUST(cudaMemPoolTrimTo(pool, 0));
  usage("trimmed", pool);
  MUST(cudaFreeAsync(d, s));
  MUST(cudaDeviceSynchronize());
  usage("33 MiB freed and waited for", pool);
  unsigned long long keep = 64 << 20;
  MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  MUST(cudaMallocFromPoolAsync(&d, 100 << 20, pool, s));
  usage("100 MiB", pool);
  MUST(cudaFreeAsync(d, s));
  MUST(cudaStreamSynchronize(s));
  usage("freed with a threshold of 64 MiB", pool);
  for (size_t n : {(size_t)100 << 20, (size_t)64 << 20, (size_t)33 << 20, (size_t)1, (size_t)0}) {
    MUST(cudaMemPoolTrimTo(pool, n));
    std::printf("to %zu ", n);
    usage("trimmed", pool);
  }
  MUST(cudaFreeAsync(a, s));
  MUST(cudaFreeAsync(b, s));
  MUST(cudaStreamSynchronize(s));
  usage("all freed", pool);
  MUST(cudaMemPoolTrimTo(pool, 0));
  usage("and trimmed", pool);
  unsigned long long zero = 0;
  MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &zero));
  MUST(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  usage("highs reset", pool);
}
static void outlived() {
  cudaMemPool_t pool = make();
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  int *a, *b, *c;
  MUST(cudaMallocFromPoolAsync(&a, 4096, pool, s));
  MUST(cudaMallocFromPoolAsync(&b, 4096, pool, s));
  MUST(cudaMallocFromPoolAsync(&c, 4096, pool, s));
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMemsetAsync(a, 1, 4096, s));
  CALL(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDefault, s));
  int v = 0;
  CALL(cudaMemcpy(&v, b, 4, cudaMemcpyDefault));
  FACT(v);
  CALL(cudaFreeAsync(a, s));
  CALL(cudaFreeAsync(a, s));
  CALL(cudaFree(b));
  CALL(cudaFree(b));
  CALL(cudaFreeHost(c));
  CALL(cudaStreamDestroy(s));
  CALL(cudaFree(c));
  CALL(cudaDeviceSynchronize());
}
static void accesses() {
  cudaMemPool_t pool = make();
  cudaMemAccessDesc d[3] = {};
  for (auto& e : d) e = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
  CALL(cudaMemPoolSetAccess(pool, d, 1));
  CALL(cudaMemPoolSetAccess(pool, d, 3));
  d[1].location.id = 1000;
  CALL(cudaMemPoolSetAccess(pool, d, 2));
  d[1].location.id = 0;
  d[1].flags = cudaMemAccessFlagsProtNone;
  CALL(cudaMemPoolSetAccess(pool, d, 2));
  CALL(cudaMemPoolSetAccess(pool, d + 1, 1));
  cudaMemAccessFlags f = (cudaMemAccessFlags)77;
  CALL(cudaMemPoolGetAccess(&f, pool, &d[0].location));
  FACT(f);
  cudaMemLocation away = {cudaMemLocationTypeDevice, 1000};
  CALL(cudaMemPoolGetAccess(&f, pool, &away));
  CALL(cudaMemPoolGetAccess(&f, pool, nullptr));
}
static void current() {
  cudaMemPool_t pool = make(), now = nullptr, first = nullptr;
  MUST(cudaDeviceGetDefaultMemPool(&first, 0));
  CALL(cudaDeviceSetMemPool(0, pool));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  int *a, *b;
  MUST(cudaMallocAsync(&a, 4096, s));
  usage("current", pool);
  usage("default", first);
  CALL(cudaMemPoolDestroy(pool));
  MUST(cudaDeviceGetMemPool(&now, 0));
  FACT(now == first);
  MUST(cudaMallocAsync(&b, 4096, s));
  usage("default", first);
  CALL(cudaFreeAsync(a, s));
  CALL(cudaFreeAsync(b, s));
  CALL(cudaStreamSynchronize(s));
  CALL(cudaMemPoolDestroy(first));
  CALL(cudaDeviceSetMemPool(0, first));
  CALL(cudaMallocAsync(&a, 100, s));
  CALL(cudaStreamDestroy(s));
  CALL(cudaFreeAsync(a, 0));
  CALL(cudaDeviceSynchronize());
}
static void managed() {
  cudaMemPool_t pool = make(cudaMemAllocationTypeManaged);
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  int* a = nullptr;
  CALL(cudaMallocFromPoolAsync(&a, 4096, pool, s));
  usage("managed", pool);
  cudaPointerAttributes at = {};
  CALL(cudaPointerGetAttributes(&at, a));
  FACT(at.type);
  FACT(at.device);
  CALL(cudaMemsetAsync(a, 1, 4096, s));
  CALL(cudaStreamSynchronize(s));
  if (a) FACT(a[7]);
  int v[2] = {77, 77};
  CALL(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributePreferredLocation, a, 4096));
  FACT(v[0]);
  CALL(cudaMemAdvise(a, 4096, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
  CALL(cudaMemPrefetchAsync(a, 4096, {cudaMemLocationTypeHost, 0}, 0, s));
  CALL(cudaStreamAttachMemAsync(s, a, 0, cudaMemAttachSingle));
  CALL(cudaMemPoolTrimTo(pool, 0));
  unsigned long long w = 1 << 20;
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &w));
  cudaMemAccessFlags f = (cudaMemAccessFlags)77;
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  CALL(cudaMemPoolGetAccess(&f, pool, &here));
  FACT(f);
  CALL(cudaMemPoolGetAccess(&f, pool, &host));
  FACT(f);
  cudaMemAccessDesc d = {here, cudaMemAccessFlagsProtReadWrite};
  CALL(cudaMemPoolSetAccess(pool, &d, 1));
  CALL(cudaDeviceSetMemPool(0, pool));
  CALL(cudaFreeAsync(a, s));
  CALL(cudaStreamSynchronize(s));
  CALL(cudaMallocFromPoolAsync(&a, 4096, pool, s));
  CALL(cudaFree(a));
  CALL(cudaFree(a));
  CALL(cudaMemPoolDestroy(pool));
}
static void graphs() {
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  unsigned long long v = 77;
  for (int a = -1; a < 5; ++a) {
    v = 77;
    std::printf("%d %s", a, E(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)a, &v)));
    std::printf(" %llu", v);
    for (unsigned long long w : {0ull, 1ull}) {
      v = w;
      std::printf(" %s", E(cudaDeviceSetGraphMemAttribute(0, (cudaGraphMemAttributeType)a, &v)));
    }
    std::puts("");
  }
  CALL(cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemCurrent, &v));
  CALL(cudaDeviceGetGraphMemAttribute(-1, cudaGraphMemAttrUsedMemCurrent, &v));
  CALL(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nullptr));
  CALL(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr));
  CALL(cudaDeviceGraphMemTrim(99));
  CALL(cudaDeviceGraphMemTrim(-1));
  CALL(cudaDeviceGraphMemTrim(0));
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  for (int type : {0, 1, 2, 3})
    for (int location = 0; location < 5; ++location)
      for (int id : {0, 1}) {
        cudaMemAllocNodeParams p = {};
        cudaGraphNode_t n;
        p.poolProps.allocType = (cudaMemAllocationType)type;
        p.poolProps.location = {(cudaMemLocationType)location, id};
        p.bytesize = 4096;
        std::printf("node of type %d at %d %d %s", type, location, id,
                    E(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p)));
        std::printf(" %d\n", p.dptr != nullptr);
      }
}
int main() {
  alone("usages", usages);
  alone("outlived", outlived);
  alone("accesses", accesses);
  alone("current", current);
  alone("graphs", graphs);
  alone("managed", managed);
}
