// DEFECT: memory is used in a stream that isn't behind its allocation.
// EXPECT: pool
#include "streams.h"
int main() {
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  int *p, *q = device();
  CHECK(cudaMallocAsync(&p, bytes, s));  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  fill<<<GRID, 0, t>>>(p, 5);  // RACE-B
  move<<<GRID, 0, t>>>(q, p);  // ALSO-B
  CHECK(cudaStreamSynchronize(t));
  CHECK(cudaFreeAsync(p, s));
  CHECK(cudaDeviceSynchronize());
  return finish(holds(q, 5));
}
