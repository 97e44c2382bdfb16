// DEFECT: two host threads take two mutexes in opposite order, one of them around calls of the runtime.
// EXPECT: deadlock
// WAITS: the main thread waits in pthread_mutex_lock at
// WAITS: host thread 1 waits in pthread_mutex_lock at
#include <cuda_runtime.h>

#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex queue, journal;

int main() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  std::thread reporter([&] {
#ifdef FIXED
    std::scoped_lock both(queue, journal);
    cudaStreamQuery(stream);
#else
    std::lock_guard first(journal);
    cudaStreamQuery(stream);
    std::lock_guard second(queue);
#endif
  });
  {
#ifdef FIXED
    std::scoped_lock both(queue, journal);
#else
    std::lock_guard first(queue);
#endif
    int* p;
    cudaMallocAsync(&p, 64, stream);
    cudaFreeAsync(p, stream);
#ifndef FIXED
    std::lock_guard second(journal);
#endif
  }
  reporter.join();
  cudaDeviceSynchronize();
  std::puts("data right\ndone");
}
