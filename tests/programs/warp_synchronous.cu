// Programs that count on how a GPU runs the lanes of a warp: reductions through volatile shared memory without a
// barrier, and shuffles that reach lanes outside the mask or behind the end of the block, which give 0.
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

__device__ void last_warp(volatile int* s, unsigned t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}

__global__ void reduce(const int* in, int* out) {
  extern __shared__ int s[];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 32; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}

// No barrier at all: a scan of one warp, after Hillis and Steele.
__global__ void scan(int* values) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  s[t + 32] = values[t];
  for (int step = 1; step < 32; step *= 2) s[t + 32] += s[t + 32 - step];
  values[t] = s[t + 32];
}

// The last step of a block's reduction: as many lanes as there are warps, yet all five distances.
__global__ void sum_of_warps(const float* in, float* out) {
  __shared__ float sums[32];
  float v = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  const unsigned mask = __ballot_sync(~0u, threadIdx.x < blockDim.x / 32);
  if (threadIdx.x < blockDim.x / 32) {
    v = sums[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(mask, v, d);
    if (threadIdx.x == 0) *out = v;
  }
}

__global__ void short_block(int* out) {
  int v = threadIdx.x + 1;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) *out = v;
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 4096 * sizeof *in);
  cudaMallocManaged(&out, 64 * sizeof *out);
  for (int i = 0; i < 4096; ++i) in[i] = i % 13 - 5;
  reduce<<<16, 256, 256 * sizeof(int)>>>(in, out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int b = 0; b < 16; ++b) {
    int sum = 0;
    for (int i = 0; i < 256; ++i) sum += in[256 * b + i];
    CHECK(out[b] == sum);
  }
  for (int i = 0; i < 32; ++i) out[i] = i;
  scan<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 32; ++i) CHECK(out[i] == i * (i + 1) / 2);
  float* f;
  cudaMallocManaged(&f, 257 * sizeof *f);
  for (int i = 0; i < 256; ++i) f[i] = 1;
  sum_of_warps<<<1, 256>>>(f, f + 256);
  short_block<<<1, 16>>>(out);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(f[256] == 256);
  CHECK(out[0] == 16 * 17 / 2);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
