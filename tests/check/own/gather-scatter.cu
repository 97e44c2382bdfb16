// DEFECT: a kernel that gathers reads what another stream writes into the midst of it.
// EXPECT: stream-stream
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"
#include <vector>

constexpr int n = 8192;
__global__ void gather(int* out, const int* in, const int* index) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[index[i]];
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
  std::vector<int> index(n);
  for (int i = 0; i < n; ++i) index[i] = (i * 2654435761u >> 7) % (n / 2);
  CHECK(cudaMemcpy(b, index.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  int* out;
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  gather<<<n / 256, 256, 0, s>>>(out, a, b);  // RACE-A
#ifdef FIXED
  CHECK(cudaMemsetAsync(a + n / 2, 0, n / 2 * sizeof(int), t));
#else
  CHECK(cudaMemsetAsync(a + n / 2 - 1000, 0, 500 * sizeof(int), t));  // RACE-B
#endif
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
