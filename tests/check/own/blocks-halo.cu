// DEFECT: each block corrects the first element of its neighbour.
// EXPECT: intra-grid
#include "streams.h"
__global__ void smooth(int* p, int* edge) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = 4 + i;  // AT-A
#ifdef FIXED
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) edge[blockIdx.x] = 4 + i + 1;
#else
  (void)edge;
  if (threadIdx.x == blockDim.x - 1 && i + 1 < n) p[i + 1] = 4 + i + 1;  // AT-B
#endif
}
int main() {
  int* p = device();
  int* edge = device();
  smooth<<<GRID>>>(p, edge);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(p, 4));
}
