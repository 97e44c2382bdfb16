// DEFECT: memory is used in a stream behind the free of its own stream, without an order.
// EXPECT: pool
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
__global__ void fill(int* out, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v;
}
__global__ void add(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}
int main() {
  int *a, *b, *host;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  int* p;
  CHECK(cudaMallocAsync(&p, n * sizeof(int), s));
  fill<<<n / 256, 256, 0, s>>>(p, 1);
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
  add<<<n / 256, 256, 0, t>>>(b, p);  // RACE-A: reads p
#ifdef FIXED
  CHECK(cudaEventRecord(e, t));
  CHECK(cudaStreamWaitEvent(s, e, 0));
#endif
  CHECK(cudaFreeAsync(p, s));  // RACE-B: frees p
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
