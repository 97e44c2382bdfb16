// DEFECT: two threads exchange halves at a std::barrier, and one's stream has not run.
// EXPECT: stream-stream
// nvcc-flags: -std=c++20
#include "streams.h"
#include <barrier>
#include <thread>
int main() {
  int* a = device();
  int* b = device();
  std::barrier meet(2);
  std::thread left([&] {
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(a, 4);  // RACE-A
#ifdef FIXED
    CHECK(cudaStreamSynchronize(s));
#endif
    meet.arrive_and_wait();
  });
  std::thread right([&] {
    cudaStream_t s = nonblocking();
    meet.arrive_and_wait();
    move<<<GRID, 0, s>>>(b, a);  // RACE-B
    CHECK(cudaStreamSynchronize(s));
  });
  left.join();
  right.join();
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
