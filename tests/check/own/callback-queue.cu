// DEFECT: a host function announces a chunk to a consumer thread in front of the copy that brings it.
// EXPECT: stream-host
#include "streams.h"
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
static std::mutex lock;
static std::condition_variable change;
static std::queue<int> ready;
static void CUDART_CB announce(void* which) {
  std::lock_guard hold(lock);
  ready.push(static_cast<int>(reinterpret_cast<long>(which)));
  change.notify_one();
}
int main() {
  constexpr int chunks = 4, part = n / chunks;
  int *d = device(), *h = pinned();
  cudaStream_t s = nonblocking();
  long sum = 0;
  std::thread consumer([&] {
    for (int left = chunks; left > 0; --left) {
      std::unique_lock hold(lock);
      change.wait(hold, [] { return !ready.empty(); });
      int c = ready.front();
      ready.pop();
      hold.unlock();
      for (int i = 0; i < part; ++i) sum += h[c * part + i];  // RACE-B
    }
  });
  fill<<<GRID, 0, s>>>(d, 1);
  for (int c = 0; c < chunks; ++c) {
#ifndef FIXED
    CHECK(cudaLaunchHostFunc(s, announce, reinterpret_cast<void*>(static_cast<long>(c))));
#endif
    CHECK(cudaMemcpyAsync(h + c * part, d + c * part, part * 4, cudaMemcpyDeviceToHost, s));  // RACE-A
#ifdef FIXED
    CHECK(cudaLaunchHostFunc(s, announce, reinterpret_cast<void*>(static_cast<long>(c))));
#endif
  }
  consumer.join();
  CHECK(cudaStreamSynchronize(s));
  return finish(sum == long(n) * (n + 1) / 2);
}
