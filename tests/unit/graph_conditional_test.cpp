// Conditional values belong to a launch: two executable graphs of one graph run at once and each takes its own branch,
// whoever sets the value - the thread that runs the graph, a worker with resident blocks, or any thread that takes
// blocks of a large grid.
#include <atomic>
#include <thread>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

struct Set {
  std::uint64_t handle;
  std::uint32_t value;
  std::uint32_t blocks;                 // the last block to come sets
  std::atomic<std::uint32_t>* arrived;  // blocks of this launch
};
void set(const Set& s) {
  if (s.arrived->fetch_add(1) + 1 != s.blocks) return;
  s.arrived->store(0);
  mr::simt::services()->graph_set_conditional(s.handle, s.value);
}
void set_blocks(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t b = first; b < first + count; ++b) {
    for (int i = 0; i < 2000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);  // worth sharing
    set(*static_cast<const Set*>(block->args));
  }
}
void set_lane(const void* args) {
  for (int i = 0; i < 3; ++i) mr::simt::services()->poll();
  set(*static_cast<const Set*>(args));
}
struct Count {
  std::atomic<int>* counter;
};
void count_block(MrBlock* block, std::uint64_t, std::uint64_t) {
  static_cast<const Count*>(block->args)->counter->fetch_add(1);
}
char key_set, key_resident, key_count;

cudaKernelNodeParams params_of(const void* key, unsigned blocks, void** args) {
  return {const_cast<void*>(key), {blocks, 1, 1}, {1, 1, 1}, 0, args, nullptr};
}

class Conditionals : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    register_kernel<sizeof(Set)>(&key_set, "_Z3set3Set", set_blocks, set_lane);
    register_kernel<sizeof(Set)>(&key_resident, "_Z8resident3Set", nullptr, set_lane, MR_KERNEL_MAY_SPIN);
    register_kernel<sizeof(Count)>(&key_count, "_Z5count5Count", count_block, [](const void*) {});
  }
};

TEST_P(Conditionals, EachLaunchHasItsOwnValue) {
  const void* const key = GetParam() == 1 ? &key_resident : &key_set;
  const unsigned blocks = GetParam() == 2 ? 64 : 1;
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  std::atomic<std::uint32_t> arrived[2]{};
  std::atomic<int> taken[2]{};
  Set yes{handle, 1, blocks, &arrived[0]}, no{handle, 0, blocks, &arrived[1]};
  void* yes_args[] = {&yes};
  void* no_args[] = {&no};
  cudaKernelNodeParams setter = params_of(key, blocks, yes_args);
  cudaGraphNode_t first, branch, counted;
  OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &setter));
  cudaGraphNodeParams conditional{};
  conditional.type = cudaGraphNodeTypeConditional;
  conditional.conditional.handle = handle;
  conditional.conditional.type = cudaGraphCondTypeIf;
  conditional.conditional.size = 2;  // if and else
  OK(cudaGraphAddNode(&branch, graph, &first, nullptr, 1, &conditional));
  for (int i = 0; i < 2; ++i) {
    Count count{&taken[i]};
    void* args[] = {&count};
    cudaKernelNodeParams counter = params_of(&key_count, 1, args);
    OK(cudaGraphAddKernelNode(&counted, conditional.conditional.phGraph_out[i], nullptr, 0, &counter));
  }
  // Launches that are pending have images of their own: both say something else of one handle.
  cudaGraphExec_t exec;
  cudaStream_t stream[2];
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (auto& s : stream) OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  const cudaKernelNodeParams both[2] = {setter, params_of(key, blocks, no_args)};
  constexpr int launches = 500;
  for (int k = 0; k < launches; ++k)
    for (int i = 0; i < 2; ++i) {
      OK(cudaGraphExecKernelNodeSetParams(exec, first, &both[i]));
      OK(cudaGraphLaunch(exec, stream[i]));
    }
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(taken[0].load(), launches);
  EXPECT_EQ(taken[1].load(), launches);
  OK(cudaGraphExecDestroy(exec));
  for (cudaStream_t s : stream) OK(cudaStreamDestroy(s));
  OK(cudaGraphDestroy(graph));
}
INSTANTIATE_TEST_SUITE_P(Setter, Conditionals, testing::Values(0, 1, 2), [](const auto& info) {
  return std::string(info.param == 0 ? "OneBlock" : info.param == 1 ? "Resident" : "ManyBlocks");
});

}  // namespace
