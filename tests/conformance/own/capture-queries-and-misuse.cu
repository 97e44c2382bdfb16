// Rule: capture information with every set of missing pointers, dependency updates, merges, forks that were not joined,
// capture into graphs.
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
static const char* S(cudaStream_t s) {
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  cudaError_t e = cudaStreamIsCapturing(s, &c);
  cudaGetLastError();
  return e ? N(e) : c == 0 ? "none" : c == 1 ? "active" : c == 2 ? "invalidated" : "?";
}
#define ST(l, s) printf("%s: %s\n", l, S(s))
static size_t cntn(cudaGraph_t g) {
  size_t n = 0;
  if (!g) return 999;
  M(cudaGraphGetNodes(g, 0, &n));
  return n;
}
static long cnte(cudaGraph_t g) {
  size_t n = 0;
  if (!g) return 999;
  return cudaGraphGetEdges(g, 0, 0, 0, &n) == cudaSuccess ? (long)n : -1;
}
int main() {
  int *d, *pin;
  M(cudaMalloc(&d, 256));
  M(cudaMallocHost(&pin, 256));
  static int page[64];
  cudaStream_t s, t, u;
  M(cudaStreamCreate(&s));
  M(cudaStreamCreate(&t));
  M(cudaStreamCreate(&u));
  cudaGraph_t g = nullptr;
  cudaEvent_t e, e2, ct;
  M(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  M(cudaEventCreateWithFlags(&e2, cudaEventDisableTiming));
  M(cudaEventCreate(&ct));
  const auto RX = cudaStreamCaptureModeRelaxed, GL = cudaStreamCaptureModeGlobal, TL = cudaStreamCaptureModeThreadLocal;
  R("begin mode 3", cudaStreamBeginCapture(s, (cudaStreamCaptureMode)3));
  R("begin mode -1", cudaStreamBeginCapture(s, (cudaStreamCaptureMode)-1));
  ST("st", s);
  R("begin null stream", cudaStreamBeginCapture(0, RX));
  R("begin legacy", cudaStreamBeginCapture(cudaStreamLegacy, RX));
  R("begin per thread", cudaStreamBeginCapture(cudaStreamPerThread, RX));
  R("end per thread", cudaStreamEndCapture(cudaStreamPerThread, &g));
  R("end not capturing", cudaStreamEndCapture(s, &g));
  R("end null stream", cudaStreamEndCapture(0, &g));
  R("iscapturing null", cudaStreamIsCapturing(s, nullptr));
  R("begin", cudaStreamBeginCapture(s, GL));
  R("end null out", cudaStreamEndCapture(s, nullptr));
  ST("after end null", s);
  g = nullptr;
  R("end", cudaStreamEndCapture(s, &g));
  V("null", g == nullptr);
  if (g) {
    V("nodes", cntn(g));
  }
  // info combos
  cudaStreamCaptureStatus st;
  unsigned long long id = 5;
  cudaGraph_t ig = (cudaGraph_t)8;
  const cudaGraphNode_t* deps = (const cudaGraphNode_t*)8;
  const cudaGraphEdgeData* ed = (const cudaGraphEdgeData*)8;
  size_t nd = 77;
  auto info = [&](const char* l, bool a, bool b, bool c, bool dd, bool ee, bool f) {
    st = (cudaStreamCaptureStatus)9;
    id = 5;
    ig = (cudaGraph_t)8;
    deps = (const cudaGraphNode_t*)8;
    ed = (const cudaGraphEdgeData*)8;
    nd = 77;
    cudaError_t r = cudaStreamGetCaptureInfo(s, a ? &st : nullptr, b ? &id : nullptr, c ? &ig : nullptr,
                                             dd ? &deps : nullptr, ee ? &ed : nullptr, f ? &nd : nullptr),
                le = cudaGetLastError();
    printf("info %s: %s last %s st %d id %s graph %s deps %s ed %s n %d\n", l, N(r), N(le), (int)st,
           id == 5   ? "same"
           : id == 0 ? "0"
                     : "set",
           ig == (cudaGraph_t)8 ? "same"
           : ig                 ? "set"
                                : "null",
           deps == (void*)8 ? "same"
           : deps           ? "set"
                            : "null",
           ed == (void*)8 ? "same"
           : ed           ? "set"
                          : "null",
           (int)nd);
  };
  for (int i = 0; i < 64; i++) {
    char b[32];
    sprintf(b, "idle %d", i);
    if (i < 8 || i == 63 || i == 62 || i == 32 || i == 16) info(b, i & 1, i & 2, i & 4, i & 8, i & 16, i & 32);
  }
  M(cudaStreamBeginCapture(s, RX));
  k<<<1, 1, 0, s>>>(d, 1);
  for (int i = 0; i < 64; i++) {
    char b[32];
    sprintf(b, "active %d", i);
    info(b, i & 1, i & 2, i & 4, i & 8, i & 16, i & 32);
  }
  M(cudaEventRecord(e, s));
  M(cudaStreamWaitEvent(t, e, 0));
  k<<<1, 1, 0, t>>>(d, 1);
  k<<<1, 1, 0, s>>>(d, 1);
  M(cudaEventRecord(e, t));
  M(cudaStreamWaitEvent(s, e, 0));
  info("joined", 1, 1, 1, 1, 1, 1);
  info("joined no edges", 1, 1, 1, 1, 0, 1);
  // legacy stream info
  R("info of null stream while capturing", cudaStreamGetCaptureInfo(0, &st));
  ST("s", s);
  // update dependencies
  cudaGraphNode_t bad[] = {nullptr};
  R("upd null array count 1",
    cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 1, cudaStreamAddCaptureDependencies));
  R("upd null node", cudaStreamUpdateCaptureDependencies(s, bad, nullptr, 1, cudaStreamAddCaptureDependencies));
  R("upd flags 2", cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 2));
  R("upd idle stream", cudaStreamUpdateCaptureDependencies(u, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
  cudaGraph_t og = mk();
  cudaGraphNode_t on = kern(og, {}, k, d, 1);
  R("upd foreign", cudaStreamUpdateCaptureDependencies(s, &on, nullptr, 1, cudaStreamAddCaptureDependencies));
  ST("s", s);
  {
    const cudaGraphNode_t* dp;
    size_t n;
    cudaGraph_t cg;
    M(cudaStreamGetCaptureInfo(s, &st, nullptr, &cg, &dp, nullptr, &n));
    cudaGraphNode_t two[] = {dp[0], dp[0]};
    R("upd dup", cudaStreamUpdateCaptureDependencies(s, two, nullptr, 2, cudaStreamSetCaptureDependencies));
    info("after dup", 1, 1, 1, 1, 1, 1);
    R("upd add same", cudaStreamUpdateCaptureDependencies(s, two, nullptr, 1, cudaStreamAddCaptureDependencies));
    info("after add same", 1, 1, 1, 1, 1, 1);
    cudaGraphEdgeData z = {};
    z.type = 1;
    z.from_port = 1;
    R("upd set with data", cudaStreamUpdateCaptureDependencies(s, two, &z, 1, cudaStreamSetCaptureDependencies));
    info("with data", 1, 1, 1, 1, 1, 1);
    R("set none", cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    info("none", 1, 1, 1, 1, 1, 1);
    cudaGraphNode_t en;
    R("add node by hand", cudaGraphAddEmptyNode(&en, cg, nullptr, 0));
    R("set to it", cudaStreamUpdateCaptureDependencies(s, &en, nullptr, 1, cudaStreamSetCaptureDependencies));
    R("destroy node of capturing graph", cudaGraphDestroyNode(en));
    R("destroy capturing graph", cudaGraphDestroy(cg));
    R("instantiate capturing graph", cudaGraphInstantiate((cudaGraphExec_t*)&id, cg, 0));
    R("clone capturing graph", cudaGraphClone(&og, cg));
  }
  ST("s", s);
  R("end", cudaStreamEndCapture(s, &g));
  V("nodes", cntn(g));
  V("edges", cnte(g));
  // unjoined / forked
  M(cudaStreamBeginCapture(s, RX));
  M(cudaEventRecord(e, s));
  M(cudaStreamWaitEvent(t, e, 0));
  ST("t forked", t);
  R("end on fork", cudaStreamEndCapture(t, &g));
  ST("s", s);
  ST("t", t);
  R("end origin", cudaStreamEndCapture(s, &g));
  V("null", g == nullptr);
  M(cudaStreamBeginCapture(s, RX));
  M(cudaEventRecord(e, s));
  M(cudaStreamWaitEvent(t, e, 0));
  R("unjoined without work", cudaStreamEndCapture(s, &g));
  V("null", g == nullptr);
  ST("t", t);
  M(cudaStreamBeginCapture(s, RX));
  k<<<1, 1, 0, s>>>(d, 1);
  M(cudaEventRecord(e, s));
  M(cudaStreamWaitEvent(t, e, 0));
  k<<<1, 1, 0, t>>>(d, 1);
  R("unjoined with work", cudaStreamEndCapture(s, &g));
  V("null", g == nullptr);
  ST("t", t);
  M(cudaStreamBeginCapture(s, RX));
  k<<<1, 1, 0, s>>>(d, 1);
  M(cudaEventRecord(e, s));
  M(cudaStreamWaitEvent(t, e, 0));
  k<<<1, 1, 0, t>>>(d, 1);
  M(cudaEventRecord(e2, t));
  M(cudaStreamWaitEvent(s, e2, 0));
  k<<<1, 1, 0, t>>>(d, 1);
  R("joined, then more", cudaStreamEndCapture(s, &g));
  V("null", g == nullptr);
  // merge of two captures
  M(cudaStreamBeginCapture(s, RX));
  M(cudaStreamBeginCapture(t, RX));
  k<<<1, 1, 0, s>>>(d, 1);
  M(cudaEventRecord(e, s));
  R("merge", cudaStreamWaitEvent(t, e, 0));
  ST("s", s);
  ST("t", t);
  R("launch in invalidated", [&] {
    k<<<1, 1, 0, s>>>(d, 1);
    return cudaGetLastError();
  }());
  R("record in invalidated", cudaEventRecord(e, s));
  R("memset in invalidated", cudaMemsetAsync(d, 0, 4, s));
  R("wait in invalidated", cudaStreamWaitEvent(s, e, 0));
  R("host in invalidated", cudaLaunchHostFunc(s, cb, 0));
  R("info of invalidated", cudaStreamGetCaptureInfo(s, &st, &id));
  V("st", st);
  R("update deps of invalidated", cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 1));
  R("begin again", cudaStreamBeginCapture(s, RX));
  R("query", cudaStreamQuery(s));
  R("end s", cudaStreamEndCapture(s, &g));
  R("end t", cudaStreamEndCapture(t, &g));
  ST("s", s);
  // isolation: uncaptured event
  M(cudaEventRecord(e, u));
  M(cudaStreamBeginCapture(s, RX));
  R("wait outside event", cudaStreamWaitEvent(s, e, 0));
  ST("s", s);
  R("end", cudaStreamEndCapture(s, &g));
  M(cudaStreamBeginCapture(s, RX));
  R("wait outside external", cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
  R("record external", cudaEventRecordWithFlags(e2, s, cudaEventRecordExternal));
  R("record flags 2", cudaEventRecordWithFlags(e2, s, 2));
  R("wait flags 2", cudaStreamWaitEvent(s, e, 2));
  ST("s", s);
  R("end", cudaStreamEndCapture(s, &g));
  V("nodes", cntn(g));
  {
    cudaEvent_t fresh;
    M(cudaEventCreate(&fresh));
    M(cudaStreamBeginCapture(s, RX));
    R("wait never recorded", cudaStreamWaitEvent(s, fresh, 0));
    ST("s", s);
    R("end", cudaStreamEndCapture(s, &g));
    R("wait never recorded eager", cudaStreamWaitEvent(s, fresh, 0));
  }
  // captured events
  M(cudaStreamBeginCapture(s, RX));
  M(cudaEventRecord(e, s));
  R("query captured event", cudaEventQuery(e));
  ST("s", s);
  R("sync captured event", cudaEventSynchronize(e));
  ST("s", s);
  float ms;
  R("elapsed captured", cudaEventElapsedTime(&ms, e, e));
  R("end", cudaStreamEndCapture(s, &g));
  M(cudaStreamBeginCapture(s, RX));
  M(cudaEventRecord(e, s));
  R("u waits in relaxed", cudaStreamWaitEvent(u, e, 0));
  ST("u", u);
  M(cudaEventRecord(e2, u));
  M(cudaStreamWaitEvent(s, e2, 0));
  R("end", cudaStreamEndCapture(s, &g));
  R("u waits for captured event after end", cudaStreamWaitEvent(u, e, 0));
  R("sync it", cudaEventSynchronize(e));
  R("query", cudaEventQuery(e));
  R("reuse", cudaEventRecord(e, u));
  R("sync", cudaEventSynchronize(e));
  // destroy stream while capturing
  {
    cudaStream_t v;
    M(cudaStreamCreate(&v));
    M(cudaStreamBeginCapture(v, RX));
    R("destroy origin", cudaStreamDestroy(v));
  }
  // modes
  for (auto m : {GL, TL, RX}) {
    M(cudaStreamBeginCapture(s, m));
    void* p = nullptr;
    R("malloc", cudaMalloc(&p, 64));
    ST("s", s);
    R("sync other stream", cudaStreamSynchronize(u));
    ST("s", s);
    R("query other", cudaStreamQuery(u));
    ST("s", s);
    R("sync event other", cudaEventQuery(ct));
    ST("s", s);
    R("device sync", cudaDeviceSynchronize());
    ST("s", s);
    R("memcpy", cudaMemcpy(d, page, 4, cudaMemcpyHostToDevice));
    ST("s", s);
    R("end", cudaStreamEndCapture(s, &g));
    if (m == RX || 1) M(cudaStreamBeginCapture(s, m));
    std::thread([&] {
      void* p2;
      R("thread malloc", cudaMalloc(&p2, 64));
      R("thread sync s", cudaStreamSynchronize(s));
    }).join();
    ST("s", s);
    R("end", cudaStreamEndCapture(s, &g));
    M(cudaStreamBeginCapture(s, m));
    cudaError_t er = cudaSuccess;
    std::thread([&] { er = cudaStreamEndCapture(s, &g); }).join();
    printf("end from other thread %s\n", N(er));
    ST("s", s);
    cudaStreamEndCapture(s, &g);
    cudaGetLastError();
  }
  {
    auto m = RX;
    R("exchange", cudaThreadExchangeStreamCaptureMode(&m));
    V("was", m);
    m = (cudaStreamCaptureMode)7;
    R("exchange 7", cudaThreadExchangeStreamCaptureMode(&m));
  }
}
