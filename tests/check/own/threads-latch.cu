// DEFECT: a latch is counted down when the work has been enqueued, not when it has run.
// EXPECT: stream-host
// nvcc-flags: -std=c++20
#include "streams.h"
#include <latch>
#include <thread>
int main() {
  int* p = pinned();
  int* d = device();
  std::latch ready(1);
  std::thread producer([&] {
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(d, 4);
    CHECK(cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
    CHECK(cudaStreamSynchronize(s));
#endif
    ready.count_down();
  });
  ready.wait();
  bool ok = host_holds(p, 4);  // RACE-B
  producer.join();
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
