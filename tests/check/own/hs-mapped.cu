// DEFECT: the host rewrites mapped memory under a kernel that reads it.
// EXPECT: host-stream
#include "streams.h"
int main() {
  int *h, *m, *o = device();
  CHECK(cudaHostAlloc(&h, bytes, cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) h[i] = 4 + i;
  CHECK(cudaHostGetDevicePointer(&m, h, 0));
  auto s = nonblocking();
  move<<<GRID, 0, s>>>(o, m);  // RACE-B
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  for (int i = 0; i < n; ++i) h[i] = 0;  // RACE-A
  CHECK(cudaDeviceSynchronize());
  return finish(holds(o, 4));
}
