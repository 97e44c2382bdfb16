// DEFECT: blocks of a cluster exchange values behind a barrier of the block only, not of the cluster.
// EXPECT: intra-grid
#include "streams.h"
#include <cooperative_groups.h>
__global__ void __cluster_dims__(2) swap(int* p, int* q) {
  auto c = cooperative_groups::this_cluster();
  int i = blockIdx.x * 256 + threadIdx.x;
  p[i] = i;  // AT-A
#ifdef FIXED
  c.sync();
#else
  __syncthreads();
#endif
  q[i] = p[i ^ 256];  // AT-B
}
int main() {
  int *d = device(), *q = device();
  swap<<<GRID>>>(d, q);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  int out[n];
  CHECK(cudaMemcpy(out, q, bytes, cudaMemcpyDeviceToHost));
  return finish(out[0] == 256 && out[256] == 0);
}
