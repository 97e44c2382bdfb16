// DEFECT: stream-ordered memory is freed in a stream that does not wait for its readers in another.
// EXPECT: pool
#include "streams.h"
int main() {
  int *p, *o = device();
  auto s = nonblocking(), t = nonblocking();
  auto e = event();
  CHECK(cudaMallocAsync(&p, bytes, s));
  fill<<<GRID, 0, s>>>(p, 3);  // RACE-A
  move<<<GRID, 0, s>>>(o, p);  // RACE-A
  CHECK(cudaEventRecord(e, s));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaFreeAsync(p, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(o, 3));
}
