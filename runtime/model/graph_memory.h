// Memory of graph allocation nodes (API reference, cudaGraphAddMemAllocNode; programming guide, "Graph Memory Nodes").
//
// An allocation's address is fixed when its node is made and stays until the last graph and executable graph that knows
// of it is gone. What comes and goes is whether it is *live*: launches and frees change that when they are called, in
// the order of the calls, and are refused (cudaErrorInvalidValue) when it doesn't fit. All functions are thread-safe.
#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include <cuda_runtime_api.h>

namespace mr::model {

struct Graph;
struct GraphNode;
struct GraphAllocation;

// Checks what an allocation node's parameters ask for.
cudaError_t check_allocation(const cudaMemAllocNodeParams& params) noexcept;
// Memory of `bytes` on a device for a node of `graph` behind `dependencies`; one reference. Null when there is none.
// What the graph frees ahead of the node is used again where it is large enough.
GraphAllocation* make_allocation(int device, std::size_t bytes, Graph& graph,
                                 const std::vector<GraphNode*>& dependencies) noexcept;
void* address_of(const GraphAllocation& allocation) noexcept;
void retain_allocation(GraphAllocation& allocation) noexcept;
void release_allocation(GraphAllocation& allocation) noexcept;

// A free node for `pointer` is about to be added to `graph`: the allocation (retained), or null where that is refused.
GraphAllocation* add_free(const void* pointer, const Graph& graph) noexcept;
// An executable graph allocates it: no free node for it can be added to its own graph any more.
void leave_to_others(GraphAllocation& allocation) noexcept;
void node_free_removed(GraphAllocation& allocation, const Graph& graph) noexcept;

// What a launch allocates and leaves, and frees though it didn't allocate it. Retained by their owner.
struct MemoryEffects {
  std::vector<GraphAllocation*> allocates;  // without those it frees itself
  std::vector<GraphAllocation*> own;        // allocated and freed in the graph
  std::vector<GraphAllocation*> frees;
  bool any() const noexcept { return !allocates.empty() || !own.empty() || !frees.empty(); }
};
// A launch is called. Checks all, then does all.
cudaError_t launch_memory(const MemoryEffects& effects, bool auto_free) noexcept;

// Whether a block of a device's heap tagged as ordered is memory that a launch has allocated and nobody has freed:
// until then, and from then on, its address is no pointer to anything.
bool graph_memory_live(const void* pointer) noexcept;

// cudaFree and cudaFreeAsync: true when the pointer lies in a graph allocation; result says how it went.
bool free_graph_memory_slowly(const void* pointer, cudaError_t& result) noexcept;
// How many allocations graphs have. Relaxed: who frees one's memory has its address from a call that counted it.
extern std::atomic<std::size_t> graph_allocations;
inline bool free_graph_memory(const void* pointer, cudaError_t& result) noexcept {
  return graph_allocations.load(std::memory_order_relaxed) != 0 && free_graph_memory_slowly(pointer, result);
}

// cudaDeviceGetGraphMemAttribute and kin, for a valid device.
cudaError_t graph_memory_attribute(int device, cudaGraphMemAttributeType attribute, unsigned long long* out) noexcept;
cudaError_t reset_graph_memory_attribute(int device, cudaGraphMemAttributeType attribute,
                                         unsigned long long value) noexcept;
void trim_graph_memory(int device) noexcept;

}  // namespace mr::model
