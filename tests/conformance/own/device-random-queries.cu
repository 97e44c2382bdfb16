// Rule: what functions' attributes, occupancy, launches, limits, devices, streams and events answer, whatever they are
// asked.
#include "random_memory_calls.h"

__global__ void plain(int* p, int v) {
  if (p) *p = v;
}
__global__ void __launch_bounds__(256, 2) bounded(double d, char c, int* p) {
  if (p) *p = (int)d + c;
}
__global__ void with_shared(int* p) {
  __shared__ int s[1024];
  s[threadIdx.x] = (int)threadIdx.x;
  __syncthreads();
  if (p) *p = s[0];
}
__global__ void with_dynamic(int* p) {
  extern __shared__ int d[];
  if (p) *p = d[0];
}
__global__ void __cluster_dims__(2, 1, 1) clustered(int* p) {
  if (p) *p = 1;
}
__device__ int variable;
static int nothing;
static const void* const functions[] = {
    (void*)plain, (void*)bounded, (void*)with_shared, (void*)with_dynamic, (void*)clustered, (void*)&nothing, nullptr};
static const char* const names[] = {"plain", "bounded", "shared", "dynamic", "clustered", "none", "null"};
static std::vector<cudaStream_t> streams;
static std::vector<cudaEvent_t> events;
static cudaStream_t stream;

static int some_function() {
  const int f = pick({0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6});
  say(" %s", names[f]);
  return f;
}
static int some_block() { return pick({1, 32, 33, 64, 128, 256, 257, 512, 768, 1024, 1025, 0, -1, 96}); }
static size_t some_shared() {
  return pick({0, 0, 1, 1024, 10000, 49152, 49153, 65536, 100000, 232448, 232449, 1 << 30});
}

static void set_attribute() {
  const int attribute = pick({8, 8, 8, 9, 9, 10, 11, 12, 13, 14, 15, 0, 7, 20});
  const int value = pick({0, 1, 2, 8, 50, 100, 101, -1, -2, 1024, 49152, 65536, 100000, 232448, 232449, 228352, 16});
  say("set attribute %d %d", attribute, value);
  const int f = some_function();
  result(cudaFuncSetAttribute(functions[f], (cudaFuncAttribute)attribute, value));
}
static void attributes() {
  say("attributes");
  const int f = some_function();
  cudaFuncAttributes a;
  memset(&a, 0, sizeof a);
  const cudaError_t e = cudaFuncGetAttributes(&a, functions[f]);
  result(e);
  // Registers and local memory are a compiler's.
  say(" shared %zu constant %zu threads %d dynamic %d carveout %d cluster %d: %d,%d,%d may %d policy %d",
      a.sharedSizeBytes, a.constSizeBytes, f == 1 ? a.maxThreadsPerBlock : 0, a.maxDynamicSharedSizeBytes,
      a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth, a.requiredClusterHeight,
      a.requiredClusterDepth, a.nonPortableClusterSizeAllowed, a.clusterSchedulingPolicyPreference);
}
static void cache_config() {
  const int config = pick({0, 1, 2, 3, 4, -1});
  if (chance(60)) {
    say("cache config %d", config);
    const int f = some_function();
    result(cudaFuncSetCacheConfig(functions[f], (cudaFuncCache)config));
  } else {
    say("device cache config %d", config);
    result(cudaDeviceSetCacheConfig((cudaFuncCache)config));
    cudaFuncCache c = (cudaFuncCache)9;
    result(cudaDeviceGetCacheConfig(&c));
    say(" %d", c);
    MUST(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  }
}
static void occupancy() {
  const int form = below(6), block = some_block();
  const size_t shared = some_shared();
  say("occupancy %d block %d shared %zu", form, block, shared);
  const int f = some_function();
  int n = 77;
  if (form < 2) {
    const unsigned flags = form ? pick({0, 1, 2}) : 0;
    say(" flags %u", flags);
    const cudaError_t e = form ? cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, functions[f], block, shared,
                                                                                        flags)
                               : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, functions[f], block, shared);
    result(e);
    say(" %d", n);
  } else if (form == 2) {
    size_t left = 77;
    const int blocks = pick({1, 2, 4, 8, 16, 32, 33, 0, -1, 100});
    say(" blocks %d", blocks);
    result(cudaOccupancyAvailableDynamicSMemPerBlock(&left, functions[f], blocks, block));
    say(" %zu", left);
  } else {
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[2] = {};
    c.gridDim = dim3(pick({1, 2, 4, 8, 6, 7}), pick({1, 1, 2}), 1);
    c.blockDim = dim3(block > 0 ? block : 0);
    c.dynamicSmemBytes = shared;
    c.attrs = a;
    if (chance(70)) {
      a[0].id = cudaLaunchAttributeClusterDimension;
      const unsigned x = pick({1, 2, 4, 8, 16, 3, 0}), y = pick({1, 1, 2, 0}), z = pick({1, 1, 1, 2, 0});
      a[0].val.clusterDim.x = x;
      a[0].val.clusterDim.y = y;
      a[0].val.clusterDim.z = z;
      c.numAttrs = 1;
      say(" cluster %u,%u,%u", x, y, z);
    }
    say(" grid %u,%u", c.gridDim.x, c.gridDim.y);
    if (form == 3) {
      const cudaError_t e = cudaOccupancyMaxActiveClusters(&n, functions[f], &c);
      result(e);
      // How many fit in all depends on how multiprocessors are grouped on one chip.
      say(" %d", e ? n : n > 0);
    } else if (form == 4) {
      result(cudaOccupancyMaxPotentialClusterSize(&n, functions[f], &c));
      say(" %d", n);
    } else {
      say(" skipped");
    }
  }
}
static void launch() {
  const int form = below(4);
  const unsigned gx = pick({1, 2, 1, 1, 4, 0, 65536}), gy = pick({1, 1, 1, 1, 2, 0, 65536}),
                 gz = pick({1, 1, 1, 1, 1, 65536, 0});
  const unsigned bx = pick({1, 32, 64, 256, 257, 1024, 1025, 0}), by = pick({1, 1, 1, 1, 2, 0, 1025}),
                 bz = pick({1, 1, 1, 1, 1, 64, 65, 0});
  if ((unsigned long long)gx * gy * gz > 70000) return say("too large");
  const size_t shared = some_shared();
  say("launch %d grid %u,%u,%u block %u,%u,%u shared %zu", form, gx, gy, gz, bx, by, bz, shared);
  const int f = some_function();
  int* none = nullptr;
  int v = 0;
  double d = 0;
  char c = 0;
  void* first[] = {&none, &v};
  void* second[] = {&d, &c, &none};
  void** arguments = f == 1 ? second : first;
  if (form == 0) {
    result(cudaLaunchKernel(functions[f], dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, stream));
  } else if (form == 1) {
    result(cudaLaunchCooperativeKernel(functions[f], dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, stream));
  } else {
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(gx, gy, gz);
    config.blockDim = dim3(bx, by, bz);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    cudaLaunchAttribute a[3] = {};
    config.attrs = a;
    const int n = pick({0, 1, 1, 2});
    for (int i = 0; i < n; ++i) {
      const int id = pick({0, 2, 3, 4, 4, 4, 5, 6, 8, 9, 10, 14, 16, 30});
      a[i].id = (cudaLaunchAttributeID)id;
      say(" attribute %d", id);
      if (id == 4) {
        const unsigned x = pick({1, 2, 4, 8, 16, 3, 0}), y = pick({1, 1, 2, 0}), z = pick({1, 1, 1, 0});
        a[i].val.clusterDim.x = x;
        a[i].val.clusterDim.y = y;
        a[i].val.clusterDim.z = z;
        say("/%u,%u,%u", x, y, z);
      } else if (id == 2 || id == 6 || id == 5 || id == 3) {
        const int value = pick({0, 1, 2, 3, -1});
        a[i].val.cooperative = value;
        say("/%d", value);
      } else if (id == 8) {
        const int value = pick({0, 1, -1, -5, -6, 3});
        a[i].val.priority = value;
        say("/%d", value);
      } else if (id == 10) {
        const int value = pick({0, 1, 2, 3});
        a[i].val.memSyncDomain = (cudaLaunchMemSyncDomain)value;
        say("/%d", value);
      } else if (id == 14) {
        const int value = pick({0, 50, 100, 101, -1, -2});
        a[i].val.sharedMemCarveout = value;
        say("/%d", value);
      }
    }
    config.numAttrs = n;
    result(cudaLaunchKernelExC(&config, functions[f], arguments));
  }
  const cudaError_t e = cudaDeviceSynchronize();
  if (e) say(" wait %s", name_of(e));
}
static void limits() {
  const int limit = pick({0, 1, 2, 3, 4, 5, 6, 7, -1, 0, 5});
  const size_t value = pick({0, 1, 16, 1024, 1040, 65536, 128, 129, 100, 32, 64, 24, 25});
  say("limit %d %zu", limit, value);
  size_t before = 0;
  const cudaError_t e = cudaDeviceGetLimit(&before, (cudaLimit)limit);
  result(e);
  say(" set");
  result(cudaDeviceSetLimit((cudaLimit)limit, value));
  size_t after = 77;
  result(cudaDeviceGetLimit(&after, (cudaLimit)limit));
  if (limit != 2 && limit != 1 && limit != 6) say(" %zu", after);
  if (!e) {
    cudaDeviceSetLimit((cudaLimit)limit, before);
    cudaGetLastError();
  }
}
static void device() {
  const int form = below(14), at = pick({0, 0, 0, 1, -1, 7}), other = pick({0, 0, 1, -1});
  int n = 77;
  say("device %d on %d", form, at);
  switch (form) {
  case 0: {
    const int attribute = chance(80) ? below(150) : pick({-1, 0, 1000});
    const cudaError_t e = cudaDeviceGetAttribute(&n, (cudaDeviceAttr)attribute, at);
    say(" attribute %d", attribute);
    result(e);
    if (e) say(" %d", n);
    break;
  }
  case 1: {
    const int attribute = pick({1, 2, 3, 4, 0, 5, 6});
    say(" peer %d attribute %d", other, attribute);
    result(cudaDeviceGetP2PAttribute(&n, (cudaDeviceP2PAttr)attribute, at, other));
    say(" %d", n);
    break;
  }
  case 2:
    say(" can access %d", other);
    result(cudaDeviceCanAccessPeer(&n, at, other));
    say(" %d", n);
    break;
  case 3: {
    const unsigned flags = pick({0, 0, 1});
    say(" enable %d flags %u", other, flags);
    result(cudaDeviceEnablePeerAccess(other, flags));
    result(cudaDeviceDisablePeerAccess(other));
    break;
  }
  case 4: {
    const unsigned flags = pick({0, 1, 2, 4, 8, 16, 3, 5, 128, 256, 32});
    unsigned got = 77;
    say(" flags %u", flags);
    result(cudaSetDeviceFlags(flags));
    result(cudaGetDeviceFlags(&got));
    say(" %u", got);
    MUST(cudaSetDeviceFlags(0));
    break;
  }
  case 5:
    result(cudaSetDevice(at));
    MUST(cudaGetDevice(&n));
    say(" %d", n);
    break;
  case 6: {
    const unsigned device_flags = pick({0, 1, 2, 4, 8, 16, 3}), flags = pick({0, 1, 1, 2});
    say(" init %u %u", device_flags, flags);
    result(cudaInitDevice(at, device_flags, flags));
    MUST(cudaSetDeviceFlags(0));
    break;
  }
  case 7: {
    int of[3] = {0, at, 0};
    const int length = pick({0, 1, 2, 1, -1});
    say(" valid %d", length);
    result(cudaSetValidDevices(of, length));
    MUST(cudaSetValidDevices(nullptr, 0));
    MUST(cudaSetDevice(0));
    break;
  }
  case 8: {
    char id[64] = "x";
    const int length = pick({64, 13, 12, 5, 0, 64});
    say(" bus id %d", length);
    const cudaError_t e = cudaDeviceGetPCIBusId(id, length, at);
    result(e);
    say(" %zu", strlen(id));
    if (!e && length > 13) {
      result(cudaDeviceGetByPCIBusId(&n, id));
      say(" %d", n);
    }
    break;
  }
  case 9: {
    const char* const id = pick({"", "zz", "0000:00:00.0", "ffff:ff:1f.0", "1:2"});
    say(" by bus id '%s'", id);
    result(cudaDeviceGetByPCIBusId(&n, id));
    break;
  }
  case 10: {
    cudaDeviceProp* p = new cudaDeviceProp;
    memset(p, 0, sizeof *p);
    say(" properties");
    result(cudaGetDeviceProperties(p, at));
    say(" %d", p->warpSize);
    if (chance(50)) memset(p, 0, sizeof *p);
    p->major = pick({0, 9, 99});
    say(" choose %d", p->major);
    result(cudaChooseDevice(&n, p));
    say(" %d", n);
    delete p;
    break;
  }
  case 11: {
    const int target = pick({0, 0, 1, 2}), scope = pick({100, 200, 0, 300});
    say(" flush %d %d", target, scope);
    result(cudaDeviceFlushGPUDirectRDMAWrites((cudaFlushGPUDirectRDMAWritesTarget)target,
                                              (cudaFlushGPUDirectRDMAWritesScope)scope));
    break;
  }
  case 12: {
    const int bank = pick({0, 1, 2, 3});
    cudaSharedMemConfig got = (cudaSharedMemConfig)77;
    say(" bank size %d", bank);
    result(cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)bank));
    result(cudaDeviceGetSharedMemConfig(&got));
    say(" %d", got);
    break;
  }
  case 13: {
    cudaStreamCaptureMode mode = (cudaStreamCaptureMode)pick({0, 1, 2, 3, -1});
    say(" mode %d", mode);
    result(cudaThreadExchangeStreamCaptureMode(&mode));
    say(" %d", mode);
    mode = cudaStreamCaptureModeGlobal;
    MUST(cudaThreadExchangeStreamCaptureMode(&mode));
    break;
  }
  }
}
static void make_stream() {
  const unsigned flags = pick({0, 1, 1, 2, 3, 8});
  const int priority = pick({0, -1, -5, -6, 1, 100, -100});
  const bool with = chance(60);
  say("stream flags %u priority %d %d", flags, priority, with);
  cudaStream_t s = nullptr;
  const cudaError_t e = with ? cudaStreamCreateWithPriority(&s, flags, priority) : cudaStreamCreateWithFlags(&s, flags);
  result(e);
  if (e) return;
  streams.push_back(s);
}
static cudaStream_t some_stream() {
  const int i = below((int)streams.size() + 4);
  say(" stream %d", i);
  return i == 0   ? stream
         : i == 1 ? (cudaStream_t)0
         : i == 2 ? cudaStreamLegacy
         : i == 3 ? cudaStreamPerThread
                  : streams[i - 4];
}
static void stream_query() {
  const int form = below(7);
  say("query %d", form);
  cudaStream_t s = some_stream();
  switch (form) {
  case 0: {
    int p = 77;
    result(cudaStreamGetPriority(s, &p));
    say(" %d", p);
    break;
  }
  case 1: {
    unsigned f = 77;
    result(cudaStreamGetFlags(s, &f));
    say(" %u", f);
    break;
  }
  case 2: {
    int d = 77;
    result(cudaStreamGetDevice(s, &d));
    say(" %d", d);
    break;
  }
  case 3:
    MUST(cudaDeviceSynchronize());
    result(cudaStreamQuery(s));
    break;
  case 4: {
    const int id = pick({1, 2, 3, 4, 5, 8, 9, 10, 0, 14});
    cudaStreamAttrValue v;
    memset(&v, 0, sizeof v);
    const int value = pick({0, 1, 2, 3, 4, -1, -5, 7});
    v.syncPolicy = (cudaSynchronizationPolicy)value;
    say(" set attribute %d %d", id, value);
    // What is set of the streams that are always there would stay.
    if (id == 1 || s == stream || s == 0 || s == cudaStreamLegacy || s == cudaStreamPerThread)
      say(" skipped");
    else
      result(cudaStreamSetAttribute(s, (cudaStreamAttrID)id, &v));
    memset(&v, 0, sizeof v);
    say(" get");
    if (id != 1) {
      const cudaError_t e = cudaStreamGetAttribute(s, (cudaStreamAttrID)id, &v);
      result(e);
      say(" %d %d", v.syncPolicy, id == 9 ? ((unsigned char*)&v)[1] : 0);
    }
    break;
  }
  case 5: {
    cudaStream_t t = some_stream();
    say(" copy attributes");
    if (s == stream || s == 0 || s == cudaStreamLegacy || s == cudaStreamPerThread) break;
    result(cudaStreamCopyAttributes(s, t));
    break;
  }
  case 6: {
    cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)77;
    result(cudaStreamIsCapturing(s, &c));
    say(" %d", c);
    break;
  }
  }
}
static void make_event() {
  const unsigned flags = pick({0, 1, 2, 3, 4, 6, 7, 8, 16});
  say("event flags %u", flags);
  cudaEvent_t e = nullptr;
  const cudaError_t error = cudaEventCreateWithFlags(&e, flags);
  result(error);
  if (!error) events.push_back(e);
}
static cudaEvent_t some_event() {
  const int i = below((int)events.size());
  say(" event %d", i);
  return events[i];
}
static void event_calls() {
  if (events.empty()) return;
  const int form = below(6);
  say("event call %d", form);
  cudaEvent_t e = some_event();
  switch (form) {
  case 0: result(cudaEventRecord(e, some_stream())); break;
  case 1: {
    const unsigned flags = pick({0, 0, 1, 2});
    say(" flags %u", flags);
    result(cudaEventRecordWithFlags(e, some_stream(), flags));
    break;
  }
  case 2: {
    const unsigned flags = pick({0, 0, 1, 2});
    say(" flags %u", flags);
    result(cudaStreamWaitEvent(some_stream(), e, flags));
    break;
  }
  case 3:
    MUST(cudaDeviceSynchronize());
    result(cudaEventQuery(e));
    break;
  case 4: result(cudaEventSynchronize(e)); break;
  case 5: {
    MUST(cudaDeviceSynchronize());
    float ms = -7;
    const cudaError_t error = cudaEventElapsedTime(&ms, e, some_event());
    result(error);
    say(" %d", ms == -7);
    break;
  }
  }
}
static void look_up() {
  const int form = below(6);
  say("look up %d", form);
  const int f = some_function();
  switch (form) {
  case 0: {
    cudaFunction_t g = nullptr;
    const cudaError_t e = cudaGetFuncBySymbol(&g, functions[f]);
    result(e);
    say(" %d", g != nullptr);
    break;
  }
  case 1: {
    cudaKernel_t k = nullptr;
    const cudaError_t e = cudaGetKernel(&k, functions[f]);
    result(e);
    say(" %d", k != nullptr);
    if (!e) {
      const int attribute = pick({8, 9, 0, 13}), value = pick({0, 1, 100, 1024, 300000, -1}),
                device = pick({0, 0, 1, -1});
      say(" set %d %d on %d", attribute, value, device);
      result(cudaKernelSetAttributeForDevice(k, (cudaFuncAttribute)attribute, value, device));
      cudaFuncAttributes a;
      memset(&a, 0, sizeof a);
      say(" attributes");
      result(cudaFuncGetAttributes(&a, (const void*)k));
      say(" %d", a.maxDynamicSharedSizeBytes);
    }
    break;
  }
  case 2: {
    const char* name = "untouched";
    result(cudaFuncGetName(&name, functions[f]));
    say(" %s", name ? name : "null");
    break;
  }
  case 3: {
    const size_t i = pick({0, 1, 2, 3, 100});
    size_t offset = 77, size = 77;
    say(" parameter %zu", i);
    result(cudaFuncGetParamInfo(functions[f], i, &offset, &size));
    say(" %zu %zu", offset, size);
    break;
  }
  case 4: {
    void* p = nullptr;
    const void* const of = pick(
        {(const void*)&variable, (const void*)&nothing, (const void*)nullptr, (const void*)plain});
    result(cudaGetSymbolAddress(&p, of));
    size_t n = 77;
    result(cudaGetSymbolSize(&n, of));
    say(" %d %zu", p != nullptr, n);
    break;
  }
  case 5: {
    const int config = pick({0, 1, 2, 3});
    say(" bank size %d", config);
    result(cudaFuncSetSharedMemConfig(functions[f], (cudaSharedMemConfig)config));
    break;
  }
  }
}

int main(int count, char** arguments) {
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return run_seeds(count, arguments, 1000, {}, [&] {
    for (int i = 0; i < 5; ++i) {
      // As they were: what is set stays set.
      cudaFuncSetAttribute(functions[i], cudaFuncAttributeMaxDynamicSharedMemorySize, 0);
      cudaFuncSetAttribute(functions[i], cudaFuncAttributePreferredSharedMemoryCarveout, -1);
      cudaFuncSetAttribute(functions[i], cudaFuncAttributeNonPortableClusterSizeAllowed, 0);
      cudaFuncSetAttribute(functions[i], cudaFuncAttributeClusterSchedulingPolicyPreference, 0);
      cudaFuncSetCacheConfig(functions[i], cudaFuncCachePreferNone);
      if (i != 4) {
        cudaFuncSetAttribute(functions[i], cudaFuncAttributeRequiredClusterWidth, 0);
        cudaFuncSetAttribute(functions[i], cudaFuncAttributeRequiredClusterHeight, 0);
        cudaFuncSetAttribute(functions[i], cudaFuncAttributeRequiredClusterDepth, 0);
      }
      cudaGetLastError();
    }
    for (int i = 0; i < 30; ++i) {
      switch (pick({0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10, 10, 11, 11})) {
      case 0: set_attribute(); break;
      case 1: attributes(); break;
      case 2: cache_config(); break;
      case 3: occupancy(); break;
      case 4: launch(); break;
      case 5: limits(); break;
      case 6: device(); break;
      case 7: make_stream(); break;
      case 8: stream_query(); break;
      case 9: make_event(); break;
      case 10: event_calls(); break;
      case 11: look_up(); break;
      }
      say("\n");
    }
    MUST(cudaDeviceSynchronize());
    for (auto s : streams) MUST(cudaStreamDestroy(s));
    for (auto e : events) MUST(cudaEventDestroy(e));
    streams.clear();
    events.clear();
  });
}
