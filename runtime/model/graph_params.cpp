// Parameters of copy, set, child and conditional nodes. Kernel nodes: graph_kernel.cpp.
#include <model/graph.h>

#include <cstring>
#include <mutex>

#include <model/graph_memory.h>

namespace mr::model {
namespace {

bool known_kind(cudaMemcpyKind kind) noexcept { return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault; }

// The last byte of a range must lie in the block that the first one lies in, as far as the memory is ours.
bool in_bounds(const void* pointer, std::size_t bytes) noexcept {
  const memory::Pointer found = memory::space().find(pointer);
  if (found.kind == memory::Kind::pageable || !found.block) return true;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - found.block.base);
  return found.block.live && offset <= found.block.size && bytes <= found.block.size - offset;
}

}  // namespace

cudaError_t make_copy(CopyData& out, const cudaMemcpy3DParms& params) noexcept {
  const cudaExtent& extent = params.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaErrorInvalidValue;
  if (!known_kind(params.kind)) return cudaErrorInvalidMemcpyDirection;
  CopyData made{};
  made.params = params;
  made.one_dimensional = extent.height == 1 && extent.depth == 1;
  memory::Copy& copy = made.copy;
  if (params.srcArray || params.dstArray) return make_array_copy(out, params);
  copy.row = extent.width;
  copy.height = extent.height;
  copy.depth = extent.depth;
  struct Side {
    const cudaPitchedPtr& pointer;
    const cudaPos& position;
  };
  const Side sides[] = {{params.srcPtr, params.srcPos}, {params.dstPtr, params.dstPos}};
  // First what the pitches can hold at all, of both sides; then whether the box is inside. One row needs no pitch, and
  // one slice no number of rows (captured copies are like that); what is given has to hold them.
  for (const Side& side : sides) {
    if (!side.pointer.ptr) return cudaErrorInvalidValue;
    if (!made.one_dimensional &&
        (side.pointer.pitch < extent.width || (extent.depth > 1 && side.pointer.ysize < extent.height)))
      return cudaErrorInvalidPitchValue;
  }
  for (const Side& side : sides) {
    if (side.pointer.pitch && side.pointer.pitch < extent.width + side.position.x) return cudaErrorInvalidValue;
    if (side.pointer.ysize && side.pointer.ysize < extent.height + side.position.y) return cudaErrorInvalidValue;
  }
  copy.src_pitch = params.srcPtr.pitch;
  copy.dst_pitch = params.dstPtr.pitch;
  copy.src_slice = params.srcPtr.pitch * params.srcPtr.ysize;
  copy.dst_slice = params.dstPtr.pitch * params.dstPtr.ysize;
  copy.src = static_cast<const char*>(params.srcPtr.ptr) + params.srcPos.x + params.srcPos.y * copy.src_pitch +
             params.srcPos.z * copy.src_slice;
  copy.dst = static_cast<char*>(params.dstPtr.ptr) + params.dstPos.x + params.dstPos.y * copy.dst_pitch +
             params.dstPos.z * copy.dst_slice;
  if (const cudaError_t error = check_sides(made)) return error;
  out = made;
  return cudaSuccess;
}

cudaError_t check_sides(CopyData& data) noexcept {
  memory::Copy& copy = data.copy;
  data.source = memory::space().kind_of(copy.src);
  data.target = memory::space().kind_of(copy.dst);
  const cudaMemcpyKind kind = data.params.kind;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if ((from_device && data.source == memory::Kind::pageable) || (to_device && data.target == memory::Kind::pageable))
    return cudaErrorInvalidValue;
  const std::size_t from_bytes = copy.row + (copy.height - 1) * copy.src_pitch + (copy.depth - 1) * copy.src_slice;
  const std::size_t to_bytes = copy.row + (copy.height - 1) * copy.dst_pitch + (copy.depth - 1) * copy.dst_slice;
  if (!in_bounds(copy.src, from_bytes) || !in_bounds(copy.dst, to_bytes)) return cudaErrorInvalidValue;
  copy.coalesce();
  return cudaSuccess;
}

cudaError_t make_copy_1d(CopyData& out, void* to, const void* from, std::size_t count, cudaMemcpyKind kind) noexcept {
  if (!known_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (!to || !from || count == 0) return cudaErrorInvalidValue;
  CopyData made{};
  made.params.srcPtr.ptr = const_cast<void*>(from);
  made.params.dstPtr.ptr = to;
  made.params.extent = {count, 1, 1};
  made.params.kind = kind;
  made.copy = memory::linear_copy(to, from, count);
  made.one_dimensional = true;
  if (const cudaError_t error = check_sides(made)) return error;
  out = made;
  return cudaSuccess;
}

cudaError_t check_symbol(bool to_symbol, const void* symbol, std::size_t count, std::size_t offset,
                         cudaMemcpyKind kind) noexcept {
  const Variable* variable = find_variable(symbol);
  if (!variable) return cudaErrorInvalidSymbol;
  if (offset > variable->size || count > variable->size - offset) return cudaErrorInvalidValue;
  if (!known_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (to_symbol ? kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost
                : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
    return cudaErrorInvalidMemcpyDirection;
  return cudaSuccess;
}

cudaError_t make_copy_symbol(CopyData& out, bool to_symbol, const void* symbol, void* other, std::size_t count,
                             std::size_t offset, cudaMemcpyKind kind, int device) noexcept {
  if (const cudaError_t wrong = check_symbol(to_symbol, symbol, count, offset, kind)) return wrong;
  if (count == 0) return cudaErrorInvalidValue;
  Variable* variable = find_variable(symbol);
  cudaError_t error = cudaSuccess;
  auto* address = static_cast<char*>(variable_on(*variable, device, &error));
  if (!address) return error;
  error = to_symbol ? make_copy_1d(out, address + offset, other, count, kind)
                    : make_copy_1d(out, other, address + offset, count, kind);
  if (error == cudaSuccess) out.symbol = true;
  return error;
}

cudaError_t make_fill(FillData& out, const cudaMemsetParams& params, bool checked) noexcept {
  const std::size_t element = params.elementSize;
  if (element != 1 && element != 2 && element != 4) return cudaErrorInvalidValue;
  FillData made{};
  made.params = params;
  const std::size_t row = params.width * element;
  if (checked) {
    if (params.width == 0 || params.height == 0 || !params.dst) return cudaErrorInvalidValue;
    if (reinterpret_cast<std::uintptr_t>(params.dst) % element) return cudaErrorInvalidValue;
    if (params.height > 1 && (params.pitch < row || params.pitch % element)) return cudaErrorInvalidValue;
    if (memory::space().kind_of(params.dst) == memory::Kind::pageable) return cudaErrorInvalidValue;
    if (!in_bounds(params.dst, row + (params.height - 1) * params.pitch)) return cudaErrorInvalidValue;
  }
  made.fill = memory::linear_fill(params.dst, params.value, row, static_cast<std::uint32_t>(element));
  made.fill.height = params.height;
  made.fill.pitch = params.pitch;
  // The device spreads the whole value over 32 bits, shifted by the element: bits beyond the element run into its
  // neighbours.
  const std::uint32_t v = params.value;
  std::uint32_t spread = v;
  if (element == 1) spread = v | v << 8 | v << 16 | v << 24;
  if (element == 2) spread = v | v << 16;
  // Several rows, and managed memory, where they are not whole groups of four elements: the first 16 bits repeat.
  const bool groups = params.width % 4 == 0 && reinterpret_cast<std::uintptr_t>(params.dst) % (4 * element) == 0;
  if (!groups && (params.height > 1 || memory::space().kind_of(params.dst) == memory::Kind::managed))
    spread = (spread & 0xffff) * 0x10001u;
  made.patterned = element < 4 && (v >> 8 * element) != 0;
  made.pattern = {static_cast<char*>(params.dst), row, params.height, params.pitch, spread};
  if (!made.patterned) made.fill.coalesce();
  out = made;
  return cudaSuccess;
}

// ---- child graphs ----

cudaError_t add_child(Graph& graph, GraphNode** out, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                      std::size_t count, Graph* child, cudaGraphChildGraphNodeOwnership ownership) {
  if (!valid_graph(child) || child == &graph) return cudaErrorInvalidValue;
  const bool move = ownership == cudaGraphChildGraphOwnershipMove;
  if (child->owner && (move || child->moved || child->body)) return cudaErrorNotSupported;
  for (const Graph* g = child; g->owner; g = g->owner->graph)
    if (g->owner->graph == &graph) return cudaErrorNotSupported;  // a part of this graph itself
  const bool instantiated = child->instantiated_once.load(std::memory_order_relaxed);
  if (child->memory_nodes && (!move || graph.moved || instantiated)) return cudaErrorNotSupported;
  if (child->conditional_nodes || child->handles_inside) return cudaErrorNotSupported;
  for (const Graph* g = &graph; move && g->owner; g = g->owner->graph)
    if (g->owner->graph == child) return cudaErrorInvalidValue;  // it would be a part of itself
  if (const cudaError_t error = check_dependencies(graph, cudaGraphNodeTypeGraph, dependencies, data, count))
    return error;
  Graph* inner = move ? child : copy_graph(*child);
  if (!inner) return cudaErrorMemoryAllocation;
  child->copied |= !move;
  GraphNode* node = add_node(graph, cudaGraphNodeTypeGraph, dependencies, data, count);
  node->child = graph.arena.make<ChildData>();
  node->child->graph = inner;
  inner->owner = node;
  inner->moved = move;
  count_special(graph, static_cast<std::ptrdiff_t>(inner->memory_nodes), 0,
                static_cast<std::ptrdiff_t>(inner->updatable_nodes));
  *out = node;
  return cudaSuccess;
}

cudaError_t set_child(GraphNode& node, Graph* child, cudaGraphChildGraphNodeOwnership ownership) {
  if (!valid_graph(child)) return cudaErrorInvalidValue;
  const bool move = ownership == cudaGraphChildGraphOwnershipMove;
  // The graph around it may be copied, but must not become a part of itself.
  for (const Graph* g = node.graph; move; g = g->owner->graph) {
    if (g == child) return cudaErrorInvalidValue;
    if (!g->owner) break;
  }
  // Memory nodes can't be changed later, in whatever way they come into a graph, nor is anything taken from a graph
  // that has some (recorded).
  if (node.graph->memory_nodes_outside_bodies || (child->owner && (move || child->moved || child->body)) ||
      child->memory_nodes || child->conditional_nodes || child->handles_inside || child->capturing)
    return cudaErrorNotSupported;
  if (captured_into(*node.child->graph)) return cudaErrorIllegalState;
  Graph* inner = move ? child : copy_graph(*child);
  if (!inner) return cudaErrorMemoryAllocation;
  child->copied |= !move;
  drop_child(node);
  node.child->graph = inner;
  inner->owner = &node;
  inner->moved = move;
  count_special(*node.graph, 0, 0, static_cast<std::ptrdiff_t>(inner->updatable_nodes));
  return cudaSuccess;
}

// ---- conditional nodes ----

namespace {

// What a handle points to. Type-stable, recycled.
struct HandleSlot {
  std::atomic<engine::GraphImage*> image{nullptr};  // of the newest launch that has the handle
  HandleSlot* next_free = nullptr;
};
// Slots come in chunks, so that any number can be told from a handle.
struct Handles {
  static constexpr std::size_t chunk = 256;
  engine::SpinLock lock;
  HandleSlot* free = nullptr;
  std::vector<HandleSlot*> chunks;

  // `lock` is held.
  HandleSlot* take() {
    if (!free) {
      auto* slots = new HandleSlot[chunk];
      chunks.push_back(slots);
      for (std::size_t i = chunk; i-- > 0;) {
        slots[i].next_free = free;
        free = &slots[i];
      }
    }
    HandleSlot* slot = free;
    free = slot->next_free;
    return slot;
  }
  HandleSlot* find(std::uint64_t handle) const noexcept {
    for (HandleSlot* slots : chunks) {
      const std::uint64_t offset = handle - reinterpret_cast<std::uint64_t>(slots);
      if (offset < chunk * sizeof(HandleSlot) && offset % sizeof(HandleSlot) == 0)
        return slots + offset / sizeof(HandleSlot);
    }
    return nullptr;
  }
};
Handles& handle_table() {
  static Handles* const instance = new Handles;
  return *instance;
}

}  // namespace

cudaError_t create_handle(Graph& graph, unsigned initial, unsigned flags, cudaGraphConditionalHandle* out) {
  if (flags & ~static_cast<unsigned>(cudaGraphCondAssignDefault)) return cudaErrorInvalidValue;
  HandleSlot* slot;
  {
    Handles& table = handle_table();
    std::scoped_lock hold(table.lock);
    slot = table.take();
  }
  slot->image.store(nullptr, std::memory_order_relaxed);
  ConditionalHandle handle;
  handle.value = reinterpret_cast<std::uint64_t>(slot);
  handle.initial = initial;
  handle.assign = flags & cudaGraphCondAssignDefault;
  handle.node = nullptr;
  graph.handles.push_back(handle);
  for (Graph* g = &graph;; g = g->owner->graph) {
    g->handles_inside = true;
    if (!g->owner) break;
  }
  *out = handle.value;
  return cudaSuccess;
}

namespace {
ConditionalHandle* find_inside(Graph& graph, std::uint64_t value) noexcept {
  for (ConditionalHandle& handle : graph.handles)
    if (handle.value == value) return &handle;
  if (!graph.conditional_nodes) return nullptr;
  for (GraphNode* node = graph.first; node; node = node->next) {
    if (node->type == cudaGraphNodeTypeGraph)
      if (auto* found = find_inside(*node->child->graph, value)) return found;
    if (node->type != cudaGraphNodeTypeConditional) continue;
    for (unsigned i = 0; i < node->conditional->size; ++i)
      if (auto* found = find_inside(*reinterpret_cast<Graph*>(node->conditional->bodies[i]), value)) return found;
  }
  return nullptr;
}
}  // namespace

ConditionalHandle* find_handle(Graph& graph, std::uint64_t value) noexcept {
  Graph* root = &graph;
  for (; root->owner; root = root->owner->graph)  // the near ones first
    for (ConditionalHandle& handle : root->handles)
      if (handle.value == value) return &handle;
  return find_inside(*root, value);
}

void forget_handles(Graph& graph) noexcept {
  Handles& table = handle_table();
  std::scoped_lock hold(table.lock);
  for (const ConditionalHandle& handle : graph.handles) {
    auto* slot = reinterpret_cast<HandleSlot*>(handle.value);
    slot->next_free = table.free;
    table.free = slot;
  }
  graph.handles.clear();
}

void announce_image(engine::GraphImage& image) noexcept {
  for (const engine::GraphImage::Handle& handle : image.handles)
    reinterpret_cast<HandleSlot*>(handle.handle)->image.store(&image, std::memory_order_release);
}

bool set_conditional(std::uint64_t handle, std::uint32_t value) noexcept {
  engine::GraphImage* const running = engine::current_image();
  if (running && running->set_value(handle, value)) return true;
  HandleSlot* slot;
  {
    Handles& table = handle_table();
    std::scoped_lock hold(table.lock);
    slot = table.find(handle);
  }
  // Handles of other graphs, and 0, are without effect in a graph that has some.
  if (running) return !running->handles.empty() && (slot || !handle);
  // A kernel that runs on a thread of its own: the newest launch with this handle.
  engine::GraphImage* image = slot ? slot->image.load(std::memory_order_acquire) : nullptr;
  return image && image->set_value(handle, value);
}

cudaError_t add_conditional(Graph& graph, GraphNode** out, GraphNode* const* dependencies,
                            const cudaGraphEdgeData* data, std::size_t count, cudaConditionalNodeParams& params) {
  switch (params.type) {
  case cudaGraphCondTypeIf:
    if (params.size != 1 && params.size != 2) return cudaErrorInvalidValue;
    break;
  case cudaGraphCondTypeWhile:
    if (params.size != 1) return cudaErrorInvalidValue;
    break;
  case cudaGraphCondTypeSwitch:
    if (params.size == 0) return cudaErrorInvalidValue;
    break;
  default: return cudaErrorInvalidValue;
  }
  ConditionalHandle* handle = find_handle(graph, params.handle);
  if (!handle || handle->node) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_dependencies(graph, cudaGraphNodeTypeConditional, dependencies, data, count))
    return error;
  GraphNode* node = add_node(graph, cudaGraphNodeTypeConditional, dependencies, data, count);
  node->conditional = graph.arena.make<ConditionalData>();
  node->conditional->handle = params.handle;
  node->conditional->type = params.type;
  node->conditional->size = params.size;
  node->conditional->bodies = static_cast<cudaGraph_t*>(graph.arena.allocate(params.size * sizeof(cudaGraph_t)));
  for (unsigned i = 0; i < params.size; ++i) {
    Graph* body = create_graph();
    body->context = graph.context;
    body->owner = node;
    body->body = true;
    node->conditional->bodies[i] = reinterpret_cast<cudaGraph_t>(body);
  }
  handle->node = node;
  params.phGraph_out = node->conditional->bodies;
  *out = node;
  return cudaSuccess;
}

}  // namespace mr::model
