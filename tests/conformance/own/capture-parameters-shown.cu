// Rule: what nodes show of the calls that were captured; copies between devices are not capturable.
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
T(captured_params) {
  showc("memcpy h2d", cap([] { M(cudaMemcpyAsync(d, pin, 40, cudaMemcpyHostToDevice, s)); }));
  showc("memcpy default", cap([] { M(cudaMemcpyAsync(pin, d, 40, cudaMemcpyDefault, s)); }));
  showc("memcpy d2d", cap([] { M(cudaMemcpyAsync(d2, d, 40, cudaMemcpyDeviceToDevice, s)); }));
  showc("memcpy h2h", cap([] { M(cudaMemcpyAsync(pin2, pin, 40, cudaMemcpyHostToHost, s)); }));
  showc("memcpy page", cap([] { M(cudaMemcpyAsync(d, page, 40, cudaMemcpyHostToDevice, s)); }));
  showc("memcpy2d", cap([] { M(cudaMemcpy2DAsync(d, 64, pin, 32, 20, 3, cudaMemcpyHostToDevice, s)); }));
  showc("memcpy2d default", cap([] { M(cudaMemcpy2DAsync(d, 64, pin, 32, 20, 3, cudaMemcpyDefault, s)); }));
  showc("memcpy2d h 1", cap([] { M(cudaMemcpy2DAsync(d, 64, pin, 32, 20, 1, cudaMemcpyHostToDevice, s)); }));
  showc("memcpy2d full", cap([] { M(cudaMemcpy2DAsync(d, 32, pin, 32, 32, 3, cudaMemcpyHostToDevice, s)); }));
  showc("memcpy3d", cap([] {
          cudaMemcpy3DParms c = {};
          c.srcPtr = make_cudaPitchedPtr(pin, 32, 20, 8);
          c.dstPtr = make_cudaPitchedPtr(d, 64, 21, 9);
          c.srcPos = make_cudaPos(4, 1, 0);
          c.dstPos = make_cudaPos(8, 2, 1);
          c.extent = make_cudaExtent(12, 3, 2);
          c.kind = cudaMemcpyHostToDevice;
          M(cudaMemcpy3DAsync(&c, s));
        }));
  showc("to symbol", cap([] { M(cudaMemcpyToSymbolAsync(sym, pin, 24, 8, cudaMemcpyHostToDevice, s)); }));
  showc("from symbol", cap([] { M(cudaMemcpyFromSymbolAsync(pin, sym, 24, 8, cudaMemcpyDeviceToHost, s)); }));
  showc("to csymbol default", cap([] { M(cudaMemcpyToSymbolAsync(csym, d, 24, 8, cudaMemcpyDefault, s)); }));
  cudaArray_t arr;
  cudaChannelFormatDesc cd = cudaCreateChannelDesc<int>();
  M(cudaMallocArray(&arr, &cd, 16, 8));
  showc("to array", cap([&] { M(cudaMemcpy2DToArrayAsync(arr, 4, 1, pin, 32, 16, 3, cudaMemcpyHostToDevice, s)); }));
  showc("from array",
        cap([&] { M(cudaMemcpy2DFromArrayAsync(pin, 32, arr, 8, 2, 16, 3, cudaMemcpyDeviceToHost, s)); }));
  showm("memset", cap([] { M(cudaMemsetAsync(d, 0x5a, 40, s)); }));
  showm("memset odd", cap([] { M(cudaMemsetAsync((char*)d + 1, 0x15a, 41, s)); }));
  showm("memset2d", cap([] { M(cudaMemset2DAsync(d, 64, 3, 20, 5, s)); }));
  showm("memset2d h 1", cap([] { M(cudaMemset2DAsync(d, 64, 3, 20, 1, s)); }));
  showm("memset2d full", cap([] { M(cudaMemset2DAsync(d, 32, 3, 32, 4, s)); }));
  showm("memset3d",
        cap([] { M(cudaMemset3DAsync(make_cudaPitchedPtr(d, 64, 20, 4), 6, make_cudaExtent(20, 4, 1), s)); }));
  showm("memset3d deep full",
        cap([] { M(cudaMemset3DAsync(make_cudaPitchedPtr(d, 64, 64, 4), 6, make_cudaExtent(64, 4, 3), s)); }));
  showm("memset3d deep",
        cap([] { M(cudaMemset3DAsync(make_cudaPitchedPtr(d, 64, 20, 4), 6, make_cudaExtent(20, 4, 3), s)); }));
  showk("kernel", cap([] { k<<<dim3(2, 3), dim3(4, 5), 64, s>>>(d, 5); }));
  showk("noargs", cap([] { noargs<<<1, 32, 0, s>>>(); }));
  auto n = cap([] { M(cudaLaunchHostFunc(s, inc, page)); });
  cudaHostNodeParams h;
  M(cudaGraphHostNodeGetParams(n, &h));
  V("fn", h.fn == inc);
  puts(P(h.userData).c_str());
  cudaEvent_t ev, got;
  M(cudaEventCreate(&ev));
  cudaGraphNodeType t;
  n = cap([&] { M(cudaEventRecordWithFlags(ev, s, cudaEventRecordExternal)); });
  M(cudaGraphNodeGetType(n, &t));
  V("type", t);
  M(cudaGraphEventRecordNodeGetEvent(n, &got));
  V("ev", got == ev);
  n = cap([&] { M(cudaStreamWaitEvent(s, ev, cudaEventWaitExternal)); });
  M(cudaGraphNodeGetType(n, &t));
  V("type", t);
  M(cudaGraphEventWaitNodeGetEvent(n, &got));
  V("ev", got == ev);
  int lo, hi;
  M(cudaDeviceGetStreamPriorityRange(&lo, &hi));
  printf("range %d %d\n", lo, hi);
  for (int p : {0, -1, -3, -5, -9, 4}) {
    cudaStream_t q;
    M(cudaStreamCreateWithPriority(&q, cudaStreamNonBlocking, p));
    n = cap([&] { k<<<1, 1, 0, q>>>(d, 1); }, q);
    cudaLaunchAttributeValue v = {};
    M(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePriority, &v));
    printf("stream %d node %d\n", p, v.priority);
  }
  n = cap([] {
    void* p;
    M(cudaMallocAsync(&p, 100, s));
  });
  cudaMemAllocNodeParams ap;
  M(cudaGraphMemAllocNodeGetParams(n, &ap));
  printf("alloc type %d handle %d loc %d %d size %zu descs %zu max %zu\n", ap.poolProps.allocType,
         ap.poolProps.handleTypes, ap.poolProps.location.type, ap.poolProps.location.id, ap.bytesize,
         ap.accessDescCount, ap.poolProps.maxSize);
}
T(captured_sets) {
  for (int pitch : {64, 128})
    for (int ys : {4, 5})
      for (int depth : {1, 3})
        for (int w : {64, 20}) {
          std::string l = "set3d pitch " + std::to_string(pitch) + " ysize " + std::to_string(ys) + " depth " +
                          std::to_string(depth) + " width " + std::to_string(w);
          showm(l.c_str(), cap([&] {
                  M(cudaMemset3DAsync(make_cudaPitchedPtr(d, pitch, 64, ys), 6, make_cudaExtent(w, 4, depth), s));
                }));
        }
}
T(captured_peer) {
  cudaGraph_t g;
  cudaStreamCaptureStatus st;
  for (int m : {0, 1, 2}) {
    M(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)m));
    R("peer", cudaMemcpyPeerAsync(d2, 0, d, 0, 24, s));
    M(cudaStreamIsCapturing(s, &st));
    V("status", st);
    R("end", cudaStreamEndCapture(s, &g));
  }
  cudaMemcpy3DPeerParms p = {};
  p.srcPtr = make_cudaPitchedPtr(d, 64, 64, 4);
  p.dstPtr = make_cudaPitchedPtr(d2, 64, 64, 4);
  p.extent = make_cudaExtent(16, 2, 1);
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  R("peer 3d", cudaMemcpy3DPeerAsync(&p, s));
  M(cudaStreamIsCapturing(s, &st));
  V("status", st);
  R("end", cudaStreamEndCapture(s, &g));
  M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  R("peer of 0", cudaMemcpyPeerAsync(d2, 0, d, 0, 0, s));
  M(cudaStreamIsCapturing(s, &st));
  V("status", st);
  R("bad device", cudaMemcpyPeerAsync(d2, 9, d, 0, 4, s));
  R("end", cudaStreamEndCapture(s, &g));
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
