// DEFECT: a kernel that a kernel launches writes what another stream reads.
// EXPECT: stream-stream
// nvcc-flags: -rdc=true
#include "streams.h"
__global__ void parent(int* p) {
  if (threadIdx.x == 0) fill<<<n / 256, 256>>>(p, 5);
}
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  parent<<<1, 32, 0, s>>>(a);  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  move<<<GRID, 0, t>>>(b, a);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 5));
}
