// Rule: kernels with programmatic edges that launch kernels themselves.
// nvcc-flags: -rdc=true
#include <atomic>
#include <cstdio>
#include <cstdlib>
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
    if (r_ != cudaSuccess)                                                                                             \
      std::printf("unexpected_at_line_%d = %s\n", __LINE__, cudaGetErrorName(r_)), cudaGetLastError();                 \
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
// Pointers are printed as a name and an offset.
struct Base {
  const char* name;
  const void* at;
  size_t size;
};
static std::vector<Base> bases;
static std::string P(const void* p) {
  if (!p) return "null";
  for (auto& b : bases)
    if (p >= b.at && p < (const char*)b.at + b.size)
      return std::string(b.name) + "+" + std::to_string((const char*)p - (const char*)b.at);
  return "other";
}
static int *d, *d2, *pin, *pin2;
static int page[256], page2[256];
static cudaStream_t s;
__global__ void k(int* p, int v) { *p += v; }
__global__ void put(int* p, int v) { *p = v; }
__global__ void mul(int* p, int v) { *p *= v; }
__global__ void noargs() {}
static void CUDART_CB cb(void*) {}
static void CUDART_CB inc(void* p) { ++*(int*)p; }
static void init() {
  M(cudaMalloc(&d, 4096));
  M(cudaMalloc(&d2, 4096));
  M(cudaMallocHost(&pin, 4096));
  M(cudaMallocHost(&pin2, 4096));
  M(cudaMemset(d, 0, 4096));
  M(cudaMemset(d2, 0, 4096));
  memset(pin, 0, 4096);
  memset(pin2, 0, 4096);
  M(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  M(cudaDeviceSynchronize());
  bases = {{"d", d, 4096},       {"d2", d2, 4096},     {"pin", pin, 4096},
           {"pin2", pin2, 4096}, {"page", page, 1024}, {"page2", page2, 1024}};
}
static int get(int i = 0) {
  int v = -1;
  M(cudaStreamSynchronize(s));
  M(cudaMemcpy(&v, d + i, 4, cudaMemcpyDeviceToHost));
  return v;
}
static void set(int v, int i = 0) { M(cudaMemcpy(d + i, &v, 4, cudaMemcpyHostToDevice)); }
static int run(cudaGraph_t g, int start = 0) {
  set(start);
  cudaGraphExec_t x = nullptr;
  cudaError_t e = cudaGraphInstantiate(&x, g, 0);
  if (e) {
    cudaGetLastError();
    printf("(inst %s) ", N(e));
    return -1;
  }
  M(cudaGraphLaunch(x, s));
  int v = get();
  M(cudaGraphExecDestroy(x));
  return v;
}
struct Section {
  const char* name;
  void (*fn)();
};
static std::vector<Section>& sections() {
  static std::vector<Section> v;
  return v;
}
struct Reg {
  Reg(const char* n, void (*f)()) { sections().push_back({n, f}); }
};
#define T(name)                                                                                                        \
  static void t_##name();                                                                                              \
  static Reg r_##name(#name, t_##name);                                                                                \
  static void t_##name()
__global__ void leaf(int* p, int v) { atomicAdd(p, v); }
__global__ void parent(int* p) {
  leaf<<<1, 4>>>(p, 10);
  leaf<<<2, 1>>>(p, 100);
}
__global__ void trig(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  leaf<<<1, 1>>>(p, 1000);
  *(p + 1) = cudaGetLastError();
}
__global__ void after(int* p, int* out) {
  cudaGridDependencySynchronize();
  *out = *p;
}
__global__ void aftertail(int* p) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 5);
  *(p + 1) = cudaGetLastError();
}
static void edge(cudaGraph_t g, cudaGraphNode_t a, cudaGraphNode_t b, int port) {
  cudaGraphEdgeData e = {};
  e.from_port = port;
  e.type = 1;
  R("edge", cudaGraphAddDependencies(g, &a, &b, &e, 1));
}
T(launching) {
  for (int port : {1, 2}) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, parent, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, port);
    cudaGraphExec_t x = nullptr;
    cudaGraphInstantiateParams ip = {};
    R("inst", cudaGraphInstantiateWithParams(&x, g, &ip));
    V("r", ip.result_out);
    if (x) {
      set(0);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, trig, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, 1);
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, aftertail, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, 1);
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, leaf, d, 1), b = kern(g, {}, trig, d);
    edge(g, a, b, 1);
    auto c = kern(g, {b}, after, d, d + 4);
    (void)c;
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  // in streams
  cudaLaunchConfig_t c = {};
  c.gridDim = c.blockDim = dim3(1);
  c.stream = s;
  cudaLaunchAttribute at = {};
  at.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  at.val.programmaticStreamSerializationAllowed = 1;
  set(0);
  parent<<<1, 1, 0, s>>>(d);
  c.attrs = &at;
  c.numAttrs = 1;
  R("stream pss", cudaLaunchKernelEx(&c, after, d, d + 4));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("seen", get(4));
  set(0);
  set(-1, 1);
  trig<<<1, 1, 0, s>>>(d);
  R("stream pss", cudaLaunchKernelEx(&c, after, d, d + 4));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("error", get(1));
  V("seen", get(4));
  set(0);
  set(-1, 1);
  leaf<<<1, 1, 0, s>>>(d, 1);
  R("launching kernel as secondary", cudaLaunchKernelEx(&c, trig, d));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("error", get(1));
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
