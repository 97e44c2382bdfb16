// Progress under load: 200 streams at once - short kernels, long grids, kernels that spin on what another stream does,
// host functions that block - with random dependencies between them. Prints
//   delay_high, delay_low      mean p50 p99, us: from the enqueueing of a short kernel into an idle stream to its
//                              end, while all processors are busy
//   delay_ratio                of the means (aim: at most 0.1)
//   progress_at_half           least and median share of its work that a stream has done when half of all is done
// and fails when something doesn't end.
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    const cudaError_t error_ = (call);                                                                                 \
    if (error_ != cudaSuccess) {                                                                                       \
      std::fprintf(stderr, "progress: %s: %s\n", #call, cudaGetErrorString(error_));                                   \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

__global__ void work(float* sink, int rounds, unsigned* count) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < rounds; ++i) x = x * 1.0001f + 0.5f;
  sink[threadIdx.x] = x;
  if (blockIdx.x == 0 && threadIdx.x == 0) ++*count;
}
__global__ void probe(unsigned* count) { ++*count; }
__global__ void spin(volatile unsigned* flag, unsigned* count) {
  while (*flag == 0) {}
  if (threadIdx.x == 0) ++*count;
}

namespace {

constexpr int streams = 200, spinners = 8, blockers = 8, giants = 4, rounds_each = 40, probes = 300;

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::atomic<bool> open_gate{false};
void CUDART_CB block(void*) {
  while (!open_gate.load(std::memory_order_acquire)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
void CUDART_CB raise(void* flag) { *static_cast<volatile unsigned*>(flag) = 1; }

double share(std::vector<double>& values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main() {
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  float* sink;
  unsigned *counts, *flags, *probed;
  CHECK(cudaMalloc(&sink, 1024 * sizeof(float)));
  CHECK(cudaMallocHost(&counts, streams * sizeof(unsigned)));
  CHECK(cudaMallocHost(&flags, spinners * sizeof(unsigned)));
  CHECK(cudaMallocHost(&probed, 2 * sizeof(unsigned)));
  std::fill_n(counts, streams, 0);
  std::fill_n(flags, spinners, 0);
  std::fill_n(probed, 2, 0);
  std::vector<cudaStream_t> stream(streams);
  for (auto& s : stream) CHECK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, least));
  cudaStream_t probe_stream[2];
  CHECK(cudaStreamCreateWithPriority(&probe_stream[0], cudaStreamNonBlocking, greatest));
  CHECK(cudaStreamCreateWithPriority(&probe_stream[1], cudaStreamNonBlocking, least));
  std::vector<cudaEvent_t> event(streams);
  for (auto& e : event) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  std::mt19937 random(1);

  cudaEvent_t start;  // host and events begin to count here
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventRecord(start, probe_stream[0]));
  CHECK(cudaStreamSynchronize(probe_stream[0]));
  const double origin = now_us();

  std::vector<unsigned> all(streams, 0);
  for (int i = 0; i < spinners; ++i) {
    spin<<<1, 32, 0, stream[i]>>>(flags + i, counts + i);
    ++all[i];
  }
  for (int i = 0; i < blockers; ++i) CHECK(cudaLaunchHostFunc(stream[spinners + i], block, nullptr));
  const int ordinary = spinners + blockers;
  for (int i = ordinary; i < ordinary + giants; ++i) {
    work<<<20000, 32, 0, stream[i]>>>(sink, 200, counts + i);
    ++all[i];
  }
  for (int r = 0; r < rounds_each; ++r)
    for (int i = 0; i < streams; ++i) {
      work<<<4, 128, 0, stream[i]>>>(sink, 500, counts + i);
      ++all[i];
      // Not on those that only the end of the measurement lets go.
      if (i >= ordinary && random() % 8 == 0) {
        const int on = ordinary + static_cast<int>(random() % (streams - ordinary));
        CHECK(cudaEventRecord(event[on], stream[on]));
        CHECK(cudaStreamWaitEvent(stream[i], event[on], 0));
      }
      // Half-way another stream lets a spinning kernel go.
      if (r == rounds_each / 2 && i >= ordinary + giants && i < ordinary + giants + spinners)
        CHECK(cudaLaunchHostFunc(stream[i], raise, flags + (i - ordinary - giants)));
    }
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  const auto done = [&](int i) { return static_cast<double>(*static_cast<volatile unsigned*>(counts + i)); };
  std::vector<double> delay[2], progress;
  std::vector<double> begin[2];
  std::vector<cudaEvent_t> end[2];
  bool sampled = false;
  for (int n = 0; n < probes; ++n) {
    for (int p = 0; p < 2; ++p) {
      end[p].emplace_back();
      CHECK(cudaEventCreate(&end[p].back()));
      begin[p].push_back(now_us());
      probe<<<1, 1, 0, probe_stream[p]>>>(probed + p);
      CHECK(cudaEventRecord(end[p].back(), probe_stream[p]));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    double sum = 0;
    for (int i = 0; i < streams; ++i) sum += done(i);
    if (!sampled && sum >= total / 2) {
      sampled = true;
      for (int i = ordinary; i < streams; ++i) progress.push_back(done(i) / all[i]);
    }
    if (sum >= total * 0.8) break;  // no saturation any more
  }
  open_gate.store(true, std::memory_order_release);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < streams; ++i)
    if (counts[i] != all[i]) {
      std::fprintf(stderr, "progress: stream %d has done %u of %u\n", i, counts[i], all[i]);
      return 1;
    }
  for (int p = 0; p < 2; ++p)
    for (std::size_t n = 0; n < begin[p].size(); ++n) {
      float ms;
      CHECK(cudaEventElapsedTime(&ms, start, end[p][n]));
      delay[p].push_back(std::max(1.0, 1000.0 * ms - (begin[p][n] - origin)));
    }
  const char* const names[2] = {"delay_high", "delay_low"};
  double mean[2];
  for (int p = 0; p < 2; ++p) {
    mean[p] = std::accumulate(delay[p].begin(), delay[p].end(), 0.0) / static_cast<double>(delay[p].size());
    std::printf("%-18s %10.0f %10.0f %10.0f  (%zu probes)\n", names[p], mean[p], share(delay[p], 0.5),
                share(delay[p], 0.99), delay[p].size());
  }
  std::printf("%-18s %10.3f\n", "delay_ratio", mean[0] / mean[1]);
  if (sampled) std::printf("%-18s %10.2f %10.2f\n", "progress_at_half", share(progress, 0), share(progress, 0.5));
}
