// Graphs that device code launches, as random trees: each graph is launched by one kernel of another, in one of the
// three ways, and tells when it began and ended. What the programming guide promises ("Device Graph Launch") is worked
// out from the tree: a tail begins when the graph, all that was fired into its environment and all earlier tails have
// ended, and the host's launch ends when all has.
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

enum class How : std::uint64_t { tail = 1, fire = 2, sibling = 3 };

struct Node;
struct Launch {
  Node* what;
  How how;
};
// One graph of the tree: a kernel that begins, one that launches, one that ends.
struct Node {
  cudaGraphExec_t exec = nullptr;
  Node* parent = nullptr;
  std::vector<Launch> launches;
  std::atomic<std::uint64_t> begin{0}, end{0};
  std::atomic<int> runs{0}, refused{0};
};
std::atomic<std::uint64_t> now{1};

struct Step {
  Node* node;
  int part;
};
void step(const Step& s) {
  const MrServices& services = *mr::simt::services();
  if (s.part == 0) {
    s.node->begin.store(now.fetch_add(1));
    s.node->runs.fetch_add(1);
  }
  if (s.part == 1)
    for (const Launch& launch : s.node->launches) {
      const std::uint64_t arguments[] = {reinterpret_cast<std::uintptr_t>(launch.what->exec),
                                         static_cast<std::uint64_t>(launch.how) << 56};
      if (services.device_api(13, arguments) != cudaSuccess) s.node->refused.fetch_add(1);
    }
  if (s.part == 2) s.node->end.store(now.fetch_add(1));
}
void step_blocks(MrBlock* block, std::uint64_t, std::uint64_t) { step(*static_cast<const Step*>(block->args)); }
void step_lane(const void* args) {
  mr::simt::services()->poll();
  step(*static_cast<const Step*>(args));
}
char key_step, key_resident;

struct Again {
  std::atomic<int>* left;
};
void again_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  const MrServices& services = *mr::simt::services();
  if (static_cast<const Again*>(block->args)->left->fetch_sub(1) <= 1) return;
  std::uint64_t own = 0;
  const std::uint64_t where[] = {reinterpret_cast<std::uintptr_t>(&own)};
  services.device_api(14, where);
  const std::uint64_t arguments[] = {own, std::uint64_t{1} << 56};
  services.device_api(13, arguments);
}
char key_again;

class DeviceGraphs : public testing::TestWithParam<unsigned> {
 protected:
  static void SetUpTestSuite() {
    register_kernel<sizeof(Step)>(&key_step, "_Z4step4Step", step_blocks, step_lane);
    register_kernel<sizeof(Step)>(&key_resident, "_Z8resident4Step", nullptr, step_lane, MR_KERNEL_MAY_SPIN);
    register_kernel<sizeof(Again)>(&key_again, "_Z5again5Again", again_blocks, [](const void*) {});
  }
};

cudaGraphNode_t add(cudaGraph_t graph, cudaGraphNode_t after, const void* key, void* argument) {
  void* arguments[] = {argument};
  const cudaKernelNodeParams params{const_cast<void*>(key), {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &params), cudaSuccess);
  return node;
}
void build(Node& node, bool device, bool resident) {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t last = nullptr;
  for (int part = 0; part < 3; ++part) {
    Step argument{&node, part};
    last = add(graph, last, resident && part == 1 ? &key_resident : &key_step, &argument);
  }
  OK(cudaGraphInstantiate(&node.exec, graph, device ? cudaGraphInstantiateFlagDeviceLaunch : 0));
  if (device) OK(cudaGraphUpload(node.exec, nullptr));
  OK(cudaGraphDestroy(graph));
}

using Members = std::vector<const Node*>;
void chain(const Node& node, Members& around, Members& all);
// What `node` encloses: itself, and the chains of what was fired into it.
void environment(const Node& node, Members& around, Members& own) {
  own.push_back(&node);
  for (const Launch& launch : node.launches) {
    if (launch.how == How::fire) chain(*launch.what, own, own);
    if (launch.how == How::sibling) chain(*launch.what, around, around);
  }
}
// `node`, then its tails: each behind all that is in front of it.
void chain(const Node& node, Members& around, Members& all) {
  Members before;
  environment(node, around, before);
  for (const Launch& launch : node.launches) {
    if (launch.how != How::tail) continue;
    for (const Node* other : before) EXPECT_LT(other->end.load(), launch.what->begin.load());
    chain(*launch.what, around, before);
  }
  all.insert(all.end(), before.begin(), before.end());
}

TEST_P(DeviceGraphs, RunInTheOrderOfTheirEnvironments) {
  std::mt19937 random(GetParam());
  constexpr unsigned trees = 2, rounds = 4;
  struct Tree {
    std::vector<std::unique_ptr<Node>> nodes;
    cudaStream_t stream = nullptr;
  };
  std::vector<Tree> forest(trees);
  for (Tree& tree : forest) {
    const unsigned count = 2 + random() % 24;
    for (unsigned i = 0; i < count; ++i) {
      tree.nodes.push_back(std::make_unique<Node>());
      Node& node = *tree.nodes.back();
      ASSERT_NO_FATAL_FAILURE(build(node, i != 0, random() % 4 == 0));
      if (i == 0) continue;
      node.parent = tree.nodes[random() % i].get();
      node.parent->launches.push_back({&node, static_cast<How>(1 + random() % 3)});
    }
    OK(cudaStreamCreateWithFlags(&tree.stream, cudaStreamNonBlocking));
  }
  for (unsigned round = 1; round <= rounds; ++round) {
    for (Tree& tree : forest) OK(cudaGraphLaunch(tree.nodes[0]->exec, tree.stream));
    for (Tree& tree : forest) OK(cudaStreamSynchronize(tree.stream));
    for (Tree& tree : forest) {
      for (const auto& node : tree.nodes) {
        EXPECT_EQ(node->runs.load(), static_cast<int>(round));
        EXPECT_EQ(node->refused.load(), 0);
      }
      Members around, all;
      chain(*tree.nodes[0], around, all);
      EXPECT_EQ(around.size() + all.size(), tree.nodes.size());
    }
  }
  for (Tree& tree : forest) {
    for (const auto& node : tree.nodes) OK(cudaGraphExecDestroy(node->exec));
    OK(cudaStreamDestroy(tree.stream));
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, DeviceGraphs, testing::Range(0u, 60u));

// As many times as one likes, in the memory of one; what follows in the stream comes behind all of them.
TEST_F(DeviceGraphs, AGraphRunsAgainBehindItself) {
  std::atomic<int> left{20000};
  Again argument{&left};
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  add(graph, nullptr, &key_again, &argument);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
  OK(cudaGraphLaunch(exec, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_LE(left.load(), 0);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// The host changes a graph, and uploads it, while device code launches it and changes another node of the launching
// graph: each launch has one or the other parameters, and what device code has set stays.
struct Fire {
  cudaGraphExec_t* what;
  std::atomic<int>* launched;
  cudaGraphDeviceNode_t node;
};
void fire_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  const MrServices& services = *mr::simt::services();
  const Fire& fire = *static_cast<const Fire*>(block->args);
  const std::uint64_t arguments[] = {reinterpret_cast<std::uintptr_t>(*fire.what), std::uint64_t{1} << 56};
  if (services.device_api(13, arguments) == cudaSuccess) fire.launched->fetch_add(1);
  cudaGraphKernelNodeUpdate update{fire.node, cudaGraphKernelNodeFieldEnabled, {}};
  update.updateData.isEnabled = 0;
  const std::uint64_t updates[] = {reinterpret_cast<std::uintptr_t>(&update), 1};
  EXPECT_EQ(services.device_api(19, updates), cudaSuccess);
}
struct Count {
  std::atomic<int>* counter;
};
void count_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  static_cast<const Count*>(block->args)->counter->fetch_add(1);
}
char key_fire, key_count;

TEST_F(DeviceGraphs, ChangesMeetLaunches) {
  register_kernel<sizeof(Fire)>(&key_fire, "_Z4fire4Fire", fire_blocks, [](const void*) {});
  register_kernel<sizeof(Count)>(&key_count, "_Z5count5Count", count_blocks, [](const void*) {});
  std::atomic<int> odd{0}, even{0}, never{0}, launched{0};
  cudaGraph_t graph, launching;
  cudaGraphExec_t exec, host;
  Count count{&even};
  OK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t counted = add(graph, nullptr, &key_count, &count);
  OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
  OK(cudaGraphUpload(exec, nullptr));

  OK(cudaGraphCreate(&launching, 0));
  Count unwanted{&never};
  const cudaGraphNode_t off = add(launching, nullptr, &key_count, &unwanted);
  cudaLaunchAttributeValue value{};
  value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  OK(cudaGraphKernelNodeSetAttribute(off, cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
  Fire fire{&exec, &launched, value.deviceUpdatableKernelNode.devNode};
  const cudaGraphNode_t first = add(launching, nullptr, &key_fire, &fire);
  OK(cudaGraphAddDependencies(launching, &first, &off, nullptr, 1));
  OK(cudaGraphInstantiate(&host, launching, 0));

  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  constexpr int rounds = 300;
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (int i = 0; !stop.load(); ++i) {
      Count next{i % 2 ? &odd : &even};
      void* arguments[] = {&next};
      const cudaKernelNodeParams params{&key_count, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
      EXPECT_EQ(cudaGraphExecKernelNodeSetParams(exec, counted, &params), cudaSuccess);
      EXPECT_EQ(cudaGraphUpload(exec, nullptr), cudaSuccess);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    OK(cudaGraphLaunch(host, stream));
    if (i % 10 != 0) continue;
    Fire same = fire;
    void* arguments[] = {&same};
    const cudaKernelNodeParams params{&key_fire, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
    OK(cudaGraphExecKernelNodeSetParams(host, first, &params));  // makes a copy of the executable graph
  }
  OK(cudaStreamSynchronize(stream));
  stop.store(true);
  changer.join();
  EXPECT_EQ(launched.load(), rounds);
  EXPECT_EQ(odd.load() + even.load(), rounds);
  EXPECT_EQ(never.load(), 0);
  OK(cudaGraphExecDestroy(host));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(launching));
  OK(cudaStreamDestroy(stream));
}

}  // namespace
