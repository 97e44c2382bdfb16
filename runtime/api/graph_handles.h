// Handles of graphs, as the graph files of this room take and give them.
#pragma once
#include <api/export.h>
#include <model/capture.h>
#include <model/event.h>
#include <model/graph.h>
#include <model/graph_exec.h>
#include <model/stream.h>

namespace mr::api {

// refused() for calls that only touch what the host keeps of a graph: they work after the context has died, too, so
// that programs can clean up.
inline cudaError_t refused_on_host() noexcept {
  if (model::in_host_function()) [[unlikely]]
    return cudaErrorNotPermitted;
  if (!model::slow()) [[likely]]
    return cudaSuccess;
  const std::uint32_t word = model::slow_word.load(std::memory_order_acquire);
  const cudaError_t error = broken();
  // A device that was reset after its context had died is gone for these calls too (recorded).
  const bool died = word & model::slow_sticky && !(word & (model::slow_forked | model::slow_no_device));
  return died && error != cudaErrorDevicesUnavailable ? cudaSuccess : error;
}
// For what is done with nodes of one kind: kernels, copies and sets name things in the context.
inline cudaError_t refused_for(cudaGraphNodeType type) noexcept {
  const bool context = type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
                       type == cudaGraphNodeTypeMemset;
  return context ? refused() : refused_on_host();
}

inline model::Graph* graph_of(cudaGraph_t handle) noexcept {
  auto* graph = reinterpret_cast<model::Graph*>(handle);
  return model::valid_graph(graph) ? graph : nullptr;
}
inline model::GraphNode* node_of(cudaGraphNode_t handle) noexcept {
  auto* node = reinterpret_cast<model::GraphNode*>(handle);
  return model::valid_node(node) ? node : nullptr;
}
// A node of one type, or null.
inline model::GraphNode* node_of(cudaGraphNode_t handle, cudaGraphNodeType type) noexcept {
  model::GraphNode* node = node_of(handle);
  return node && node->type == type ? node : nullptr;
}
inline model::GraphExec* exec_of(cudaGraphExec_t handle) noexcept {
  auto* exec = reinterpret_cast<model::GraphExec*>(handle);
  return model::valid_exec(exec) ? exec : nullptr;
}
inline model::GraphNode* const* nodes_of(const cudaGraphNode_t* handles) noexcept {
  return reinterpret_cast<model::GraphNode* const*>(handles);
}
inline cudaGraph_t handle_of(model::Graph* graph) noexcept { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(model::GraphNode* node) noexcept { return reinterpret_cast<cudaGraphNode_t>(node); }
inline cudaGraphExec_t handle_of(model::GraphExec* exec) noexcept { return reinterpret_cast<cudaGraphExec_t>(exec); }

// What a call that adds a node is given besides the node's parameters.
struct NewNode {
  cudaGraphNode_t* out;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  const cudaGraphEdgeData* data;
  std::size_t count;
};

// Adds a node whose data `make(graph, data)` builds in a fresh Data, which it may refuse. Nothing changes unless all is
// well.
template <class Data, class Make>
cudaError_t add(const NewNode& where, cudaGraphNodeType type, Data* model::GraphNode::* member, Make&& make) {
  if (const cudaError_t error = refused_for(type)) return error;
  model::Graph* graph = graph_of(where.graph);
  if (!where.out || !graph) return cudaErrorInvalidValue;
  if (const cudaError_t error = model::check_dependencies(*graph, type, nodes_of(where.dependencies), where.data,
                                                          where.count))
    return error;
  Data data{};
  if (const cudaError_t error = make(*graph, data)) {
    const bool by_driver = error != cudaErrorInvalidDeviceFunction && error != cudaErrorInvalidResourceHandle;
    if (by_driver) model::refused_behind(nodes_of(where.dependencies), where.count);
    return error;
  }
  model::GraphNode* node = model::add_node(*graph, type, nodes_of(where.dependencies), where.data, where.count);
  *(node->*member = graph->arena.make<Data>()) = data;
  *where.out = handle_of(node);
  return cudaSuccess;
}

// What the structures for nodes with external semaphores say, each with one of the two lists.
struct External {
  const cudaExternalSemaphore_t* semaphores;
  const cudaExternalSemaphoreSignalParams* signals;
  const cudaExternalSemaphoreWaitParams* waits;
  unsigned count;
};
inline External external_of(const cudaExternalSemaphoreSignalNodeParams& p) noexcept {
  return {p.extSemArray, p.paramsArray, nullptr, p.numExtSems};
}
inline External external_of(const cudaExternalSemaphoreSignalNodeParamsV2& p) noexcept {
  return {p.extSemArray, p.paramsArray, nullptr, p.numExtSems};
}
inline External external_of(const cudaExternalSemaphoreWaitNodeParams& p) noexcept {
  return {p.extSemArray, nullptr, p.paramsArray, p.numExtSems};
}
inline External external_of(const cudaExternalSemaphoreWaitNodeParamsV2& p) noexcept {
  return {p.extSemArray, nullptr, p.paramsArray, p.numExtSems};
}

// The error of a call for a kernel node: a function that is none is told ahead of all else that is wrong with it.
cudaError_t with_function(cudaError_t error, const void* function) noexcept;
// cudaErrorInvalidValue, or what is wrong with a kernel's function.
cudaError_t invalid(const cudaGraphNodeParams* params) noexcept;
// Bytes of the generic structure that its type of node doesn't use must be 0.
bool clean(const cudaGraphNodeParams& params) noexcept;

cudaError_t add_kernel(const NewNode& where, const cudaKernelNodeParams* params);
cudaError_t add_copy(const NewNode& where, const cudaMemcpy3DParms* params);
cudaError_t add_fill(const NewNode& where, const cudaMemsetParams* params);
cudaError_t add_host(const NewNode& where, const cudaHostNodeParams* params);
cudaError_t add_empty(const NewNode& where);
cudaError_t add_event(const NewNode& where, cudaGraphNodeType type, cudaEvent_t event);
cudaError_t add_alloc(const NewNode& where, cudaMemAllocNodeParams* params);
cudaError_t add_free(const NewNode& where, void* pointer);

cudaError_t set_kernel(cudaGraphNode_t node, const cudaKernelNodeParams* params);
cudaError_t set_copy(cudaGraphNode_t node, const cudaMemcpy3DParms* params);
cudaError_t set_fill(cudaGraphNode_t node, const cudaMemsetParams* params);
cudaError_t set_host(cudaGraphNode_t node, const cudaHostNodeParams* params);
cudaError_t set_event(cudaGraphNode_t node, cudaGraphNodeType type, cudaEvent_t event);

// cudaKernelNodeParams and kin have twins for the generic calls; the fields are the same.
inline cudaKernelNodeParams plain(const cudaKernelNodeParamsV2& p) noexcept {
  return {p.func,
          {p.gridDim.x, p.gridDim.y, p.gridDim.z},
          {p.blockDim.x, p.blockDim.y, p.blockDim.z},
          p.sharedMemBytes,
          p.kernelParams,
          p.extra};
}
inline cudaMemsetParams plain(const cudaMemsetParamsV2& p) noexcept {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}
inline cudaHostNodeParams plain(const cudaHostNodeParamsV2& p) noexcept { return {p.fn, p.userData}; }

}  // namespace mr::api
