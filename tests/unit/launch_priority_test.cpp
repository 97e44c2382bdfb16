// What priorities do (specification 2.5.9.1), without looking at a clock: one worker, held by a kernel while work of
// all priorities is enqueued; then the order in which operations and blocks begin tells.
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
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
char key, launching;

class Priorities : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_kernel<sizeof(Entry)>(&key, "_Z5enter5Entry", enter, [](const void*) {});
    register_kernel<sizeof(Entry)>(&launching, "_Z9launching5Entry", enter, [](const void*) {}, MR_KERNEL_LAUNCHES);
  }
  void TearDown() override {
    for (cudaStream_t stream : streams_) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    if (event_) EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
  }
  cudaStream_t stream(int priority) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, priority), cudaSuccess);
    streams_.push_back(made);
    return made;
  }
  // launch_priority: an attribute of the launch; above 0: none.
  void launch(cudaStream_t in, unsigned grid, Entry entry, int launch_priority = 1, const char* kernel = &key) {
    std::vector<cudaLaunchAttribute> attributes;
    if (launch_priority <= 0) attributes.push_back(priority_of(launch_priority));
    launch(in, grid, entry, attributes, kernel);
  }
  void launch(cudaStream_t in, unsigned grid, Entry entry, std::vector<cudaLaunchAttribute> attributes,
              const char* kernel = &key) {
    void* arguments[] = {&entry};
    cudaLaunchConfig_t config{};
    config.gridDim = {grid, 1, 1};
    config.blockDim = {1, 1, 1};
    config.stream = in;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    OK(cudaLaunchKernelExC(&config, kernel, arguments));
  }
  static cudaLaunchAttribute priority_of(int priority) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = priority;
    return attribute;
  }
  static cudaLaunchAttribute programmatic() {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
  }
  // With it, a kernel is one that others can follow before it has ended.
  cudaLaunchAttribute begin_event() {
    if (!event_) EXPECT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event_;
    return attribute;
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
  cudaEvent_t event_ = nullptr;
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

TEST_F(Priorities, PendingKernelsMakeWay) {
  cudaStream_t low = stream(0);
  std::vector<int> expected{100, 2};
  launch(low, 1, {&log_, 100, 1});
  wait_until_held();
  for (int i = 0; i < 20; ++i) {
    launch(low, 1, {&log_, 1, 0});
    expected.push_back(1);
  }
  launch(stream(-5), 1, {&log_, 2, 0});
  open_and_wait();
  EXPECT_EQ(log_.taken(), expected);
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

// A stream without work has its launch's priority from the beginning, whichever is the higher one.
TEST_F(Priorities, AnIdleStreamHasItsLaunchs) {
  launch(stream(0), 1, {&log_, 100, 1});
  wait_until_held();
  launch(stream(-5), 1, {&log_, 1, 0}, -1);
  launch(stream(-2), 1, {&log_, 2, 0});
  launch(stream(0), 1, {&log_, 3, 0}, -4);
  launch(stream(0), 1, {&log_, 4, 0}, -3, &launching);
  open_and_wait();
  EXPECT_EQ(log_.taken(), (std::vector<int>{100, 3, 4, 2, 1}));
}

TEST_F(Priorities, ProgrammaticLaunchesHaveTheirs) {
  // Nothing in front that it could follow early.
  launch(stream(0), 1, {&log_, 100, 1});
  wait_until_held();
  launch(stream(-2), 1, {&log_, 2, 0});
  launch(stream(0), 1, {&log_, 3, 0}, {programmatic(), priority_of(-4)});
  launch(stream(-5), 1, {&log_, 1, 0}, {priority_of(-1), begin_event()});
  open_and_wait();
  EXPECT_EQ(log_.taken(), (std::vector<int>{100, 3, 2, 1}));
  // Secondaries, of primaries that hold the worker.
  for (const auto& [own, expected] : {std::pair{-4, std::vector<int>{100, 3, 2}}, {-1, {100, 2, 3}}}) {
    log_.reset();
    cudaStream_t in = stream(own == -4 ? 0 : -5);
    launch(in, 1, {&log_, 100, 1}, {begin_event()});
    wait_until_held();
    launch(stream(-2), 1, {&log_, 2, 0});
    launch(in, 1, {&log_, 3, 0}, {programmatic(), priority_of(own)});
    open_and_wait();
    EXPECT_EQ(log_.taken(), expected) << own;
  }
}

// Secondaries stand in queues of their own, which are kept.
TEST_F(Priorities, ProgrammaticLaunchesFollowTheirStreams) {
  cudaStream_t in = stream(0);
  const auto run = [&] {
    log_.reset();
    launch(in, 1, {&log_, 100, 1}, {begin_event()});
    wait_until_held();
    launch(stream(-2), 1, {&log_, 2, 0});
    launch(in, 1, {&log_, 3, 0}, {programmatic()});
    open_and_wait();
    return log_.taken();
  };
  const std::vector<int> first{100, 3, 2}, last{100, 2, 3};
  EXPECT_EQ(run(), last);
  const cudaLaunchAttribute highest = priority_of(-5);
  OK(cudaStreamSetAttribute(in, cudaLaunchAttributePriority, &highest.val));
  EXPECT_EQ(run(), first);
  // Another stream in the same place.
  streams_.erase(std::find(streams_.begin(), streams_.end(), in));
  OK(cudaStreamDestroy(in));
  cudaStream_t again = stream(0);
  EXPECT_EQ(again, in);
  EXPECT_EQ(run(), last);
}

}  // namespace
