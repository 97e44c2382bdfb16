// DEFECT: a task's future gives the buffer as soon as the copy has been enqueued.
// EXPECT: stream-stream
#include "streams.h"
#include <future>
int main() {
  int* a = device();
  int* b = device();
  auto filled = std::async(std::launch::async, [&] {
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(a, 4);  // RACE-A
    cudaEvent_t e = event();
    CHECK(cudaEventRecord(e, s));
    return e;
  });
  cudaStream_t t = nonblocking();
  cudaEvent_t e = filled.get();
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#else
  (void)e;
#endif
  move<<<GRID, 0, t>>>(b, a);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
