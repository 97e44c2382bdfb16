// DEFECT: the host waits for an event that nobody has recorded, and reads what a copy may still write.
// EXPECT: never-recorded-event
#include "streams.h"
int main() {
  int *d = device(), *h = pinned();
  cudaStream_t s = nonblocking();
  cudaEvent_t done = event();
  fill<<<GRID, 0, s>>>(d, 5);
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
