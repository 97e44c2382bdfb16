// Instantiation: a graph's nodes become the steps of an image.
#include <model/graph_exec.h>

#include <algorithm>

#include <engine/queue.h>
#include <model/device_graph.h>
#include <model/stream.h>

namespace mr::model {
namespace {

using engine::GraphImage;
using engine::Step;
using engine::StepKind;

// Flattens a graph. Uses the nodes' scratch fields.
class Flatten {
 public:
  Flatten(GraphExec& exec, InstantiateOutcome& outcome) : exec_(exec), image_(*exec.image), outcome_(outcome) {}

  cudaError_t run(Graph& graph) {
    const std::size_t expected = graph.node_count + 1;
    image_.steps.reserve(expected);
    exec_.types.reserve(expected);
    if (has_unused_handle(graph)) return fail(cudaGraphInstantiateConditionalHandleUnused, nullptr);
    if (exec_.flags & cudaGraphInstantiateFlagDeviceLaunch && !graph.first)
      return fail(cudaGraphInstantiateError, nullptr);
    if (const cudaError_t error = number(graph, 0)) return error;
    if (exec_.flags & cudaGraphInstantiateFlagDeviceLaunch &&
        std::all_of(image_.steps.begin(), image_.steps.end(),
                    [](const Step& step) { return step.kind == StepKind::nothing; }))
      return fail(cudaGraphInstantiateError, nullptr);  // a child graph, but no work
    const std::uint32_t end = emit(StepKind::launch_end, cudaGraphNodeTypeCount);
    image_.next.reserve(image_.steps.size() + graph.edge_count + 1);
    exec_.first_dependency.reserve(image_.steps.size() + 1);
    exec_.dependencies.reserve(graph.edge_count);
    link(graph, end, 0);
    make_ports();
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
      // A value that isn't assigned at launches isn't at instantiation either: memory is 0 (recorded).
      image_.values[i].store(image_.handles[i].assign ? image_.handles[i].initial : 0, std::memory_order_relaxed);
    for (auto& [work, handle] : branches_) {
      const auto at = std::lower_bound(
          image_.handles.begin(), image_.handles.end(), handle,
          [](const GraphImage::Handle& h, std::uint64_t value) { return h.handle < value; });
      if (at == image_.handles.end() || at->handle != handle)  // it went with the body that it was made for
        return fail(cudaGraphInstantiateError, nullptr);
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

  // Told ahead of all that is wrong with nodes, wherever in the graph the handle is.
  static bool has_unused_handle(const Graph& graph) {
    if (!graph.handles_inside) return false;
    for (const ConditionalHandle& handle : graph.handles)
      if (!handle.node) return true;
    for (const GraphNode* node = graph.first; node; node = node->next) {
      if (node->type == cudaGraphNodeTypeGraph && has_unused_handle(*node->child->graph)) return true;
      if (node->type != cudaGraphNodeTypeConditional) continue;
      for (unsigned i = 0; i < node->conditional->size; ++i)
        if (has_unused_handle(*reinterpret_cast<Graph*>(node->conditional->bodies[i]))) return true;
    }
    return false;
  }

  // What kinds of nodes the place of a graph forbids.
  cudaError_t check_node(GraphNode& node, bool in_body) {
    const bool device = exec_.flags & cudaGraphInstantiateFlagDeviceLaunch;
    if (!device && !in_body) return cudaSuccess;
    switch (node.type) {
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeGraph: return cudaSuccess;
    case cudaGraphNodeTypeKernel:
      if (!(node.kernel->work->grid.kernel->flags & MR_KERNEL_PARENT)) return cudaSuccess;
      break;
    case cudaGraphNodeTypeMemcpy: {
      const CopyData& copy = *node.copy;
      if (device && (copy.params.srcArray || copy.params.dstArray)) break;
      if (copy.source != memory::Kind::pageable && copy.target != memory::Kind::pageable) return cudaSuccess;
      // Done by the host: beside a kernel, or in a body, that is a second device.
      return fail(in_body || has_kernel(*node.graph) ? cudaGraphInstantiateMultipleDevicesNotSupported
                                                     : cudaGraphInstantiateNodeOperationNotSupported,
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

  // The nodes of child graphs in their place among the others.
  cudaError_t check_nodes(Graph& graph, bool in_body) {
    for (GraphNode* node = graph.first; node; node = node->next) {
      if (const cudaError_t error = check_node(*node, in_body)) return error;
      if (node->type == cudaGraphNodeTypeGraph)
        if (const cudaError_t error = check_nodes(*node->child->graph, in_body)) return error;
    }
    return cudaSuccess;
  }

  static bool has_kernel(const Graph& graph) {
    const GraphNode* node = graph.first;
    while (node && node->type != cudaGraphNodeTypeKernel) node = node->next;
    return node != nullptr;
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
    for (const ConditionalHandle& handle : graph.handles)
      image_.handles.push_back({handle.value, handle.initial, handle.assign});
    const bool in_body = model::in_body(graph);
    // Told ahead of a cycle.
    if (in_body || (exec_.flags & cudaGraphInstantiateFlagDeviceLaunch && level_index == 0))
      if (const cudaError_t error = check_nodes(graph, in_body)) return error;
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
      if (const cudaError_t error = emit_node(*node)) {
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
      GraphNode* culprit = in_body ? nullptr : on_a_cycle(graph);
      reset_marks(graph);
      return fail(cudaGraphInstantiateInvalidStructure, culprit);
    }
    for (const GraphNode* node : sinks_of(graph)) exec_.levels[level_index].sinks.push_back(node->number);
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

  cudaError_t emit_node(GraphNode& node) {
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
      if (node.type == cudaGraphNodeTypeKernel) {
        image_.steps[node.number].flags |= abilities_of(*node.kernel->work->grid.kernel);
        if (is_updatable(*node.kernel)) emit_updatable(node);
      }
      if (node.graph->special_edges) emit_port(node);
      if (node.type == cudaGraphNodeTypeMemcpy) exec_.blocking_copies += blocks_launch(*node.copy);
      return cudaSuccess;
    }
  }

  void emit_updatable(const GraphNode& node) {
    DeviceNode* const handle = node.kernel->attributes->device_node;
    exec_.resources->device_nodes.push_back(handle);
    retain_device_node(*handle);
    image_.updatable.push_back({handle, node.number, false, nullptr});
    keep_for_host(image_, image_.updatable.back());
  }

  // What an edge asks for beside "when the kernel has ended": something of kernels alone (captures make programmatic
  // edges to other nodes, too). Kernels that launch kernels end when those have, and neither let others begin before,
  // nor begin before others have ended.
  static bool is_early(const GraphNode& from, const GraphNode& to, const cudaGraphEdgeData& data) {
    if (data.from_port == 0 || launches(from)) return false;
    return data.type != cudaGraphDependencyTypeProgrammatic || (to.type == cudaGraphNodeTypeKernel && !launches(to));
  }
  static bool is_programmatic(const GraphNode& from, const GraphNode& to, const cudaGraphEdgeData& data) {
    return data.type == cudaGraphDependencyTypeProgrammatic && is_early(from, to, data);
  }
  static bool launches(const GraphNode& node) {
    return node.type == cudaGraphNodeTypeKernel && node.kernel->work->grid.kernel->flags & MR_KERNEL_LAUNCHES;
  }
  static std::ptrdiff_t programmatic_dependencies(const GraphNode& node) {
    return std::count_if(node.dependencies.begin(), node.dependencies.end(),
                         [&](const EdgeRef& edge) { return is_programmatic(*edge.node, node, edge.data); });
  }
  static unsigned moment_of(const EdgeRef& edge) {
    return edge.data.from_port == cudaGraphKernelNodePortProgrammatic ? engine::PortWork::triggered
                                                                      : engine::PortWork::begun;
  }

  // Steps for the moments of a kernel that edges lead from, and one that stands for the end of a kernel behind
  // programmatic edges: it waits for the kernels in front as well.
  void emit_port(GraphNode& node) {
    Port port{&node, {engine::PortWork::no_step, engine::PortWork::no_step}};
    bool any = false;
    for (const EdgeRef& edge : node.dependents)
      if (std::uint32_t& at = port.at[moment_of(edge)]; is_early(node, *edge.node, edge.data)) {
        if (at == engine::PortWork::no_step) at = emit(StepKind::nothing, cudaGraphNodeTypeCount);
        any = true;
      }
    if (programmatic_dependencies(node)) {
      node.finish = emit(StepKind::nothing, cudaGraphNodeTypeCount);
      any = true;
    }
    if (!any) return;
    ports_.push_back(port);
    if (node.type == cudaGraphNodeTypeKernel) image_.steps[node.number].flags |= engine::step_port;
  }
  void link_port(GraphNode& node) {
    if (node.finish != node.number) {
      image_.steps[node.number].first_next = static_cast<std::uint32_t>(image_.next.size());
      image_.steps[node.number].next_count = 1;
      image_.next.push_back(node.finish);
      image_.steps[node.finish].needs = 1 + static_cast<std::uint32_t>(programmatic_dependencies(node));
    }
  }
  // Behind link(): successors of the moments' steps, and who waits for whom.
  void make_ports() {
    image_.ports = std::vector<engine::PortWork>(ports_.size());
    const auto number_of = [&](const GraphNode* node) {
      return static_cast<std::uint32_t>(
          std::lower_bound(ports_.begin(), ports_.end(), node->number,
                           [](const Port& p, std::uint32_t step) { return p.node->number < step; }) -
          ports_.begin());
    };
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const GraphNode& node = *ports_[i].node;
      engine::PortWork& work = image_.ports[i];
      work.step = node.number;
      work.image = &image_;
      for (unsigned moment = 0; moment < engine::PortWork::moments; ++moment) {
        const std::uint32_t at = work.at[moment] = ports_[i].at[moment];
        if (at == engine::PortWork::no_step) continue;
        image_.steps[at].needs = 1;
        image_.steps[at].first_next = static_cast<std::uint32_t>(image_.next.size());
        for (const EdgeRef& edge : node.dependents)
          if (is_early(node, *edge.node, edge.data) && moment_of(edge) == moment)
            image_.next.push_back(edge.node->number);
        image_.steps[at].next_count = static_cast<std::uint32_t>(image_.next.size()) - image_.steps[at].first_next;
      }
      for (const EdgeRef& edge : node.dependencies)
        if (is_programmatic(*edge.node, node, edge.data)) work.primaries.push_back(number_of(edge.node));
    }
  }

  // Successors and counts; `end` is what the graph's last steps lead to, `root_needs` what its first ones wait for.
  void link(Graph& graph, std::uint32_t end, std::uint32_t root_needs) {
    std::uint32_t sinks = 0;
    for (GraphNode* node = graph.first; node; node = node->next) {
      image_.steps[node->number].needs = node->dependencies.empty() ? root_needs : node->dependencies.size();
      const auto first = static_cast<std::uint32_t>(image_.next.size());
      for (const EdgeRef& edge : node->dependents) {
        if (!is_early(*node, *edge.node, edge.data))
          image_.next.push_back(edge.node->number);
        else if (is_programmatic(*node, *edge.node, edge.data))
          image_.next.push_back(edge.node->finish);
      }
      if (image_.next.size() == first) {
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
      } else if (graph.special_edges) {
        link_port(*node);
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
    if (std::any_of(nodes_.begin(), nodes_.end(), [](const GraphNode* n) { return n->graph->special_edges != 0; }))
      exec_.edge_data.resize(first.back());
    for (const GraphNode* node : nodes_) {
      std::uint32_t at = first[node->number];
      for (const EdgeRef& edge : node->dependencies) {
        if (!exec_.edge_data.empty()) exec_.edge_data[at] = edge.data;
        exec_.dependencies[at++] = edge.node->number;
      }
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
  struct Port {
    GraphNode* node;
    std::uint32_t at[engine::PortWork::moments];
  };
  std::vector<Port> ports_;
  std::vector<std::pair<engine::BranchWork*, std::uint64_t>> branches_;
};

}  // namespace

cudaError_t flatten(GraphExec& exec, Graph& graph, InstantiateOutcome& outcome) {
  return Flatten(exec, outcome).run(graph);
}

}  // namespace mr::model
