// Executable graphs (API reference, "Graph Management"): instantiation, launch, and changes to what was instantiated.
//
// A graph's nodes become steps of an engine::GraphImage. The executable graph keeps, besides, which step stands for
// which node of the graph that it was made from, and what an update has to compare. Launches keep the image that they
// were called with: a change made while launches are pending goes to a copy of it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <cuda_runtime_api.h>
#include <engine/graph_run.h>
#include <engine/spinlock.h>
#include <model/graph.h>
#include <model/graph_memory.h>
#include <model/object_pool.h>

namespace mr::model {

struct Stream;

// One graph inside an executable graph: the one it was made from, a child's, or a conditional body.
struct GraphLevel {
  std::uint64_t graph = 0;  // uid
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> step_of_id;  // none for ids without a node
  std::vector<std::uint32_t> sinks;       // steps without dependents, in the order of sinks_of
};

// What launches need until they have completed; shared by an executable graph and its images.
struct GraphResources {
  MemoryEffects memory;
  std::vector<DeviceNode*> device_nodes;
  ~GraphResources();
};

// References to the user objects of the graph that an image shows: an update gives the executable graph new ones, and
// launches that are pending keep what they began with.
struct GraphUsers {
  explicit GraphUsers(const Graph& graph);
  GraphUsers(const GraphUsers&) = delete;
  GraphUsers& operator=(const GraphUsers&) = delete;
  ~GraphUsers();
  std::vector<UserReference> references;
};

// cudaGraphExec_t points to one. Type-stable (ObjectPool). Calls on one must not overlap (the API's rule), but for
// launches. What these look at is one line, the first.
struct alignas(64) GraphExec {
  std::atomic<bool> live{false};
  bool special = false;   // launches have more to do than to append an operation
  bool launched = false;  // `image` has been, by the host: the newest launch is one of it
  bool uploaded = false;  // `device_image` is as `image` is now
  // Serialises launches and changes: the holder of this lock may do both once he has called leave_home(). A launch into
  // the stream that the last ones went to needs the append lock of that stream's queue alone. Written under both.
  engine::SpinLock lock;
  std::atomic<engine::Queue*> home{nullptr};
  engine::GraphImage* image = nullptr;
  // The newest launch: the next one waits for it.
  engine::Queue* last_queue = nullptr;
  std::uint64_t last_sequence = 0;
  Context* context = nullptr;
  unsigned long long flags = 0;
  GraphExec* next_free = nullptr;

  // What device code launches: `image` as it was when the graph was uploaded last. Changed under the lock.
  engine::GraphImage* device_image = nullptr;
  std::vector<GraphLevel> levels;                                  // 0 is the graph itself
  std::unordered_map<std::uint32_t, std::uint32_t> level_of_step;  // of child and (first body of) conditional steps
  // By step: what kind of node it was, and the steps that it depended on, in the order of its edges.
  std::vector<std::uint8_t> types;
  std::vector<std::uint32_t> first_dependency;
  std::vector<std::uint32_t> dependencies;
  std::vector<cudaGraphEdgeData> edge_data;  // of `dependencies`; empty when all edges are ordinary ones
  // Event nodes, in the order of their slots.
  struct Slot {
    Event* event;
    bool record;
  };
  std::vector<Slot> slots;
  std::shared_ptr<GraphResources> resources;
  // The graph that it was made of (it may be gone), and its uid; whether that had memory or conditional nodes, or nodes
  // that device code may change, and so has no other executable form.
  Graph* original = nullptr;
  std::uint64_t original_uid = 0;
  bool only_one = false;
  unsigned blocking_copies = 0;  // copies into pageable host memory: launches wait for the stream before
};

inline constexpr std::uint32_t no_step = ~std::uint32_t{0};

inline bool valid_exec(const GraphExec* exec) noexcept { return ObjectPool<GraphExec>::valid(exec); }
struct InstantiateOutcome {
  cudaGraphInstantiateResult result = cudaGraphInstantiateError;
  GraphNode* node = nullptr;
};
cudaError_t instantiate(GraphExec** out, Graph& graph, unsigned long long flags, InstantiateOutcome& outcome);
void destroy_exec(GraphExec& exec) noexcept;
cudaError_t launch_graph(GraphExec& exec, Stream& stream) noexcept;
// Makes a graph for device launches ready for them, as it is now. Nothing to do for others. exec.lock is not held.
void upload_exec(GraphExec& exec);

// The step of a node of the graph (or of its child graphs) that the executable graph was made from.
std::uint32_t step_of(const GraphExec& exec, const GraphNode& node) noexcept;

struct UpdateOutcome {
  cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
  GraphNode* node = nullptr;
  GraphNode* from = nullptr;  // where an edge of `node` is what differs, the edge's other end
};
cudaError_t update_exec(GraphExec& exec, Graph& graph, UpdateOutcome& outcome);
cudaError_t exec_set_child(GraphExec& exec, const GraphNode& node, Graph& child);
cudaError_t exec_set_kernel(GraphExec& exec, const GraphNode& node, const cudaKernelNodeParams& params);
cudaError_t exec_set_copy(GraphExec& exec, const GraphNode& node, const CopyData& data);
cudaError_t exec_set_fill(GraphExec& exec, const GraphNode& node, const FillData& data);
cudaError_t exec_set_host(GraphExec& exec, const GraphNode& node, const cudaHostNodeParams& params);
// The node's own parameters are not what is set: `data` is, which has as many semaphores.
cudaError_t exec_set_external(GraphExec& exec, const GraphNode& node, cudaGraphNodeType type, const ExternalData& data);
cudaError_t exec_set_event(GraphExec& exec, const GraphNode& node, cudaGraphNodeType type, Event& event);
cudaError_t exec_set_enabled(GraphExec& exec, const GraphNode& node, bool enabled);
cudaError_t exec_get_enabled(const GraphExec& exec, const GraphNode& node, unsigned& enabled) noexcept;

// ---- between graph_exec.cpp, graph_flatten.cpp, graph_image.cpp and graph_update.cpp ----

// An empty image; it keeps `resources` for as long as it lives.
engine::GraphImage* make_image(engine::Domain& domain, const std::shared_ptr<GraphResources>& resources);
// Fills exec.image, and what exec knows about its steps, from a graph. Uses the nodes' scratch fields.
cudaError_t flatten(GraphExec& exec, Graph& graph, InstantiateOutcome& outcome);

struct GraphPayload {
  GraphArena arena;
  std::shared_ptr<GraphResources> resources;
  std::shared_ptr<const GraphUsers> users;
};
inline GraphPayload& payload_of(engine::GraphImage& image) noexcept {
  return *static_cast<GraphPayload*>(image.payload_owner);
}
inline GraphArena& payload_arena(engine::GraphImage& image) noexcept { return payload_of(image).arena; }
// Stores a node's parameters in its step. The image is the caller's alone.
void store_step(engine::GraphImage& image, std::uint32_t step, const GraphNode& node);
void store_kernel(engine::GraphImage& image, std::uint32_t step, const KernelData& kernel);
void store_copy(engine::GraphImage& image, std::uint32_t step, const CopyData& data);
void store_fill(engine::GraphImage& image, std::uint32_t step, const FillData& data);
void store_host(engine::GraphImage& image, std::uint32_t step, const cudaHostNodeParams& params);
void set_kernel_flags(engine::Step& step, const simt::Grid& grid) noexcept;
// What the kernel may do that a step keeps of the first one it had (engine::step_abilities).
inline std::uint8_t abilities_of(const MrKernel& kernel) noexcept {
  return static_cast<std::uint8_t>((kernel.flags & MR_KERNEL_PARENT ? engine::step_parent : 0) |
                                   (kernel.flags & MR_KERNEL_GRAPHS ? engine::step_graphs : 0) |
                                   (kernel.flags & MR_KERNEL_UPDATES ? engine::step_updates : 0));
}
// Launches that hold exec.home's append lock alone are over and don't begin. exec.lock is held.
void leave_home(GraphExec& exec) noexcept;
class ExecHold {
 public:
  explicit ExecHold(GraphExec& exec) noexcept : hold_(exec.lock) { leave_home(exec); }

 private:
  std::scoped_lock<engine::SpinLock> hold_;
};
// Makes sure that exec.image is not used by pending launches, by a copy if need be. exec is held (ExecHold).
void own_image(GraphExec& exec);
// Gives up the reference to an image that is, or was until now, exec's. exec is held.
void give_up_image(GraphExec& exec, engine::GraphImage& image) noexcept;
// For launches of the same executable graph that may run at the same time as the original's.
engine::GraphImage* copy_image(const GraphExec& exec, engine::GraphImage& original);
// Keeps a step's work as the host has it.
void keep_for_host(engine::GraphImage& image, engine::GraphImage::Updatable& entry);
// The host has changed a step that device code may change: it is what the host has made of it again.
void follow_host(engine::GraphImage& image, engine::GraphImage::Updatable& entry) noexcept;
engine::GraphImage::Updatable* updatable_at(engine::GraphImage& image, std::uint32_t step) noexcept;
bool blocks_launch(const CopyData& copy) noexcept;

}  // namespace mr::model
