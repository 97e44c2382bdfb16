// Captures of random programs over several streams: replayed, they do what the program does when it runs at once.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "graph_kernels.h"
#include "seeds.h"

namespace {

using namespace graph_test;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  return x ^ x >> 29;
}

// to = mix(to + mix(from) + salt), over 64-bit cells.
struct Args {
  std::uint64_t* to;
  const std::uint64_t* from;
  std::uint64_t salt;
};
void blend(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Args& a = *static_cast<const Args*>(block->args);
  *a.to = mix(*a.to + mix(*a.from) + a.salt);
}
void CUDART_CB blend_host(void* data) {
  const Args& a = *static_cast<const Args*>(data);
  *a.to = mix(*a.to + mix(*a.from) + a.salt);
}
char key;

constexpr int streams = 4, cells = 512;

class Machine {
 public:
  Machine() {
    EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&memory_), cells * 8), cudaSuccess);
    for (cudaStream_t& stream : stream_)
      EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    for (cudaEvent_t& event : event_) EXPECT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  }
  cudaStream_t stream(int i) const { return stream_[i]; }

  std::vector<std::uint64_t> contents() const { return {memory_, memory_ + cells}; }
  void clear() { std::memset(memory_, 0, cells * 8); }

  // Enqueues the program of `seed`: every stream has a cell of its own; what others read is a copy made behind an
  // event's record.
  void run(std::uint64_t seed, int length) {
    std::mt19937_64 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
    host_.clear();
    host_.reserve(static_cast<std::size_t>(length));
    int next = streams;
    // Fork: everything begins behind stream 0's first event.
    EXPECT_EQ(cudaEventRecord(event_[0], stream_[0]), cudaSuccess);
    for (int i = 1; i < streams; ++i) EXPECT_EQ(cudaStreamWaitEvent(stream_[i], event_[0], 0), cudaSuccess);
    for (int step = 0; step < length; ++step) {
      const int at = pick(streams);
      Args args{memory_ + at, memory_ + at, random()};
      switch (pick(6)) {
      default: kernel(at, args); break;
      case 1: {  // publish, record, and another stream takes it in
        const int copy = next++;
        if (copy >= cells) break;
        EXPECT_EQ(cudaMemcpyAsync(memory_ + copy, memory_ + at, 8, cudaMemcpyDefault, stream_[at]), cudaSuccess);
        cudaEvent_t event = event_[pick(streams)];
        EXPECT_EQ(cudaEventRecord(event, stream_[at]), cudaSuccess);
        const int other = pick(streams);
        EXPECT_EQ(cudaStreamWaitEvent(stream_[other], event, 0), cudaSuccess);
        args = {memory_ + other, memory_ + copy, random()};
        kernel(other, args);
        break;
      }
      case 2: EXPECT_EQ(cudaMemsetAsync(memory_ + at, pick(256), 4, stream_[at]), cudaSuccess); break;
      case 3:
        if (pick(4)) break;
        host_.push_back(args);
        EXPECT_EQ(cudaLaunchHostFunc(stream_[at], blend_host, &host_.back()), cudaSuccess);
        break;
      }
    }
    // Join.
    for (int i = 1; i < streams; ++i) {
      EXPECT_EQ(cudaEventRecord(event_[i], stream_[i]), cudaSuccess);
      EXPECT_EQ(cudaStreamWaitEvent(stream_[0], event_[i], 0), cudaSuccess);
    }
  }

 private:
  void kernel(int at, Args& args) {
    void* list[] = {&args};
    EXPECT_EQ(cudaLaunchKernel(&key, {1, 1, 1}, {1, 1, 1}, list, 0, stream_[at]), cudaSuccess);
  }
  std::uint64_t* memory_ = nullptr;
  cudaStream_t stream_[streams];
  cudaEvent_t event_[streams];
  std::vector<Args> host_;
};

TEST(GraphCapture, ReplayEqualsEagerRun) {
  register_kernel<sizeof(Args)>(&key, "_Z5blendP4Args", blend, [](const void*) {});
  Machine machine;
  const test_seeds::Range seeds = test_seeds::range(0, 400);
  for (std::uint64_t seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
    const int length = static_cast<int>(seed % 60);
    machine.clear();
    machine.run(seed, length);
    OK(cudaDeviceSynchronize());
    const std::vector<std::uint64_t> expected = machine.contents();
    machine.clear();
    OK(cudaStreamBeginCapture(machine.stream(0), static_cast<cudaStreamCaptureMode>(seed % 3)));
    machine.run(seed, length);
    cudaGraph_t graph;
    OK(cudaStreamEndCapture(machine.stream(0), &graph));
    ASSERT_EQ(machine.contents(), std::vector<std::uint64_t>(cells, 0));  // nothing has run yet
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int again = 0; again < 2; ++again) {
      machine.clear();
      OK(cudaGraphLaunch(exec, machine.stream(again)));
      OK(cudaStreamSynchronize(machine.stream(again)));
      ASSERT_EQ(machine.contents(), expected);
    }
    OK(cudaGraphExecDestroy(exec));
  }
}

}  // namespace
