// DEFECT: the host waits for the wrong device.
// EXPECT: stream-host
#include "streams.h"
int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices < 2) return std::printf("skipped\n"), 0;
  CHECK(cudaSetDevice(1));
  int* p = pinned();
  int* d = device();
  cudaStream_t s = nonblocking();
  fill<<<GRID, 0, s>>>(d, 4);
  CHECK(cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifndef FIXED
  CHECK(cudaSetDevice(0));
#endif
  CHECK(cudaDeviceSynchronize());
  bool ok = host_holds(p, 4);  // RACE-B
  CHECK(cudaSetDevice(1));
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
