// DEFECT: an event is recorded by one thread and recorded anew by another for its own work before the third waits.
// EXPECT: stale-event
#include "streams.h"
#include <thread>
int main() {
  int* a = device();
  int* b = device();
  int* c = device();
  cudaStream_t s = nonblocking(), t = nonblocking(), u = nonblocking();
  cudaEvent_t shared = event();
  std::thread first([&] {
    fill<<<GRID, 0, s>>>(a, 4);  // RACE-A
    CHECK(cudaEventRecord(shared, s));
#ifdef FIXED
    CHECK(cudaStreamWaitEvent(t, shared, 0));
#endif
  });
  first.join();
  std::thread second([&] {
    fill<<<GRID, 0, t>>>(c, 1);
    CHECK(cudaEventRecord(shared, t));
  });
  second.join();
  CHECK(cudaStreamWaitEvent(u, shared, 0));
  move<<<GRID, 0, u>>>(b, a);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
