// Rule: what each function that adds a node refuses: missing things, dependencies that are none, parameters.
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
__global__ void k2(double a) {}
__global__ void big() {
  extern __shared__ int sh[];
  sh[0] = 1;
}
static void CUDART_CB cb(void*) {}
__device__ int sym[16];
__constant__ int csym[4];
int main() {
  int *d, *pin;
  static int page[64];
  M(cudaMalloc(&d, 256));
  M(cudaMallocHost(&pin, 256));
  cudaGraph_t g = mk(), g2 = mk();
  cudaGraphNode_t a = kern(g, {}, k, d, 1), b = kern(g, {}, k, d, 1), o = kern(g2, {}, k, d, 1), n = nullptr;
  int v = 1;
  void* args[] = {&d, &v};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)k;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  cudaGraphNode_t dup[] = {a, a}, foreign[] = {o}, mixed[] = {a, o}, withnull[] = {a, nullptr};
  R("kernel null out", cudaGraphAddKernelNode(nullptr, g, 0, 0, &kp));
  R("kernel null graph", cudaGraphAddKernelNode(&n, nullptr, 0, 0, &kp));
  R("kernel null params", cudaGraphAddKernelNode(&n, g, 0, 0, nullptr));
  R("kernel deps null count 1", cudaGraphAddKernelNode(&n, g, nullptr, 1, &kp));
  R("kernel deps given count 0", cudaGraphAddKernelNode(&n, g, &a, 0, &kp));
  R("kernel dup deps", cudaGraphAddKernelNode(&n, g, dup, 2, &kp));
  R("kernel foreign dep", cudaGraphAddKernelNode(&n, g, foreign, 1, &kp));
  R("kernel mixed dep", cudaGraphAddKernelNode(&n, g, mixed, 2, &kp));
  auto q = kp;
  q.func = nullptr;
  R("kernel null func", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.func = (void*)cb;
  R("kernel host func", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.gridDim = dim3(0);
  R("grid 0", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.gridDim = dim3(1, 65536);
  R("grid y 65536", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.gridDim = dim3(0x7fffffff);
  R("grid x max", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.gridDim = dim3(0x80000000u);
  R("grid x over", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.blockDim = dim3(1025);
  R("block 1025", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.blockDim = dim3(32, 32, 2);
  R("block 2048", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.blockDim = dim3(1, 1, 65);
  R("block z 65", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.blockDim = dim3(0);
  R("block 0", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.func = (void*)big;
  q.sharedMemBytes = 49153;
  q.kernelParams = nullptr;
  R("shared 48K+1", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  q = kp;
  q.kernelParams = nullptr;
  R("no params no extra", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  void* ex[] = {(void*)0};
  q = kp;
  q.extra = ex;
  R("both", cudaGraphAddKernelNode(&n, g, 0, 0, &q));
  size_t nn = 99;
  M(cudaGraphGetNodes(g, 0, &nn));
  V("nodes", nn);
  cudaMemsetParams ms = {};
  ms.dst = d;
  ms.elementSize = 4;
  ms.width = 4;
  ms.height = 1;
  R("memset ok", cudaGraphAddMemsetNode(&n, g, 0, 0, &ms));
  R("memset null", cudaGraphAddMemsetNode(&n, g, 0, 0, nullptr));
  auto m = ms;
  m.elementSize = 3;
  R("memset elt 3", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.elementSize = 0;
  R("memset elt 0", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.elementSize = 8;
  R("memset elt 8", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.width = 0;
  R("memset width 0", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.height = 0;
  R("memset height 0", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.dst = nullptr;
  R("memset null dst", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.dst = page;
  R("memset page", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.dst = pin;
  R("memset pinned", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.dst = (char*)d + 1;
  R("memset unaligned", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.height = 2;
  m.pitch = 8;
  R("memset pitch<width", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.height = 2;
  m.pitch = 32;
  R("memset 2d", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.height = 1;
  m.pitch = 1;
  R("memset 1d pitch 1", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  m = ms;
  m.width = 1000;
  R("memset beyond", cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  R("copy1d ok", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 16, cudaMemcpyHostToDevice));
  R("copy1d 0 bytes", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 0, cudaMemcpyHostToDevice));
  R("copy1d null dst", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, nullptr, pin, 16, cudaMemcpyHostToDevice));
  R("copy1d null src", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, nullptr, 16, cudaMemcpyHostToDevice));
  R("copy1d kind 7", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 16, (cudaMemcpyKind)7));
  R("copy1d wrong kind", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 16, cudaMemcpyDeviceToHost));
  R("copy1d wrong kind page", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, page, page + 16, 16, cudaMemcpyHostToDevice));
  R("copy1d h2h", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, page, page + 16, 16, cudaMemcpyHostToHost));
  R("copy1d h2h dev", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, page + 16, 16, cudaMemcpyHostToHost));
  R("copy1d default", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, page, 16, cudaMemcpyDefault));
  R("copy1d same", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, d, 16, cudaMemcpyDeviceToDevice));
  R("copy1d beyond", cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 100000, cudaMemcpyHostToDevice));
  R("copy1d foreign dep", cudaGraphAddMemcpyNode1D(&n, g, foreign, 1, d, pin, 16, cudaMemcpyHostToDevice));
  R("to symbol ok", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, pin, 16, 0, cudaMemcpyHostToDevice));
  R("to symbol const", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, csym, pin, 16, 0, cudaMemcpyHostToDevice));
  R("to symbol off", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, pin, 16, 60, cudaMemcpyHostToDevice));
  R("to symbol bad", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, page, pin, 16, 0, cudaMemcpyHostToDevice));
  R("to symbol null",
    cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, (const void*)nullptr, pin, 16, 0, cudaMemcpyHostToDevice));
  R("to symbol kind", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, pin, 16, 0, cudaMemcpyDeviceToHost));
  R("to symbol 0", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, pin, 0, 0, cudaMemcpyHostToDevice));
  R("to symbol null src", cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, nullptr, 16, 0, cudaMemcpyHostToDevice));
  R("from symbol ok", cudaGraphAddMemcpyNodeFromSymbol(&n, g, 0, 0, pin, sym, 16, 0, cudaMemcpyDeviceToHost));
  R("from symbol off", cudaGraphAddMemcpyNodeFromSymbol(&n, g, 0, 0, pin, sym, 68, 0, cudaMemcpyDeviceToHost));
  R("from symbol kind", cudaGraphAddMemcpyNodeFromSymbol(&n, g, 0, 0, pin, sym, 16, 0, cudaMemcpyHostToDevice));
  R("from symbol kind hh", cudaGraphAddMemcpyNodeFromSymbol(&n, g, 0, 0, pin, sym, 16, 0, cudaMemcpyHostToHost));
  cudaMemcpy3DParms cp = {};
  R("3d zero", cudaGraphAddMemcpyNode(&n, g, 0, 0, &cp));
  R("3d null", cudaGraphAddMemcpyNode(&n, g, 0, 0, nullptr));
  cp.srcPtr = make_cudaPitchedPtr(pin, 16, 4, 4);
  cp.dstPtr = make_cudaPitchedPtr(d, 16, 4, 4);
  cp.extent = make_cudaExtent(16, 4, 1);
  cp.kind = cudaMemcpyHostToDevice;
  R("3d ok", cudaGraphAddMemcpyNode(&n, g, 0, 0, &cp));
  auto c = cp;
  c.extent.width = 0;
  R("3d width 0", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
  c = cp;
  c.extent.depth = 0;
  R("3d depth 0", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
  c = cp;
  c.srcPtr.pitch = 8;
  R("3d pitch", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
  c = cp;
  c.kind = (cudaMemcpyKind)9;
  R("3d kind", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
  c = cp;
  c.srcPos.x = 4;
  R("3d pos", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
  cudaHostNodeParams hp = {cb, nullptr};
  R("host ok", cudaGraphAddHostNode(&n, g, 0, 0, &hp));
  hp.fn = nullptr;
  R("host null fn", cudaGraphAddHostNode(&n, g, 0, 0, &hp));
  R("host null", cudaGraphAddHostNode(&n, g, 0, 0, nullptr));
  R("empty ok", cudaGraphAddEmptyNode(&n, g, 0, 0));
  R("empty null out", cudaGraphAddEmptyNode(nullptr, g, 0, 0));
  R("empty null graph", cudaGraphAddEmptyNode(&n, nullptr, 0, 0));
  R("empty dup", cudaGraphAddEmptyNode(&n, g, dup, 2));
  R("empty null dep count 1", cudaGraphAddEmptyNode(&n, g, nullptr, 1));
  R("empty foreign", cudaGraphAddEmptyNode(&n, g, foreign, 1));
  R("child null", cudaGraphAddChildGraphNode(&n, g, 0, 0, nullptr));
  R("child ok", cudaGraphAddChildGraphNode(&n, g, 0, 0, g2));
  R("child null out", cudaGraphAddChildGraphNode(nullptr, g, 0, 0, g2));
  R("child foreign dep", cudaGraphAddChildGraphNode(&n, g, foreign, 1, g2));
  cudaGraph_t e = mk();
  R("child empty", cudaGraphAddChildGraphNode(&n, g, 0, 0, e));
  cudaEvent_t ev;
  M(cudaEventCreate(&ev));
  R("record ok", cudaGraphAddEventRecordNode(&n, g, 0, 0, ev));
  R("record null", cudaGraphAddEventRecordNode(&n, g, 0, 0, nullptr));
  R("wait ok", cudaGraphAddEventWaitNode(&n, g, 0, 0, ev));
  R("wait null", cudaGraphAddEventWaitNode(&n, g, 0, 0, nullptr));
  R("record null out", cudaGraphAddEventRecordNode(nullptr, g, 0, 0, ev));
  cudaEvent_t got;
  R("get event of wait as record", cudaGraphEventRecordNodeGetEvent(n, &got));
  cudaMemAllocNodeParams ap = {};
  R("alloc zero", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location.type = cudaMemLocationTypeDevice;
  R("alloc size 0", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  ap.bytesize = 64;
  ap.poolProps.location.id = 7;
  R("alloc dev 7", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  ap.poolProps.location.id = 0;
  ap.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  R("alloc handle", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  ap.poolProps.handleTypes = cudaMemHandleTypeNone;
  R("alloc null", cudaGraphAddMemAllocNode(&n, g2, 0, 0, nullptr));
  R("alloc null out", cudaGraphAddMemAllocNode(nullptr, g2, 0, 0, &ap));
  R("alloc ok", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  ap.poolProps.location.type = cudaMemLocationTypeHost;
  R("alloc host", cudaGraphAddMemAllocNode(&n, g2, 0, 0, &ap));
  R("free null", cudaGraphAddMemFreeNode(&n, g2, 0, 0, nullptr));
  R("free of malloc", cudaGraphAddMemFreeNode(&n, g2, 0, 0, d));
  R("free page", cudaGraphAddMemFreeNode(&n, g2, 0, 0, page));
  R("free not behind", cudaGraphAddMemFreeNode(&n, g2, 0, 0, ap.dptr));
  R("free twice", cudaGraphAddMemFreeNode(&n, g2, 0, 0, ap.dptr));
  R("free inner", cudaGraphAddMemFreeNode(&n, g2, 0, 0, (char*)ap.dptr + 4));
  R("child with memory", cudaGraphAddChildGraphNode(&n, g, 0, 0, g2));
  cudaGraph_t cl;
  R("clone with memory", cudaGraphClone(&cl, g2));
  R("destroy node in memory graph", cudaGraphDestroyNode(o));
  M(cudaGraphGetNodes(g, 0, &nn));
  V("nodes", nn);
  M(cudaGraphGetNodes(g2, 0, &nn));
  V("nodes2", nn);
}
