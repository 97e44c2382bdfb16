// Rule: capture: modes of threads, changes of dependencies, ends and forks, edges of programmatic launches.
#include "graph_sections.h"

static int idx(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t n) {
  for (size_t i = 0; i < all.size(); i++)
    if (all[i] == n) return i;
  return -1;
}
static cudaStream_t ms() {
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  return t;
}
static const char* st(cudaStream_t t) {
  cudaStreamCaptureStatus c;
  cudaError_t e = cudaStreamIsCapturing(t, &c);
  cudaGetLastError();
  return e ? N(e) : c == 0 ? "none" : c == 1 ? "active" : "invalidated";
}
static void shape(const char* l, cudaGraph_t g) {
  cudaGraphNode_t n[64], f[64], t[64];
  cudaGraphEdgeData e[64];
  size_t c = 64;
  cudaError_t r = cudaGraphGetNodes(g, n, &c);
  if (r) {
    printf("%s: %s\n", l, N(r));
    cudaGetLastError();
    return;
  }
  std::vector<cudaGraphNode_t> all(n, n + c);
  printf("%s:", l);
  for (auto x : all) {
    cudaGraphNodeType ty;
    M(cudaGraphNodeGetType(x, &ty));
    printf(" %d", ty);
  }
  c = 64;
  M(cudaGraphGetEdges(g, f, t, e, &c));
  printf(" |");
  for (size_t i = 0; i < c; i++) {
    printf(" %d-%d", idx(all, f[i]), idx(all, t[i]));
    if (e[i].type || e[i].from_port) printf("(%d %d)", e[i].from_port, e[i].type);
  }
  puts("");
}
static cudaGraph_t fin(const char* l, cudaStream_t t) {
  cudaGraph_t g = (cudaGraph_t)1;
  cudaError_t e = cudaStreamEndCapture(t, &g);
  cudaGetLastError();
  printf("%s: end %s graph %s\n", l, N(e), !g ? "null" : g == (cudaGraph_t)1 ? "untouched" : "set");
  return e ? nullptr : g;
}
T(exchange) {
  cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
  R("relaxed", cudaThreadExchangeStreamCaptureMode(&m));
  V("was", m);
  m = cudaStreamCaptureModeThreadLocal;
  R("thread local", cudaThreadExchangeStreamCaptureMode(&m));
  V("was", m);
  std::thread([] {
    cudaStreamCaptureMode q = cudaStreamCaptureModeRelaxed;
    R("other thread", cudaThreadExchangeStreamCaptureMode(&q));
    V("was", q);
  }).join();
  m = (cudaStreamCaptureMode)3;
  R("mode 3", cudaThreadExchangeStreamCaptureMode(&m));
  V("m", m);
  m = (cudaStreamCaptureMode)-1;
  R("mode -1", cudaThreadExchangeStreamCaptureMode(&m));
  V("m", m);
  m = cudaStreamCaptureModeGlobal;
  R("global", cudaThreadExchangeStreamCaptureMode(&m));
  V("was", m);
  for (int mode = 0; mode < 4; mode++) {
    auto t = ms();
    cudaError_t e = cudaStreamBeginCapture(t, (cudaStreamCaptureMode)mode);
    cudaGetLastError();
    printf("begin %d %s %s\n", mode, N(e), st(t));
    if (!e) {
      m = cudaStreamCaptureModeRelaxed;
      M(cudaThreadExchangeStreamCaptureMode(&m));
      void* p;
      R("malloc relaxed", cudaMalloc(&p, 64));
      cudaStreamCaptureMode b = m;
      M(cudaThreadExchangeStreamCaptureMode(&b));
      printf("%s\n", st(t));
      R("malloc", cudaMalloc(&p, 64));
      printf("%s\n", st(t));
      fin("x", t);
    }
  }
}
T(invalidated_to_graph) {
  cudaGraph_t g = mk();
  auto a = kern(g, {}, put, d, 1);
  auto t = ms();
  M(cudaStreamBeginCaptureToGraph(t, g, &a, nullptr, 1, cudaStreamCaptureModeGlobal));
  k<<<1, 1, 0, t>>>(d, 100);
  cudaStreamSynchronize(t);
  cudaGetLastError();
  fin("invalidated", t);
  size_t n = 77;
  R("nodes", cudaGraphGetNodes(g, nullptr, &n));
  V("n", n);
  R("destroy", cudaGraphDestroy(g));
}
T(unjoined_to_graph) {
  cudaGraph_t g = mk();
  auto a = kern(g, {}, put, d, 1);
  auto t = ms(), u = ms();
  M(cudaStreamBeginCaptureToGraph(t, g, &a, nullptr, 1, cudaStreamCaptureModeGlobal));
  cudaEvent_t ev;
  M(cudaEventCreate(&ev));
  M(cudaEventRecord(ev, t));
  M(cudaStreamWaitEvent(u, ev, 0));
  k<<<1, 1, 0, u>>>(d + 2, 1);
  fin("unjoined", t);
  size_t n = 77;
  R("nodes", cudaGraphGetNodes(g, nullptr, &n));
  V("n", n);
  R("destroy", cudaGraphDestroy(g));
}
T(end_without_place) {
  auto t = ms();
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  k<<<1, 1, 0, t>>>(d, 1);
  R("null end", cudaStreamEndCapture(t, nullptr));
  printf("%s\n", st(t));
  if (strcmp(st(t), "none")) fin("x", t);
  cudaGraph_t g = mk();
  M(cudaStreamBeginCaptureToGraph(t, g, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  k<<<1, 1, 0, t>>>(d, 1);
  R("null end to graph", cudaStreamEndCapture(t, nullptr));
  printf("%s\n", st(t));
  if (strcmp(st(t), "none")) fin("x", t);
  shape("g", g);
}
T(update_dependencies) {
  auto t = ms();
  cudaGraph_t g;
  cudaStreamCaptureStatus cs;
  const cudaGraphNode_t* deps;
  const cudaGraphEdgeData* ed;
  size_t nd;
  cudaGraphNode_t n;
  R("not capturing", cudaStreamUpdateCaptureDependencies(t, nullptr, nullptr, 0, 0));
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  k<<<1, 1, 0, t>>>(d, 1);
  auto info = [&](const char* l) {
    M(cudaStreamGetCaptureInfo(t, &cs, nullptr, &g, &deps, &ed, &nd));
    cudaGraphNode_t all[32];
    size_t c = 32;
    M(cudaGraphGetNodes(g, all, &c));
    std::vector<cudaGraphNode_t> v(all, all + c);
    printf("%s: of %zu nodes deps", l, c);
    for (size_t i = 0; i < nd; i++) printf(" %d", idx(v, deps[i]));
    puts("");
  };
  info("one");
  M(cudaGraphAddEmptyNode(&n, g, 0, 0));
  R("add", cudaStreamUpdateCaptureDependencies(t, &n, nullptr, 1, cudaStreamAddCaptureDependencies));
  info("added");
  R("add again", cudaStreamUpdateCaptureDependencies(t, &n, nullptr, 1, cudaStreamAddCaptureDependencies));
  info("added again");
  R("set", cudaStreamUpdateCaptureDependencies(t, &n, nullptr, 1, cudaStreamSetCaptureDependencies));
  info("set");
  R("flags 2", cudaStreamUpdateCaptureDependencies(t, &n, nullptr, 1, 2));
  R("null 1", cudaStreamUpdateCaptureDependencies(t, nullptr, nullptr, 1, 1));
  cudaGraphNode_t zero = nullptr;
  R("null node", cudaStreamUpdateCaptureDependencies(t, &zero, nullptr, 1, 1));
  cudaGraph_t o = mk();
  auto z = kern(o, {}, k, d, 1);
  R("foreign", cudaStreamUpdateCaptureDependencies(t, &z, nullptr, 1, 1));
  cudaGraphNode_t dup[] = {n, n};
  R("dup", cudaStreamUpdateCaptureDependencies(t, dup, nullptr, 2, 1));
  info("dup");
  R("set none", cudaStreamUpdateCaptureDependencies(t, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
  info("none");
  k<<<1, 1, 0, t>>>(d, 2);
  info("kernel behind nothing");
  R("add none", cudaStreamUpdateCaptureDependencies(t, nullptr, nullptr, 0, cudaStreamAddCaptureDependencies));
  info("none added");
  cudaGraphEdgeData e = {};
  e.from_port = 1;
  e.type = 1;
  auto last = deps[0];
  R("set programmatic", cudaStreamUpdateCaptureDependencies(t, &last, &e, 1, cudaStreamSetCaptureDependencies));
  M(cudaStreamGetCaptureInfo(t, &cs, nullptr, &g, &deps, &ed, &nd));
  printf("data %d %d\n", ed[0].from_port, ed[0].type);
  R("info without data", cudaStreamGetCaptureInfo(t, &cs, nullptr, &g, &deps, nullptr, &nd));
  R("info only status", cudaStreamGetCaptureInfo(t, &cs));
  R("info count only", cudaStreamGetCaptureInfo(t, &cs, nullptr, nullptr, nullptr, nullptr, &nd));
  k<<<1, 1, 0, t>>>(d, 3);
  R("launch behind it", cudaGetLastError());
  R("set programmatic of empty", cudaStreamUpdateCaptureDependencies(t, &n, &e, 1, cudaStreamSetCaptureDependencies));
  fin("x", t);
  if (g) shape("graph", g);
  R("null handle legacy", cudaStreamUpdateCaptureDependencies(0, nullptr, nullptr, 0, 0));
  R("per thread", cudaStreamUpdateCaptureDependencies(cudaStreamPerThread, nullptr, nullptr, 0, 0));
  auto u = ms();
  M(cudaStreamBeginCapture(u, cudaStreamCaptureModeGlobal));
  cudaStreamSynchronize(u);
  cudaGetLastError();
  R("invalidated", cudaStreamUpdateCaptureDependencies(u, nullptr, nullptr, 0, 1));
  R("info invalidated", cudaStreamGetCaptureInfo(u, &cs, nullptr, &g, &deps, &ed, &nd));
  V("cs", cs);
  fin("u", u);
}
T(programmatic_capture) {
  auto t = ms();
  cudaGraph_t g;
  auto L = [&](auto... at) {
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = dim3(1);
    c.stream = t;
    cudaLaunchAttribute a[] = {at...};
    c.attrs = a;
    c.numAttrs = sizeof...(at);
    return cudaLaunchKernelEx(&c, k, d, 1);
  };
  cudaLaunchAttribute pss = {};
  pss.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  pss.val.programmaticStreamSerializationAllowed = 1;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("first pss", L(pss));
  R("second pss", L(pss));
  k<<<1, 1, 0, t>>>(d, 1);
  R("pss", L(pss));
  M(cudaMemsetAsync(d + 8, 0, 4, t));
  R("pss behind set", L(pss));
  if ((g = fin("pss", t))) {
    shape("pss", g);
    V("run", run(g));
  }
  cudaEvent_t ev;
  M(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
  cudaLaunchAttribute pe = {};
  pe.id = cudaLaunchAttributeProgrammaticEvent;
  pe.val.programmaticEvent.event = ev;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("programmatic event", L(pe));
  auto u = ms();
  R("wait", cudaStreamWaitEvent(u, ev, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  R("launch behind", cudaGetLastError());
  cudaEvent_t j;
  M(cudaEventCreate(&j));
  M(cudaEventRecord(j, u));
  M(cudaStreamWaitEvent(t, j, 0));
  R("join", L());
  if ((g = fin("pe", t))) {
    shape("pe", g);
    V("run", run(g));
  }
  pe.val.programmaticEvent.triggerAtBlockStart = 1;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("at start", L(pe));
  R("wait", cudaStreamWaitEvent(u, ev, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  M(cudaEventRecord(j, u));
  M(cudaStreamWaitEvent(t, j, 0));
  if ((g = fin("pe start", t))) shape("pe start", g);
  cudaLaunchAttribute lc = {};
  lc.id = cudaLaunchAttributeLaunchCompletionEvent;
  lc.val.launchCompletionEvent.event = ev;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("launch completion", L(lc));
  R("wait", cudaStreamWaitEvent(u, ev, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  R("second", L(pss));
  M(cudaEventRecord(j, u));
  M(cudaStreamWaitEvent(t, j, 0));
  R("third", L());
  if ((g = fin("lc", t))) {
    shape("lc", g);
    V("run", run(g));
  }
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("pe and memset wait", L(pe));
  R("wait", cudaStreamWaitEvent(u, ev, 0));
  R("memset behind programmatic", cudaMemsetAsync(d + 9, 1, 4, u));
  printf("%s\n", st(u));
  M(cudaEventRecord(j, u));
  R("join", cudaStreamWaitEvent(t, j, 0));
  if ((g = fin("pm", t))) shape("pm", g);
  cudaLaunchAttribute pr = {};
  pr.id = cudaLaunchAttributePriority;
  pr.val.priority = -3;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("priority", L(pr));
  g = fin("pr", t);
  cudaGraphNode_t n;
  size_t one = 1;
  M(cudaGraphGetNodes(g, &n, &one));
  cudaLaunchAttributeValue v = {};
  M(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePriority, &v));
  V("priority", v.priority);
}
T(forks) {
  auto t = ms(), u = ms(), w = ms();
  cudaEvent_t e, f, j;
  M(cudaEventCreate(&e));
  M(cudaEventCreate(&f));
  M(cudaEventCreate(&j));
  cudaGraph_t g;
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal));
  M(cudaEventRecord(e, t));
  M(cudaStreamWaitEvent(u, e, 0));
  M(cudaStreamWaitEvent(w, e, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  k<<<1, 1, 0, w>>>(d + 1, 1);
  M(cudaEventRecord(f, u));
  M(cudaStreamWaitEvent(w, f, 0));
  k<<<1, 1, 0, w>>>(d, 2);
  M(cudaEventRecord(j, w));
  M(cudaStreamWaitEvent(t, j, 0));
  R("end in fork", cudaStreamEndCapture(u, &g));
  printf("%s %s\n", st(t), st(u));
  if ((g = fin("g", t))) shape("g", g);
  printf("%s %s %s\n", st(t), st(u), st(w));
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaEventRecord(e, t));
  M(cudaStreamWaitEvent(u, e, 0));
  if ((g = fin("fork without work", t))) shape("g", g);
  printf("%s\n", st(u));
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaEventRecord(e, t));
  M(cudaStreamWaitEvent(u, e, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  R("destroy fork", cudaStreamDestroy(u));
  fin("fork destroyed", t);
  u = ms();
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  k<<<1, 1, 0, t>>>(d, 1);
  M(cudaEventRecord(e, t));
  std::thread([&] {
    cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
    M(cudaThreadExchangeStreamCaptureMode(&m));
    M(cudaStreamWaitEvent(u, e, 0));
    k<<<1, 1, 0, u>>>(d, 2);
    M(cudaEventRecord(f, u));
  }).join();
  M(cudaStreamWaitEvent(t, f, 0));
  std::thread([&] { R("end in other thread relaxed", cudaStreamEndCapture(t, &g)); }).join();
  shape("g", g);
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeThreadLocal));
  k<<<1, 1, 0, t>>>(d, 1);
  std::thread([&] { R("end in other thread thread-local", cudaStreamEndCapture(t, &g)); }).join();
  printf("%s\n", st(t));
  if (strcmp(st(t), "none")) fin("x", t);
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaStreamBeginCapture(u, cudaStreamCaptureModeRelaxed));
  unsigned long long i1 = 0, i2 = 0, i3 = 0;
  cudaStreamCaptureStatus cs;
  M(cudaStreamGetCaptureInfo(t, &cs, &i1));
  M(cudaStreamGetCaptureInfo(u, &cs, &i2));
  V("ids differ", i1 != i2);
  M(cudaEventRecord(e, t));
  R("merge", cudaStreamWaitEvent(u, e, 0));
  printf("%s %s\n", st(t), st(u));
  fin("t", t);
  fin("u", u);
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaStreamGetCaptureInfo(t, &cs, &i3));
  V("new id", i3 != i1 && i3 != i2);
  fin("t", t);
  R("info none", cudaStreamGetCaptureInfo(t, &cs, &i3));
  V("cs", cs);
  R("end none", cudaStreamEndCapture(t, &g));
  // the wait joins what the event's stream had; later work of the fork stays open
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaEventRecord(e, t));
  M(cudaStreamWaitEvent(u, e, 0));
  k<<<1, 1, 0, u>>>(d, 1);
  M(cudaEventRecord(f, u));
  M(cudaStreamWaitEvent(t, f, 0));
  k<<<1, 1, 0, u>>>(d, 2);
  fin("work behind the join", t);
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  M(cudaEventRecord(e, t));
  k<<<1, 1, 0, t>>>(d, 1);
  M(cudaStreamWaitEvent(t, e, 0));
  k<<<1, 1, 0, t>>>(d, 1);
  if ((g = fin("wait for own earlier", t))) shape("g", g);
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  if ((g = fin("empty", t))) {
    shape("empty", g);
    cudaGraphExec_t x;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    R("launch", cudaGraphLaunch(x, s));
  }
}

T(programmatic_to_others) {
  auto t = ms(), u = ms();
  cudaEvent_t ev, j;
  M(cudaEventCreateWithFlags(&ev, cudaEventDisableTiming));
  M(cudaEventCreateWithFlags(&j, cudaEventDisableTiming));
  cudaEvent_t ext;
  M(cudaEventCreate(&ext));
  cudaGraph_t child = mk();
  kern(child, {}, k, d, 1);
  cudaGraphExec_t cx;
  M(cudaGraphInstantiate(&cx, child, 0));
  auto one = [&](const char* l, int start, auto f) {
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = dim3(1);
    c.stream = t;
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeProgrammaticEvent;
    a.val.programmaticEvent.event = ev;
    a.val.programmaticEvent.triggerAtBlockStart = start;
    if (start == 2) {
      a.id = cudaLaunchAttributeLaunchCompletionEvent;
      a.val = {};
      a.val.launchCompletionEvent.event = ev;
    }
    c.attrs = &a;
    c.numAttrs = 1;
    M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    M(cudaLaunchKernelEx(&c, k, d, 1));
    M(cudaStreamWaitEvent(u, ev, 0));
    cudaError_t e = f(u);
    cudaGetLastError();
    printf("%s %d: %s %s\n", l, start, N(e), st(u));
    cudaEventRecord(j, u);
    cudaStreamWaitEvent(t, j, 0);
    cudaGetLastError();
    cudaGraph_t g = fin(l, t);
    if (g) {
      shape(l, g);
      cudaGraphExec_t x;
      cudaGraphInstantiateParams ip = {};
      R("inst", cudaGraphInstantiateWithParams(&x, g, &ip));
      V("r", ip.result_out);
    }
  };
  for (int p = 0; p < 3; p++) {
    one("memset", p, [&](cudaStream_t q) { return cudaMemsetAsync(d + 9, 1, 4, q); });
    one("memcpy", p, [&](cudaStream_t q) { return cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, q); });
    one("host", p, [&](cudaStream_t q) { return cudaLaunchHostFunc(q, cb, 0); });
    one("record", p, [&](cudaStream_t q) { return cudaEventRecordWithFlags(ext, q, cudaEventRecordExternal); });
    one("child", p, [&](cudaStream_t q) { return cudaGraphLaunch(cx, q); });
    one("kernel", p, [&](cudaStream_t q) {
      noargs<<<1, 1, 0, q>>>();
      return cudaGetLastError();
    });
    one("nothing", p, [&](cudaStream_t) { return cudaSuccess; });
    one("alloc", p, [&](cudaStream_t q) {
      void* z;
      return cudaMallocAsync(&z, 64, q);
    });
  }
}
// Each section is a process of its own.
int main(int c, char** v) {
  for (auto& t : sections()) {
    if (c == 1) {
      if (std::system((std::string(v[0]) + " " + t.name).c_str())) return 1;
      continue;
    }
    if (strcmp(v[1], t.name)) continue;
    init();
    printf("== %s\n", t.name);
    t.fn();
    cudaStreamSynchronize(s);
    cudaError_t e = cudaGetLastError();
    if (e) printf("left %s\n", N(e));
    fflush(stdout);
  }
}
