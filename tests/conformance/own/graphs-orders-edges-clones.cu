// Rule: nodes, edges and clones: what queries tell, in which order, and what changes refuse.
#include "graph_sections.h"

static int idx(const std::vector<cudaGraphNode_t>& all, cudaGraphNode_t n) {
  for (size_t i = 0; i < all.size(); i++)
    if (all[i] == n) return i;
  return -1;
}
static void list(const char* l, const std::vector<cudaGraphNode_t>& all, cudaGraph_t g) {
  cudaGraphNode_t n[64];
  size_t c = 64;
  M(cudaGraphGetNodes(g, n, &c));
  printf("%s: nodes", l);
  for (size_t i = 0; i < c; i++) printf(" %d", idx(all, n[i]));
  c = 64;
  M(cudaGraphGetRootNodes(g, n, &c));
  printf(" roots");
  for (size_t i = 0; i < c; i++) printf(" %d", idx(all, n[i]));
  cudaGraphNode_t f[64], t[64];
  cudaGraphEdgeData ed[64];
  c = 64;
  M(cudaGraphGetEdges(g, f, t, ed, &c));
  printf(" edges");
  for (size_t i = 0; i < c; i++)
    printf(" %d-%d(%d%d%d)", idx(all, f[i]), idx(all, t[i]), ed[i].from_port, ed[i].to_port, ed[i].type);
  puts("");
}
static cudaGraphNode_t em(cudaGraph_t g, std::vector<cudaGraphNode_t> dd = {}) {
  cudaGraphNode_t n;
  M(cudaGraphAddEmptyNode(&n, g, dd.data(), dd.size()));
  return n;
}
T(counts) {
  cudaGraph_t g = mk();
  std::vector<cudaGraphNode_t> a;
  for (int i = 0; i < 5; i++) a.push_back(em(g));
  M(cudaGraphAddDependencies(g, &a[0], &a[2], 0, 1));
  M(cudaGraphAddDependencies(g, &a[1], &a[2], 0, 1));
  M(cudaGraphAddDependencies(g, &a[2], &a[3], 0, 1));
  M(cudaGraphAddDependencies(g, &a[2], &a[4], 0, 1));
  M(cudaGraphAddDependencies(g, &a[0], &a[4], 0, 1));
  list("all", a, g);
  cudaGraphNode_t n[9], t[9];
  cudaGraphEdgeData ed[9];
  auto clr = [&] {
    for (int i = 0; i < 9; i++) n[i] = t[i] = (cudaGraphNode_t)1;
    memset(ed, 0x77, sizeof ed);
  };
  auto show = [&](size_t c) {
    printf("  count %zu:", c);
    for (int i = 0; i < 9; i++) {
      if (n[i] == (cudaGraphNode_t)1)
        printf(" .");
      else if (!n[i])
        printf(" 0");
      else
        printf(" %d", idx(a, n[i]));
    }
    printf(" |");
    for (int i = 0; i < 9; i++) {
      if (t[i] == (cudaGraphNode_t)1)
        printf(" .");
      else if (!t[i])
        printf(" 0");
      else
        printf(" %d", idx(a, t[i]));
    }
    printf(" | %d %d\n", ed[0].type, ed[6].type);
  };
  for (size_t want : {size_t(0), size_t(2), size_t(5), size_t(8)}) {
    size_t c = want;
    clr();
    R("nodes", cudaGraphGetNodes(g, n, &c));
    show(c);
    c = want;
    clr();
    R("roots", cudaGraphGetRootNodes(g, n, &c));
    show(c);
    c = want;
    clr();
    R("edges", cudaGraphGetEdges(g, n, t, ed, &c));
    show(c);
    c = want;
    clr();
    R("edges no data", cudaGraphGetEdges(g, n, t, nullptr, &c));
    show(c);
    c = want;
    clr();
    R("deps", cudaGraphNodeGetDependencies(a[2], n, ed, &c));
    show(c);
    c = want;
    clr();
    R("dependents", cudaGraphNodeGetDependentNodes(a[2], n, ed, &c));
    show(c);
    c = want;
    clr();
    R("dependents of 0", cudaGraphNodeGetDependentNodes(a[0], n, nullptr, &c));
    show(c);
  }
  size_t c = 7;
  R("edges from only", cudaGraphGetEdges(g, n, nullptr, nullptr, &c));
  R("edges to only", cudaGraphGetEdges(g, nullptr, t, nullptr, &c));
  c = 7;
  R("edges data only", cudaGraphGetEdges(g, nullptr, nullptr, ed, &c));
  V("c", c);
  c = 7;
  R("edges none", cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
  V("c", c);
  c = 7;
  R("deps data only", cudaGraphNodeGetDependencies(a[2], nullptr, ed, &c));
  V("c", c);
  c = 7;
  R("dependents data only", cudaGraphNodeGetDependentNodes(a[2], nullptr, ed, &c));
  V("c", c);
  R("null count", cudaGraphGetNodes(g, n, nullptr));
  R("roots null count", cudaGraphGetRootNodes(g, n, nullptr));
  R("edges null count", cudaGraphGetEdges(g, n, t, ed, nullptr));
  R("deps null count", cudaGraphNodeGetDependencies(a[2], n, ed, nullptr));
  R("dependents null count", cudaGraphNodeGetDependentNodes(a[2], n, ed, nullptr));
  R("null graph", cudaGraphGetNodes(nullptr, n, &c));
  R("roots null graph", cudaGraphGetRootNodes(nullptr, n, &c));
  R("edges null graph", cudaGraphGetEdges(nullptr, n, t, ed, &c));
  R("null node", cudaGraphNodeGetDependencies(nullptr, n, ed, &c));
  R("null node", cudaGraphNodeGetDependentNodes(nullptr, n, ed, &c));
  cudaGraph_t e = mk();
  c = 3;
  clr();
  R("empty nodes", cudaGraphGetNodes(e, n, &c));
  show(c);
  c = 3;
  R("empty edges", cudaGraphGetEdges(e, n, t, ed, &c));
  show(c);
}
T(order_after_changes) {
  cudaGraph_t g = mk();
  std::vector<cudaGraphNode_t> a;
  for (int i = 0; i < 4; i++) a.push_back(em(g));
  a.push_back(em(g, {a[3], a[1]}));
  a.push_back(em(g, {a[0], a[4]}));
  list("start", a, g);
  M(cudaGraphDestroyNode(a[1]));
  a[1] = nullptr;
  list("destroyed 1", a, g);
  a.push_back(em(g, {a[5]}));
  list("added 6", a, g);
  M(cudaGraphAddDependencies(g, &a[2], &a[0], 0, 1));
  list("2-0", a, g);
  M(cudaGraphRemoveDependencies(g, &a[0], &a[5], 0, 1));
  list("no 0-5", a, g);
  M(cudaGraphAddDependencies(g, &a[0], &a[5], 0, 1));
  list("0-5 again", a, g);
  M(cudaGraphDestroyNode(a[4]));
  a[4] = nullptr;
  list("destroyed 4", a, g);
  cudaGraphNode_t f[] = {a[2], a[3]}, t[] = {a[5], a[5]};
  M(cudaGraphAddDependencies(g, f, t, 0, 2));
  list("two", a, g);
  cudaGraph_t c;
  M(cudaGraphClone(&c, g));
  std::vector<cudaGraphNode_t> b;
  for (auto n : a) {
    cudaGraphNode_t m = nullptr;
    if (n) M(cudaGraphNodeFindInClone(&m, n, c));
    b.push_back(m);
  }
  list("clone", b, c);
}
T(dependencies_refused) {
  cudaGraph_t g = mk(), h = mk();
  auto a = em(g), b = em(g, {a}), c = em(g), o = em(h);
  R("again", cudaGraphAddDependencies(g, &a, &b, 0, 1));
  R("self", cudaGraphAddDependencies(g, &a, &a, 0, 1));
  R("foreign to", cudaGraphAddDependencies(g, &a, &o, 0, 1));
  R("foreign from", cudaGraphAddDependencies(g, &o, &a, 0, 1));
  R("both in other", cudaGraphAddDependencies(h, &a, &c, 0, 1));
  R("null graph", cudaGraphAddDependencies(nullptr, &a, &c, 0, 1));
  R("null from", cudaGraphAddDependencies(g, nullptr, &c, 0, 1));
  R("null to", cudaGraphAddDependencies(g, &a, nullptr, 0, 1));
  R("nulls 0", cudaGraphAddDependencies(g, nullptr, nullptr, 0, 0));
  cudaGraphNode_t f[] = {a, a}, t[] = {c, c};
  R("twice in one", cudaGraphAddDependencies(g, f, t, 0, 2));
  std::vector<cudaGraphNode_t> all = {a, b, c};
  list("after", all, g);
  R("remove missing", cudaGraphRemoveDependencies(g, &b, &c, 0, 1));
  R("remove reverse", cudaGraphRemoveDependencies(g, &b, &a, 0, 1));
  R("remove foreign", cudaGraphRemoveDependencies(g, &a, &o, 0, 1));
  R("remove null from", cudaGraphRemoveDependencies(g, nullptr, &b, 0, 1));
  R("remove 0", cudaGraphRemoveDependencies(g, nullptr, nullptr, 0, 0));
  R("remove null graph", cudaGraphRemoveDependencies(nullptr, &a, &b, 0, 1));
  cudaGraphNode_t f2[] = {a, b}, t2[] = {b, c};
  R("remove good and missing", cudaGraphRemoveDependencies(g, f2, t2, 0, 2));
  list("after", all, g);
  R("remove", cudaGraphRemoveDependencies(g, &a, &b, 0, 1));
  R("remove again", cudaGraphRemoveDependencies(g, &a, &b, 0, 1));
  list("after", all, g);
  // cycles
  M(cudaGraphAddDependencies(g, &a, &b, 0, 1));
  R("back", cudaGraphAddDependencies(g, &b, &a, 0, 1));
  list("cycle", all, g);
  cudaGraphExec_t x = (cudaGraphExec_t)1;
  R("instantiate cycle", cudaGraphInstantiate(&x, g, 0));
  V("x", (long long)x);
  cudaGraphInstantiateParams ip = {};
  R("with params", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("result", ip.result_out);
  V("node null", ip.errNode_out == nullptr);
  cudaGraph_t cl;
  R("clone cycle", cudaGraphClone(&cl, g));
  R("child cycle", cudaGraphAddChildGraphNode(&o, h, 0, 0, g));
  R("inst parent", cudaGraphInstantiate(&x, h, 0));
  cudaGraph_t plain = mk();
  em(plain, {em(plain)});
  em(plain);
  cudaGraphExec_t y;
  M(cudaGraphInstantiate(&y, plain, 0));
  cudaGraphExecUpdateResultInfo i = {};
  R("update by cycle", cudaGraphExecUpdate(y, g, &i));
  V("r", i.result);
}
T(edge_data) {
  cudaGraph_t g = mk();
  auto a = kern(g, {}, k, d, 1), b = kern(g, {}, k, d, 1), c = kern(g, {}, k, d, 1);
  auto e = em(g);
  std::vector<cudaGraphNode_t> all = {a, b, c, e};
  auto D = [](int from, int to, int type) {
    cudaGraphEdgeData x = {};
    x.from_port = from;
    x.to_port = to;
    x.type = type;
    return x;
  };
  auto add = [&](const char* l, cudaGraphNode_t f, cudaGraphNode_t t, cudaGraphEdgeData x) {
    R(l, cudaGraphAddDependencies(g, &f, &t, &x, 1));
  };
  add("prog 1", a, b, D(1, 0, 1));
  add("same again other data", a, b, D(0, 0, 0));
  add("prog 2", a, c, D(2, 0, 1));
  add("prog 0", b, c, D(0, 0, 1));
  add("default 1", b, c, D(1, 0, 0));
  add("default 2", b, c, D(2, 0, 0));
  add("to port", b, e, D(0, 1, 0));
  add("type 2", b, e, D(0, 0, 2));
  add("kernel to empty 1 prog", b, e, D(1, 0, 1));
  add("kernel to empty 2 default", b, e, D(2, 0, 0));
  add("empty to kernel 2", e, a, D(2, 0, 0));
  cudaGraphEdgeData r = {};
  r.reserved[2] = 1;
  add("reserved", b, e, r);
  add("port 3", b, e, D(3, 0, 0));
  list("all", all, g);
  size_t n = 9;
  cudaGraphNode_t q[9], t[9];
  cudaGraphEdgeData ed[9];
  R("edges without data", cudaGraphGetEdges(g, q, t, nullptr, &n));
  V("n", n);
  n = 0;
  R("edges without anything", cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
  V("n", n);
  n = 9;
  R("deps without data", cudaGraphNodeGetDependencies(b, q, nullptr, &n));
  V("n", n);
  n = 9;
  R("dependents without data", cudaGraphNodeGetDependentNodes(a, q, nullptr, &n));
  V("n", n);
  n = 9;
  R("dependents with data", cudaGraphNodeGetDependentNodes(a, q, ed, &n));
  V("n", n);
  printf("%d %d %d\n", ed[0].from_port, ed[0].type, ed[1].from_port);
  n = 9;
  R("e deps", cudaGraphNodeGetDependencies(e, q, nullptr, &n));
  n = 9;
  R("a dependents of plain", cudaGraphNodeGetDependentNodes(e, q, nullptr, &n));
  n = 1;
  R("edges 1 without data", cudaGraphGetEdges(g, q, t, nullptr, &n));
  V("n", n);
  R("remove without data", cudaGraphRemoveDependencies(g, &a, &b, nullptr, 1));
  auto w = D(2, 0, 1);
  R("remove wrong data", cudaGraphRemoveDependencies(g, &a, &b, &w, 1));
  w = D(1, 0, 1);
  R("remove right data", cudaGraphRemoveDependencies(g, &a, &b, &w, 1));
  list("all", all, g);
  w = D(1, 0, 1);
  cudaGraphNode_t nn;
  cudaGraphNodeParams np = {};
  np.type = cudaGraphNodeTypeKernel;
  int v = 1;
  void* args[] = {&d, &v};
  np.kernel.func = (void*)k;
  np.kernel.gridDim = np.kernel.blockDim = dim3(1);
  np.kernel.kernelParams = args;
  R("node with prog", cudaGraphAddNode(&nn, g, &b, &w, 1, &np));
  np = {};
  np.type = cudaGraphNodeTypeEmpty;
  R("empty with prog", cudaGraphAddNode(&nn, g, &b, &w, 1, &np));
  cudaGraphEdgeData dw[2] = {D(0, 0, 0), D(1, 0, 1)};
  cudaGraphNode_t dd[] = {b, b};
  R("same node twice", cudaGraphAddNode(&nn, g, dd, dw, 2, &np));
  cudaGraph_t cl;
  M(cudaGraphClone(&cl, g));
  n = 9;
  M(cudaGraphGetEdges(cl, q, t, ed, &n));
  V("clone edges", n);
  int sum = 0;
  for (size_t i = 0; i < n; i++) sum += ed[i].type;
  V("prog in clone", sum);
  V("runs", run(g));
}
T(clones) {
  cudaGraph_t g = mk(), c = nullptr, cc = nullptr;
  auto a = kern(g, {}, put, d, 1), b = kern(g, {a}, k, d, 1);
  cudaGraph_t in = mk();
  auto i0 = kern(in, {}, k, d, 5);
  cudaGraphNode_t ch;
  M(cudaGraphAddChildGraphNode(&ch, g, &b, 1, in));
  cudaGraph_t emb;
  M(cudaGraphChildGraphNodeGetGraph(ch, &emb));
  size_t one = 1;
  cudaGraphNode_t e0;
  M(cudaGraphGetNodes(emb, &e0, &one));
  R("clone", cudaGraphClone(&c, g));
  R("clone of clone", cudaGraphClone(&cc, c));
  R("null", cudaGraphClone(nullptr, g));
  R("null graph", cudaGraphClone(&cc, nullptr));
  cudaGraphNode_t f, f2, f3;
  R("find", cudaGraphNodeFindInClone(&f, a, c));
  R("find in clone of clone by clone", cudaGraphNodeFindInClone(&f2, f, cc));
  R("find in clone of clone by original", cudaGraphNodeFindInClone(&f3, a, cc));
  R("find clone in original", cudaGraphNodeFindInClone(&f3, f, g));
  R("find in itself", cudaGraphNodeFindInClone(&f3, a, g));
  R("find null out", cudaGraphNodeFindInClone(nullptr, a, c));
  R("find null node", cudaGraphNodeFindInClone(&f3, nullptr, c));
  R("find null clone", cudaGraphNodeFindInClone(&f3, a, nullptr));
  cudaGraphNode_t fch;
  M(cudaGraphNodeFindInClone(&fch, ch, c));
  cudaGraph_t cemb;
  M(cudaGraphChildGraphNodeGetGraph(fch, &cemb));
  V("embedded of clone differs", cemb != emb);
  R("embedded node in clone", cudaGraphNodeFindInClone(&f3, e0, c));
  R("embedded node in clone's embedded", cudaGraphNodeFindInClone(&f3, e0, cemb));
  R("child's original in clone's embedded", cudaGraphNodeFindInClone(&f3, i0, cemb));
  R("child's original in embedded", cudaGraphNodeFindInClone(&f3, i0, emb));
  V("is e0", f3 == e0);
  auto late = kern(g, {}, k, d2, 1);
  R("late", cudaGraphNodeFindInClone(&f3, late, c));
  M(cudaGraphDestroyNode(f));
  f3 = nullptr;
  R("destroyed in clone", cudaGraphNodeFindInClone(&f3, a, c));
  V("run", run(g));
  V("clone", run(c, 10));
  V("cc", run(cc, 10));
  R("destroy node in g", cudaGraphDestroyNode(b));
  cudaGraphNode_t bc;
  M(cudaGraphDestroy(g));
  V("clone", run(c, 10));
  (void)bc;
  cudaGraph_t ce;
  R("clone of embedded", cudaGraphClone(&ce, cemb));
  V("run", run(ce, 3));
  cudaGraphNode_t fe;
  size_t cnt = 1;
  M(cudaGraphGetNodes(cemb, &fe, &cnt));
  R("find", cudaGraphNodeFindInClone(&f3, fe, ce));
  int v = 50;
  void* args[] = {&d, &v};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)k;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  M(cudaGraphKernelNodeSetParams(f3, &kp));
  V("run", run(ce, 3));
  V("clone as before", run(c, 10));
  cudaGraph_t e = mk(), e2;
  R("clone empty", cudaGraphClone(&e2, e));
  size_t z = 7;
  M(cudaGraphGetNodes(e2, 0, &z));
  V("n", z);
}
T(create_destroy) {
  cudaGraph_t g;
  R("null", cudaGraphCreate(nullptr, 0));
  R("flags 1", cudaGraphCreate(&g, 1));
  R("destroy null", cudaGraphDestroy(nullptr));
  R("node null", cudaGraphDestroyNode(nullptr));
  R("exec null", cudaGraphExecDestroy(nullptr));
  R("launch null", cudaGraphLaunch(nullptr, s));
  R("upload null", cudaGraphUpload(nullptr, s));
  cudaGraphExec_t x;
  R("inst null out", cudaGraphInstantiate(nullptr, mk(), 0));
  R("inst null", cudaGraphInstantiate(&x, nullptr, 0));
  R("params null", cudaGraphInstantiateWithParams(&x, mk(), nullptr));
  cudaGraphInstantiateParams ip = {};
  R("params null out", cudaGraphInstantiateWithParams(nullptr, mk(), &ip));
  R("params null graph", cudaGraphInstantiateWithParams(&x, nullptr, &ip));
  unsigned long long f;
  R("flags null", cudaGraphExecGetFlags(nullptr, &f));
  R("dot null", cudaGraphDebugDotPrint(nullptr, "/dev/null", 0));
  R("dot null path", cudaGraphDebugDotPrint(mk(), nullptr, 0));
  R("dot bad path", cudaGraphDebugDotPrint(mk(), "/nonexistent/x.dot", 0));
  R("dot ok", cudaGraphDebugDotPrint(mk(), "/dev/null", 0));
  for (unsigned b = 0; b < 20; b++)
    R(("dot flag " + std::to_string(b)).c_str(), cudaGraphDebugDotPrint(mk(), "/dev/null", 1u << b));
  R("dot all", cudaGraphDebugDotPrint(mk(), "/dev/null", ~0u));
}
T(destroyed_event) {
  cudaGraph_t g = mk();
  cudaEvent_t ev;
  M(cudaEventCreate(&ev));
  cudaGraphNode_t r;
  M(cudaGraphAddEventRecordNode(&r, g, 0, 0, ev));
  auto a = kern(g, {r}, k, d, 1);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  M(cudaGraphLaunch(x, s));
  M(cudaStreamSynchronize(s));
  R("query", cudaEventQuery(ev));
  (void)a;
  cudaEvent_t e2;
  M(cudaEventCreate(&e2));
  R("exec set", cudaGraphExecEventRecordNodeSetEvent(x, r, e2));
  M(cudaGraphLaunch(x, s));
  M(cudaStreamSynchronize(s));
  R("q", cudaEventQuery(e2));
  float ms = -1;
  R("elapsed", cudaEventElapsedTime(&ms, ev, e2));
  V("positive", ms > 0);
  cudaEvent_t e3;
  M(cudaEventCreateWithFlags(&e3, cudaEventDisableTiming));
  R("exec set no timing", cudaGraphExecEventRecordNodeSetEvent(x, r, e3));
  M(cudaGraphLaunch(x, s));
  M(cudaStreamSynchronize(s));
  R("elapsed", cudaEventElapsedTime(&ms, ev, e3));
  cudaEvent_t e4;
  M(cudaEventCreateWithFlags(&e4, cudaEventDisableTiming | cudaEventInterprocess));
  cudaGraphNode_t ri;
  R("interprocess record", cudaGraphAddEventRecordNode(&ri, g, 0, 0, e4));
  R("inst", cudaGraphInstantiate(&x, g, 0));
  M(cudaGraphLaunch(x, s));
  R("sync", cudaStreamSynchronize(s));
  R("query", cudaEventQuery(e4));
}
T(order_of_roots) {
  cudaGraph_t g = mk();
  std::vector<cudaGraphNode_t> a;
  for (int i = 0; i < 4; i++) a.push_back(em(g));
  M(cudaGraphAddDependencies(g, &a[3], &a[0], 0, 1));
  list("0 behind 3", a, g);
  M(cudaGraphRemoveDependencies(g, &a[3], &a[0], 0, 1));
  list("0 root again", a, g);
  M(cudaGraphAddDependencies(g, &a[1], &a[2], 0, 1));
  list("2 behind 1", a, g);
  M(cudaGraphDestroyNode(a[1]));
  a[1] = nullptr;
  list("1 destroyed", a, g);
  a.push_back(em(g));
  list("4 added", a, g);
  M(cudaGraphAddDependencies(g, &a[0], &a[4], 0, 1));
  M(cudaGraphAddDependencies(g, &a[3], &a[4], 0, 1));
  M(cudaGraphRemoveDependencies(g, &a[0], &a[4], 0, 1));
  list("4 behind 3 only", a, g);
  cudaGraph_t c;
  M(cudaGraphClone(&c, g));
  std::vector<cudaGraphNode_t> b;
  for (auto n : a) {
    cudaGraphNode_t m = nullptr;
    if (n) M(cudaGraphNodeFindInClone(&m, n, c));
    b.push_back(m);
  }
  list("clone", b, c);
  cudaGraph_t cc;
  M(cudaGraphClone(&cc, c));
  std::vector<cudaGraphNode_t> e;
  for (auto n : b) {
    cudaGraphNode_t m = nullptr;
    if (n) M(cudaGraphNodeFindInClone(&m, n, cc));
    e.push_back(m);
  }
  list("clone of clone", e, cc);
  cudaGraph_t p = mk();
  cudaGraphNode_t ch;
  M(cudaGraphAddChildGraphNode(&ch, p, 0, 0, g));
  cudaGraph_t in;
  M(cudaGraphChildGraphNodeGetGraph(ch, &in));
  cudaGraphNode_t q[9];
  size_t n = 9;
  std::vector<cudaGraphNode_t> z;
  M(cudaGraphGetNodes(in, q, &n));
  list("child", std::vector<cudaGraphNode_t>(q, q + n), in);
  (void)z;
  cudaGraph_t cap;
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t ev;
  M(cudaEventCreate(&ev));
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  M(cudaEventRecord(ev, s));
  M(cudaStreamWaitEvent(t, ev, 0));
  k<<<1, 1, 0, s>>>(d, 1);
  put<<<1, 1, 0, t>>>(d, 1);
  M(cudaEventRecord(ev, t));
  M(cudaStreamWaitEvent(s, ev, 0));
  mul<<<1, 1, 0, s>>>(d, 1);
  M(cudaStreamEndCapture(s, &cap));
  n = 9;
  M(cudaGraphGetNodes(cap, q, &n));
  list("captured", std::vector<cudaGraphNode_t>(q, q + n), cap);
}
T(external_semaphores) {
  cudaGraph_t g = mk();
  cudaGraphNode_t n;
  cudaExternalSemaphoreSignalNodeParams sp = {};
  cudaExternalSemaphoreWaitNodeParams wp = {};
  R("signal 0", cudaGraphAddExternalSemaphoresSignalNode(&n, g, 0, 0, &sp));
  R("wait 0", cudaGraphAddExternalSemaphoresWaitNode(&n, g, 0, 0, &wp));
  size_t c;
  M(cudaGraphGetNodes(g, 0, &c));
  V("nodes", c);
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
