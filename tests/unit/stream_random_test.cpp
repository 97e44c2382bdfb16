// Random programs over streams of all kinds - blocking, non-blocking, legacy and per-thread default streams, events,
// host functions, callbacks, kernels that spin and kernels of many blocks, copies and sets, gates that hold streams
// until they are opened - issued by several host threads, against the serial model of stream_model.h. Every operation
// looks whether what must come before it has ended; the values that they compute from each other are compared with the
// model's at the end; queries and waits have to answer what the model says.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "graph_kernels.h"
#include "stream_model.h"

namespace {

using namespace graph_test;
using namespace stream_test;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9u;
}

// What one operation leaves behind: plain memory, so that a sanitizer sees whether it is ordered.
struct Cell {
  std::uint64_t value;
  std::uint64_t done;  // not 0 when it has run
};
struct Task {
  Cell* cells;
  std::uint32_t self;
  std::uint32_t count;  // of preds
  std::uint32_t preds[6];
  std::uint64_t salt;
  std::atomic<std::uint64_t>* violations;
  std::atomic<int>* gate;  // waited for first, if not null
};
using TaskPointer = const Task*;

std::uint64_t look(const Task& t) {
  std::uint64_t h = mix(t.salt);
  for (std::uint32_t i = 0; i < t.count; ++i) {
    const Cell& cell = t.cells[t.preds[i]];
    if (cell.done == 0) t.violations->fetch_add(1, std::memory_order_relaxed);
    h += mix(cell.value + i);
  }
  return h;
}
void perform(const Task& t) {
  Cell& cell = t.cells[t.self];
  cell.value = look(t);
  cell.done = 1;
}
constexpr unsigned blocks = 5;

void one_block(MrBlock* block, std::uint64_t, std::uint64_t) {
  perform(**static_cast<const TaskPointer*>(block->args));
}
void many_blocks(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  const Task& t = **static_cast<const TaskPointer*>(block->args);
  Cell& cell = t.cells[t.self];
  for (std::uint64_t b = first; b < first + count; ++b) {
    std::atomic_ref<std::uint64_t>(cell.value).fetch_add(mix(look(t) + b), std::memory_order_relaxed);
    std::atomic_ref<std::uint64_t>(cell.done).fetch_add(1, std::memory_order_relaxed);
  }
}
void spinning(const void* args) {
  const Task& t = **static_cast<const TaskPointer*>(args);
  while (t.gate && t.gate->load(std::memory_order_acquire) == 0) mr::simt::services()->poll();
  perform(t);
}
void CUDART_CB host_function(void* data) {
  const Task& t = *static_cast<const Task*>(data);
  while (t.gate && t.gate->load(std::memory_order_acquire) == 0) std::this_thread::yield();
  perform(t);
}
void CUDART_CB callback(cudaStream_t, cudaError_t status, void* data) {
  const Task& t = *static_cast<const Task*>(data);
  if (status != cudaSuccess) t.violations->fetch_add(1, std::memory_order_relaxed);
  perform(t);
}
char key_one, key_many, key_spin;
void register_kernels() {
  static const bool done = [] {
    register_kernel<sizeof(TaskPointer)>(&key_one, "_Z3onePK4Task", one_block, spinning);
    register_kernel<sizeof(TaskPointer)>(&key_many, "_Z4manyPK4Task", many_blocks, nullptr);
    register_kernel<sizeof(TaskPointer)>(&key_spin, "_Z4spinPK4Task", nullptr, spinning, MR_KERNEL_MAY_SPIN);
    return true;
  }();
  (void)done;
}

// A host thread that does what it is told, one thing after the other: it has a default stream of its own.
class Helper {
 public:
  Helper() : thread_([this] { run(); }) {}
  ~Helper() {
    post({});
    thread_.join();
  }
  void call(const std::function<void()>& work) {
    post(work);
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return idle_; });
  }

 private:
  void post(std::function<void()> work) {
    std::scoped_lock hold(mutex_);
    work_ = std::move(work);
    idle_ = false;
    changed_.notify_all();
  }
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [&] { return !idle_; });
        work = work_;
      }
      if (work) work();
      {
        std::scoped_lock hold(mutex_);
        idle_ = true;
        changed_.notify_all();
      }
      if (!work) return;
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool idle_ = true;
  std::thread thread_;
};

const bool tracing = std::getenv("MILLRACE_TEST_TRACE") != nullptr;  // tells every call

// A random program and its model. `helpers` take turns in issuing it; without any, the calling thread issues it alone
// and, since others may do likewise at the same time, closes no gates.
class Program {
 public:
  Program(std::uint64_t seed, std::vector<std::unique_ptr<Helper>>* helpers) : random_(seed), helpers_(helpers) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&cells_), capacity * sizeof(Cell)), cudaSuccess);
    std::memset(static_cast<void*>(cells_), 0, capacity * sizeof(Cell));
    expected_.assign(capacity, 0);
    cell_of_op_.reserve(capacity);
    handles_.push_back(pick(2) ? cudaStreamLegacy : nullptr);
    for (int i = 0; i < 2; ++i) new_stream(cudaStreamDefault);
    for (int i = 0; i < 2; ++i) new_stream(cudaStreamNonBlocking);
    per_thread_ = handles_.size();
    for (std::size_t i = 0; i < (helpers ? helpers->size() : 1); ++i) {
      model_.add_stream(StreamKind::blocking);
      handles_.push_back(cudaStreamPerThread);
    }
    for (Event& event : events_) new_event(event);
  }
  ~Program() {
    for (std::size_t s = 1; s < handles_.size(); ++s)
      if (handles_[s] && handles_[s] != cudaStreamPerThread) {
        EXPECT_EQ(cudaStreamDestroy(handles_[s]), cudaSuccess);
      }
    for (Event& event : events_) EXPECT_EQ(cudaEventDestroy(event.handle), cudaSuccess);
    EXPECT_EQ(cudaFree(cells_), cudaSuccess);
  }

  void run(unsigned length) {
    for (unsigned i = 0; i < length && !testing::Test::HasFailure(); ++i) {
      if (!helpers_) {
        step(per_thread_);
        continue;
      }
      const std::uint32_t turn = pick(static_cast<std::uint32_t>(helpers_->size()));
      (*helpers_)[turn]->call([&] { step(per_thread_ + turn); });
    }
    while (!closed_.empty()) open_gate(0);
    OK(cudaDeviceSynchronize());
    ASSERT_EQ(violations_.load(), 0u);
    for (std::uint32_t c = 0; c < used_; ++c) {
      ASSERT_NE(cells_[c].done, 0u) << "cell " << c << " of " << used_;
      ASSERT_EQ(cells_[c].value, expected_[c]) << "cell " << c << " of " << used_;
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }

 private:
  static constexpr std::uint32_t capacity = 1024;
  static constexpr std::uint32_t no_cell = ~0u;
  struct Event {
    cudaEvent_t handle = nullptr;
    OrderModel::Point point;
  };
  struct Gate {
    std::unique_ptr<std::atomic<int>> flag;
    std::uint32_t op;
  };
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void new_stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithPriority(&stream, flags, -static_cast<int>(pick(6))), cudaSuccess);
    model_.add_stream(flags == cudaStreamNonBlocking ? StreamKind::non_blocking : StreamKind::blocking);
    handles_.push_back(stream);
  }
  void new_event(Event& event) {
    constexpr unsigned flags[] = {cudaEventDefault, cudaEventDisableTiming,
                                  cudaEventDisableTiming | cudaEventBlockingSync};
    EXPECT_EQ(cudaEventCreateWithFlags(&event.handle, flags[pick(3)]), cudaSuccess);
    event.point = {};
  }

  // Cells of the operations that come right before `op` (those without one are looked through).
  void cells_before(std::uint32_t op, std::vector<std::uint32_t>& out) {
    for (std::uint32_t before : model_.must(op)) {
      const std::uint32_t cell = cell_of_op_[before];
      if (cell != no_cell) {
        if (std::find(out.begin(), out.end(), cell) == out.end()) out.push_back(cell);
      } else if (out.size() < 40) {
        cells_before(before, out);
      }
    }
  }
  std::uint32_t note(std::uint32_t op, std::uint32_t cell) {
    cell_of_op_.resize(op + 1, no_cell);
    cell_of_op_[op] = cell;
    return op;
  }
  // An operation in stream s, with a cell of its own and some of what it has to come after to look at.
  std::uint32_t enqueue(std::size_t s, Task& task) {
    const std::uint32_t op = model_.enqueue(s);
    note(op, used_);
    task = {cells_, used_++, 0, {}, random_(), &violations_, nullptr};
    std::vector<std::uint32_t> before;
    cells_before(op, before);
    std::shuffle(before.begin(), before.end(), random_);
    for (std::uint32_t cell : before)
      if (task.count < 6) task.preds[task.count++] = cell;
    return op;
  }
  std::uint64_t expect(const Task& t) const {
    std::uint64_t h = mix(t.salt);
    for (std::uint32_t i = 0; i < t.count; ++i) h += mix(expected_[t.preds[i]] + i);
    return h;
  }
  void expect_complete(const OrderModel::Point& point) {
    model_.for_each_before(point, [&](std::uint32_t op) {
      const std::uint32_t cell = cell_of_op_[op];
      if (cell == no_cell) return;
      EXPECT_NE(cells_[cell].done, 0u) << "cell " << cell;
      EXPECT_EQ(cells_[cell].value, expected_[cell]) << "cell " << cell;
    });
  }
  void open_gate(std::size_t i) {
    if (tracing) std::printf("  opens gate of op %u\n", closed_[i].op);
    model_.open_gate(closed_[i].op);
    closed_[i].flag->store(1, std::memory_order_release);
    opened_.push_back(std::move(closed_[i].flag));
    closed_.erase(closed_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void maybe_close(Task& task, std::uint32_t op) {
    if (!helpers_ || closed_.size() >= 3 || pick(3)) return;
    closed_.push_back({std::make_unique<std::atomic<int>>(0), op});
    task.gate = closed_.back().flag.get();
    if (tracing) std::printf("  gate at op %u\n", op);
    model_.close_gate(op);
  }
  void launch(const void* key, unsigned grid, cudaStream_t stream, const Task& task) {
    TaskPointer pointer = &task;
    void* arguments[] = {&pointer};
    OK(cudaLaunchKernel(key, {grid, 1, 1}, {1, 1, 1}, arguments, 0, stream));
  }
  // Query and, if it is certain to come back, wait.
  template <class Query, class Wait> void ask(const OrderModel::Point& point, Query&& query, Wait&& wait) {
    const bool must = model_.must_be_held(point), may = model_.may_be_held(point);
    const cudaError_t answer = query();
    if (tracing) std::printf("  held %d to %d, answer %d\n", must, may, answer);
    if (must) {
      ASSERT_EQ(answer, cudaErrorNotReady);
    } else if (answer == cudaSuccess) {
      expect_complete(point);
    } else {
      ASSERT_EQ(answer, cudaErrorNotReady);
    }
    if (may || pick(2)) return;
    if (pick(2)) {
      while (query() == cudaErrorNotReady) std::this_thread::yield();
    } else {
      OK(wait());
    }
    expect_complete(point);
    if (helpers_) OK(query());  // else others may have given the legacy stream something
  }

  // One random call. `mine` is the calling thread's default stream.
  void step(std::size_t mine) {
    if (used_ + 2 >= capacity) return;
    std::size_t s = pick(static_cast<std::uint32_t>(per_thread_ + 1));
    if (s == per_thread_) s = mine;
    if (!late_.empty() && pick(4) == 0) s = late_[pick(static_cast<std::uint32_t>(late_.size()))];
    if (handles_[s] == nullptr && s != 0) return;  // destroyed
    cudaStream_t stream = handles_[s];
    Event& event = events_[pick(std::size(events_))];
    Task& task = tasks_.emplace_back();
    const std::uint32_t choice = pick(20);
    if (tracing)
      std::printf("call %u stream %zu%s event %td op %zu\n", choice, s,
                  s == 0      ? " (legacy)"
                  : s == mine ? " (own)"
                              : "",
                  &event - events_, cell_of_op_.size());
    switch (choice) {
    default: {
      enqueue(s, task);
      expected_[task.self] = expect(task);
      launch(&key_one, 1, stream, task);
      break;
    }
    case 1: {
      enqueue(s, task);
      const std::uint64_t h = expect(task);
      for (unsigned b = 0; b < blocks; ++b) expected_[task.self] += mix(h + b);
      launch(&key_many, blocks, stream, task);
      break;
    }
    case 2: {
      const std::uint32_t op = enqueue(s, task);
      expected_[task.self] = expect(task);
      maybe_close(task, op);
      launch(&key_spin, 1, stream, task);
      break;
    }
    case 3:
    case 4: {
      const std::uint32_t op = enqueue(s, task);
      expected_[task.self] = expect(task);
      maybe_close(task, op);
      OK(cudaLaunchHostFunc(stream, host_function, &task));
      break;
    }
    case 5:
      enqueue(s, task);
      expected_[task.self] = expect(task);
      OK(cudaStreamAddCallback(stream, callback, &task, 0));
      break;
    case 6:
    case 7: {  // copy of what another left
      enqueue(s, task);
      if (task.count == 0) {
        OK(cudaMemsetAsync(&cells_[task.self], 1, sizeof(Cell), stream));
        expected_[task.self] = 0x0101010101010101u;
        break;
      }
      expected_[task.self] = expected_[task.preds[0]];
      OK(cudaMemcpyAsync(&cells_[task.self], &cells_[task.preds[0]], sizeof(Cell), cudaMemcpyDefault, stream));
      break;
    }
    case 8:
      enqueue(s, task);
      expected_[task.self] = 0x2222222222222222u;
      OK(cudaMemsetAsync(&cells_[task.self], 0x22, sizeof(Cell), stream));
      break;
    case 9:
    case 10:
      event.point = model_.record(s);
      for (std::uint32_t op : event.point.must)
        if (op >= cell_of_op_.size()) note(op, no_cell);
      OK(cudaEventRecord(event.handle, stream));
      break;
    case 11:
    case 12:
    case 13:
      model_.wait(s, event.point);
      OK(cudaStreamWaitEvent(stream, event.handle, 0));
      break;
    case 14:
      ask(
          event.point, [&] { return cudaEventQuery(event.handle); },
          [&] { return cudaEventSynchronize(event.handle); });
      break;
    case 15:
      ask(model_.end(s), [&] { return cudaStreamQuery(stream); }, [&] { return cudaStreamSynchronize(stream); });
      break;
    case 16:
      if (!closed_.empty()) open_gate(pick(static_cast<std::uint32_t>(closed_.size())));
      break;
    case 17: {  // calls without a stream: work of the legacy stream
      if (model_.may_be_held(model_.end(0))) break;
      enqueue(0, task);
      const std::uint32_t from = task.count ? task.preds[0] : no_cell;
      if (from == no_cell) {
        expected_[task.self] = 0x0303030303030303u;
        OK(cudaMemset(&cells_[task.self], 3, sizeof(Cell)));
      } else {
        expected_[task.self] = expected_[from];
        OK(cudaMemcpy(&cells_[task.self], &cells_[from], sizeof(Cell), cudaMemcpyDefault));
      }
      // Within the device neither makes the host wait.
      OK(cudaStreamSynchronize(cudaStreamLegacy));
      expect_complete(model_.end(0));
      break;
    }
    case 18:  // with work pending, perhaps
      if (pick(3) == 0) {
        OK(cudaEventDestroy(event.handle));
        new_event(event);
      } else if (s != 0 && stream != cudaStreamPerThread && pick(2) == 0) {
        const bool blocking = model_.kind(s) == StreamKind::blocking;
        OK(cudaStreamDestroy(stream));
        model_.destroy_stream(s);
        replace_stream(s, blocking);
      }
      break;
    case 19:
      if (helpers_ && !model_.may_be_held(model_.everything())) {
        OK(cudaDeviceSynchronize());
        expect_complete(model_.everything());
      }
      break;
    }
  }
  // A new stream instead of a destroyed one, under a number of its own.
  void replace_stream(std::size_t s, bool blocking) {
    handles_[s] = nullptr;
    if (extra_ >= 6) return;
    ++extra_;
    new_stream(blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    late_.push_back(handles_.size() - 1);
  }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Helper>>* helpers_;
  OrderModel model_;
  Cell* cells_ = nullptr;  // device memory, which the host can read here: copies to host memory would make it wait
  std::vector<std::uint64_t> expected_;
  std::vector<std::uint32_t> cell_of_op_;
  std::uint32_t used_ = 0, extra_ = 0;
  std::vector<cudaStream_t> handles_;  // by the model's numbers; null: destroyed (but for 0)
  std::vector<std::size_t> late_;      // streams made later on
  std::size_t per_thread_ = 0;
  Event events_[5];
  std::deque<Task> tasks_;
  std::vector<Gate> closed_;
  std::vector<std::unique_ptr<std::atomic<int>>> opened_;
  std::atomic<std::uint64_t> violations_{0};
};

// How many seeds; MILLRACE_TEST_SEEDS overrides it, MILLRACE_TEST_FIRST_SEED is where they begin.
std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}
std::uint64_t seeds() {
#if defined(MILLRACE_DELAYS)  // sanitized builds
  return number("MILLRACE_TEST_SEEDS", 300);
#else
  return number("MILLRACE_TEST_SEEDS", 3000);
#endif
}

TEST(StreamRandom, ThreadsTakeTurns) {
  register_kernels();
  std::vector<std::unique_ptr<Helper>> helpers;
  for (int i = 0; i < 3; ++i) helpers.push_back(std::make_unique<Helper>());
  const std::uint64_t first = number("MILLRACE_TEST_FIRST_SEED", 0);
  for (std::uint64_t seed = first; seed < first + seeds(); ++seed) {
    SCOPED_TRACE(seed);
    {
      Program program(seed, &helpers);
      program.run(20 + static_cast<unsigned>(seed % 100));
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(StreamRandom, ThreadsAtTheSameTime) {
  register_kernels();
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t seed = t; seed < seeds() && !failed.load(std::memory_order_relaxed); seed += 3) {
        SCOPED_TRACE(seed);
        Program program(seed * 7919 + 1, nullptr);
        program.run(20 + static_cast<unsigned>(seed % 100));
        if (testing::Test::HasFailure()) failed.store(true, std::memory_order_relaxed);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
