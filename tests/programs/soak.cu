// Mixed operations in streams of all kinds, for long, with flat memory: launches, copies, sets, host functions, events,
// waits, stream-ordered allocations, streams and events that come and go, captures, graph launches. Every stream's own
// arithmetic is checked at the end.
//   soak [OPERATIONS]   200000 without an argument; 10000000 is the soak proper (some minutes)
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>

static int failures = 0;
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("line %d: %s\n", __LINE__, #condition);                                                              \
      if (++failures > 10) std::exit(1);                                                                               \
    }                                                                                                                  \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

using u64 = unsigned long long;
__global__ void step(u64* p, u64 factor, u64 term) { *p = *p * factor + term; }
__global__ void step_by_blocks(u64* p, u64 term) { atomicAdd(p, term); }
__global__ void add_from(u64* p, const u64* q) { *p += *q; }

constexpr int lanes = 8;
struct Lane {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  u64* device = nullptr;  // [0] the value, [1] a copy of it
  u64* pinned = nullptr;
  u64 expected = 1;
  std::atomic<u64> calls{0};
  u64 expected_calls = 0;
};
static void CUDART_CB count(void* data) { static_cast<Lane*>(data)->calls.fetch_add(1, std::memory_order_relaxed); }

static double resident_megabytes() {
  long size = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
}

int main(int argc, char** argv) {
  const long total = argc > 1 ? std::atol(argv[1]) : 200000;
  Lane lane[lanes];
  const u64 one = 1;
  for (int i = 0; i < lanes; ++i) {
    Lane& l = lane[i];
    if (i == 0)
      l.stream = cudaStreamPerThread;
    else if (i == 1)
      l.stream = cudaStreamLegacy;
    else
      OK(cudaStreamCreateWithFlags(&l.stream, i & 1 ? cudaStreamDefault : cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&l.event, i & 2 ? cudaEventDefault : cudaEventDisableTiming));
    OK(cudaMalloc(&l.device, 2 * sizeof(u64)));
    OK(cudaMallocHost(&l.pinned, sizeof(u64)));
    OK(cudaMemcpy(l.device, &one, sizeof one, cudaMemcpyHostToDevice));
  }
  u64 random = 12345;
  const auto pick = [&](unsigned below) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>(random >> 33) % below;
  };
  const auto expect = [](Lane& l) {
    OK(cudaMemcpyAsync(l.pinned, l.device, sizeof(u64), cudaMemcpyDeviceToHost, l.stream));
    OK(cudaStreamSynchronize(l.stream));
    CHECK(*l.pinned == l.expected);
  };
  double early = 0;
  for (long k = 0; k < total; ++k) {
    // What lies in queues is bounded, as it would be in a program that lives this long.
    if (k % 4096 == 0) OK(cudaDeviceSynchronize());
    if (k == total / 4) early = resident_megabytes();
    Lane& l = lane[pick(lanes)];
    const bool made = l.stream != cudaStreamLegacy && l.stream != cudaStreamPerThread;
    const u64 term = pick(1000);
    switch (pick(100)) {
    default:
      step<<<1, 1, 0, l.stream>>>(l.device, 3, term);
      l.expected = l.expected * 3 + term;
      break;
    case 0:
    case 1:
    case 2:
    case 3:
      step_by_blocks<<<6, 2, 0, l.stream>>>(l.device, term);
      l.expected += 12 * term;
      break;
    case 4:
    case 5:
    case 6:
    case 7:
      OK(cudaMemcpyAsync(l.device + 1, l.device, sizeof(u64), cudaMemcpyDeviceToDevice, l.stream));
      add_from<<<1, 1, 0, l.stream>>>(l.device, l.device + 1);
      l.expected *= 2;
      break;
    case 8:
    case 9:
    case 10:
      OK(cudaMemsetAsync(l.device + 1, 0, sizeof(u64), l.stream));
      add_from<<<1, 1, 0, l.stream>>>(l.device, l.device + 1);
      break;
    case 11:
    case 12:
      OK(cudaLaunchHostFunc(l.stream, count, &l));
      ++l.expected_calls;
      break;
    case 13:
    case 14:
    case 15:
    case 16:
    case 17: OK(cudaEventRecord(l.event, l.stream)); break;
    case 18:
    case 19:
    case 20:
    case 21: OK(cudaStreamWaitEvent(lane[pick(lanes)].stream, l.event, 0)); break;
    case 22:
    case 23: {
      u64* more = nullptr;
      if (l.stream == cudaStreamLegacy) break;
      OK(cudaMallocAsync(&more, 64 + pick(4096), l.stream));
      OK(cudaMemsetAsync(more, 0, sizeof(u64), l.stream));
      step<<<1, 1, 0, l.stream>>>(more, 1, term);
      add_from<<<1, 1, 0, l.stream>>>(l.device, more);
      OK(cudaFreeAsync(more, l.stream));
      l.expected += term;
      break;
    }
    case 24:
      if (made && pick(4) == 0) {
        expect(l);
        OK(cudaStreamDestroy(l.stream));
        OK(cudaStreamCreateWithFlags(&l.stream, pick(2) ? cudaStreamDefault : cudaStreamNonBlocking));
      }
      break;
    case 25:
      OK(cudaEventDestroy(l.event));
      OK(cudaEventCreateWithFlags(&l.event, pick(2) ? cudaEventDefault : cudaEventDisableTiming));
      break;
    case 26:
      if (pick(8) == 0) expect(l);
      break;
    case 27: {
      const cudaError_t answer = pick(2) ? cudaStreamQuery(l.stream) : cudaEventQuery(l.event);
      CHECK(answer == cudaSuccess || answer == cudaErrorNotReady);
      break;
    }
    case 28: {
      if (!made || pick(8)) break;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      OK(cudaStreamBeginCapture(l.stream, cudaStreamCaptureModeRelaxed));
      step<<<1, 1, 0, l.stream>>>(l.device, 5, term);
      OK(cudaMemcpyAsync(l.device + 1, l.device, sizeof(u64), cudaMemcpyDeviceToDevice, l.stream));
      OK(cudaLaunchHostFunc(l.stream, count, &l));
      add_from<<<1, 1, 0, l.stream>>>(l.device, l.device + 1);
      OK(cudaStreamEndCapture(l.stream, &graph));
      OK(cudaGraphInstantiate(&exec, graph, 0));
      OK(cudaGraphDestroy(graph));
      for (int again = 0; again < 3; ++again) {
        OK(cudaGraphLaunch(exec, l.stream));
        l.expected = (l.expected * 5 + term) * 2;
        ++l.expected_calls;
      }
      OK(cudaGraphExecDestroy(exec));  // with launches pending
      break;
    }
    }
  }
  OK(cudaDeviceSynchronize());
  for (Lane& l : lane) {
    expect(l);
    CHECK(l.calls.load() == l.expected_calls);
  }
  const double late = resident_megabytes();
  // Steady: what a thread or a pool takes once more is little, what leaks an operation at a time is not.
  if (total >= 100000 && late > early + 8) {
    std::printf("memory grew from %.1f MiB after a quarter to %.1f MiB at the end\n", early, late);
    ++failures;
  }
  if (argc > 1) std::printf("%ld operations, %.1f MiB after a quarter, %.1f MiB at the end\n", total, early, late);
  CHECK(cudaGetLastError() == cudaSuccess);
  return failures != 0;
}
