// Random graphs of all kinds of nodes, against a serial interpreter of the same graph. Every node computes a value from
// its predecessors' values, and notes a violation when one of them has not run yet in this launch. Seeds: seeds.h.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph_kernels.h"
#include "sanitizers.h"
#include "seeds.h"

namespace {

using namespace graph_test;

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9u;
}

struct Cell {
  std::uint64_t value;
  std::uint64_t done;  // launch number, plus one for each further time within a launch (loops)
};

struct Shared {
  std::uint64_t launch = 0;
  std::atomic<std::uint64_t> violations{0};
};

// What one computing node does: its value from those of `preds`.
struct Task {
  Shared* shared;
  Cell* cells;
  const std::uint32_t* preds;
  std::uint32_t pred_count;
  std::uint32_t self;
  std::uint64_t salt;
  std::uint64_t handle;  // conditional handle to set to `set`, if any
  std::uint32_t set;
  std::uint32_t loop;  // set the handle until self has run this often
};
static_assert(sizeof(Task) == 56);

std::uint64_t compute(const Task& t, const Cell* cells) {
  std::uint64_t h = mix(t.salt + t.self);
  for (std::uint32_t i = 0; i < t.pred_count; ++i) h += mix(cells[t.preds[i]].value + i);
  return h;
}

void run_task(const Task& t) {
  for (std::uint32_t i = 0; i < t.pred_count; ++i)
    if (t.cells[t.preds[i]].done < t.shared->launch * 1000)
      t.shared->violations.fetch_add(1, std::memory_order_relaxed);
  Cell& cell = t.cells[t.self];
  if (cell.done < t.shared->launch * 1000)
    cell.done = t.shared->launch * 1000;
  else
    ++cell.done;
  cell.value = compute(t, t.cells) + (t.loop ? mix(cell.done % 1000) : 0);
  if (t.handle) mr::simt::services()->graph_set_conditional(t.handle, t.loop ? cell.done % 1000 + 1 < t.loop : t.set);
}

void one_block(MrBlock* block, std::uint64_t, std::uint64_t) { run_task(*static_cast<const Task*>(block->args)); }
void spinning(const void* args) { run_task(*static_cast<const Task*>(args)); }
// Many blocks: each adds its part.
void many_blocks(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  const Task& t = *static_cast<const Task*>(block->args);
  for (std::uint64_t b = first; b < first + count; ++b) {
    for (std::uint32_t i = 0; i < t.pred_count; ++i)
      if (t.cells[t.preds[i]].done < t.shared->launch * 1000)
        t.shared->violations.fetch_add(1, std::memory_order_relaxed);
    Cell& cell = t.cells[t.self];
    std::atomic_ref<std::uint64_t>(cell.value).fetch_add(mix(compute(t, t.cells) + b), std::memory_order_relaxed);
    std::atomic_ref<std::uint64_t>(cell.done).store(t.shared->launch * 1000, std::memory_order_relaxed);
  }
}
constexpr unsigned blocks = 6;

char key_one, key_many, key_spin;
struct Registration {
  Registration() {
    register_kernel<sizeof(Task)>(&key_one, "_Z3oneP4Task", one_block, spinning);
    register_kernel<sizeof(Task)>(&key_many, "_Z4manyP4Task", many_blocks, spinning);
    register_kernel<sizeof(Task)>(&key_spin, "_Z4spinP4Task", nullptr, spinning, MR_KERNEL_MAY_SPIN);
  }
} const registration;

void CUDART_CB host_task(void* data) { run_task(*static_cast<const Task*>(data)); }

// One random program: a graph, and what it computes.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {
    EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&cells_), capacity * sizeof(Cell)), cudaSuccess);
    EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&boxes_), box_bytes * box_capacity), cudaSuccess);
    std::memset(static_cast<void*>(cells_), 0, capacity * sizeof(Cell));  // recycled memory remembers
    expected_.resize(capacity);
    EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&event_), cudaSuccess);
    EXPECT_EQ(cudaEventCreateWithFlags(&outside_event_, cudaEventDisableTiming), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&outside_stream_, cudaStreamNonBlocking), cudaSuccess);
    outside_ = task({});
    interpret(outside_, 0, serial_);
    build(graph_, 2 + pick(30), {}, 0);
  }
  ~Program() {
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(event_), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(outside_event_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(outside_stream_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(cells_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(boxes_), cudaSuccess);
  }

  // Half of the programs that can be cloned run as a clone of a graph that is gone.
  cudaGraphExec_t instantiate() {
    cudaGraph_t clone = nullptr;
    if (pick(2) && cudaGraphClone(&clone, graph_) == cudaSuccess) {
      for (std::vector<cudaGraphNode_t>* list : {&decoys_, &kernel_nodes_})
        for (cudaGraphNode_t& node : *list) EXPECT_EQ(cudaGraphNodeFindInClone(&node, node, clone), cudaSuccess);
      EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
      graph_ = clone;
    }
    (void)cudaGetLastError();
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, pick(2) ? cudaGraphInstantiateFlagUseNodePriority : 0), cudaSuccess);
    for (cudaGraphNode_t decoy : decoys_) EXPECT_EQ(cudaGraphNodeSetEnabled(exec, decoy, 0), cudaSuccess);
    return exec;
  }

  // Some kernels compute something else from now on: one by one, or by an update with the changed graph.
  void update(cudaGraphExec_t exec) {
    const bool whole = pick(2);
    for (std::size_t i = 0; i < kernel_nodes_.size(); ++i) {
      if (pick(3)) continue;
      kernels_[i].task->salt = random_();
      void* args[] = {kernels_[i].task};
      const cudaKernelNodeParams params = params_of(kernels_[i], args);
      OK(cudaGraphKernelNodeSetParams(kernel_nodes_[i], &params));
      if (!whole) OK(cudaGraphExecKernelNodeSetParams(exec, kernel_nodes_[i], &params));
    }
    cudaGraphExecUpdateResultInfo info;
    if (whole) OK(cudaGraphExecUpdate(exec, graph_, &info));
  }

  // One launch in `stream`, waited for; compares.
  void check(cudaGraphExec_t exec, cudaStream_t stream) {
    ++shared_.launch;
    for (std::uint32_t i = 0; i < used_; ++i) cells_[i].value = 0;
    // Event wait nodes wait for this.
    OK(cudaLaunchHostFunc(outside_stream_, host_task, outside_));
    OK(cudaEventRecord(outside_event_, outside_stream_));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamSynchronize(outside_stream_));
    ASSERT_EQ(shared_.violations.load(), 0u);
    std::fill(expected_.begin(), expected_.end(), Cell{});
    for (const auto& step : serial_) step();
    for (std::uint32_t i = 0; i < used_; ++i)
      ASSERT_EQ(cells_[i].value, expected_[i].value) << "cell " << i << " of " << used_;
    if (uses_event_) {
      ASSERT_EQ(cudaEventQuery(event_), cudaSuccess);
    }
  }

 private:
  static constexpr std::uint32_t capacity = 4096;
  static constexpr std::uint32_t box_capacity = 64, box_bytes = 128;
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  Task* task(const std::vector<std::uint32_t>& preds) {
    lists_.push_back(std::make_unique<std::vector<std::uint32_t>>(preds));
    tasks_.push_back(std::make_unique<Task>());
    Task& t = *tasks_.back();
    t = {&shared_, cells_, lists_.back()->data(), static_cast<std::uint32_t>(preds.size()), used_++, random_(), 0,
         0,        0};
    return &t;
  }
  // The serial interpreter's part of a computing node.
  void interpret(const Task* t, unsigned of_blocks, std::vector<std::function<void()>>& program) {
    program.push_back([this, t, of_blocks] {
      std::uint64_t h = compute(*t, expected_.data());
      if (of_blocks == 0) {
        expected_[t->self].value = h;
        return;
      }
      std::uint64_t sum = 0;
      for (unsigned b = 0; b < of_blocks; ++b) sum += mix(h + b);
      expected_[t->self].value = sum;
    });
  }

  struct Built {
    cudaGraphNode_t node;
    std::vector<std::uint32_t> values;  // cells that what depends on the node may read
  };

  struct Kernel {
    const void* key;
    unsigned grid;
    Task* task;
  };
  static cudaKernelNodeParams params_of(const Kernel& kernel, void** args) {
    return {const_cast<void*>(kernel.key), {kernel.grid, 1, 1}, {1, 1, 1}, 0, args, nullptr};
  }
  cudaGraphNode_t add_kernel(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& deps, const void* key,
                             unsigned grid, Task* t) {
    void* args[] = {t};
    const cudaKernelNodeParams params = params_of({key, grid, t}, args);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, deps.data(), deps.size(), &params), cudaSuccess);
    if (pick(4) == 0) {
      cudaLaunchAttributeValue value{};
      value.priority = -static_cast<int>(pick(4));
      EXPECT_EQ(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value), cudaSuccess);
    }
    if (graph == graph_) {
      kernel_nodes_.push_back(node);
      kernels_.push_back({key, grid, t});
    }
    return node;
  }

  // Fills a graph with nodes; its roots may read `outside`. Returns the cells that its last nodes leave.
  std::vector<std::uint32_t> build(cudaGraph_t graph, std::uint32_t count, const std::vector<std::uint32_t>& outside,
                                   int depth, std::vector<std::function<void()>>* program = nullptr,
                                   bool body = false) {
    std::vector<std::function<void()>>& serial = program ? *program : serial_;
    std::vector<Built> nodes;
    std::vector<bool> sink;
    for (std::uint32_t n = 0; n < count; ++n) {
      std::vector<cudaGraphNode_t> deps;
      std::vector<std::uint32_t> values;
      const std::uint32_t wanted = nodes.empty() ? 0 : pick(4);
      std::vector<std::uint32_t> chosen;
      for (std::uint32_t k = 0; k < wanted; ++k) {
        const std::uint32_t d = pick(3) ? static_cast<std::uint32_t>(nodes.size()) - 1 -
                                              pick(std::min<std::uint32_t>(4, static_cast<std::uint32_t>(nodes.size())))
                                        : pick(static_cast<std::uint32_t>(nodes.size()));
        if (std::find(chosen.begin(), chosen.end(), d) != chosen.end()) continue;
        chosen.push_back(d);
        sink[d] = false;
        deps.push_back(nodes[d].node);
        for (std::uint32_t v : nodes[d].values)
          if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
      }
      if (deps.empty()) values = outside;
      Built built{nullptr, {}};
      switch (!body ? pick(17) : !in_child_ && depth < 2 && pick(8) == 0 ? 11 + pick(2) : pick(8)) {
      default: {  // kernel of one block
        Task* t = task(values);
        built.node = add_kernel(graph, deps, &key_one, 1, t);
        built.values = {t->self};
        interpret(t, 0, serial);
        break;
      }
      case 1: {
        Task* t = task(values);
        built.node = add_kernel(graph, deps, &key_many, blocks, t);
        built.values = {t->self};
        interpret(t, blocks, serial);
        break;
      }
      case 2: {
        Task* t = task(values);
        built.node = add_kernel(graph, deps, &key_spin, 1, t);
        built.values = {t->self};
        interpret(t, 0, serial);
        break;
      }
      case 3: {  // set
        const std::uint32_t self = used_++;
        const std::uint32_t value = pick(256);
        cudaMemsetParams params{&cells_[self].value, 0, value, 1, 8, 1};
        EXPECT_EQ(cudaGraphAddMemsetNode(&built.node, graph, deps.data(), deps.size(), &params), cudaSuccess);
        serial.push_back([this, self, value] { std::memset(&expected_[self].value, static_cast<int>(value), 8); });
        built.values = {};  // its `done` isn't set
        break;
      }
      case 4: {  // copy of a predecessor's cell, done mark and all
        if (values.empty()) {
          EXPECT_EQ(cudaGraphAddEmptyNode(&built.node, graph, deps.data(), deps.size()), cudaSuccess);
          built.values = values;
          break;
        }
        const std::uint32_t self = used_++;
        const std::uint32_t from = values[pick(static_cast<std::uint32_t>(values.size()))];
        EXPECT_EQ(cudaGraphAddMemcpyNode1D(&built.node, graph, deps.data(), deps.size(), &cells_[self], &cells_[from],
                                           sizeof(Cell), cudaMemcpyDefault),
                  cudaSuccess);
        serial.push_back([this, self, from] { expected_[self].value = expected_[from].value; });
        built.values = {self};
        break;
      }
      case 5: {
        EXPECT_EQ(cudaGraphAddEmptyNode(&built.node, graph, deps.data(), deps.size()), cudaSuccess);
        built.values = values;
        break;
      }
      case 6: {  // child graph
        if (depth >= 3) goto plain;
        cudaGraph_t child;
        EXPECT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
        const bool outer = std::exchange(in_child_, true);  // no conditional nodes there
        built.values = build(child, pick(5), values, depth + 1, &serial, body);
        in_child_ = outer;
        EXPECT_EQ(cudaGraphAddChildGraphNode(&built.node, graph, deps.data(), deps.size(), child), cudaSuccess);
        EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
        break;
      }
      case 7:
      plain: {
        Task* t = task(values);
        built.node = add_kernel(graph, deps, &key_one, 1, t);
        built.values = {t->self};
        interpret(t, 0, serial);
        break;
      }
      case 8:
      case 9: {  // host function
        Task* t = task(values);
        cudaHostNodeParams params{host_task, t};
        EXPECT_EQ(cudaGraphAddHostNode(&built.node, graph, deps.data(), deps.size(), &params), cudaSuccess);
        built.values = {t->self};
        interpret(t, 0, serial);
        break;
      }
      case 10: {  // the event is recorded by at most one node
        if (uses_event_) goto plain;
        uses_event_ = true;
        EXPECT_EQ(cudaGraphAddEventRecordNode(&built.node, graph, deps.data(), deps.size(), event_), cudaSuccess);
        built.values = values;
        break;
      }
      case 11: {  // a conditional: the value comes from a kernel in front of it
        if (in_child_ || depth >= 2) goto plain;
        cudaGraphConditionalHandle handle;
        EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), cudaSuccess);
        Task* t = task(values);
        t->handle = handle;
        t->set = pick(4);
        cudaGraphNode_t setter = add_kernel(graph, deps, &key_one, 1, t);
        interpret(t, 0, serial);
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = handle;
        const bool by_number = pick(2);
        params.conditional.type = by_number ? cudaGraphCondTypeSwitch : cudaGraphCondTypeIf;
        params.conditional.size = by_number ? 1 + pick(3) : 1 + pick(2);
        EXPECT_EQ(cudaGraphAddNode(&built.node, graph, &setter, nullptr, 1, &params), cudaSuccess);
        for (unsigned b = 0; b < params.conditional.size; ++b) {
          const bool runs = by_number ? t->set == b : (t->set != 0) == (b == 0);
          std::vector<std::function<void()>> inner;
          build(params.conditional.phGraph_out[b], pick(4), {t->self}, depth + 1, &inner, true);
          if (runs) serial.insert(serial.end(), inner.begin(), inner.end());
        }
        built.values = {t->self};  // the bodies' cells may be unset
        break;
      }
      case 12: {  // a loop: the body's only kernel goes round a few times
        if (in_child_ || depth >= 2) goto plain;
        cudaGraphConditionalHandle handle;
        EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), cudaSuccess);
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = handle;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        EXPECT_EQ(cudaGraphAddNode(&built.node, graph, deps.data(), nullptr, deps.size(), &params), cudaSuccess);
        Task* t = task(values);
        t->handle = handle;
        t->loop = 1 + pick(5);
        add_kernel(params.conditional.phGraph_out[0], {}, &key_one, 1, t);
        serial.push_back([this, t] { expected_[t->self].value = compute(*t, expected_.data()) + mix(t->loop - 1); });
        built.values = {t->self};
        break;
      }
      case 13: {  // work outside of the graph that it waits for
        EXPECT_EQ(cudaGraphAddEventWaitNode(&built.node, graph, deps.data(), deps.size(), outside_event_), cudaSuccess);
        built.values = values;
        if (std::find(values.begin(), values.end(), outside_->self) == values.end())
          built.values.push_back(outside_->self);
        break;
      }
      case 14: {  // memory of the graph's own: a copy goes through it
        if (depth >= 1 || values.empty()) goto plain;
        const std::uint32_t self = used_++;
        const std::uint32_t from = values[pick(static_cast<std::uint32_t>(values.size()))];
        cudaMemAllocNodeParams memory{};
        memory.poolProps.allocType = cudaMemAllocationTypePinned;
        memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
        memory.bytesize = sizeof(Cell) + pick(5000);
        cudaGraphNode_t allocated, in, out;
        EXPECT_EQ(cudaGraphAddMemAllocNode(&allocated, graph, deps.data(), deps.size(), &memory), cudaSuccess);
        EXPECT_EQ(cudaGraphAddMemcpyNode1D(&in, graph, &allocated, 1, memory.dptr, &cells_[from], sizeof(Cell),
                                           cudaMemcpyDefault),
                  cudaSuccess);
        EXPECT_EQ(
            cudaGraphAddMemcpyNode1D(&out, graph, &in, 1, &cells_[self], memory.dptr, sizeof(Cell), cudaMemcpyDefault),
            cudaSuccess);
        EXPECT_EQ(cudaGraphAddMemFreeNode(&built.node, graph, &out, 1, memory.dptr), cudaSuccess);
        serial.push_back([this, self, from] { expected_[self].value = expected_[from].value; });
        built.values = {self};
        break;
      }
      case 15: {  // a copy in rows, there and back
        if (values.empty() || boxes_used_ == box_capacity) goto plain;
        const std::uint32_t self = used_++;
        const std::uint32_t from = values[pick(static_cast<std::uint32_t>(values.size()))];
        char* const box = boxes_ + box_bytes * boxes_used_++;
        cudaMemcpy3DParms params{};
        params.srcPtr = {&cells_[from], 8, 8, 2};
        params.dstPtr = {box, 64, 64, 2};
        params.dstPos = {24, 0, 0};
        params.extent = {8, 2, 1};
        params.kind = cudaMemcpyDefault;
        cudaGraphNode_t there;
        EXPECT_EQ(cudaGraphAddMemcpyNode(&there, graph, deps.data(), deps.size(), &params), cudaSuccess);
        std::swap(params.srcPtr, params.dstPtr);
        std::swap(params.srcPos, params.dstPos);
        params.dstPtr.ptr = &cells_[self];
        EXPECT_EQ(cudaGraphAddMemcpyNode(&built.node, graph, &there, 1, &params), cudaSuccess);
        serial.push_back([this, self, from] { expected_[self].value = expected_[from].value; });
        built.values = {self};
        break;
      }
      case 16: {  // a node that would spoil everything, and is switched off
        if (graph != graph_) goto plain;
        if (pick(2)) {
          cudaMemsetParams params{cells_, 0, 0xa5, 1, capacity * sizeof(Cell), 1};
          EXPECT_EQ(cudaGraphAddMemsetNode(&built.node, graph, deps.data(), deps.size(), &params), cudaSuccess);
        } else {
          EXPECT_EQ(cudaGraphAddMemcpyNode1D(&built.node, graph, deps.data(), deps.size(), cells_, boxes_,
                                             box_bytes * box_capacity, cudaMemcpyDefault),
                    cudaSuccess);
        }
        decoys_.push_back(built.node);
        built.values = values;
        break;
      }
      }
      if (!built.node) {
        ADD_FAILURE() << "no node";
        break;
      }
      nodes.push_back(std::move(built));
      sink.push_back(true);
    }
    std::vector<std::uint32_t> last;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (sink[i])
        for (std::uint32_t v : nodes[i].values)
          if (std::find(last.begin(), last.end(), v) == last.end()) last.push_back(v);
    if (nodes.empty()) last = outside;
    return last;
  }

  std::mt19937_64 random_;
  cudaGraph_t graph_ = nullptr;
  cudaEvent_t event_ = nullptr, outside_event_ = nullptr;
  cudaStream_t outside_stream_ = nullptr;
  Task* outside_ = nullptr;
  bool uses_event_ = false;
  bool in_child_ = false;
  Cell* cells_ = nullptr;
  char* boxes_ = nullptr;  // where copies in rows go through
  std::uint32_t used_ = 0, boxes_used_ = 0;
  std::vector<cudaGraphNode_t> decoys_, kernel_nodes_;  // of the graph itself
  std::vector<Kernel> kernels_;                         // of kernel_nodes_
  Shared shared_;
  std::vector<Cell> expected_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::unique_ptr<std::vector<std::uint32_t>>> lists_;
  std::vector<std::function<void()>> serial_;
};

unsigned programs() {
#ifdef MR_TEST_TSAN
  return 500;
#else
  return 6000;
#endif
}

TEST(GraphRandom, EqualsSerialInterpreter) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const test_seeds::Range seeds = test_seeds::range(0, programs());
  for (unsigned seed = seeds.first; seed < seeds.end; ++seed) {
    SCOPED_TRACE("MILLRACE_SEED=" + std::to_string(seed));
    Program program(seed);
    cudaGraphExec_t exec = program.instantiate();
    for (int launch = 0; launch < 3; ++launch) {
      if (launch) program.update(exec);
      program.check(exec, streams[launch & 1]);
    }
    OK(cudaGraphExecDestroy(exec));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
