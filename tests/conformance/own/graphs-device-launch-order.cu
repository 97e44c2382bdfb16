// Rule: graphs that device code launches: tails in their order behind all that was fired, tails of tails first,
// nvcc-flags: -std=c++17 -arch=sm_90 -rdc=true -lcudadevrt
// siblings, a graph that launches itself.
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
struct Log {
  int n;
  int v[1000];
};
__device__ Log lg;
__device__ int count;
__device__ int codes[16];
__device__ void put(int x) {
  int i = atomicAdd(&lg.n, 1);
  if (i < 1000) lg.v[i] = x;
}
__global__ void mark(int x) { put(x); }
struct G3 {
  cudaGraphExec_t g[8];
};
__global__ void spin_mark(int x) {
  long long t = clock64();
  while (clock64() - t < 100000000);
  put(x);
}
// tail a, b, c in order
__global__ void tails(int x, G3 g, int n) {
  put(x);
  for (int i = 0; i < n; i++) codes[i] = cudaGraphLaunch(g.g[i], cudaStreamGraphTailLaunch);
}
__global__ void fires(int x, G3 g, int n) {
  put(x);
  for (int i = 0; i < n; i++) codes[i] = cudaGraphLaunch(g.g[i], cudaStreamGraphFireAndForget);
}
__global__ void fire_then_tail(int x, cudaGraphExec_t f, cudaGraphExec_t t) {
  put(x);
  codes[0] = cudaGraphLaunch(t, cudaStreamGraphTailLaunch);
  codes[1] = cudaGraphLaunch(f, cudaStreamGraphFireAndForget);
}
__global__ void sibling(int x, cudaGraphExec_t f, cudaGraphExec_t t) {
  put(x);
  codes[2] = cudaGraphLaunch(f, cudaStreamGraphFireAndForgetAsSibling);
  codes[3] = cudaGraphLaunch(t, cudaStreamGraphTailLaunch);
}
__device__ cudaGraphExec_t seen[4];
__global__ void again(int limit) {
  int c = ++count;
  put(100 + c);
  seen[0] = cudaGetCurrentGraphExec();
  if (c < limit) codes[4] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
__global__ void who(int i) { seen[i] = cudaGetCurrentGraphExec(); }
static cudaStream_t s;
static cudaGraphExec_t dev(cudaGraph_t g) {
  cudaGraphExec_t x = nullptr;
  M(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
  M(cudaGraphUpload(x, s));
  M(cudaStreamSynchronize(s));
  return x;
}
static cudaGraphExec_t hostx(cudaGraph_t g) {
  cudaGraphExec_t x = nullptr;
  M(cudaGraphInstantiate(&x, g, 0));
  return x;
}
static void show(const char* what) {
  cudaError_t e = cudaStreamSynchronize(s);
  std::printf("%s: %s", what, N(e));
  Log h;
  M(cudaMemcpyFromSymbol(&h, lg, sizeof h));
  for (int i = 0; i < h.n; i++) std::printf(" %d", h.v[i]);
  int c[16];
  M(cudaMemcpyFromSymbol(c, codes, sizeof c));
  std::printf(" | codes");
  for (int i = 0; i < 8; i++) std::printf(" %d", c[i]);
  std::printf("\n");
  h.n = 0;
  M(cudaMemcpyToSymbol(lg, &h, sizeof h));
  for (int& i : c) i = -1;
  M(cudaMemcpyToSymbol(codes, c, sizeof c));
  int z = 0;
  M(cudaMemcpyToSymbol(count, &z, 4));
  fflush(stdout);
}
int main() {
  M(cudaStreamCreate(&s));
  cudaGraph_t g;
  cudaGraphExec_t m[8];
  for (int i = 0; i < 8; i++) {
    g = mk();
    kern(g, {}, mark, i + 1);
    m[i] = dev(g);
  }
  show("start");
  G3 g3;
  for (int i = 0; i < 8; i++) g3.g[i] = m[i];
  g = mk();
  kern(g, {}, tails, 10, g3, 3);
  cudaGraphExec_t t3 = hostx(g);
  M(cudaGraphLaunch(t3, s));
  show("tails in order");
  M(cudaGraphLaunch(t3, s));
  M(cudaGraphLaunch(t3, s));
  show("twice");
  // launching graph from the same stream: later work waits for tails
  M(cudaGraphLaunch(t3, s));
  mark<<<1, 1, 0, s>>>(50);
  show("stream work behind");
  // several nodes: tail runs behind all nodes
  g = mk();
  {
    auto a = kern(g, {}, tails, 10, g3, 2);
    auto b = kern(g, {a}, spin_mark, 11);
    kern(g, {b}, mark, 12);
  }
  cudaGraphExec_t x = hostx(g);
  M(cudaGraphLaunch(x, s));
  show("tail behind all nodes");
  // fire and forget: one at a time so that order is settled by the tail
  g = mk();
  kern(g, {}, spin_mark, 21);
  cudaGraphExec_t slow = dev(g);
  g = mk();
  kern(g, {}, fire_then_tail, 20, slow, m[0]);
  x = hostx(g);
  M(cudaGraphLaunch(x, s));
  mark<<<1, 1, 0, s>>>(50);
  show("tail behind fired");
  // fired graph's own tails are in its environment
  g = mk();
  kern(g, {}, tails, 30, g3, 2);
  cudaGraphExec_t dt = dev(g);
  g = mk();
  kern(g, {}, fire_then_tail, 20, dt, m[4]);
  x = hostx(g);
  M(cudaGraphLaunch(x, s));
  show("fired with tails, then tail");
  // tail graph's tails before the later tails
  {
    G3 a;
    a.g[0] = dt;
    a.g[1] = m[5];
    a.g[2] = m[6];
    g = mk();
    kern(g, {}, tails, 40, a, 3);
    x = hostx(g);
  }
  M(cudaGraphLaunch(x, s));
  show("tails of a tail first");
  // sibling: not waited by launching graph's tails, but by parent's tail
  g = mk();
  kern(g, {}, sibling, 60, slow, m[7]);
  cudaGraphExec_t sib = dev(g);
  g = mk();
  kern(g, {}, fire_then_tail, 61, sib, m[0]);
  x = hostx(g);
  M(cudaGraphLaunch(x, s));
  show("sibling");
  M(cudaGraphLaunch(x, s));
  mark<<<1, 1, 0, s>>>(50);
  show("sibling and stream");
  // self relaunch
  g = mk();
  kern(g, {}, again, 5);
  x = dev(g);
  M(cudaGraphLaunch(x, s));
  show("self");
  {
    cudaGraphExec_t h[4];
    M(cudaMemcpyFromSymbol(h, seen, sizeof h));
    V("self_current_is_exec", h[0] == x);
  }
  {
    g = mk();
    G3 a;
    a.g[0] = x;
    a.g[1] = m[0];
    kern(g, {}, tails, 10, a, 2);
    cudaGraphExec_t y = hostx(g);
    M(cudaGraphLaunch(y, s));
    show("self as tail, other behind");
    g = mk();
    kern(g, {}, fire_then_tail, 20, x, m[1]);
    y = hostx(g);
    M(cudaGraphLaunch(y, s));
    show("self fired, tail behind");
  }
  // who
  cudaGraphExec_t z[4] = {};
  M(cudaMemcpyToSymbol(seen, z, sizeof z));
  who<<<1, 1, 0, s>>>(0);
  g = mk();
  kern(g, {}, who, 1);
  x = hostx(g);
  M(cudaGraphLaunch(x, s));
  g = mk();
  kern(g, {}, who, 2);
  cudaGraphExec_t y = dev(g);
  M(cudaGraphLaunch(y, s));
  {
    cudaGraph_t o = mk();
    cudaGraphNode_t n;
    cudaGraph_t c = mk();
    kern(c, {}, who, 3);
    M(cudaGraphAddChildGraphNode(&n, o, 0, 0, c));
    cudaGraphExec_t w = dev(o);
    M(cudaGraphLaunch(w, s));
    M(cudaStreamSynchronize(s));
    M(cudaMemcpyFromSymbol(z, seen, sizeof z));
    V("who_plain_null", z[0] == 0);
    V("who_host_null", z[1] == 0);
    V("who_host_exec", z[1] == x);
    V("who_device_exec", z[2] == y);
    V("who_child_exec", z[3] == w);
  }
  // event after
  cudaEvent_t e;
  M(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  M(cudaGraphLaunch(t3, s));
  M(cudaEventRecord(e, s));
  M(cudaEventSynchronize(e));
  show("event behind tails");
  // memset and copies in device graphs
  int *d, *pin;
  M(cudaMalloc(&d, 64));
  M(cudaMallocHost(&pin, 64));
  pin[0] = 0;
  g = mk();
  cudaGraphNode_t n1, n2;
  cudaMemsetParams ms = {};
  ms.dst = d;
  ms.elementSize = 1;
  ms.value = 7;
  ms.width = 64;
  ms.height = 1;
  M(cudaGraphAddMemsetNode(&n1, g, 0, 0, &ms));
  M(cudaGraphAddMemcpyNode1D(&n2, g, &n1, 1, pin, d, 64, cudaMemcpyDeviceToHost));
  {
    G3 a;
    a.g[0] = dev(g);
    g = mk();
    kern(g, {}, tails, 70, a, 1);
    x = hostx(g);
    M(cudaGraphLaunch(x, s));
    show("memory nodes");
    V("pin", pin[0]);
    pin[0] = 0;
    g = mk();
    kern(g, {}, fires, 71, a, 1);
    x = hostx(g);
    M(cudaGraphLaunch(x, s));
    show("memory nodes fired");
    V("pin", pin[0]);
  }
}
