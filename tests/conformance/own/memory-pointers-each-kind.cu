// Rule: what is said about a pointer - its attributes, the flags and the device address of host memory - at the start,
// inside, at the end and behind each kind of block, while it lives and after it was freed.
#include "call_sections.h"

__device__ int variable[100];
__constant__ int constant[100];
__managed__ int managed[100];
__global__ void kernel() {}
static const char* kind(cudaMemoryType t) {
  static const char* const names[] = {"unregistered", "host", "device", "managed"};
  return (int)t >= 0 && (int)t < 4 ? names[t] : "other";
}
static const char* relation(const void* field, const void* asked) {
  return !field ? "null" : field == asked ? "same" : "other";
}
static void show(const char* what, const void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0x55, sizeof a);
  const cudaError_t e = cudaPointerGetAttributes(&a, p);
  std::printf("%s: %s", what, E(e));
  if (!e)
    std::printf(" %s %d %s %s", kind(a.type), a.device,
                a.type == cudaMemoryTypeUnregistered ? "-" : relation(a.devicePointer, p), relation(a.hostPointer, p));
  unsigned flags = 77;
  void* q = (void*)8;
  std::printf(" | flags %s", E(cudaHostGetFlags(&flags, (void*)p)));
  std::printf(" %u | address %s", flags, E(cudaHostGetDevicePointer(&q, (void*)p, 0)));
  std::printf(" %s\n", q == (void*)8 ? "untouched" : relation(q, p));
}
#define SHOW(p) show(#p, p)

static void device() {
  char *d, *odd, *row, *big;
  size_t pitch;
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&odd, 1000));
  MUST(cudaMallocPitch(&row, &pitch, 100, 3));
  MUST(cudaMalloc(&big, 5 << 20));
  SHOW(d);
  SHOW(d + 4095);
  SHOW(odd);
  SHOW(odd + 999);
  SHOW(odd + 1000);
  SHOW(odd + 1023);
  SHOW(row + pitch * 3 - 1);
  SHOW(big + (5 << 20) - 1);
  cudaPitchedPtr box;
  MUST(cudaMalloc3D(&box, make_cudaExtent(100, 3, 2)));
  show("box's last byte", (char*)box.ptr + box.pitch * 6 - 1);
  MUST(cudaFree(big));
  SHOW(big);
  SHOW(big + 4096);
  MUST(cudaMalloc(&big, 5 << 20));
  SHOW(big);
}
// One at a time: blocks that share a page with an older one have that one's flags.
static void host() {
  for (unsigned flags = 0; flags < 8; ++flags) {
    char* p;
    MUST(cudaHostAlloc(&p, 4096, flags));
    std::printf("flags %u\n", flags);
    SHOW(p);
    SHOW(p + 1);
    SHOW(p + 4095);
    MUST(cudaFreeHost(p));
    SHOW(p);
  }
  char* odd;
  MUST(cudaMallocHost(&odd, 1000));
  SHOW(odd + 999);
}
static void registered() {
  static char room[1 << 16];
  char* page = (char*)(((uintptr_t)room + 4095) & ~(uintptr_t)4095);
  MUST(cudaHostRegister(page + 8192, 8192, cudaHostRegisterDefault));
  SHOW(page);
  SHOW(page + 8191);
  SHOW(page + 8192);
  SHOW(page + 16383);
  SHOW(page + 16384);
  MUST(cudaHostRegister(page + 20480, 4096, cudaHostRegisterPortable | cudaHostRegisterMapped));
  SHOW(page + 20481);
  CALL(cudaHostUnregister(page + 8192 + 16));
  CALL(cudaHostUnregister(page + 12288));
  SHOW(page + 8192);
  MUST(cudaHostUnregister(page + 8192));
  SHOW(page + 8192);
  SHOW(page + 20480);
  MUST(cudaHostRegister(page + 32768, 100, cudaHostRegisterDefault));
  SHOW(page + 32768);
  SHOW(page + 32768 + 99);
  CALL(cudaHostUnregister(page + 32768));
  CALL(cudaHostUnregister(page + 32768));
  CALL(cudaHostUnregister(nullptr));
  char* d;
  MUST(cudaMalloc(&d, 4096));
  CALL(cudaHostUnregister(d));
  CALL(cudaHostRegister(d, 4096, 0));
}
static void managed_memory() {
  char *g, *h, *odd;
  MUST(cudaMallocManaged(&g, 4096));
  MUST(cudaMallocManaged(&h, 4096, cudaMemAttachHost));
  MUST(cudaMallocManaged(&odd, 1000));
  SHOW(g);
  SHOW(g + 4095);
  SHOW(h);
  SHOW(h + 7);
  SHOW(odd + 999);
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamAttachMemAsync(s, g, 0, cudaMemAttachSingle));
  MUST(cudaStreamSynchronize(s));
  SHOW(g);
  MUST(cudaFree(g));
  SHOW(g);
}
static void symbols() {
  char *v, *c, *m;
  MUST(cudaGetSymbolAddress((void**)&v, variable));
  MUST(cudaGetSymbolAddress((void**)&c, constant));
  MUST(cudaGetSymbolAddress((void**)&m, managed));
  SHOW(v);
  SHOW(v + 399);
  SHOW(c);
  SHOW(c + 399);
  SHOW(m);
  SHOW(m + 399);
  show("shadow", &variable);
  show("kernel", (const void*)kernel);
  SHOW("text");
  SHOW(nullptr);
  SHOW((void*)1);
  SHOW((void*)-1);
  SHOW((void*)0x123456789000);
  SHOW((void*)0x8000000000000000);
}
static void ordered() {
  cudaStream_t s, t;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamCreate(&t));
  char *a, *b;
  MUST(cudaMallocAsync(&a, 4096, s));
  SHOW(a);
  SHOW(a + 4095);
  MUST(cudaMallocAsync(&b, 1000, t));
  SHOW(b + 999);
  MUST(cudaFreeAsync(a, s));
  SHOW(a);
  SHOW(a + 9);
  MUST(cudaStreamSynchronize(s));
  SHOW(a);
  MUST(cudaFreeAsync(b, t));
  MUST(cudaDeviceSynchronize());
  SHOW(b);
  cudaMemPool_t pool;
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location = {cudaMemLocationTypeDevice, 0};
  MUST(cudaMemPoolCreate(&pool, &p));
  MUST(cudaMallocFromPoolAsync(&a, 4096, pool, s));
  SHOW(a + 1);
  MUST(cudaMemPoolDestroy(pool));
  SHOW(a + 1);
  MUST(cudaFreeAsync(a, s));
  MUST(cudaStreamSynchronize(s));
  SHOW(a);
}
static void graph_memory() {
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  cudaGraph_t g;
  cudaGraphNode_t n, f;
  MUST(cudaGraphCreate(&g, 0));
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.bytesize = 4096;
  MUST(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p));
  char* x = (char*)p.dptr;
  SHOW(x);
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, g, 0));
  SHOW(x);
  MUST(cudaGraphLaunch(e, s));
  MUST(cudaStreamSynchronize(s));
  SHOW(x);
  SHOW(x + 4095);
  MUST(cudaFreeAsync(x, s));
  MUST(cudaStreamSynchronize(s));
  SHOW(x);
  MUST(cudaGraphExecDestroy(e));
  (void)f;
}
static void arrays() {
  cudaArray_t a;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  MUST(cudaMallocArray(&a, &d, 64, 64));
  SHOW(a);
  cudaEvent_t e;
  cudaStream_t s;
  MUST(cudaEventCreate(&e));
  MUST(cudaStreamCreate(&s));
  SHOW(e);
  SHOW(s);
  CALL(cudaFree(a));
  CALL(cudaFreeHost(a));
  CALL(cudaMemset(a, 0, 4));
  CALL(cudaFreeArray(a));
}
int main() {
  alone("device", device);
  alone("host", host);
  alone("registered", registered);
  alone("managed", managed_memory);
  alone("symbols", symbols);
  alone("ordered", ordered);
  alone("graph memory", graph_memory);
  alone("arrays", arrays);
}
