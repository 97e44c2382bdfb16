#include <model/graph_exec.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include <engine/queue.h>
#include <engine/wait.h>
#include <model/capture.h>
#include <model/device_graph.h>
#include <model/event.h>
#include <model/object_pool.h>
#include <model/stream.h>
#include <model/user_object.h>

namespace mr::model {
namespace {

using engine::GraphImage;

ObjectPool<GraphExec>& pool() {
  static ObjectPool<GraphExec>* const instance = new ObjectPool<GraphExec>(1u << 21);
  return *instance;
}

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
  for (DeviceNode* node : device_nodes) release_device_node(*node);
}

GraphUsers::GraphUsers(const Graph& graph) : references(graph.users) {
  for (const UserReference& user : references) retain_user_object(*user.object, user.count);
}
GraphUsers::~GraphUsers() {
  for (const UserReference& user : references) release_user_object(*user.object, user.count);
}

bool blocks_launch(const CopyData& copy) noexcept { return copy.target == memory::Kind::pageable; }

cudaError_t instantiate(GraphExec** out, Graph& graph, unsigned long long flags, InstantiateOutcome& outcome) {
  outcome = {};
  constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                       cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority;
  const bool device = flags & cudaGraphInstantiateFlagDeviceLaunch;
  if ((flags & ~known) || (device && (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch))) return cudaErrorInvalidValue;
  const bool only_once = graph.memory_nodes || graph.updatable_nodes || graph.conditional_nodes;
  if (graph.owner) return cudaErrorNotSupported;
  GraphExec* exec = pool().take();
  if (!exec) return cudaErrorMemoryAllocation;
  exec->context = graph.context;
  exec->flags = flags;
  exec->last_queue = nullptr;
  exec->last_sequence = 0;
  exec->home.store(nullptr, std::memory_order_relaxed);
  exec->launched = false;
  exec->levels.clear();
  exec->level_of_step.clear();
  exec->types.clear();
  exec->first_dependency.clear();
  exec->dependencies.clear();
  exec->edge_data.clear();
  exec->slots.clear();
  exec->blocking_copies = 0;
  exec->device_image = nullptr;
  exec->uploaded = false;
  exec->resources = std::make_shared<GraphResources>();
  exec->image = make_image(graph.context->domain, exec->resources);
  exec->image->launch_line = exec;
  if (device) exec->image->executable = exec;
  exec->image->use_priorities = flags & cudaGraphInstantiateFlagUseNodePriority;
  cudaError_t error = flatten(*exec, graph, outcome);
  // What is wrong with the graph is told first.
  if (error == cudaSuccess &&
      (graph.conditional_behind_copy || (only_once && graph.instantiated_once.load(std::memory_order_relaxed)) ||
       (graph.conditional_nodes && graph.executables.load(std::memory_order_relaxed))))
    error = cudaErrorNotSupported;
  if (error != cudaSuccess) {
    exec->image->release();
    exec->image = nullptr;
    exec->resources.reset();
    pool().release(exec);
    return error;
  }
  settle_memory(exec->resources->memory);
  payload_of(*exec->image).users = std::make_shared<const GraphUsers>(graph);
  for (GraphAllocation* a : exec->resources->memory.allocates) leave_to_others(*a);
  if (only_once) graph.instantiated_once.store(true, std::memory_order_relaxed);
  graph.executables.fetch_add(1, std::memory_order_relaxed);
  exec->original = &graph;
  exec->original_uid = graph.uid;
  exec->only_one = only_once;
  stand_for_nodes(exec->image, nullptr, DeviceNode::host_launches);
  exec->special = device || !exec->slots.empty() || exec->resources->memory.any() || !exec->image->handles.empty();
  outcome.result = cudaGraphInstantiateSuccess;
  exec->live.store(true, std::memory_order_release);
  *out = exec;
  return cudaSuccess;
}

void destroy_exec(GraphExec& exec) noexcept {
  exec.live.store(false, std::memory_order_relaxed);
  if (exec.original->uid == exec.original_uid && exec.original->live.load(std::memory_order_relaxed)) {
    exec.original->executables.fetch_sub(1, std::memory_order_relaxed);
    if (exec.only_one) exec.original->instantiated_once.store(false, std::memory_order_relaxed);
  }
  forget_nodes(exec.image, DeviceNode::host_launches);
  {
    const ExecHold hold(exec);  // device code may be about to launch it
    if (exec.device_image) {
      forget_nodes(exec.device_image, DeviceNode::device_launches);
      exec.device_image->release();
    }
    exec.device_image = nullptr;
  }
  give_up_image(exec, *exec.image);
  exec.image = nullptr;
  exec.resources.reset();
  pool().release(&exec);
}

namespace {

// exec is held.
void upload(GraphExec& exec) {
  if (exec.uploaded || !(exec.flags & cudaGraphInstantiateFlagDeviceLaunch)) return;
  engine::GraphImage* const before = exec.device_image;
  exec.device_image = copy_image(exec, *exec.image);
  exec.device_image->for_device_launches = true;
  stand_for_nodes(exec.device_image, exec.image, DeviceNode::device_launches);
  if (before) before->release();
  exec.uploaded = true;
}

// Appends the launch behind the newest one of the same executable graph. exec is held.
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
  exec.launched = true;
  return op;
}

// A launch with memory nodes, event nodes, conditional handles or copies to pageable memory.
cudaError_t launch_special(GraphExec& exec, Stream& stream) noexcept {
  upload(exec);
  if (exec.resources->memory.any())
    if (const cudaError_t error = launch_memory(exec.resources->memory,
                                                exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch))
      return error;
  // A copy into pageable host memory happens during the call, so to speak: not before what the stream has to do first.
  if (exec.blocking_copies) stream_wait(stream);
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
      if (event.capture.load(std::memory_order_acquire)) continue;  // its record never happens
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

void upload_exec(GraphExec& exec) {
  const ExecHold hold(exec);
  upload(exec);
}

void leave_home(GraphExec& exec) noexcept {
  engine::Queue* const home = exec.home.load(std::memory_order_relaxed);
  if (!home) return;
  const engine::AppendHold hold(*home);
  exec.home.store(nullptr, std::memory_order_relaxed);
}

cudaError_t launch_graph(GraphExec& exec, Stream& stream) noexcept {
  if (exec.home.load(std::memory_order_relaxed) == stream.queue) [[likely]] {
    Enqueue enqueue(stream);
    if (exec.home.load(std::memory_order_relaxed) == stream.queue) [[likely]] {
      engine::push_graph(enqueue.appender(), *exec.image, 0);
      exec.last_sequence = enqueue.sequence();
      return cudaSuccess;
    }
  }
  const ExecHold hold(exec);
  if (exec.special || exec.blocking_copies) [[unlikely]]
    return launch_special(exec, stream);
  Enqueue enqueue(stream);
  enqueue_launch(exec, enqueue, stream, 0);
  exec.home.store(stream.queue, std::memory_order_relaxed);
  return cudaSuccess;
}

}  // namespace mr::model
