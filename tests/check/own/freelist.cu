// DEFECT: a host function gives a staging buffer back to a list, in a stream that doesn't wait for the copy out of it.
// EXPECT: host-stream
#include "streams.h"
#include <atomic>
#include <thread>
static std::atomic<int> available[2] = {1, 1};
static void CUDART_CB give_back(void* p) { static_cast<std::atomic<int>*>(p)->store(1, std::memory_order_release); }
int main() {
  int* staging[2] = {pinned(), pinned()};
  int* d = device();
  cudaStream_t copies = nonblocking(), house = nonblocking();
  cudaEvent_t copied = event();
  for (int c = 0; c < 5; ++c) {
    int b = c % 2;
    while (available[b].load(std::memory_order_acquire) == 0) std::this_thread::yield();
    available[b] = 0;
    for (int i = 0; i < n; ++i) staging[b][i] = c;                                 // RACE-B
    CHECK(cudaMemcpyAsync(d, staging[b], bytes, cudaMemcpyHostToDevice, copies));  // RACE-A
#ifdef FIXED
    CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaStreamWaitEvent(house, copied, 0));
#endif
    CHECK(cudaLaunchHostFunc(house, give_back, &available[b]));
  }
  CHECK(cudaDeviceSynchronize());
  (void)copied;
  return finish(holds(d, 4, 0));
}
