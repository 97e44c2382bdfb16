// What the recorded programs about graphs begin with: results told by label, sections that register themselves, small
// kernels and graphs, and memory with names. Each section is run with what init() made.
#pragma once
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
