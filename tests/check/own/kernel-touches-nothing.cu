// DEFECT: none: kernels that touch nothing because their conditions don't hold.
// EXPECT: none
#include "streams.h"
extern "C" __global__ void nothing(int* p, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) p[i] = i;
}
int main() {
  int* a = device();
  nothing<<<GRID>>>(a, 0);
  CHECK(cudaDeviceSynchronize());
  return finish(holds(a, 0, 0));
}
