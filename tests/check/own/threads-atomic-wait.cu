// DEFECT: a thread raises an atomic flag (wait, notify) before its stream has run.
// EXPECT: stream-stream
// nvcc-flags: -std=c++20
#include "streams.h"
#include <atomic>
#include <thread>
int main() {
  int* a = device();
  int* b = device();
  std::atomic<int> stage{0};
  std::jthread producer([&] {
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(a, 4);  // RACE-A
#ifdef FIXED
    CHECK(cudaStreamSynchronize(s));
#endif
    stage.store(1, std::memory_order_release);
    stage.notify_all();
  });
  stage.wait(0, std::memory_order_acquire);
  cudaStream_t t = nonblocking();
  move<<<GRID, 0, t>>>(b, a);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  producer.join();
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
