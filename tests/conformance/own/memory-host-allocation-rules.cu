// Rule: flags, sizes and kinds of pointers of the functions for pinned and registered host memory.
#include "call_sections.h"

static void allocate() {
  void* p;
  for (unsigned f = 0; f < 18; ++f) {
    p = (void*)8;
    std::printf("flags %u: %s", f, E(cudaHostAlloc(&p, 100, f)));
    if (p != (void*)8 && p) {
      unsigned g = 99;
      void* d = (void*)8;
      std::printf(" %s", E(cudaHostGetFlags(&g, p)));
      std::printf(" %u %s", g, E(cudaHostGetDevicePointer(&d, p, 0)));
      std::printf(" %d", d == p);
      std::printf(" %s", E(cudaHostGetFlags(&g, (char*)p + 50)));
      std::printf(" %s", E(cudaHostGetDevicePointer(&d, (char*)p + 50, 0)));
      std::printf(" %d %s", d == (char*)p + 50, E(cudaFreeHost((char*)p + 50)));
      std::printf(" %s", E(cudaFreeHost(p)));
      std::printf(" %s", E(cudaFreeHost(p)));
    }
    std::puts("");
  }
  p = (void*)8;
  CALL(cudaHostAlloc(&p, 0, 0));
  FACT(p == nullptr);
  p = (void*)8;
  CALL(cudaMallocHost(&p, 0));
  FACT(p == nullptr);
  p = (void*)8;
  CALL(cudaHostAlloc(&p, 0, 77));
  FACT(p == nullptr);
  CALL(cudaHostAlloc(nullptr, 10, 0));
  CALL(cudaMallocHost((void**)nullptr, 10));
  p = (void*)8;
  CALL(cudaMallocHost(&p, (size_t)1 << 50));
  FACT(p == nullptr);
  CALL(cudaHostAlloc(&p, ~(size_t)0, 0));
  CALL(cudaFreeHost(nullptr));
}
alignas(4096) static char memory[1 << 16], other[1 << 16];
static void reg() {
  char *m = memory, *d, *h, *g;
  MUST(cudaMalloc(&d, 8192));
  MUST(cudaMallocHost(&h, 8192));
  MUST(cudaMallocManaged(&g, 8192));
  for (unsigned f = 0; f < 18; ++f) {
    std::printf("register %u: %s", f, E(cudaHostRegister(m, 8192, f)));
    unsigned now = 99;
    std::printf(" %s", E(cudaHostGetFlags(&now, m)));
    std::printf(" %u", now);
    void* p = (void*)8;
    std::printf(" %s", E(cudaHostGetDevicePointer(&p, m, 0)));
    std::printf(" %d %s\n", p == m, E(cudaHostUnregister(m)));
  }
  CALL(cudaHostRegister(nullptr, 100, 0));
  CALL(cudaHostRegister(m, 0, 0));
  CALL(cudaHostRegister(m + 1, 100, 0));
  CALL(cudaHostUnregister(m));
  CALL(cudaHostUnregister(m + 1));
  CALL(cudaHostRegister(m, 8192, 0));
  CALL(cudaHostRegister(m, 8192, 0));
  CALL(cudaHostRegister(m, 100, 0));
  CALL(cudaHostRegister(m + 4096, 8192, 0));
  CALL(cudaHostRegister(m + 8192, 4096, 0));
  CALL(cudaHostUnregister(m + 100));
  CALL(cudaHostUnregister(m + 4096));
  CALL(cudaFreeHost(m));
  CALL(cudaFree(m));
  CALL(cudaHostUnregister(m));
  CALL(cudaHostUnregister(m));
  CALL(cudaHostUnregister(nullptr));
  CALL(cudaHostUnregister(m + 8192));
  CALL(cudaHostRegister(d, 4096, 0));
  CALL(cudaHostRegister(h, 4096, 0));
  CALL(cudaHostRegister(g, 4096, 0));
  CALL(cudaHostUnregister(d));
  CALL(cudaHostUnregister(h));
  CALL(cudaHostUnregister(g));
  CALL(cudaHostRegister((void*)4096, 4096, 0));
  CALL(cudaHostRegister(m, (size_t)1 << 40, 0));
  CALL(cudaHostRegister(m + 16, 4096, 0));
  void* p;
  CALL(cudaHostGetDevicePointer(&p, m, 0));
  CALL(cudaHostGetDevicePointer(&p, m + 15, 0));
  CALL(cudaHostGetDevicePointer(&p, m + 16 + 4095, 0));
  CALL(cudaHostGetDevicePointer(&p, m + 16 + 4096, 0));
  CALL(cudaHostUnregister(m + 16));
}
static void look() {
  char *d, *h, *g;
  MUST(cudaMalloc(&d, 8192));
  MUST(cudaMallocHost(&h, 8192));
  MUST(cudaMallocManaged(&g, 8192));
  void* p;
  unsigned f;
  CALL(cudaHostGetDevicePointer(&p, h, 1));
  CALL(cudaHostGetDevicePointer(&p, memory, 0));
  CALL(cudaHostGetDevicePointer(&p, d, 0));
  CALL(cudaHostGetDevicePointer(&p, g, 0));
  CALL(cudaHostGetDevicePointer(&p, nullptr, 0));
  CALL(cudaHostGetDevicePointer(nullptr, h, 0));
  CALL(cudaHostGetDevicePointer(&p, h + 8191, 0));
  CALL(cudaHostGetDevicePointer(&p, h + 8192, 0));
  CALL(cudaHostGetFlags(&f, memory));
  CALL(cudaHostGetFlags(&f, d));
  CALL(cudaHostGetFlags(&f, g));
  CALL(cudaHostGetFlags(&f, nullptr));
  CALL(cudaHostGetFlags(nullptr, h));
  CALL(cudaFreeHost(d));
  CALL(cudaFreeHost(g));
  CALL(cudaFreeHost(memory));
  CALL(cudaFreeHost(h + 1));
  CALL(cudaFreeHost(h));
  CALL(cudaHostGetFlags(&f, h));
  CALL(cudaHostGetDevicePointer(&p, h, 0));
}
static const char* kind(cudaMemoryType t) {
  switch (t) {
  case cudaMemoryTypeUnregistered: return "unregistered";
  case cudaMemoryTypeHost: return "host";
  case cudaMemoryTypeDevice: return "device";
  case cudaMemoryTypeManaged: return "managed";
  }
  return "?";
}
static void attributes_of(const char* name, const void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0x55, sizeof a);
  const cudaError_t e = cudaPointerGetAttributes(&a, p);
  std::printf("%s: %s", name, E(e));
  if (e == cudaSuccess)
    std::printf(" %s %d device %s host %s", kind(a.type), a.device,
                a.devicePointer == p ? "same"
                : a.devicePointer    ? "other"
                                     : "null",
                a.hostPointer == p ? "same"
                : a.hostPointer    ? "other"
                                   : "null");
  std::puts("");
}
__device__ int variable[16];
__constant__ int constant[16];
__managed__ int managed[16];
__global__ void nothing() {}
static void attributes() {
  char *d, *h, *g, *w, *s, *hp = nullptr;
  MUST(cudaMalloc(&d, 8192));
  MUST(cudaMallocHost(&h, 8192));
  MUST(cudaHostAlloc(&w, 8192, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  MUST(cudaMallocManaged(&g, 8192));
  MUST(cudaMallocAsync(&s, 8192, 0));
  MUST(cudaStreamSynchronize(0));
  MUST(cudaHostRegister(memory + 4096, 4096, 0));
  MUST(cudaHostRegister(other + 100, 100, cudaHostRegisterMapped));
  attributes_of("device", d);
  attributes_of("device inside", d + 77);
  attributes_of("device last", d + 8191);
  attributes_of("pinned", h);
  attributes_of("pinned inside", h + 77);
  attributes_of("write combined", w);
  attributes_of("managed", g);
  attributes_of("managed inside", g + 8191);
  attributes_of("stream ordered", s);
  attributes_of("stream ordered inside", s + 8191);
  attributes_of("registered", memory + 4096);
  attributes_of("registered inside", memory + 5000);
  attributes_of("before registered", memory + 4095);
  attributes_of("after registered", memory + 8192);
  attributes_of("small registered", other + 100);
  attributes_of("small registered last", other + 199);
  attributes_of("small registered before", other + 99);
  attributes_of("small registered after", other + 200);
  attributes_of("small registered far after", other + 8192);
  attributes_of("host", other + 20000);
  attributes_of("null", nullptr);
  attributes_of("wild", (void*)0x1234567);
  attributes_of("managed variable", managed);
  void* p = nullptr;
  MUST(cudaGetSymbolAddress(&p, variable));
  attributes_of("device variable", (char*)p + 4);
  MUST(cudaGetSymbolAddress(&p, constant));
  attributes_of("constant variable", p);
  MUST(cudaGetSymbolAddress(&p, managed));
  attributes_of("managed variable's address", p);
  attributes_of("host's shadow of a device variable", &variable);
  attributes_of("kernel", (const void*)nothing);
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeHost;
  cudaMemPool_t pool;
  CALL(cudaMemPoolCreate(&pool, &props));
  CALL(cudaMallocFromPoolAsync(&hp, 4096, pool, 0));
  attributes_of("of a host pool", hp);
  MUST(cudaFree(d));
  MUST(cudaFreeHost(h));
  MUST(cudaFree(g));
  attributes_of("freed device", d);
  attributes_of("freed pinned", h);
  attributes_of("freed managed", g);
  CALL(cudaFreeAsync(s, 0));
  CALL(cudaStreamSynchronize(0));
  CALL(cudaHostUnregister(memory + 4096));
  attributes_of("unregistered", memory + 4096);
  CALL(cudaPointerGetAttributes(nullptr, other));
}
int main() {
  alone("allocate", allocate);
  alone("register", reg);
  alone("look", look);
  alone("attributes", attributes);
}
