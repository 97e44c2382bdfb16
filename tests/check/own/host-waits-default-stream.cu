// DEFECT: the host waits for the default stream, which does not wait for a non-blocking one.
// EXPECT: default-stream-assumption
#include "streams.h"
int main() {
  int *d = device(), *h = pinned();
  cudaStream_t s = nonblocking();
  fill<<<GRID, 0, s>>>(d, 5);
  CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#else
  CHECK(cudaStreamSynchronize(0));
#endif
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= h[i] == 5 + i;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
