// DEFECT: the host compares a pinned result by memcmp before the copy to it has ended.
// EXPECT: stream-host
#include "streams.h"
int main() {
  int *d = device(), *h = pinned(), *w = pinned();
  for (int i = 0; i < n; ++i) w[i] = i + 1;
  auto s = nonblocking();
  fill<<<GRID, 0, s>>>(d, 1);
  CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  bool ok = std::memcmp(h, w, bytes) == 0;  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
