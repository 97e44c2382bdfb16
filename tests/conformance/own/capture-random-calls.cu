// Rule: random calls around captures.
#include "random_calls.h"
__global__ void k(int* p) { atomicAdd(p, 1); }
__device__ int sym[8];
static void CUDART_CB hf(void*) {}
static void CUDART_CB cb(cudaStream_t, cudaError_t, void*) {}
static int *d, *pin;
static int page[64];
static cudaStream_t st[5];
static cudaEvent_t ev[4];
static cudaGraphExec_t ex, ex2;
static std::map<unsigned long long, int> ids;
struct Ptr {
  void* p;
  bool cap;
  int name;
};
static std::vector<Ptr> ptrs;
static int pn;
static std::vector<cudaGraph_t> graphs;
static void mkstream(int i) {
  if (i < 3) M(cudaStreamCreateWithFlags(&st[i], i == 2 ? cudaStreamDefault : cudaStreamNonBlocking));
}
static const char* status(int i) {
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  cudaError_t e = cudaStreamIsCapturing(st[i], &c);
  cudaGetLastError();
  return e ? (e == cudaErrorStreamCaptureImplicit ? "I" : N(e)) : c == 0 ? "-" : c == 1 ? "a" : c == 2 ? "x" : "?";
}
static void shape(cudaGraph_t g) {
  cudaGraphNode_t n[128], f[256], t[256];
  cudaGraphEdgeData e[256];
  size_t c = 128;
  cudaError_t r = cudaGraphGetNodes(g, n, &c);
  if (r) {
    say(" shape %s", N(r));
    cudaGetLastError();
    return;
  }
  say(" {");
  size_t nc = c;
  for (size_t i = 0; i < c; i++) {
    cudaGraphNodeType ty;
    M(cudaGraphNodeGetType(n[i], &ty));
    say("%d ", ty);
  }
  c = 256;
  M(cudaGraphGetEdges(g, f, t, e, &c));
  say("|");
  for (size_t i = 0; i < c; i++) {
    int a = -1, b = -1;
    for (size_t j = 0; j < nc; j++) {
      if (n[j] == f[i]) a = j;
      if (n[j] == t[i]) b = j;
    }
    say(" %d-%d", a, b);
    if (e[i].type || e[i].from_port) say("(%d%d)", e[i].from_port, e[i].type);
  }
  c = 128;
  M(cudaGraphGetRootNodes(g, n + 0, &c));
  say(" | roots %d}", (int)c);
}
static const char* MN[] = {"global", "tl", "relaxed"};
static cudaError_t act(int op, int i) {
  cudaStream_t s = st[i];
  cudaError_t r = cudaSuccess;
  switch (op) {
  case 0:
  case 1: {
    int m = R(3);
    say("begin %d %s", i, MN[m]);
    return cudaStreamBeginCapture(s, (cudaStreamCaptureMode)m);
  }
  case 2:
  case 3: {
    say("end %d", i);
    cudaGraph_t g = (cudaGraph_t)8;
    r = cudaStreamEndCapture(s, &g);
    say(" g %s", g == (cudaGraph_t)8 ? "same" : g ? "set" : "null");
    if (g && g != (cudaGraph_t)8) {
      shape(g);
      graphs.push_back(g);
    }
    for (size_t q = 0; q < ptrs.size();)
      if (ptrs[q].cap)
        ptrs.erase(ptrs.begin() + q);
      else
        q++;
    return r;
  }
  case 4:
  case 5:
  case 6:
    say("launch %d", i);
    k<<<1, 1, 0, s>>>(d);
    return cudaPeekAtLastError();
  case 7: say("memset %d", i); return cudaMemsetAsync(d, 0, 4, s);
  case 8: say("memcpy pinned %d", i); return cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, s);
  case 9:
  case 10:
  case 11:
  case 12:
  case 13: {
    int e = R(4), f = chance(85) ? 0 : R(3);
    say("record %d in %d flags %d", e, i, f);
    return f || chance(30) ? cudaEventRecordWithFlags(ev[e], s, f) : cudaEventRecord(ev[e], s);
  }
  case 14:
  case 15:
  case 16:
  case 17:
  case 18: {
    int e = R(4), f = chance(85) ? 0 : R(3);
    say("wait %d for %d flags %d", i, e, f);
    return cudaStreamWaitEvent(s, ev[e], f);
  }
  case 19: say("host %d", i); return cudaLaunchHostFunc(s, hf, 0);
  case 20:
    say("query %d", i);
    r = cudaStreamQuery(s);
    return r == cudaErrorNotReady ? cudaSuccess : r;
  case 21: say("sync %d", i); return cudaStreamSynchronize(s);
  case 22: {
    int e = R(4);
    say("equery %d", e);
    r = cudaEventQuery(ev[e]);
    return r == cudaErrorNotReady ? cudaSuccess : r;
  }
  case 23: {
    int e = R(4);
    say("esync %d", e);
    return cudaEventSynchronize(ev[e]);
  }
  case 24: {
    int e = R(4), f = R(4);
    float ms;
    say("elapsed %d %d", e, f);
    r = cudaEventElapsedTime(&ms, ev[e], ev[f]);
    return r == cudaErrorNotReady ? cudaSuccess : r;
  }
  case 25:
  case 26: {
    say("info %d", i);
    cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
    unsigned long long id = 0;
    cudaGraph_t g = 0;
    const cudaGraphNode_t* dep = 0;
    const cudaGraphEdgeData* ed = 0;
    size_t n = 99;
    r = cudaStreamGetCaptureInfo(s, &c, &id, &g, &dep, chance(50) ? &ed : nullptr, &n);
    if (!ids.count(id)) {
      int z = ids.size();
      ids[id] = z;
    }
    say(" st %d id %d graph %d n %d", c, ids[id], g != 0, (int)n);
    if (!r && c == 1 && g) {
      cudaGraphNode_t all[128];
      size_t m = 128;
      M(cudaGraphGetNodes(g, all, &m));
      say(" of %d:", (int)m);
      for (size_t a = 0; a < n; a++) {
        int at = -1;
        for (size_t b = 0; b < m; b++)
          if (all[b] == dep[a]) at = b;
        say(" %d", at);
        if (ed && (ed[a].type || ed[a].from_port)) say("(%d%d)", ed[a].from_port, ed[a].type);
      }
    }
    return r;
  }
  case 27:
  case 28: {
    int fl = chance(90) ? R(2) : 2;
    say("deps %d flags %d", i, fl);
    cudaStreamCaptureStatus c;
    cudaGraph_t g = 0;
    const cudaGraphNode_t* dep = 0;
    const cudaGraphEdgeData* e0 = 0;
    size_t n = 0;
    cudaGraphNode_t set[4] = {};
    int cnt = 0;
    cudaStream_t from = chance(85) ? s : st[R(3)];
    if (!cudaStreamGetCaptureInfo(from, &c, nullptr, &g, &dep, &e0, &n) && c == 1 && g) {
      cudaGraphNode_t all[128];
      size_t m = 128;
      M(cudaGraphGetNodes(g, all, &m));
      cnt = R(3);
      if (!m) cnt = 0;
      for (int a = 0; a < cnt; a++) {
        int x = R(m);
        set[a] = all[x];
        say(" %d", x);
      }
    }
    cudaGetLastError();
    cudaGraphEdgeData ed[4] = {};
    bool use = chance(25);
    if (use) {
      int p = R(4);
      say(" data %d", p);
      for (auto& x : ed) {
        x.from_port = p == 3 ? 2 : p;
        x.type = p == 3 ? 0 : p > 0;
      }
    }
    return cudaStreamUpdateCaptureDependencies(s, set, use ? ed : nullptr, cnt, fl);
  }
  case 29: {
    void* p;
    say("malloc");
    r = cudaMalloc(&p, 64);
    if (!r) {
      cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
      cudaThreadExchangeStreamCaptureMode(&m);
      M(cudaFree(p));
      cudaThreadExchangeStreamCaptureMode(&m);
    }
    return r;
  }
  case 30: say("devsync"); return cudaDeviceSynchronize();
  case 31: say("memcpy sync"); return cudaMemcpy(d, pin, 4, cudaMemcpyHostToDevice);
  case 32: {
    say("mallocasync %d", i);
    void* p = 0;
    r = cudaMallocAsync(&p, 64, s);
    if (!r) {
      cudaStreamCaptureStatus c = cudaStreamCaptureStatusNone;
      cudaStreamIsCapturing(s, &c);
      say(" p%d", pn);
      ptrs.push_back({p, c != 0, pn++});
    }
    return r;
  }
  case 33: {
    if (ptrs.empty()) {
      say("none");
      return r;
    }
    int q = R(ptrs.size());
    say("freeasync %d p%d", i, ptrs[q].name);
    r = cudaFreeAsync(ptrs[q].p, s);
    if (!r) ptrs.erase(ptrs.begin() + q);
    return r;
  }
  case 34: {
    int m = R(3);
    say("begin to graph %d %s", i, MN[m]);
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n[2];
    M(cudaGraphAddEmptyNode(&n[0], g, 0, 0));
    M(cudaGraphAddEmptyNode(&n[1], g, 0, 0));
    int c = R(3);
    say(" deps %d", c);
    return cudaStreamBeginCaptureToGraph(s, g, n, nullptr, c, (cudaStreamCaptureMode)m);
  }
  case 35: {
    int m = R(3);
    say("exchange %d", m);
    cudaStreamCaptureMode q = (cudaStreamCaptureMode)m;
    r = cudaThreadExchangeStreamCaptureMode(&q);
    say(" was %d", q);
    return r;
  }
  case 36: say("glaunch %d", i); return cudaGraphLaunch(ex, s);
  case 37:
    if (i > 2) {
      say("no");
      return r;
    }
    say("destroy stream %d", i);
    r = cudaStreamDestroy(s);
    cudaGetLastError();
    if (!r) mkstream(i);
    return r;
  case 38: {
    int e = R(4);
    say("destroy event %d", e);
    r = cudaEventDestroy(ev[e]);
    if (!r) M(cudaEventCreateWithFlags(&ev[e], e < 2 ? cudaEventDisableTiming : 0));
    return r;
  }
  case 39: say("callback %d", i); return cudaStreamAddCallback(s, cb, 0, 0);
  case 40:
  case 41: {
    int w = R(4);
    say("attr launch %d kind %d", i, w);
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = dim3(1);
    c.stream = s;
    cudaLaunchAttribute a = {};
    c.attrs = &a;
    c.numAttrs = 1;
    int e = R(4);
    if (w == 0) {
      a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      a.val.programmaticStreamSerializationAllowed = R(2);
      say(" %d", a.val.programmaticStreamSerializationAllowed);
    }
    if (w == 1) {
      a.id = cudaLaunchAttributeProgrammaticEvent;
      a.val.programmaticEvent.event = ev[e];
      a.val.programmaticEvent.triggerAtBlockStart = R(2);
      say(" e%d %d", e, a.val.programmaticEvent.triggerAtBlockStart);
    }
    if (w == 2) {
      a.id = cudaLaunchAttributeLaunchCompletionEvent;
      a.val.launchCompletionEvent.event = ev[e];
      say(" e%d", e);
    }
    if (w == 3) {
      a.id = cudaLaunchAttributePriority;
      a.val.priority = -1;
    }
    void* args[] = {&d};
    return cudaLaunchKernelExC(&c, (void*)k, args);
  }
  case 42: {
    say("instantiate");
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    cudaGraphExec_t x;
    r = cudaGraphInstantiate(&x, g, 0);
    M(cudaGraphDestroy(g));
    return r;
  }
  case 43: {
    int w = R(5);
    say("get %d of %d", w, i);
    unsigned f;
    int p;
    unsigned long long id;
    cudaLaunchAttributeValue v;
    if (w == 0) return cudaStreamGetFlags(s, &f);
    if (w == 1) return cudaStreamGetPriority(s, &p);
    if (w == 2) return cudaStreamGetId(s, &id);
    if (w == 3) return cudaStreamGetDevice(s, &p);
    return cudaStreamGetAttribute(s, cudaLaunchAttributeSynchronizationPolicy, &v);
  }
  case 44: say("tosymbol %d", i); return cudaMemcpyToSymbolAsync(sym, pin, 4, 0, cudaMemcpyHostToDevice, s);
  case 45:
    say("memcpy pageable %d", i);
    return chance(50) ? cudaMemcpyAsync(d, page, 4, cudaMemcpyHostToDevice, s)
                      : cudaMemcpyAsync(page, d, 4, cudaMemcpyDefault, s);
  case 46: say("memset sync"); return cudaMemset(d, 0, 4);
  case 47: {
    int j = R(3);
    say("copy attributes %d %d", i, j);
    return cudaStreamCopyAttributes(s, st[j]);
  }
  case 48: say("upload %d", i); return cudaGraphUpload(ex, s);
  case 49: {
    say("exec update");
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n;
    M(cudaGraphAddEmptyNode(&n, g, 0, 0));
    r = cudaGraphExecUpdate(ex, g, &info);
    M(cudaGraphDestroy(g));
    return r;
  }
  case 50: {
    say("poison: memcpy bad args %d", i);
    return cudaMemcpyAsync(d, nullptr, 4, cudaMemcpyHostToDevice, s);
  }
  case 51: {
    say("bad launch %d", i);
    k<<<1, 2000, 0, s>>>(d);
    return cudaPeekAtLastError();
  }
  case 52: say("memcpy zero %d", i); return cudaMemcpyAsync(d, pin, 0, cudaMemcpyHostToDevice, s);
  }
  return r;
}
int main(int c, char** v) {
  M(cudaMalloc(&d, 4096));
  M(cudaMallocHost(&pin, 4096));
  {
    cudaGraph_t g;
    M(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n;
    M(cudaGraphAddEmptyNode(&n, g, 0, 0));
    M(cudaGraphInstantiate(&ex, g, 0));
  }
  k<<<1, 1>>>(d);
  M(cudaDeviceSynchronize());
  st[3] = 0;
  st[4] = cudaStreamPerThread;
  for (bool threads : {false, true}) {
    if (c > 2 && threads != (c > 3)) continue;
    Seeds seeds(c, v, 0, 250);
    for (unsigned seed : seeds.all()) {
      reseed(seed);
      ids.clear();
      ids[0] = 0;
      ptrs.clear();
      pn = 0;
      seeds.begin(seed);
      for (int i = 0; i < 3; i++) mkstream(i);
      for (int i = 0; i < 4; i++) M(cudaEventCreateWithFlags(&ev[i], i < 2 ? cudaEventDisableTiming : 0));
      int steps = 8 + R(22);
      bool first = true;
      for (int n = 0; n < steps; n++) {
        int op = first ? 0 : R(53), i = first ? R(3) : chance(92) ? R(3) : 3 + R(2);
        first = false;
        if (!first && n < 3 && chance(50)) op = 9 + R(10);
        bool other = threads && chance(25) && i != 4;
        cudaError_t r, l;
        auto f = [&] {
          r = act(op, i);
          l = cudaGetLastError();
        };
        if (other) {
          say("T ");
          std::thread(f).join();
        } else
          f();
        say(" = %s", N(r));
        if (l != r) say(" last %s", N(l));
        say(" [%s%s%s%s%s]\n", status(0), status(1), status(2), status(3), status(4));
      }
      cudaStreamCaptureMode m = cudaStreamCaptureModeGlobal;
      cudaThreadExchangeStreamCaptureMode(&m);
      for (int q = 0; q < 2; q++)
        for (int i = 0; i < 5; i++)
          if (status(i)[0] != '-' && status(i)[0] != 'I') {
            cudaError_t r = act(2, i);
            cudaGetLastError();
            say(" = %s [%s%s%s%s%s]\n", N(r), status(0), status(1), status(2), status(3), status(4));
          }
      for (int i = 0; i < 3; i++) {
        cudaError_t e = cudaStreamDestroy(st[i]);
        if (e) {
          say("destroy %s\n", N(e));
          cudaGetLastError();
        }
      }
      for (auto e : ev) M(cudaEventDestroy(e));
      for (auto g : graphs) M(cudaGraphDestroy(g));
      graphs.clear();
      if (status(4)[0] != '-') {
        say("per thread left %s\n", status(4));
        cudaGraph_t g;
        cudaStreamEndCapture(st[4], &g);
        cudaGetLastError();
      }
      M(cudaDeviceSynchronize());
    }
  }
}
