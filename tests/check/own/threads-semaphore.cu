// DEFECT: another thread waits for the stream and posts a semaphore.
// nvcc-flags: -std=c++20
// EXPECT: none
#include "streams.h"
#include <semaphore>
#include <thread>
int main() {
  int *d = device(), *h = pinned();
  auto s = nonblocking();
  std::binary_semaphore sem{0};
  std::thread other([&] {
    fill<<<GRID, 0, s>>>(d, 3);
    CHECK(cudaMemcpyAsync(h, d, bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    sem.release();
  });
  sem.acquire();
  bool ok = host_holds(h, 3);
  other.join();
  return finish(ok);
}
