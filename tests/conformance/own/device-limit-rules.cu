// Rule: each limit of a device set to each kind of value: what is granted, what is refused, what reads back; before and
// after what uses it, and after a reset.
#include "call_sections.h"

static const char* const names[] = {"stack", "printf", "heap", "depth", "launches", "fetch", "persisting"};
static void change(int l, size_t to) {
  size_t v = 77;
  std::printf("%s %zu: %s", names[l], to, E(cudaDeviceSetLimit((cudaLimit)l, to)));
  std::printf(" %s", E(cudaDeviceGetLimit(&v, (cudaLimit)l)));
  std::printf(" %zu\n", v);
}
static void each() {
  for (int l = 0; l < 7; ++l) {
    size_t v = 77;
    std::printf("%s at first: %s", names[l], E(cudaDeviceGetLimit(&v, (cudaLimit)l)));
    std::printf(" %zu\n", v);
  }
  for (size_t v : {0, 1, 15, 16, 17, 100, 1023, 1024, 1025, 4096, 10000, 200000, 233472, 524287, 524288, 600000})
    change(0, v);
  change(0, 1024);
  for (size_t v : {(size_t)0, (size_t)1, (size_t)1000, (size_t)65536, (size_t)100000, (size_t)1 << 20, (size_t)7 << 20,
                   ((size_t)7 << 20) + 1, (size_t)64 << 20})
    change(1, v);
  for (size_t v : {(size_t)0, (size_t)1, (size_t)4096, (size_t)1 << 20, ((size_t)5 << 20) + 1, (size_t)8 << 20,
                   (size_t)9 << 20, (size_t)64 << 20, ((size_t)64 << 20) + 4097})
    change(2, v);
  for (size_t v : {0, 1, 2, 24, 25}) change(3, v);
  for (size_t v : {0, 1, 2, 1000, 2048, 2049, 4096, 32768, 65536}) change(4, v);
  for (size_t v : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000}) change(5, v);
  for (size_t v : {(size_t)0, (size_t)1, (size_t)4096, (size_t)1 << 20, (size_t)3000000, (size_t)16 << 20})
    change(6, v);
  for (int l : {-1, 7, 8, 100}) {
    size_t v = 77;
    std::printf("limit %d: %s", l, E(cudaDeviceSetLimit((cudaLimit)l, 1024)));
    std::printf(" %s\n", E(cudaDeviceGetLimit(&v, (cudaLimit)l)));
  }
}
static void huge() {
  for (int l = 0; l < 7; ++l)
    if (l != 2) change(l, (size_t)1 << 40);
}
__global__ void print() { printf("printed\n"); }
__global__ void take(void** p) { *p = malloc(100); }
__global__ void deep(int* p, int n) {
  int x[64];
  for (int i = 0; i < 64; ++i) x[i] = i * n;
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += x[(i * 7 + n) & 63];
  *p = sum;
}
static void used() {
  void** d;
  MUST(cudaMalloc(&d, 4096));
  print<<<1, 1>>>();
  CALL(cudaDeviceSynchronize());
  change(1, 2 << 20);
  change(1, 1 << 20);
  change(2, 16 << 20);
  take<<<1, 1>>>(d);
  CALL(cudaDeviceSynchronize());
  change(2, 32 << 20);
  change(2, 16 << 20);
  change(1, 4 << 20);
  deep<<<1, 1>>>((int*)d, 3);
  change(0, 8192);
  CALL(cudaDeviceSynchronize());
  change(0, 2048);
  change(0, 1024);
}
static void reset() {
  change(0, 4096);
  change(1, 2 << 20);
  change(2, 16 << 20);
  change(4, 4096);
  change(5, 64);
  CALL(cudaDeviceReset());
  for (int l : {0, 1, 2, 4, 5}) {
    size_t v = 77;
    std::printf("%s after a reset: %s", names[l], E(cudaDeviceGetLimit(&v, (cudaLimit)l)));
    std::printf(" %zu\n", v);
  }
}
static void captured() {
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  size_t v;
  CALL(cudaDeviceGetLimit(&v, cudaLimitStackSize));
  CALL(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
  cudaGraph_t g = nullptr;
  CALL(cudaStreamEndCapture(s, &g));
}
int main() {
  alone("each", each);
  alone("huge", huge);
  alone("used", used);
  alone("reset", reset);
  alone("captured", captured);
}
