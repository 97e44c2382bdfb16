// DEFECT: each block writes one element of the next one too.
// EXPECT: intra-grid
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
__global__ void halo(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i;  // AT-A
#ifndef FIXED
  if (threadIdx.x == 255) out[i + 1] = i;  // AT-B
#endif
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
  (void)e;
  halo<<<n / 256 - 1, 256, 0, s>>>(a);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
