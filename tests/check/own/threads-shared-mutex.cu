// DEFECT: readers take a shared lock on a table whose writer only enqueued the update.
// EXPECT: stream-host
#include "streams.h"
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
int main() {
  int* p = pinned();
  int* d = device();
  std::shared_mutex m;
  std::atomic<bool> written{false};
  std::thread writer([&] {
    std::unique_lock l(m);
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(d, 4);
    CHECK(cudaMemcpyAsync(p, d, bytes, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
    CHECK(cudaStreamSynchronize(s));
#endif
    written.store(true, std::memory_order_relaxed);
  });
  while (!written.load(std::memory_order_relaxed)) std::this_thread::yield();
  bool ok;
  {
    std::shared_lock l(m);
    ok = host_holds(p, 4);  // RACE-B
  }
  writer.join();
  CHECK(cudaDeviceSynchronize());
  return finish(ok);
}
