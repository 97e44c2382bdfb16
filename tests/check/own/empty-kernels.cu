// Kernels that touch nothing are seen as well as others.
// EXPECT: none
#include "streams.h"
__global__ void nothing() {}
__global__ void greet() {
  if (threadIdx.x == 0) printf("a kernel\n");
}
int main() {
  nothing<<<4, 32>>>();
  greet<<<1, 32>>>();
  CHECK(cudaDeviceSynchronize());
  return finish(true);
}
