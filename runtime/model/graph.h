// Graphs as they are built (API reference, "Graph Management"; programming guide, "CUDA Graphs"): nodes, edges,
// parameters.
//
// Not thread-safe: calls on one graph, or on its nodes, must not overlap (the API's own rule).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>
#include <engine/graph_run.h>
#include <memory/copy.h>
#include <memory/space.h>
#include <model/context.h>
#include <model/external.h>
#include <model/function.h>
#include <model/graph_arena.h>
#include <model/launch.h>
#include <model/object_pool.h>

namespace mr::model {

struct Graph;
struct GraphNode;
struct StreamHints;  // stream.h
struct Event;
struct GraphAllocation;  // graph_memory.h
struct UserObject;       // user_object.h
struct DeviceNode;       // device_graph.h

// ---- storage ----

struct EdgeRef {
  GraphNode* node;
  cudaGraphEdgeData data;
};

// The edges on one side of a node, in the order in which they were added. One fits inside.
class EdgeList {
 public:
  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  EdgeRef* begin() noexcept { return capacity_ == 1 ? &one_ : many_; }
  EdgeRef* end() noexcept { return begin() + size_; }
  const EdgeRef* begin() const noexcept { return capacity_ == 1 ? &one_ : many_; }
  const EdgeRef* end() const noexcept { return begin() + size_; }
  EdgeRef& operator[](std::size_t i) noexcept { return begin()[i]; }
  void add(GraphArena& arena, const EdgeRef& edge);
  EdgeRef* find(const GraphNode* node) noexcept;
  void erase(EdgeRef* edge) noexcept;
  // The last edge takes its place.
  void erase_for_last(EdgeRef* edge) noexcept;
  void clear() noexcept { size_ = 0; }

 private:
  std::uint32_t size_ = 0, capacity_ = 1;
  union {
    EdgeRef one_;
    EdgeRef* many_;
  };
};

// ---- what nodes hold ----

// Attributes of a kernel node besides what its launch says.
struct KernelAttributes {
  cudaAccessPolicyWindow window{};
  int cooperative = 0;
  int priority = 0;        // within the device's range
  int asked_priority = 0;  // as it was given: what updates compare
  dim3 cluster{0, 0, 0};
  cudaClusterSchedulingPolicy cluster_policy = cudaClusterSchedulingPolicyDefault;
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
  cudaLaunchMemSyncDomainMap domain_map{0, 1};
  unsigned carveout = 0;
  unsigned nvlink = 0;
  DeviceNode* device_node = nullptr;  // set: device code may change the node
  bool of_original = false;           // the handle is that of the node that this one was copied from
};

struct KernelData {
  Function* function;
  KernelAttributes* attributes;  // null: all at their defaults but those below
  void** pointers;               // for cudaGraphKernelNodeGetParams, made when first asked for
  bool packed;                   // the arguments were given packed: "extra", and are shown so
  bool captured;                 // from a launch
  std::int8_t priority;
  bool cooperative;
  std::int8_t asked_priority;  // as it was given, as far as it fits; updates compare it
  // Grid, packed arguments, cluster extents, as they run (one block of work->bytes).
  engine::KernelWork* work;
};

// What sort of memory one side of a copy is: updates of executable graphs may not change it.
struct CopyData {
  cudaMemcpy3DParms params;
  memory::Copy copy;
  memory::Kind source, target;
  bool one_dimensional;
  bool symbol;
};

struct FillData {
  cudaMemsetParams params;
  memory::Fill fill;
  engine::PatternFill pattern;
  bool patterned;  // the value has bits outside of its element (see make_fill)
};

struct HostData {
  cudaHostNodeParams params;
};
struct ChildData {
  Graph* graph;
};
struct EventData {
  Event* event;
};
struct AllocData {
  cudaMemAllocNodeParams params;
  GraphAllocation* allocation;
};
struct FreeData {
  void* pointer;
  GraphAllocation* allocation;
  bool taken = false;  // a later allocation node of the graph has this node's memory
};
struct ConditionalData {
  cudaGraphConditionalHandle handle;
  cudaGraphConditionalNodeType type;
  unsigned size;
  cudaGraph_t* bodies;
};

struct GraphNode {
  Graph* graph = nullptr;
  GraphNode *previous = nullptr, *next = nullptr;  // in the graph, in order of creation
  std::uint32_t id = 0;                            // unique in the graph, kept by clones; increasing
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::uint32_t mark = 0;    // scratch of algorithms over the graph
  std::uint32_t number = 0;  // likewise: first and last step in an executable graph
  std::uint32_t finish = 0;
  std::uint32_t root_since = 0;  // Graph::next_root when it last became a root
  std::uint32_t sink_since = 0;  // Graph::next_sink when it last became one without dependents
  // The graph's uid, mixed with the node's own address (seal_of): tells nodes from all else that their memory holds, or
  // held. 0 once the node was destroyed.
  std::uint64_t seal = 0;
  EdgeList dependencies, dependents;
  union {
    void* data = nullptr;
    KernelData* kernel;
    CopyData* copy;
    FillData* fill;
    HostData* host;
    ChildData* child;
    EventData* event;
    AllocData* alloc;
    FreeData* free;
    ConditionalData* conditional;
    ExternalData* external;
  };
};

struct ConditionalHandle {
  std::uint64_t value;  // the handle
  unsigned initial;
  bool assign;
  GraphNode* node;  // that uses it, or null
};

struct UserReference {
  UserObject* object;
  unsigned count;
};

// cudaGraph_t points to one. Type-stable (ObjectPool).
struct Graph {
  std::atomic<bool> live{false};
  Graph* next_free = nullptr;
  std::uint64_t uid = 0;  // never reused
  Context* context = nullptr;
  GraphArena arena;
  GraphNode *first = nullptr, *last = nullptr;
  std::size_t node_count = 0, edge_count = 0;
  std::uint32_t next_id = 0;
  std::uint32_t next_mark = 0;
  std::uint32_t next_root = 0;
  std::uint32_t next_sink = 0;
  bool sinks_moved = false;  // some node became a sink after it was made: they are no longer in order of creation
  // Number of edges with data of their own (programmatic).
  std::size_t special_edges = 0;
  std::uint64_t clone_of = 0;
  std::vector<GraphNode*> by_id;  // of a clone: by the original's ids
  GraphNode* owner = nullptr;     // the child or conditional node whose graph this is
  bool body = false;              // of a conditional node
  bool moved = false;             // into its owner, by the user
  bool capturing = false;         // a stream is being captured into it
  // Allocation and free nodes, conditional nodes (forbid cloning and more); child graphs included.
  std::size_t memory_nodes = 0, conditional_nodes = 0;
  std::size_t memory_nodes_outside_bodies = 0;  // of the graph and its child graphs: these forbid to take anything away
  std::size_t updatable_nodes = 0;              // kernels that device code may change; likewise
  GraphNode* memory_user = nullptr;
  // An executable graph with its memory or conditional nodes, or kernels that device code may change, exists.
  std::atomic<bool> instantiated_once{false};
  std::atomic<std::uint32_t> executables{0};  // all that are alive: none may be beside one with conditional nodes
  // The graph was copied into another, as a child graph; and got its first conditional node after that, which keeps it
  // from being instantiated ever after (recorded).
  bool copied = false, conditional_behind_copy = false;
  std::vector<ConditionalHandle> handles;
  bool handles_inside = false;  // of it, or of a graph in there
  std::vector<UserReference> users;
};

inline bool has_edge_data(const cudaGraphEdgeData& data) noexcept {
  return data.from_port || data.to_port || data.type;
}

// ---- graphs and edges (graph.cpp) ----

inline bool valid_graph(const Graph* graph) noexcept { return ObjectPool<Graph>::valid(graph); }
// A node that was not destroyed, of a graph that was not destroyed: any other pointer is told apart, unless its memory
// has become another node since.
bool valid_node(const GraphNode* node) noexcept;
Graph* create_graph();
// A stream is being captured into the graph, or into a child graph or a body inside of it.
bool captured_into(const Graph& graph) noexcept;
// cudaErrorInvalidValue for a graph that belongs to a node, cudaErrorIllegalState while it is captured into.
cudaError_t destroy_graph(Graph& graph) noexcept;
// The graph is a conditional node's body, or a child graph somewhere in one.
bool in_body(const Graph& graph) noexcept;
// A child graph that is replaced: what it counts for the graphs around it goes with it.
void drop_child(GraphNode& node) noexcept;
cudaError_t clone_graph(Graph** out, Graph& original);
// Deep copy with memory and conditional nodes refused by the caller.
Graph* copy_graph(Graph& original);
// Memory, conditional and updatable nodes count for all graphs around.
void count_special(Graph& graph, std::ptrdiff_t memory, std::ptrdiff_t conditional, std::ptrdiff_t updatable) noexcept;
cudaError_t find_in_clone(GraphNode** out, GraphNode& node, Graph& clone) noexcept;

// Checks dependencies given to a new node of `type`: of this graph, no duplicates, legal edge data.
cudaError_t check_dependencies(Graph& graph, cudaGraphNodeType type, GraphNode* const* dependencies,
                               const cudaGraphEdgeData* data, std::size_t count) noexcept;
// A new node behind checked dependencies. `data` is set by the caller.
GraphNode* add_node(Graph& graph, cudaGraphNodeType type, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                    std::size_t count);
// A node behind these was given edges, and then refused and taken away: those without others are new as sinks.
void refused_behind(GraphNode* const* dependencies, std::size_t count) noexcept;
// Nodes without dependents, by when they became that: the order in which updates pair them.
std::vector<GraphNode*> sinks_of(const Graph& graph);
cudaError_t destroy_node(GraphNode& node) noexcept;
// Programmatic edges run between kernel nodes, from one of two ports; ordinary ones may begin at a kernel's launch
// completion; all others have no data.
bool legal_edge(const cudaGraphEdgeData& data, cudaGraphNodeType from, cudaGraphNodeType to) noexcept;
void connect(GraphNode& from, GraphNode& to, const cudaGraphEdgeData& data);
cudaError_t add_dependencies(Graph& graph, GraphNode* const* from, GraphNode* const* to, const cudaGraphEdgeData* data,
                             std::size_t count);
cudaError_t remove_dependencies(Graph& graph, GraphNode* const* from, GraphNode* const* to, std::size_t count) noexcept;

// KernelData::asked_priority of a priority.
inline std::int8_t as_asked(int priority) noexcept {
  return static_cast<std::int8_t>(priority < -128 ? -128 : priority > 127 ? 127 : priority);
}
// A copy of a kernel's work in `block` (work.bytes long), its inner pointers made right.
engine::KernelWork* copy_work(const engine::KernelWork& work, void* block) noexcept;

// ---- parameters (graph_params.cpp): each checks, then stores; on failure nothing has changed ----

// The error of a call for a kernel node: a function that is none is told ahead of all else that is wrong.
cudaError_t error_with_function(cudaError_t error, const void* function) noexcept;
// Memory for nodes comes from `arena`.
cudaError_t make_kernel(KernelData& out, Context& context, GraphArena& arena, const cudaKernelNodeParams& params);
// From a launch (captures): the request's attributes become the node's.
cudaError_t make_kernel(KernelData& out, Context& context, GraphArena& arena, const LaunchRequest& request);
// Attributes of `from` go to `to`, whose work block is made anew where they show in it.
void apply_attributes(KernelData& kernel, GraphArena& arena);
KernelAttributes attributes_of(const KernelData& kernel) noexcept;
// Device code may change the node.
inline bool is_updatable(const KernelData& kernel) noexcept {
  return kernel.attributes && kernel.attributes->device_node && !kernel.attributes->of_original;
}
void get_kernel_params(KernelData& kernel, GraphArena& arena, cudaKernelNodeParams& out);
cudaError_t get_kernel_attribute(const KernelData& kernel, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue* out) noexcept;
// A captured launch's attributes become the node's; what it doesn't say is taken from the stream.
void keep_launch_attributes(GraphNode& node, const LaunchRequest& request, const StreamHints& hints);
// A node that becomes updatable by device code gets its handle stored in `value`.
cudaError_t set_kernel_attribute(GraphNode& node, cudaLaunchAttributeID id, cudaLaunchAttributeValue& value);
cudaError_t copy_kernel_attributes(GraphNode& to, const GraphNode& from);

cudaError_t make_copy(CopyData& out, const cudaMemcpy3DParms& params) noexcept;
// The same for copies from or to CUDA arrays.
cudaError_t make_array_copy(CopyData& out, const cudaMemcpy3DParms& params) noexcept;
// Finds out what memory the sides of data.copy are, and refuses what doesn't fit data.params.kind or leaves its block.
// Joins rows.
cudaError_t check_sides(CopyData& data) noexcept;
cudaError_t make_copy_1d(CopyData& out, void* to, const void* from, std::size_t count, cudaMemcpyKind kind) noexcept;
// What is wrong with a copy from or to a variable, whatever node it is for: told ahead of what is wrong with that.
cudaError_t check_symbol(bool to_symbol, const void* symbol, std::size_t count, std::size_t offset,
                         cudaMemcpyKind kind) noexcept;
cudaError_t make_copy_symbol(CopyData& out, bool to_symbol, const void* symbol, void* other, std::size_t count,
                             std::size_t offset, cudaMemcpyKind kind, int device) noexcept;
cudaError_t make_fill(FillData& out, const cudaMemsetParams& params, bool checked) noexcept;

cudaError_t add_child(Graph& graph, GraphNode** out, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                      std::size_t count, Graph* child, cudaGraphChildGraphNodeOwnership ownership);
// The child graph becomes a copy of `child`.
cudaError_t set_child(GraphNode& node, Graph* child, cudaGraphChildGraphNodeOwnership ownership);
cudaError_t create_handle(Graph& graph, unsigned initial, unsigned flags, cudaGraphConditionalHandle* out);
cudaError_t add_conditional(Graph& graph, GraphNode** out, GraphNode* const* dependencies,
                            const cudaGraphEdgeData* data, std::size_t count, cudaConditionalNodeParams& params);

// A handle of the graph, of one around it, or of any body in there; null: none of theirs.
ConditionalHandle* find_handle(Graph& graph, std::uint64_t value) noexcept;
// Handles of a graph that is destroyed.
void forget_handles(Graph& graph) noexcept;
// A launch of `image` is about to be enqueued: kernels that set its handles find it.
void announce_image(engine::GraphImage& image) noexcept;
// cudaGraphSetConditional in device code. False: an illegal address - no handle, or the kernel's graph has none.
bool set_conditional(std::uint64_t handle, std::uint32_t value) noexcept;

// ---- pictures (graph_dot.cpp) ----
cudaError_t print_dot(Graph& graph, const char* path, unsigned flags);

}  // namespace mr::model
