// DEFECT: a relaxed flag does not order the reader behind the thread that waited.
// EXPECT: stream-host
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>

#include "check.h"
#include <thread>

constexpr int n = 8192;
int main() {
  int *a, *b, *host;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  (void)e;
  (void)t;
  std::atomic<bool> ready{false};
  CHECK(cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, s));  // RACE-A
  int sum = 0;
  std::thread other([&] {
#ifdef FIXED
    while (!ready.load(std::memory_order_acquire)) std::this_thread::yield();
#else
    while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
#endif
    for (int i = 0; i < n; ++i) sum += host[i];  // RACE-B
  });
  CHECK(cudaStreamSynchronize(s));
  ready.store(true, std::memory_order_release);
  other.join();
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
