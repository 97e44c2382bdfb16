// The same without optimisation, where pointers to shared memory lie in local variables.
// nvcc-flags: -G
#include "check.h"

__device__ void last_warp(volatile int* s, unsigned t) {
  for (unsigned step = 32; step > 0; step /= 2) s[t] += s[t + step];
}
__global__ void reduce(const int* in, int* out) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x;
  volatile int* window = s;
  window[t] = in[t];
  __syncthreads();
  if (t < 32) last_warp(s, t);
  if (t == 0) *out = window[0];
}

int main() {
  int* p;
  OK(cudaMallocManaged(&p, 65 * sizeof *p));
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += p[i] = i * i % 13 - 5;
  reduce<<<1, 64, 64 * sizeof(int)>>>(p, p + 64);
  OK(cudaDeviceSynchronize());
  CHECK(p[64] == sum);
  return report();
}
