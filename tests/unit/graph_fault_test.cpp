// A node that faults half-way: what follows is skipped, everything that waits is released, the context stays dead, and
// what the host keeps can be given up.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "graph_kernels.h"
#include "sanitizers.h"

namespace {

using namespace graph_test;

// ---- at a random place of a random graph (first: a process that has used a device can't be forked) ----

struct Mark {
  std::atomic<int>* ran;
  std::uint64_t fault;
};
void mark(const Mark& m) {
  if (m.fault) mr::simt::services()->trap();
  m.ran->fetch_add(1);
}
void mark_blocks(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t b = first; b < first + count; ++b) {
    const Mark& m = *static_cast<const Mark*>(block->args);
    if (m.fault == 0 || b + 1 == m.fault) mark(m);  // one block of the grid is the culprit
  }
}
void mark_lane(const void* args) { mark(*static_cast<const Mark*>(args)); }
void CUDART_CB mark_host(void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); }
char loop_key, fiber_key;

class Failing {
 public:
  explicit Failing(std::uint64_t seed) : random_(seed) { graph_ = build(1 + pick(40), {}, 0); }

  void run() {
    ASSERT_FALSE(kernels_.empty());
    // A kernel is to blame; it may stand in a child graph or in a loop's body.
    const Kernel& bad = kernels_[pick(static_cast<unsigned>(kernels_.size()))];
    Mark args{&ran_[bad.node], bad.grid > 1 ? 1 + pick(bad.grid) : 1};
    void* list[] = {&args};
    const cudaKernelNodeParams params{const_cast<char*>(bad.key), {bad.grid, 1, 1}, {1, 1, 1}, 0, list, nullptr};
    cudaGraphExec_t exec, other, third;
    OK(cudaGraphInstantiate(&other, graph_, 0));
    OK(cudaGraphInstantiate(&third, graph_, 0));
    OK(cudaGraphInstantiate(&exec, graph_, 0));
    cudaStream_t stream, beside;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&beside));
    cudaEvent_t event;
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaGraphLaunch(exec, stream));  // once in good order
    OK(cudaStreamSynchronize(stream));
    for (const auto& node : nodes_) ASSERT_EQ(ran_[node.index].exchange(0), 1);
    OK(cudaGraphExecKernelNodeSetParams(exec, bad.handle, &params));
    OK(cudaGraphLaunch(exec, stream));
    // From here on what is called is behind the fault, or refused because it has happened.
    if (cudaEventRecord(event, stream) == cudaSuccess && cudaStreamWaitEvent(beside, event, 0) == cudaSuccess)
      (void)cudaGraphLaunch(other, beside);
    (void)cudaGraphLaunch(exec, stream);
    const cudaError_t dead = cudaErrorLaunchFailure;
    EXPECT_EQ(cudaStreamSynchronize(stream), dead);
    EXPECT_EQ(cudaStreamSynchronize(beside), dead);
    EXPECT_EQ(cudaGetLastError(), dead);
    // Who came behind the culprit has not run; who ran has all of its predecessors behind it; and the culprit's have
    // all run.
    for (const auto& node : nodes_) {
      const int ran = ran_[node.index].load();
      EXPECT_LE(ran, 1);
      const bool behind = std::find(node.ancestors.begin(), node.ancestors.end(), bad.node) != node.ancestors.end();
      if (behind) {
        EXPECT_EQ(ran, 0) << "node " << node.index << " behind " << bad.node;
      }
      for (const unsigned ancestor : node.ancestors)
        if (ran || node.index == bad.node) {
          EXPECT_EQ(ran_[ancestor].load() != 0, true) << "node " << ancestor << " in front of " << node.index;
        }
    }
    // Everything that needs the context says so, and goes on saying so.
    void* memory = nullptr;
    EXPECT_EQ(cudaGraphLaunch(exec, stream), dead);
    EXPECT_EQ(cudaGraphLaunch(third, beside), dead);
    EXPECT_EQ(cudaGraphUpload(third, beside), dead);
    EXPECT_EQ(cudaMalloc(&memory, 16), dead);
    EXPECT_EQ(cudaMallocAsync(&memory, 16, stream), dead);
    EXPECT_EQ(cudaEventRecord(event, stream), dead);
    EXPECT_EQ(cudaStreamQuery(beside), dead);
    EXPECT_EQ(cudaMemsetAsync(device_, 0, 16, stream), dead);
    EXPECT_EQ(cudaDeviceSynchronize(), dead);
    // Half of what was made is given up before the reset, the rest behind it.
    if (pick(2)) OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphExecDestroy(other));
    if (pick(2)) OK(cudaGraphDestroy(graph_));
    // Recorded: a device whose context died is not to be had again in this process.
    OK(cudaDeviceReset());
    EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorDevicesUnavailable);
    (void)cudaGetLastError();
  }

 private:
  struct Node {
    unsigned index;
    std::vector<unsigned> ancestors;  // of those that mark
  };
  struct Kernel {
    unsigned node, grid;
    cudaGraphNode_t handle;
    const char* key;
  };
  unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

  cudaGraph_t build(unsigned count, const std::vector<unsigned>& outside, int depth) {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
    struct Built {
      cudaGraphNode_t handle;
      std::vector<unsigned> upto;  // itself, if it marks, and all before it
    };
    std::vector<Built> built;
    for (unsigned n = 0; n < count; ++n) {
      std::vector<cudaGraphNode_t> deps;
      std::vector<unsigned> before = outside, chosen;
      for (unsigned k = built.empty() ? 0 : pick(4); k > 0; --k) {
        const unsigned d = pick(static_cast<unsigned>(built.size()));
        if (std::find(chosen.begin(), chosen.end(), d) != chosen.end()) continue;
        chosen.push_back(d);
        deps.push_back(built[d].handle);
        before.insert(before.end(), built[d].upto.begin(), built[d].upto.end());
      }
      std::sort(before.begin(), before.end());
      before.erase(std::unique(before.begin(), before.end()), before.end());
      Built b{nullptr, before};
      const unsigned index = next_;
      switch (n == 0 && depth == 0 ? 0 : pick(9)) {
      case 5: {
        cudaHostNodeParams params{mark_host, &ran_[index]};
        EXPECT_EQ(cudaGraphAddHostNode(&b.handle, graph, deps.data(), deps.size(), &params), cudaSuccess);
        nodes_.push_back({index, before});
        b.upto.push_back(index);
        ++next_;
        break;
      }
      case 6: {
        cudaMemsetParams params{own_memory(), 0, 1, 1, 64, 1};
        EXPECT_EQ(cudaGraphAddMemsetNode(&b.handle, graph, deps.data(), deps.size(), &params), cudaSuccess);
        break;
      }
      case 7: {
        char* const memory = own_memory();
        EXPECT_EQ(cudaGraphAddMemcpyNode1D(&b.handle, graph, deps.data(), deps.size(), memory + 64, memory, 64,
                                           cudaMemcpyDeviceToDevice),
                  cudaSuccess);
        break;
      }
      case 8:
        if (depth < 2) {
          const std::size_t first = nodes_.size();
          const std::size_t first_kernel = kernels_.size();
          cudaGraph_t child = build(1 + pick(4), before, depth + 1);
          EXPECT_EQ(cudaGraphAddChildGraphNode(&b.handle, graph, deps.data(), deps.size(), child), cudaSuccess);
          // Its kernels are known by those of the copy; a child's children aren't to blame.
          cudaGraph_t copy = nullptr;
          EXPECT_EQ(cudaGraphChildGraphNodeGetGraph(b.handle, &copy), cudaSuccess);
          for (std::size_t k = kernels_.size(); k-- > first_kernel;)
            if (cudaGraphNodeFindInClone(&kernels_[k].handle, kernels_[k].handle, copy) != cudaSuccess)
              kernels_.erase(kernels_.begin() + static_cast<std::ptrdiff_t>(k));
          (void)cudaGetLastError();
          EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
          for (std::size_t i = first; i < nodes_.size(); ++i) b.upto.push_back(nodes_[i].index);
          break;
        }
        [[fallthrough]];
      default: {
        const Kernel kernel{index, pick(3) ? 1 : 2 + pick(20), nullptr, pick(3) ? &loop_key : &fiber_key};
        const unsigned grid = kernel.key == &fiber_key ? 1 : kernel.grid;
        Mark args{&ran_[index], 0};
        void* list[] = {&args};
        // A grid marks once: by its first block.
        const cudaKernelNodeParams params{const_cast<char*>(kernel.key), {1, 1, 1}, {1, 1, 1}, 0, list, nullptr};
        EXPECT_EQ(cudaGraphAddKernelNode(&b.handle, graph, deps.data(), deps.size(), &params), cudaSuccess);
        kernels_.push_back({index, grid, b.handle, kernel.key});
        nodes_.push_back({index, before});
        b.upto.push_back(index);
        ++next_;
        break;
      }
      }
      built.push_back(std::move(b));
    }
    return graph;
  }

  std::mt19937_64 random_;
  // 128 bytes for a node of its own: what isn't ordered must not write the same memory.
  char* own_memory() {
    EXPECT_LT(used_, slots);
    return device_ + 128 * used_++;
  }

  static constexpr unsigned slots = 512;
  unsigned used_ = 0;
  // Device memory of the context that the fault destroys.
  char* device_ = [] {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 128 * slots), cudaSuccess);
    return static_cast<char*>(memory);
  }();
  std::unique_ptr<std::atomic<int>[]> ran_{new std::atomic<int>[1024]{}};
  unsigned next_ = 0;
  std::vector<Node> nodes_;
  std::vector<Kernel> kernels_;
  cudaGraph_t graph_ = nullptr;
};

// A process for each one: a fault leaves nothing of its device.
TEST(GraphFault, AtARandomNode) {
#ifdef MR_TEST_TSAN
  constexpr unsigned seeds = 30;
#else
  constexpr unsigned seeds = 150;
#endif
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      register_kernel<sizeof(Mark)>(&loop_key, "_Z10mark_blocksP4Mark", mark_blocks, [](const void*) {});
      register_kernel<sizeof(Mark)>(&fiber_key, "_Z9mark_laneP4Mark", nullptr, mark_lane, MR_KERNEL_MAY_SPIN);
      Failing(seed).run();
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "seed " << seed << ": status " << status;
  }
}

// ---- one graph, in detail ----

struct Args {
  std::atomic<int>* ran;
  std::uint64_t fault;
};
void body(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Args& a = *static_cast<const Args*>(block->args);
  if (a.fault) mr::simt::services()->trap();
  a.ran->fetch_add(1);
}
char key;

void CUDART_CB never(void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(100); }

TEST(GraphFault, NodesBehindAreSkippedAndWaitersReleased) {
  register_kernel<sizeof(Args)>(&key, "_Z4bodyP4Args", body, [](const void*) {});
  std::atomic<int> ran{0};
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaEvent_t before, behind;
  OK(cudaEventCreate(&before));
  OK(cudaEventCreate(&behind));
  const auto kernel = [&](cudaGraphNode_t* after, bool fault) {
    Args args{&ran, fault};
    void* list[] = {&args};
    cudaKernelNodeParams params{&key, {1, 1, 1}, {1, 1, 1}, 0, list, nullptr};
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params), cudaSuccess);
    return node;
  };
  cudaGraphNode_t first = kernel(nullptr, false), record, host, last;
  OK(cudaGraphAddEventRecordNode(&record, graph, &first, 1, before));
  cudaGraphNode_t bad = kernel(&record, true);
  cudaHostNodeParams params{never, &ran};
  OK(cudaGraphAddHostNode(&host, graph, &bad, 1, &params));
  cudaGraphNode_t tail = kernel(&host, false);
  OK(cudaGraphAddEventRecordNode(&last, graph, &tail, 1, behind));
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t stream, other;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  // Held until the wait is enqueued: behind a failed context it would be refused.
  std::atomic<bool> enqueued{false};
  OK(cudaLaunchHostFunc(
      stream,
      [](void* data) {
        while (!static_cast<std::atomic<bool>*>(data)->load()) std::this_thread::yield();
      },
      &enqueued));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamWaitEvent(other, behind, 0));
  enqueued.store(true);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaErrorLaunchFailure);  // released, not stuck
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(ran.load(), 1);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

}  // namespace
