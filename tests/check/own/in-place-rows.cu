// DEFECT: blocks with barriers work in place, each in rows of its own.
// EXPECT: none
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
__global__ void reverse(int* data) {
  __shared__ int tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  int* row = data + (blockIdx.y * 16 + y) * 64 + blockIdx.x * 16;
  tile[y][x] = row[x];
  __syncthreads();
  row[x] = tile[y][15 - x];
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
  (void)t;
  reverse<<<dim3(4, 4), dim3(16, 16), 0, s>>>(a);
  CHECK(cudaMemsetAsync(a, 0, n * sizeof(int), s));
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
