// DEFECT: blocks of a cooperative grid read what others wrote, behind __syncthreads() instead of a barrier of the grid.
// EXPECT: intra-grid
#include "streams.h"
#include <cooperative_groups.h>
__global__ void steps(int* a, int* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  // AT-A
#ifdef FIXED
  cooperative_groups::this_grid().sync();
#else
  __syncthreads();
#endif
  b[i] = a[n - 1 - i];  // AT-B
}
int main() {
  int *a = device(), *b = device();
  void* args[] = {&a, &b};
  CHECK(cudaLaunchCooperativeKernel((void*)steps, dim3(n / 256), dim3(256), args, 0, 0));  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, n - 1, -1));
}
