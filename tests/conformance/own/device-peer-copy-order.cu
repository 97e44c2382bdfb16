// Rule: a copy between two devices without a stream stands in both devices' default streams: it waits for what their
// blocking streams were given before, and what those are given later waits for it. One with a stream is that stream's.
// Recorded on two H200.
#include <cuda_runtime.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) {                                                                                           \
      std::printf("unexpected at line %d: %s\n", __LINE__, cudaGetErrorName(r_));                                      \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (0)

// A kernel holds a stream until the gate is opened (or, after some seconds, by itself).
struct Gate {
  volatile int open, expired;
};
static Gate* gate;
__global__ void hold(Gate* g) {
  const long long began = clock64();
  while (!g->open)
    if (clock64() - began > 12000000000LL) {
      g->expired = 1;
      break;
    }
}
__global__ void raise_flag(volatile int* flag) { *flag = 1; }
__global__ void put(int* p, int v) { *p = v; }

// Opens the gate after a while, unless stopped before; stop() says whether it has.
class Opener {
 public:
  Opener()
      : thread_([this] {
          std::unique_lock<std::mutex> hold(mutex_);
          if (!wake_.wait_for(hold, std::chrono::milliseconds(150), [this] { return stopped_; })) {
            opened_ = true;
            gate->open = 1;
          }
        }) {}
  bool stop() {
    {
      std::lock_guard<std::mutex> hold(mutex_);
      stopped_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return opened_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false, opened_ = false;
  std::thread thread_;
};

static const char* stream_names[6] = {"0 default", "0 blocking", "0 other", "1 default", "1 blocking", "1 other"};
static cudaStream_t streams[6], mine;
static int* memory[2];
static volatile int* flags;

static cudaError_t copy(int call, int to) {
  int *dst = memory[to], *src = memory[1 - to];
  cudaMemcpy3DPeerParms box = {};
  box.srcPtr = make_cudaPitchedPtr(src, 4, 4, 1);
  box.dstPtr = make_cudaPitchedPtr(dst, 4, 4, 1);
  box.srcDevice = 1 - to;
  box.dstDevice = to;
  box.extent = make_cudaExtent(4, 1, 1);
  switch (call) {
  case 0: return cudaMemcpyPeer(dst, to, src, 1 - to, 4);
  case 1: return cudaMemcpy3DPeer(&box);
  case 2: return cudaMemcpy(dst, src, 4, cudaMemcpyDefault);
  case 3: return cudaMemcpyPeerAsync(dst, to, src, 1 - to, 4, nullptr);
  case 4: return cudaMemcpyAsync(dst, src, 4, cudaMemcpyDefault, nullptr);
  case 5: return cudaMemcpyPeerAsync(dst, to, src, 1 - to, 4, mine);
  default: return cudaMemcpyAsync(dst, src, 4, cudaMemcpyDefault, mine);
  }
}
static const char* call_names[7] = {"peer",           "peer box",           "plain",        "peer async, default",
                                    "async, default", "peer async, stream", "async, stream"};

// What has been written when for a while nothing more is.
static void settle() {
  int before = -1, quiet = 0;
  while (quiet < 6) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    int now = 0;
    for (int i = 0; i < 7; ++i) now |= flags[i] << i;
    quiet = now == before ? quiet + 1 : 0;
    before = now;
  }
}

int main(int, char** arguments) {
  if (!std::getenv("MILLRACE_DEVICES")) {  // is read when a program starts
    setenv("MILLRACE_DEVICES", "2", 1);
    execv("/proc/self/exe", arguments);
  }
  MUST(cudaHostAlloc((void**)&gate, sizeof *gate, cudaHostAllocPortable | cudaHostAllocMapped));
  MUST(cudaHostAlloc((void**)&flags, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  gate->expired = 0;
  for (int d = 0; d < 2; ++d) {
    MUST(cudaSetDevice(d));
    MUST(cudaMalloc(&memory[d], 256));
    streams[3 * d] = cudaStreamLegacy;
    MUST(cudaStreamCreate(&streams[3 * d + 1]));
    MUST(cudaStreamCreateWithFlags(&streams[3 * d + 2], cudaStreamNonBlocking));
    gate->open = 1;
    hold<<<1, 1>>>(gate);
    raise_flag<<<1, 1>>>(flags);
    put<<<1, 1>>>(memory[d], 0);
    MUST(cudaDeviceSynchronize());
  }
  MUST(cudaSetDevice(0));
  MUST(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
  for (int call = 0; call < 7; ++call)
    for (int to = 0; to < 2; ++to) {  // a first copy, so that what copies need is there
      MUST(copy(call, to));
      MUST(cudaDeviceSynchronize());
    }
  for (int call = 0; call < 7; ++call)
    for (int to = 0; to < 2; ++to) {
      std::printf("%s, %d to %d\n", call_names[call], 1 - to, to);
      for (int holder = 0; holder < 6; ++holder) {
        gate->open = 0;
        for (int i = 0; i < 7; ++i) flags[i] = 0;
        MUST(cudaSetDevice(holder / 3));
        hold<<<1, 1, 0, streams[holder]>>>(gate);
        MUST(cudaSetDevice(0));
        Opener opener;
        MUST(copy(call, to));
        const bool held_host = opener.stop();
        if (!held_host) {
          raise_flag<<<1, 1, 0, mine>>>(flags + 6);
          for (int s = 0; s < 6; ++s) {
            MUST(cudaSetDevice(s / 3));
            // The default stream last: what stands in it would hold up the others.
            const int order[3] = {1, 2, 0}, stream = s / 3 * 3 + order[s % 3];
            raise_flag<<<1, 1, 0, streams[stream]>>>(flags + stream);
          }
          settle();
        }
        std::printf("  %s held: call %s;", stream_names[holder], held_host ? "waits" : "returns");
        if (!held_host) {
          for (int s = 0; s < 6; ++s) std::printf(" %s", flags[s] ? "runs" : "waits");
          std::printf(", copy's stream %s", flags[6] ? "runs" : "waits");
        }
        std::printf("\n");
        gate->open = 1;
        for (int d = 0; d < 2; ++d) {
          MUST(cudaSetDevice(d));
          MUST(cudaDeviceSynchronize());
        }
      }
    }
  std::printf("expired %d\n", gate->expired);
  return 0;
}
