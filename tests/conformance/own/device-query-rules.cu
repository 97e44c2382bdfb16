// Rule: what the functions that ask about and set up a device say to parameters out of range.
#include "call_sections.h"

static void attributes() {
  int v;
  for (int a = 0; a < 160; ++a) {
    v = 77;
    std::printf("%d %s\n", a, E(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0)));
  }
  CALL(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  CALL(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, -1));
  CALL(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99));
  CALL(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)-1, 0));
  CALL(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)10000, 0));
  cudaDeviceProp p;
  CALL(cudaGetDeviceProperties(nullptr, 0));
  CALL(cudaGetDeviceProperties(&p, -1));
  CALL(cudaGetDeviceProperties(&p, 99));
  CALL(cudaGetDeviceCount(nullptr));
  CALL(cudaGetDevice(nullptr));
  CALL(cudaSetDevice(-1));
  CALL(cudaSetDevice(99));
  CALL(cudaGetDevice(&v));
  FACT(v);
  CALL(cudaInitDevice(0, 0, 0));
  CALL(cudaInitDevice(99, 0, 0));
  CALL(cudaInitDevice(-1, 0, 0));
  CALL(cudaInitDevice(0, 0, 1));
  CALL(cudaInitDevice(0, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
  CALL(cudaInitDevice(0, 0x1000, cudaInitDeviceFlagsAreValid));
  CALL(cudaInitDevice(0, 0x1000, 0));
  CALL(cudaInitDevice(0, 0, 2));
  CALL(cudaDriverGetVersion(nullptr));
  CALL(cudaRuntimeGetVersion(nullptr));
}
static void choose() {
  int v = -7;
  cudaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  CALL(cudaChooseDevice(&v, &p));
  FACT(v);
  p.major = 99;
  CALL(cudaChooseDevice(&v, &p));
  FACT(v);
  p.totalGlobalMem = (size_t)1 << 60;
  CALL(cudaChooseDevice(&v, &p));
  CALL(cudaChooseDevice(nullptr, &p));
  CALL(cudaChooseDevice(&v, nullptr));
  int list[] = {0, 1, 99};
  CALL(cudaSetValidDevices(list, 0));
  CALL(cudaSetValidDevices(nullptr, 0));
  CALL(cudaSetValidDevices(list, -1));
  CALL(cudaSetValidDevices(list, 99));
  CALL(cudaSetValidDevices(nullptr, 1));
  CALL(cudaSetValidDevices(list, 1));
  list[0] = 99;
  CALL(cudaSetValidDevices(list, 1));
  list[0] = -1;
  CALL(cudaSetValidDevices(list, 1));
  list[0] = 0;
  list[1] = 0;
  CALL(cudaSetValidDevices(list, 2));
}
static void bus() {
  char id[64] = "";
  int v = 77;
  MUST(cudaDeviceGetPCIBusId(id, 64, 0));
  FACT(std::strlen(id));
  CALL(cudaDeviceGetByPCIBusId(&v, id));
  FACT(v);
  CALL(cudaDeviceGetByPCIBusId(nullptr, id));
  CALL(cudaDeviceGetByPCIBusId(&v, nullptr));
  CALL(cudaDeviceGetByPCIBusId(&v, ""));
  CALL(cudaDeviceGetByPCIBusId(&v, "nonsense"));
  CALL(cudaDeviceGetByPCIBusId(&v, "0000:ff:1f.7"));
  CALL(cudaDeviceGetByPCIBusId(&v, id + 5));
  for (char* c = id; *c; ++c)
    if (*c >= 'A' && *c <= 'F') *c += 32;
  CALL(cudaDeviceGetByPCIBusId(&v, id));
  for (int n : {0, 1, 12, 13, 14}) {
    std::memset(id, 'x', sizeof id);
    std::printf("%d %s", n, E(cudaDeviceGetPCIBusId(id, n, 0)));
    std::printf(" %d\n", (int)strnlen(id, 20));
  }
  CALL(cudaDeviceGetPCIBusId(nullptr, 20, 0));
  CALL(cudaDeviceGetPCIBusId(id, 20, 99));
  CALL(cudaDeviceGetPCIBusId(id, 20, -1));
}
static void peers() {
  int v = 77;
  for (int a = -1; a < 8; ++a)
    std::printf("p2p %d %s\n", a, E(cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)a, 0, 0)));
  CALL(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 99));
  CALL(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, -1, 0));
  CALL(cudaDeviceGetP2PAttribute(nullptr, cudaDevP2PAttrAccessSupported, 0, 1));
  CALL(cudaDeviceCanAccessPeer(&v, 0, 0));
  FACT(v);
  CALL(cudaDeviceCanAccessPeer(&v, 0, 99));
  CALL(cudaDeviceCanAccessPeer(&v, -1, 0));
  CALL(cudaDeviceCanAccessPeer(nullptr, 0, 0));
  CALL(cudaDeviceEnablePeerAccess(0, 0));
  CALL(cudaDeviceEnablePeerAccess(99, 0));
  CALL(cudaDeviceEnablePeerAccess(-1, 0));
  CALL(cudaDeviceEnablePeerAccess(0, 1));
  CALL(cudaDeviceDisablePeerAccess(0));
  CALL(cudaDeviceDisablePeerAccess(99));
  CALL(cudaDeviceDisablePeerAccess(-1));
  unsigned caps[13];
  cudaAtomicOperation ops[13];
  for (int i = 0; i < 13; ++i) ops[i] = (cudaAtomicOperation)i;
  CALL(cudaDeviceGetHostAtomicCapabilities(caps, ops, 13, 0));
  CALL(cudaDeviceGetHostAtomicCapabilities(caps, ops, 12, 0));
  CALL(cudaDeviceGetHostAtomicCapabilities(caps, ops, 0, 0));
  CALL(cudaDeviceGetHostAtomicCapabilities(nullptr, ops, 2, 0));
  CALL(cudaDeviceGetHostAtomicCapabilities(caps, nullptr, 2, 0));
  CALL(cudaDeviceGetHostAtomicCapabilities(caps, ops, 2, 99));
  CALL(cudaDeviceGetP2PAtomicCapabilities(caps, ops, 2, 0, 0));
  CALL(cudaDeviceGetP2PAtomicCapabilities(caps, ops, 2, 0, 99));
}
static void flags() {
  unsigned f = 77;
  CALL(cudaGetDeviceFlags(&f));
  FACT(f);
  CALL(cudaGetDeviceFlags(nullptr));
  for (unsigned g = 0; g < 36; ++g) {
    std::printf("flags %u %s", g, E(cudaSetDeviceFlags(g)));
    MUST(cudaGetDeviceFlags(&f));
    std::printf(" %u\n", f);
  }
  for (unsigned g : {64u, 128u, 256u, 0x80000000u}) std::printf("flags %u %s\n", g, E(cudaSetDeviceFlags(g)));
  CALL(cudaFree(nullptr));
  for (unsigned g : {0u, 1u, 2u, 4u, 8u, 16u, 64u}) {
    std::printf("active flags %u %s", g, E(cudaSetDeviceFlags(g)));
    MUST(cudaGetDeviceFlags(&f));
    std::printf(" %u\n", f);
  }
  cudaFuncCache c;
  for (int k = -1; k < 5; ++k) {
    std::printf("cache %d %s", k, E(cudaDeviceSetCacheConfig((cudaFuncCache)k)));
    MUST(cudaDeviceGetCacheConfig(&c));
    std::printf(" %d\n", c);
  }
  CALL(cudaDeviceGetCacheConfig(nullptr));
  cudaSharedMemConfig m;
  for (int k = -1; k < 4; ++k) {
    std::printf("banks %d %s", k, E(cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)k)));
    std::printf(" %s", E(cudaDeviceGetSharedMemConfig(&m)));
    std::printf(" %d\n", m);
  }
  CALL(cudaDeviceGetSharedMemConfig(nullptr));
  size_t n = 0;
  for (int k = -1; k < 10; ++k) std::printf("limit %d %s\n", k, E(cudaDeviceGetLimit(&n, (cudaLimit)k)));
  CALL(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
  for (size_t s :
       {(size_t)0, (size_t)1, (size_t)16, (size_t)1000, (size_t)1024, (size_t)65536, (size_t)65537, (size_t)131072}) {
    std::printf("stack %zu %s", s, E(cudaDeviceSetLimit(cudaLimitStackSize, s)));
    MUST(cudaDeviceGetLimit(&n, cudaLimitStackSize));
    std::printf(" %zu\n", n);
  }
  int lo = 7, hi = 7;
  CALL(cudaDeviceGetStreamPriorityRange(&lo, &hi));
  std::printf("%d %d\n", lo, hi);
  CALL(cudaDeviceGetStreamPriorityRange(nullptr, &hi));
  CALL(cudaDeviceGetStreamPriorityRange(&lo, nullptr));
  CALL(cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  for (int bits : {0, 8, 16, 32, 64})
    for (int k = 0; k < 4; ++k) {
      d = {bits, 0, 0, 0, (cudaChannelFormatKind)k};
      n = 77;
      std::printf("widest %d %d %s", bits, k, E(cudaDeviceGetTexture1DLinearMaxWidth(&n, &d, 0)));
      std::printf(" %zu", n);
      d = {bits, bits, bits, bits, (cudaChannelFormatKind)k};
      n = 77;
      std::printf(" %s", E(cudaDeviceGetTexture1DLinearMaxWidth(&n, &d, 0)));
      std::printf(" %zu\n", n);
    }
  CALL(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &d, 0));
  CALL(cudaDeviceGetTexture1DLinearMaxWidth(&n, nullptr, 0));
  CALL(cudaDeviceGetTexture1DLinearMaxWidth(&n, &d, 99));
  size_t a = 0, b = 0;
  CALL(cudaMemGetInfo(nullptr, &b));
  CALL(cudaMemGetInfo(&a, nullptr));
  CALL(cudaMemGetInfo(nullptr, nullptr));
  CALL(cudaCtxResetPersistingL2Cache());
  CALL(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                          cudaFlushGPUDirectRDMAWritesToOwner));
  CALL(cudaDeviceFlushGPUDirectRDMAWrites((cudaFlushGPUDirectRDMAWritesTarget)7, cudaFlushGPUDirectRDMAWritesToOwner));
  CALL(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                          (cudaFlushGPUDirectRDMAWritesScope)7));
}
static void driver() {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult q;
  for (const char* name : {"nonsense", "cuMemAlloc_v2", "", "cudaMalloc"}) {
    f = (void*)8;
    q = (cudaDriverEntryPointQueryResult)77;
    std::printf("%s: %s", name, E(cudaGetDriverEntryPoint(name, &f, cudaEnableDefault, &q)));
    std::printf(" %d %s", q, f == (void*)8 ? "untouched" : f ? "found" : "null");
    f = (void*)8;
    q = (cudaDriverEntryPointQueryResult)77;
    std::printf(" %s", E(cudaGetDriverEntryPointByVersion(name, &f, 1000, cudaEnableDefault, &q)));
    std::printf(" %d %s", q, f == (void*)8 ? "untouched" : f ? "found" : "null");
    f = (void*)8;
    q = (cudaDriverEntryPointQueryResult)77;
    std::printf(" %s", E(cudaGetDriverEntryPointByVersion(name, &f, 99000, cudaEnableDefault, &q)));
    std::printf(" %d %s\n", q, f == (void*)8 ? "untouched" : f ? "found" : "null");
  }
  CALL(cudaGetDriverEntryPoint("cuInit", &f, cudaEnableDefault, nullptr));
  CALL(cudaGetDriverEntryPoint("nonsense", &f, cudaEnableDefault, nullptr));
  CALL(cudaGetDriverEntryPoint("cuInit", &f, 1, &q));
  CALL(cudaGetDriverEntryPoint("cuInit", &f, 2, &q));
  CALL(cudaGetDriverEntryPoint("cuInit", &f, 3, &q));
  CALL(cudaGetDriverEntryPoint("cuInit", &f, 99, &q));
  CALL(cudaGetDriverEntryPointByVersion("cuInit", &f, 0, cudaEnableDefault, &q));
}
__global__ void fill(int* p) { *p = 7; }
static void ipc() {
  char *d, *h, *m, *a;
  static char host[64];
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMallocHost(&h, 4096));
  MUST(cudaMallocManaged(&m, 4096));
  MUST(cudaMallocAsync(&a, 4096, 0));
  cudaIpcMemHandle_t k, z;
  std::memset(&z, 0, sizeof z);
  void* p = nullptr;
  CALL(cudaIpcGetMemHandle(&k, h));
  CALL(cudaIpcGetMemHandle(&k, m));
  CALL(cudaIpcGetMemHandle(&k, a));
  CALL(cudaIpcGetMemHandle(&k, host));
  CALL(cudaIpcGetMemHandle(&k, nullptr));
  CALL(cudaIpcGetMemHandle(&k, d + 100));
  CALL(cudaIpcGetMemHandle(&k, d));
  CALL(cudaIpcOpenMemHandle(&p, k, cudaIpcMemLazyEnablePeerAccess));
  CALL(cudaIpcOpenMemHandle(&p, k, 0));
  CALL(cudaIpcOpenMemHandle(&p, k, 7));
  CALL(cudaIpcOpenMemHandle(nullptr, k, 1));
  CALL(cudaIpcOpenMemHandle(&p, z, 1));
  CALL(cudaIpcCloseMemHandle(d));
  CALL(cudaIpcCloseMemHandle(nullptr));
  CALL(cudaIpcCloseMemHandle(host));
  cudaEvent_t e, t, i;
  MUST(cudaEventCreate(&t));
  MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CALL(cudaEventCreateWithFlags(&i, cudaEventInterprocess));
  CALL(cudaEventCreateWithFlags(&i, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcEventHandle_t q, y;
  std::memset(&y, 0, sizeof y);
  CALL(cudaIpcGetEventHandle(&q, t));
  CALL(cudaIpcGetEventHandle(&q, e));
  CALL(cudaIpcGetEventHandle(&q, nullptr));
  CALL(cudaIpcGetEventHandle(&q, i));
  cudaEvent_t o = nullptr;
  CALL(cudaIpcOpenEventHandle(&o, q));
  CALL(cudaIpcOpenEventHandle(nullptr, q));
  CALL(cudaIpcOpenEventHandle(&o, y));
  CALL(cudaEventDestroy(i));
  CALL(cudaFree(d));
  CALL(cudaIpcGetMemHandle(&k, d));
}
int main() {
  alone("attributes", attributes);
  alone("choose", choose);
  alone("bus", bus);
  alone("peers", peers);
  alone("flags", flags);
  alone("driver", driver);
  alone("ipc", ipc);
}
