// Rule: conditional, allocation and free nodes and user objects: what is refused, and when memory comes back.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <thread>
#include <vector>
static const char* N(cudaError_t e) { return cudaGetErrorName(e) + 4; }
#define R(label, ...)                                                                                                  \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__), l_ = cudaGetLastError();                                                           \
    std::printf("%s = %s%s%s\n", label, N(r_), l_ == r_ ? "" : " last ", l_ == r_ ? "" : N(l_));                       \
    std::fflush(stdout);                                                                                               \
  } while (0)
#define V(label, v)                                                                                                    \
  do {                                                                                                                 \
    std::printf("%s = %lld\n", label, (long long)(v));                                                                 \
    std::fflush(stdout);                                                                                               \
  } while (0)
#define M(...)                                                                                                         \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected_at_line_%d = %s\n", __LINE__, cudaGetErrorName(r_));                \
  } while (0)
template <class T> struct Same {
  typedef T type;
};
template <class... P>
static cudaGraphNode_t kern(cudaGraph_t g, std::vector<cudaGraphNode_t> deps, void (*fn)(P...),
                            typename Same<P>::type... a) {
  void* args[] = {(void*)&a..., nullptr};
  cudaKernelNodeParams p = {};
  p.func = (void*)fn;
  p.gridDim = dim3(1);
  p.blockDim = dim3(1);
  p.kernelParams = args;
  cudaGraphNode_t n = nullptr;
  M(cudaGraphAddKernelNode(&n, g, deps.data(), deps.size(), &p));
  return n;
}
static inline cudaGraph_t mk() {
  cudaGraph_t g = nullptr;
  M(cudaGraphCreate(&g, 0));
  return g;
}
__global__ void k(int* p, int v) { *p += v; }
__global__ void setc(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
__global__ void down(cudaGraphConditionalHandle h, int* p) {
  if (--*p <= 0) cudaGraphSetConditional(h, 0);
}
static void CUDART_CB cb(void*) {}
static int* d;
static cudaStream_t s;
static int get(int i = 0) {
  int v = -1;
  M(cudaStreamSynchronize(s));
  M(cudaMemcpy(&v, d + i, 4, cudaMemcpyDeviceToHost));
  return v;
}
static void put(int v, int i = 0) { M(cudaMemcpy(d + i, &v, 4, cudaMemcpyHostToDevice)); }
static cudaGraphNodeParams cond(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType t, unsigned n) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = t;
  p.conditional.size = n;
  return p;
}
static int freed;
static void CUDART_CB gone(void* p) { freed += *(int*)p; }
int main() {
  M(cudaMalloc(&d, 256));
  M(cudaStreamCreate(&s));
  cudaGraph_t g = mk(), g2 = mk();
  cudaGraphConditionalHandle h, h2, hf;
  R("handle null out", cudaGraphConditionalHandleCreate(nullptr, g, 0, 0));
  R("handle null graph", cudaGraphConditionalHandleCreate(&h, nullptr, 0, 0));
  R("handle flags 2", cudaGraphConditionalHandleCreate(&h, g, 0, 2));
  R("handle", cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  M(cudaGraphConditionalHandleCreate(&hf, g2, 1, cudaGraphCondAssignDefault));
  cudaGraphNode_t n;
  auto p = cond(h, (cudaGraphConditionalNodeType)9, 1);
  R("type 9", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = cond(h, cudaGraphCondTypeIf, 0);
  R("if 0", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = cond(h, cudaGraphCondTypeIf, 3);
  R("if 3", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = cond(h, cudaGraphCondTypeWhile, 2);
  R("while 2", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = cond(h, cudaGraphCondTypeSwitch, 0);
  R("switch 0", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = cond(0, cudaGraphCondTypeIf, 1);
  R("handle 0", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  size_t c = 9;
  M(cudaGraphGetNodes(g, 0, &c));
  V("nodes", c);
  cudaGraphExec_t x = nullptr;
  cudaGraphInstantiateParams ip = {};
  R("unused handle", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("res", ip.result_out);
  p = cond(h, cudaGraphCondTypeIf, 1);
  R("if", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  cudaGraph_t body = p.conditional.phGraph_out[0];
  p = cond(h, cudaGraphCondTypeIf, 1);
  R("handle again", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  cudaGraph_t cl;
  R("clone", cudaGraphClone(&cl, g));
  R("as child", cudaGraphAddChildGraphNode(&n, g2, 0, 0, g));
  R("destroy body", cudaGraphDestroy(body));
  R("instantiate body", cudaGraphInstantiate(&x, body, 0));
  R("body as child", cudaGraphAddChildGraphNode(&n, g2, 0, 0, body));
  R("empty body", cudaGraphInstantiate(&x, g, 0));
  R("launch", cudaGraphLaunch(x, s));
  R("sync", cudaStreamSynchronize(s));
  // forbidden nodes in bodies
  cudaHostNodeParams hp = {cb, 0};
  R("host in body add", cudaGraphAddHostNode(&n, body, 0, 0, &hp));
  ip = {};
  R("host in body", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("res", ip.result_out);
  V("node", ip.errNode_out == n);
  M(cudaGraphDestroyNode(n));
  cudaEvent_t e;
  M(cudaEventCreate(&e));
  R("record in body add", cudaGraphAddEventRecordNode(&n, body, 0, 0, e));
  ip = {};
  R("record in body", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("res", ip.result_out);
  R("destroy", cudaGraphDestroyNode(n));
  cudaMemAllocNodeParams ap = {};
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location.type = cudaMemLocationTypeDevice;
  ap.bytesize = 64;
  R("alloc in body add", cudaGraphAddMemAllocNode(&n, body, 0, 0, &ap));
  ip = {};
  R("alloc in body", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("res", ip.result_out);
  // capture into a body
  {
    cudaGraph_t q = mk();
    cudaGraphConditionalHandle w;
    M(cudaGraphConditionalHandleCreate(&w, q, 1, 1));
    auto pp = cond(w, cudaGraphCondTypeWhile, 1);
    M(cudaGraphAddNode(&n, q, 0, 0, 0, &pp));
    R("capture to body",
      cudaStreamBeginCaptureToGraph(s, pp.conditional.phGraph_out[0], 0, 0, 0, cudaStreamCaptureModeRelaxed));
    k<<<1, 1, 0, s>>>(d, 1);
    down<<<1, 1, 0, s>>>(w, d + 1);
    cudaGraph_t o;
    R("end", cudaStreamEndCapture(s, &o));
    put(0);
    put(5, 1);
    M(cudaGraphInstantiate(&x, q, 0));
    M(cudaGraphLaunch(x, s));
    V("loops", get());
    put(3, 1);
    M(cudaGraphLaunch(x, s));
    V("loops", get());
    put(1, 1);
    // nested
    cudaGraph_t bb = pp.conditional.phGraph_out[0];
    cudaGraphConditionalHandle hi;
    R("handle in body graph", cudaGraphConditionalHandleCreate(&hi, bb, 1, 1));
    auto pi = cond(hi, cudaGraphCondTypeIf, 2);
    cudaGraphNode_t ni;
    R("nested if", cudaGraphAddNode(&ni, bb, 0, 0, 0, &pi));
    if (pi.conditional.phGraph_out) {
      kern(pi.conditional.phGraph_out[0], {}, k, d, 10);
      kern(pi.conditional.phGraph_out[1], {}, k, d, 1000);
    }
    cudaGraphConditionalHandle ho;
    R("handle of root for nested", cudaGraphConditionalHandleCreate(&ho, q, 2, 1));
    auto ps = cond(ho, cudaGraphCondTypeSwitch, 3);
    R("nested switch with root handle", cudaGraphAddNode(&ni, bb, 0, 0, 0, &ps));
    if (ps.conditional.phGraph_out) kern(ps.conditional.phGraph_out[2], {}, k, d, 100);
  }
  // switch out of range, if without else, set by value
  {
    cudaGraph_t q = mk();
    cudaGraphConditionalHandle w;
    M(cudaGraphConditionalHandleCreate(&w, q, 0, 0));
    auto st = kern(q, {}, setc, w, 7u);
    auto pp = cond(w, cudaGraphCondTypeSwitch, 2);
    M(cudaGraphAddNode(&n, q, &st, 0, 1, &pp));
    kern(pp.conditional.phGraph_out[0], {}, k, d, 1);
    kern(pp.conditional.phGraph_out[1], {}, k, d, 10);
    kern(q, {n}, k, d, 100);
    put(0);
    M(cudaGraphInstantiate(&x, q, 0));
    M(cudaGraphLaunch(x, s));
    V("switch out of range", get());
    cudaGraphNodeParams gp = {};
    R("generic set on conditional", [&] {
      auto z = pp;
      z.conditional.phGraph_out = nullptr;
      return cudaGraphNodeSetParams(n, &z);
    }());
    R("exec set", [&] {
      auto z = pp;
      return cudaGraphExecNodeSetParams(x, n, &z);
    }());
    unsigned en;
    R("enable", cudaGraphNodeSetEnabled(x, n, 0));
    R("get", cudaGraphNodeGetEnabled(x, n, &en));
    R("destroy cond", cudaGraphDestroyNode(n));
    ip = {};
    R("handle unused now", cudaGraphInstantiateWithParams(&x, q, &ip));
    V("res", ip.result_out);
  }
  // memory nodes
  {
    cudaGraph_t q = mk();
    cudaGraphNode_t al, f;
    ap.dptr = nullptr;
    M(cudaGraphAddMemAllocNode(&al, q, 0, 0, &ap));
    void* mp = ap.dptr;
    R("inst", cudaGraphInstantiate(&x, q, 0));
    cudaGraphExec_t y;
    R("inst twice", cudaGraphInstantiate(&y, q, 0));
    R("launch", cudaGraphLaunch(x, s));
    R("launch again", cudaGraphLaunch(x, s));
    R("sync", cudaStreamSynchronize(s));
    R("free", cudaFreeAsync(mp, s));
    R("launch after free", cudaGraphLaunch(x, s));
    R("cudaFree", cudaFree(mp));
    R("launch", cudaGraphLaunch(x, s));
    R("destroy exec", cudaGraphExecDestroy(x));
    R("free after exec destroyed", cudaFreeAsync(mp, s));
    R("destroy graph", cudaGraphDestroy(q));
    (void)f;
  }
  {
    cudaGraph_t q = mk();
    cudaGraphNode_t al;
    ap.dptr = nullptr;
    M(cudaGraphAddMemAllocNode(&al, q, 0, 0, &ap));
    R("inst auto free", cudaGraphInstantiate(&x, q, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    R("l", cudaGraphLaunch(x, s));
    R("l", cudaGraphLaunch(x, s));
    R("sync", cudaStreamSynchronize(s));
    cudaGraph_t q2 = mk();
    cudaGraphNode_t f;
    R("free node in another graph", cudaGraphAddMemFreeNode(&f, q2, 0, 0, ap.dptr));
    cudaGraphExec_t y;
    R("inst free", cudaGraphInstantiate(&y, q2, 0));
    R("launch free", cudaGraphLaunch(y, s));
    R("launch free again", cudaGraphLaunch(y, s));
    R("launch", cudaGraphLaunch(x, s));
    R("launch free", cudaGraphLaunch(y, s));
    R("sync", cudaStreamSynchronize(s));
    R("add dep", cudaGraphAddDependencies(q, &al, &f, 0, 1));
    R("remove dep", cudaGraphRemoveDependencies(q, &al, &al, 0, 1));
    R("destroy alloc node", cudaGraphDestroyNode(al));
    cudaGraphExecUpdateResultInfo i = {};
    R("update memory graph", cudaGraphExecUpdate(x, q, &i));
    V("r", i.result);
    cudaMemAllocNodeParams gp;
    R("get alloc", cudaGraphMemAllocNodeGetParams(al, &gp));
    V("same", gp.dptr == ap.dptr);
    void* fp;
    R("get free", cudaGraphMemFreeNodeGetParams(f, &fp));
    V("same", fp == ap.dptr);
    R("get free null", cudaGraphMemFreeNodeGetParams(f, nullptr));
    R("get alloc of free", cudaGraphMemAllocNodeGetParams(f, &gp));
  }
  {
    unsigned long long v = 9;
    R("attr bad", cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)9, &v));
    R("attr null", cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, nullptr));
    R("attr dev 9", cudaDeviceGetGraphMemAttribute(9, cudaGraphMemAttrUsedMemCurrent, &v));
    v = 5;
    R("set high 5", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v));
    v = 0;
    R("set high 0", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &v));
    R("set current", cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &v));
    R("trim", cudaDeviceGraphMemTrim(0));
    R("trim 9", cudaDeviceGraphMemTrim(9));
  }
  // user objects
  {
    static int one = 1, ten = 10;
    cudaUserObject_t o, o2;
    R("uo null out", cudaUserObjectCreate(nullptr, &one, gone, 1, cudaUserObjectNoDestructorSync));
    R("uo null fn", cudaUserObjectCreate(&o, &one, nullptr, 1, 1));
    R("uo count 0", cudaUserObjectCreate(&o, &one, gone, 0, 1));
    R("uo flags 0", cudaUserObjectCreate(&o, &one, gone, 1, 0));
    R("uo flags 2", cudaUserObjectCreate(&o, &one, gone, 1, 2));
    R("uo count big", cudaUserObjectCreate(&o, &one, gone, 0x80000000u, 1));
    R("uo", cudaUserObjectCreate(&o, &one, gone, 2, 1));
    R("uo2", cudaUserObjectCreate(&o2, &ten, gone, 1, 1));
    R("retain null", cudaUserObjectRetain(nullptr, 1));
    R("retain 0", cudaUserObjectRetain(o, 0));
    R("release 0", cudaUserObjectRelease(o, 0));
    R("retain", cudaUserObjectRetain(o, 3));
    R("release", cudaUserObjectRelease(o, 3));
    cudaGraph_t q = mk();
    kern(q, {}, k, d, 1);
    R("graph retain null", cudaGraphRetainUserObject(q, nullptr, 1, 0));
    R("graph retain 0", cudaGraphRetainUserObject(q, o, 0, 0));
    R("graph retain flags 2", cudaGraphRetainUserObject(q, o, 1, 2));
    R("graph retain null graph", cudaGraphRetainUserObject(nullptr, o, 1, 0));
    R("graph move", cudaGraphRetainUserObject(q, o, 1, cudaGraphUserObjectMove));
    R("graph retain", cudaGraphRetainUserObject(q, o2, 1, 0));
    R("release mine", cudaUserObjectRelease(o2, 1));
    V("freed", freed);
  }
}
