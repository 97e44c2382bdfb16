#include <model/graph.h>

#include <algorithm>
#include <cstring>

#include <model/device_graph.h>
#include <model/graph_memory.h>
#include <model/object_pool.h>
#include <model/user_object.h>
#include <observe/subscriber.h>

namespace mr::model {
namespace {

ObjectPool<Graph>& pool() {
  static ObjectPool<Graph>* const instance = new ObjectPool<Graph>(1u << 21);
  return *instance;
}
std::atomic<std::uint64_t> next_uid{1};

// The multiplier spreads an address over all bits.
std::uint64_t seal_of(const GraphNode* node, std::uint64_t uid) noexcept {
  return uid ^ (reinterpret_cast<std::uintptr_t>(node) * 0x9e3779b97f4a7c15u);
}

}  // namespace

void EdgeList::add(GraphArena& arena, const EdgeRef& edge) {
  if (size_ == capacity_) {
    const std::uint32_t capacity = capacity_ == 1 ? 4 : capacity_ * 2;
    auto* more = static_cast<EdgeRef*>(arena.allocate(capacity * sizeof(EdgeRef)));
    std::memcpy(more, begin(), size_ * sizeof(EdgeRef));
    many_ = more;
    capacity_ = capacity;
  }
  begin()[size_++] = edge;
}

EdgeRef* EdgeList::find(const GraphNode* node) noexcept {
  // From the back: what was added last is what is asked for most.
  for (EdgeRef* edge = end(); edge != begin();)
    if ((--edge)->node == node) return edge;
  return nullptr;
}

void EdgeList::erase_for_last(EdgeRef* edge) noexcept { *edge = begin()[--size_]; }

void EdgeList::erase(EdgeRef* edge) noexcept {
  std::memmove(edge, edge + 1, static_cast<std::size_t>(end() - edge - 1) * sizeof(EdgeRef));
  --size_;
}

bool valid_node(const GraphNode* node) noexcept {
  return GraphArena::in_range(node, sizeof(GraphNode)) && valid_graph(node->graph) &&
         node->seal == seal_of(node, node->graph->uid);
}

Graph* create_graph() {
  Graph* graph = pool().take();
  if (!graph) return nullptr;
  graph->uid = next_uid.fetch_add(1, std::memory_order_relaxed);
  graph->context = &current_context();
  graph->first = graph->last = nullptr;
  graph->node_count = graph->edge_count = graph->special_edges = 0;
  graph->next_id = graph->next_mark = graph->next_root = graph->next_sink = 0;
  graph->sinks_moved = false;
  graph->clone_of = 0;
  graph->by_id.clear();
  graph->owner = nullptr;
  graph->body = graph->moved = graph->capturing = false;
  graph->memory_nodes = graph->memory_nodes_outside_bodies = graph->conditional_nodes = graph->updatable_nodes = 0;
  graph->executables.store(0, std::memory_order_relaxed);
  graph->copied = graph->conditional_behind_copy = false;
  graph->instantiated_once.store(false, std::memory_order_relaxed);
  graph->handles.clear();
  graph->handles_inside = false;
  graph->users.clear();
  graph->live.store(true, std::memory_order_release);
  return graph;
}

namespace {

// Gives up what a node owns outside of its graph's arena.
void drop_data(GraphNode& node) noexcept;

void free_graph(Graph& graph) noexcept {
  for (GraphNode* node = graph.first; node; node = node->next) drop_data(*node);
  for (const UserReference& user : graph.users) release_user_object(*user.object, user.count);
  graph.users.clear();
  forget_handles(graph);
  graph.live.store(false, std::memory_order_relaxed);
  graph.arena.clear();
  pool().release(&graph);
}

void drop_data(GraphNode& node) noexcept {
  switch (node.type) {
  case cudaGraphNodeTypeGraph: free_graph(*node.child->graph); break;
  case cudaGraphNodeTypeConditional:
    for (unsigned i = 0; i < node.conditional->size; ++i)
      free_graph(*reinterpret_cast<Graph*>(node.conditional->bodies[i]));
    break;
  case cudaGraphNodeTypeKernel:
    if (node.kernel->attributes && node.kernel->attributes->device_node)
      release_device_node(*node.kernel->attributes->device_node);
    break;
  case cudaGraphNodeTypeMemAlloc: release_allocation(*node.alloc->allocation); break;
  case cudaGraphNodeTypeMemFree:
    node_free_removed(*node.free->allocation, *node.graph);
    release_allocation(*node.free->allocation);
    break;
  default: break;
  }
}

}  // namespace

void count_special(Graph& graph, std::ptrdiff_t memory, std::ptrdiff_t conditional, std::ptrdiff_t updatable) noexcept {
  bool in_body = false;  // seen from g
  for (Graph* g = &graph;; g = g->owner->graph) {
    g->memory_nodes += static_cast<std::size_t>(memory);
    if (!in_body) g->memory_nodes_outside_bodies += static_cast<std::size_t>(memory);
    in_body |= g->body;
    if (conditional > 0 && g->conditional_nodes == 0 && g->copied) g->conditional_behind_copy = true;
    g->conditional_nodes += static_cast<std::size_t>(conditional);
    g->updatable_nodes += static_cast<std::size_t>(updatable);
    if (!g->owner) return;
  }
}

namespace {

// Whether a stream is being captured into a graph that the node has inside of it.
bool captured_into(const GraphNode& node) noexcept {
  if (node.type == cudaGraphNodeTypeGraph) return captured_into(*node.child->graph);
  if (node.type != cudaGraphNodeTypeConditional) return false;
  for (unsigned i = 0; i < node.conditional->size; ++i)
    if (captured_into(*reinterpret_cast<const Graph*>(node.conditional->bodies[i]))) return true;
  return false;
}

}  // namespace

bool captured_into(const Graph& graph) noexcept {
  if (graph.capturing) return true;
  // No capture at all: nothing to look for. One into a part of this graph was begun by this thread, or by one that
  // this one has synchronized with (the API's rule for graphs).
  if (!(slow_word.load(std::memory_order_relaxed) & slow_capture)) [[likely]]
    return false;
  for (const GraphNode* node = graph.first; node; node = node->next)
    if (captured_into(*node)) return true;
  return false;
}

cudaError_t destroy_graph(Graph& graph) noexcept {
  if (graph.owner) return cudaErrorInvalidValue;
  if (captured_into(graph)) return cudaErrorIllegalState;
  free_graph(graph);
  return cudaSuccess;
}

void drop_child(GraphNode& node) noexcept {
  count_special(*node.graph, -static_cast<std::ptrdiff_t>(node.child->graph->memory_nodes),
                -static_cast<std::ptrdiff_t>(node.child->graph->conditional_nodes),
                -static_cast<std::ptrdiff_t>(node.child->graph->updatable_nodes));
  drop_data(node);
}

cudaError_t check_dependencies(Graph& graph, cudaGraphNodeType type, GraphNode* const* dependencies,
                               const cudaGraphEdgeData* data, std::size_t count) noexcept {
  if (count == 0) return cudaSuccess;
  if (!dependencies) return cudaErrorInvalidValue;
  if (count > 1) {
    if (++graph.next_mark == 0) {
      for (GraphNode* node = graph.first; node; node = node->next) node->mark = 0;
      graph.next_mark = 1;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* from = dependencies[i];
    if (!valid_node(from) || from->graph != &graph) return cudaErrorInvalidValue;
    if (count > 1) {
      if (from->mark == graph.next_mark) {
        refused_behind(dependencies, i);
        return cudaErrorInvalidValue;
      }
      from->mark = graph.next_mark;
    }
    if (data && !legal_edge(data[i], from->type, type)) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

bool legal_edge(const cudaGraphEdgeData& data, cudaGraphNodeType from, cudaGraphNodeType to) noexcept {
  for (unsigned char byte : data.reserved)
    if (byte) return false;
  if (data.to_port) return false;
  if (data.type == cudaGraphDependencyTypeDefault)
    return data.from_port == 0 ||
           (from == cudaGraphNodeTypeKernel && data.from_port == cudaGraphKernelNodePortLaunchCompletion);
  if (data.type != cudaGraphDependencyTypeProgrammatic) return false;
  return from == cudaGraphNodeTypeKernel && to == cudaGraphNodeTypeKernel &&
         (data.from_port == cudaGraphKernelNodePortProgrammatic ||
          data.from_port == cudaGraphKernelNodePortLaunchCompletion);
}

GraphNode* add_node(Graph& graph, cudaGraphNodeType type, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                    std::size_t count) {
  auto* node = graph.arena.make<GraphNode>();
  node->graph = &graph;
  node->seal = seal_of(node, graph.uid);
  node->type = type;
  node->id = graph.next_id++;
  node->previous = graph.last;
  if (graph.last)
    graph.last->next = node;
  else
    graph.first = node;
  graph.last = node;
  ++graph.node_count;
  node->root_since = ++graph.next_root;
  node->sink_since = ++graph.next_sink;
  if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree) count_special(graph, 1, 0, 0);
  if (type == cudaGraphNodeTypeConditional) count_special(graph, 0, 1, 0);
  for (std::size_t i = 0; i < count; ++i) connect(*dependencies[i], *node, data ? data[i] : cudaGraphEdgeData{});
  if (observe::subscriber) [[unlikely]]
    observe::subscriber->node_added(node);
  return node;
}

namespace {
void becomes_sink(GraphNode& node) noexcept {
  node.sink_since = ++node.graph->next_sink;
  node.graph->sinks_moved = true;
}
}  // namespace

void refused_behind(GraphNode* const* dependencies, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (dependencies[i]->dependents.empty()) becomes_sink(*dependencies[i]);
}

std::vector<GraphNode*> sinks_of(const Graph& graph) {
  std::vector<GraphNode*> sinks;
  for (GraphNode* node = graph.first; node; node = node->next)
    if (node->dependents.empty()) sinks.push_back(node);
  if (graph.sinks_moved)
    std::sort(sinks.begin(), sinks.end(), [](const auto* a, const auto* b) { return a->sink_since < b->sink_since; });
  return sinks;
}

void connect(GraphNode& from, GraphNode& to, const cudaGraphEdgeData& data) {
  Graph& graph = *from.graph;
  to.dependencies.add(graph.arena, {&from, data});
  from.dependents.add(graph.arena, {&to, data});
  ++graph.edge_count;
  if (has_edge_data(data)) ++graph.special_edges;
}

namespace {

void disconnect(GraphNode& from, EdgeRef* in_dependents) noexcept {
  GraphNode& to = *in_dependents->node;
  Graph& graph = *from.graph;
  if (has_edge_data(in_dependents->data)) --graph.special_edges;
  to.dependencies.erase(to.dependencies.find(&from));
  if (to.dependencies.empty()) to.root_since = ++graph.next_root;
  from.dependents.erase_for_last(in_dependents);
  if (from.dependents.empty()) becomes_sink(from);
  --graph.edge_count;
}

EdgeRef* edge_between(GraphNode& from, GraphNode& to) noexcept {
  // The shorter list decides whether there is one.
  if (to.dependencies.size() < from.dependents.size() && !to.dependencies.find(&from)) return nullptr;
  return from.dependents.find(&to);
}

}  // namespace

cudaError_t destroy_node(GraphNode& node) noexcept {
  Graph& graph = *node.graph;
  if (graph.capturing || captured_into(node)) return cudaErrorIllegalState;
  if (graph.memory_nodes_outside_bodies) return cudaErrorNotSupported;
  if (node.type == cudaGraphNodeTypeKernel && is_updatable(*node.kernel)) return cudaErrorNotSupported;
  while (!node.dependencies.empty()) {
    GraphNode& from = *node.dependencies.end()[-1].node;
    disconnect(from, from.dependents.find(&node));
  }
  while (!node.dependents.empty()) disconnect(node, node.dependents.begin());
  if (node.type == cudaGraphNodeTypeConditional) {
    if (ConditionalHandle* handle = find_handle(graph, node.conditional->handle)) handle->node = nullptr;
    count_special(graph, 0, -1, 0);
  }
  if (node.type == cudaGraphNodeTypeGraph)
    drop_child(node);
  else
    drop_data(node);
  if (node.previous)
    node.previous->next = node.next;
  else
    graph.first = node.next;
  if (node.next)
    node.next->previous = node.previous;
  else
    graph.last = node.previous;
  --graph.node_count;
  if (node.id < graph.by_id.size()) graph.by_id[node.id] = nullptr;
  node.graph = nullptr;
  node.seal = 0;
  return cudaSuccess;
}

cudaError_t add_dependencies(Graph& graph, GraphNode* const* from, GraphNode* const* to, const cudaGraphEdgeData* data,
                             std::size_t count) {
  if (count == 0) return cudaSuccess;
  if (!from || !to) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode *a = from[i], *b = to[i];
    if (!valid_node(a) || !valid_node(b) || a->graph != &graph || b->graph != &graph || a == b)
      return cudaErrorInvalidValue;
    if (data && !legal_edge(data[i], a->type, b->type)) return cudaErrorInvalidValue;
  }
  // Edges ahead of one that is there already stay.
  for (std::size_t i = 0; i < count; ++i) {
    if (edge_between(*from[i], *to[i])) return cudaErrorInvalidValue;
    connect(*from[i], *to[i], data ? data[i] : cudaGraphEdgeData{});
  }
  return cudaSuccess;
}

cudaError_t remove_dependencies(Graph& graph, GraphNode* const* from, GraphNode* const* to,
                                std::size_t count) noexcept {
  if (count == 0) return cudaSuccess;
  if (!from || !to) return cudaErrorInvalidValue;
  if (graph.memory_nodes_outside_bodies) return cudaErrorNotSupported;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode *a = from[i], *b = to[i];
    if (!valid_node(a) || !valid_node(b) || a->graph != &graph || b->graph != &graph || a == b)
      return cudaErrorInvalidValue;
  }
  // Edges ahead of one that isn't there are gone.
  for (std::size_t i = 0; i < count; ++i) {
    EdgeRef* edge = edge_between(*from[i], *to[i]);
    if (!edge) return cudaErrorInvalidValue;
    disconnect(*from[i], edge);
  }
  return cudaSuccess;
}

// ---- copies ----

namespace {

void copy_data(GraphNode& to, const GraphNode& from) {
  GraphArena& arena = to.graph->arena;
  switch (from.type) {
  case cudaGraphNodeTypeKernel: {
    to.kernel = arena.make<KernelData>();
    *to.kernel = *from.kernel;
    to.kernel->pointers = nullptr;
    to.kernel->work = copy_work(*from.kernel->work, arena.allocate(from.kernel->work->bytes));
    if (from.kernel->attributes) {
      to.kernel->attributes = arena.make<KernelAttributes>();
      *to.kernel->attributes = *from.kernel->attributes;
      if (DeviceNode* const node = to.kernel->attributes->device_node) {  // still shown, but without effect
        to.kernel->attributes->of_original = true;
        retain_device_node(*node);
      }
    }
    break;
  }
  case cudaGraphNodeTypeMemcpy: *(to.copy = arena.make<CopyData>()) = *from.copy; break;
  case cudaGraphNodeTypeMemset: *(to.fill = arena.make<FillData>()) = *from.fill; break;
  case cudaGraphNodeTypeHost: *(to.host = arena.make<HostData>()) = *from.host; break;
  case cudaGraphNodeTypeExtSemaphoreSignal:
  case cudaGraphNodeTypeExtSemaphoreWait: {
    const ExternalData& data = *from.external;
    (void)make_external(*(to.external = arena.make<ExternalData>()), arena, data.semaphores, data.signals, data.waits,
                        data.count);
    break;
  }
  case cudaGraphNodeTypeWaitEvent:
  case cudaGraphNodeTypeEventRecord: *(to.event = arena.make<EventData>()) = *from.event; break;
  case cudaGraphNodeTypeGraph: {
    to.child = arena.make<ChildData>();
    to.child->graph = copy_graph(*from.child->graph);
    to.child->graph->owner = &to;
    break;
  }
  default: break;
  }
}

}  // namespace

Graph* copy_graph(Graph& original) {
  Graph* copy = create_graph();
  if (!copy) return nullptr;
  copy->context = original.context;
  copy->clone_of = original.uid;
  copy->by_id.assign(original.next_id, nullptr);
  for (GraphNode* node = original.first; node; node = node->next) {
    copy->next_id = node->id;
    GraphNode* twin = add_node(*copy, node->type, nullptr, nullptr, 0);
    copy->by_id[node->id] = twin;
    copy_data(*twin, *node);
    if (observe::subscriber) [[unlikely]]
      observe::subscriber->node_copied(twin, node);
  }
  copy->next_id = original.next_id;
  // Dependencies in the original's order; dependents in that of the nodes.
  for (GraphNode* node = original.first; node; node = node->next) {
    GraphNode* twin = copy->by_id[node->id];
    for (const EdgeRef& edge : node->dependencies) {
      GraphNode* from = copy->by_id[edge.node->id];
      twin->dependencies.add(copy->arena, {from, edge.data});
      from->dependents.add(copy->arena, {twin, edge.data});
    }
  }
  copy->edge_count = original.edge_count;
  copy->special_edges = original.special_edges;
  for (const UserReference& user : original.users) {
    retain_user_object(*user.object, user.count);
    copy->users.push_back(user);
  }
  return copy;
}

bool in_body(const Graph& graph) noexcept {
  const Graph* g = &graph;
  while (g->owner && !g->body) g = g->owner->graph;
  return g->body;
}

cudaError_t clone_graph(Graph** out, Graph& original) {
  if (original.memory_nodes || original.updatable_nodes) return cudaErrorNotSupported;
  // A conditional handle forbids it as well as the node that uses it, in the graphs around, too.
  for (const Graph* g = &original;; g = g->owner->graph) {
    if (g->conditional_nodes || !g->handles.empty()) return cudaErrorNotSupported;
    if (!g->owner) break;
  }
  Graph* copy = copy_graph(original);
  if (!copy) return cudaErrorMemoryAllocation;
  *out = copy;
  return cudaSuccess;
}

cudaError_t find_in_clone(GraphNode** out, GraphNode& node, Graph& clone) noexcept {
  if (clone.clone_of == 0 || node.graph->uid != clone.clone_of || node.id >= clone.by_id.size())
    return cudaErrorInvalidValue;
  GraphNode* twin = clone.by_id[node.id];
  if (!twin) return cudaErrorInvalidValue;
  *out = twin;
  return cudaSuccess;
}

engine::KernelWork* copy_work(const engine::KernelWork& work, void* block) noexcept {
  std::memcpy(block, &work, work.bytes);
  auto* copy = static_cast<engine::KernelWork*>(block);
  copy->grid.args = static_cast<char*>(block) + work.args_offset;
  if (work.grid.cluster)
    copy->grid.cluster = reinterpret_cast<const std::uint32_t*>(
        static_cast<char*>(block) +
        (reinterpret_cast<const char*>(work.grid.cluster) - reinterpret_cast<const char*>(&work)));
  return copy;
}

}  // namespace mr::model
