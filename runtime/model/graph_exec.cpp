#include <model/graph_exec.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include <engine/queue.h>
#include <engine/wait.h>
#include <model/capture.h>
#include <model/event.h>
#include <model/host_function.h>
#include <model/object_pool.h>
#include <model/stream.h>
#include <model/user_object.h>
#include <observe/subscriber.h>

namespace mr::model {
namespace {

using engine::GraphImage;
using engine::Step;
using engine::StepKind;

ObjectPool<GraphExec>& pool() {
  static ObjectPool<GraphExec>* const instance = new ObjectPool<GraphExec>(1u << 21);
  return *instance;
}

void call_host(engine::HostOp& op, bool dead) {
  if (dead) return;
  HostFunctionScope scope;
  op.function(op.data);
}

void free_payload(void* owner) { delete static_cast<GraphPayload*>(owner); }

// Flattens a graph. Uses the nodes' scratch fields.
class Flatten {
 public:
  Flatten(GraphExec& exec, InstantiateOutcome& outcome) : exec_(exec), image_(*exec.image), outcome_(outcome) {}

  cudaError_t run(Graph& graph) {
    const std::size_t expected = graph.node_count + 1;
    image_.steps.reserve(expected);
    exec_.types.reserve(expected);
    if (const cudaError_t error = number(graph, 0)) return error;
    const std::uint32_t end = emit(StepKind::launch_end, cudaGraphNodeTypeCount);
    image_.next.reserve(image_.steps.size() + graph.edge_count + 1);
    exec_.first_dependency.reserve(image_.steps.size() + 1);
    exec_.dependencies.reserve(graph.edge_count);
    link(graph, end, 0);
    for (GraphNode* node = graph.first; node; node = node->next)
      if (node->dependencies.empty()) image_.roots.push_back(node->number);
    if (image_.roots.empty()) image_.roots.push_back(end);
    note_dependencies(graph);
    exec_.first_dependency.assign(image_.steps.size() + 1, 0);
    fill_dependencies();
    image_.left = std::vector<std::atomic<std::uint32_t>>(image_.steps.size());
    for (std::size_t i = 0; i < image_.steps.size(); ++i)
      image_.left[i].store(image_.steps[i].needs, std::memory_order_relaxed);
    image_.link.resize(image_.steps.size());
    image_.heavy = std::vector<std::atomic<std::uint8_t>>(image_.steps.size());
    std::sort(image_.handles.begin(), image_.handles.end(),
              [](const auto& a, const auto& b) { return a.handle < b.handle; });
    image_.values = std::vector<std::atomic<std::uint32_t>>(image_.handles.size());
    for (std::size_t i = 0; i < image_.handles.size(); ++i)
      image_.values[i].store(image_.handles[i].initial, std::memory_order_relaxed);
    for (auto& [work, handle] : branches_) {
      const auto at = std::lower_bound(
          image_.handles.begin(), image_.handles.end(), handle,
          [](const GraphImage::Handle& h, std::uint64_t value) { return h.handle < value; });
      work->value = static_cast<std::uint32_t>(at - image_.handles.begin());
    }
    return cudaSuccess;
  }

 private:
  cudaError_t fail(cudaGraphInstantiateResult result, GraphNode* node, cudaError_t error = cudaErrorInvalidValue) {
    outcome_.result = result;
    outcome_.node = node;
    return error;
  }
  std::uint32_t emit(StepKind kind, cudaGraphNodeType type) {
    Step step;
    step.kind = kind;
    image_.steps.push_back(step);
    exec_.types.push_back(static_cast<std::uint8_t>(type));
    return static_cast<std::uint32_t>(image_.steps.size() - 1);
  }

  // What kinds of nodes the place of a graph forbids.
  cudaError_t check_node(GraphNode& node, bool in_body) {
    const bool device = exec_.flags & cudaGraphInstantiateFlagDeviceLaunch;
    if (!device && !in_body) return cudaSuccess;
    switch (node.type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph: return cudaSuccess;
    case cudaGraphNodeTypeMemcpy: {
      const CopyData& copy = *node.copy;
      if (copy.source != memory::Kind::pageable && copy.target != memory::Kind::pageable) return cudaSuccess;
      return fail(device ? cudaGraphInstantiateNodeOperationNotSupported
                         : cudaGraphInstantiateMultipleDevicesNotSupported,
                  &node);
    }
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional:
      if (!device) return cudaSuccess;
      break;
    default: break;
    }
    return fail(cudaGraphInstantiateNodeOperationNotSupported, &node);
  }

  // Gives each node its step, in an order that keeps chains together.
  cudaError_t number(Graph& graph, std::uint32_t level_index) {
    {
      GraphLevel level;
      level.graph = graph.uid;
      level.nodes = static_cast<std::uint32_t>(graph.node_count);
      level.step_of_id.assign(graph.next_id, no_step);
      if (level_index == exec_.levels.size())
        exec_.levels.push_back(std::move(level));
      else
        exec_.levels[level_index] = std::move(level);
    }
    for (const ConditionalHandle& handle : graph.handles) {
      if (!handle.node) return fail(cudaGraphInstantiateConditionalHandleUnused, nullptr);
      image_.handles.push_back({handle.value, handle.initial, handle.assign});
    }
    bool in_body = false;
    for (Graph* g = &graph; g->owner; g = g->owner->graph) in_body |= g->body;
    const std::size_t base = stack_.size();
    for (GraphNode* node = graph.last; node; node = node->previous) {
      node->mark = node->dependencies.size();
      if (node->mark == 0) stack_.push_back(node);
    }
    graph.next_mark = 0;  // marks are counters from here on, and zero when we are done
    std::size_t done = 0;
    while (stack_.size() > base) {
      GraphNode* node = stack_.back();
      stack_.pop_back();
      ++done;
      if (const cudaError_t error = emit_node(*node, in_body)) {
        reset_marks(graph);
        stack_.resize(base);
        return error;
      }
      exec_.levels[level_index].step_of_id[node->id] = node->number;
      // Pushed in reverse: the first dependent comes right behind.
      for (EdgeRef* edge = node->dependents.end(); edge != node->dependents.begin();)
        if (--(--edge)->node->mark == 0) stack_.push_back(edge->node);
    }
    if (done != graph.node_count) {
      GraphNode* culprit = on_a_cycle(graph);
      reset_marks(graph);
      return fail(cudaGraphInstantiateInvalidStructure, culprit);
    }
    for (GraphNode* node = graph.first; node; node = node->next)
      if (node->dependents.empty()) exec_.levels[level_index].sinks.push_back(node->number);
    return cudaSuccess;
  }

  static void reset_marks(Graph& graph) {
    for (GraphNode* node = graph.first; node; node = node->next) node->mark = 0;
  }
  // Any node that was not numbered depends, however far back, on a cycle: going back often enough leads into it.
  static GraphNode* on_a_cycle(Graph& graph) {
    GraphNode* node = graph.first;
    while (node && node->mark == 0) node = node->next;
    for (std::size_t i = 0; node && i < graph.node_count; ++i)
      for (const EdgeRef& edge : node->dependencies)
        if (edge.node->mark != 0) {
          node = edge.node;
          break;
        }
    return node;
  }

  cudaError_t emit_node(GraphNode& node, bool in_body) {
    if (const cudaError_t error = check_node(node, in_body)) return error;
    switch (node.type) {
    case cudaGraphNodeTypeGraph: {
      node.number = emit(StepKind::nothing, node.type);
      const auto level = static_cast<std::uint32_t>(exec_.levels.size());
      exec_.level_of_step[node.number] = level;
      exec_.levels.emplace_back();
      if (const cudaError_t error = number(*node.child->graph, level)) return error;
      node.finish = emit(StepKind::nothing, cudaGraphNodeTypeCount);
      return cudaSuccess;
    }
    case cudaGraphNodeTypeConditional: {
      const ConditionalData& conditional = *node.conditional;
      node.number = node.finish = emit(StepKind::branch, node.type);
      auto* work = payload_arena(image_).make<engine::BranchWork>();
      work->loop = conditional.type == cudaGraphCondTypeWhile;
      work->selector = conditional.type == cudaGraphCondTypeSwitch;
      work->bodies = conditional.size;
      work->first_body = static_cast<std::uint32_t>(image_.bodies.size());
      branches_.emplace_back(work, conditional.handle);
      image_.steps[node.number].payload = work;
      image_.bodies.resize(image_.bodies.size() + conditional.size);
      const auto level = static_cast<std::uint32_t>(exec_.levels.size());
      exec_.level_of_step[node.number] = level;
      exec_.levels.resize(exec_.levels.size() + conditional.size);
      for (unsigned i = 0; i < conditional.size; ++i) {
        auto* body = reinterpret_cast<Graph*>(conditional.bodies[i]);
        if (const cudaError_t error = number(*body, level + i)) return error;
        const std::uint32_t end = emit(StepKind::branch_end, cudaGraphNodeTypeCount);
        image_.steps[end].payload = work;
        body_ends_.push_back({&node, i, end});
      }
      return cudaSuccess;
    }
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: {
      const bool record = node.type == cudaGraphNodeTypeEventRecord;
      node.number = node.finish = emit(record ? StepKind::record : StepKind::wait, node.type);
      image_.steps[node.number].payload = reinterpret_cast<void*>(exec_.slots.size());
      exec_.slots.push_back({node.event->event, record});
      image_.gates.push_back(record ? engine::take_queue(&exec_.context->domain, level_of(0)) : nullptr);
      return cudaSuccess;
    }
    case cudaGraphNodeTypeMemAlloc: {
      node.number = node.finish = emit(StepKind::nothing, node.type);
      retain_allocation(*node.alloc->allocation);
      exec_.resources->memory.allocates.push_back(node.alloc->allocation);
      return cudaSuccess;
    }
    case cudaGraphNodeTypeMemFree: {
      node.number = node.finish = emit(StepKind::nothing, node.type);
      retain_allocation(*node.free->allocation);
      exec_.resources->memory.frees.push_back(node.free->allocation);
      return cudaSuccess;
    }
    default:
      node.number = node.finish = emit(StepKind::nothing, node.type);
      store_step(image_, node.number, node);
      if (node.type == cudaGraphNodeTypeMemcpy) exec_.blocking_copies += blocks_launch(*node.copy);
      return cudaSuccess;
    }
  }

  // Successors and counts; `end` is what the graph's last steps lead to, `root_needs` what its first ones wait for.
  void link(Graph& graph, std::uint32_t end, std::uint32_t root_needs) {
    std::uint32_t sinks = 0;
    for (GraphNode* node = graph.first; node; node = node->next) {
      image_.steps[node->number].needs = node->dependencies.empty() ? root_needs : node->dependencies.size();
      const auto first = static_cast<std::uint32_t>(image_.next.size());
      for (const EdgeRef& edge : node->dependents) image_.next.push_back(edge.node->number);
      if (node->dependents.empty()) {
        image_.next.push_back(end);
        ++sinks;
      }
      image_.steps[node->finish].first_next = first;
      image_.steps[node->finish].next_count = static_cast<std::uint32_t>(image_.next.size()) - first;
      if (node->type == cudaGraphNodeTypeGraph) {
        Graph& child = *node->child->graph;
        const auto inner = static_cast<std::uint32_t>(image_.next.size());
        push_roots(child);
        if (!child.first) image_.next.push_back(node->finish);
        image_.steps[node->number].first_next = inner;
        image_.steps[node->number].next_count = static_cast<std::uint32_t>(image_.next.size()) - inner;
        link(child, node->finish, 1);
      } else if (node->type == cudaGraphNodeTypeConditional) {
        const auto* work = static_cast<const engine::BranchWork*>(image_.steps[node->number].payload);
        for (unsigned i = 0; i < node->conditional->size; ++i) {
          auto& body = *reinterpret_cast<Graph*>(node->conditional->bodies[i]);
          engine::Body& b = image_.bodies[work->first_body + i];
          b.first_root = static_cast<std::uint32_t>(image_.next.size());
          push_roots(body);
          b.root_count = static_cast<std::uint32_t>(image_.next.size()) - b.first_root;
          std::uint32_t body_end = no_step;
          for (const BodyEnd& e : body_ends_)
            if (e.node == node && e.body == i) body_end = e.step;
          image_.steps[body_end].first_next = image_.steps[node->number].first_next;
          image_.steps[body_end].next_count = image_.steps[node->number].next_count;
          link(body, body_end, 0);
        }
      }
    }
    image_.steps[end].needs = sinks ? sinks : 1;
  }
  void push_roots(Graph& graph) {
    for (GraphNode* node = graph.first; node; node = node->next)
      if (node->dependencies.empty()) image_.next.push_back(node->number);
  }

  // For updates: by step, the steps of the node's dependencies in the order of its edges.
  void note_dependencies(Graph& graph) {
    for (GraphNode* node = graph.first; node; node = node->next) {
      nodes_.push_back(node);
      if (node->type == cudaGraphNodeTypeGraph) note_dependencies(*node->child->graph);
      if (node->type == cudaGraphNodeTypeConditional)
        for (unsigned i = 0; i < node->conditional->size; ++i)
          note_dependencies(*reinterpret_cast<Graph*>(node->conditional->bodies[i]));
    }
  }
  void fill_dependencies() {
    std::vector<std::uint32_t>& first = exec_.first_dependency;
    for (const GraphNode* node : nodes_) first[node->number + 1] = node->dependencies.size();
    for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    exec_.dependencies.resize(first.back());
    for (const GraphNode* node : nodes_) {
      std::uint32_t at = first[node->number];
      for (const EdgeRef& edge : node->dependencies) exec_.dependencies[at++] = edge.node->number;
    }
  }

  struct BodyEnd {
    GraphNode* node;
    unsigned body;
    std::uint32_t step;
  };
  GraphExec& exec_;
  GraphImage& image_;
  InstantiateOutcome& outcome_;
  std::vector<GraphNode*> stack_, nodes_;
  std::vector<BodyEnd> body_ends_;
  std::vector<std::pair<engine::BranchWork*, std::uint64_t>> branches_;
};

// What the graph frees itself doesn't outlive a launch.
void settle_memory(MemoryEffects& memory) {
  for (std::size_t i = 0; i < memory.allocates.size();) {
    const auto at = std::find(memory.frees.begin(), memory.frees.end(), memory.allocates[i]);
    if (at == memory.frees.end()) {
      ++i;
      continue;
    }
    release_allocation(**at);  // one reference is enough
    memory.own.push_back(memory.allocates[i]);
    memory.frees.erase(at);
    memory.allocates.erase(memory.allocates.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

GraphResources::~GraphResources() {
  for (GraphAllocation* a : memory.allocates) release_allocation(*a);
  for (GraphAllocation* a : memory.own) release_allocation(*a);
  for (GraphAllocation* a : memory.frees) release_allocation(*a);
  for (const UserReference& user : users) release_user_object(*user.object, user.count);
}

bool valid_exec(const GraphExec* exec) noexcept { return exec && pool().valid(exec); }

bool blocks_launch(const CopyData& copy) noexcept { return copy.target == memory::Kind::pageable; }

void store_kernel(GraphImage& image, std::uint32_t index, const KernelData& kernel) {
  Step& step = image.steps[index];
  step.kind = StepKind::kernel;
  const engine::KernelWork& work = *kernel.work;
  auto* old = static_cast<engine::KernelWork*>(step.payload);
  if (!old || old->bytes < work.bytes || work.args_offset != old->args_offset) {
    void* block = payload_arena(image).allocate(work.args_offset == engine::KernelWork::header ? work.bytes
                                                                                               : work.bytes + 64);
    if (work.args_offset != engine::KernelWork::header)
      block = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(block) + 63) & ~std::uintptr_t{63});
    step.payload = block;
  }
  const std::uint32_t site = old ? old->grid.site : work.grid.site;
  auto* made = copy_work(work, step.payload);
  made->grid.site = site;
  // Not per launch: what compares grid ids compares grids that one thread runs in a row.
  static std::atomic<std::uint64_t> next_grid_id{1};
  made->grid.grid_id = next_grid_id.fetch_add(1, std::memory_order_relaxed);
  step.flags &= static_cast<std::uint8_t>(~engine::step_resident);
  if (simt::needs_residency(made->grid)) step.flags |= engine::step_resident;
  step.priority = kernel.priority;
}

void store_copy(GraphImage& image, std::uint32_t index, const CopyData& data) {
  Step& step = image.steps[index];
  CopyData* kept = step.payload
                       ? reinterpret_cast<CopyData*>(static_cast<char*>(step.payload) - offsetof(CopyData, copy))
                       : payload_arena(image).make<CopyData>();
  *kept = data;
  step.payload = &kept->copy;
  step.kind = data.copy.is_linear() ? StepKind::copy : StepKind::copy_box;
}

void store_fill(GraphImage& image, std::uint32_t index, const FillData& data) {
  Step& step = image.steps[index];
  FillData* kept;
  if (!step.payload)
    kept = payload_arena(image).make<FillData>();
  else if (step.kind == StepKind::fill)
    kept = reinterpret_cast<FillData*>(static_cast<char*>(step.payload) - offsetof(FillData, fill));
  else
    kept = reinterpret_cast<FillData*>(static_cast<char*>(step.payload) - offsetof(FillData, pattern));
  *kept = data;
  step.kind = data.patterned ? StepKind::pattern : StepKind::fill;
  step.payload = data.patterned ? static_cast<void*>(&kept->pattern) : static_cast<void*>(&kept->fill);
}

void store_host(GraphImage& image, std::uint32_t index, const cudaHostNodeParams& params) {
  Step& step = image.steps[index];
  if (!step.payload) {
    step.payload = payload_arena(image).make<engine::HostWork>();
    static_cast<engine::HostWork*>(step.payload)->site = 0;
  }
  auto& work = *static_cast<engine::HostWork*>(step.payload);
  work = {call_host, params.fn, params.userData, work.site};
  step.kind = StepKind::host;
}

void store_step(GraphImage& image, std::uint32_t step, const GraphNode& node) {
  switch (node.type) {
  case cudaGraphNodeTypeKernel: store_kernel(image, step, *node.kernel); break;
  case cudaGraphNodeTypeMemcpy: store_copy(image, step, *node.copy); break;
  case cudaGraphNodeTypeMemset: store_fill(image, step, *node.fill); break;
  case cudaGraphNodeTypeHost: store_host(image, step, node.host->params); break;
  default: break;
  }
  if (observe::subscriber) [[unlikely]] {
    const std::uint32_t tag = observe::subscriber->node_instantiated(&node);
    void* payload = image.steps[step].payload;
    if (node.type == cudaGraphNodeTypeKernel) static_cast<engine::KernelWork*>(payload)->grid.site = tag;
    if (node.type == cudaGraphNodeTypeHost) static_cast<engine::HostWork*>(payload)->site = tag;
  }
}

cudaError_t instantiate(GraphExec** out, Graph& graph, unsigned long long flags, InstantiateOutcome& outcome) {
  outcome = {};
  constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                       cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  const bool device = flags & cudaGraphInstantiateFlagDeviceLaunch;
  if ((flags & ~known) || (device && (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)) || (device && !graph.first))
    return cudaErrorInvalidValue;
  if (graph.owner || (graph.memory_nodes && graph.instantiated_memory.load(std::memory_order_relaxed)))
    return cudaErrorNotSupported;
  GraphExec* exec = pool().take();
  if (!exec) return cudaErrorMemoryAllocation;
  exec->context = graph.context;
  exec->flags = flags;
  exec->last_queue = nullptr;
  exec->last_sequence = 0;
  exec->levels.clear();
  exec->level_of_step.clear();
  exec->types.clear();
  exec->first_dependency.clear();
  exec->dependencies.clear();
  exec->slots.clear();
  exec->blocking_copies = 0;
  exec->memory_owner = nullptr;
  exec->resources = std::make_shared<GraphResources>();
  exec->image = new GraphImage(graph.context->domain);
  exec->image->payload_owner = new GraphPayload{{}, exec->resources};
  exec->image->free_payload = free_payload;
  exec->image->use_priorities = flags & cudaGraphInstantiateFlagUseNodePriority;
  const cudaError_t error = Flatten(*exec, outcome).run(graph);
  if (error != cudaSuccess) {
    exec->image->release();
    exec->image = nullptr;
    exec->resources.reset();
    pool().release(exec);
    return error;
  }
  settle_memory(exec->resources->memory);
  for (const UserReference& user : graph.users) {
    retain_user_object(*user.object, user.count);
    exec->resources->users.push_back(user);
  }
  if (graph.memory_nodes) {
    graph.instantiated_memory.store(true, std::memory_order_relaxed);
    exec->memory_owner = &graph;
    exec->memory_graph = graph.uid;
  }
  exec->special = !exec->slots.empty() || exec->resources->memory.any() || !exec->image->handles.empty();
  outcome.result = cudaGraphInstantiateSuccess;
  exec->live.store(true, std::memory_order_release);
  *out = exec;
  return cudaSuccess;
}

void destroy_exec(GraphExec& exec) noexcept {
  exec.live.store(false, std::memory_order_relaxed);
  if (exec.memory_owner && exec.memory_owner->uid == exec.memory_graph &&
      exec.memory_owner->live.load(std::memory_order_relaxed))
    exec.memory_owner->instantiated_memory.store(false, std::memory_order_relaxed);
  exec.image->release();  // pending launches keep it
  exec.image = nullptr;
  exec.resources.reset();
  pool().release(&exec);
}

namespace {

// Appends the launch behind the newest one of the same executable graph. exec.lock is held.
engine::GraphOp* enqueue_launch(GraphExec& exec, Enqueue& enqueue, Stream& stream, std::size_t slots) noexcept {
  if (exec.last_queue != stream.queue) {
    if (exec.last_queue && exec.last_queue->completed() < exec.last_sequence) {
      auto* wait = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
      wait->on = exec.last_queue;
      wait->sequence = exec.last_sequence;
    }
    exec.last_queue = stream.queue;
  }
  engine::GraphOp* op = engine::push_graph(enqueue.appender(), *exec.image, slots);
  exec.last_sequence = enqueue.sequence();
  return op;
}

// A launch with memory nodes, event nodes, conditional handles or copies to pageable memory.
cudaError_t launch_special(GraphExec& exec, Stream& stream) noexcept {
  if (exec.resources->memory.any())
    if (const cudaError_t error = launch_memory(exec.resources->memory,
                                                exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch))
      return error;
  // A copy into pageable host memory happens during the call, so to speak: not before what the stream has to do first.
  if (exec.blocking_copies) stream_wait(stream, wait_mode(stream));
  GraphImage& image = *exec.image;
  announce_image(image);
  const std::size_t slots = exec.slots.size();
  engine::GraphSlot few[8];
  std::vector<engine::GraphSlot> many;
  engine::GraphSlot* values = few;
  if (slots > 8) {
    many.resize(slots);
    values = many.data();
  }
  for (std::size_t i = 0; i < slots; ++i) {
    const GraphExec::Slot& slot = exec.slots[i];
    values[i] = {};
    if (!valid_event(slot.event)) continue;
    Event& event = *slot.event;
    if (!slot.record) {
      const RecordPoint point = event.point();
      values[i].queue = point.queue;
      values[i].sequence = point.sequence;
      continue;
    }
    // The event stands for the node of this launch from now on.
    std::scoped_lock hold_event(event.write_lock);
    capture_event_released(event);
    engine::Appender appender(*image.gates[i]);
    values[i].queue = image.gates[i];
    values[i].gate = engine::push_gate(appender);
    values[i].sequence = appender.sequence();
    if (event.timed()) {
      values[i].stamp = &event.stamp;
      values[i].ticket = event.stamp.ticket.load(std::memory_order_relaxed) + 1;
      event.stamp.ticket.store(values[i].ticket, std::memory_order_relaxed);
    }
    event.set_point(image.gates[i], values[i].sequence);
  }
  Enqueue enqueue(stream);
  engine::GraphOp* op = enqueue_launch(exec, enqueue, stream, slots);
  if (slots) std::memcpy(op->slots(), values, slots * sizeof(engine::GraphSlot));
  return cudaSuccess;
}

}  // namespace

cudaError_t launch_graph(GraphExec& exec, Stream& stream) noexcept {
  std::scoped_lock hold(exec.lock);
  if (exec.special || exec.blocking_copies) [[unlikely]]
    return launch_special(exec, stream);
  Enqueue enqueue(stream);
  enqueue_launch(exec, enqueue, stream, 0);
  return cudaSuccess;
}

// ---- copies of images ----

void own_image(GraphExec& exec) {
  GraphImage& old = *exec.image;
  if (old.unshared()) return;
  auto* image = new GraphImage(old.domain);
  image->payload_owner = new GraphPayload{{}, exec.resources};
  image->free_payload = free_payload;
  image->steps = old.steps;
  image->next = old.next;
  image->bodies = old.bodies;
  image->roots = old.roots;
  image->left = std::vector<std::atomic<std::uint32_t>>(old.steps.size());
  for (std::size_t i = 0; i < old.steps.size(); ++i)
    image->left[i].store(old.steps[i].needs, std::memory_order_relaxed);
  image->link.resize(old.steps.size());
  image->heavy = std::vector<std::atomic<std::uint8_t>>(old.steps.size());
  image->handles = old.handles;
  image->values = std::vector<std::atomic<std::uint32_t>>(old.values.size());
  for (std::size_t i = 0; i < old.values.size(); ++i)
    image->values[i].store(old.values[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (engine::Queue* gate : old.gates)
    image->gates.push_back(gate ? engine::take_queue(&exec.context->domain, level_of(0)) : nullptr);
  image->use_priorities = old.use_priorities;
  std::unordered_map<void*, void*> branches;
  for (Step& step : image->steps) {
    void* payload = step.payload;
    step.payload = nullptr;
    const auto index = static_cast<std::uint32_t>(&step - image->steps.data());
    const std::uint8_t flags = step.flags;
    switch (step.kind) {
    case StepKind::kernel: {
      KernelData kernel{};
      kernel.work = static_cast<engine::KernelWork*>(payload);
      kernel.priority = step.priority;
      store_kernel(*image, index, kernel);
      break;
    }
    case StepKind::copy:
    case StepKind::copy_box:
      store_copy(*image, index, *reinterpret_cast<CopyData*>(static_cast<char*>(payload) - offsetof(CopyData, copy)));
      break;
    case StepKind::fill:
      store_fill(*image, index, *reinterpret_cast<FillData*>(static_cast<char*>(payload) - offsetof(FillData, fill)));
      break;
    case StepKind::pattern:
      store_fill(*image, index,
                 *reinterpret_cast<FillData*>(static_cast<char*>(payload) - offsetof(FillData, pattern)));
      break;
    case StepKind::host: {
      const auto& work = *static_cast<engine::HostWork*>(payload);
      store_host(*image, index, {work.function, work.data});
      static_cast<engine::HostWork*>(step.payload)->site = work.site;
      break;
    }
    case StepKind::branch:
    case StepKind::branch_end: {
      void*& twin = branches[payload];
      if (!twin) {
        auto* work = payload_arena(*image).make<engine::BranchWork>();
        *work = *static_cast<engine::BranchWork*>(payload);
        twin = work;
      }
      step.payload = twin;
      break;
    }
    default: step.payload = payload; break;  // slot numbers
    }
    step.flags |= flags & engine::step_disabled;
  }
  old.release();
  exec.image = image;
}

}  // namespace mr::model
