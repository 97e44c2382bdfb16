// DEFECT: rows of two pitched copies have the last bytes in common.
// EXPECT: stream-stream
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
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
  CHECK(cudaMemcpy2DAsync(a, 128, host, 64, 64, 64, cudaMemcpyHostToDevice, s));  // RACE-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  char* right = reinterpret_cast<char*>(a) + 60;
  CHECK(cudaMemcpy2DAsync(right, 128, host + 2048, 64, 64, 60, cudaMemcpyHostToDevice, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
