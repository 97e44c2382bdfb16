// Rule: what two devices share and what each has to itself: symbols, arrays, managed memory, pools, resets, limits,
// functions, captures across them. Recorded on two H200.
#include "call_sections.h"

__global__ void add(int* p, int v) { *p += v; }
__global__ void fetch(const int* p, int* to) { *to = *p; }
__device__ int variable = 5;
__constant__ int constant = 6;
__managed__ int shared_variable = 7;

static int value(const int* p) {
  int v = -1;
  if (const cudaError_t e = cudaMemcpy(&v, p, 4, cudaMemcpyDefault); e != cudaSuccess) std::printf("(%s) ", E(e));
  return v;
}
static int* on(int device, int first, size_t bytes = 4096) {
  int before;
  cudaGetDevice(&before);
  cudaSetDevice(device);
  int* p = nullptr;
  cudaMalloc(&p, bytes);
  cudaMemcpy(p, &first, 4, cudaMemcpyHostToDevice);
  cudaSetDevice(before);
  return p;
}
static cudaError_t launch(int* p, cudaStream_t s = 0) {
  add<<<1, 1, 0, s>>>(p, 1);
  return cudaGetLastError();
}

static void after_reset() {
  int* b = on(1, 2);
  cudaSetDevice(0);
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(cudaDeviceReset());
  FACT(value(b));
  CALL(cudaDeviceDisablePeerAccess(1));
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(launch(b));
  CALL(cudaDeviceSynchronize());
  cudaSetDevice(1);
  CALL(cudaDeviceReset());
  cudaSetDevice(0);
  CALL(cudaDeviceEnablePeerAccess(1, 0));
  CALL(cudaDeviceDisablePeerAccess(1));
  CALL(cudaDeviceDisablePeerAccess(1));
  CALL(cudaMemset(b, 0, 4));
  CALL(cudaFree(b));
}
static void captures() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaStream_t s, t;
  cudaEvent_t e, f;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaSetDevice(1);
  MUST(cudaStreamCreate(&t));
  MUST(cudaEventCreate(&f));
  cudaSetDevice(0);
  MUST(cudaStreamCreate(&s));
  MUST(cudaEventCreate(&e));
  CALL(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  CALL(launch(a, s));
  CALL(cudaEventRecord(e, s));
  cudaSetDevice(1);
  CALL(cudaStreamWaitEvent(t, e, 0));
  CALL(launch(b, t));
  CALL(cudaMemsetAsync(b, 0, 4, t));
  CALL(cudaEventRecord(f, t));
  cudaSetDevice(0);
  CALL(cudaStreamWaitEvent(s, f, 0));
  CALL(launch(a, s));
  CALL(cudaStreamEndCapture(s, &graph));
  size_t nodes = 0;
  CALL(cudaGraphGetNodes(graph, nullptr, &nodes));
  FACT(nodes);
  CALL(cudaGraphInstantiate(&exec, graph, 0));
  CALL(cudaGraphLaunch(exec, s));
  CALL(cudaStreamSynchronize(s));
  FACT(value(a));
  FACT(value(b));
  CALL(cudaGraphLaunch(exec, t));
  CALL(cudaStreamSynchronize(t));
  FACT(value(a));
}
static void symbols() {
  void *p0, *p1, *c0, *c1;
  cudaSetDevice(0);
  CALL(cudaGetSymbolAddress(&p0, variable));
  CALL(cudaGetSymbolAddress(&c0, constant));
  void* m0;
  CALL(cudaGetSymbolAddress(&m0, shared_variable));
  cudaSetDevice(1);
  CALL(cudaGetSymbolAddress(&p1, variable));
  CALL(cudaGetSymbolAddress(&c1, constant));
  FACT(p0 == p1);
  FACT(c0 == c1);
  void* m1;
  CALL(cudaGetSymbolAddress(&m1, shared_variable));
  FACT(m0 == m1);
  int v = 50;
  CALL(cudaMemcpyToSymbol(variable, &v, 4));
  CALL(cudaMemcpyToSymbol(constant, &v, 4));
  FACT(value((int*)p0));
  FACT(value((int*)p1));
  FACT(value((int*)c0));
  FACT(value((int*)c1));
  CALL(cudaMemcpy(p0, p1, 4, cudaMemcpyDefault));
  FACT(value((int*)p0));
  cudaPointerAttributes attributes;
  MUST(cudaPointerGetAttributes(&attributes, p0));
  FACT(attributes.device);
  FACT(attributes.type);
  MUST(cudaPointerGetAttributes(&attributes, p1));
  FACT(attributes.device);
  MUST(cudaPointerGetAttributes(&attributes, m1));
  FACT(attributes.device);
  FACT(attributes.type);
}
static void arrays() {
  cudaArray_t x, y;
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
  int* b = on(1, 2);
  cudaSetDevice(0);
  MUST(cudaMallocArray(&x, &d, 16, 4));
  cudaSetDevice(1);
  MUST(cudaMallocArray(&y, &d, 16, 4));
  int line[64] = {1, 2, 3};
  CALL(cudaMemcpy2DToArray(x, 0, 0, line, 64, 64, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2DToArray(x, 0, 0, b, 64, 64, 1, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DArrayToArray(y, 0, 0, x, 0, 0, 64, 1, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DFromArray(line, 64, x, 0, 0, 64, 1, cudaMemcpyDeviceToHost));
  cudaMemcpy3DPeerParms p = {};
  p.srcArray = x;
  p.srcDevice = 0;
  p.dstArray = y;
  p.dstDevice = 1;
  p.extent = {16, 4, 1};
  CALL(cudaMemcpy3DPeer(&p));
  p.srcDevice = 1;
  CALL(cudaMemcpy3DPeer(&p));
  p.dstDevice = 0;
  CALL(cudaMemcpy3DPeer(&p));
  p.dstDevice = 5;
  CALL(cudaMemcpy3DPeer(&p));
  p = {};
  p.srcPtr = {b, 64, 64, 4};
  p.srcDevice = 1;
  p.dstArray = x;
  p.dstDevice = 0;
  p.extent = {64, 4, 1};
  CALL(cudaMemcpy3DPeer(&p));
  p.extent = {16, 4, 1};
  CALL(cudaMemcpy3DPeer(&p));
  CALL(cudaMemcpy3DPeerAsync(&p, 0));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = x;
  cudaTextureDesc t = {};
  cudaTextureObject_t texture;
  CALL(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  cudaSurfaceObject_t surface;
  CALL(cudaCreateSurfaceObject(&surface, &r));
  CALL(cudaFreeArray(x));
  CALL(cudaFreeArray(y));
}
static void managed() {
  int* m;
  cudaSetDevice(0);
  MUST(cudaMallocManaged(&m, 1 << 20));
  *m = 1;
  cudaSetDevice(1);
  CALL(launch(m));
  CALL(cudaDeviceSynchronize());
  FACT(*m);
  const cudaMemLocation one = {cudaMemLocationTypeDevice, 1}, zero = {cudaMemLocationTypeDevice, 0};
  const cudaMemLocation two = {cudaMemLocationTypeDevice, 2};
  CALL(cudaMemPrefetchAsync(m, 1 << 20, one, 0));
  CALL(cudaMemPrefetchAsync(m, 1 << 20, zero, 0));
  CALL(cudaMemPrefetchAsync(m, 1 << 20, two, 0));
  int last = 77;
  CALL(cudaMemRangeGetAttribute(&last, 4, cudaMemRangeAttributeLastPrefetchLocation, m, 1 << 20));
  FACT(last);
  CALL(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetAccessedBy, one));
  CALL(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetAccessedBy, zero));
  int by[3] = {77, 77, 77};
  CALL(cudaMemRangeGetAttribute(by, 12, cudaMemRangeAttributeAccessedBy, m, 1 << 20));
  std::printf("%d %d %d\n", by[0], by[1], by[2]);
  CALL(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetPreferredLocation, one));
  CALL(cudaMemRangeGetAttribute(&last, 4, cudaMemRangeAttributePreferredLocation, m, 1 << 20));
  FACT(last);
  CALL(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetPreferredLocation, two));
  cudaStream_t s;
  cudaSetDevice(0);
  MUST(cudaStreamCreate(&s));
  cudaSetDevice(1);
  CALL(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
  CALL(cudaStreamSynchronize(s));
  CALL(cudaMemcpy(m, m + 1024, 4, cudaMemcpyDefault));
  CALL(cudaFree(m));
  FACT(shared_variable);
  add<<<1, 1>>>(&shared_variable, 1);
  CALL(cudaDeviceSynchronize());
  FACT(shared_variable);
}
static void resets() {
  int *a = on(0, 1), *b = on(1, 2);
  cudaStream_t s, t;
  cudaEvent_t e;
  int* h;
  cudaSetDevice(0);
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaStreamCreate(&s));
  cudaSetDevice(1);
  MUST(cudaStreamCreate(&t));
  MUST(cudaEventCreate(&e));
  cudaSetDevice(0);
  CALL(cudaDeviceReset());
  int d;
  cudaGetDevice(&d);
  FACT(d);
  FACT(value(b));
  CALL(cudaMemset(a, 0, 4));
  CALL(cudaFree(a));
  cudaPointerAttributes attributes;
  CALL(cudaPointerGetAttributes(&attributes, a));
  FACT(attributes.type);
  CALL(cudaPointerGetAttributes(&attributes, h));
  FACT(attributes.type);
  CALL(cudaPointerGetAttributes(&attributes, b));
  FACT(attributes.type);
  cudaSetDevice(1);
  CALL(launch(b, t));
  CALL(cudaStreamSynchronize(t));
  CALL(cudaEventRecord(e, t));
  CALL(cudaEventSynchronize(e));
  FACT(value(b));
  CALL(cudaFree(b));
}
static void limits_and_flags() {
  size_t v;
  cudaSetDevice(0);
  CALL(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CALL(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  CALL(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  cudaSetDevice(1);
  CALL(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  FACT(v);
  cudaFuncCache c;
  CALL(cudaDeviceGetCacheConfig(&c));
  FACT(c);
  unsigned f;
  CALL(cudaGetDeviceFlags(&f));
  FACT(f);
  cudaSetDevice(0);
  CALL(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  FACT(v);
  CALL(cudaGetDeviceFlags(&f));
  FACT(f);
  CALL(cudaInitDevice(1, 0, 0));
  int d;
  cudaGetDevice(&d);
  FACT(d);
  CALL(cudaInitDevice(1, cudaDeviceScheduleSpin, 0));
  CALL(cudaInitDevice(1, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
  CALL(cudaInitDevice(2, 0, 0));
  CALL(cudaInitDevice(-1, 0, 0));
  CALL(cudaGetDeviceFlags(&f));
  FACT(f);
  cudaSetDevice(1);
  CALL(cudaGetDeviceFlags(&f));
  FACT(f);
  CALL(cudaSetDevice(2));
  CALL(cudaSetDevice(-1));
  CALL(cudaGetDevice(&d));
  FACT(d);
  int valid[] = {1, 0}, bad[] = {1, 2}, twice[] = {1, 1};
  CALL(cudaSetValidDevices(valid, 2));
  CALL(cudaSetValidDevices(bad, 2));
  CALL(cudaSetValidDevices(twice, 2));
  CALL(cudaSetValidDevices(valid, 0));
  CALL(cudaSetValidDevices(nullptr, 1));
  CALL(cudaSetValidDevices(valid, 3));
  char bus0[32] = "", bus1[32] = "";
  CALL(cudaDeviceGetPCIBusId(bus0, 32, 0));
  CALL(cudaDeviceGetPCIBusId(bus1, 32, 1));
  FACT(std::strcmp(bus0, bus1) != 0);
  CALL(cudaDeviceGetByPCIBusId(&d, bus1));
  FACT(d);
  cudaDeviceProp p0, p1;
  cudaGetDeviceProperties(&p0, 0);
  cudaGetDeviceProperties(&p1, 1);
  FACT(std::memcmp(&p0.uuid, &p1.uuid, 16) != 0);
  FACT(std::strcmp(p0.name, p1.name));
  FACT(p0.multiProcessorCount == p1.multiProcessorCount);
}
static void memory_of_each() {
  size_t f0, f1, g0, g1, total;
  cudaSetDevice(1);
  cudaMemGetInfo(&f1, &total);
  cudaSetDevice(0);
  cudaMemGetInfo(&f0, &total);
  void* p;
  MUST(cudaMalloc(&p, 256 << 20));
  cudaMemGetInfo(&g0, &total);
  cudaSetDevice(1);
  cudaMemGetInfo(&g1, &total);
  FACT((f0 - g0) >> 20);
  FACT((f1 - g1) >> 20);
  CALL(cudaFree(p));
  cudaSetDevice(0);
  cudaMemGetInfo(&g0, &total);
  FACT((f0 - g0) >> 20);
}
static void pools_of_each() {
  cudaMemPool_t p0, p1, q;
  CALL(cudaDeviceGetMemPool(&p0, 0));
  CALL(cudaDeviceGetMemPool(&p1, 1));
  FACT(p0 == p1);
  CALL(cudaDeviceSetMemPool(0, p1));
  CALL(cudaDeviceSetMemPool(1, p1));
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 1};
  CALL(cudaMemPoolCreate(&q, &props));
  cudaSetDevice(0);
  int* x;
  CALL(cudaMallocFromPoolAsync(&x, 4, q, 0));
  cudaPointerAttributes attributes;
  MUST(cudaPointerGetAttributes(&attributes, x));
  FACT(attributes.device);
  CALL(cudaFreeAsync(x, 0));
  CALL(cudaDeviceSynchronize());
  cudaMemLocation l = {cudaMemLocationTypeDevice, 1};
  CALL(cudaMemGetDefaultMemPool(&q, &l, cudaMemAllocationTypePinned));
  FACT(q == p1);
  l.id = 2;
  CALL(cudaMemGetDefaultMemPool(&q, &l, cudaMemAllocationTypePinned));
  cudaMemAccessDesc d[2] = {{{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite},
                            {{cudaMemLocationTypeDevice, 2}, cudaMemAccessFlagsProtReadWrite}};
  CALL(cudaMemPoolSetAccess(p0, d, 2));
  cudaMemAccessFlags flags = (cudaMemAccessFlags)9;
  CALL(cudaMemPoolGetAccess(&flags, p0, &d[0].location));
  FACT(flags);
}
static void occupancy() {
  cudaSetDevice(1);
  int n;
  CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, add, 128, 0));
  cudaFuncAttributes a;
  CALL(cudaFuncGetAttributes(&a, add));
  CALL(cudaFuncSetAttribute(fetch, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  cudaFuncGetAttributes(&a, fetch);
  FACT(a.maxDynamicSharedSizeBytes);
  cudaSetDevice(0);
  cudaFuncGetAttributes(&a, fetch);
  FACT(a.maxDynamicSharedSizeBytes);
}

int main(int, char** arguments) {
  if (!std::getenv("MILLRACE_DEVICES")) {  // is read when a program starts
    setenv("MILLRACE_DEVICES", "2", 1);
    execv("/proc/self/exe", arguments);
  }
  alone("access after resets", after_reset);
  alone("captures", captures);
  alone("symbols", symbols);
  alone("arrays", arrays);
  alone("managed", managed);
  alone("resets", resets);
  alone("limits and flags", limits_and_flags);
  alone("memory of each", memory_of_each);
  alone("pools of each", pools_of_each);
  alone("functions", occupancy);
  return 0;
}
