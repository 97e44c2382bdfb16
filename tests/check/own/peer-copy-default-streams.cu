// DEFECT: a copy between devices in a default stream orders both devices' default streams, not a non-blocking one.
// EXPECT: peer
#include "streams.h"
int main() {
  int count;
  CHECK(cudaGetDeviceCount(&count));
  if (count < 2) return std::puts("skipped\ndone"), 0;
  int* d0 = device();
  CHECK(cudaSetDevice(1));
  int* d1 = device();
  int* out = device();
  cudaStream_t s1 = nonblocking();
  fill<<<GRID>>>(d1, 1);  // the copy is behind it
  CHECK(cudaSetDevice(0));
  fill<<<GRID>>>(d0, 3);
  CHECK(cudaMemcpyPeerAsync(d1, 1, d0, 0, n * sizeof(int), nullptr));  // RACE-A
  fill<<<GRID>>>(d0, 4);
  CHECK(cudaSetDevice(1));
#ifdef FIXED
  s1 = nullptr;
#endif
  move<<<GRID, 0, s1>>>(out, d1);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  const bool right = holds(out, 3);
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceSynchronize());
  return finish(right);
}
