// How long a waiting thread waits: percentiles of single round trips, and what an idle runtime costs.
//   NAME  p50 p99 p99.9, ns     for round trips, each after a pause of the length in its name
//   idle_cpu  percent of one processor, over a second in which nothing is done
#include <cuda_runtime.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "latency: %s: %s\n", #call, cudaGetErrorString(error_));                                    \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void nop() {}

namespace {

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pause_us(long us) {
  if (us == 0) return;
  const timespec t{us / 1000000, us % 1000000 * 1000};
  nanosleep(&t, nullptr);
}

void percentiles(const char* name, int samples, long pause, const std::function<void()>& body) {
  std::vector<double> times;
  for (int i = 0; i < samples + samples / 10; ++i) {
    pause_us(pause);
    const double begin = now_ns();
    body();
    if (i >= samples / 10) times.push_back(now_ns() - begin);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%-34s %12.0f %12.0f %12.0f\n", name, at(0.5), at(0.99), at(0.999));
  std::fflush(stdout);
}

double cpu_seconds() {
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

int main() {
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t polite, between;
  CHECK(cudaEventCreateWithFlags(&polite, cudaEventDisableTiming | cudaEventBlockingSync));
  CHECK(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
  const auto kernel = [&] {
    nop<<<1, 32, 0, s>>>();
    CHECK(cudaStreamSynchronize(s));
  };
  const auto host = [&] {
    CHECK(cudaLaunchHostFunc(s, [](void*) {}, nullptr));
    CHECK(cudaStreamSynchronize(s));
  };
  const auto block = [&] {
    CHECK(cudaLaunchHostFunc(s, [](void*) {}, nullptr));
    CHECK(cudaEventRecord(polite, s));
    CHECK(cudaEventSynchronize(polite));
  };
  const auto hop = [&] {
    nop<<<1, 32, 0, s>>>();
    CHECK(cudaEventRecord(between, s));
    CHECK(cudaStreamWaitEvent(t, between, 0));
    nop<<<1, 32, 0, t>>>();
    CHECK(cudaStreamSynchronize(t));
  };
  percentiles("kernel", 100000, 0, kernel);
  percentiles("kernel_after_1ms", 1000, 1000, kernel);
  percentiles("two_streams", 100000, 0, hop);
  percentiles("host_func", 20000, 0, host);
  percentiles("host_func_after_1ms", 1000, 1000, host);
  percentiles("host_func_blocking_wait", 5000, 0, block);
  kernel();
  const double before = cpu_seconds();
  pause_us(1000000);
  std::printf("%-34s %12.3f\n", "idle_cpu", 100 * (cpu_seconds() - before));
}
