// Rule: allocation nodes with memory of every kind of location, type and handle, and what is said of what they
// allocate.
#include "call_sections.h"

static cudaStream_t s;
static void tell_pointer(void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0x55, sizeof a);
  CALL(cudaPointerGetAttributes(&a, p));
  std::printf("type %d device %d host %d dev %d\n", a.type, a.device, a.hostPointer ? a.hostPointer == p : -1,
              a.devicePointer ? a.devicePointer == p : -1);
}
static void run(cudaGraph_t g, void* p) {
  cudaGraphExec_t x = nullptr;
  CALL(cudaGraphInstantiate(&x, g, 0));
  if (!x) return;
  CALL(cudaGraphLaunch(x, s));
  CALL(cudaStreamSynchronize(s));
  CALL(cudaFreeAsync(p, s));
  CALL(cudaStreamSynchronize(s));
  MUST(cudaGraphExecDestroy(x));
}
static void add(int type, int handles, int location, int id, bool access, size_t bytes) {
  std::printf("-- type %d handles %d location %d id %d access %d bytes %zu\n", type, handles, location, id, access,
              bytes);
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = (cudaMemAllocationType)type;
  p.poolProps.handleTypes = (cudaMemAllocationHandleType)handles;
  p.poolProps.location.type = (cudaMemLocationType)location;
  p.poolProps.location.id = id;
  p.bytesize = bytes;
  cudaMemAccessDesc desc = {};
  desc.location.type = cudaMemLocationTypeDevice;
  desc.location.id = 0;
  desc.flags = cudaMemAccessFlagsProtReadWrite;
  if (access) {
    p.accessDescs = &desc;
    p.accessDescCount = 1;
  }
  p.dptr = (void*)16;
  cudaGraphNode_t n = nullptr;
  CALL(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p));
  FACT(p.dptr == (void*)16 ? 16 : p.dptr != nullptr);
  size_t c = 9;
  MUST(cudaGraphGetNodes(g, nullptr, &c));
  FACT(c);
  if (n) {
    tell_pointer(p.dptr);
    cudaMemAllocNodeParams q = {};
    CALL(cudaGraphMemAllocNodeGetParams(n, &q));
    FACT(q.dptr == p.dptr);
    FACT(q.bytesize);
    FACT(q.poolProps.allocType);
    FACT(q.poolProps.handleTypes);
    FACT(q.poolProps.location.type);
    FACT(q.poolProps.location.id);
    FACT(q.accessDescCount);
    run(g, p.dptr);
  }
  cudaGraphNodeParams w = {};
  w.type = cudaGraphNodeTypeMemAlloc;
  w.alloc.poolProps = p.poolProps;
  w.alloc.bytesize = bytes;
  w.alloc.accessDescs = p.accessDescs;
  w.alloc.accessDescCount = p.accessDescCount;
  CALL(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &w));
  CALL(cudaGraphDestroy(g));
}
static void access_of(int location, int id, int flags, size_t count) {
  std::printf("-- access location %d id %d flags %d, %zu of them\n", location, id, flags, count);
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = 4096;
  cudaMemAccessDesc desc[3] = {};
  for (auto& x : desc) {
    x.location.type = (cudaMemLocationType)location;
    x.location.id = id;
    x.flags = (cudaMemAccessFlags)flags;
  }
  p.accessDescs = count ? desc : nullptr;
  p.accessDescCount = count ? count : 1;
  cudaGraphNode_t n = nullptr;
  CALL(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p));
  CALL(cudaGraphDestroy(g));
}
// Captured allocations from pools of every kind.
static void from_pool(int type, int location, int id) {
  std::printf("-- pool of type %d location %d id %d\n", type, location, id);
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps props = {};
  props.allocType = (cudaMemAllocationType)type;
  props.location.type = (cudaMemLocationType)location;
  props.location.id = id;
  CALL(cudaMemPoolCreate(&pool, &props));
  if (!pool) return;
  CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  void* p = nullptr;
  CALL(cudaMallocFromPoolAsync(&p, 4096, pool, s));
  FACT(p != nullptr);
  cudaStreamCaptureStatus c;
  CALL(cudaStreamIsCapturing(s, &c));
  FACT(c);
  cudaGraph_t g = nullptr;
  CALL(cudaStreamEndCapture(s, &g));
  if (g) {
    size_t count = 1;
    cudaGraphNode_t n = nullptr;
    CALL(cudaGraphGetNodes(g, &n, &count));
    FACT(count);
    if (count) {
      cudaMemAllocNodeParams q = {};
      CALL(cudaGraphMemAllocNodeGetParams(n, &q));
      FACT(q.dptr == p);
      FACT(q.bytesize);
      FACT(q.poolProps.allocType);
      FACT(q.poolProps.handleTypes);
      FACT(q.poolProps.location.type);
      FACT(q.poolProps.location.id);
      FACT(q.accessDescCount);
      tell_pointer(p);
    }
    run(g, p);
    CALL(cudaGraphDestroy(g));
  }
  // Memory of the pool, freed in a capture.
  void* q = nullptr;
  CALL(cudaMallocFromPoolAsync(&q, 4096, pool, s));
  if (q) {
    MUST(cudaStreamSynchronize(s));
    CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CALL(cudaFreeAsync(q, s));
    CALL(cudaStreamEndCapture(s, &g));
    CALL(cudaFreeAsync(q, s));
  }
  CALL(cudaMemPoolDestroy(pool));
}
static int location, flags;
int main() {
  alone("kinds of memory", [] {
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int type : {0, 1, 2, 3, 0x7fffffff})
      for (int location : {0, 1, 2, 3, 4, 5, 99})
        for (int id : {0, 1, -1}) add(type, 0, location, id, false, 4096);
    for (int handles : {1, 2, 4, 8, 9, 16}) add(1, handles, 1, 0, false, 4096);
    for (int location : {1, 2, 3}) add(1, 0, location, 0, true, 4096);
    for (size_t bytes : {(size_t)0, (size_t)1, (size_t)1 << 45, ~(size_t)0}) add(1, 0, 1, 0, false, bytes);
  });
  for (location = 0; location < 5; location++)
    for (int f : {0, 1, 2, 3, 7}) {
      flags = f;
      alone("access", [] { access_of(location, 0, flags, 1); });
    }
  alone("access of device 5", [] { access_of(1, 5, 3, 1); });
  alone("access twice", [] { access_of(1, 0, 3, 2); });
  alone("pools", [] {
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (int type : {1, 2})
      for (int location : {0, 1, 2, 3, 4}) from_pool(type, location, 0);
  });
}
