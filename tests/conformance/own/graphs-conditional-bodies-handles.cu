// Rule: conditional nodes: what runs, what bodies may hold, whose handles they take, what may be done with them.
#include "graph_sections.h"

__global__ void setc(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
__global__ void down(cudaGraphConditionalHandle h, int* p) {
  if (--*p <= 0) cudaGraphSetConditional(h, 0);
}
__global__ void setfrom(cudaGraphConditionalHandle h, int* p) { cudaGraphSetConditional(h, *p); }
static cudaGraphNodeParams cond(cudaGraphConditionalHandle h, cudaGraphConditionalNodeType t, unsigned n) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = t;
  p.conditional.size = n;
  return p;
}
static cudaGraphConditionalHandle H(cudaGraph_t g, unsigned init, unsigned fl) {
  cudaGraphConditionalHandle h = 0;
  M(cudaGraphConditionalHandleCreate(&h, g, init, fl));
  return h;
}
struct Node {
  cudaGraphNode_t n;
  cudaGraph_t* b;
};
static Node add(cudaGraph_t g, std::vector<cudaGraphNode_t> deps, cudaGraphConditionalHandle h,
                cudaGraphConditionalNodeType t, unsigned n) {
  auto p = cond(h, t, n);
  Node r = {};
  M(cudaGraphAddNode(&r.n, g, deps.data(), nullptr, deps.size(), &p));
  r.b = p.conditional.phGraph_out;
  return r;
}
static int go(cudaGraphExec_t x, int start = 0) {
  set(start);
  cudaError_t e = cudaGraphLaunch(x, s);
  if (e) {
    printf("(launch %s) ", N(e));
    cudaGetLastError();
  }
  return get();
}
T(defaults) {
  for (unsigned fl : {0u, 1u})
    for (unsigned init : {0u, 1u, 2u, 77u}) {
      cudaGraph_t g = mk();
      auto h = H(g, init, fl);
      auto c = add(g, {}, h, cudaGraphCondTypeIf, 2);
      kern(c.b[0], {}, k, d, 1);
      kern(c.b[1], {}, k, d, 100);
      printf("if/else flags %u init %u: ", fl, init);
      if (fl)
        printf("%d\n", run(g));
      else
        puts("not run");
    }
  for (unsigned init : {0u, 1u, 2u, 3u, ~0u}) {
    cudaGraph_t g = mk();
    auto h = H(g, init, 1);
    auto c = add(g, {}, h, cudaGraphCondTypeSwitch, 3);
    for (int i = 0; i < 3; i++) kern(c.b[i], {}, k, d, 1 << i);
    printf("switch %u: %d\n", init, run(g));
  }
  // the value is set anew by each launch with the flag
  {
    cudaGraph_t g = mk();
    auto h = H(g, 1, 1);
    auto c = add(g, {}, h, cudaGraphCondTypeIf, 1);
    kern(c.b[0], {}, k, d, 1);
    kern(g, {c.n}, setc, h, 0u);
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, g, 0));
    printf("%d %d\n", go(x), go(x));
  }
}
T(set_in_kernel) {
  cudaGraph_t g = mk();
  auto h = H(g, 0, 1);
  auto a = kern(g, {}, setfrom, h, d + 4);
  auto c = add(g, {a}, h, cudaGraphCondTypeSwitch, 4);
  for (int i = 0; i < 4; i++) kern(c.b[i], {}, k, d, i + 1);
  kern(g, {c.n}, k, d, 100);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  for (int v : {0, 3, 1, 9, 2}) {
    set(v, 4);
    printf("%d: %d\n", v, go(x));
  }
}
T(loops) {
  cudaGraph_t g = mk();
  auto h = H(g, 1, 1);
  auto w = add(g, {}, h, cudaGraphCondTypeWhile, 1);
  auto i = kern(w.b[0], {}, k, d, 1);
  kern(w.b[0], {i}, down, h, d + 4);
  auto l = kern(g, {w.n}, mul, d, 10);
  (void)l;
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  for (int n : {1, 5, 100, 0}) {
    set(n, 4);
    printf("%d: %d\n", n, go(x));
  }
  // nested loops: the inner one is set again by the outer
  cudaGraph_t q = mk();
  auto ho = H(q, 1, 1);
  auto o = add(q, {}, ho, cudaGraphCondTypeWhile, 1);
  auto hi = H(o.b[0], 1, 1);
  auto st = kern(o.b[0], {}, put, d + 5, 3);
  auto s1 = kern(o.b[0], {st}, setc, hi, 1u);
  auto in = add(o.b[0], {s1}, hi, cudaGraphCondTypeWhile, 1);
  auto z = kern(in.b[0], {}, k, d, 1);
  kern(in.b[0], {z}, down, hi, d + 5);
  kern(o.b[0], {in.n}, down, ho, d + 4);
  cudaGraphExec_t y;
  R("nested", cudaGraphInstantiate(&y, q, 0));
  for (int n : {1, 4}) {
    set(n, 4);
    printf("%d: %d\n", n, go(y));
  }
}
T(bodies) {
  auto tryit = [](const char* l, auto f) {
    cudaGraph_t g = mk();
    auto h = H(g, 1, 1);
    auto c = add(g, {}, h, cudaGraphCondTypeIf, 1);
    cudaGraphNode_t n = nullptr;
    cudaError_t a = f(c.b[0], n);
    cudaGetLastError();
    cudaGraphExec_t x;
    cudaGraphInstantiateParams ip = {};
    cudaError_t e = cudaGraphInstantiateWithParams(&x, g, &ip);
    cudaGetLastError();
    printf("%s: add %s inst %s result %d node %d", l, N(a), N(e), ip.result_out,
           !ip.errNode_out         ? -1
           : ip.errNode_out == n   ? 1
           : ip.errNode_out == c.n ? 2
                                   : 0);
    if (!e) printf(" runs %d", go(x));
    puts("");
  };
  tryit("empty", [](cudaGraph_t g, cudaGraphNode_t& n) { return cudaGraphAddEmptyNode(&n, g, 0, 0); });
  pin[0] = 5;
  tryit("h2d pinned", [](cudaGraph_t g, cudaGraphNode_t& n) {
    return cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 4, cudaMemcpyHostToDevice);
  });
  page[0] = 6;
  tryit("h2d page", [](cudaGraph_t g, cudaGraphNode_t& n) {
    return cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, page, 4, cudaMemcpyHostToDevice);
  });
  tryit("d2d", [](cudaGraph_t g, cudaGraphNode_t& n) {
    return cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, d + 8, 4, cudaMemcpyDeviceToDevice);
  });
  tryit("d2h", [](cudaGraph_t g, cudaGraphNode_t& n) {
    return cudaGraphAddMemcpyNode1D(&n, g, 0, 0, pin2, d, 4, cudaMemcpyDefault);
  });
  tryit("h2h", [](cudaGraph_t g, cudaGraphNode_t& n) {
    return cudaGraphAddMemcpyNode1D(&n, g, 0, 0, pin2, pin, 4, cudaMemcpyHostToHost);
  });
  tryit("memset", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaMemsetParams m = {};
    m.dst = d;
    m.value = 3;
    m.elementSize = 4;
    m.width = 1;
    m.height = 1;
    return cudaGraphAddMemsetNode(&n, g, 0, 0, &m);
  });
  tryit("memset 2d", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaMemsetParams m = {};
    m.dst = d;
    m.value = 3;
    m.elementSize = 4;
    m.width = 1;
    m.height = 2;
    m.pitch = 64;
    return cudaGraphAddMemsetNode(&n, g, 0, 0, &m);
  });
  tryit("child", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaGraph_t c = mk();
    kern(c, {}, k, d, 9);
    return cudaGraphAddChildGraphNode(&n, g, 0, 0, c);
  });
  tryit("child with host", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaGraph_t c = mk();
    cudaHostNodeParams h = {cb, 0};
    M(cudaGraphAddHostNode(&n, c, 0, 0, &h));
    return cudaGraphAddChildGraphNode(&n, g, 0, 0, c);
  });
  tryit("host", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaHostNodeParams h = {cb, 0};
    return cudaGraphAddHostNode(&n, g, 0, 0, &h);
  });
  tryit("record", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaEvent_t e;
    M(cudaEventCreate(&e));
    return cudaGraphAddEventRecordNode(&n, g, 0, 0, e);
  });
  tryit("wait", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaEvent_t e;
    M(cudaEventCreate(&e));
    return cudaGraphAddEventWaitNode(&n, g, 0, 0, e);
  });
  tryit("cooperative", [](cudaGraph_t g, cudaGraphNode_t& n) {
    n = kern(g, {}, k, d, 2);
    cudaLaunchAttributeValue v = {};
    v.cooperative = 1;
    return cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v);
  });
  tryit("cycle", [](cudaGraph_t g, cudaGraphNode_t& n) {
    n = kern(g, {}, k, d, 2);
    auto m = kern(g, {n}, k, d, 2);
    return cudaGraphAddDependencies(g, &m, &n, 0, 1);
  });
  tryit("programmatic", [](cudaGraph_t g, cudaGraphNode_t& n) {
    n = kern(g, {}, k, d, 2);
    auto m = kern(g, {}, k, d, 2);
    cudaGraphEdgeData e = {};
    e.from_port = 1;
    e.type = 1;
    return cudaGraphAddDependencies(g, &n, &m, &e, 1);
  });
  tryit("3d", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaMemcpy3DParms t = {};
    t.srcPtr = make_cudaPitchedPtr(pin, 64, 16, 8);
    t.dstPtr = make_cudaPitchedPtr(d, 64, 16, 8);
    t.extent = make_cudaExtent(16, 2, 2);
    t.kind = cudaMemcpyHostToDevice;
    return cudaGraphAddMemcpyNode(&n, g, 0, 0, &t);
  });
  tryit("nested if without handle", [](cudaGraph_t g, cudaGraphNode_t& n) {
    auto p = cond(0, cudaGraphCondTypeIf, 1);
    return cudaGraphAddNode(&n, g, 0, 0, 0, &p);
  });
}
T(changes) {
  cudaGraph_t g = mk();
  auto h = H(g, 1, 1);
  auto c = add(g, {}, h, cudaGraphCondTypeIf, 1);
  auto b = kern(c.b[0], {}, k, d, 1);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  V("go", go(x));
  int v = 5;
  void* args[] = {&d, &v};
  cudaKernelNodeParams p = {};
  p.func = (void*)k;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  R("body kernel in exec", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  R("body kernel disabled", cudaGraphNodeSetEnabled(x, b, 0));
  V("go", go(x));
  R("body kernel in graph", cudaGraphKernelNodeSetParams(b, &p));
  V("go", go(x));
  unsigned e = 9;
  R("enabled of body", cudaGraphNodeGetEnabled(x, b, &e));
  V("e", e);
  R("enabled of cond", cudaGraphNodeGetEnabled(x, c.n, &e));
  R("disable cond", cudaGraphNodeSetEnabled(x, c.n, 0));
  cudaGraphNodeType t;
  M(cudaGraphNodeGetType(c.n, &t));
  V("type", t);
  auto np = cond(h, cudaGraphCondTypeIf, 1);
  R("set params", cudaGraphNodeSetParams(c.n, &np));
  R("exec set params", cudaGraphExecNodeSetParams(x, c.n, &np));
  R("destroy body", cudaGraphDestroy(c.b[0]));
  cudaGraph_t cl;
  R("clone body", cudaGraphClone(&cl, c.b[0]));
  R("retain on body", [&] {
    cudaUserObject_t o;
    M(cudaUserObjectCreate(&o, page, cb, 1, 1));
    return cudaGraphRetainUserObject(c.b[0], o, 1, cudaGraphUserObjectMove);
  }());
  R("dot", cudaGraphDebugDotPrint(g, "/dev/null", ~0u));
  size_t cnt;
  M(cudaGraphGetNodes(c.b[0], 0, &cnt));
  V("nodes", cnt);
  R("dep of body node on outer", cudaGraphAddDependencies(g, &c.n, &b, 0, 1));
  R("destroy body node", cudaGraphDestroyNode(b));
  M(cudaGraphGetNodes(c.b[0], 0, &cnt));
  V("nodes", cnt);
  R("destroy cond", cudaGraphDestroyNode(c.n));
  M(cudaGraphGetNodes(g, 0, &cnt));
  V("nodes", cnt);
  V("exec still", go(x));
  R("handle reused", [&] {
    auto q = cond(h, cudaGraphCondTypeIf, 1);
    cudaGraphNode_t n;
    return cudaGraphAddNode(&n, g, 0, 0, 0, &q);
  }());
}
T(handles) {
  cudaGraph_t g = mk(), o = mk();
  auto h = H(o, 1, 1);
  auto q = cond(h, cudaGraphCondTypeIf, 1);
  cudaGraphNode_t n;
  R("foreign handle", cudaGraphAddNode(&n, g, 0, 0, 0, &q));
  auto h2 = H(g, 1, 1);
  auto c = add(g, {}, h2, cudaGraphCondTypeIf, 1);
  auto h3 = H(c.b[0], 1, 1);
  q = cond(h3, cudaGraphCondTypeIf, 1);
  R("body's handle outside", cudaGraphAddNode(&n, g, 0, 0, 0, &q));
  R("handle of graph in a child's clone", [&] {
    cudaGraph_t ch = mk();
    auto hh = H(ch, 1, 1);
    (void)hh;
    kern(ch, {}, k, d, 1);
    return cudaGraphAddChildGraphNode(&n, g, 0, 0, ch);
  }());
  cudaGraphExec_t x;
  cudaGraphInstantiateParams ip = {};
  R("unused handle of body", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("r", ip.result_out);
  cudaGraph_t u = mk();
  H(u, 1, 1);
  kern(u, {}, k, d, 1);
  R("unused", cudaGraphInstantiateWithParams(&x, u, &ip));
  V("r", ip.result_out);
  cudaGraph_t cl;
  R("clone with handle", cudaGraphClone(&cl, u));
  R("inst clone", cudaGraphInstantiateWithParams(&x, cl, &ip));
  V("r", ip.result_out);
  // used only by a kernel
  cudaGraph_t w = mk();
  auto hw = H(w, 1, 0);
  kern(w, {}, setc, hw, 1u);
  R("only set", cudaGraphInstantiateWithParams(&x, w, &ip));
  V("r", ip.result_out);
}
T(captured) {
  // conditional node added to a capture by hand, kernels after it
  cudaGraph_t g;
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  put<<<1, 1, 0, s>>>(d, 1);
  cudaStreamCaptureStatus st;
  const cudaGraphNode_t* deps;
  size_t nd;
  const cudaGraphEdgeData* ed;
  cudaGraph_t cg;
  M(cudaStreamGetCaptureInfo(s, &st, nullptr, &cg, &deps, &ed, &nd));
  auto h = H(cg, 1, 1);
  auto c = add(cg, {deps, deps + nd}, h, cudaGraphCondTypeIf, 2);
  M(cudaStreamUpdateCaptureDependencies(s, &c.n, nullptr, 1, cudaStreamSetCaptureDependencies));
  kern(c.b[0], {}, k, d, 10);
  kern(c.b[1], {}, k, d, 20);
  mul<<<1, 1, 0, s>>>(d, 2);
  M(cudaStreamEndCapture(s, &g));
  V("run", run(g));
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaGraph_t q = mk();
  auto hq = H(q, 1, 1);
  auto w = add(q, {}, hq, cudaGraphCondTypeWhile, 1);
  M(cudaStreamBeginCaptureToGraph(t, w.b[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  k<<<1, 1, 0, t>>>(d, 3);
  down<<<1, 1, 0, t>>>(hq, d + 4);
  cudaGraph_t got;
  R("end", cudaStreamEndCapture(t, &got));
  V("same", got == w.b[0]);
  set(4, 4);
  V("run", run(q));
  M(cudaStreamBeginCaptureToGraph(t, w.b[0], nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  R("host func in body capture", cudaLaunchHostFunc(t, cb, 0));
  R("malloc async in body capture", [&] {
    void* p;
    return cudaMallocAsync(&p, 64, t);
  }());
  R("end", cudaStreamEndCapture(t, &got));
  cudaGraphExec_t x;
  cudaGraphInstantiateParams ip = {};
  R("inst", cudaGraphInstantiateWithParams(&x, q, &ip));
  V("r", ip.result_out);
  cudaGraphExec_t y;
  cudaGraph_t leaf = mk();
  kern(leaf, {}, k, d, 1);
  M(cudaGraphInstantiate(&y, g, 0));
  M(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
  R("launch conditional exec in capture", cudaGraphLaunch(y, t));
  R("end", cudaStreamEndCapture(t, &got));
}
T(instantiated_twice) {
  auto mkc = [](cudaGraph_t* body = nullptr) {
    cudaGraph_t g = mk();
    auto h = H(g, 1, 1);
    auto c = add(g, {}, h, cudaGraphCondTypeIf, 1);
    kern(c.b[0], {}, k, d, 5);
    if (body) *body = c.b[0];
    return g;
  };
  auto g = mkc();
  cudaGraphExec_t x, y;
  M(cudaGraphInstantiate(&x, g, 0));
  R("again", cudaGraphInstantiate(&y, g, 0));
  R("with flags", cudaGraphInstantiateWithFlags(&y, g, 0));
  cudaGraphInstantiateParams ip = {};
  ip.errNode_out = (cudaGraphNode_t)7;
  R("with params", cudaGraphInstantiateWithParams(&y, g, &ip));
  V("r", ip.result_out);
  V("node null", ip.errNode_out == nullptr);
  V("works", go(x));
  cudaGraphExecUpdateResultInfo i;
  R("update by itself", cudaGraphExecUpdate(x, g, &i));
  auto g2 = mkc();
  R("update by another", cudaGraphExecUpdate(x, g2, &i));
  R("another still instantiable", cudaGraphInstantiate(&y, g2, 0));
  M(cudaGraphExecDestroy(x));
  R("after destroy", cudaGraphInstantiate(&x, g, 0));
  V("works", go(x));
  cudaGraph_t p = mk();
  cudaGraphNode_t n;
  R("child", cudaGraphAddChildGraphNode(&n, p, 0, 0, g));
  R("destroy graph", cudaGraphDestroy(g));
  V("works", go(x));
  // the body is changed while an exec lives
  cudaGraph_t body;
  auto g3 = mkc(&body);
  M(cudaGraphInstantiate(&x, g3, 0));
  kern(body, {}, k, d + 1, 1);
  V("exec as it was", go(x));
  R("update to more", cudaGraphExecUpdate(x, g3, &i));
  M(cudaGraphExecDestroy(x));
  M(cudaGraphInstantiate(&x, g3, 0));
  V("works", go(x));
}
T(handles_of_others) {
  cudaGraph_t g = mk();
  auto h = H(g, 1, 1);
  auto a = add(g, {}, h, cudaGraphCondTypeIf, 2);
  auto hb = H(a.b[0], 1, 1);
  cudaGraphNode_t n;
  auto q = cond(hb, cudaGraphCondTypeIf, 1);
  R("sibling body", cudaGraphAddNode(&n, a.b[1], 0, 0, 0, &q));
  if (q.conditional.phGraph_out) kern(q.conditional.phGraph_out[0], {}, k, d, 3);
  V("run", run(g));
  cudaGraph_t pl = mk();
  auto hp = H(pl, 1, 1);
  (void)hp;
  kern(pl, {}, k, d, 1);
  cudaGraph_t cl, p = mk();
  R("clone with handle", cudaGraphClone(&cl, pl));
  R("child with handle", cudaGraphAddChildGraphNode(&n, p, 0, 0, pl));
  cudaGraphNodeParams mv = {};
  mv.type = cudaGraphNodeTypeGraph;
  mv.graph.graph = pl;
  mv.graph.ownership = cudaGraphChildGraphOwnershipMove;
  R("move with handle", cudaGraphAddNode(&n, p, 0, 0, 0, &mv));
  cudaGraph_t ok = mk();
  kern(ok, {}, k, d, 1);
  M(cudaGraphAddChildGraphNode(&n, p, 0, 0, ok));
  cudaGraph_t in;
  M(cudaGraphChildGraphNodeGetGraph(n, &in));
  cudaGraphConditionalHandle hx;
  R("handle in embedded child", cudaGraphConditionalHandleCreate(&hx, in, 1, 1));
  if (hx) {
    auto w = cond(hx, cudaGraphCondTypeIf, 1);
    R("conditional in embedded child", cudaGraphAddNode(&n, in, 0, 0, 0, &w));
  }
  cudaGraph_t u = mk();
  auto hu = H(u, 1, 1);
  auto un = add(u, {}, hu, cudaGraphCondTypeIf, 1);
  M(cudaGraphDestroyNode(un.n));
  cudaGraphInstantiateParams ip = {};
  cudaGraphExec_t x;
  R("handle of destroyed node", cudaGraphInstantiateWithParams(&x, u, &ip));
  V("r", ip.result_out);
  R("clone", cudaGraphClone(&cl, u));
}
T(updates) {
  auto mkc = [](unsigned init, unsigned fl, int v) {
    cudaGraph_t g = mk();
    auto h = H(g, init, fl);
    auto c = add(g, {}, h, cudaGraphCondTypeIf, 2);
    kern(c.b[0], {}, k, d, v);
    kern(c.b[1], {}, k, d, 10 * v);
    return g;
  };
  auto u = [&](const char* l, cudaGraph_t a, cudaGraph_t b) {
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, a, 0));
    cudaGraphExecUpdateResultInfo i = {};
    cudaError_t e = cudaGraphExecUpdate(x, b, &i);
    cudaGetLastError();
    printf("%s: %s %d", l, N(e), i.result);
    printf(" runs %d", go(x));
    printf(" %d\n", go(x));
  };
  u("initial 1 to 0", mkc(1, 1, 1), mkc(0, 1, 2));
  u("initial 0 to 1", mkc(0, 1, 1), mkc(1, 1, 2));
  auto ks = [](unsigned val) {
    cudaGraph_t g = mk();
    auto h = H(g, 0, 1);
    auto a = kern(g, {}, setc, h, val);
    auto c = add(g, {a}, h, cudaGraphCondTypeIf, 2);
    kern(c.b[0], {}, k, d, 1);
    kern(c.b[1], {}, k, d, 10);
    return g;
  };
  u("handle in kernel 1 to 1", ks(1), ks(1));
  u("handle in kernel 1 to 0", ks(1), ks(0));
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
