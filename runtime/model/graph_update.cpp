// Changes to executable graphs: cudaGraphExecUpdate and the functions that set one node's parameters.
//
// An update pairs the given graph's nodes with the executable graph's steps: sinks with sinks from the last one on,
// then dependencies in the order of the edges. Everything is compared before anything is changed.
#include <model/graph_exec.h>

#include <algorithm>
#include <mutex>

#include <model/device_graph.h>
#include <model/event.h>

namespace mr::model {
namespace {

using engine::GraphImage;
using engine::Step;
using engine::StepKind;

const CopyData& copy_of(const Step& step) noexcept {
  return *reinterpret_cast<const CopyData*>(static_cast<const char*>(step.payload) - offsetof(CopyData, copy));
}
const FillData& fill_of(const Step& step) noexcept {
  const std::size_t offset = step.kind == StepKind::pattern ? offsetof(FillData, pattern) : offsetof(FillData, fill);
  return *reinterpret_cast<const FillData*>(static_cast<const char*>(step.payload) - offset);
}

bool same_box(const cudaMemcpy3DParms& a, const cudaMemcpy3DParms& b) noexcept {
  const auto same_position = [](const cudaPos& p, const cudaPos& q) { return p.x == q.x && p.y == q.y && p.z == q.z; };
  const auto same_shape = [&](const cudaPitchedPtr& p, const cudaPitchedPtr& q) {
    return p.pitch == q.pitch && (a.extent.depth == 1 || p.ysize == q.ysize);
  };
  return a.srcPtr.ptr == b.srcPtr.ptr && a.dstPtr.ptr == b.dstPtr.ptr && a.extent.width == b.extent.width &&
         a.extent.height == b.extent.height && a.extent.depth == b.extent.depth && same_position(a.srcPos, b.srcPos) &&
         same_position(a.dstPos, b.dstPos) && same_shape(a.srcPtr, b.srcPtr) && same_shape(a.dstPtr, b.dstPtr);
}

// What may change: addresses, positions and size, of copies of one row only. A direction that was given and arrays
// stay.
bool copy_may_become(const CopyData& now, const CopyData& then) noexcept {
  if (now.params.kind != then.params.kind || now.one_dimensional != then.one_dimensional ||
      now.params.srcArray != then.params.srcArray || now.params.dstArray != then.params.dstArray)
    return false;
  return now.one_dimensional || same_box(now.params, then.params);
}
bool fill_may_become(const FillData& now, const FillData& then) noexcept {
  const cudaMemsetParams &a = now.params, &b = then.params;
  if ((a.height == 1) != (b.height == 1)) return false;
  return a.height == 1 ||
         (a.width == b.width && a.height == b.height && a.elementSize == b.elementSize && a.pitch == b.pitch);
}

// As on a GPU: a kernel may launch kernels or graphs or change nodes only where the one did that the graph was
// instantiated with; launch graphs also in graphs that are themselves for launches by device code.
bool may_run(const GraphExec& exec, const Step& step, const MrKernel& kernel) noexcept {
  unsigned abilities = abilities_of(kernel);
  if (exec.flags & cudaGraphInstantiateFlagDeviceLaunch) abilities &= ~static_cast<unsigned>(engine::step_graphs);
  return (abilities & ~static_cast<unsigned>(step.flags)) == 0;
}

class Update {
 public:
  Update(GraphExec& exec, UpdateOutcome& outcome) : exec_(exec), image_(*exec.image), outcome_(outcome) {}

  // Pairs a graph with a level of the executable graph and compares them on the way back from the last sink. What is
  // reported is what is met first; of a node: the number of its dependencies, its type, its parameters (a child graph's
  // or a body's nodes are among these), then the dependencies one by one.
  bool compare(Graph& graph, std::uint32_t level_index) {
    const GraphLevel& level = exec_.levels[level_index];
    if (graph.node_count != level.nodes) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    if (graph.node_count == 0) return true;
    if (pair_.empty()) pair_.assign(image_.steps.size(), nullptr);
    const std::vector<GraphNode*> sinks = sinks_of(graph);
    std::vector<GraphNode*> met;  // in the order of the walk: what waits to be looked at is its end
    met.reserve(graph.node_count);
    for (GraphNode* node = graph.first; node; node = node->next) node->number = no_step;
    if (sinks.size() > level.sinks.size())
      return fail(cudaGraphExecUpdateErrorTopologyChanged, sinks[sinks.size() - 1 - level.sinks.size()]);
    if (sinks.size() < level.sinks.size()) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    for (std::size_t i = sinks.size(); i-- > 0;) {
      meet(*sinks[i], level.sinks[i]);
      met.push_back(sinks[i]);
    }
    for (std::size_t at = 0; at < met.size(); ++at) {
      GraphNode* node = met[at];
      const std::uint32_t step = node->number;
      const std::uint32_t first = exec_.first_dependency[step];
      const std::uint32_t count = exec_.first_dependency[step + 1] - first;
      if (node->dependencies.size() != count) return fail(cudaGraphExecUpdateErrorTopologyChanged, node);
      if (exec_.types[step] != static_cast<std::uint8_t>(node->type))
        return fail(cudaGraphExecUpdateErrorNodeTypeChanged, node);
      if (!compare_node(*node)) return false;
      for (std::uint32_t i = 0; i < count; ++i) {
        GraphNode* dependency = node->dependencies[i].node;
        const std::uint32_t theirs = exec_.dependencies[first + i];
        const cudaGraphEdgeData data = exec_.edge_data.empty() ? cudaGraphEdgeData{} : exec_.edge_data[first + i];
        const bool same_edge = same_data(node->dependencies[i].data, data);
        if (same_edge && dependency->number == theirs) continue;
        if (!same_edge || dependency->number != no_step || pair_[theirs])
          return fail(cudaGraphExecUpdateErrorTopologyChanged, node, dependency);
        meet(*dependency, theirs);
        met.push_back(dependency);
      }
    }
    if (met.size() != graph.node_count) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    return true;
  }

  // After compare() succeeded; the image is ours.
  void apply(Graph& graph) {
    GraphImage& image = *exec_.image;
    for (GraphNode* node = graph.first; node; node = node->next) {
      const std::uint8_t disabled = image.steps[node->number].flags & engine::step_disabled;
      switch (node->type) {
      case cudaGraphNodeTypeGraph: apply(*node->child->graph); continue;
      case cudaGraphNodeTypeConditional:
        for (unsigned i = 0; i < node->conditional->size; ++i)
          apply(*reinterpret_cast<Graph*>(node->conditional->bodies[i]));
        if (const ConditionalHandle* handle = find_handle(graph, node->conditional->handle))
          branches_.emplace_back(static_cast<engine::BranchWork*>(image.steps[node->number].payload), *handle);
        continue;
      case cudaGraphNodeTypeEventRecord:
      case cudaGraphNodeTypeWaitEvent:
        exec_.slots[reinterpret_cast<std::uintptr_t>(image.steps[node->number].payload)].event = node->event->event;
        continue;
      case cudaGraphNodeTypeMemcpy:
        exec_.blocking_copies -= blocks_launch(copy_of(image.steps[node->number]));
        exec_.blocking_copies += blocks_launch(*node->copy);
        break;
      default: break;
      }
      store_step(image, node->number, *node);
      image.steps[node->number].flags |= disabled;
    }
  }

  // After apply(): conditional nodes are told by the handles of the new graph, which its kernels set. Values stay.
  void apply_handles() {
    if (branches_.empty()) return;
    GraphImage& image = *exec_.image;
    struct Entry {
      GraphImage::Handle handle;
      std::uint32_t value, before;
    };
    std::vector<Entry> entries;
    for (std::uint32_t i = 0; i < image.handles.size(); ++i)
      entries.push_back({image.handles[i], image.values[i].load(std::memory_order_relaxed), i});
    for (const auto& [work, handle] : branches_)
      entries[work->value].handle = {handle.value, handle.initial, handle.assign};
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.handle.handle < b.handle.handle; });
    std::vector<std::uint32_t> moved_to(entries.size());
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      image.handles[i] = entries[i].handle;
      image.values[i].store(entries[i].value, std::memory_order_relaxed);
      moved_to[entries[i].before] = i;
    }
    for (const Step& step : image.steps)
      if (step.kind == StepKind::branch) {
        std::uint32_t& value = static_cast<engine::BranchWork*>(step.payload)->value;
        value = moved_to[value];
      }
  }

 private:
  bool fail(cudaGraphExecUpdateResult result, GraphNode* node, GraphNode* from = nullptr) {
    outcome_ = {result, node, from};
    return false;
  }
  static bool same_data(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) noexcept {
    return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
  }
  void meet(GraphNode& node, std::uint32_t step) {
    node.number = step;
    pair_[step] = &node;
  }
  bool compare_node(GraphNode& node) {
    const Step& step = image_.steps[node.number];
    switch (node.type) {
    case cudaGraphNodeTypeKernel: {
      const auto& work = *static_cast<const engine::KernelWork*>(step.payload);
      if (!may_run(exec_, step, *node.kernel->work->grid.kernel))
        return fail(cudaGraphExecUpdateErrorUnsupportedFunctionChange, &node);
      const bool cooperative = work.grid.flags & simt::grid_cooperative;
      if (cooperative != node.kernel->cooperative ||
          (image_.use_priorities && step.asked_priority != node.kernel->asked_priority))
        return fail(cudaGraphExecUpdateErrorAttributesChanged, &node);
      return true;
    }
    case cudaGraphNodeTypeMemcpy:
      return copy_may_become(copy_of(step), *node.copy) || fail(cudaGraphExecUpdateErrorParametersChanged, &node);
    case cudaGraphNodeTypeMemset:
      return fill_may_become(fill_of(step), *node.fill) || fail(cudaGraphExecUpdateErrorParametersChanged, &node);
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent:
      return valid_event(node.event->event) || fail(cudaGraphExecUpdateErrorParametersChanged, &node);
    case cudaGraphNodeTypeGraph: return compare(*node.child->graph, exec_.level_of_step.at(node.number));
    case cudaGraphNodeTypeConditional: {
      const auto& work = *static_cast<const engine::BranchWork*>(step.payload);
      const ConditionalData& conditional = *node.conditional;
      if (work.bodies != conditional.size || work.loop != (conditional.type == cudaGraphCondTypeWhile) ||
          work.selector != (conditional.type == cudaGraphCondTypeSwitch))
        return fail(cudaGraphExecUpdateErrorNotSupported, &node);
      const std::uint32_t level = exec_.level_of_step.at(node.number);
      for (unsigned i = 0; i < conditional.size; ++i)
        if (!compare(*reinterpret_cast<Graph*>(conditional.bodies[i]), level + i)) return false;
      return true;
    }
    default: return true;
    }
  }

  GraphExec& exec_;
  GraphImage& image_;
  UpdateOutcome& outcome_;
  std::vector<GraphNode*> pair_;
  std::vector<std::pair<engine::BranchWork*, ConditionalHandle>> branches_;
};

cudaError_t update_level(GraphExec& exec, Graph& graph, std::uint32_t level, UpdateOutcome& outcome) {
  const ExecHold hold(exec);
  outcome = {};
  if (graph.updatable_nodes || !exec.image->updatable.empty()) return cudaErrorNotSupported;
  // A graph with one executable form can't be a part of another's, too.
  if (level == 0 && (graph.memory_nodes || graph.conditional_nodes) && !(exec.only_one && exec.original == &graph) &&
      graph.instantiated_once.load(std::memory_order_relaxed))
    return cudaErrorNotSupported;
  Update update(exec, outcome);
  if (!update.compare(graph, level)) return cudaErrorGraphExecUpdateFailure;
  own_image(exec);
  update.apply(graph);
  update.apply_handles();
  if (level == 0) payload_of(*exec.image).users = std::make_shared<const GraphUsers>(graph);
  return cudaSuccess;
}

// The step of `node` if it is one of `type`.
std::uint32_t typed_step(const GraphExec& exec, const GraphNode& node, cudaGraphNodeType type) noexcept {
  const std::uint32_t step = step_of(exec, node);
  return step != no_step && exec.types[step] == static_cast<std::uint8_t>(type) ? step : no_step;
}

}  // namespace

std::uint32_t step_of(const GraphExec& exec, const GraphNode& node) noexcept {
  const std::uint64_t uid = node.graph->uid;
  for (const GraphLevel& level : exec.levels) {
    if (level.graph != uid) continue;
    return node.id < level.step_of_id.size() ? level.step_of_id[node.id] : no_step;
  }
  return no_step;
}

cudaError_t update_exec(GraphExec& exec, Graph& graph, UpdateOutcome& outcome) {
  return update_level(exec, graph, 0, outcome);
}

cudaError_t exec_set_child(GraphExec& exec, const GraphNode& node, Graph& child) {
  const std::uint32_t step = typed_step(exec, node, cudaGraphNodeTypeGraph);
  if (step == no_step) return cudaErrorInvalidValue;
  UpdateOutcome ignored;
  return update_level(exec, child, exec.level_of_step.at(step), ignored);
}

cudaError_t exec_set_kernel(GraphExec& exec, const GraphNode& node, const cudaKernelNodeParams& params) {
  const std::uint32_t step = typed_step(exec, node, cudaGraphNodeTypeKernel);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  if (Function* function = params.func ? find_function(params.func) : nullptr) {
    cudaError_t unknown;
    const MrKernel* kernel = kernel_on(*function, exec.context->ordinal, &unknown);
    if (kernel && !may_run(exec, exec.image->steps[step], *kernel)) return cudaErrorInvalidValue;
  }
  own_image(exec);
  GraphImage& image = *exec.image;
  GraphImage::Updatable* const entry = updatable_at(image, step);
  std::unique_lock<engine::SpinLock> hold_node;
  if (entry) hold_node = std::unique_lock(static_cast<DeviceNode*>(entry->handle)->lock);
  KernelData kernel{};
  // The attributes stay: those that show in the work, and the priority.
  kernel.work = static_cast<engine::KernelWork*>(image.steps[step].payload);
  kernel.cooperative = kernel.work->grid.flags & simt::grid_cooperative;
  kernel.priority = image.steps[step].priority;
  kernel.asked_priority = image.steps[step].asked_priority;
  const std::uint32_t tag = kernel.work->grid.site;
  if (const cudaError_t error = make_kernel(kernel, *exec.context, payload_arena(image), params)) return error;
  kernel.work->grid.site = tag;
  if (kernel.work != image.steps[step].payload) image.steps[step].payload = kernel.work;
  set_kernel_flags(image.steps[step], kernel.work->grid);
  if (entry) {
    keep_for_host(image, *entry);
    follow_host(image, *entry);
  }
  return cudaSuccess;
}

cudaError_t exec_set_copy(GraphExec& exec, const GraphNode& node, const CopyData& data) {
  const std::uint32_t step = typed_step(exec, node, cudaGraphNodeTypeMemcpy);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  if (!copy_may_become(copy_of(exec.image->steps[step]), data)) return cudaErrorInvalidValue;
  own_image(exec);
  exec.blocking_copies -= blocks_launch(copy_of(exec.image->steps[step]));
  exec.blocking_copies += blocks_launch(data);
  store_copy(*exec.image, step, data);
  return cudaSuccess;
}

cudaError_t exec_set_fill(GraphExec& exec, const GraphNode& node, const FillData& data) {
  const std::uint32_t step = typed_step(exec, node, cudaGraphNodeTypeMemset);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  if (!fill_may_become(fill_of(exec.image->steps[step]), data)) return cudaErrorInvalidValue;
  own_image(exec);
  store_fill(*exec.image, step, data);
  return cudaSuccess;
}

cudaError_t exec_set_host(GraphExec& exec, const GraphNode& node, const cudaHostNodeParams& params) {
  const std::uint32_t step = typed_step(exec, node, cudaGraphNodeTypeHost);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  own_image(exec);
  store_host(*exec.image, step, params);
  return cudaSuccess;
}

cudaError_t exec_set_external(GraphExec& exec, const GraphNode& node, cudaGraphNodeType type,
                              const ExternalData& data) {
  const std::uint32_t step = typed_step(exec, node, type);
  if (step == no_step || node.external->count != data.count) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  own_image(exec);
  const ExternalWork work = make_external_work(data, payload_arena(*exec.image), *exec.context);
  store_host(*exec.image, step, {work.run, work.data});
  return cudaSuccess;
}

cudaError_t exec_set_event(GraphExec& exec, const GraphNode& node, cudaGraphNodeType type, Event& event) {
  const std::uint32_t step = typed_step(exec, node, type);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  // Launches took their events with them.
  exec.slots[reinterpret_cast<std::uintptr_t>(exec.image->steps[step].payload)].event = &event;
  return cudaSuccess;
}

namespace {
// Only what works on memory can be switched off.
std::uint32_t switchable_step(const GraphExec& exec, const GraphNode& node) noexcept {
  for (const cudaGraphNodeType type : {cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset})
    if (node.type == type) return typed_step(exec, node, type);
  return no_step;
}
}  // namespace

cudaError_t exec_set_enabled(GraphExec& exec, const GraphNode& node, bool enabled) {
  const std::uint32_t step = switchable_step(exec, node);
  if (step == no_step) return cudaErrorInvalidValue;
  const ExecHold hold(exec);
  own_image(exec);
  Step& s = exec.image->steps[step];
  if (GraphImage::Updatable* const entry = updatable_at(*exec.image, step)) {
    const std::scoped_lock hold_node(static_cast<DeviceNode*>(entry->handle)->lock);
    entry->off = !enabled;
    follow_host(*exec.image, *entry);
    return cudaSuccess;
  }
  s.flags = static_cast<std::uint8_t>(enabled ? s.flags & ~engine::step_disabled : s.flags | engine::step_disabled);
  return cudaSuccess;
}

cudaError_t exec_get_enabled(const GraphExec& exec, const GraphNode& node, unsigned& enabled) noexcept {
  const std::uint32_t step = switchable_step(exec, node);
  if (step == no_step) return cudaErrorInvalidValue;
  if (const GraphImage::Updatable* const entry = updatable_at(*exec.image, step))
    enabled = entry->off ? 0 : 1;  // whatever device code has made of it
  else
    enabled = exec.image->steps[step].flags & engine::step_disabled ? 0 : 1;
  return cudaSuccess;
}

}  // namespace mr::model
