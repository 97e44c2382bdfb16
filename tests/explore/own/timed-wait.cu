// DEFECT: a consumer thread takes the data when half a second is over, whether or not it was told that they are there.
// EXPECT: stream-host
#include <cuda_runtime.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

__global__ void set(int* p, int value) { p[threadIdx.x] = value; }

static std::mutex lock;
static std::condition_variable change;
static bool there = false;

static void CUDART_CB tell(void*) {
  std::lock_guard hold(lock);
  there = true;
  change.notify_all();
}

int main() {
  int* p;
  cudaMallocHost(&p, 64 * sizeof(int));
  p[0] = 0;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int seen = 0;
  std::thread consumer([&] {
    std::unique_lock hold(lock);
#ifdef FIXED
    change.wait_for(hold, std::chrono::milliseconds(500), [] { return there; });
#else
    change.wait_for(hold, std::chrono::milliseconds(500));
#endif
    seen = p[0];
  });
  set<<<1, 64, 0, stream>>>(p, 3);
  cudaLaunchHostFunc(stream, tell, nullptr);
  consumer.join();
  cudaStreamSynchronize(stream);
  std::printf("data %s\ndone\n", seen == 3 ? "right" : "wrong");
}
