// DEFECT: blocks transpose in place: each reads what another one writes.
// EXPECT: intra-grid
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
__global__ void transpose(int* data, int* other) {
  __shared__ int tile[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = data[(blockIdx.y * 16 + y) * 64 + blockIdx.x * 16 + x];  // AT-A
  __syncthreads();
#ifdef FIXED
  other[(blockIdx.x * 16 + y) * 64 + blockIdx.y * 16 + x] = tile[x][y];
#else
  data[(blockIdx.x * 16 + y) * 64 + blockIdx.y * 16 + x] = tile[x][y];  // AT-B
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
  transpose<<<dim3(4, 4), dim3(16, 16), 0, s>>>(a, b);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
