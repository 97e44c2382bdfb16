// Rule: what instantiation, update, set-params of an executable graph and node switches accept, and what runs then.
#include "graph_sections.h"

__global__ void three(int* p, int v, int w) { *p += v * w; }
__global__ void other(int* p, int v) { *p += 1000 * v; }
__device__ int sym[4];
static const char* U(int r) {
  static const char* n[] = {
      "Success",           "Error",        "TopologyChanged",           "NodeTypeChanged",  "FunctionChanged",
      "ParametersChanged", "NotSupported", "UnsupportedFunctionChange", "AttributesChanged"};
  return r >= 0 && r < 9 ? n[r] : "?";
}
static cudaKernelNodeParams kpar(void* fn, void** args) {
  cudaKernelNodeParams p = {};
  p.func = fn;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  return p;
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
T(instantiate_flags) {
  for (unsigned f = 0; f < 64; f++) {
    cudaGraph_t g = mk();
    kern(g, {}, k, d, 1);
    cudaGraphExec_t x = nullptr;
    cudaError_t e = cudaGraphInstantiate(&x, g, f);
    cudaGetLastError();
    unsigned long long got = 99;
    if (!e) M(cudaGraphExecGetFlags(x, &got));
    cudaGraphInstantiateParams ip = {};
    ip.flags = f;
    ip.uploadStream = s;
    cudaGraphExec_t y = nullptr;
    cudaError_t e2 = cudaGraphInstantiateWithParams(&y, g, &ip);
    cudaGetLastError();
    unsigned long long got2 = 99;
    if (!e2) M(cudaGraphExecGetFlags(y, &got2));
    printf("%u: %s %llu | %s %llu result %d\n", f, N(e), got, N(e2), got2, ip.result_out);
  }
  cudaGraph_t g = mk();
  kern(g, {}, k, d, 1);
  cudaGraphExec_t x;
  cudaGraphInstantiateParams ip = {};
  ip.flags = cudaGraphInstantiateFlagUpload;
  R("upload null stream", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("r", ip.result_out);
  ip = {};
  ip.result_out = (cudaGraphInstantiateResult)77;
  ip.errNode_out = (cudaGraphNode_t)5;
  R("preset", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("r", ip.result_out);
  V("n", (long long)ip.errNode_out);
  R("flags null", cudaGraphExecGetFlags(x, nullptr));
  R("upload", cudaGraphUpload(x, s));
  R("upload legacy", cudaGraphUpload(x, 0));
  R("upload per thread", cudaGraphUpload(x, cudaStreamPerThread));
  V("go", go(x));
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  R("upload into capture", cudaGraphUpload(x, s));
  cudaGraph_t q;
  R("end", cudaStreamEndCapture(s, &q));
  ip = {};
  ip.flags = 32;
  R("params 32", cudaGraphInstantiateWithParams(&x, g, &ip));
  V("r", ip.result_out);
}
T(device_launch_forbidden) {
  auto tryit = [](const char* l, cudaGraph_t g, cudaGraphNode_t n) {
    cudaGraphExec_t x;
    cudaGraphInstantiateParams ip = {};
    ip.flags = cudaGraphInstantiateFlagDeviceLaunch;
    cudaError_t e = cudaGraphInstantiateWithParams(&x, g, &ip);
    cudaGetLastError();
    printf("%s: %s result %d node %d\n", l, N(e), ip.result_out, !ip.errNode_out ? -1 : ip.errNode_out == n);
  };
  cudaGraph_t g = mk();
  tryit("empty graph", g, nullptr);
  cudaGraphNode_t n;
  M(cudaGraphAddEmptyNode(&n, g, 0, 0));
  tryit("empty node", g, n);
  auto one = [&](const char* l, auto f) {
    cudaGraph_t g = mk();
    cudaGraphNode_t n = nullptr;
    kern(g, {}, k, d, 1);
    f(g, n);
    tryit(l, g, n);
  };
  one("host", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaHostNodeParams h = {cb, 0};
    M(cudaGraphAddHostNode(&n, g, 0, 0, &h));
  });
  one("d2d", [](cudaGraph_t g, cudaGraphNode_t& n) {
    M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, d2, 16, cudaMemcpyDeviceToDevice));
  });
  one("h2d pinned", [](cudaGraph_t g, cudaGraphNode_t& n) {
    M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 16, cudaMemcpyHostToDevice));
  });
  one("h2d pageable", [](cudaGraph_t g, cudaGraphNode_t& n) {
    M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, page, 16, cudaMemcpyHostToDevice));
  });
  one("d2h pinned default", [](cudaGraph_t g, cudaGraphNode_t& n) {
    M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, pin, d, 16, cudaMemcpyDefault));
  });
  one("memset", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaMemsetParams m = {};
    m.dst = d;
    m.elementSize = 1;
    m.width = 4;
    m.height = 1;
    M(cudaGraphAddMemsetNode(&n, g, 0, 0, &m));
  });
  one("to symbol", [](cudaGraph_t g, cudaGraphNode_t& n) {
    M(cudaGraphAddMemcpyNodeToSymbol(&n, g, 0, 0, sym, pin, 16, 0, cudaMemcpyHostToDevice));
  });
  one("record", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaEvent_t e;
    M(cudaEventCreate(&e));
    M(cudaGraphAddEventRecordNode(&n, g, 0, 0, e));
  });
  one("wait", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaEvent_t e;
    M(cudaEventCreate(&e));
    M(cudaGraphAddEventWaitNode(&n, g, 0, 0, e));
  });
  one("child", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaGraph_t c = mk();
    kern(c, {}, k, d, 1);
    M(cudaGraphAddChildGraphNode(&n, g, 0, 0, c));
  });
  one("child with host", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaGraph_t c = mk();
    cudaHostNodeParams h = {cb, 0};
    M(cudaGraphAddHostNode(&n, c, 0, 0, &h));
    M(cudaGraphAddChildGraphNode(&n, g, 0, 0, c));
  });
  one("alloc", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = 64;
    M(cudaGraphAddMemAllocNode(&n, g, 0, 0, &ap));
  });
  one("conditional", [](cudaGraph_t g, cudaGraphNode_t& n) {
    cudaGraphConditionalHandle h;
    M(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = cudaGraphCondTypeIf;
    p.conditional.size = 1;
    M(cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    kern(p.conditional.phGraph_out[0], {}, k, d, 1);
  });
  one("cooperative", [](cudaGraph_t g, cudaGraphNode_t& n) {
    n = kern(g, {}, k, d, 1);
    cudaLaunchAttributeValue v = {};
    v.cooperative = 1;
    M(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
  });
  one("programmatic edge", [](cudaGraph_t g, cudaGraphNode_t& n) {
    n = kern(g, {}, k, d, 1);
    auto m = kern(g, {}, k, d, 1);
    cudaGraphEdgeData e = {};
    e.from_port = 1;
    e.type = 1;
    M(cudaGraphAddDependencies(g, &n, &m, &e, 1));
  });
  cudaGraph_t q = mk();
  kern(q, {}, k, d, 1);
  cudaGraphExec_t x, y;
  M(cudaGraphInstantiate(&x, q, cudaGraphInstantiateFlagDeviceLaunch));
  R("second device exec", cudaGraphInstantiate(&y, q, cudaGraphInstantiateFlagDeviceLaunch));
  M(cudaGraphUpload(x, s));
  V("go", go(x));
  cudaGraphExecUpdateResultInfo i = {};
  cudaGraph_t q2 = mk();
  kern(q2, {}, k, d, 7);
  R("update device exec", cudaGraphExecUpdate(x, q2, &i));
  V("r", i.result);
  V("go", go(x));
  cudaGraph_t q3 = mk();
  auto a3 = kern(q3, {}, k, d, 7);
  cudaLaunchAttributeValue v = {};
  v.cooperative = 1;
  M(cudaGraphKernelNodeSetAttribute(a3, cudaLaunchAttributeCooperative, &v));
  R("update to cooperative", cudaGraphExecUpdate(x, q3, &i));
  V("r", i.result);
}
T(conditional_twice) {
  cudaGraph_t g = mk();
  cudaGraphConditionalHandle h;
  M(cudaGraphConditionalHandleCreate(&h, g, 1, 1));
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  cudaGraphNode_t n;
  M(cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  kern(p.conditional.phGraph_out[0], {}, k, d, 5);
  cudaGraphExec_t x, y, z;
  R("first", cudaGraphInstantiate(&x, g, 0));
  cudaGraphInstantiateParams ip = {};
  R("second", cudaGraphInstantiateWithParams(&y, g, &ip));
  V("r", ip.result_out);
  V("x", go(x));
  R("destroy first", cudaGraphExecDestroy(x));
  ip = {};
  R("third", cudaGraphInstantiateWithParams(&z, g, &ip));
  V("r", ip.result_out);
  if (ip.result_out == 0) V("z", go(z));
}
static void upd(const char* l, cudaGraph_t a, cudaGraph_t b, bool launch = true) {
  cudaGraphExec_t x = nullptr;
  M(cudaGraphInstantiate(&x, a, 0));
  cudaGraphExecUpdateResultInfo i;
  memset(&i, 0x11, sizeof i);
  cudaError_t r = cudaGraphExecUpdate(x, b, &i), le = cudaGetLastError();
  size_t nn = 32;
  cudaGraphNode_t ns[32];
  M(cudaGraphGetNodes(b, ns, &nn));
  int at = -1, fa = -1;
  for (size_t j = 0; j < nn; j++) {
    if (ns[j] == i.errorNode) at = j;
    if (ns[j] == i.errorFromNode) fa = j;
  }
  printf("%s: %s last %s result %s node %s%d from %s%d", l, N(r), N(le), U(i.result), i.errorNode ? "" : "null ", at,
         i.errorFromNode ? "" : "null ", fa);
  if (launch) printf(" runs %d", go(x, 1));
  puts("");
  M(cudaGraphExecDestroy(x));
  fflush(stdout);
}
T(update_kernels) {
  auto line = [](auto... fs) {
    cudaGraph_t g = mk();
    std::vector<cudaGraphNode_t> last;
    (void)std::initializer_list<int>{(last = {fs(g, last)}, 0)...};
    return g;
  };
  auto K = [](void (*f)(int*, int), int v) {
    return [=](cudaGraph_t g, std::vector<cudaGraphNode_t> l) { return kern(g, l, f, d, v); };
  };
  upd("args", line(K(put, 1), K(k, 2), K(mul, 3)), line(K(put, 4), K(k, 5), K(mul, 6)));
  upd("function", line(K(put, 1), K(k, 2)), line(K(put, 1), K(other, 2)));
  upd("function swapped", line(K(put, 1), K(k, 2)), line(K(k, 2), K(put, 1)));
  upd("longer", line(K(put, 1), K(k, 2)), line(K(put, 1), K(k, 2), K(k, 2)));
  upd("shorter", line(K(put, 1), K(k, 2), K(k, 5)), line(K(put, 1), K(k, 2)));
  auto dims = [](dim3 gd, dim3 bd, unsigned sh) {
    cudaGraph_t g = mk();
    int v = 1;
    void* args[] = {&d, &v};
    auto p = kpar((void*)k, args);
    p.gridDim = gd;
    p.blockDim = bd;
    p.sharedMemBytes = sh;
    cudaGraphNode_t n;
    M(cudaGraphAddKernelNode(&n, g, 0, 0, &p));
    return g;
  };
  upd("dims", dims(dim3(1), dim3(1), 0), dims(dim3(2, 2), dim3(3), 64), false);
  cudaGraph_t same = line(K(put, 1), K(k, 2));
  cudaGraph_t cl;
  M(cudaGraphClone(&cl, same));
  upd("clone", same, cl);
  upd("itself", same, same);
  // two independent nodes in swapped order of addition
  auto pair = [](bool sw) {
    cudaGraph_t g = mk();
    if (sw) {
      kern(g, {}, k, d + 1, 1);
      kern(g, {}, put, d, 9);
    } else {
      kern(g, {}, put, d, 9);
      kern(g, {}, k, d + 1, 1);
    }
    return g;
  };
  upd("independent swapped", pair(false), pair(true));
  auto fork = [](int order) {
    cudaGraph_t g = mk();
    auto r = kern(g, {}, put, d, 1);
    if (order) {
      kern(g, {r}, k, d + 2, 2);
      kern(g, {r}, k, d + 1, 1);
    } else {
      kern(g, {r}, k, d + 1, 1);
      kern(g, {r}, k, d + 2, 2);
    }
    return g;
  };
  upd("fork swapped", fork(0), fork(1));
  // edges the other way
  auto edge = [](bool rev) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, put, d, 1), b = kern(g, {}, put, d, 2);
    if (rev)
      M(cudaGraphAddDependencies(g, &b, &a, 0, 1));
    else
      M(cudaGraphAddDependencies(g, &a, &b, 0, 1));
    return g;
  };
  upd("edge reversed", edge(false), edge(true));
  auto tri = [](int w) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, put, d, 1), b = kern(g, {a}, k, d, 1), c = kern(g, {w ? b : a}, k, d + 1, 1);
    if (w == 2) M(cudaGraphAddDependencies(g, &a, &c, 0, 1));
    return g;
  };
  upd("edge moved", tri(0), tri(1));
  upd("edge more", tri(1), tri(2));
  upd("edge less", tri(2), tri(1));
  auto prog = [](int port, int type) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, k, d, 1), b = kern(g, {}, k, d + 1, 1);
    cudaGraphEdgeData e = {};
    e.from_port = port;
    e.type = type;
    M(cudaGraphAddDependencies(g, &a, &b, &e, 1));
    return g;
  };
  upd("edge data to programmatic", prog(0, 0), prog(1, 1));
  upd("edge data from programmatic", prog(1, 1), prog(0, 0));
  upd("edge data port", prog(1, 1), prog(2, 1));
  upd("edge data same", prog(1, 1), prog(1, 1));
  auto pr = [](int p) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, k, d, 1);
    cudaLaunchAttributeValue v = {};
    v.priority = p;
    M(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &v));
    return g;
  };
  upd("priority", pr(-1), pr(-2));
  upd("priority unset", pr(-1), line(K(k, 1)));
  R("null info", [&] {
    cudaGraphExec_t x;
    M(cudaGraphInstantiate(&x, same, 0));
    return cudaGraphExecUpdate(x, cl, nullptr);
  }());
}
T(update_mixed) {
  auto host = [](cudaHostFn_t f, void* u) {
    cudaGraph_t g = mk();
    cudaHostNodeParams h = {f, u};
    cudaGraphNode_t n;
    M(cudaGraphAddHostNode(&n, g, 0, 0, &h));
    return g;
  };
  static int a, b;
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, host(inc, &a), 0));
  cudaGraphExecUpdateResultInfo i = {};
  R("host", cudaGraphExecUpdate(x, host(inc, &b), &i));
  go(x);
  printf("%d %d\n", a, b);
  auto alloc = [](size_t n) {
    cudaGraph_t g = mk();
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = n;
    cudaGraphNode_t al, f;
    M(cudaGraphAddMemAllocNode(&al, g, 0, 0, &ap));
    auto kk = kern(g, {al}, put, (int*)ap.dptr, 1);
    M(cudaGraphAddMemFreeNode(&f, g, &kk, 1, ap.dptr));
    return g;
  };
  upd("memory", alloc(64), alloc(64));
  upd("memory larger", alloc(64), alloc(1 << 20));
  {
    auto g = alloc(64);
    upd("memory itself", g, g);
  }
  auto cond = [](unsigned init, int v, cudaGraphConditionalNodeType t = cudaGraphCondTypeIf, unsigned size = 1) {
    cudaGraph_t g = mk();
    cudaGraphConditionalHandle h;
    M(cudaGraphConditionalHandleCreate(&h, g, init, 1));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = t;
    p.conditional.size = size;
    cudaGraphNode_t n;
    M(cudaGraphAddNode(&n, g, 0, 0, 0, &p));
    for (unsigned j = 0; j < size; j++) kern(p.conditional.phGraph_out[j], {}, k, d, v + j);
    return g;
  };
  upd("conditional body args", cond(1, 5), cond(1, 6));
  upd("conditional initial", cond(1, 5), cond(0, 5));
  upd("conditional type", cond(1, 5), cond(1, 5, cudaGraphCondTypeSwitch));
  upd("conditional size", cond(1, 5), cond(1, 5, cudaGraphCondTypeIf, 2));
  {
    auto g = cond(1, 5);
    upd("conditional itself", g, g);
  }
  auto child = [](cudaGraph_t c) {
    cudaGraph_t g = mk();
    cudaGraphNode_t n;
    M(cudaGraphAddChildGraphNode(&n, g, 0, 0, c));
    return g;
  };
  auto leaf = [](void (*f)(int*, int), int v) {
    cudaGraph_t g = mk();
    kern(g, {}, f, d, v);
    return g;
  };
  upd("child args", child(leaf(k, 1)), child(leaf(k, 2)));
  upd("child function", child(leaf(k, 1)), child(leaf(other, 2)));
  upd("nested", child(child(leaf(k, 1))), child(child(leaf(k, 9))));
  upd("child flattened", child(leaf(k, 1)), leaf(k, 1));
  auto two = [](int v) {
    cudaGraph_t g = mk();
    auto q = kern(g, {}, k, d, v);
    kern(g, {q}, k, d, v);
    return g;
  };
  upd("child longer", child(leaf(k, 1)), child(two(1)));
  auto cp = [](void* t, const void* f, size_t n, cudaMemcpyKind kk) {
    cudaGraph_t g = mk();
    cudaGraphNode_t x;
    M(cudaGraphAddMemcpyNode1D(&x, g, 0, 0, t, f, n, kk));
    return g;
  };
  pin[0] = 77;
  pin2[0] = 88;
  upd("copy source", cp(d, pin, 4, cudaMemcpyHostToDevice), cp(d, pin2, 4, cudaMemcpyHostToDevice));
  upd("copy beyond", cp(d, pin, 4, cudaMemcpyHostToDevice), cp(d, pin2, 64, cudaMemcpyHostToDevice));
  upd("copy to memset", cp(d, pin, 4, cudaMemcpyHostToDevice), leaf(k, 1));
  auto c2 = [](size_t w, size_t h) {
    cudaGraph_t g = mk();
    cudaGraphNode_t x;
    cudaMemcpy3DParms c = {};
    c.srcPtr = make_cudaPitchedPtr(pin, 64, 16, 8);
    c.dstPtr = make_cudaPitchedPtr(d, 64, 16, 8);
    c.extent = make_cudaExtent(w, h, 1);
    c.kind = cudaMemcpyHostToDevice;
    M(cudaGraphAddMemcpyNode(&x, g, 0, 0, &c));
    return g;
  };
  upd("copy 2d width", c2(16, 2), c2(8, 2));
  upd("copy 2d height", c2(16, 2), c2(16, 3));
  upd("copy 2d same", c2(16, 2), c2(16, 2));
  upd("copy 1d to 2d", c2(16, 1), c2(16, 2));
  upd("copy 2d to 1d", c2(16, 2), c2(16, 1));
  upd("copy 1d node to 3d node", cp(d, pin, 16, cudaMemcpyHostToDevice), c2(16, 1));
  cudaEvent_t e1, e2;
  M(cudaEventCreate(&e1));
  M(cudaEventCreate(&e2));
  auto er = [](cudaEvent_t e, bool w) {
    cudaGraph_t g = mk();
    cudaGraphNode_t n;
    if (w)
      M(cudaGraphAddEventWaitNode(&n, g, 0, 0, e));
    else
      M(cudaGraphAddEventRecordNode(&n, g, 0, 0, e));
    return g;
  };
  upd("event", er(e1, false), er(e2, false));
  upd("record to wait", er(e1, false), er(e1, true));
  R("instantiate during capture", [&] {
    M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    cudaGraphExec_t y;
    cudaError_t e = cudaGraphInstantiate(&y, leaf(k, 1), 0);
    cudaGraph_t q;
    M(cudaStreamEndCapture(s, &q));
    return e;
  }());
}
T(exec_set_params) {
  cudaGraph_t g = mk();
  auto a = kern(g, {}, put, d, 1), b = kern(g, {a}, k, d, 2);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  V("go", go(x));
  int v = 10, w = 3;
  void* args[] = {&d, &v, &w};
  auto p = kpar((void*)k, args);
  R("args", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  v = 20;
  V("by value", go(x));
  p.func = (void*)other;
  R("function", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  p.func = (void*)three;
  R("function of three", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  p = kpar((void*)k, args);
  p.gridDim = dim3(4);
  p.blockDim = dim3(8);
  R("dims", cudaGraphExecKernelNodeSetParams(x, b, &p));
  go(x);
  p.blockDim = dim3(4096);
  R("bad", cudaGraphExecKernelNodeSetParams(x, b, &p));
  p = kpar((void*)k, args);
  M(cudaGraphExecKernelNodeSetParams(x, b, &p));
  p.kernelParams = nullptr;
  R("no params", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  cudaKernelNodeParams got;
  M(cudaGraphKernelNodeGetParams(b, &got));
  V("graph's own", *(int*)got.kernelParams[1]);
  cudaGraphExec_t y;
  M(cudaGraphInstantiate(&y, g, 0));
  V("second exec", go(y));
  V("first exec", go(x));
  cudaGraph_t cl;
  M(cudaGraphClone(&cl, g));
  cudaGraphNode_t bc;
  M(cudaGraphNodeFindInClone(&bc, b, cl));
  p = kpar((void*)k, args);
  R("node of clone", cudaGraphExecKernelNodeSetParams(x, bc, &p));
  cudaGraphExec_t z;
  M(cudaGraphInstantiate(&z, cl, 0));
  R("node of the original in clone's exec", cudaGraphExecKernelNodeSetParams(z, b, &p));
  R("node of clone in its exec", cudaGraphExecKernelNodeSetParams(z, bc, &p));
  cudaGraphExecUpdateResultInfo i;
  M(cudaGraphExecUpdate(x, cl, &i));
  v = 500;
  R("after update: old node", cudaGraphExecKernelNodeSetParams(x, b, &p));
  V("go", go(x));
  R("after update: new node", cudaGraphExecKernelNodeSetParams(x, bc, &p));
  R("graph changed", [&] {
    v = 7;
    auto q = kpar((void*)k, args);
    return cudaGraphKernelNodeSetParams(b, &q);
  }());
  V("first exec", go(x));
  M(cudaGraphDestroyNode(a));
  v = 600;
  R("sibling destroyed", cudaGraphExecKernelNodeSetParams(y, b, &p));
  V("go", go(y));
}
T(exec_set_copies) {
  cudaGraph_t g = mk();
  cudaGraphNode_t c, m, h2;
  M(cudaGraphAddMemcpyNode1D(&c, g, 0, 0, d, pin, 4, cudaMemcpyHostToDevice));
  cudaMemsetParams mp = {};
  mp.dst = d + 16;
  mp.value = 1;
  mp.elementSize = 4;
  mp.width = 2;
  mp.height = 1;
  M(cudaGraphAddMemsetNode(&m, g, &c, 1, &mp));
  cudaMemcpy3DParms t = {};
  t.srcPtr = make_cudaPitchedPtr(pin, 64, 16, 8);
  t.dstPtr = make_cudaPitchedPtr(d + 64, 64, 16, 8);
  t.extent = make_cudaExtent(16, 2, 1);
  t.kind = cudaMemcpyHostToDevice;
  M(cudaGraphAddMemcpyNode(&h2, g, &m, 1, &t));
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  pin[0] = 5;
  pin2[0] = 6;
  page[0] = 8;
  set(9, 300);
  auto S = [&](const char* l, void* to, const void* from, size_t n, cudaMemcpyKind kk) {
    R(l, cudaGraphExecMemcpyNodeSetParams1D(x, c, to, from, n, kk));
    printf("  runs %d\n", go(x));
  };
  V("go", go(x));
  S("source", d, pin2, 4, cudaMemcpyHostToDevice);
  S("pageable", d, page, 4, cudaMemcpyHostToDevice);
  S("d2d", d, d + 300, 4, cudaMemcpyDeviceToDevice);
  S("d2h", pin, d, 4, cudaMemcpyDeviceToHost);
  S("default h2d", d, pin2, 4, cudaMemcpyDefault);
  S("longer", d, pin2, 32, cudaMemcpyHostToDevice);
  S("kind 9", d, pin, 4, (cudaMemcpyKind)9);
  S("beyond", d, pin, 100000, cudaMemcpyHostToDevice);
  R("to symbol", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, c, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  R("to symbol d2h", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, c, sym, pin, 4, 0, cudaMemcpyDeviceToHost));
  R("to symbol off", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, c, sym, pin, 4, 16, cudaMemcpyHostToDevice));
  R("from symbol", cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, c, pin, sym, 4, 0, cudaMemcpyDeviceToHost));
  R("from symbol d2d", cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, c, d, sym, 4, 0, cudaMemcpyDeviceToDevice));
  R("bad symbol", cudaGraphExecMemcpyNodeSetParamsToSymbol(x, c, page, pin, 4, 0, cudaMemcpyHostToDevice));
  R("null exec", cudaGraphExecMemcpyNodeSetParamsToSymbol(nullptr, c, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  auto E = [&](const char* l, cudaGraphNode_t n, cudaMemcpy3DParms q) {
    R(l, cudaGraphExecMemcpyNodeSetParams(x, n, &q));
  };
  auto q = t;
  E("1d by 3d of one row", c, [&] {
    auto r = t;
    r.extent = make_cudaExtent(8, 1, 1);
    return r;
  }());
  E("1d by 2d", c, t);
  E("2d same", h2, t);
  q.extent.width = 8;
  E("2d width", h2, q);
  q = t;
  q.extent.height = 3;
  E("2d height", h2, q);
  q = t;
  q.dstPtr.pitch = 128;
  E("2d pitch", h2, q);
  q = t;
  q.dstPtr.ptr = d + 128;
  E("2d dst", h2, q);
  q = t;
  q.srcPtr.ptr = page;
  E("2d pageable", h2, q);
  q = t;
  q.kind = cudaMemcpyDefault;
  E("2d default", h2, q);
  q = t;
  q.extent.height = 1;
  E("2d to 1d", h2, q);
  R("2d by 1d", cudaGraphExecMemcpyNodeSetParams1D(x, h2, d, pin, 16, cudaMemcpyHostToDevice));
  q = t;
  q.srcPos = make_cudaPos(4, 1, 0);
  E("2d pos", h2, q);
  R("null", cudaGraphExecMemcpyNodeSetParams(x, h2, nullptr));
  auto F = [&](const char* l, cudaMemsetParams r) { R(l, cudaGraphExecMemsetNodeSetParams(x, m, &r)); };
  auto r = mp;
  r.value = 4;
  F("set value", r);
  r.width = 3;
  F("set width", r);
  r = mp;
  r.dst = d2;
  F("set dst", r);
  r.dst = pin;
  F("set dst pinned", r);
  r = mp;
  r.elementSize = 2;
  F("set elt", r);
  r = mp;
  r.height = 2;
  r.pitch = 64;
  F("set 2d", r);
  r = mp;
  r.elementSize = 3;
  F("set elt 3", r);
  r = mp;
  r.dst = page;
  F("set page", r);
  R("set null", cudaGraphExecMemsetNodeSetParams(x, m, nullptr));
  R("set wrong node", cudaGraphExecMemsetNodeSetParams(x, c, &mp));
  go(x);
  cudaGraph_t g2 = mk();
  cudaGraphNode_t m2;
  mp.height = 3;
  mp.pitch = 64;
  M(cudaGraphAddMemsetNode(&m2, g2, 0, 0, &mp));
  M(cudaGraphInstantiate(&x, g2, 0));
  m = m2;
  r = mp;
  r.value = 9;
  F("2d value", r);
  r = mp;
  r.dst = d2;
  F("2d dst", r);
  r = mp;
  r.width = 1;
  F("2d width", r);
  r = mp;
  r.height = 2;
  F("2d height", r);
  r = mp;
  r.pitch = 128;
  F("2d pitch", r);
  r = mp;
  r.elementSize = 1;
  F("2d elt", r);
  r = mp;
  r.height = 1;
  F("2d to 1d", r);
}
T(enabled) {
  cudaGraph_t g = mk();
  auto a = kern(g, {}, put, d, 3), b = kern(g, {a}, mul, d, 10), c = kern(g, {b}, k, d, 1);
  cudaGraphNode_t ms, cp;
  cudaMemsetParams mp = {};
  mp.dst = d + 1;
  mp.value = 7;
  mp.elementSize = 4;
  mp.width = 1;
  mp.height = 1;
  M(cudaGraphAddMemsetNode(&ms, g, &c, 1, &mp));
  M(cudaGraphAddMemcpyNode1D(&cp, g, &ms, 1, d + 2, d + 1, 4, cudaMemcpyDeviceToDevice));
  cudaGraphExec_t x, y;
  M(cudaGraphInstantiate(&x, g, 0));
  M(cudaGraphInstantiate(&y, g, 0));
  auto show = [&](const char* l) {
    set(0, 1);
    set(0, 2);
    int v = go(x, 1);
    printf("%s: %d %d %d\n", l, v, get(1), get(2));
  };
  show("all");
  M(cudaGraphNodeSetEnabled(x, b, 0));
  show("b off");
  M(cudaGraphNodeSetEnabled(x, a, 0));
  show("a b off");
  M(cudaGraphNodeSetEnabled(x, ms, 0));
  show("set off");
  M(cudaGraphNodeSetEnabled(x, cp, 0));
  show("copy off");
  M(cudaGraphNodeSetEnabled(x, c, 0));
  show("all off");
  unsigned e;
  for (auto n : {a, b, c, ms, cp}) {
    M(cudaGraphNodeGetEnabled(x, n, &e));
    printf("%u", e);
    M(cudaGraphNodeGetEnabled(y, n, &e));
    printf("%u ", e);
  }
  puts("");
  int v = 50;
  void* args[] = {&d, &v};
  auto p = kpar((void*)put, args);
  R("set while off", cudaGraphExecKernelNodeSetParams(x, a, &p));
  show("still off");
  M(cudaGraphNodeGetEnabled(x, a, &e));
  V("e", e);
  M(cudaGraphNodeSetEnabled(x, a, 1));
  show("a on with new");
  cudaGraph_t cl;
  M(cudaGraphClone(&cl, g));
  cudaGraphExecUpdateResultInfo i;
  R("update", cudaGraphExecUpdate(x, cl, &i));
  for (auto n : {a, b, c, ms, cp}) {
    M(cudaGraphNodeGetEnabled(x, n, &e));
    printf("%u ", e);
  }
  puts("");
  show("after update");
  for (auto n : {a, b, c, ms, cp}) M(cudaGraphNodeSetEnabled(x, n, 1));
  show("on");
  R("upload", cudaGraphUpload(x, s));
  M(cudaGraphNodeSetEnabled(x, c, 0));
  show("after upload");
  cudaGraphNode_t cb2;
  M(cudaGraphNodeFindInClone(&cb2, c, cl));
  R("clone's node", cudaGraphNodeSetEnabled(x, cb2, 1));
  R("clone's node get", cudaGraphNodeGetEnabled(x, cb2, &e));
  // device-launch exec, programmatic edges
  cudaGraph_t q = mk();
  auto qa = kern(q, {}, put, d, 4), qb = kern(q, {}, k, d, 1);
  cudaGraphEdgeData ed = {};
  ed.from_port = 1;
  ed.type = 1;
  M(cudaGraphAddDependencies(q, &qa, &qb, &ed, 1));
  M(cudaGraphInstantiate(&x, q, 0));
  R("off with programmatic", cudaGraphNodeSetEnabled(x, qa, 0));
  V("go", go(x, 10));
}
T(in_flight) {
  // parameters are those of the time of the launch
  cudaGraph_t g = mk();
  static std::atomic<int> gate;
  gate = 0;
  cudaHostNodeParams h = {[](void*) {
                            while (!gate) std::this_thread::yield();
                          },
                          0};
  cudaGraphNode_t hn;
  M(cudaGraphAddHostNode(&hn, g, 0, 0, &h));
  auto a = kern(g, {hn}, put, d, 1);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  set(0);
  M(cudaGraphLaunch(x, s));
  int v = 2;
  void* args[] = {&d, &v};
  auto p = kpar((void*)put, args);
  R("set in flight", cudaGraphExecKernelNodeSetParams(x, a, &p));
  cudaGraphExecUpdateResultInfo i;
  R("update in flight", cudaGraphExecUpdate(x, g, &i));
  R("disable in flight", cudaGraphNodeSetEnabled(x, a, 0));
  R("query", cudaStreamQuery(s));
  M(cudaMemcpyAsync(pin, d, 4, cudaMemcpyDeviceToHost, s));
  R("upload in flight", cudaGraphUpload(x, s));
  M(cudaGraphLaunch(x, s));
  R("destroy in flight", cudaGraphExecDestroy(x));
  R("destroy graph", cudaGraphDestroy(g));
  gate = 1;
  M(cudaStreamSynchronize(s));
  V("seen", pin[0]);
  V("after", get());
}
T(two_streams) {
  // an exec never overlaps itself
  cudaGraph_t g = mk();
  auto last = kern(g, {}, k, d, 1);
  for (int i = 0; i < 50; i++) last = kern(g, {last}, k, d, 1);
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  set(0);
  cudaStream_t q[4];
  for (auto& t : q) M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  for (int r = 0; r < 20; r++)
    for (auto& t : q) M(cudaGraphLaunch(x, t));
  M(cudaDeviceSynchronize());
  V("sum", get());
  R("legacy", cudaGraphLaunch(x, 0));
  R("per thread", cudaGraphLaunch(x, cudaStreamPerThread));
  M(cudaDeviceSynchronize());
  V("sum", get());
  cudaGraph_t e = mk();
  M(cudaGraphInstantiate(&x, e, 0));
  R("launch empty", cudaGraphLaunch(x, s));
  R("sync", cudaStreamSynchronize(s));
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
