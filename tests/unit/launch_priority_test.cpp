// What priorities do (specification 2.5.9.1), without looking at a clock: one worker, held by a kernel while work of
// all priorities is enqueued; then the order in which operations and blocks begin tells.
#include <atomic>
#include <thread>
#include <vector>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

[[gnu::constructor(101)]] void one_worker() { setenv("MILLRACE_WORKERS", "1", 1); }

struct Log {
  std::atomic<int> next{0};
  std::atomic<int> entries[256];
  std::atomic<bool> held{false}, open{false};

  void reset() {
    next.store(0);
    held.store(false);
    open.store(false);
  }
  std::vector<int> taken() const {
    std::vector<int> out;
    for (int i = 0; i < next.load(); ++i) out.push_back(entries[i].load());
    return out;
  }
};
struct Entry {
  Log* log;
  int id;
  int hold;  // the first block waits until the log is opened
};

void enter(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  const Entry& e = *static_cast<const Entry*>(block->args);
  for (std::uint64_t b = first; b < first + count; ++b) {
    e.log->entries[e.log->next.fetch_add(1)].store(e.id);
    if (!e.hold || b != 0) continue;
    e.log->held.store(true);
    while (!e.log->open.load()) std::this_thread::yield();  // a finite kernel: nothing else runs on this thread
  }
}
char key;

class Priorities : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_kernel<sizeof(Entry)>(&key, "_Z5enter5Entry", enter, [](const void*) {});
  }
  void TearDown() override {
    for (cudaStream_t stream : streams_) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  cudaStream_t stream(int priority) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority), cudaSuccess);
    streams_.push_back(made);
    return made;
  }
  // launch_priority: an attribute of the launch; above 0: none.
  void launch(cudaStream_t in, unsigned grid, Entry entry, int launch_priority = 1) {
    void* arguments[] = {&entry};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = launch_priority;
    cudaLaunchConfig_t config{};
    config.gridDim = {grid, 1, 1};
    config.blockDim = {1, 1, 1};
    config.stream = in;
    config.attrs = &attribute;
    config.numAttrs = launch_priority > 0 ? 0 : 1;
    OK(cudaLaunchKernelExC(&config, &key, arguments));
  }
  void wait_until_held() {
    while (!log_.held.load()) std::this_thread::yield();
  }
  // Queries don't help: all is left to the worker.
  void open_and_wait() {
    log_.open.store(true);
    for (cudaStream_t s : streams_)
      while (cudaStreamQuery(s) == cudaErrorNotReady) std::this_thread::yield();
  }
  // How many entries of `id` come before the first of `other`.
  int before(int id, int other) {
    int count = 0;
    for (int entry : log_.taken()) {
      if (entry == other) return count;
      count += entry == id;
    }
    return -1;
  }

  Log log_;
  std::vector<cudaStream_t> streams_;
};

TEST_F(Priorities, ReadyStreamsGoByPriority) {
  launch(stream(0), 1, {&log_, 100, 1});
  wait_until_held();
  constexpr int each = 12;
  std::vector<int> expected{100};
  for (int priority : {0, -2, -5, -1}) {
    for (int i = 0; i < each; ++i) launch(stream(priority), 1, {&log_, priority, 0});
  }
  for (int priority : {-5, -2, -1, 0}) expected.insert(expected.end(), each, priority);
  open_and_wait();
  EXPECT_EQ(log_.taken(), expected);
}

TEST_F(Priorities, PendingBlocksMakeWay) {
  launch(stream(0), 64, {&log_, 1, 1});
  wait_until_held();
  launch(stream(-5), 1, {&log_, 2, 0});
  open_and_wait();
  // The block that held the worker, and no more than a look at the clock may have cost.
  EXPECT_GE(before(1, 2), 1);
  EXPECT_LE(before(1, 2), 2);
  EXPECT_EQ(log_.next.load(), 65);
}

TEST_F(Priorities, LaunchesHaveTheirOwn) {
  // Higher than its stream's.
  launch(stream(0), 64, {&log_, 1, 1});
  wait_until_held();
  launch(stream(0), 16, {&log_, 2, 0}, -4);
  open_and_wait();
  EXPECT_LE(before(1, 2), 2);
  // Lower than its stream's, against one of the stream's.
  log_.reset();
  launch(stream(-5), 64, {&log_, 1, 1}, 0);
  wait_until_held();
  launch(stream(-5), 1, {&log_, 2, 0});
  open_and_wait();
  EXPECT_LE(before(1, 2), 2);
  // Only that launch: the next one of the stream has the stream's.
  log_.reset();
  cudaStream_t low = stream(0);
  launch(low, 1, {&log_, 3, 0}, -5);
  launch(low, 64, {&log_, 1, 1});
  wait_until_held();
  launch(stream(-1), 1, {&log_, 2, 0});
  open_and_wait();
  EXPECT_LE(before(1, 2), 2);
}

}  // namespace
