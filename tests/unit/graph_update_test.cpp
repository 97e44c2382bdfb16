// Updates between launches that nobody waits for: each launch runs with the parameters that it was called with.
#include <atomic>
#include <random>
#include <string>

#include "graph_kernels.h"
#include "seeds.h"

namespace {

using namespace graph_test;

struct Step {
  std::uint64_t* accumulator;
  std::uint64_t factor, salt;
  std::uint64_t padding[4];
};
void step_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Step& s = *static_cast<const Step*>(block->args);
  *s.accumulator = *s.accumulator * s.factor + s.salt;
}
char key_step;

TEST(GraphUpdate, StormOfUpdatesAndLaunches) {
  register_kernel<sizeof(Step)>(&key_step, "_Z4stepP4Step", step_blocks, [](const void*) {});
  std::uint64_t accumulator = 1, expected = 1;
  constexpr int length = 12;
  const unsigned seed = test_seeds::range(7, 1).first;
  SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Step steps[length];
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t nodes[length];
  const auto params_of = [](Step& step, void** args) {
    args[0] = &step;
    return cudaKernelNodeParams{&key_step, {1, 1, 1}, {1, 1, 1}, 0, args, nullptr};
  };
  for (int i = 0; i < length; ++i) {
    steps[i] = {&accumulator, 3, random(), {}};
    void* args[1];
    cudaKernelNodeParams params = params_of(steps[i], args);
    OK(cudaGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : nullptr, i ? 1 : 0, &params));
  }
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t streams[3];
  for (cudaStream_t& stream : streams) OK(cudaStreamCreate(&stream));
  for (int round = 0; round < 600; ++round) {
    if (random() % 3 == 0) {
      const int i = static_cast<int>(random() % length);
      steps[i].salt = random();
      void* args[1];
      cudaKernelNodeParams params = params_of(steps[i], args);
      OK(cudaGraphExecKernelNodeSetParams(exec, nodes[i], &params));
    } else if (random() % 7 == 0) {
      cudaGraph_t other;
      OK(cudaGraphClone(&other, graph));
      cudaGraphNode_t twin;
      for (int i = 0; i < length; ++i) {
        OK(cudaGraphNodeFindInClone(&twin, nodes[i], other));
        steps[i].salt = random();
        void* args[1];
        cudaKernelNodeParams params = params_of(steps[i], args);
        OK(cudaGraphKernelNodeSetParams(twin, &params));
      }
      cudaGraphExecUpdateResultInfo info;
      OK(cudaGraphExecUpdate(exec, other, &info));
      OK(cudaGraphDestroy(other));
    }
    // Any stream: launches of one executable graph keep their order.
    OK(cudaGraphLaunch(exec, streams[random() % 3]));
    for (const Step& s : steps) expected = expected * s.factor + s.salt;
    if (random() % 50 == 0) OK(cudaDeviceSynchronize());
  }
  OK(cudaGraphExecDestroy(exec));  // with launches pending
  OK(cudaGraphDestroy(graph));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(accumulator, expected);
  for (cudaStream_t stream : streams) OK(cudaStreamDestroy(stream));
}

// ---- helpers between launches ----

struct Slow {
  std::atomic<unsigned>* ran;
};
void slow_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  // Some microseconds: worth sharing.
  for (int i = 0; i < 2000; ++i) asm volatile("" ::: "memory");
  static_cast<const Slow*>(block->args)->ran->fetch_add(1, std::memory_order_relaxed);
}
char key_slow;

struct Tally {
  const std::atomic<unsigned>* ran;
  unsigned count, *launches, *wrong;
};
void tally_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Tally& t = *static_cast<const Tally*>(block->args);
  ++*t.launches;
  for (unsigned i = 0; i < t.count; ++i) *t.wrong += t.ran[i].load(std::memory_order_relaxed) != *t.launches;
}
char key_tally;

// A thread that helped in one launch may find itself with steps of the next one: neither launch ends twice, or early.
TEST(GraphUpdate, HelpersMeetTheNextLaunch) {
  register_kernel<sizeof(Slow)>(&key_slow, "_Z4slowP4Slow", slow_blocks, [](const void*) {});
  register_kernel<sizeof(Tally)>(&key_tally, "_Z5tallyP5Tally", tally_blocks, [](const void*) {});
  constexpr unsigned width = 24, launches = 400;
  static std::atomic<unsigned> ran[width];
  for (auto& count : ran) count = 0;
  unsigned seen = 0, wrong = 0;
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t nodes[width], last;
  for (unsigned i = 0; i < width; ++i) {
    Slow args{&ran[i]};
    void* list[] = {&args};
    const cudaKernelNodeParams params{&key_slow, {1, 1, 1}, {1, 1, 1}, 0, list, nullptr};
    OK(cudaGraphAddKernelNode(&nodes[i], graph, nullptr, 0, &params));
  }
  Tally data{ran, width, &seen, &wrong};
  void* list[] = {&data};
  const cudaKernelNodeParams params{&key_tally, {1, 1, 1}, {1, 1, 1}, 0, list, nullptr};
  OK(cudaGraphAddKernelNode(&last, graph, nodes, width, &params));
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t streams[3];
  for (cudaStream_t& stream : streams) OK(cudaStreamCreate(&stream));
  for (unsigned i = 0; i < launches; ++i) {
    OK(cudaGraphLaunch(exec, streams[i % 3]));
    if (i % 16 == 15) OK(cudaStreamSynchronize(streams[i % 3]));  // this thread helps, too
  }
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(seen, launches);
  EXPECT_EQ(wrong, 0u);
  for (const std::atomic<unsigned>& r : ran) EXPECT_EQ(r.load(), launches);
  for (cudaStream_t stream : streams) OK(cudaStreamDestroy(stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

}  // namespace
