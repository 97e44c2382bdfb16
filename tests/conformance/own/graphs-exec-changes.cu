// Rule: what updates of executable graphs say about each difference, and what setting the parameters of one node
// refuses.
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
__global__ void k2(int* p, int v) { *p -= v; }
__global__ void k3(double) {}
static void CUDART_CB cb(void*) {}
static void CUDART_CB cb2(void*) {}
static const char* U(int r) {
  static const char* n[] = {
      "Success",           "Error",        "TopologyChanged",           "NodeTypeChanged",  "FunctionChanged",
      "ParametersChanged", "NotSupported", "UnsupportedFunctionChange", "AttributesChanged"};
  return r >= 0 && r < 9 ? n[r] : "?";
}
static int* d;
static void upd(const char* l, cudaGraph_t a, cudaGraph_t b) {
  cudaGraphExec_t x = nullptr;
  M(cudaGraphInstantiate(&x, a, 0));
  cudaGraphExecUpdateResultInfo i;
  memset(&i, 0x11, sizeof i);
  cudaError_t r = cudaGraphExecUpdate(x, b, &i), le = cudaGetLastError();
  size_t nn = 32;
  cudaGraphNode_t ns[32];
  M(cudaGraphGetNodes(b, ns, &nn));
  int at = -1, fa = -1;
  for (size_t j = 0; j < nn; j++) {
    if (ns[j] == i.errorNode) at = j;
    if (ns[j] == i.errorFromNode) fa = j;
  }
  printf("%s: %s last %s result %s node %s%d from %s%d\n", l, N(r), N(le), U(i.result), i.errorNode ? "" : "null ", at,
         i.errorFromNode ? "" : "null ", fa);
  M(cudaGraphExecDestroy(x));
  fflush(stdout);
}
int main() {
  static int page[64];
  int *pin, *pin2, *d2;
  M(cudaMalloc(&d, 256));
  M(cudaMalloc(&d2, 256));
  M(cudaMallocHost(&pin, 256));
  M(cudaMallocHost(&pin2, 256));
  cudaEvent_t ev, ev2;
  M(cudaEventCreate(&ev));
  M(cudaEventCreate(&ev2));
  cudaGraph_t a = mk(), b = mk();
  auto a0 = kern(a, {}, k, d, 1);
  kern(a, {a0}, k, d, 2);
  auto b0 = kern(b, {}, k, d, 1);
  kern(b, {b0}, k2, d, 2);
  upd("function changed", a, b);
  {
    cudaGraph_t c = mk();
    auto x = kern(c, {}, k, d, 1);
    kern(c, {x}, k3, 1.0);
    upd("other params kernel", a, c);
  }
  {
    cudaGraph_t c = mk();
    kern(c, {}, k, d, 1);
    kern(c, {}, k, d, 1);
    upd("edge removed", a, c);
    upd("edge added", c, a);
  }
  {
    cudaGraph_t c = mk();
    kern(c, {}, k, d, 1);
    upd("node removed", a, c);
    upd("node added", c, a);
  }
  {
    cudaGraph_t c = mk();
    auto x = kern(c, {}, k, d, 1);
    cudaGraphNode_t n;
    M(cudaGraphAddEmptyNode(&n, c, &x, 1));
    upd("type changed", a, c);
  }
  {
    cudaGraph_t e = mk(), f = mk();
    upd("empty empty", e, f);
    upd("to empty", a, e);
    upd("from empty", e, a);
  }
  auto memset1 = [&](void* p, unsigned v, size_t w, size_t h = 1, size_t el = 4, size_t pitch = 64) {
    cudaGraph_t g = mk();
    cudaMemsetParams m = {};
    m.dst = p;
    m.value = v;
    m.width = w;
    m.height = h;
    m.elementSize = el;
    m.pitch = pitch;
    cudaGraphNode_t n;
    M(cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
    return g;
  };
  upd("memset value", memset1(d, 1, 4), memset1(d, 2, 4));
  upd("memset dst", memset1(d, 1, 4), memset1(d2, 1, 4));
  upd("memset dst pinned", memset1(d, 1, 4), memset1(pin, 1, 4));
  upd("memset width", memset1(d, 1, 4), memset1(d, 1, 8));
  upd("memset element", memset1(d, 1, 4, 1, 4), memset1(d, 1, 4, 1, 1));
  upd("memset height", memset1(d, 1, 4, 1), memset1(d, 1, 4, 2));
  upd("memset 2d width", memset1(d, 1, 4, 2), memset1(d, 1, 3, 2));
  upd("memset 2d value", memset1(d, 1, 4, 2), memset1(d, 5, 4, 2));
  upd("memset 2d dst", memset1(d, 1, 4, 2), memset1(d2, 5, 4, 2));
  upd("memset 2d pitch", memset1(d, 1, 4, 2), memset1(d, 1, 4, 2, 4, 32));
  auto cp = [&](void* t, const void* s, size_t n, cudaMemcpyKind k) {
    cudaGraph_t g = mk();
    cudaGraphNode_t x;
    M(cudaGraphAddMemcpyNode1D(&x, g, 0, 0, t, s, n, k));
    return g;
  };
  upd("copy dst", cp(d, pin, 64, cudaMemcpyHostToDevice), cp(d2, pin, 64, cudaMemcpyHostToDevice));
  upd("copy size", cp(d, pin, 64, cudaMemcpyHostToDevice), cp(d, pin, 32, cudaMemcpyHostToDevice));
  upd("copy direction", cp(d, pin, 64, cudaMemcpyHostToDevice), cp(pin, d, 64, cudaMemcpyDeviceToHost));
  upd("copy kind default", cp(d, pin, 64, cudaMemcpyHostToDevice), cp(d, pin, 64, cudaMemcpyDefault));
  upd("copy pinned to page", cp(d, pin, 64, cudaMemcpyHostToDevice), cp(d, page, 64, cudaMemcpyHostToDevice));
  upd("copy page from pinned default", cp(d, pin, 64, cudaMemcpyDefault), cp(d, page, 64, cudaMemcpyDefault));
  upd("copy d2h from h2d default", cp(d, pin, 64, cudaMemcpyDefault), cp(pin, d, 64, cudaMemcpyDefault));
  upd("copy pinned from page default", cp(d, page, 64, cudaMemcpyDefault), cp(d, pin, 64, cudaMemcpyDefault));
  upd("copy d2d from page default", cp(d, page, 64, cudaMemcpyDefault), cp(d, d2, 64, cudaMemcpyDefault));
  upd("copy pin2page from page2pin default", cp(page, pin, 64, cudaMemcpyDefault),
      cp(pin, page, 64, cudaMemcpyDefault));
  upd("copy d2d from d2d kind", cp(d, d2, 64, cudaMemcpyDeviceToDevice), cp(d, pin, 64, cudaMemcpyDefault));
  upd("copy d2d from h2d default", cp(d, pin, 64, cudaMemcpyDefault), cp(d, d2, 64, cudaMemcpyDefault));
  auto host = [&](cudaHostFn_t f, void* u) {
    cudaGraph_t g = mk();
    cudaHostNodeParams h = {f, u};
    cudaGraphNode_t n;
    M(cudaGraphAddHostNode(&n, g, 0, 0, &h));
    return g;
  };
  upd("host fn", host(cb, 0), host(cb2, &d));
  auto evn = [&](bool r, cudaEvent_t e) {
    cudaGraph_t g = mk();
    cudaGraphNode_t n;
    if (r)
      M(cudaGraphAddEventRecordNode(&n, g, 0, 0, e));
    else
      M(cudaGraphAddEventWaitNode(&n, g, 0, 0, e));
    return g;
  };
  upd("record event", evn(true, ev), evn(true, ev2));
  upd("wait event", evn(false, ev), evn(false, ev2));
  upd("record to wait", evn(true, ev), evn(false, ev));
  auto child = [&](cudaGraph_t c) {
    cudaGraph_t g = mk();
    cudaGraphNode_t n;
    M(cudaGraphAddChildGraphNode(&n, g, 0, 0, c));
    return g;
  };
  upd("child params", child(a), child(b));
  upd("child topology", child(a), child(evn(true, ev)));
  upd("child to kernel", child(a), evn(true, ev));
  auto attr = [&](cudaLaunchAttributeID id, cudaLaunchAttributeValue v) {
    cudaGraph_t g = mk();
    auto n = kern(g, {}, k, d, 1);
    cudaError_t e = cudaGraphKernelNodeSetAttribute(n, id, &v);
    if (e) printf("attr %d %s\n", id, N(e));
    return g;
  };
  cudaLaunchAttributeValue v = {};
  cudaGraph_t plain = attr(cudaLaunchAttributePriority, v);
  v = {};
  v.cooperative = 1;
  upd("cooperative", plain, attr(cudaLaunchAttributeCooperative, v));
  v = {};
  v.priority = -2;
  upd("priority", plain, attr(cudaLaunchAttributePriority, v));
  v = {};
  v.clusterDim.x = v.clusterDim.y = v.clusterDim.z = 1;
  upd("cluster 1", plain, attr(cudaLaunchAttributeClusterDimension, v));
  v = {};
  v.accessPolicyWindow.base_ptr = d;
  v.accessPolicyWindow.num_bytes = 64;
  v.accessPolicyWindow.hitRatio = 0.5f;
  v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  upd("window", plain, attr(cudaLaunchAttributeAccessPolicyWindow, v));
  v = {};
  v.memSyncDomain = cudaLaunchMemSyncDomainRemote;
  upd("domain", plain, attr(cudaLaunchAttributeMemSyncDomain, v));
  // order of nodes made: sinks pairing
  {
    cudaGraph_t p = mk(), q = mk();
    auto r = kern(p, {}, k, d, 1);
    cudaGraphNode_t n;
    kern(p, {r}, k, d, 2);
    M(cudaGraphAddEmptyNode(&n, p, &r, 1));
    auto s = kern(q, {}, k, d, 1);
    M(cudaGraphAddEmptyNode(&n, q, &s, 1));
    kern(q, {s}, k, d, 2);
    upd("sinks in another order", p, q);
  }
  {
    cudaGraph_t p = mk(), q = mk();
    auto x = kern(p, {}, k, d, 1);
    auto y = kern(p, {}, k, d, 2);
    kern(p, {x, y}, k, d, 3);
    x = kern(q, {}, k, d, 1);
    y = kern(q, {}, k, d, 2);
    kern(q, {y, x}, k, d, 3);
    upd("dependencies in another order", p, q);
  }
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, a, 0));
  cudaGraphExecUpdateResultInfo i;
  R("update null exec", cudaGraphExecUpdate(nullptr, a, &i));
  R("update null graph", cudaGraphExecUpdate(x, nullptr, &i));
  R("update own graph", cudaGraphExecUpdate(x, a, &i));
  V("r", i.result);
  // set params
  int v1 = 5;
  void* args[] = {&d, &v1};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)k;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  cudaGraphNode_t bn = b0;
  R("exec kernel ok", cudaGraphExecKernelNodeSetParams(x, a0, &kp));
  R("exec kernel foreign node", cudaGraphExecKernelNodeSetParams(x, bn, &kp));
  R("exec kernel null exec", cudaGraphExecKernelNodeSetParams(nullptr, a0, &kp));
  R("exec kernel null node", cudaGraphExecKernelNodeSetParams(x, nullptr, &kp));
  auto q = kp;
  q.func = (void*)k2;
  R("exec kernel other func", cudaGraphExecKernelNodeSetParams(x, a0, &q));
  q = kp;
  q.gridDim = dim3(0);
  R("exec kernel grid 0", cudaGraphExecKernelNodeSetParams(x, a0, &q));
  q = kp;
  q.func = nullptr;
  R("exec kernel null func", cudaGraphExecKernelNodeSetParams(x, a0, &q));
  cudaMemsetParams ms = {};
  ms.dst = d;
  ms.elementSize = 4;
  ms.width = 4;
  ms.height = 1;
  R("exec memset on kernel node", cudaGraphExecMemsetNodeSetParams(x, a0, &ms));
  R("exec copy on kernel node", cudaGraphExecMemcpyNodeSetParams1D(x, a0, d, pin, 16, cudaMemcpyHostToDevice));
  cudaHostNodeParams hp = {cb, 0};
  R("exec host on kernel node", cudaGraphExecHostNodeSetParams(x, a0, &hp));
  R("exec child on kernel node", cudaGraphExecChildGraphNodeSetParams(x, a0, b));
  R("exec event on kernel node", cudaGraphExecEventRecordNodeSetEvent(x, a0, ev));
  R("memset get on kernel", cudaGraphMemsetNodeGetParams(a0, &ms));
  R("host get on kernel", cudaGraphHostNodeGetParams(a0, &hp));
  cudaGraph_t cg;
  R("child get on kernel", cudaGraphChildGraphNodeGetGraph(a0, &cg));
  cudaMemcpy3DParms c3;
  R("copy get on kernel", cudaGraphMemcpyNodeGetParams(a0, &c3));
  cudaGraphNodeParams np = {};
  np.type = cudaGraphNodeTypeMemset;
  R("generic wrong type", cudaGraphNodeSetParams(a0, &np));
  R("exec generic wrong type", cudaGraphExecNodeSetParams(x, a0, &np));
  unsigned en = 7;
  R("get enabled", cudaGraphNodeGetEnabled(x, a0, &en));
  V("en", en);
  R("enabled null", cudaGraphNodeGetEnabled(x, a0, nullptr));
  R("set 5", cudaGraphNodeSetEnabled(x, a0, 5));
  R("get", cudaGraphNodeGetEnabled(x, a0, &en));
  V("en", en);
  R("foreign", cudaGraphNodeSetEnabled(x, bn, 0));
  R("null", cudaGraphNodeSetEnabled(nullptr, a0, 0));
  R("disable", cudaGraphNodeSetEnabled(x, a0, 0));
  R("set params of a disabled node", cudaGraphExecKernelNodeSetParams(x, a0, &kp));
  R("get", cudaGraphNodeGetEnabled(x, a0, &en));
  V("en", en);
  R("update", cudaGraphExecUpdate(x, a, &i));
  R("get", cudaGraphNodeGetEnabled(x, a0, &en));
  V("en after update", en);
  // enabled of other kinds
  {
    cudaGraph_t g = mk();
    cudaGraphNode_t n[5];
    M(cudaGraphAddEmptyNode(&n[0], g, 0, 0));
    cudaHostNodeParams h = {cb, 0};
    M(cudaGraphAddHostNode(&n[1], g, 0, 0, &h));
    M(cudaGraphAddEventRecordNode(&n[2], g, 0, 0, ev));
    M(cudaGraphAddChildGraphNode(&n[3], g, 0, 0, a));
    M(cudaGraphAddMemcpyNode1D(&n[4], g, 0, 0, d, pin, 16, cudaMemcpyHostToDevice));
    cudaGraphExec_t y;
    M(cudaGraphInstantiate(&y, g, 0));
    for (auto m : n) {
      R("set", cudaGraphNodeSetEnabled(y, m, 0));
      R("get", cudaGraphNodeGetEnabled(y, m, &en));
    }
    cudaGraph_t inner;
    M(cudaGraphChildGraphNodeGetGraph(n[3], &inner));
    cudaGraphNode_t in[2];
    size_t c = 2;
    M(cudaGraphGetNodes(inner, in, &c));
    R("inner enable", cudaGraphNodeSetEnabled(y, in[0], 0));
    R("inner set", cudaGraphExecKernelNodeSetParams(y, in[0], &kp));
    R("inner of the original", cudaGraphExecKernelNodeSetParams(y, a0, &kp));
    R("child set", cudaGraphExecChildGraphNodeSetParams(y, n[3], b));
    R("child set other topology", cudaGraphExecChildGraphNodeSetParams(y, n[3], g));
    R("child set null", cudaGraphExecChildGraphNodeSetParams(y, n[3], nullptr));
    R("exec 1d", cudaGraphExecMemcpyNodeSetParams1D(y, n[4], d2, pin2, 32, cudaMemcpyHostToDevice));
    R("exec 1d direction", cudaGraphExecMemcpyNodeSetParams1D(y, n[4], pin2, d2, 32, cudaMemcpyDeviceToHost));
    R("exec 1d 0", cudaGraphExecMemcpyNodeSetParams1D(y, n[4], d2, pin2, 0, cudaMemcpyHostToDevice));
    R("exec 1d null", cudaGraphExecMemcpyNodeSetParams1D(y, n[4], nullptr, pin2, 8, cudaMemcpyHostToDevice));
    R("event null", cudaGraphExecEventRecordNodeSetEvent(y, n[2], nullptr));
    R("event wrong kind", cudaGraphExecEventWaitNodeSetEvent(y, n[2], ev));
    h.fn = nullptr;
    R("host null fn", cudaGraphExecHostNodeSetParams(y, n[1], &h));
    // a node destroyed after instantiation
    R("destroy node", cudaGraphDestroyNode(n[0]));
    R("destroy graph", cudaGraphDestroy(g));
    R("launch", cudaGraphLaunch(y, 0));
    R("sync", cudaDeviceSynchronize());
  }
  // node added after instantiation
  {
    auto late = kern(a, {}, k, d, 1);
    R("late node set", cudaGraphExecKernelNodeSetParams(x, late, &kp));
    R("late enabled", cudaGraphNodeSetEnabled(x, late, 0));
  }
}
