// Rule: user objects, memory of graphs, and what the memory attributes count.
#include <chrono>

#include "graph_sections.h"
static std::atomic<int> gone[8];
static void CUDART_CB dtor(void* p) { ++gone[(size_t)p]; }
static cudaUserObject_t uo(int i, unsigned n = 1) {
  cudaUserObject_t o = nullptr;
  M(cudaUserObjectCreate(&o, (void*)(size_t)i, dtor, n, cudaUserObjectNoDestructorSync));
  return o;
}
static void waitgone(const char* l, int i, bool expect) {
  if (expect)
    for (int n = 0; n < 100000 && !gone[i]; n++) std::this_thread::sleep_for(std::chrono::microseconds(50));
  else
    M(cudaDeviceSynchronize());
  printf("%s: gone %d\n", l, gone[i].load());
}
T(user_counts) {
  auto o = uo(0, 3);
  M(cudaUserObjectRetain(o, 2));
  M(cudaUserObjectRelease(o, 4));
  waitgone("one left", 0, false);
  M(cudaUserObjectRelease(o, 1));
  waitgone("none left", 0, true);
  cudaUserObject_t x;
  R("create flags 0", cudaUserObjectCreate(&x, nullptr, dtor, 1, 0));
  R("create count 0", cudaUserObjectCreate(&x, nullptr, dtor, 0, 1));
  R("create null fn", cudaUserObjectCreate(&x, nullptr, nullptr, 1, 1));
  R("create null out", cudaUserObjectCreate(nullptr, nullptr, dtor, 1, 1));
  R("count int max", cudaUserObjectCreate(&x, nullptr, dtor, 0x7fffffff, 1));
  R("count over", cudaUserObjectCreate(&x, nullptr, dtor, 0x80000000u, 1));
  R("retain null", cudaUserObjectRetain(nullptr, 1));
  R("release null", cudaUserObjectRelease(nullptr, 1));
  auto p = uo(1);
  R("retain 0", cudaUserObjectRetain(p, 0));
  R("release 0", cudaUserObjectRelease(p, 0));
  R("retain over", cudaUserObjectRetain(p, 0x80000000u));
  R("graph null", cudaGraphRetainUserObject(nullptr, p, 1, 0));
  R("object null", cudaGraphRetainUserObject(mk(), nullptr, 1, 0));
  R("flags 2", cudaGraphRetainUserObject(mk(), p, 1, 2));
  R("count 0", cudaGraphRetainUserObject(mk(), p, 0, 0));
  R("count over", cudaGraphRetainUserObject(mk(), p, 0x80000000u, 0));
  R("release graph null", cudaGraphReleaseUserObject(nullptr, p, 1));
  R("release object null", cudaGraphReleaseUserObject(mk(), nullptr, 1));
  cudaGraph_t g = mk();
  M(cudaGraphRetainUserObject(g, p, 2, 0));
  R("release 0", cudaGraphReleaseUserObject(g, p, 0));
  R("release", cudaGraphReleaseUserObject(g, p, 1));
  R("release the other", cudaGraphReleaseUserObject(g, p, 1));
  waitgone("mine left", 1, false);
  M(cudaUserObjectRelease(p, 1));
  waitgone("none", 1, true);
}
T(user_owners) {
  {
    auto o = uo(2);
    cudaGraph_t g = mk();
    kern(g, {}, k, d, 1);
    M(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
    waitgone("moved", 2, false);
    cudaGraph_t c;
    M(cudaGraphClone(&c, g));
    M(cudaGraphDestroy(g));
    waitgone("clone holds", 2, false);
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, c, 0));
    M(cudaGraphDestroy(c));
    waitgone("exec holds", 2, false);
    M(cudaGraphLaunch(x, s));
    M(cudaStreamSynchronize(s));
    M(cudaGraphExecDestroy(x));
    waitgone("exec destroyed", 2, true);
  }
  {
    auto o = uo(3);
    cudaGraph_t g = mk(), p = mk();
    kern(g, {}, k, d, 1);
    M(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
    cudaGraphNode_t n;
    M(cudaGraphAddChildGraphNode(&n, p, 0, 0, g));
    M(cudaGraphDestroy(g));
    waitgone("parent holds", 3, false);
    M(cudaGraphDestroyNode(n));
    waitgone("node destroyed", 3, true);
    M(cudaGraphDestroy(p));
  }
  {
    auto o = uo(4);
    cudaGraph_t g = mk(), q = mk();
    kern(g, {}, k, d, 1);
    kern(q, {}, k, d, 2);
    M(cudaGraphRetainUserObject(q, o, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, g, 0));
    cudaGraphExecUpdateResultInfo i;
    M(cudaGraphExecUpdate(x, q, &i));
    M(cudaGraphDestroy(q));
    for (int n = 0; n < 200 && !gone[4]; n++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    printf("after update and destroy: %d\n", gone[4].load());
    M(cudaGraphExecDestroy(x));
    waitgone("exec destroyed", 4, true);
  }
  {
    auto o = uo(5);
    cudaGraph_t g = mk();
    static std::atomic<int> gate;
    gate = 0;
    cudaHostNodeParams h = {[](void*) {
                              while (!gate) std::this_thread::yield();
                            },
                            0};
    cudaGraphNode_t n;
    M(cudaGraphAddHostNode(&n, g, 0, 0, &h));
    M(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, g, 0));
    M(cudaGraphLaunch(x, s));
    M(cudaGraphExecDestroy(x));
    M(cudaGraphDestroy(g));
    printf("running: %d\n", gone[5].load());
    gate = 1;
    M(cudaStreamSynchronize(s));
    waitgone("ended", 5, true);
  }
  {
    auto o = uo(6);
    cudaGraph_t g;
    M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    cudaStreamCaptureStatus st;
    M(cudaStreamGetCaptureInfo(s, &st, nullptr, &g));
    R("retain while capturing", cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
    k<<<1, 1, 0, s>>>(d, 1);
    cudaGraph_t e;
    M(cudaStreamEndCapture(s, &e));
    waitgone("captured", 6, false);
    M(cudaGraphDestroy(e));
    waitgone("destroyed", 6, true);
  }
}
static cudaMemAllocNodeParams ap(size_t n) {
  cudaMemAllocNodeParams a = {};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location.type = cudaMemLocationTypeDevice;
  a.bytesize = n;
  return a;
}
static void mem(const char* l) {
  unsigned long long v[4];
  for (int i = 0; i < 4; i++) {
    v[i] = 0;
    M(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)i, &v[i]));
  }
  printf("%s: used %d high %d reserved %d high %d\n", l, v[0] != 0, v[1] != 0, v[2] != 0, v[3] != 0);
}
T(memory_attributes) {
  mem("start");
  cudaGraph_t g = mk();
  cudaGraphNode_t a, f;
  auto p = ap(1 << 20);
  M(cudaGraphAddMemAllocNode(&a, g, 0, 0, &p));
  auto kk = kern(g, {a}, put, (int*)p.dptr, 1);
  mem("node");
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  mem("instantiated");
  M(cudaGraphLaunch(x, s));
  M(cudaStreamSynchronize(s));
  mem("launched");
  R("trim", cudaDeviceGraphMemTrim(0));
  mem("trimmed while live");
  M(cudaFreeAsync(p.dptr, s));
  M(cudaStreamSynchronize(s));
  mem("freed");
  R("trim", cudaDeviceGraphMemTrim(0));
  mem("trimmed");
  unsigned long long z = 0;
  R("reset high", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &z));
  R("reset reserved high", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &z));
  mem("reset");
  R("reset used", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &z));
  R("reset reserved", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &z));
  R("set null", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr));
  (void)kk;
  (void)f;
  R("get -1", cudaDeviceGetGraphMemAttribute(-1, cudaGraphMemAttrUsedMemHigh, &z));
  R("trim -1", cudaDeviceGraphMemTrim(-1));
}
T(memory_rules) {
  cudaGraph_t g = mk();
  cudaGraphNode_t a, f, f2;
  auto p = ap(4096);
  M(cudaGraphAddMemAllocNode(&a, g, 0, 0, &p));
  auto w = kern(g, {a}, put, (int*)p.dptr, 5);
  auto c = kern(g, {w}, [] { return k; }(), d, 1);
  M(cudaGraphAddMemFreeNode(&f, g, &c, 1, p.dptr));
  R("free again", cudaGraphAddMemFreeNode(&f2, g, &f, 1, p.dptr));
  R("free without path", [&] {
    cudaGraph_t q = mk();
    cudaGraphNode_t al, fr;
    auto pp = ap(64);
    M(cudaGraphAddMemAllocNode(&al, q, 0, 0, &pp));
    cudaError_t e = cudaGraphAddMemFreeNode(&fr, q, nullptr, 0, pp.dptr);
    cudaGraphExec_t x;
    if (!e) {
      cudaGetLastError();
      e = cudaGraphInstantiate(&x, q, 0);
    }
    return e;
  }());
  cudaGraphExec_t x, y;
  R("inst", cudaGraphInstantiate(&x, g, 0));
  R("inst twice", cudaGraphInstantiate(&y, g, 0));
  cudaGraph_t cl;
  R("clone", cudaGraphClone(&cl, g));
  R("child", [&] {
    cudaGraphNode_t n;
    cudaGraph_t q = mk();
    return cudaGraphAddChildGraphNode(&n, q, 0, 0, g);
  }());
  R("destroy node", cudaGraphDestroyNode(c));
  R("remove dep", cudaGraphRemoveDependencies(g, &w, &c, 0, 1));
  R("add dep", cudaGraphAddDependencies(g, &a, &c, 0, 1));
  for (int i = 0; i < 3; i++) M(cudaGraphLaunch(x, s));
  V("runs", get());
  R("disable alloc", cudaGraphNodeSetEnabled(x, a, 0));
  unsigned e;
  R("enabled free", cudaGraphNodeGetEnabled(x, f, &e));
  R("cudaFree of graph's", cudaFree(p.dptr));
  R("free async of graph's freed", cudaFreeAsync(p.dptr, s));
  cudaGraphExecUpdateResultInfo i = {};
  R("update by itself", cudaGraphExecUpdate(x, g, &i));
  V("r", i.result);
  R("exec destroyed", cudaGraphExecDestroy(x));
  R("inst after destroy", cudaGraphInstantiate(&y, g, 0));
}
T(memory_outside) {
  cudaGraph_t g = mk();
  cudaGraphNode_t a;
  auto p = ap(4096);
  M(cudaGraphAddMemAllocNode(&a, g, 0, 0, &p));
  kern(g, {a}, put, (int*)p.dptr, 5);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  M(cudaGraphLaunch(x, s));
  R("launch while live", cudaGraphLaunch(x, s));
  k<<<1, 1, 0, s>>>((int*)p.dptr, 2);
  int v = 0;
  M(cudaMemcpyAsync(pin, p.dptr, 4, cudaMemcpyDeviceToHost, s));
  M(cudaStreamSynchronize(s));
  V("value", pin[0]);
  (void)v;
  R("upload while live", cudaGraphUpload(x, s));
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  R("free in another stream", cudaFreeAsync(p.dptr, t));
  M(cudaStreamSynchronize(t));
  R("launch", cudaGraphLaunch(x, s));
  M(cudaStreamSynchronize(s));
  R("cudaFree", cudaFree(p.dptr));
  R("cudaFree again", cudaFree(p.dptr));
  R("launch", cudaGraphLaunch(x, s));
  R("destroy live", cudaGraphExecDestroy(x));
  R("destroy graph", cudaGraphDestroy(g));
  R("free after", cudaFreeAsync(p.dptr, s));
  R("free again", cudaFreeAsync(p.dptr, s));
  R("sync", cudaStreamSynchronize(s));
  // auto free, the pointer is the same
  cudaGraph_t h = mk();
  p = ap(100);
  M(cudaGraphAddMemAllocNode(&a, h, 0, 0, &p));
  kern(h, {a}, put, (int*)p.dptr, 7);
  M(cudaGraphInstantiate(&x, h, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 3; i++) R("launch", cudaGraphLaunch(x, s));
  M(cudaMemcpyAsync(pin, p.dptr, 4, cudaMemcpyDeviceToHost, s));
  M(cudaStreamSynchronize(s));
  V("value", pin[0]);
  R("free", cudaFreeAsync(p.dptr, s));
  R("launch", cudaGraphLaunch(x, s));
  R("destroy", cudaGraphExecDestroy(x));
  R("free", cudaFreeAsync(p.dptr, s));
  M(cudaStreamSynchronize(s));
  // two graphs: one allocates, the other frees
  cudaGraph_t ga = mk(), gf = mk();
  p = ap(100);
  cudaGraphNode_t f;
  M(cudaGraphAddMemAllocNode(&a, ga, 0, 0, &p));
  M(cudaGraphAddMemFreeNode(&f, gf, 0, 0, p.dptr));
  cudaGraphExec_t xa, xf;
  M(cudaGraphInstantiate(&xa, ga, 0));
  M(cudaGraphInstantiate(&xf, gf, 0));
  R("free first", cudaGraphLaunch(xf, s));
  R("alloc", cudaGraphLaunch(xa, s));
  R("free", cudaGraphLaunch(xf, s));
  R("alloc", cudaGraphLaunch(xa, s));
  R("free", cudaGraphLaunch(xf, s));
  R("free again", cudaGraphLaunch(xf, s));
  M(cudaStreamSynchronize(s));
}
T(memory_captured) {
  cudaGraph_t g;
  void* p;
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  M(cudaMallocAsync(&p, 256, s));
  put<<<1, 1, 0, s>>>((int*)p, 3);
  M(cudaMemcpyAsync(d, p, 4, cudaMemcpyDeviceToDevice, s));
  R("free of other", cudaFreeAsync(d2, s));
  M(cudaFreeAsync(p, s));
  R("free twice", cudaFreeAsync(p, s));
  cudaStreamCaptureStatus st;
  M(cudaStreamIsCapturing(s, &st));
  V("st", st);
  cudaError_t e = cudaStreamEndCapture(s, &g);
  cudaGetLastError();
  printf("end %s\n", N(e));
  if (!e) V("run", run(g));
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  R("malloc 0", cudaMallocAsync(&p, 0, s));
  V("null", p == nullptr);
  R("free null", cudaFreeAsync(nullptr, s));
  cudaMemPool_t mp;
  M(cudaDeviceGetDefaultMemPool(&mp, 0));
  R("from pool", cudaMallocFromPoolAsync(&p, 64, mp, s));
  R("null out", cudaMallocAsync(nullptr, 64, s));
  M(cudaStreamIsCapturing(s, &st));
  V("st", st);
  R("end", cudaStreamEndCapture(s, &g));
  size_t n;
  M(cudaGraphGetNodes(g, 0, &n));
  V("n", n);
  void* outer;
  M(cudaMallocAsync(&outer, 64, s));
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  R("free of outer in capture", cudaFreeAsync(outer, s));
  M(cudaStreamIsCapturing(s, &st));
  V("st", st);
  R("end", cudaStreamEndCapture(s, &g));
}
T(user_releases_of_others) {
  auto o = uo(7, 5);
  cudaGraph_t g = mk();
  R("graph that holds none releases 2", cudaGraphReleaseUserObject(g, o, 2));
  M(cudaUserObjectRelease(o, 2));
  waitgone("mine: 4 or 2 given up", 7, false);
  if (!gone[7]) {
    M(cudaUserObjectRelease(o, 1));
    for (int n = 0; n < 300 && !gone[7]; n++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    printf("5 or 3: %d\n", gone[7].load());
  }
}
int main() {
  init();
  for (auto& t : sections()) {
    printf("== %s\n", t.name);
    t.fn();
    cudaStreamSynchronize(s);
    cudaError_t e = cudaGetLastError();
    if (e) printf("left %s\n", N(e));
    fflush(stdout);
  }
}
