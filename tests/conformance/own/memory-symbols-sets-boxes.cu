// Rule: symbols, sets and boxes of copies that are wrong in one thing: offsets and sizes past the end, directions,
// pitches and heights too small, pointers of another kind.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char* E(cudaError_t e) {
  if (e != cudaSuccess) cudaGetLastError();
  return cudaGetErrorName(e);
}
static sigjmp_buf on_fault;
static void fault(int) { siglongjmp(on_fault, 1); }
#define CALL(...)                                                                                                      \
  do {                                                                                                                 \
    if (sigsetjmp(on_fault, 1) == 0)                                                                                   \
      std::printf("%s = %s\n", #__VA_ARGS__, E(__VA_ARGS__));                                                          \
    else                                                                                                               \
      std::printf("%s crashes\n", #__VA_ARGS__);                                                                       \
  } while (0)
#define FACT(v) std::printf("%s = %lld\n", #v, (long long)(v))
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected at line %d: %s\n", __LINE__, E(r_));                                \
  } while (0)

// Each part in a process of its own.
static void alone(const char* name, void (*body)()) {
  std::fflush(stdout);
  if (const pid_t child = fork()) {
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) std::printf("%s: signal %d\n", name, WTERMSIG(status));
    return;
  }
  alarm(40);
  std::signal(SIGSEGV, fault);
  std::printf("-- %s\n", name);
  body();
  std::fflush(stdout);
  _exit(0);
}
__device__ int numbers[64];
__constant__ int constants[64];
static int not_a_symbol[64];
__global__ void bump(int* p) { *p += 1; }
static void symbols() {
  int host[128] = {};
  int* device;
  MUST(cudaMalloc(&device, 512));
  CALL(cudaMemcpyToSymbol(numbers, host, 256));
  CALL(cudaMemcpyToSymbol(numbers, host, 257));
  CALL(cudaMemcpyToSymbol(numbers, host, 4, 252));
  CALL(cudaMemcpyToSymbol(numbers, host, 4, 253));
  CALL(cudaMemcpyToSymbol(numbers, host, 4, 256));
  CALL(cudaMemcpyToSymbol(numbers, host, 0, 256));
  CALL(cudaMemcpyToSymbol(numbers, host, 0, 999));
  CALL(cudaMemcpyToSymbol(numbers, host, 4, (size_t)-4));
  CALL(cudaMemcpyToSymbol(numbers, nullptr, 4));
  CALL(cudaMemcpyToSymbol(numbers, nullptr, 0));
  CALL(cudaMemcpyToSymbol(numbers, device, 256, 0, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpyToSymbol(numbers, device, 256, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpyToSymbol(numbers, host, 256, 0, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpyToSymbol(numbers, host, 256, 0, cudaMemcpyDeviceToHost));
  CALL(cudaMemcpyToSymbol(numbers, host, 256, 0, cudaMemcpyHostToHost));
  CALL(cudaMemcpyToSymbol(numbers, host, 256, 0, cudaMemcpyDefault));
  CALL(cudaMemcpyToSymbol(numbers, host, 256, 0, (cudaMemcpyKind)7));
  CALL(cudaMemcpyFromSymbol(host, numbers, 256, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpyFromSymbol(host, numbers, 256, 0, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpyFromSymbol(device, numbers, 256, 0, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpyFromSymbol(host, numbers, 4, 256));
  CALL(cudaMemcpyFromSymbol(host, constants, 4, 252));
  CALL(cudaMemcpyFromSymbol(host, constants, 8, 252));
  CALL(cudaMemcpyToSymbol(not_a_symbol, host, 4));
  CALL(cudaMemcpyToSymbol((const void*)nullptr, host, 4));
  CALL(cudaMemcpyFromSymbol(host, not_a_symbol, 0));
  CALL(cudaMemcpyToSymbolAsync(numbers, host, 8, 252, cudaMemcpyHostToDevice, 0));
  CALL(cudaMemcpyToSymbolAsync(not_a_symbol, host, 8, 0, cudaMemcpyHostToDevice, 0));
  CALL(cudaMemcpyFromSymbolAsync(host, numbers, 8, 252, cudaMemcpyDeviceToHost, 0));
  CALL(cudaMemcpyFromSymbolAsync(host, numbers, 8, 0, cudaMemcpyHostToDevice, 0));
  size_t size = 7;
  void* p;
  CALL(cudaGetSymbolSize(&size, numbers));
  FACT(size);
  CALL(cudaGetSymbolSize(&size, not_a_symbol));
  FACT(size);
  CALL(cudaGetSymbolSize(&size, bump));
  CALL(cudaGetSymbolAddress(&p, not_a_symbol));
  CALL(cudaGetSymbolAddress(&p, (const void*)nullptr));
  CALL(cudaGetSymbolAddress(&p, numbers));
  CALL(cudaMemcpy((char*)p + 252, host, 8, cudaMemcpyHostToDevice));
  CALL(cudaMemset(p, 0, 257));
  CALL(cudaMemset((int*)p + 63, 0, 4));
  CALL(cudaFree(p));
  cudaPointerAttributes a;
  CALL(cudaPointerGetAttributes(&a, (int*)p + 63));
  FACT(a.type);
  FACT(a.hostPointer != nullptr);
  FACT(a.devicePointer == (int*)p + 63);
}
static void sets() {
  char *p, *q;
  size_t pitch;
  char host[256];
  MUST(cudaMalloc(&p, 4096));
  MUST(cudaMallocPitch(&q, &pitch, 100, 10));
  FACT(pitch);
  CALL(cudaMemset2D(q, pitch, 0, pitch, 10));
  CALL(cudaMemset2D(q, pitch, 0, pitch, 11));
  CALL(cudaMemset2D(q, pitch, 0, pitch + 1, 10));
  CALL(cudaMemset2D(q, pitch, 0, 0, 10));
  CALL(cudaMemset2D(q, pitch, 0, 10, 0));
  CALL(cudaMemset2D(q, 0, 0, 10, 1));
  CALL(cudaMemset2D(q, 0, 0, 10, 2));
  CALL(cudaMemset2D(nullptr, pitch, 0, 10, 2));
  CALL(cudaMemset2D(host, pitch, 0, 10, 2));
  CALL(cudaMemset2D(q, (size_t)1 << 40, 0, 10, 1));
  CALL(cudaMemset2D(q, (size_t)1 << 40, 0, 10, 2));
  CALL(cudaMemset2DAsync(q, pitch, 0, pitch, 11, 0));
  CALL(cudaMemset2DAsync(q, pitch, 0, pitch + 1, 10, 0));
  CALL(cudaMemsetAsync(p, 0, 4097, 0));
  CALL(cudaMemsetAsync(nullptr, 0, 1, 0));
  CALL(cudaMemsetAsync(nullptr, 0, 0, 0));
}
static void boxes() {
  char *p, *q, host[4096];
  MUST(cudaMalloc(&p, 4096));
  MUST(cudaMalloc(&q, 4096));
  CALL(cudaMemcpy2D(p, 64, host, 64, 64, 64, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, host, 64, 64, 65, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, host, 32, 64, 2, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 32, host, 64, 64, 2, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 32, host, 32, 64, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 0, host, 0, 64, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, host, 64, 0, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, host, 64, 1, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(nullptr, 64, host, 64, 0, 0, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(nullptr, 64, host, 64, 1, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, nullptr, 64, 1, 1, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 64, host, 64, 1, 1, (cudaMemcpyKind)5));
  CALL(cudaMemcpy2D(p, 64, host, 64, 1, 1, (cudaMemcpyKind)-1));
  CALL(cudaMemcpy2D(p, (size_t)1 << 33, host, 64, 1, 2, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2D(p, 128, q, 64, 64, 64, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2D(p, 128, q, 128, 64, 32, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DAsync(p, 64, host, 64, 64, 65, cudaMemcpyHostToDevice, 0));
  CALL(cudaMemcpy2DAsync(p, 32, host, 64, 64, 2, cudaMemcpyHostToDevice, 0));
  cudaMemcpy3DParms m = {};
  CALL(cudaMemcpy3D(nullptr));
  CALL(cudaMemcpy3D(&m));
  m.kind = cudaMemcpyDefault;
  CALL(cudaMemcpy3D(&m));
  m.srcPtr = {host, 64, 64, 4};
  CALL(cudaMemcpy3D(&m));
  m.dstPtr = {p, 64, 64, 4};
  CALL(cudaMemcpy3D(&m));
  m.extent = {64, 4, 4};
  CALL(cudaMemcpy3D(&m));
  m.extent = {64, 4, 17};
  CALL(cudaMemcpy3D(&m));
  m.extent = {64, 5, 1};
  CALL(cudaMemcpy3D(&m));
  m.extent = {65, 1, 1};
  CALL(cudaMemcpy3D(&m));
  m.extent = {16, 1, 1};
  m.srcPos = {60, 0, 0};
  CALL(cudaMemcpy3D(&m));
  m.srcPos = {0, 4, 0};
  CALL(cudaMemcpy3D(&m));
  m.srcPos = {};
  m.dstPos = {60, 0, 0};
  CALL(cudaMemcpy3D(&m));
  m.dstPos = {};
  m.kind = cudaMemcpyDeviceToHost;
  CALL(cudaMemcpy3D(&m));
  m.kind = cudaMemcpyDeviceToDevice;
  CALL(cudaMemcpy3D(&m));
  m.kind = (cudaMemcpyKind)9;
  CALL(cudaMemcpy3D(&m));
  m.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3DAsync(&m, 0));
  CALL(cudaMemcpy3DAsync(nullptr, 0));
  cudaArray_t array;
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<int>();
  MUST(cudaMalloc3DArray(&array, &d, {16, 4, 4}));
  m.dstArray = array;
  CALL(cudaMemcpy3D(&m));
  m.dstPtr = {};
  CALL(cudaMemcpy3D(&m));
  m.extent = {17, 1, 1};
  CALL(cudaMemcpy3D(&m));
  m.extent = {16, 4, 5};
  CALL(cudaMemcpy3D(&m));
  m.extent = {16, 4, 4};
  CALL(cudaMemcpy3D(&m));
  m.dstPos = {1, 0, 0};
  CALL(cudaMemcpy3D(&m));
}
int main() {
  alone("symbols", symbols);
  alone("sets", sets);
  alone("boxes", boxes);
  return 0;
}
