// DEFECT: a block writes what others read through a row of indices.
// EXPECT: intra-grid
#include "streams.h"
template <class Index> __global__ void gather(const Index* index, int* x, int* y) {
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += x[100 + index[(blockIdx.x % 2) * 64 + k]];  // AT-A
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
#ifndef FIXED
  if (blockIdx.x == 29 && threadIdx.x == 0) x[100 + 77] = 1;  // AT-B
#endif
}
template <class Index> static void run(int* x, int* y) {
  Index* index;
  CHECK(cudaMallocManaged(&index, 128 * sizeof(Index)));
  for (int i = 0; i < 128; ++i) index[i] = static_cast<Index>(i * 37 % 128 - (sizeof(Index) == 4 ? 50 : 0));
  gather<<<30, 64>>>(index, x, y);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
}
int main() {
  int *x = device(), *y = device();
  run<int>(x, y);
  run<unsigned char>(x, y);
  run<short>(x, y);
  run<long>(x, y);
  return finish(true);
}
