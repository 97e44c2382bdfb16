// DEFECT: blocks gather from an array in which others write; few words of many are both. Without it, each block gathers
// among its own words, some more than once, and writes them.
// EXPECT: intra-grid
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"
#include <vector>

constexpr int block = 256, blocks = 256, n = block * blocks, turns = 8;
__global__ void stir(int* x, const int* index) {
  int i = blockIdx.x * block + threadIdx.x, sum = 0;
  for (int k = 0; k < turns; ++k) sum += x[index[i * turns + k]];  // RACE-A AT-A
  __syncthreads();
  if (sum >= 0) x[i] = sum;  // AT-B
}

int main() {
  std::vector<int> index(n * turns);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < turns; ++k) index[i * turns + k] = i / block * block + (i * 2654435761u >> 9 ^ k * 37u) % block;
#ifndef FIXED
  for (int i = 0; i < 4; ++i) index[(n / 2 + i * 777) * turns + 3] = i * 5000 + 3;
#endif
  int *x, *on_device;
  CHECK(cudaMalloc(&x, n * sizeof(int)));
  CHECK(cudaMalloc(&on_device, index.size() * sizeof(int)));
  CHECK(cudaMemcpy(on_device, index.data(), index.size() * sizeof(int), cudaMemcpyHostToDevice));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMemset(x, 0, n * sizeof(int)));
    stir<<<blocks, block>>>(x, on_device);  // VIA-A RACE-B
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
