// Rule: what get calls tell of a node's parameters after it was added or set, and what set calls refuse.
#include "graph_sections.h"

__device__ int sym[16];
__constant__ int csym[16];
struct Big {
  char a;
  double b;
  short c[5];
};
__global__ void kb(Big b, int* p) { *p = b.c[4]; }
static void showk(const char* l, cudaGraphNode_t n) {
  cudaKernelNodeParams p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphKernelNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  printf("%s: func %d grid %u %u %u block %u %u %u shared %u params %d extra %d", l,
         p.func == (void*)k        ? 1
         : p.func == (void*)put    ? 2
         : p.func == (void*)noargs ? 3
         : p.func == (void*)kb     ? 4
                                   : 0,
         p.gridDim.x, p.gridDim.y, p.gridDim.z, p.blockDim.x, p.blockDim.y, p.blockDim.z, p.sharedMemBytes,
         p.kernelParams != nullptr, p.extra != nullptr);
  if (p.kernelParams && (p.func == (void*)k || p.func == (void*)put))
    printf(" args %s %d", P(*(void**)p.kernelParams[0]).c_str(), *(int*)p.kernelParams[1]);
  puts("");
}
static void showc(const char* l, cudaGraphNode_t n) {
  cudaMemcpy3DParms p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphMemcpyNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  void* sa = nullptr;
  cudaGetSymbolAddress(&sa, sym);
  void* ca = nullptr;
  cudaGetSymbolAddress(&ca, csym);
  auto Q = [&](void* q) {
    if (q >= sa && q < (char*)sa + 64) return std::string("sym+") + std::to_string((char*)q - (char*)sa);
    if (q >= ca && q < (char*)ca + 64) return std::string("csym+") + std::to_string((char*)q - (char*)ca);
    return P(q);
  };
  printf("%s: src %s arr %d pitch %zu x %zu y %zu pos %zu %zu %zu | dst %s arr %d pitch %zu x %zu y %zu pos %zu %zu "
         "%zu | ext %zu %zu %zu kind %d\n",
         l, Q(p.srcPtr.ptr).c_str(), p.srcArray != nullptr, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize, p.srcPos.x,
         p.srcPos.y, p.srcPos.z, Q(p.dstPtr.ptr).c_str(), p.dstArray != nullptr, p.dstPtr.pitch, p.dstPtr.xsize,
         p.dstPtr.ysize, p.dstPos.x, p.dstPos.y, p.dstPos.z, p.extent.width, p.extent.height, p.extent.depth, p.kind);
}
static void showm(const char* l, cudaGraphNode_t n) {
  cudaMemsetParams p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphMemsetNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  printf("%s: dst %s pitch %zu value %x elt %u width %zu height %zu\n", l, P(p.dst).c_str(), p.pitch, p.value,
         p.elementSize, p.width, p.height);
}
T(kernel_get_set) {
  cudaGraph_t g = mk();
  int v = 7;
  int* p = d;
  void* args[] = {&p, &v};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)k;
  kp.gridDim = dim3(2, 3, 4);
  kp.blockDim = dim3(5, 6, 7);
  kp.sharedMemBytes = 100;
  kp.kernelParams = args;
  cudaGraphNode_t n, m = nullptr;
  M(cudaGraphAddKernelNode(&n, g, 0, 0, &kp));
  v = 9;
  p = d2;
  showk("added", n);
  kp.func = (void*)put;
  kp.gridDim = dim3(1);
  M(cudaGraphKernelNodeSetParams(n, &kp));
  showk("set", n);
  auto q = kp;
  q.blockDim = dim3(2000);
  R("bad block", cudaGraphKernelNodeSetParams(n, &q));
  showk("after bad", n);
  q = kp;
  q.func = nullptr;
  R("null func", cudaGraphKernelNodeSetParams(n, &q));
  q = kp;
  q.kernelParams = nullptr;
  R("no params", cudaGraphKernelNodeSetParams(n, &q));
  q = kp;
  q.sharedMemBytes = 50000;
  R("shared", cudaGraphKernelNodeSetParams(n, &q));
  q = kp;
  q.gridDim = dim3(0);
  R("grid 0", cudaGraphKernelNodeSetParams(n, &q));
  showk("after all", n);
  q = kp;
  q.func = (void*)noargs;
  q.kernelParams = nullptr;
  R("noargs", cudaGraphKernelNodeSetParams(n, &q));
  showk("noargs", n);
  q.kernelParams = args;
  R("noargs with params", cudaGraphKernelNodeSetParams(n, &q));
  showk("noargs with params", n);
  struct {
    int* p;
    int v;
    int more;
  } buf = {d, 33, 0};
  size_t bs = 12;
  void* extra[] = {(void*)1, &buf, (void*)2, &bs, (void*)0};
  q = {};
  q.func = (void*)k;
  q.gridDim = q.blockDim = dim3(1);
  q.extra = extra;
  R("extra add", cudaGraphAddKernelNode(&m, g, 0, 0, &q));
  showk("extra", m);
  if (!m) m = n;
  V("run", run(g));
  q.kernelParams = args;
  R("both", cudaGraphKernelNodeSetParams(m, &q));
  // what get gives can be given back
  cudaKernelNodeParams got;
  M(cudaGraphKernelNodeGetParams(m, &got));
  R("given back", cudaGraphKernelNodeSetParams(m, &got));
}
T(copy_get_set) {
  cudaGraph_t g = mk();
  cudaGraphNode_t n;
  M(cudaGraphAddMemcpyNode1D(&n, g, 0, 0, d, pin, 100, cudaMemcpyHostToDevice));
  showc("1d", n);
  R("set 1d default", cudaGraphMemcpyNodeSetParams1D(n, pin2, d2, 60, cudaMemcpyDefault));
  showc("1d default", n);
  R("set 1d h2h", cudaGraphMemcpyNodeSetParams1D(n, page, page2, 60, cudaMemcpyHostToHost));
  showc("1d h2h", n);
  R("set 1d bad kind", cudaGraphMemcpyNodeSetParams1D(n, d, page2, 60, (cudaMemcpyKind)5));
  showc("bad", n);
  R("set 1d 0", cudaGraphMemcpyNodeSetParams1D(n, d, page2, 0, cudaMemcpyHostToDevice));
  R("set 1d null dst", cudaGraphMemcpyNodeSetParams1D(n, nullptr, page2, 4, cudaMemcpyHostToDevice));
  R("set 1d null src", cudaGraphMemcpyNodeSetParams1D(n, d, nullptr, 4, cudaMemcpyHostToDevice));
  R("set 1d null node", cudaGraphMemcpyNodeSetParams1D(nullptr, d, page2, 4, cudaMemcpyHostToDevice));
  R("set to symbol", cudaGraphMemcpyNodeSetParamsToSymbol(n, sym, pin, 16, 8, cudaMemcpyHostToDevice));
  showc("to symbol", n);
  R("set to symbol default", cudaGraphMemcpyNodeSetParamsToSymbol(n, csym, pin, 16, 8, cudaMemcpyDefault));
  showc("to symbol default", n);
  R("set to symbol off", cudaGraphMemcpyNodeSetParamsToSymbol(n, sym, pin, 16, 64, cudaMemcpyHostToDevice));
  R("set to symbol d2h", cudaGraphMemcpyNodeSetParamsToSymbol(n, sym, pin, 16, 0, cudaMemcpyDeviceToHost));
  R("set to symbol bad", cudaGraphMemcpyNodeSetParamsToSymbol(n, page, pin, 16, 0, cudaMemcpyHostToDevice));
  R("set to symbol d2d", cudaGraphMemcpyNodeSetParamsToSymbol(n, sym, d, 16, 0, cudaMemcpyDeviceToDevice));
  showc("to symbol d2d", n);
  R("set from symbol", cudaGraphMemcpyNodeSetParamsFromSymbol(n, pin, sym, 16, 4, cudaMemcpyDeviceToHost));
  showc("from symbol", n);
  R("set from symbol d2d", cudaGraphMemcpyNodeSetParamsFromSymbol(n, d, sym, 16, 4, cudaMemcpyDeviceToDevice));
  showc("from symbol d2d", n);
  R("set from symbol h2d", cudaGraphMemcpyNodeSetParamsFromSymbol(n, pin, sym, 16, 4, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(pin, 32, 20, 8);
  c.dstPtr = make_cudaPitchedPtr(d, 64, 21, 9);
  c.srcPos = make_cudaPos(4, 1, 0);
  c.dstPos = make_cudaPos(8, 2, 0);
  c.extent = make_cudaExtent(12, 3, 1);
  c.kind = cudaMemcpyHostToDevice;
  R("set 3d", cudaGraphMemcpyNodeSetParams(n, &c));
  showc("3d", n);
  c.extent.depth = 2;
  c.srcPos.z = 1;
  c.kind = cudaMemcpyDefault;
  R("set 3d 2", cudaGraphMemcpyNodeSetParams(n, &c));
  showc("3d 2", n);
  auto q = c;
  q.extent.width = 0;
  R("3d w0", cudaGraphMemcpyNodeSetParams(n, &q));
  q = c;
  q.srcPtr.ptr = nullptr;
  R("3d null src", cudaGraphMemcpyNodeSetParams(n, &q));
  q = c;
  q.srcPtr.pitch = 8;
  R("3d pitch", cudaGraphMemcpyNodeSetParams(n, &q));
  q = c;
  q.kind = cudaMemcpyDeviceToHost;
  R("3d direction", cudaGraphMemcpyNodeSetParams(n, &q));
  showc("after bad", n);
  cudaArray_t arr;
  cudaChannelFormatDesc cd = cudaCreateChannelDesc<int>();
  M(cudaMallocArray(&arr, &cd, 16, 8));
  q = c;
  q.dstPtr = {};
  q.dstArray = arr;
  q.extent = make_cudaExtent(4, 3, 1);
  q.srcPos = {};
  q.dstPos = make_cudaPos(1, 1, 0);
  R("3d array", cudaGraphMemcpyNodeSetParams(n, &q));
  showc("array", n);
  q.dstPtr = c.dstPtr;
  R("both dst", cudaGraphMemcpyNodeSetParams(n, &q));
  q.dstPtr = {};
  q.dstArray = nullptr;
  R("no dst", cudaGraphMemcpyNodeSetParams(n, &q));
  R("null", cudaGraphMemcpyNodeSetParams(n, nullptr));
  R("get null", cudaGraphMemcpyNodeGetParams(n, nullptr));
  R("get null node", cudaGraphMemcpyNodeGetParams(nullptr, &c));
  cudaMemcpy3DParms got;
  M(cudaGraphMemcpyNodeGetParams(n, &got));
  R("given back", cudaGraphMemcpyNodeSetParams(n, &got));
  M(cudaGraphMemcpyNodeSetParams1D(n, d, pin, 64, cudaMemcpyHostToDevice));
  M(cudaGraphMemcpyNodeGetParams(n, &got));
  R("1d given back", cudaGraphMemcpyNodeSetParams(n, &got));
  showc("1d given back", n);
  cudaGraphNode_t m;
  M(cudaGraphAddMemcpyNodeToSymbol(&m, g, 0, 0, csym, page, 20, 4, cudaMemcpyHostToDevice));
  showc("add to symbol", m);
  M(cudaGraphAddMemcpyNodeFromSymbol(&m, g, 0, 0, page, sym, 20, 4, cudaMemcpyDefault));
  showc("add from symbol", m);
}
T(set_get_set) {
  cudaGraph_t g = mk();
  cudaGraphNode_t n;
  cudaMemsetParams p = {};
  p.dst = d;
  p.pitch = 77;
  p.value = 0x12345678;
  p.elementSize = 4;
  p.width = 5;
  p.height = 1;
  M(cudaGraphAddMemsetNode(&n, g, 0, 0, &p));
  showm("1d pitch 77", n);
  p.pitch = 0;
  R("pitch 0", cudaGraphMemsetNodeSetParams(n, &p));
  showm("pitch 0", n);
  p.elementSize = 1;
  p.value = 0xabc;
  R("elt 1", cudaGraphMemsetNodeSetParams(n, &p));
  showm("elt 1", n);
  p.elementSize = 2;
  p.pitch = 32;
  p.height = 3;
  R("2d", cudaGraphMemsetNodeSetParams(n, &p));
  showm("2d", n);
  auto q = p;
  q.pitch = 8;
  R("pitch<", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.pitch = 33;
  R("pitch odd", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.elementSize = 8;
  R("elt 8", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.elementSize = 0;
  R("elt 0", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.dst = nullptr;
  R("dst null", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.dst = page;
  R("dst page", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.width = 0;
  R("width 0", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.height = 0;
  R("height 0", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.dst = (char*)d + 1;
  R("unaligned", cudaGraphMemsetNodeSetParams(n, &q));
  q = p;
  q.width = 5000;
  q.height = 1;
  R("beyond", cudaGraphMemsetNodeSetParams(n, &q));
  showm("after bad", n);
  R("null", cudaGraphMemsetNodeSetParams(n, nullptr));
  R("null node", cudaGraphMemsetNodeSetParams(nullptr, &p));
  R("get null", cudaGraphMemsetNodeGetParams(n, nullptr));
  p.dst = pin;
  R("pinned", cudaGraphMemsetNodeSetParams(n, &p));
  showm("pinned", n);
  M(cudaGraphMemsetNodeGetParams(n, &q));
  R("given back", cudaGraphMemsetNodeSetParams(n, &q));
}
T(host_event_get_set) {
  cudaGraph_t g = mk();
  cudaGraphNode_t h, r, w;
  cudaHostNodeParams p = {cb, d}, q;
  M(cudaGraphAddHostNode(&h, g, 0, 0, &p));
  M(cudaGraphHostNodeGetParams(h, &q));
  V("fn", q.fn == cb);
  puts(P(q.userData).c_str());
  p = {inc, page};
  R("set", cudaGraphHostNodeSetParams(h, &p));
  M(cudaGraphHostNodeGetParams(h, &q));
  V("fn", q.fn == inc);
  puts(P(q.userData).c_str());
  p.fn = nullptr;
  R("null fn", cudaGraphHostNodeSetParams(h, &p));
  R("null", cudaGraphHostNodeSetParams(h, nullptr));
  R("get null", cudaGraphHostNodeGetParams(h, nullptr));
  R("null node", cudaGraphHostNodeSetParams(nullptr, &p));
  M(cudaGraphHostNodeGetParams(h, &q));
  V("fn", q.fn == inc);
  cudaEvent_t a, b, got;
  M(cudaEventCreate(&a));
  M(cudaEventCreate(&b));
  M(cudaGraphAddEventRecordNode(&r, g, 0, 0, a));
  M(cudaGraphAddEventWaitNode(&w, g, 0, 0, a));
  M(cudaGraphEventRecordNodeGetEvent(r, &got));
  V("same", got == a);
  R("set", cudaGraphEventRecordNodeSetEvent(r, b));
  M(cudaGraphEventRecordNodeGetEvent(r, &got));
  V("same", got == b);
  R("set null", cudaGraphEventRecordNodeSetEvent(r, nullptr));
  R("get null", cudaGraphEventRecordNodeGetEvent(r, nullptr));
  M(cudaGraphEventRecordNodeGetEvent(r, &got));
  V("same", got == b);
  R("null node", cudaGraphEventRecordNodeSetEvent(nullptr, a));
  R("get null node", cudaGraphEventRecordNodeGetEvent(nullptr, &got));
  R("wait as record", cudaGraphEventRecordNodeSetEvent(w, b));
  R("record as wait", cudaGraphEventWaitNodeSetEvent(r, b));
  R("wait set", cudaGraphEventWaitNodeSetEvent(w, b));
  M(cudaGraphEventWaitNodeGetEvent(w, &got));
  V("same", got == b);
  R("wait get of record", cudaGraphEventWaitNodeGetEvent(r, &got));
  R("wait get null", cudaGraphEventWaitNodeGetEvent(w, nullptr));
  R("kernel get of host", cudaGraphKernelNodeGetParams(h, (cudaKernelNodeParams*)pin));
  R("host get of event", cudaGraphHostNodeGetParams(r, &q));
  cudaGraph_t c;
  R("child of host", cudaGraphChildGraphNodeGetGraph(h, &c));
  cudaGraphNodeType t;
  R("type null", cudaGraphNodeGetType(h, nullptr));
  R("type null node", cudaGraphNodeGetType(nullptr, &t));
}
T(child_get) {
  cudaGraph_t g = mk(), c = mk(), in = nullptr, in2 = nullptr;
  cudaGraphNode_t ch, ch2;
  auto a = kern(c, {}, k, d, 1);
  M(cudaGraphAddChildGraphNode(&ch, g, 0, 0, c));
  M(cudaGraphChildGraphNodeGetGraph(ch, &in));
  M(cudaGraphChildGraphNodeGetGraph(ch, &in2));
  V("same", in == in2);
  V("original", in == c);
  R("null", cudaGraphChildGraphNodeGetGraph(ch, nullptr));
  kern(c, {a}, k, d, 10);
  V("original changed", run(g));
  cudaGraphNode_t inner;
  size_t n = 1;
  M(cudaGraphGetNodes(in, &inner, &n));
  V("n", n);
  kern(in, {inner}, k, d, 100);
  V("inner changed", run(g));
  R("destroy inner graph", cudaGraphDestroy(in));
  V("still", run(g));
  R("find in embedded", cudaGraphNodeFindInClone(&ch2, a, in));
  V("found", ch2 == inner);
  R("destroy original", cudaGraphDestroy(c));
  V("still", run(g));
  R("set kernel in inner", [&] {
    int v = 5;
    void* args[] = {&d, &v};
    cudaKernelNodeParams kp = {};
    kp.func = (void*)k;
    kp.gridDim = kp.blockDim = dim3(1);
    kp.kernelParams = args;
    return cudaGraphKernelNodeSetParams(inner, &kp);
  }());
  V("set", run(g));
  R("destroy inner node", cudaGraphDestroyNode(inner));
  V("left", run(g));
  R("dep across", cudaGraphAddDependencies(g, &ch, &inner, nullptr, 1));
  R("instantiate inner", [&] {
    cudaGraphExec_t x;
    return cudaGraphInstantiate(&x, in, 0);
  }());
}
static cudaGraphNode_t only(cudaGraph_t g) {
  cudaGraphNode_t n[4];
  size_t c = 4;
  M(cudaGraphGetNodes(g, n, &c));
  if (c != 1) printf("nodes %zu ", c);
  return c ? n[0] : nullptr;
}
template <class F> static cudaGraphNode_t cap(F f, cudaStream_t q = s) {
  cudaGraph_t g = nullptr;
  M(cudaStreamBeginCapture(q, cudaStreamCaptureModeRelaxed));
  f();
  M(cudaStreamEndCapture(q, &g));
  return only(g);
}
T(generic) {
  cudaGraph_t g = mk();
  cudaGraphNode_t n;
  int v = 1;
  void* args[] = {&d, &v};
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = (void*)k;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = args;
  R("kernel", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  cudaGraphExec_t x;
  M(cudaGraphInstantiate(&x, g, 0));
  v = 5;
  R("set", cudaGraphNodeSetParams(n, &p));
  showk("k", n);
  v = 7;
  R("exec set", cudaGraphExecNodeSetParams(x, n, &p));
  set(0);
  M(cudaGraphLaunch(x, s));
  V("ran", get());
  p.kernel.func = nullptr;
  R("set null func", cudaGraphNodeSetParams(n, &p));
  p.type = cudaGraphNodeTypeMemset;
  R("set other type", cudaGraphNodeSetParams(n, &p));
  R("exec set other type", cudaGraphExecNodeSetParams(x, n, &p));
  R("null node", cudaGraphNodeSetParams(nullptr, &p));
  R("exec null node", cudaGraphExecNodeSetParams(x, nullptr, &p));
  R("null exec", cudaGraphExecNodeSetParams(nullptr, n, &p));
  p = {};
  p.type = cudaGraphNodeTypeMemcpy;
  p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(pin, 64, 16, 8);
  p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(d, 64, 16, 8);
  p.memcpy.copyParams.extent = make_cudaExtent(16, 2, 1);
  p.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
  R("memcpy", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  showc("c", n);
  p.memcpy.flags = 1;
  R("memcpy flags", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.memcpy.flags = 0;
  p.memcpy.reserved[1] = 1;
  R("memcpy reserved", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.memcpy.reserved[1] = 0;
  p.memcpy.copyParams.extent.width = 8;
  R("set", cudaGraphNodeSetParams(n, &p));
  showc("c", n);
  p = {};
  p.type = cudaGraphNodeTypeMemset;
  p.memset.dst = d;
  p.memset.elementSize = 4;
  p.memset.width = 3;
  p.memset.height = 1;
  p.memset.value = 9;
  R("memset", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  showm("m", n);
  p.memset.width = 0;
  R("memset width 0", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.memset.width = 2;
  R("set", cudaGraphNodeSetParams(n, &p));
  showm("m", n);
  p = {};
  p.type = cudaGraphNodeTypeHost;
  p.host.fn = inc;
  p.host.userData = page;
  R("host", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.host.fn = nullptr;
  R("host null", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  R("set null fn", cudaGraphNodeSetParams(n, &p));
  cudaEvent_t e;
  M(cudaEventCreate(&e));
  p = {};
  p.type = cudaGraphNodeTypeEventRecord;
  p.eventRecord.event = e;
  R("record", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.eventRecord.event = nullptr;
  R("record null", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  R("set null", cudaGraphNodeSetParams(n, &p));
  p = {};
  p.type = cudaGraphNodeTypeWaitEvent;
  p.eventWait.event = e;
  R("wait", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  R("set", cudaGraphNodeSetParams(n, &p));
  cudaGraph_t c = mk();
  kern(c, {}, k, d, 1);
  p = {};
  p.type = cudaGraphNodeTypeGraph;
  p.graph.graph = c;
  R("graph", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.graph.graph = nullptr;
  R("graph null", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p.graph.graph = c;
  p.graph.ownership = (cudaGraphChildGraphNodeOwnership)5;
  R("ownership 5", cudaGraphAddNode(&n, g, 0, 0, 0, &p));
  p = {};
  p.type = cudaGraphNodeTypeMemAlloc;
  p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  p.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  p.alloc.bytesize = 64;
  cudaGraph_t mg = mk();
  R("alloc", cudaGraphAddNode(&n, mg, 0, 0, 0, &p));
  V("ptr", p.alloc.dptr != nullptr);
  cudaGraphNodeParams f = {};
  f.type = cudaGraphNodeTypeMemFree;
  f.free.dptr = p.alloc.dptr;
  cudaGraphNode_t fn;
  R("free", cudaGraphAddNode(&fn, mg, &n, 0, 1, &f));
  R("set alloc", cudaGraphNodeSetParams(n, &p));
  R("set free", cudaGraphNodeSetParams(fn, &f));
  M(cudaGraphInstantiate(&x, mg, 0));
  R("exec set alloc", cudaGraphExecNodeSetParams(x, n, &p));
  R("exec set free", cudaGraphExecNodeSetParams(x, fn, &f));
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
