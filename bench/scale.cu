// How the runtime scales: streams, queued operations, host threads, events, live allocations, stream-ordered churn.
// Prints one table row a line: `what number ns [bytes]`. Run by bench/scale, which makes the table of
// docs/performance.md.
#include <cuda_runtime.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "scale: %s: %s\n", #call, cudaGetErrorString(error_));                                      \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void nop() {}

namespace {

double now_ns() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double resident_bytes() {
  long size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// The median of five, after one for warming up.
template <class Body> double median_ns(double operations, Body body) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    const double begin = now_ns();
    body();
    if (i) times.push_back((now_ns() - begin) / operations);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void row(const char* what, double number, double ns, double bytes = -1) {
  if (bytes < 0)
    std::printf("%-34s %10.0f %10.1f\n", what, number, ns);
  else
    std::printf("%-34s %10.0f %10.1f %10.1f\n", what, number, ns, bytes);
  std::fflush(stdout);
}

void streams() {
  for (const int count : {1, 10, 100, 1000, 10000}) {
    std::vector<cudaStream_t> all(count);
    for (auto& s : all) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    const int launches = std::max(count, 2000);
    row("streams: launch, ns", count, median_ns(launches, [&] {
          for (int i = 0; i < launches; ++i) nop<<<1, 32, 0, all[i % count]>>>();
          CHECK(cudaDeviceSynchronize());
        }));
    for (auto& s : all) CHECK(cudaStreamDestroy(s));
  }
}

// Operations that pile up behind a host function, which ends when all are queued.
void queued() {
  constexpr int operations = 1'000'000;
  for (const int count : {1, 1000}) {
    std::vector<cudaStream_t> all(count);
    for (auto& s : all) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    cudaEvent_t gate;
    CHECK(cudaEventCreateWithFlags(&gate, cudaEventDisableTiming));
    std::atomic<bool> open{false};
    CHECK(cudaLaunchHostFunc(
        all[0],
        [](void* flag) {
          while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
        },
        &open));
    CHECK(cudaEventRecord(gate, all[0]));
    for (int i = 1; i < count; ++i) CHECK(cudaStreamWaitEvent(all[i], gate, 0));
    const double before = resident_bytes(), begin = now_ns();
    for (int i = 0; i < operations; ++i) nop<<<1, 32, 0, all[i % count]>>>();
    const double enqueued = now_ns(), full = resident_bytes();
    open = true;
    CHECK(cudaDeviceSynchronize());
    const double done = now_ns();
    malloc_trim(0);
    const double after = resident_bytes();
    row("queued operations: enqueue, ns, B", count, (enqueued - begin) / operations, (full - before) / operations);
    row("queued operations: run, ns", count, (done - enqueued) / operations);
    row("queued operations: kept, MiB", count, (after - before) / 1048576);
    CHECK(cudaEventDestroy(gate));
    for (auto& s : all) CHECK(cudaStreamDestroy(s));
  }
}

void threads(bool shared) {
  cudaStream_t common;
  CHECK(cudaStreamCreateWithFlags(&common, cudaStreamNonBlocking));
  for (const int count : {1, 2, 4, 8, 16, 32, 64}) {
    const int each = std::max(64000 / count, 1000);
    row(shared ? "host threads, one stream: ns" : "host threads, own streams: ns", count,
        median_ns(double(each) * count, [&] {
          std::vector<std::thread> all;
          for (int t = 0; t < count; ++t)
            all.emplace_back([&] {
              cudaStream_t mine = common;
              if (!shared) CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
              for (int i = 0; i < each; ++i) nop<<<1, 32, 0, mine>>>();
              CHECK(cudaStreamSynchronize(mine));
              if (!shared) CHECK(cudaStreamDestroy(mine));
            });
          for (auto& t : all) t.join();
        }));
  }
  CHECK(cudaStreamDestroy(common));
}

void events() {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (const int count : {100, 10'000, 100'000}) {
    std::vector<cudaEvent_t> all(count);
    for (auto& e : all) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    row("events: record and query, ns", count, median_ns(count, [&] {
          for (auto& e : all) CHECK(cudaEventRecord(e, s));
          CHECK(cudaStreamSynchronize(s));
          for (auto& e : all) CHECK(cudaEventQuery(e));
        }));
    for (auto& e : all) CHECK(cudaEventDestroy(e));
  }
  CHECK(cudaStreamDestroy(s));
}

void allocations() {
  for (const int count : {1000, 100'000, 1'000'000}) {
    std::vector<void*> all(count);
    row("live allocations: pair, ns", count, median_ns(count, [&] {
          for (auto& p : all) CHECK(cudaMalloc(&p, 256));
          for (auto& p : all) CHECK(cudaFree(p));
        }));
  }
}

void churn() {
  for (const int count : {1, 8, 64}) {
    std::vector<cudaStream_t> all(count);
    for (auto& s : all) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    constexpr int pairs = 20'000;
    row("stream-ordered churn: pair, ns", count, median_ns(pairs, [&] {
          for (int i = 0; i < pairs; ++i) {
            cudaStream_t s = all[i % count];
            void* p;
            CHECK(cudaMallocAsync(&p, 4096 << (i & 3), s));
            CHECK(cudaFreeAsync(p, s));
          }
          CHECK(cudaDeviceSynchronize());
        }));
    for (auto& s : all) CHECK(cudaStreamDestroy(s));
  }
}

}  // namespace

int main() {
  CHECK(cudaFree(nullptr));
  streams();
  queued();
  threads(false);
  threads(true);
  events();
  allocations();
  churn();
}
