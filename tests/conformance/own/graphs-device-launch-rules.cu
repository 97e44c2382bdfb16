// Rule: what device code may launch, and what it is told: uploads, changes, streams, limits, graphs that run already.
// nvcc-flags: -std=c++17 -arch=sm_90 -rdc=true -lcudadevrt
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
__device__ int codes[600];
__device__ int hits;
__global__ void hit() { atomicAdd(&hits, 1); }
struct G8 {
  cudaGraphExec_t g[8];
};
__global__ void go(cudaGraphExec_t x, unsigned long long stream, int times) {
  for (int i = 0; i < times; i++) codes[i] = cudaGraphLaunch(x, (cudaStream_t)stream);
}
__global__ void go2(G8 g, unsigned long long stream, int n, int times) {
  for (int i = 0; i < times; i++) codes[i] = cudaGraphLaunch(g.g[i % n], (cudaStream_t)stream);
}
__global__ void selfs(int times, unsigned long long stream) {
  int h = atomicAdd(&hits, 1);
  if (h == 0)
    for (int i = 0; i < times; i++) codes[i] = cudaGraphLaunch(cudaGetCurrentGraphExec(), (cudaStream_t)stream);
}
__global__ void last() {
  codes[0] = cudaGraphLaunch(nullptr, cudaStreamGraphTailLaunch);
  codes[1] = cudaPeekAtLastError();
  codes[2] = cudaGetLastError();
  codes[3] = cudaGetLastError();
}
__global__ void one(cudaGraphExec_t x, unsigned long long st, int i) {
  codes[i] = cudaGraphLaunch(x, (cudaStream_t)st);
}
__global__ void hit10() { atomicAdd(&hits, 10); }
__global__ void wait_long() {
  long long t = clock64();
  while (clock64() - t < 20000000);
}
__global__ void child_kernel() { atomicAdd(&hits, 100); }
__global__ void parent_kernel() {
  child_kernel<<<1, 1>>>();
  codes[0] = cudaGetLastError();
}
static cudaStream_t s;
static cudaGraphExec_t inst(cudaGraph_t g, unsigned long long f) {
  cudaGraphExec_t x = nullptr;
  M(cudaGraphInstantiate(&x, g, f));
  return x;
}
static void show(const char* w, int n) {
  cudaError_t e = cudaStreamSynchronize(s), e2 = cudaGetLastError();
  std::printf("%s: sync %s last %s", w, N(e), N(e2));
  int c[600];
  int h = -9;
  if (e == cudaSuccess) {
    M(cudaMemcpyFromSymbol(c, codes, sizeof c));
    M(cudaMemcpyFromSymbol(&h, hits, 4));
    std::printf(" | codes");
    int i = 0;
    while (i < n) {
      int j = i;
      while (j < n && c[j] == c[i]) j++;
      std::printf(" %dx%d", c[i], j - i);
      i = j;
    }
    std::printf(" | hits %d", h);
  }
  std::printf("\n");
  fflush(stdout);
  int z = 0;
  cudaMemcpyToSymbol(hits, &z, 4);
  for (int& i : c) i = -1;
  cudaMemcpyToSymbol(codes, c, sizeof c);
  cudaGetLastError();
}
static const unsigned long long TAIL = 0x0100000000000000ull, FIRE = 0x0200000000000000ull, SIB = 0x0300000000000000ull;
static void launch(const char* w, cudaGraphExec_t x, unsigned long long st, int times = 1) {
  cudaGraph_t g = mk();
  kern(g, {}, go, x, st, times);
  cudaGraphExec_t y = inst(g, 0);
  M(cudaGraphLaunch(y, s));
  show(w, times);
}
int main() {
  static const char* const cases[] = {"null",         "raw",         "streams",      "plain",       "twice",
                                      "sibling_root", "limits_tail", "limits_fire",  "self_fire",   "self_sib",
                                      "self_tail2",   "updated",     "hostlaunched", "upload_host", "again",
                                      "coop",         "capture_in",  "array"};
  for (const std::string a : cases) {
    std::printf("== %s\n", a.c_str());
    M(cudaStreamCreate(&s));
    cudaGraph_t g = mk();
    kern(g, {}, hit);
    cudaGraphExec_t up = inst(g, 4), raw = inst(g, 4), host = inst(g, 0);
    M(cudaGraphUpload(up, s));
    M(cudaStreamSynchronize(s));
    int c[600];
    for (int& i : c) i = -1;
    M(cudaMemcpyToSymbol(codes, c, sizeof c));
    if (a == "null") {
      launch("null tail", nullptr, TAIL);
      launch("null fire", nullptr, FIRE);
      g = mk();
      kern(g, {}, last);
      cudaGraphExec_t y = inst(g, 0);
      M(cudaGraphLaunch(y, s));
      show("lasterror", 4);
    }
    if (a == "raw") {
      launch("not uploaded tail", raw, TAIL);
      launch("not uploaded fire", raw, FIRE);
      launch("not uploaded sibling", raw, SIB);
    }
    if (a == "streams") {
      for (unsigned long long st :
           {0ull, 1ull, 2ull, 3ull, 4ull, 0x0400000000000000ull, 0x0100000000000001ull, 0xff00000000000000ull}) {
        char b[64];
        sprintf(b, "stream %llx", st);
        launch(b, up, st);
      }
      launch("real stream", up, (unsigned long long)s);
    }
    if (a == "plain") {
      go<<<1, 1, 0, s>>>(up, TAIL, 1);
      show("plain kernel tail", 1);
      go<<<1, 1, 0, s>>>(up, FIRE, 1);
      show("plain kernel fire", 1);
      go<<<1, 1, 0, s>>>(up, SIB, 1);
      show("plain kernel sibling", 1);
    }
    if (a == "twice") {
      launch("fire twice same", up, FIRE, 2);
      launch("tail twice same", up, TAIL, 2);
      launch("tail 3 same", up, TAIL, 3);
    }
    if (a == "sibling_root") {
      launch("sibling from host graph", up, SIB, 1);
    }
    if (a == "limits_tail" || a == "limits_fire") {
      std::vector<cudaGraphExec_t> v;
      for (int i = 0; i < 300; i++) {
        g = mk();
        kern(g, {}, hit);
        cudaGraphExec_t x = inst(g, 4);
        M(cudaGraphUpload(x, s));
        v.push_back(x);
      }
      M(cudaStreamSynchronize(s));
      // launch many different graphs by several nodes of one graph
      g = mk();
      cudaGraphNode_t prev = nullptr;
      unsigned long long st = a == "limits_tail" ? TAIL : FIRE;

      for (int i = 0; i < 260; i++) {
        std::vector<cudaGraphNode_t> d;
        if (prev) d.push_back(prev);
        prev = kern(g, d, one, v[i], st, i);
      }
      cudaGraphExec_t y = inst(g, 0);
      M(cudaGraphLaunch(y, s));
      show(a.c_str(), 260);
      M(cudaGraphLaunch(y, s));
      show("again", 260);
    }
    if (a == "self_fire") {
      g = mk();
      kern(g, {}, selfs, 1, FIRE);
      cudaGraphExec_t x = inst(g, 4);
      M(cudaGraphUpload(x, s));
      M(cudaGraphLaunch(x, s));
      show("self fire", 1);
    }
    if (a == "self_sib") {
      g = mk();
      kern(g, {}, selfs, 1, SIB);
      cudaGraphExec_t x = inst(g, 4);
      M(cudaGraphUpload(x, s));
      M(cudaGraphLaunch(x, s));
      show("self sibling", 1);
    }
    if (a == "self_tail2") {
      g = mk();
      kern(g, {}, selfs, 2, TAIL);
      cudaGraphExec_t x = inst(g, 4);
      M(cudaGraphUpload(x, s));
      M(cudaGraphLaunch(x, s));
      show("self tail twice", 2);
    }
    if (a == "updated") {
      g = mk();
      cudaGraphNode_t n = kern(g, {}, hit);
      cudaGraphExec_t x = inst(g, 4);
      M(cudaGraphUpload(x, s));
      M(cudaStreamSynchronize(s));
      launch("before", x, TAIL);
      cudaKernelNodeParams p = {};
      p.func = (void*)hit10;
      p.gridDim = p.blockDim = dim3(1);
      R("set", cudaGraphExecKernelNodeSetParams(x, n, &p));
      launch("after set without upload", x, TAIL);
      M(cudaGraphUpload(x, s));
      launch("after upload", x, TAIL);
      R("disable", cudaGraphNodeSetEnabled(x, n, 0));
      launch("disabled no upload", x, TAIL);
      R("upload", cudaGraphUpload(x, s));
      launch("disabled uploaded", x, TAIL);
    }
    if (a == "hostlaunched") {
      M(cudaGraphLaunch(raw, s));
      show("host launch uploads", 0);
      launch("then device", raw, TAIL);
    }
    if (a == "upload_host") {
      R("upload of a host exec", cudaGraphUpload(host, s));
      R("upload null exec", cudaGraphUpload(nullptr, s));
      R("upload legacy", cudaGraphUpload(raw, 0));
      R("perthread", cudaGraphUpload(raw, cudaStreamPerThread));
      cudaGraphInstantiateParams p = {};
      p.flags = 4 | 2;
      p.uploadStream = s;
      cudaGraphExec_t x = nullptr;
      R("params", cudaGraphInstantiateWithParams(&x, g, &p));
      M(cudaStreamSynchronize(s));
      launch("after params upload", x, TAIL);
      R("upload flag plain", cudaGraphInstantiate(&x, g, 2));
      p = {};
      p.flags = 2;
      p.uploadStream = s;
      R("upload flag host", cudaGraphInstantiateWithParams(&x, g, &p));
      unsigned long long f = 99;
      M(cudaGraphExecGetFlags(x, &f));
      V("flags", f);
      p = {};
      p.flags = 8 | 4 | 2;
      p.uploadStream = s;
      R("prio", cudaGraphInstantiateWithParams(&x, g, &p));
      M(cudaGraphExecGetFlags(x, &f));
      V("flags", f);
      p = {};
      p.flags = 16;
      R("unknown", cudaGraphInstantiateWithParams(&x, g, &p));
      V("res", p.result_out);
      R("8", cudaGraphInstantiate(&x, g, 8));
      M(cudaGraphExecGetFlags(x, &f));
      V("flags", f);
    }
    if (a == "again") {
      launch("fire", up, FIRE);
      M(cudaGraphLaunch(up, s));
      show("host launch after", 0);
      g = mk();
      auto n1 = kern(g, {}, one, up, FIRE, 0);
      auto n2 = kern(g, {n1}, wait_long);
      kern(g, {n2}, one, up, FIRE, 1);
      cudaGraphExec_t y = inst(g, 0);
      M(cudaGraphLaunch(y, s));
      show("fired again when it has ended", 2);
    }
    if (a == "coop") {
      g = mk();
      cudaGraphNode_t n = kern(g, {}, hit);
      cudaLaunchAttributeValue v = {};
      v.cooperative = 1;
      M(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
      cudaGraphExec_t x = inst(g, 4);
      M(cudaGraphUpload(x, s));
      launch("cooperative", x, TAIL);
    }
    if (a == "capture_in") {  // device graph exec launch captured into a stream
      cudaStream_t t;
      M(cudaStreamCreate(&t));
      M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
      R("capture launch of a device exec", cudaGraphLaunch(up, t));
      cudaGraph_t q = nullptr;
      R("end", cudaStreamEndCapture(t, &q));
      R("upload while capturing relaxed", cudaGraphUpload(up, s));
    }
    if (a == "array") {
      cudaArray_t ar;
      cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
      M(cudaMallocArray(&ar, &d, 16, 0));
      int* p;
      M(cudaMalloc(&p, 64));
      cudaMemcpy3DParms c = {};
      c.srcArray = ar;
      c.dstPtr = make_cudaPitchedPtr(p, 64, 16, 1);
      c.extent = make_cudaExtent(16, 1, 1);
      c.kind = cudaMemcpyDeviceToDevice;
      g = mk();
      cudaGraphNode_t n;
      R("add", cudaGraphAddMemcpyNode(&n, g, 0, 0, &c));
      cudaGraphInstantiateParams ip = {};
      ip.flags = 4;
      cudaGraphExec_t x = nullptr;
      R("array copy", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("res", ip.result_out);
      V("node", ip.errNode_out == n);
      int* mg;
      M(cudaMallocManaged(&mg, 64));
      g = mk();
      M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, p, mg, 64, cudaMemcpyDefault));
      ip = {};
      ip.flags = 4;
      R("managed copy", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("res", ip.result_out);
      g = mk();
      cudaGraphConditionalHandle h;
      M(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
      cudaGraphNodeParams np = {};
      np.type = cudaGraphNodeTypeConditional;
      np.conditional.handle = h;
      np.conditional.type = cudaGraphCondTypeIf;
      np.conditional.size = 1;
      M(cudaGraphAddNode(&n, g, 0, 0, 0, &np));
      ip = {};
      ip.flags = 4;
      R("conditional", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("res", ip.result_out);
      kern(np.conditional.phGraph_out[0], {}, hit);
      ip = {};
      ip.flags = 4;
      R("conditional full", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("res", ip.result_out);
      g = mk();
      kern(g, {}, go, up, TAIL, 1);
      ip = {};
      ip.flags = 4;
      R("launching kernel in a device graph", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("res", ip.result_out);
      R("update of device exec", [&] {
        cudaGraph_t q = mk();
        kern(q, {}, hit);
        cudaGraphExecUpdateResultInfo i = {};
        cudaError_t e = cudaGraphExecUpdate(up, q, &i);
        V("ures", i.result);
        return e;
      }());
      launch("after exec update without upload", up, TAIL);
      cudaGraph_t e = mk();
      cudaGraph_t o = mk();
      M(cudaGraphAddChildGraphNode(&n, o, 0, 0, e));
      ip = {};
      ip.flags = 4;
      R("empty child only", cudaGraphInstantiateWithParams(&x, o, &ip));
      V("res", ip.result_out);
    }
  }
  {
    std::puts("== kernels that launch kernels");
    cudaGraph_t g = mk();
    auto p = kern(g, {}, parent_kernel);
    kern(g, {p}, hit);
    cudaGraphExec_t x = inst(g, 0);
    M(cudaGraphLaunch(x, s));
    show("in a graph", 1);
    M(cudaGraphLaunch(x, s));
    M(cudaGraphLaunch(x, s));
    show("twice", 1);
    cudaGraphInstantiateParams ip = {};
    ip.flags = 4;
    R("in a device graph", cudaGraphInstantiateWithParams(&x, g, &ip));
    V("res", ip.result_out);
    V("node", ip.errNode_out == p);
  }
}
