// Updates between launches that nobody waits for: each launch runs with the parameters that it was called with.
#include <random>

#include "graph_kernels.h"

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
  std::mt19937_64 random(7);
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

}  // namespace
