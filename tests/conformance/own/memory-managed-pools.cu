// Rule: pools of managed memory: who may use it, what is said about it, as a device's current pool, by location;
// managed memory of graphs; boxes in batches to it.
#include "call_sections.h"

static cudaMemPool_t make(cudaMemLocation at) {
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypeManaged;
  p.location = at;
  cudaMemPool_t pool = nullptr;
  MUST(cudaMemPoolCreate(&pool, &p));
  return pool;
}
__global__ void add(int* p, int v) { *p += v; }
static void show(const char* what, const void* p) {
  cudaPointerAttributes a = {};
  std::printf("%s: %s", what, E(cudaPointerGetAttributes(&a, p)));
  std::printf(" type %d device %d", a.type, a.device);
  for (auto which : {cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeLastPrefetchLocation,
                     cudaMemRangeAttributePreferredLocationType, cudaMemRangeAttributePreferredLocationId}) {
    int v = 77;
    std::printf(" | %s", E(cudaMemRangeGetAttribute(&v, 4, which, p, 4)));
    std::printf(" %d", v);
  }
  int v[2] = {77, 77};
  std::printf(" | by %s", E(cudaMemRangeGetAttribute(v, 8, cudaMemRangeAttributeAccessedBy, p, 4)));
  std::printf(" %d %d\n", v[0], v[1]);
}
static void accesses(const char* what, cudaMemPool_t pool) {
  std::printf("%s:", what);
  for (cudaMemLocation at : {cudaMemLocation{cudaMemLocationTypeDevice, 0}, cudaMemLocation{cudaMemLocationTypeHost, 0},
                             cudaMemLocation{cudaMemLocationTypeHostNuma, 0}}) {
    cudaMemAccessFlags f = (cudaMemAccessFlags)77;
    std::printf(" %s", E(cudaMemPoolGetAccess(&f, pool, &at)));
    std::printf(" %d", (int)f);
  }
  std::puts("");
}
static void places() {
  const cudaMemLocation at[] = {{cudaMemLocationTypeDevice, 0},
                                {cudaMemLocationTypeHost, 0},
                                {cudaMemLocationTypeHostNuma, 0},
                                {cudaMemLocationTypeInvalid, 0}};
  const char* const names[] = {"device", "host", "node", "nowhere"};
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  for (int i = 0; i < 4; ++i) {
    cudaMemPool_t pool = make(at[i]);
    if (!pool) continue;
    accesses(names[i], pool);
    int* p = nullptr;
    std::printf("%s", E(cudaMallocFromPoolAsync(&p, 4096, pool, s)));
    std::printf(" %s\n", E(cudaStreamSynchronize(s)));
    if (!p) continue;
    show(names[i], p);
    *p = 5;
    add<<<1, 1, 0, s>>>(p, 2);
    CALL(cudaStreamSynchronize(s));
    FACT(*p);
    unsigned f = 77;
    CALL(cudaHostGetFlags(&f, p));
    CALL(cudaMemAdvise(p, 4096, cudaMemAdviseSetPreferredLocation, at[0]));
    CALL(cudaMemAdvise(p, 4096, cudaMemAdviseSetAccessedBy, at[0]));
    CALL(cudaMemPrefetchAsync(p, 4096, at[0], 0, s));
    CALL(cudaStreamSynchronize(s));
    show("prefetched", p);
    cudaMemAccessDesc d = {at[0], cudaMemAccessFlagsProtReadWrite};
    CALL(cudaMemPoolSetAccess(pool, &d, 1));
    accesses("after access was given", pool);
    d.flags = cudaMemAccessFlagsProtNone;
    CALL(cudaMemPoolSetAccess(pool, &d, 1));
    accesses("after it was taken", pool);
    CALL(cudaFreeAsync(p, s));
    CALL(cudaFreeAsync(p, s));
    CALL(cudaStreamSynchronize(s));
    show("freed", p);
    CALL(cudaMemPoolDestroy(pool));
  }
}
static void current() {
  const cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = make(device), now = nullptr;
  CALL(cudaDeviceSetMemPool(0, pool));
  CALL(cudaDeviceGetMemPool(&now, 0));
  FACT(now == pool);
  cudaMemLocation at = device;
  CALL(cudaMemGetMemPool(&now, &at, cudaMemAllocationTypePinned));
  FACT(now == pool);
  CALL(cudaMemGetMemPool(&now, &at, cudaMemAllocationTypeManaged));
  FACT(now == pool);
  int* p = nullptr;
  CALL(cudaMallocAsync(&p, 4096, 0));
  CALL(cudaDeviceSynchronize());
  show("allocated", p);
  CALL(cudaFreeAsync(p, 0));
  cudaMemPool_t first;
  MUST(cudaDeviceGetDefaultMemPool(&first, 0));
  CALL(cudaMemSetMemPool(&at, cudaMemAllocationTypePinned, first));
  CALL(cudaDeviceGetMemPool(&now, 0));
  FACT(now == first);
  CALL(cudaMemSetMemPool(&at, cudaMemAllocationTypeManaged, first));
  CALL(cudaMemSetMemPool(&at, cudaMemAllocationTypeManaged, pool));
  CALL(cudaMemSetMemPool(&at, cudaMemAllocationTypePinned, pool));
  cudaMemPool_t host = make({cudaMemLocationTypeHost, 0});
  CALL(cudaDeviceSetMemPool(0, host));
  CALL(cudaMemPoolDestroy(pool));
  CALL(cudaMemGetMemPool(&now, &at, cudaMemAllocationTypeManaged));
  FACT(now == pool);
}
static void graphs() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypeManaged;
  p.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.bytesize = 4096;
  cudaGraphNode_t a;
  CALL(cudaGraphAddMemAllocNode(&a, g, nullptr, 0, &p));
  show("before a launch", p.dptr);
  cudaGraphExec_t e;
  CALL(cudaGraphInstantiate(&e, g, 0));
  CALL(cudaGraphLaunch(e, 0));
  CALL(cudaDeviceSynchronize());
  show("launched", p.dptr);
  CALL(cudaMemset(p.dptr, 1, 4096));
  CALL(cudaFreeAsync(p.dptr, 0));
  CALL(cudaDeviceSynchronize());
  show("freed", p.dptr);
}
static void boxes() {
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  char *d, *m;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  cudaMemcpy3DBatchOp o = {};
  o.src.type = o.dst.type = cudaMemcpyOperandTypePointer;
  o.extent = make_cudaExtent(16, 4, 2);
  o.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  for (int type = -1; type < 6; ++type)
    for (int id : {-1, 0, 1}) {
      o.src.op.ptr = {m, 0, 0, {(cudaMemLocationType)type, id}};
      o.dst.op.ptr = {d, 0, 0, {}};
      std::printf("source at %d %d: %s", type, id, E(cudaMemcpy3DBatchAsync(1, &o, 0, s)));
      o.src.op.ptr = {d, 0, 0, {}};
      o.dst.op.ptr = {m, 0, 0, {(cudaMemLocationType)type, id}};
      std::printf(" target: %s\n", E(cudaMemcpy3DBatchAsync(1, &o, 0, s)));
    }
  o.dst.op.ptr.locHint = {};
  MUST(cudaStreamSynchronize(s));
  for (auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeRelaxed}) {
    MUST(cudaStreamBeginCapture(s, mode));
    CALL(cudaMemcpy3DBatchAsync(1, &o, 0, s));
    cudaGraph_t g = nullptr;
    CALL(cudaStreamEndCapture(s, &g));
    void* to = d;
    const void* from = m;
    size_t n = 64, first = 0;
    cudaMemcpyAttributes a = {};
    a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    MUST(cudaStreamBeginCapture(s, mode));
    CALL(cudaMemcpyBatchAsync(&to, &from, &n, 1, &a, &first, 1, s));
    CALL(cudaStreamEndCapture(s, &g));
    MUST(cudaStreamBeginCapture(s, mode));
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    void* list[] = {m};
    CALL(cudaMemPrefetchBatchAsync(list, &n, 1, &here, &first, 1, 0, s));
    CALL(cudaStreamEndCapture(s, &g));
    MUST(cudaStreamBeginCapture(s, mode));
    CALL(cudaMemDiscardBatchAsync(list, &n, 1, 0, s));
    CALL(cudaStreamEndCapture(s, &g));
    MUST(cudaStreamBeginCapture(s, mode));
    CALL(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
    CALL(cudaStreamEndCapture(s, &g));
  }
}
int main() {
  alone("places", places);
  alone("current", current);
  alone("graphs", graphs);
  alone("boxes", boxes);
}
