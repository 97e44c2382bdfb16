// Blocks that wait for blocks with higher numbers, and meet at their own barrier each time they look: they get on
// without end, and still all blocks that the device holds have to be there.
#include "check.h"

__global__ void last_block_first(volatile int* done, int blocks) {
  __shared__ int go;
  for (bool mine = false; !mine;) {
    if (threadIdx.x == 0) go = blockIdx.x + 1 == blocks || done[blockIdx.x + 1] != 0;
    __syncthreads();
    mine = go != 0;
    __syncthreads();
  }
  if (threadIdx.x == 0) done[blockIdx.x] = 1;
}
// The same by threads that leave the loop one by one, as in tree codes. The root is the last block's.
__global__ void from_the_root(volatile int* depth, int nodes) {
  for (int node = (gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x; node < nodes;) {
    const int own = depth[node];
    if (own >= 0) {
      for (int child = 2 * node + 1; child <= 2 * node + 2 && child < nodes; ++child) depth[child] = own + 1;
      node += gridDim.x * blockDim.x;
    }
    __syncthreads();
  }
}

int main() {
  constexpr int threads = 256;
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  const int resident = properties.multiProcessorCount * (properties.maxThreadsPerMultiProcessor / threads);
  const int blocks = resident < 40 ? resident : 40;
  const int nodes = blocks * threads * 3 / 2;
  int* p;
  OK(cudaMallocManaged(&p, nodes * sizeof(int)));
  last_block_first<<<blocks, threads>>>(p, blocks);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < blocks; ++i) CHECK(p[i] == 1);
  OK(cudaMemset(p, 0xff, nodes * sizeof(int)));
  OK(cudaMemset(p, 0, sizeof(int)));
  from_the_root<<<blocks, threads>>>(p, nodes);
  OK(cudaDeviceSynchronize());
  int deepest = 0;
  for (int n = nodes; n > 1; n /= 2) ++deepest;
  CHECK(p[nodes - 1] == deepest);
  return report();
}
