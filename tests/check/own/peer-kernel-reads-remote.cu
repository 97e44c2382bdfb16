// DEFECT: a kernel of device 1 reads device 0's memory, which a kernel there still writes.
// EXPECT: peer
#include "streams.h"
int main() {
  int count;
  CHECK(cudaGetDeviceCount(&count));
  if (count < 2) return std::puts("skipped\ndone"), 0;
  int* d0 = device();
  cudaStream_t s0 = nonblocking();
  cudaEvent_t e = event();
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0));
  int* d1 = device();
  cudaStream_t s1 = nonblocking();
  CHECK(cudaSetDevice(0));
  fill<<<GRID, 0, s0>>>(d0, 3);  // RACE-A
  CHECK(cudaEventRecord(e, s0));
  CHECK(cudaSetDevice(1));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(s1, e, 0));
#endif
  move<<<GRID, 0, s1>>>(d1, d0);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  const bool right = holds(d1, 3);
  // What hasn't run when the program ends isn't seen, and nothing above waits for device 0.
  CHECK(cudaStreamSynchronize(s0));
  return finish(right);
}
