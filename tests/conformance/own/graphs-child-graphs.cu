// Rule: child graphs that are cloned, moved, set and captured; the generic calls; changes while launches are pending.
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
static void CUDART_CB cb(void*) {}
int main() {
  int *d, *pin;
  M(cudaMalloc(&d, 256));
  M(cudaMallocHost(&pin, 256));
  cudaStream_t s;
  M(cudaStreamCreate(&s));
  cudaGraphNode_t n;
  cudaGraphExec_t x;
  auto val = [&] {
    int v;
    M(cudaStreamSynchronize(s));
    M(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
    int z = 0;
    M(cudaMemcpy(d, &z, 4, cudaMemcpyHostToDevice));
    return v;
  };
  M(cudaMemset(d, 0, 256));
  auto leaf = [&](int v) {
    cudaGraph_t c = mk();
    kern(c, {}, k, d, v);
    return c;
  };
  auto cp = [&](cudaGraph_t c, int o) {
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = c;
    p.graph.ownership = (cudaGraphChildGraphNodeOwnership)o;
    return p;
  };
  {
    cudaGraph_t g = mk(), a = leaf(1), b = leaf(10);
    auto p = cp(a, 0);
    R("add clone", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = cp(nullptr, 0);
    R("set null", cudaGraphNodeSetParams(n, &p));
    p = cp(g, 0);
    R("set self", cudaGraphNodeSetParams(n, &p));
    p = cp(leaf(3), 7);
    R("set ownership 7", cudaGraphNodeSetParams(n, &p));
    p = cp(leaf(3), -1);
    R("set ownership -1", cudaGraphNodeSetParams(n, &p));
    p = cp(b, 0);
    R("set clone", cudaGraphNodeSetParams(n, &p));
    M(cudaGraphInstantiate(&x, g, 0));
    M(cudaGraphLaunch(x, s));
    V("val", val());
  }
  {
    cudaGraph_t g = mk(), a = leaf(1);
    auto p = cp(a, 1);
    R("add move", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    cudaGraphNode_t in[1];
    size_t c = 1;
    M(cudaGraphGetNodes(a, in, &c));
    R("destroy node in moved", cudaGraphDestroyNode(in[0]));
    M(cudaGraphInstantiate(&x, g, 0));
    M(cudaGraphLaunch(x, s));
    V("val", val());
    kern(a, {}, k, d, 5);
    cudaGraphExecUpdateResultInfo i = {};
    R("exec update", cudaGraphExecUpdate(x, g, &i));
    V("r", i.result);
    R("destroy owner node", cudaGraphDestroyNode(n));
    M(cudaGraphGetNodes(g, 0, &c));
    V("nodes", c);
  }
  {
    cudaGraph_t m = mk();
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = 64;
    cudaGraphNode_t al;
    M(cudaGraphAddMemAllocNode(&al, m, 0, 0, &ap));
    auto kk = kern(m, {al}, k, (int*)ap.dptr, 1);
    M(cudaGraphAddMemFreeNode(&n, m, &kk, 1, ap.dptr));
    cudaGraph_t g = mk();
    auto p = cp(leaf(1), 0);
    cudaGraphNode_t ch;
    M(cudaGraphAddNode(&ch, g, 0, 0, 0, &p));
    p = cp(m, 0);
    R("set clone memory", cudaGraphNodeSetParams(ch, &p));
    p = cp(m, 1);
    R("set move memory", cudaGraphNodeSetParams(ch, &p));
    R("inst", cudaGraphInstantiate(&x, g, 0));
    cudaGraphExec_t y;
    R("inst again", cudaGraphInstantiate(&y, g, 0));
    R("destroy node", cudaGraphDestroyNode(ch));
    cudaGraph_t cl;
    R("clone", cudaGraphClone(&cl, g));
    p = cp(leaf(1), 0);
    R("set back", cudaGraphNodeSetParams(ch, &p));
    R("exec set generic move", [&] {
      auto q = cp(leaf(4), 1);
      return cudaGraphExecNodeSetParams(x, ch, &q);
    }());
  }
  {
    cudaGraph_t g = mk();
    auto p = cp(leaf(1), 0);
    M(cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    M(cudaGraphInstantiate(&x, g, 0));
    cudaGraph_t b = leaf(20);
    p = cp(b, 1);
    R("exec set generic move", cudaGraphExecNodeSetParams(x, n, &p));
    R("b destroyed?", cudaGraphDestroy(b));
    M(cudaGraphLaunch(x, s));
    V("val", val());
    p = cp(leaf(30), 0);
    R("exec set generic clone", cudaGraphExecNodeSetParams(x, n, &p));
    M(cudaGraphLaunch(x, s));
    V("val", val());
  }
  {
    cudaGraph_t g = mk();
    cudaGraphConditionalHandle h;
    cudaGraph_t c = mk();
    M(cudaGraphConditionalHandleCreate(&h, c, 1, 1));
    cudaGraphNodeParams q = {};
    q.type = cudaGraphNodeTypeConditional;
    q.conditional.handle = h;
    q.conditional.type = cudaGraphCondTypeIf;
    q.conditional.size = 1;
    M(cudaGraphAddNode(&n, c, 0, 0, 0, &q));
    kern(q.conditional.phGraph_out[0], {}, k, d, 6);
    auto p = cp(c, 1);
    R("move conditional", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = cp(c, 0);
    R("clone conditional", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    size_t cnt;
    M(cudaGraphGetNodes(g, 0, &cnt));
    V("nodes", cnt);
    cudaError_t e = cudaGraphInstantiate(&x, g, 0);
    cudaGetLastError();
    printf("inst %s\n", N(e));
    if (!e && cnt) {
      M(cudaGraphLaunch(x, s));
      V("val", val());
    }
  }
  // capture of a graph launch: child node; of one with memory; conditional
  {
    cudaGraph_t a = leaf(2);
    M(cudaGraphInstantiate(&x, a, 0));
    M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    R("capture launch", cudaGraphLaunch(x, s));
    cudaGraph_t g;
    R("end", cudaStreamEndCapture(s, &g));
  }
  {
    cudaGraph_t q = mk();
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = 64;
    cudaGraphNode_t al;
    M(cudaGraphAddMemAllocNode(&al, q, 0, 0, &ap));
    M(cudaGraphAddMemFreeNode(&n, q, &al, 1, ap.dptr));
    M(cudaGraphInstantiate(&x, q, 0));
    M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    R("capture launch of memory graph", cudaGraphLaunch(x, s));
    cudaStreamCaptureStatus st;
    M(cudaStreamIsCapturing(s, &st));
    V("st", st);
    cudaGraph_t g;
    R("end", cudaStreamEndCapture(s, &g));
  }
  // generic params of all kinds
  {
    cudaGraph_t g = mk();
    int v = 4;
    void* a[] = {&d, &v};
    cudaGraphNodeParams p = {};
    R("type kernel zero", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void*)k;
    p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = a;
    R("kernel", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    R("null params", cudaGraphAddNode(&n, g, 0, 0, 0, nullptr));
    R("null out", cudaGraphAddNode(nullptr, g, 0, 0, 0, &p));
    R("null graph", cudaGraphAddNode(&n, nullptr, 0, 0, 0, &p));
    p.type = (cudaGraphNodeType)50;
    R("type 50", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.reserved0[0] = 1;
    R("reserved", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeEmpty;
    p.reserved2 = 1;
    R("reserved2", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeEmpty;
    p.reserved1[3] = 1;
    R("reserved1", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeEmpty;
    R("empty", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    R("set empty", cudaGraphNodeSetParams(n, &p));
    p = {};
    p.type = cudaGraphNodeTypeExtSemaphoreSignal;
  }
  // an exec that runs while it is destroyed and changed
  {
    cudaGraph_t g = mk();
    cudaGraphNode_t last = nullptr;
    std::vector<cudaGraphNode_t> ns;
    for (int i = 0; i < 200; i++) {
      std::vector<cudaGraphNode_t> dd;
      if (last) dd.push_back(last);
      last = kern(g, dd, k, d, 1);
      ns.push_back(last);
    }
    M(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 20; i++) M(cudaGraphLaunch(x, s));
    int v = 2;
    void* a[] = {&d, &v};
    cudaKernelNodeParams kp = {};
    kp.func = (void*)k;
    kp.gridDim = kp.blockDim = dim3(1);
    kp.kernelParams = a;
    M(cudaGraphExecKernelNodeSetParams(x, ns[0], &kp));
    M(cudaGraphLaunch(x, s));
    M(cudaGraphExecDestroy(x));
    V("val", val());
  }
}
