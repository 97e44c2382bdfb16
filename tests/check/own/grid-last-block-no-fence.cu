// DEFECT: the last block sums what the others wrote, which no fence separates from their tickets.
// EXPECT: intra-grid
#include "streams.h"
__device__ unsigned ticket;
__global__ void total(int* parts, const int* in, int* out) {
  __shared__ bool last;
  __shared__ int sums[64];
  sums[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < 64; ++i) sum += sums[i];
    parts[blockIdx.x] = sum;  // AT-A
#ifdef FIXED
    __threadfence();
#endif
    last = atomicAdd(&ticket, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
#ifdef FIXED
    __threadfence();
#endif
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];  // AT-B
    *out = sum;
  }
}
int main() {
  int *d = device(), *p = device(), *o = device();
  fill<<<GRID>>>(d, 0);
  CHECK(cudaDeviceSynchronize());
  total<<<n / 64, 64>>>(p, d, o);  // RACE-A RACE-B
  CHECK(cudaDeviceSynchronize());
  int out;
  CHECK(cudaMemcpy(&out, o, 4, cudaMemcpyDeviceToHost));
  return finish(out == n * (n - 1) / 2);
}
