// DEFECT: the host waits for an event that was recorded before the copy.
// EXPECT: stale-event
#include "streams.h"
int main() {
  int *d = device(), *h = pinned();
  cudaStream_t s = nonblocking();
  cudaEvent_t done = event();
  fill<<<GRID, 0, s>>>(d, 5);
#ifndef FIXED
  CHECK(cudaEventRecord(done, s));
#endif
  CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(done, s));
#endif
  CHECK(cudaEventSynchronize(done));
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= h[i] == 5 + i;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
