// Rules of the memory API that need no recorded output: what pointers are, which copies are refused and how, rows and
// boxes with odd pitches, host memory, symbols, managed memory, pools.
#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "check.h"

__device__ int variable[16];
__constant__ int constant[16];
__managed__ int managedVariable[16];
__device__ volatile int polled;

static cudaMemoryType type_of(const void* p) {
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, p));
  return a.type;
}

static char *d, *h, *m, host[4096];
static void* q;
static cudaPointerAttributes a;
static cudaStream_t s;
static const cudaMemLocation dl = {cudaMemLocationTypeDevice, 0}, hl = {cudaMemLocationTypeHost, 0};

static void pointers() {
  OK(cudaPointerGetAttributes(&a, d + 999));
  CHECK(a.type == cudaMemoryTypeDevice && a.device == 0 && a.devicePointer == d + 999 && a.hostPointer == nullptr);
  OK(cudaPointerGetAttributes(&a, h + 7));
  CHECK(a.type == cudaMemoryTypeHost && a.devicePointer == h + 7 && a.hostPointer == h + 7);
  OK(cudaPointerGetAttributes(&a, m + 7));
  CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == m + 7 && a.hostPointer == m + 7);
  OK(cudaPointerGetAttributes(&a, host));
  CHECK(a.type == cudaMemoryTypeUnregistered && a.hostPointer == host && a.device == -2);
  EXPECT(cudaPointerGetAttributes(nullptr, d), cudaErrorInvalidValue);
  OK(cudaPointerGetAttributes(&a, nullptr));
  CHECK(a.type == cudaMemoryTypeUnregistered);
  OK(cudaGetSymbolAddress(&q, variable));
  CHECK(type_of((char*)q + 60) == cudaMemoryTypeDevice);
  OK(cudaGetSymbolAddress(&q, constant));
  CHECK(type_of(q) == cudaMemoryTypeDevice);
  OK(cudaGetSymbolAddress(&q, managedVariable));
  CHECK(type_of(q) == cudaMemoryTypeManaged && q == (void*)managedVariable);
}

static void default_copies() {
  char* all[] = {d, h, m, host};
  for (char* x : all)
    for (char* y : all) {
      memset(host + 2000, 0, 1000);
      if (x != y) OK(cudaMemcpy(x, y, 1000, cudaMemcpyDefault));
    }
  OK(cudaMemset(d, 7, 1000));
  OK(cudaMemcpy(host, d, 1000, cudaMemcpyDefault));
  CHECK(host[999] == 7);
  OK(cudaMemcpy(m, host, 1000, cudaMemcpyDefault));
  CHECK(m[500] == 7);
}

static void wrong_copies() {
  EXPECT(cudaMemcpy(d, host, 10, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(host, d, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(d, host, 10, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(d, host, 10, (cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
  EXPECT(cudaMemcpy(nullptr, host, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT(cudaMemcpy(d, nullptr, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
  EXPECT(cudaMemcpy(d, host, 1025, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
}

static void rows() {
  char* p2;
  size_t pitch;
  OK(cudaMallocPitch(&p2, &pitch, 33, 5));
  CHECK(pitch == 512);
  for (int i = 0; i < 5 * 35; ++i) host[i] = i;
  OK(cudaMemcpy2D(p2, pitch, host, 35, 33, 5, cudaMemcpyHostToDevice));
  memset(host + 1000, 0, 1000);
  OK(cudaMemcpy2D(host + 1000, 37, p2, pitch, 33, 5, cudaMemcpyDeviceToHost));
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 33; ++c) CHECK(host[1000 + 37 * r + c] == (char)(35 * r + c));
  CHECK(host[1033] == 0);
  EXPECT(cudaMemcpy2D(p2, 32, host, 35, 33, 5, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT(cudaMemcpy2D(p2, pitch, host, 32, 33, 5, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  OK(cudaMemcpy2D(p2, pitch, host, 35, 0, 5, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(p2, pitch, host, 35, 33, 0, cudaMemcpyHostToDevice));
  OK(cudaMemset2D(p2, pitch, 9, 33, 5));
  OK(cudaMemcpy2D(host, 33, p2, pitch, 33, 5, cudaMemcpyDefault));
  CHECK(host[0] == 9 && host[164] == 9);
  EXPECT(cudaMemset2D(p2, 16, 9, 33, 5), cudaErrorInvalidValue);
}

static void boxes() {
  cudaPitchedPtr p3;
  OK(cudaMalloc3D(&p3, make_cudaExtent(10, 4, 3)));
  CHECK(p3.pitch == 512 && p3.xsize == 10 && p3.ysize == 4);
  OK(cudaMemset3D(p3, 3, make_cudaExtent(10, 4, 3)));
  OK(cudaMemset3D(p3, 5, make_cudaExtent(5, 2, 1)));
  cudaMemcpy3DParms c = {};
  c.srcPtr = p3;
  c.dstPtr = make_cudaPitchedPtr(host, 11, 11, 5);
  c.extent = make_cudaExtent(10, 4, 3);
  c.kind = cudaMemcpyDeviceToHost;
  memset(host, 0, sizeof host);
  OK(cudaMemcpy3D(&c));
  CHECK(host[0] == 5 && host[4] == 5 && host[5] == 3 && host[11] == 5 && host[22] == 3 && host[55] == 3 &&
        host[10] == 0);
  c.srcPos = make_cudaPos(1, 1, 1);
  c.extent = make_cudaExtent(9, 3, 2);
  OK(cudaMemcpy3D(&c));
}

static void host_memory() {
  unsigned flags;
  OK(cudaHostGetFlags(&flags, h));
  CHECK(flags == cudaHostAllocMapped);
  char* w;
  OK(cudaHostAlloc(&w, 100, cudaHostAllocWriteCombined | cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, w));
  CHECK((flags & cudaHostAllocWriteCombined) != 0);
  EXPECT(cudaHostAlloc(&q, 10, 0x100), cudaErrorInvalidValue);
  EXPECT(cudaHostGetFlags(&flags, host), cudaErrorInvalidValue);
  EXPECT(cudaHostGetFlags(&flags, d), cudaErrorInvalidValue);
  OK(cudaHostGetDevicePointer(&q, h + 5, 0));
  CHECK(q == h + 5);
  EXPECT(cudaHostGetDevicePointer(&q, h, 1), cudaErrorInvalidValue);
  EXPECT(cudaHostGetDevicePointer(&q, host, 0), cudaErrorInvalidValue);
  EXPECT(cudaFreeHost(d), cudaErrorInvalidValue);
  EXPECT(cudaFreeHost(h + 1), cudaErrorInvalidValue);
  OK(cudaFreeHost(nullptr));
  EXPECT(cudaFree(h), cudaErrorInvalidValue);
  EXPECT(cudaFree(d + 1), cudaErrorInvalidValue);
  EXPECT(cudaFree(host), cudaErrorInvalidValue);
  OK(cudaFree(nullptr));
  char* reg = (char*)mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  OK(cudaHostRegister(reg, 8192, cudaHostRegisterDefault));
  CHECK(type_of(reg + 100) == cudaMemoryTypeHost);
  CHECK(type_of(reg + 8192) == cudaMemoryTypeUnregistered);
  EXPECT(cudaHostRegister(reg, 4096, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaHostRegister(reg + 4096, 8192, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaHostRegister(nullptr, 4096, 0), cudaErrorInvalidValue);
  EXPECT(cudaHostRegister(reg + 16384, 0, 0), cudaErrorInvalidValue);
  EXPECT(cudaHostRegister(reg + 16384, 64, 0x80), cudaErrorInvalidValue);
  EXPECT(cudaHostUnregister(reg + 4096), cudaErrorInvalidValue);
  EXPECT(cudaHostUnregister(reg + 16384), cudaErrorHostMemoryNotRegistered);
  OK(cudaHostGetDevicePointer(&q, reg + 4, 0));
  CHECK(q == reg + 4);
  OK(cudaHostUnregister(reg));
  EXPECT(cudaHostUnregister(reg), cudaErrorHostMemoryNotRegistered);
  EXPECT(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
  EXPECT(cudaHostRegister(d, 100, 0), cudaErrorInvalidValue);
}

static void symbols() {
  size_t sz;
  OK(cudaGetSymbolSize(&sz, variable));
  CHECK(sz == 64);
  int sv[4] = {1, 2, 3, 4};
  OK(cudaMemcpyToSymbol(variable, sv, 16, 48));
  EXPECT(cudaMemcpyToSymbol(variable, sv, 16, 52), cudaErrorInvalidValue);
  EXPECT(cudaMemcpyToSymbol((const void*)host, sv, 16), cudaErrorInvalidSymbol);
  int back[16];
  OK(cudaMemcpyFromSymbol(back, variable, 64));
  CHECK(back[12] == 1 && back[15] == 4);
  OK(cudaMemcpyFromSymbol(back, variable, 4, 56));
  CHECK(back[0] == 3);
  EXPECT(cudaMemcpyFromSymbol(back, variable, 65), cudaErrorInvalidValue);
  OK(cudaMemcpyToSymbol(constant, sv, 16));
  OK(cudaMemcpyFromSymbol(back, constant, 16));
  CHECK(back[3] == 4);
  OK(cudaMemcpyToSymbol(managedVariable, sv, 16));
  CHECK(managedVariable[2] == 3);
  EXPECT(cudaGetSymbolAddress(&q, host), cudaErrorInvalidSymbol);
  EXPECT(cudaGetSymbolSize(&sz, nullptr), cudaErrorInvalidSymbol);
}

// Flags are polled through volatile pointers, tables read through const ones.
static void qualified_pointers() {
  volatile int* flag;
  const float* table;
  size_t pitch;
  int one = 1;
  OK(cudaMallocManaged(&flag, 4));
  *flag = 1;
  OK(cudaStreamAttachMemAsync(s, flag, 0, cudaMemAttachGlobal));
  OK(cudaFree((void*)flag));
  OK(cudaHostAlloc(&flag, 4, cudaHostAllocMapped));
  volatile int* alias;
  OK(cudaHostGetDevicePointer(&alias, (void*)flag, 0));
  CHECK(alias == flag);
  OK(cudaFreeHost((void*)flag));
  OK(cudaMallocHost(&flag, 4));
  OK(cudaFreeHost((void*)flag));
  OK(cudaMalloc(&table, 4));
  OK(cudaFree((void*)table));
  OK(cudaMallocPitch(&table, &pitch, 4, 4));
  OK(cudaFree((void*)table));
  OK(cudaMallocAsync(&table, 4, s));
  OK(cudaFreeAsync((void*)table, s));
  OK(cudaMemcpyToSymbol(polled, &one, 4));
  one = 0;
  OK(cudaMemcpyFromSymbol(&one, polled, 4));
  CHECK(one == 1);
}

static void managed() {
  EXPECT(cudaMallocManaged(&q, 100, 8), cudaErrorInvalidValue);
  q = &q;
  OK(cudaMallocManaged(&q, 0));
  CHECK(q == nullptr);
  OK(cudaMemAdvise(m, 1000, cudaMemAdviseSetReadMostly, dl));
  int v;
  OK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeReadMostly, m, 1000));
  CHECK(v == 1);
  OK(cudaMemAdvise(m, 1000, cudaMemAdviseSetPreferredLocation, dl));
  OK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, m, 1000));
  CHECK(v == 0);
  OK(cudaMemAdvise(m, 1000, cudaMemAdviseSetPreferredLocation, hl));
  OK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributePreferredLocation, m, 1000));
  CHECK(v == cudaCpuDeviceId);
  OK(cudaMemPrefetchAsync(m, 1000, dl, 0, 0));
  OK(cudaMemRangeGetAttribute(&v, 4, cudaMemRangeAttributeLastPrefetchLocation, m, 1000));
  CHECK(v == 0);
  EXPECT(cudaMemPrefetchAsync(d, 1000, dl, 0, 0), cudaErrorInvalidValue);
  EXPECT(cudaMemPrefetchAsync(m, 0, dl, 0, 0), cudaErrorInvalidValue);
  cudaMemLocation badl = {cudaMemLocationTypeDevice, 99};
  EXPECT(cudaMemPrefetchAsync(m, 1000, badl, 0, 0), cudaErrorInvalidDevice);
  EXPECT(cudaMemAdvise(m, 1000, (cudaMemoryAdvise)99, dl), cudaErrorInvalidValue);
  EXPECT(cudaMemRangeGetAttribute(&v, 3, cudaMemRangeAttributeReadMostly, m, 1000), cudaErrorInvalidValue);
  OK(cudaStreamCreate(&s));
  OK(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
  OK(cudaStreamSynchronize(s));
  EXPECT(cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
  EXPECT(cudaStreamAttachMemAsync(s, m, 10, cudaMemAttachSingle), cudaErrorInvalidValue);
}

static void sizes() {
  EXPECT(cudaMalloc(&q, (size_t)1 << 50), cudaErrorMemoryAllocation);
  OK(cudaMalloc(&q, 0));
  CHECK(q == nullptr);
  EXPECT(cudaMalloc((void**)nullptr, 4), cudaErrorInvalidValue);
  size_t fr, tot;
  OK(cudaMemGetInfo(&fr, &tot));
  CHECK(fr <= tot && tot > (100ull << 30));
}

static void pools() {
  cudaMemPool_t pool;
  cudaMemPoolProps pp = {};
  pp.allocType = cudaMemAllocationTypePinned;
  pp.location = dl;
  OK(cudaMemPoolCreate(&pool, &pp));
  unsigned long long val = 1 << 20;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &val));
  val = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &val));
  CHECK(val == 1 << 20);
  int iv = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &iv));
  iv = 5;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &iv));
  CHECK(iv == 0);
  val = 5;
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &val), cudaErrorInvalidValue);
  val = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &val));
  EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &val), cudaErrorInvalidValue);
  int *x, *y;
  OK(cudaMallocFromPoolAsync(&x, 1 << 20, pool, s));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &val));
  CHECK(val == 1 << 20);
  OK(cudaFreeAsync(x, s));
  OK(cudaMallocFromPoolAsync(&y, 1 << 20, pool, s));
  CHECK(x == y);
  OK(cudaFreeAsync(y, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &val));
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &val));
  CHECK(val == 0);
  OK(cudaMemPoolDestroy(pool));
  EXPECT(cudaFreeAsync(host, s), cudaErrorInvalidValue);
  OK(cudaFreeAsync(nullptr, s));
  cudaMemPool_t dflt;
  OK(cudaDeviceGetDefaultMemPool(&dflt, 0));
  EXPECT(cudaMemPoolDestroy(dflt), cudaErrorInvalidValue);
  pp.allocType = cudaMemAllocationTypeInvalid;
  EXPECT(cudaMemPoolCreate(&pool, &pp), cudaErrorInvalidValue);
}

int main() {
  OK(cudaMalloc(&d, 1000));
  OK(cudaMallocHost(&h, 1000));
  OK(cudaMallocManaged(&m, 1000));
  pointers();
  default_copies();
  wrong_copies();
  rows();
  boxes();
  host_memory();
  symbols();
  qualified_pointers();
  managed();
  sizes();
  pools();
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
