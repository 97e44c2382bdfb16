// DEFECT: main returns while a copy is pending that doesn't wait for the kernel.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  int* d = device();
  int* p = pinned();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  fill<<<GRID, 0, s>>>(d, 4);  // RACE-A
  CHECK(cudaEventRecord(e, s));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, t));  // RACE-B
  return finish(true);
}
