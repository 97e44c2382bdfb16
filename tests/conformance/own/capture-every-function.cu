// Rule: each function of the runtime in a capture: by the capture's mode, kind of stream and the calling thread, what
// it returns, what becomes of the capture, and how that ends.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

__global__ void k(int* p) {
  if (p) *p += 1;
}
__global__ void other(int* p) {
  if (p) *p += 2;
}
__device__ int sym[64];
__managed__ int managed_sym[64];
static void CUDART_CB hf(void*) {}
static void CUDART_CB cb(cudaStream_t, cudaError_t, void*) {}

static const char* N(cudaError_t e) { return e == cudaSuccess ? "ok" : cudaGetErrorName(e) + 9; }
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected at line %d: %s\n", __LINE__, N(r_)), cudaGetLastError();            \
  } while (0)

// What the calls are given. Made anew for each call, before the capture begins.
static int *d, *d2, *pin, *mg, *to_free, *pool_memory;
static void *pinned_to_free, *registered;
static int page[1024];
static cudaStream_t t, doomed_stream;  // t never captures
static cudaEvent_t ev, ev2, doomed_event, recorded, recorded2;
static cudaGraph_t g, doomed_graph, mem_graph, copy_of_g;
static cudaGraphNode_t kn, cn, sn, hn, en, rn, wn, gn, doomed_node, an, fn, tosym, fromsym, one_d;
static cudaGraphExec_t x, doomed_exec;
static cudaArray_t array, array2, doomed_array;
static cudaMipmappedArray_t mip, doomed_mip;
static cudaTextureObject_t tex, doomed_tex;
static cudaSurfaceObject_t surf, doomed_surf;
static cudaMemPool_t pool, doomed_pool;
static cudaUserObject_t user, doomed_user;
static void* args[1];
static cudaKernelNodeParams kp;
static cudaMemcpy3DParms cp;
static cudaMemsetParams sp;
static cudaHostNodeParams hp;
static cudaGraphNodeParams np = {};
static cudaResourceDesc rd;
static cudaTextureDesc td;
static const cudaMemLocation dev0 = {cudaMemLocationTypeDevice, 0};
static size_t z, z2;
static unsigned u;
static int i1;
static unsigned long long ull;
static void* v;
static float ms;
static cudaChannelFormatDesc fd;

static void make_once() {
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  MUST(cudaMallocHost((void**)&pin, 4096));
  MUST(cudaMallocManaged(&mg, 4096));
  MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  for (cudaEvent_t* e : {&ev, &recorded, &recorded2}) MUST(cudaEventCreate(e));
  MUST(cudaEventCreateWithFlags(&ev2, cudaEventDisableTiming | cudaEventInterprocess));
  MUST(cudaEventRecord(recorded, t));
  MUST(cudaEventRecord(recorded2, t));
  fd = cudaCreateChannelDesc<float>();
  MUST(cudaMallocArray(&array, &fd, 16, 16, cudaArraySurfaceLoadStore));
  MUST(cudaMallocArray(&array2, &fd, 16, 16));
  MUST(cudaMallocMipmappedArray(&mip, &fd, cudaExtent{16, 16, 0}, 3));
  rd.resType = cudaResourceTypeArray;
  rd.res.array.array = array;
  MUST(cudaCreateTextureObject(&tex, &rd, &td, nullptr));
  MUST(cudaCreateSurfaceObject(&surf, &rd));
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = dev0;
  MUST(cudaMemPoolCreate(&pool, &props));
  MUST(cudaGraphCreate(&g, 0));
  args[0] = &d;
  kp.func = (void*)k;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  cp.srcPtr = make_cudaPitchedPtr(pin, 16, 16, 1);
  cp.dstPtr = make_cudaPitchedPtr(d, 16, 16, 1);
  cp.extent = make_cudaExtent(16, 1, 1);
  cp.kind = cudaMemcpyHostToDevice;
  sp.dst = d;
  sp.elementSize = 4;
  sp.width = 4;
  sp.height = 1;
  hp.fn = hf;
  np.type = cudaGraphNodeTypeKernel;
  np.kernel.func = (void*)k;
  np.kernel.gridDim = np.kernel.blockDim = dim3(1);
  np.kernel.kernelParams = args;
  cudaGraph_t inner;
  MUST(cudaGraphCreate(&inner, 0));
  MUST(cudaGraphAddKernelNode(&kn, inner, nullptr, 0, &kp));
  MUST(cudaGraphAddKernelNode(&kn, g, nullptr, 0, &kp));
  MUST(cudaGraphAddMemcpyNode(&cn, g, nullptr, 0, &cp));
  MUST(cudaGraphAddMemsetNode(&sn, g, nullptr, 0, &sp));
  MUST(cudaGraphAddHostNode(&hn, g, nullptr, 0, &hp));
  MUST(cudaGraphAddEmptyNode(&en, g, nullptr, 0));
  MUST(cudaGraphAddEventRecordNode(&rn, g, nullptr, 0, ev));
  MUST(cudaGraphAddEventWaitNode(&wn, g, nullptr, 0, ev));
  MUST(cudaGraphAddChildGraphNode(&gn, g, nullptr, 0, inner));
  MUST(cudaGraphAddMemcpyNodeToSymbol(&tosym, g, nullptr, 0, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  MUST(cudaGraphAddMemcpyNodeFromSymbol(&fromsym, g, nullptr, 0, pin, sym, 4, 0, cudaMemcpyDeviceToHost));
  MUST(cudaGraphAddMemcpyNode1D(&one_d, g, nullptr, 0, d, d2, 4, cudaMemcpyDeviceToDevice));
  MUST(cudaGraphInstantiate(&x, g, 0));
  MUST(cudaGraphClone(&copy_of_g, g));
  MUST(cudaGraphCreate(&mem_graph, 0));
  cudaMemAllocNodeParams ap = {};
  ap.poolProps.allocType = cudaMemAllocationTypePinned;
  ap.poolProps.location = dev0;
  ap.bytesize = 64;
  MUST(cudaGraphAddMemAllocNode(&an, mem_graph, nullptr, 0, &ap));
  MUST(cudaGraphAddMemFreeNode(&fn, mem_graph, &an, 1, ap.dptr));
  MUST(cudaUserObjectCreate(&user, nullptr, hf, 1000, cudaUserObjectNoDestructorSync));
  MUST(cudaDeviceSynchronize());
}
static bool consumed = true;  // what make() makes was given up by a call
static void make() {
  if (!consumed) return;
  consumed = false;
  MUST(cudaMalloc(&to_free, 64));
  MUST(cudaMallocHost(&pinned_to_free, 64));
  MUST(cudaMallocAsync((void**)&pool_memory, 64, t));
  MUST(cudaStreamCreateWithFlags(&doomed_stream, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&doomed_event));
  MUST(cudaGraphCreate(&doomed_graph, 0));
  MUST(cudaGraphAddKernelNode(&doomed_node, doomed_graph, nullptr, 0, &kp));
  MUST(cudaGraphInstantiate(&doomed_exec, doomed_graph, 0));
  MUST(cudaMallocArray(&doomed_array, &fd, 16, 16));
  MUST(cudaMallocMipmappedArray(&doomed_mip, &fd, cudaExtent{16, 16, 0}, 3));
  MUST(cudaCreateTextureObject(&doomed_tex, &rd, &td, nullptr));
  MUST(cudaCreateSurfaceObject(&doomed_surf, &rd));
  if (!doomed_pool) {
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = dev0;
    MUST(cudaMemPoolCreate(&doomed_pool, &props));
  }
  MUST(cudaUserObjectCreate(&doomed_user, nullptr, hf, 1, cudaUserObjectNoDestructorSync));
  registered = aligned_alloc(4096, 4096);
  MUST(cudaHostRegister(registered, 4096, 0));
  MUST(cudaDeviceSynchronize());
}

static std::string outcome(cudaStream_t s, cudaError_t r, cudaError_t last) {
  std::string say = N(r);
  if (last != r) say += std::string("(last ") + N(last) + ")";
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  MUST(cudaStreamIsCapturing(s, &c));
  say += c == 0 ? "/none" : c == 1 ? "" : "/spoiled";
  cudaGraph_t made = nullptr;
  cudaError_t e = cudaStreamEndCapture(s, &made);
  cudaGetLastError();
  if (e != cudaSuccess && e != cudaErrorStreamCaptureInvalidated) say += std::string("/end ") + N(e);
  size_t n = 0;
  if (made) cudaGraphGetNodes(made, nullptr, &n);
  if (made && n != 1) say += "/" + std::to_string(n) + " nodes";
  if (made) cudaGraphDestroy(made);
  cudaGetLastError();
  return say;
}
static void call(const char* name, std::function<cudaError_t(cudaStream_t)> f) {
  static const char* const who[] = {"g", "t", "r", "G", "T", "R"};
  std::string line = name, before, run;
  for (int blocking = 0; blocking < 2; blocking++)
    for (int mode = 0; mode < 3; mode++)
      for (int thread = 0; thread < 2; thread++) {
        make();
        cudaStream_t s;
        MUST(cudaStreamCreateWithFlags(&s, blocking ? cudaStreamDefault : cudaStreamNonBlocking));
        MUST(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)mode));
        k<<<1, 1, 0, s>>>(nullptr);
        cudaError_t r, last;
        auto body = [&] {
          if (thread) MUST(cudaSetDevice(0));  // a new thread has no context until then
          r = f(s);
          last = cudaGetLastError();
        };
        if (thread)
          std::thread(body).join();
        else
          body();
        std::string say = outcome(s, r, last);
        if (say != before) {
          line += before.empty() ? "" : " " + before;
          line += " |";
          before = say;
        }
        line += std::string(" ") + who[mode + 3 * blocking] + (thread ? "'" : "");
        cudaStreamDestroy(s);
        cudaGetLastError();
        cudaGraph_t of_t;
        cudaStreamEndCapture(t, &of_t);
        cudaGetLastError();
        if (consumed) cudaFreeHost(pinned_to_free);
        if (consumed) cudaHostUnregister(registered);
        if (consumed) free(registered);
        cudaGetLastError();
        cudaDeviceSynchronize();
        cudaGetLastError();
      }
  std::printf("%s %s\n", line.c_str(), before.c_str());
  std::fflush(stdout);
}
#define C(...) call(#__VA_ARGS__, [](cudaStream_t s) { return __VA_ARGS__; })
// Of calls that give something up.
#define D(...)                                                                                                         \
  call(#__VA_ARGS__, [](cudaStream_t s) {                                                                              \
    consumed = true;                                                                                                   \
    return __VA_ARGS__;                                                                                                \
  })
// Of calls with statements ahead of them.
#define B(name, ...) call(name, [](cudaStream_t s) -> cudaError_t __VA_ARGS__)

static void memory() {
  C(cudaMalloc(&v, 64));
  C(cudaMallocHost(&v, 64));
  C(cudaHostAlloc(&v, 64, 0));
  C(cudaMallocManaged(&v, 64));
  C(cudaMallocPitch(&v, &z, 64, 4));
  B("cudaMalloc3D", {
    cudaPitchedPtr p;
    return cudaMalloc3D(&p, cudaExtent{64, 2, 2});
  });
  D(cudaFree(to_free));
  C(cudaFree(nullptr));
  D(cudaFreeHost(pinned_to_free));
  C(cudaFreeHost(nullptr));
  D(cudaFree(pool_memory));
  B("cudaHostRegister", {
    cudaError_t r = cudaHostRegister(page, 4096, 0);
    if (r == cudaSuccess) cudaHostUnregister(page);
    return r;
  });
  D(cudaHostUnregister(registered));
  C(cudaHostGetDevicePointer(&v, pin, 0));
  C(cudaHostGetFlags(&u, pin));
  C(cudaMemGetInfo(&z, &z2));
  C(cudaGetSymbolAddress(&v, sym));
  C(cudaGetSymbolSize(&z, sym));
  B("cudaPointerGetAttributes", {
    cudaPointerAttributes a;
    return cudaPointerGetAttributes(&a, d);
  });
  B("cudaIpcGetMemHandle", {
    cudaIpcMemHandle_t h;
    return cudaIpcGetMemHandle(&h, d);
  });
  B("cudaIpcGetEventHandle", {
    cudaIpcEventHandle_t h;
    return cudaIpcGetEventHandle(&h, ev2);
  });
  C(cudaIpcCloseMemHandle(d));
  C(cudaMemAdvise(mg, 4096, cudaMemAdviseSetReadMostly, dev0));
  C(cudaMemRangeGetAttribute(&i1, 4, cudaMemRangeAttributeReadMostly, mg, 4096));
  B("cudaMemRangeGetAttributes", {
    void* data[] = {&i1};
    size_t size[] = {4};
    cudaMemRangeAttribute a[] = {cudaMemRangeAttributeReadMostly};
    return cudaMemRangeGetAttributes(data, size, a, 1, mg, 4096);
  });
  C(cudaMemPrefetchAsync(mg, 4096, dev0, 0, s));
  C(cudaMemPrefetchAsync(mg, 4096, dev0, 0, t));
  C(cudaMemPrefetchAsync(mg, 4096, dev0, 0, nullptr));
  B("cudaMemPrefetchBatchAsync", {
    void* p[] = {mg};
    size_t n[] = {4096}, at[] = {0};
    cudaMemLocation l[] = {dev0};
    return cudaMemPrefetchBatchAsync(p, n, 1, l, at, 1, 0, s);
  });
  B("cudaMemDiscardBatchAsync", {
    void* p[] = {mg};
    size_t n[] = {4096};
    return cudaMemDiscardBatchAsync(p, n, 1, 0, s);
  });
  B("cudaMemDiscardAndPrefetchBatchAsync", {
    void* p[] = {mg};
    size_t n[] = {4096}, at[] = {0};
    cudaMemLocation l[] = {dev0};
    return cudaMemDiscardAndPrefetchBatchAsync(p, n, 1, l, at, 1, 0, s);
  });
  C(cudaStreamAttachMemAsync(s, mg, 0, cudaMemAttachGlobal));
  C(cudaStreamAttachMemAsync(t, mg, 0, cudaMemAttachGlobal));
}
static void copies() {
  C(cudaMemcpy(d, pin, 4, cudaMemcpyHostToDevice));
  C(cudaMemcpy(d, page, 4, cudaMemcpyHostToDevice));
  C(cudaMemcpy(page, d, 4, cudaMemcpyDeviceToHost));
  C(cudaMemcpy(d, d2, 4, cudaMemcpyDeviceToDevice));
  C(cudaMemcpy(page, page + 8, 4, cudaMemcpyHostToHost));
  C(cudaMemcpy(d, pin, 0, cudaMemcpyHostToDevice));
  C(cudaMemcpy2D(d, 8, pin, 8, 4, 2, cudaMemcpyHostToDevice));
  C(cudaMemcpy3D(&cp));
  C(cudaMemcpyPeer(d, 0, d2, 0, 4));
  B("cudaMemcpy3DPeer", {
    cudaMemcpy3DPeerParms p = {};
    p.srcPtr = make_cudaPitchedPtr(d2, 16, 16, 1);
    p.dstPtr = make_cudaPitchedPtr(d, 16, 16, 1);
    p.extent = make_cudaExtent(16, 1, 1);
    return cudaMemcpy3DPeer(&p);
  });
  B("cudaMemcpy3DPeerAsync", {
    cudaMemcpy3DPeerParms p = {};
    p.srcPtr = make_cudaPitchedPtr(d2, 16, 16, 1);
    p.dstPtr = make_cudaPitchedPtr(d, 16, 16, 1);
    p.extent = make_cudaExtent(16, 1, 1);
    return cudaMemcpy3DPeerAsync(&p, s);
  });
  C(cudaMemcpyPeerAsync(d, 0, d2, 0, 4, s));
  C(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, t));
  C(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, nullptr));
  C(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, cudaStreamPerThread));
  C(cudaMemcpyAsync(d, page, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyAsync(d, page, 4, cudaMemcpyHostToDevice, t));
  C(cudaMemcpyAsync(page, d, 4, cudaMemcpyDeviceToHost, t));
  C(cudaMemcpyAsync(page, page + 8, 4, cudaMemcpyHostToHost, s));
  C(cudaMemcpyAsync(d, nullptr, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyAsync(d, pin, 4, cudaMemcpyDeviceToHost, s));
  C(cudaMemcpyAsync(d, pin, 4, (cudaMemcpyKind)9, s));
  C(cudaMemcpy2DAsync(d, 8, pin, 8, 4, 2, cudaMemcpyHostToDevice, s));
  C(cudaMemcpy2DAsync(d, 2, pin, 8, 4, 2, cudaMemcpyHostToDevice, s));
  C(cudaMemcpy3DAsync(&cp, s));
  C(cudaMemcpy3DAsync(&cp, nullptr));
  C(cudaMemcpyToSymbol(sym, pin, 4));
  C(cudaMemcpyFromSymbol(pin, sym, 4));
  C(cudaMemcpyToSymbolAsync(sym, pin, 4, 0, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyFromSymbolAsync(pin, sym, 4, 0, cudaMemcpyDeviceToHost, s));
  C(cudaMemcpyToSymbolAsync(managed_sym, pin, 4, 0, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyToSymbolAsync(sym, pin, 4096, 0, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyToArray(array, 0, 0, pin, 4, cudaMemcpyHostToDevice));
  C(cudaMemcpyFromArray(pin, array, 0, 0, 4, cudaMemcpyDeviceToHost));
  C(cudaMemcpyArrayToArray(array, 0, 0, array2, 0, 0, 4));
  C(cudaMemcpy2DToArray(array, 0, 0, pin, 16, 16, 2, cudaMemcpyHostToDevice));
  C(cudaMemcpy2DFromArray(pin, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  C(cudaMemcpy2DArrayToArray(array, 0, 0, array2, 0, 0, 16, 2));
  C(cudaMemcpyToArrayAsync(array, 0, 0, pin, 4, cudaMemcpyHostToDevice, s));
  C(cudaMemcpyFromArrayAsync(pin, array, 0, 0, 4, cudaMemcpyDeviceToHost, s));
  C(cudaMemcpy2DToArrayAsync(array, 0, 0, pin, 16, 16, 2, cudaMemcpyHostToDevice, s));
  C(cudaMemcpy2DFromArrayAsync(pin, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost, s));
  C(cudaMemset(d, 0, 4));
  C(cudaMemset(mg, 0, 4));
  C(cudaMemset(pin, 0, 4));
  C(cudaMemset2D(d, 8, 0, 4, 2));
  B("cudaMemset3D", { return cudaMemset3D(make_cudaPitchedPtr(d, 16, 16, 1), 0, cudaExtent{16, 1, 1}); });
  C(cudaMemsetAsync(d, 0, 4, s));
  C(cudaMemsetAsync(d, 0, 4, t));
  C(cudaMemsetAsync(d, 0, 4, nullptr));
  C(cudaMemsetAsync(nullptr, 0, 4, s));
  C(cudaMemset2DAsync(d, 8, 0, 4, 2, s));
  B("cudaMemset3DAsync", { return cudaMemset3DAsync(make_cudaPitchedPtr(d, 16, 16, 1), 0, cudaExtent{16, 1, 1}, s); });
  B("cudaMemcpyBatchAsync", {
    const void* to[] = {d};
    const void* from[] = {pin};
    size_t n[] = {4}, at[] = {0};
    cudaMemcpyAttributes a[1] = {};
    a[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpyBatchAsync(to, from, n, 1, a, at, 1, s);
  });
  B("cudaMemcpyBatchAsync in t", {
    const void* to[] = {d};
    const void* from[] = {pin};
    size_t n[] = {4}, at[] = {0};
    cudaMemcpyAttributes a[1] = {};
    a[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpyBatchAsync(to, from, n, 1, a, at, 1, t);
  });
  B("cudaMemcpy3DBatchAsync", {
    cudaMemcpy3DBatchOp op = {};
    op.src.type = op.dst.type = cudaMemcpyOperandTypePointer;
    op.src.op.ptr.ptr = pin;
    op.dst.op.ptr.ptr = d;
    op.src.op.ptr.rowLength = op.dst.op.ptr.rowLength = 4;
    op.src.op.ptr.layerHeight = op.dst.op.ptr.layerHeight = 1;
    op.extent = cudaExtent{4, 1, 1};
    op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpy3DBatchAsync(1, &op, 0, s);
  });
}
static void arrays() {
  static cudaArray_t a;
  static cudaMipmappedArray_t m;
  static cudaExtent e;
  C(cudaMallocArray(&a, &fd, 16, 16));
  C(cudaMalloc3DArray(&a, &fd, cudaExtent{16, 16, 2}, 0));
  C(cudaMallocMipmappedArray(&m, &fd, cudaExtent{16, 16, 0}, 3));
  D(cudaFreeArray(doomed_array));
  D(cudaFreeMipmappedArray(doomed_mip));
  C(cudaGetMipmappedArrayLevel(&a, mip, 1));
  C(cudaArrayGetInfo(&fd, &e, &u, array));
  fd = cudaCreateChannelDesc<float>();
  B("cudaArrayGetMemoryRequirements", {
    cudaArrayMemoryRequirements r;
    return cudaArrayGetMemoryRequirements(&r, array, 0);
  });
  C(cudaArrayGetPlane(&a, array, 0));
  B("cudaGetChannelDesc", {
    cudaChannelFormatDesc c;
    return cudaGetChannelDesc(&c, array);
  });
  static cudaTextureObject_t to;
  static cudaSurfaceObject_t so;
  C(cudaCreateTextureObject(&to, &rd, &td, nullptr));
  C(cudaCreateSurfaceObject(&so, &rd));
  D(cudaDestroyTextureObject(doomed_tex));
  D(cudaDestroySurfaceObject(doomed_surf));
  B("cudaGetTextureObjectResourceDesc", {
    cudaResourceDesc r;
    return cudaGetTextureObjectResourceDesc(&r, tex);
  });
  B("cudaGetSurfaceObjectResourceDesc", {
    cudaResourceDesc r;
    return cudaGetSurfaceObjectResourceDesc(&r, surf);
  });
}
static void pools() {
  static cudaMemPool_t p;
  C(cudaMallocAsync(&v, 64, s));
  C(cudaMallocAsync(&v, 64, t));
  C(cudaMallocAsync(&v, 64, nullptr));
  C(cudaMallocFromPoolAsync(&v, 64, pool, s));
  C(cudaMallocFromPoolAsync(&v, 64, pool, t));
  D(cudaFreeAsync(pool_memory, s));
  D(cudaFreeAsync(pool_memory, t));
  D(cudaFreeAsync(pool_memory, nullptr));
  D(cudaFreeAsync(to_free, s));
  D(cudaFreeAsync(to_free, t));
  C(cudaFreeAsync(nullptr, s));
  B("cudaMemPoolCreate", {
    cudaMemPoolProps q = {};
    q.allocType = cudaMemAllocationTypePinned;
    q.location = dev0;
    return cudaMemPoolCreate(&p, &q);
  });
  B("cudaMemPoolDestroy", {
    consumed = true;
    cudaError_t r = cudaMemPoolDestroy(doomed_pool);
    if (r == cudaSuccess) doomed_pool = nullptr;
    return r;
  });
  C(cudaMemPoolTrimTo(pool, 0));
  C(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &ull));
  ull = 0;
  B("cudaMemPoolSetAttribute", {
    unsigned long long keep = 0;
    return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  });
  B("cudaMemPoolGetAccess", {
    cudaMemAccessFlags f;
    cudaMemLocation l = dev0;
    return cudaMemPoolGetAccess(&f, pool, &l);
  });
  B("cudaMemPoolSetAccess", {
    cudaMemAccessDesc a = {};
    a.location = dev0;
    a.flags = cudaMemAccessFlagsProtReadWrite;
    return cudaMemPoolSetAccess(pool, &a, 1);
  });
  C(cudaDeviceGetDefaultMemPool(&p, 0));
  C(cudaDeviceGetMemPool(&p, 0));
  B("cudaDeviceSetMemPool", {
    cudaMemPool_t now;
    cudaDeviceGetMemPool(&now, 0);
    return cudaDeviceSetMemPool(0, now);
  });
  B("cudaMemGetMemPool", {
    cudaMemLocation l = dev0;
    return cudaMemGetMemPool(&p, &l, cudaMemAllocationTypePinned);
  });
  C(cudaDeviceGraphMemTrim(0));
  B("cudaMemSetMemPool", {
    cudaMemLocation l = dev0;
    cudaMemPool_t now;
    cudaDeviceGetMemPool(&now, 0);
    return cudaMemSetMemPool(&l, cudaMemAllocationTypePinned, now);
  });
  B("cudaMemGetDefaultMemPool", {
    cudaMemLocation l = dev0;
    return cudaMemGetDefaultMemPool(&p, &l, cudaMemAllocationTypePinned);
  });
  C(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &ull));
  B("cudaDeviceSetGraphMemAttribute", {
    unsigned long long zero = 0;
    return cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero);
  });
}
static void devices() {
  C(cudaDeviceSynchronize());
  C(cudaSetDevice(0));
  C(cudaGetDevice(&i1));
  C(cudaGetDeviceCount(&i1));
  C(cudaGetDeviceFlags(&u));
  C(cudaSetDeviceFlags(0));
  C(cudaInitDevice(0, 0, 0));
  C(cudaDeviceGetAttribute(&i1, cudaDevAttrWarpSize, 0));
  B("cudaGetDeviceProperties", {
    cudaDeviceProp p;
    return cudaGetDeviceProperties(&p, 0);
  });
  C(cudaDeviceGetLimit(&z, cudaLimitMallocHeapSize));
  C(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
  C(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  C(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
  C(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
  B("cudaDeviceGetCacheConfig", {
    cudaFuncCache c;
    return cudaDeviceGetCacheConfig(&c);
  });
  C(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  C(cudaDeviceGetStreamPriorityRange(&i1, &i1));
  C(cudaCtxResetPersistingL2Cache());
  C(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                       cudaFlushGPUDirectRDMAWritesToOwner));
  C(cudaDeviceCanAccessPeer(&i1, 0, 0));
  C(cudaDriverGetVersion(&i1));
  C(cudaRuntimeGetVersion(&i1));
  C(cudaPeekAtLastError());
  C(cudaGetLastError());
}
static void functions() {
  C(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
  C(cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  C(cudaFuncSetCacheConfig(k, cudaFuncCachePreferNone));
  B("cudaFuncGetAttributes", {
    cudaFuncAttributes a;
    return cudaFuncGetAttributes(&a, k);
  });
  B("cudaFuncGetName", {
    const char* n;
    return cudaFuncGetName(&n, (void*)k);
  });
  B("cudaFuncGetParamInfo", { return cudaFuncGetParamInfo((void*)k, 0, &z, &z2); });
  B("cudaGetFuncBySymbol", {
    cudaFunction_t f;
    return cudaGetFuncBySymbol(&f, (void*)k);
  });
  B("cudaGetKernel", {
    cudaKernel_t f;
    return cudaGetKernel(&f, (void*)k);
  });
  C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&i1, k, 64, 0));
  C(cudaOccupancyAvailableDynamicSMemPerBlock(&z, k, 1, 64));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(1), args, 0, s));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(1), args, 0, t));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(1), args, 0, nullptr));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(1), args, 0, cudaStreamPerThread));
  C(cudaLaunchKernel((void*)page, dim3(1), dim3(1), args, 0, s));
  C(cudaLaunchKernel((void*)k, dim3(0), dim3(1), args, 0, s));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(2000), args, 0, s));
  C(cudaLaunchKernel((void*)k, dim3(1), dim3(1), args, 1 << 20, s));
  C(cudaLaunchCooperativeKernel((void*)k, dim3(1), dim3(1), args, 0, s));
  C(cudaLaunchCooperativeKernel((void*)k, dim3(1 << 20), dim3(64), args, 0, s));
  C(cudaLaunchHostFunc(s, hf, nullptr));
  C(cudaLaunchHostFunc(t, hf, nullptr));
  C(cudaLaunchHostFunc(nullptr, hf, nullptr));
  C(cudaLaunchHostFunc(s, nullptr, nullptr));
}
static void streams() {
  static cudaStream_t n;
  static cudaEvent_t e;
  static cudaStreamAttrValue av;
  static cudaStreamCaptureStatus cs;
  C(cudaStreamCreate(&n));
  C(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
  C(cudaStreamCreateWithPriority(&n, cudaStreamNonBlocking, -1));
  D(cudaStreamDestroy(doomed_stream));
  C(cudaStreamQuery(s));
  C(cudaStreamQuery(t));
  C(cudaStreamQuery(nullptr));
  C(cudaStreamSynchronize(s));
  C(cudaStreamSynchronize(t));
  C(cudaStreamSynchronize(nullptr));
  C(cudaStreamSynchronize(cudaStreamPerThread));
  C(cudaStreamAddCallback(s, cb, nullptr, 0));
  C(cudaStreamAddCallback(t, cb, nullptr, 0));
  C(cudaStreamAddCallback(nullptr, cb, nullptr, 0));
  for (int q = 0; q < 3; q++) {
    static cudaStream_t of;
    static int at;
    at = q;
    static const char* names[] = {"of s", "of t", "of the legacy stream"};
    std::printf("%s\n", names[q]);
#define OF (of = at == 0 ? s : at == 1 ? t : nullptr)
    C(cudaStreamGetFlags(OF, &u));
    C(cudaStreamGetPriority(OF, &i1));
    C(cudaStreamGetId(OF, &ull));
    C(cudaStreamGetDevice(OF, &i1));
    C(cudaStreamGetAttribute(OF, cudaLaunchAttributeSynchronizationPolicy, &av));
    C(cudaStreamSetAttribute(OF, cudaLaunchAttributeSynchronizationPolicy, &av));
    C(cudaStreamCopyAttributes(t, OF));
    C(cudaStreamCopyAttributes(OF, t));
    C(cudaStreamIsCapturing(OF, &cs));
    C(cudaStreamGetCaptureInfo(OF, &cs, &ull, nullptr, nullptr, nullptr, nullptr));
    C(cudaStreamBeginCapture(OF, cudaStreamCaptureModeRelaxed));
    C(cudaStreamUpdateCaptureDependencies(OF, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
    C(cudaEventRecord(ev, OF));
    C(cudaEventRecordWithFlags(ev, OF, cudaEventRecordExternal));
    C(cudaEventRecordWithFlags(ev, OF, 7));
    C(cudaStreamWaitEvent(OF, recorded, 0));
    C(cudaStreamWaitEvent(OF, doomed_event, 0));
    C(cudaStreamWaitEvent(OF, recorded, cudaEventWaitExternal));
    C(cudaGraphLaunch(x, OF));
    C(cudaGraphUpload(x, OF));
  }
  C(cudaEventCreate(&e));
  C(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  D(cudaEventDestroy(doomed_event));
  C(cudaEventQuery(recorded));
  D(cudaEventQuery(doomed_event));
  C(cudaEventSynchronize(recorded));
  D(cudaEventSynchronize(doomed_event));
  C(cudaEventElapsedTime(&ms, recorded, recorded2));
  D(cudaEventElapsedTime(&ms, doomed_event, recorded2));
  B("cudaThreadExchangeStreamCaptureMode", {
    cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
    cudaError_t r = cudaThreadExchangeStreamCaptureMode(&m);
    cudaThreadExchangeStreamCaptureMode(&m);
    return r;
  });
}
static void graphs() {
  static cudaGraph_t n;
  static cudaGraphNode_t nn;
  static cudaGraphExec_t nx;
  static cudaUserObject_t uo;
  static cudaGraphNode_t nodes[64];
  static cudaLaunchAttributeValue lv;
  C(cudaGraphCreate(&n, 0));
  D(cudaGraphDestroy(doomed_graph));
  C(cudaGraphClone(&n, g));
  C(cudaGraphNodeFindInClone(&nn, kn, copy_of_g));
  D(cudaGraphDestroyNode(doomed_node));
  D(cudaGraphAddEmptyNode(&nn, doomed_graph, nullptr, 0));
  D(cudaGraphAddKernelNode(&nn, doomed_graph, nullptr, 0, &kp));
  D(cudaGraphAddMemcpyNode(&nn, doomed_graph, nullptr, 0, &cp));
  D(cudaGraphAddMemcpyNode1D(&nn, doomed_graph, nullptr, 0, d, d2, 4, cudaMemcpyDeviceToDevice));
  D(cudaGraphAddMemcpyNodeToSymbol(&nn, doomed_graph, nullptr, 0, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  D(cudaGraphAddMemcpyNodeFromSymbol(&nn, doomed_graph, nullptr, 0, pin, sym, 4, 0, cudaMemcpyDeviceToHost));
  D(cudaGraphAddMemsetNode(&nn, doomed_graph, nullptr, 0, &sp));
  D(cudaGraphAddHostNode(&nn, doomed_graph, nullptr, 0, &hp));
  D(cudaGraphAddChildGraphNode(&nn, doomed_graph, nullptr, 0, g));
  D(cudaGraphAddEventRecordNode(&nn, doomed_graph, nullptr, 0, ev));
  D(cudaGraphAddEventWaitNode(&nn, doomed_graph, nullptr, 0, ev));
  D(cudaGraphAddNode(&nn, doomed_graph, nullptr, nullptr, 0, &np));
  B("cudaGraphAddMemAllocNode", {
    consumed = true;
    cudaMemAllocNodeParams ap = {};
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location = dev0;
    ap.bytesize = 64;
    return cudaGraphAddMemAllocNode(&nn, doomed_graph, nullptr, 0, &ap);
  });
  D(cudaGraphAddMemFreeNode(&nn, doomed_graph, nullptr, 0, pool_memory));
  B("cudaGraphConditionalHandleCreate", {
    cudaGraphConditionalHandle h;
    return cudaGraphConditionalHandleCreate(&h, doomed_graph, 1, 1);
  });
  D(cudaGraphAddDependencies(doomed_graph, &doomed_node, &doomed_node, nullptr, 1));
  D(cudaGraphRemoveDependencies(doomed_graph, &doomed_node, &doomed_node, nullptr, 1));
  C(cudaGraphGetNodes(g, nullptr, &z));
  C(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &z));
  C(cudaGraphGetRootNodes(g, nullptr, &z));
  C(cudaGraphNodeGetDependencies(kn, nullptr, nullptr, &z));
  C(cudaGraphNodeGetDependentNodes(kn, nullptr, nullptr, &z));
  B("cudaGraphNodeGetType", {
    cudaGraphNodeType ty;
    return cudaGraphNodeGetType(kn, &ty);
  });
  B("cudaGraphKernelNodeGetParams", {
    cudaKernelNodeParams p;
    return cudaGraphKernelNodeGetParams(kn, &p);
  });
  C(cudaGraphKernelNodeSetParams(kn, &kp));
  C(cudaGraphKernelNodeGetAttribute(kn, cudaLaunchAttributePriority, &lv));
  C(cudaGraphKernelNodeSetAttribute(kn, cudaLaunchAttributePriority, &lv));
  C(cudaGraphKernelNodeCopyAttributes(kn, kn));
  C(cudaGraphMemcpyNodeSetParams(cn, &cp));
  C(cudaGraphMemcpyNodeSetParams1D(one_d, d, d2, 4, cudaMemcpyDeviceToDevice));
  C(cudaGraphMemcpyNodeSetParamsToSymbol(tosym, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  C(cudaGraphMemcpyNodeSetParamsFromSymbol(fromsym, pin, sym, 4, 0, cudaMemcpyDeviceToHost));
  C(cudaGraphMemsetNodeSetParams(sn, &sp));
  C(cudaGraphHostNodeSetParams(hn, &hp));
  C(cudaGraphEventRecordNodeSetEvent(rn, ev));
  C(cudaGraphEventWaitNodeSetEvent(wn, ev));
  C(cudaGraphChildGraphNodeGetGraph(gn, &n));
  C(cudaGraphNodeSetParams(kn, &np));
  B("cudaGraphMemAllocNodeGetParams", {
    cudaMemAllocNodeParams ap;
    return cudaGraphMemAllocNodeGetParams(an, &ap);
  });
  C(cudaGraphMemFreeNodeGetParams(fn, &v));
  C(cudaGraphDebugDotPrint(g, "/dev/null", 0));
  C(cudaGraphInstantiate(&nx, g, 0));
  C(cudaGraphInstantiateWithFlags(&nx, g, 0));
  C(cudaGraphInstantiate(&nx, g, cudaGraphInstantiateFlagUpload));
  B("cudaGraphInstantiateWithParams", {
    cudaGraphInstantiateParams p = {};
    return cudaGraphInstantiateWithParams(&nx, g, &p);
  });
  B("cudaGraphInstantiateWithParams, upload in s", {
    cudaGraphInstantiateParams p = {};
    p.flags = cudaGraphInstantiateFlagUpload;
    p.uploadStream = s;
    return cudaGraphInstantiateWithParams(&nx, g, &p);
  });
  B("cudaGraphInstantiateWithParams, upload in t", {
    cudaGraphInstantiateParams p = {};
    p.flags = cudaGraphInstantiateFlagUpload;
    p.uploadStream = t;
    return cudaGraphInstantiateWithParams(&nx, g, &p);
  });
  C(cudaGraphExecGetFlags(x, &ull));
  D(cudaGraphExecDestroy(doomed_exec));
  B("cudaGraphExecUpdate", {
    cudaGraphExecUpdateResultInfo i;
    return cudaGraphExecUpdate(x, g, &i);
  });
  C(cudaGraphExecKernelNodeSetParams(x, kn, &kp));
  C(cudaGraphExecMemcpyNodeSetParams(x, cn, &cp));
  C(cudaGraphExecMemcpyNodeSetParams1D(x, one_d, d, d2, 4, cudaMemcpyDeviceToDevice));
  C(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, tosym, sym, pin, 4, 0, cudaMemcpyHostToDevice));
  C(cudaGraphExecMemcpyNodeSetParamsFromSymbol(x, fromsym, pin, sym, 4, 0, cudaMemcpyDeviceToHost));
  C(cudaGraphExecMemsetNodeSetParams(x, sn, &sp));
  C(cudaGraphExecHostNodeSetParams(x, hn, &hp));
  C(cudaGraphExecEventRecordNodeSetEvent(x, rn, ev));
  C(cudaGraphExecEventWaitNodeSetEvent(x, wn, ev));
  B("cudaGraphExecChildGraphNodeSetParams", {
    cudaGraph_t inner;
    cudaGraphChildGraphNodeGetGraph(gn, &inner);
    return cudaGraphExecChildGraphNodeSetParams(x, gn, inner);
  });
  C(cudaGraphExecNodeSetParams(x, kn, &np));
  C(cudaGraphNodeSetEnabled(x, kn, 1));
  C(cudaGraphNodeGetEnabled(x, kn, &u));
  C(cudaUserObjectCreate(&uo, nullptr, hf, 1, cudaUserObjectNoDestructorSync));
  C(cudaUserObjectRetain(user, 1));
  C(cudaUserObjectRelease(user, 1));
  D(cudaUserObjectRelease(doomed_user, 1));
  D(cudaGraphRetainUserObject(doomed_graph, user, 1, 0));
  D(cudaGraphReleaseUserObject(doomed_graph, user, 1));
  C(cudaGraphGetNodes(g, nodes, &z));
}

int main(int argc, char** argv) {
  make_once();
  struct {
    const char* name;
    void (*f)();
  } const parts[] = {{"memory", memory},   {"copies", copies},       {"arrays", arrays},   {"pools", pools},
                     {"devices", devices}, {"functions", functions}, {"streams", streams}, {"graphs", graphs}};
  for (auto& part : parts) {
    if (argc > 1 && strcmp(argv[1], part.name)) continue;
    std::printf("-- %s\n", part.name);
    part.f();
  }
}
