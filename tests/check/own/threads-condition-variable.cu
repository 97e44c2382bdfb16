// DEFECT: a pool's worker says by a condition variable that it has enqueued its kernel; another worker's stream doesn't
// wait. EXPECT: stream-stream
#include "streams.h"
#include <condition_variable>
#include <mutex>
#include <thread>
int main() {
  int *a = device(), *b = device();
  std::mutex m;
  std::condition_variable cv;
  bool ready = false;
  std::thread producer([&] {
    cudaStream_t s = nonblocking();
    fill<<<GRID, 0, s>>>(a, 4);  // RACE-A
#ifdef FIXED
    CHECK(cudaStreamSynchronize(s));
#endif
    {
      std::lock_guard<std::mutex> l(m);
      ready = true;
    }
    cv.notify_one();
  });
  std::thread consumer([&] {
    cudaStream_t s = nonblocking();
    {
      std::unique_lock<std::mutex> l(m);
      cv.wait(l, [&] { return ready; });
    }
    move<<<GRID, 0, s>>>(b, a);  // RACE-B
    CHECK(cudaStreamSynchronize(s));
  });
  producer.join();
  consumer.join();
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4));
}
