// DEFECT: the host reads a __managed__ variable right after the launch of the kernel that adds to it.
// EXPECT: stream-host
#include "streams.h"
__managed__ int total;
__global__ void sum(const int* p) {
  for (int i = threadIdx.x; i < n; i += 64) atomicAdd(&total, p[i]);
}
int main() {
  int* d = device();
  fill<<<GRID>>>(d, 1);
  CHECK(cudaDeviceSynchronize());
  total = 0;
  sum<<<1, 64>>>(d);  // RACE-A
#ifdef FIXED
  CHECK(cudaDeviceSynchronize());
#endif
  int got = total;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(got == n * (n + 1) / 2);
}
