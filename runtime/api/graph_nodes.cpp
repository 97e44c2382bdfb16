// Nodes of graphs (CUDA Runtime API, "Graph Management"): adding each kind, and getting and setting its parameters.
#include <api/graph_handles.h>
#include <model/graph_memory.h>

using namespace mr;
using namespace mr::api;

namespace mr::api {

cudaError_t with_function(cudaError_t error, const void* function) noexcept {
  // What refuses all calls comes first.
  return error != cudaSuccess && refused() == cudaSuccess ? model::error_with_function(error, function) : error;
}

cudaError_t invalid(const cudaGraphNodeParams* params) noexcept {
  const bool kernel = params && params->type == cudaGraphNodeTypeKernel;
  return kernel ? with_function(cudaErrorInvalidValue, params->kernel.func) : cudaErrorInvalidValue;
}

cudaError_t add_kernel(const NewNode& where, const cudaKernelNodeParams* params) {
  const cudaError_t error = add(where, cudaGraphNodeTypeKernel, &model::GraphNode::kernel,
                                [&](model::Graph& graph, model::KernelData& data) {
                                  if (!params) return cudaErrorInvalidValue;
                                  return model::make_kernel(data, *graph.context, graph.arena, *params);
                                });
  return params ? with_function(error, params->func) : error;
}
cudaError_t add_copy(const NewNode& where, const cudaMemcpy3DParms* params) {
  return add(where, cudaGraphNodeTypeMemcpy, &model::GraphNode::copy, [&](model::Graph&, model::CopyData& data) {
    if (!params) return cudaErrorInvalidValue;
    return model::make_copy(data, *params);
  });
}
cudaError_t add_fill(const NewNode& where, const cudaMemsetParams* params) {
  return add(where, cudaGraphNodeTypeMemset, &model::GraphNode::fill, [&](model::Graph&, model::FillData& data) {
    if (!params) return cudaErrorInvalidValue;
    return model::make_fill(data, *params, true);
  });
}
cudaError_t add_host(const NewNode& where, const cudaHostNodeParams* params) {
  return add(where, cudaGraphNodeTypeHost, &model::GraphNode::host, [&](model::Graph&, model::HostData& data) {
    if (!params || !params->fn) return cudaErrorInvalidValue;
    data.params = *params;
    return cudaSuccess;
  });
}
cudaError_t add_empty(const NewNode& where) {
  struct Nothing {};
  if (const cudaError_t error = refused_on_host()) return error;
  model::Graph* graph = graph_of(where.graph);
  if (!where.out || !graph) return cudaErrorInvalidValue;
  const auto type = cudaGraphNodeTypeEmpty;
  if (const cudaError_t error = model::check_dependencies(*graph, type, nodes_of(where.dependencies), where.data,
                                                          where.count))
    return error;
  *where.out = handle_of(model::add_node(*graph, type, nodes_of(where.dependencies), where.data, where.count));
  return cudaSuccess;
}
cudaError_t add_event(const NewNode& where, cudaGraphNodeType type, cudaEvent_t event) {
  return add(where, type, &model::GraphNode::event, [&](model::Graph&, model::EventData& data) {
    data.event = reinterpret_cast<model::Event*>(event);
    return model::valid_event(data.event) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t add_alloc(const NewNode& where, cudaMemAllocNodeParams* params) {
  return add(where, cudaGraphNodeTypeMemAlloc, &model::GraphNode::alloc,
             [&](model::Graph& graph, model::AllocData& data) {
               if (!params) return cudaErrorInvalidValue;
               if (const cudaError_t error = model::check_allocation(*params)) return error;
               if (graph.moved) return cudaErrorNotSupported;
               const auto* first = nodes_of(where.dependencies);
               data.allocation = model::make_allocation(params->poolProps.location.id, params->bytesize, graph,
                                                        {first, first + where.count});
               if (!data.allocation) return cudaErrorMemoryAllocation;
               params->dptr = model::address_of(*data.allocation);
               data.params = *params;
               data.params.accessDescs = nullptr;
               if (params->accessDescCount) {
                 auto* kept = static_cast<cudaMemAccessDesc*>(
                     graph.arena.allocate(params->accessDescCount * sizeof(cudaMemAccessDesc)));
                 for (std::size_t i = 0; i < params->accessDescCount; ++i) kept[i] = params->accessDescs[i];
                 data.params.accessDescs = kept;
               }
               return cudaSuccess;
             });
}
cudaError_t add_free(const NewNode& where, void* pointer) {
  return add(where, cudaGraphNodeTypeMemFree, &model::GraphNode::free, [&](model::Graph& graph, model::FreeData& data) {
    if (graph.moved) return cudaErrorNotSupported;
    data.pointer = pointer;
    data.allocation = model::add_free(pointer, graph);
    if (data.allocation) return cudaSuccess;
    model::count_special(graph, 1, 0, 0);  // that it was tried counts like the node (recorded)
    return cudaErrorInvalidValue;
  });
}

cudaError_t add_external(const NewNode& where, cudaGraphNodeType type, const External* given) {
  return add(where, type, &model::GraphNode::external, [&](model::Graph& graph, model::ExternalData& data) {
    if (!given) return cudaErrorInvalidValue;
    return model::make_external(data, graph.arena, given->semaphores, given->signals, given->waits, given->count);
  });
}
cudaError_t set_external(cudaGraphNode_t handle, cudaGraphNodeType type, const External* given) {
  if (const cudaError_t error = refused_on_host()) return error;
  model::GraphNode* node = node_of(handle, type);
  if (!node || !given) return cudaErrorInvalidValue;
  return model::make_external(*node->external, node->graph->arena, given->semaphores, given->signals, given->waits,
                              given->count);
}

cudaError_t set_kernel(cudaGraphNode_t handle, const cudaKernelNodeParams* params) {
  if (const cudaError_t error = refused()) return error;
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeKernel);
  if (!params) return cudaErrorInvalidValue;
  if (!node) return with_function(cudaErrorInvalidValue, params->func);
  return model::make_kernel(*node->kernel, *node->graph->context, node->graph->arena, *params);
}
cudaError_t set_copy(cudaGraphNode_t handle, const cudaMemcpy3DParms* params) {
  if (const cudaError_t error = refused()) return error;
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemcpy);
  if (!node || !params) return cudaErrorInvalidValue;
  return model::make_copy(*node->copy, *params);
}
cudaError_t set_fill(cudaGraphNode_t handle, const cudaMemsetParams* params) {
  if (const cudaError_t error = refused()) return error;
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemset);
  if (!node || !params) return cudaErrorInvalidValue;
  return model::make_fill(*node->fill, *params, true);
}
cudaError_t set_host(cudaGraphNode_t handle, const cudaHostNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return error;
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeHost);
  if (!node || !params || !params->fn) return cudaErrorInvalidValue;
  node->host->params = *params;
  return cudaSuccess;
}
cudaError_t set_event(cudaGraphNode_t handle, cudaGraphNodeType type, cudaEvent_t event) {
  if (const cudaError_t error = refused_on_host()) return error;
  model::GraphNode* node = node_of(handle, type);
  auto* e = reinterpret_cast<model::Event*>(event);
  if (!node || !model::valid_event(e)) return cudaErrorInvalidValue;
  node->event->event = e;
  return cudaSuccess;
}

}  // namespace mr::api

// ---- kernel nodes ----

MR_API cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                              const cudaKernelNodeParams* params) {
  return result(add_kernel({out, graph, deps, nullptr, count}, params));
}
MR_API cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeKernel);
  if (!node || !params) return result(cudaErrorInvalidValue);
  model::get_kernel_params(*node->kernel, node->graph->arena, *params);
  return cudaSuccess;
}
MR_API cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return result(set_kernel(node, params));
}
MR_API cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to_handle, cudaGraphNode_t from_handle) {
  if (const cudaError_t error = refused()) return result(error);
  model::GraphNode* to = node_of(to_handle, cudaGraphNodeTypeKernel);
  model::GraphNode* from = node_of(from_handle, cudaGraphNodeTypeKernel);
  if (!to || !from) return result(cudaErrorInvalidValue);
  return result(model::copy_kernel_attributes(*to, *from));
}
MR_API cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                       cudaLaunchAttributeValue* value) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeKernel);
  if (!node || !value) return result(cudaErrorInvalidValue);
  return result(model::get_kernel_attribute(*node->kernel, id, value));
}
MR_API cudaGraphKernelNodeSetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID id,
                                       const cudaLaunchAttributeValue* value) {
  if (const cudaError_t error = refused()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeKernel);
  if (!node || !value) return result(cudaErrorInvalidValue);
  // The handle of an updatable node is given back in a place that the declaration calls constant.
  return result(model::set_kernel_attribute(*node, id, const_cast<cudaLaunchAttributeValue&>(*value)));
}

// ---- copy nodes ----

MR_API cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                              const cudaMemcpy3DParms* params) {
  return result(add_copy({out, graph, deps, nullptr, count}, params));
}
MR_API cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                                void* dst, const void* src, size_t bytes, cudaMemcpyKind kind) {
  return result(
      add(NewNode{out, graph, deps, nullptr, count}, cudaGraphNodeTypeMemcpy, &model::GraphNode::copy,
          [&](model::Graph&, model::CopyData& data) { return model::make_copy_1d(data, dst, src, bytes, kind); }));
}
MR_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                                      size_t count, const void* symbol, const void* src, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind) {
  return result(add(NewNode{out, graph, deps, nullptr, count}, cudaGraphNodeTypeMemcpy, &model::GraphNode::copy,
                    [&](model::Graph& g, model::CopyData& data) {
                      return model::make_copy_symbol(data, true, symbol, const_cast<void*>(src), bytes, offset, kind,
                                                     g.context->ordinal);
                    }));
}
MR_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                                        size_t count, void* dst, const void* symbol, size_t bytes, size_t offset,
                                        cudaMemcpyKind kind) {
  return result(add(NewNode{out, graph, deps, nullptr, count}, cudaGraphNodeTypeMemcpy, &model::GraphNode::copy,
                    [&](model::Graph& g, model::CopyData& data) {
                      return model::make_copy_symbol(data, false, symbol, dst, bytes, offset, kind, g.context->ordinal);
                    }));
}
MR_API cudaGraphMemcpyNodeGetParams(cudaGraphNode_t handle, cudaMemcpy3DParms* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemcpy);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = node->copy->params;
  params->srcPtr.xsize = params->dstPtr.xsize = 0;  // means nothing here, and isn't kept
  return cudaSuccess;
}
MR_API cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return result(set_copy(node, params));
}
MR_API cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void* dst, const void* src, size_t bytes,
                                      cudaMemcpyKind kind) {
  if (const cudaError_t error = refused()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemcpy);
  if (!node) return result(cudaErrorInvalidValue);
  return result(model::make_copy_1d(*node->copy, dst, src, bytes, kind));
}
MR_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t handle, const void* symbol, const void* src, size_t bytes,
                                            size_t offset, cudaMemcpyKind kind) {
  if (const cudaError_t error = refused()) return result(error);
  if (const cudaError_t error = model::check_symbol(true, symbol, bytes, offset, kind)) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemcpy);
  if (!node) return result(cudaErrorInvalidValue);
  return result(model::make_copy_symbol(*node->copy, true, symbol, const_cast<void*>(src), bytes, offset, kind,
                                        node->graph->context->ordinal));
}
MR_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t handle, void* dst, const void* symbol, size_t bytes,
                                              size_t offset, cudaMemcpyKind kind) {
  if (const cudaError_t error = refused()) return result(error);
  if (const cudaError_t error = model::check_symbol(false, symbol, bytes, offset, kind)) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemcpy);
  if (!node) return result(cudaErrorInvalidValue);
  return result(
      model::make_copy_symbol(*node->copy, false, symbol, dst, bytes, offset, kind, node->graph->context->ordinal));
}

// ---- set nodes ----

MR_API cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                              const cudaMemsetParams* params) {
  return result(add_fill({out, graph, deps, nullptr, count}, params));
}
MR_API cudaGraphMemsetNodeGetParams(cudaGraphNode_t handle, cudaMemsetParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemset);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = node->fill->params;
  return cudaSuccess;
}
MR_API cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) {
  return result(set_fill(node, params));
}

// ---- host, empty, child and event nodes ----

MR_API cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                            const cudaHostNodeParams* params) {
  return result(add_host({out, graph, deps, nullptr, count}, params));
}
MR_API cudaGraphHostNodeGetParams(cudaGraphNode_t handle, cudaHostNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeHost);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = node->host->params;
  return cudaSuccess;
}
MR_API cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return result(set_host(node, params));
}
MR_API cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count) {
  return result(add_empty({out, graph, deps, nullptr, count}));
}
MR_API cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t handle, const cudaGraphNode_t* deps, size_t count,
                                  cudaGraph_t child) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!out || !graph) return result(cudaErrorInvalidValue);
  model::GraphNode* node = nullptr;
  if (const cudaError_t error = model::add_child(*graph, &node, nodes_of(deps), nullptr, count,
                                                 reinterpret_cast<model::Graph*>(child),
                                                 cudaGraphChildGraphOwnershipClone))
    return result(error);
  *out = handle_of(node);
  return cudaSuccess;
}
MR_API cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* out) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeGraph);
  if (!node || !out) return result(cudaErrorInvalidValue);
  *out = handle_of(node->child->graph);
  return cudaSuccess;
}

namespace {
cudaError_t get_event(cudaGraphNode_t handle, cudaGraphNodeType type, cudaEvent_t* out) {
  if (const cudaError_t error = refused_on_host()) return error;
  model::GraphNode* node = node_of(handle, type);
  if (!node || !out) return cudaErrorInvalidValue;
  *out = reinterpret_cast<cudaEvent_t>(node->event->event);
  return cudaSuccess;
}
}  // namespace

MR_API cudaGraphAddEventRecordNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                                   cudaEvent_t event) {
  return result(add_event({out, graph, deps, nullptr, count}, cudaGraphNodeTypeEventRecord, event));
}
MR_API cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return result(get_event(node, cudaGraphNodeTypeEventRecord, out));
}
MR_API cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return result(set_event(node, cudaGraphNodeTypeEventRecord, event));
}
MR_API cudaGraphAddEventWaitNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                                 cudaEvent_t event) {
  return result(add_event({out, graph, deps, nullptr, count}, cudaGraphNodeTypeWaitEvent, event));
}
MR_API cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* out) {
  return result(get_event(node, cudaGraphNodeTypeWaitEvent, out));
}
MR_API cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return result(set_event(node, cudaGraphNodeTypeWaitEvent, event));
}

// ---- external semaphore nodes ----

MR_API cudaGraphAddExternalSemaphoresSignalNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                                                size_t count, const cudaExternalSemaphoreSignalNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(
      add_external({out, graph, deps, nullptr, count}, cudaGraphNodeTypeExtSemaphoreSignal, params ? &given : nullptr));
}
MR_API cudaGraphExternalSemaphoresSignalNodeGetParams(cudaGraphNode_t handle,
                                                      cudaExternalSemaphoreSignalNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeExtSemaphoreSignal);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = {node->external->semaphores, node->external->signals, node->external->count};
  return cudaSuccess;
}
MR_API cudaGraphExternalSemaphoresSignalNodeSetParams(cudaGraphNode_t handle,
                                                      const cudaExternalSemaphoreSignalNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(set_external(handle, cudaGraphNodeTypeExtSemaphoreSignal, params ? &given : nullptr));
}
MR_API cudaGraphAddExternalSemaphoresWaitNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                                              size_t count, const cudaExternalSemaphoreWaitNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(
      add_external({out, graph, deps, nullptr, count}, cudaGraphNodeTypeExtSemaphoreWait, params ? &given : nullptr));
}
MR_API cudaGraphExternalSemaphoresWaitNodeGetParams(cudaGraphNode_t handle,
                                                    cudaExternalSemaphoreWaitNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeExtSemaphoreWait);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = {node->external->semaphores, node->external->waits, node->external->count};
  return cudaSuccess;
}
MR_API cudaGraphExternalSemaphoresWaitNodeSetParams(cudaGraphNode_t handle,
                                                    const cudaExternalSemaphoreWaitNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(set_external(handle, cudaGraphNodeTypeExtSemaphoreWait, params ? &given : nullptr));
}

// ---- memory nodes ----

MR_API cudaGraphAddMemAllocNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                                cudaMemAllocNodeParams* params) {
  return result(add_alloc({out, graph, deps, nullptr, count}, params));
}
MR_API cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle, cudaMemAllocNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemAlloc);
  if (!node || !params) return result(cudaErrorInvalidValue);
  *params = node->alloc->params;
  return cudaSuccess;
}
MR_API cudaGraphAddMemFreeNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps, size_t count,
                               void* pointer) {
  return result(add_free({out, graph, deps, nullptr, count}, pointer));
}
MR_API cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* out) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle, cudaGraphNodeTypeMemFree);
  if (!node || !out) return result(cudaErrorInvalidValue);
  *static_cast<void**>(out) = node->free->pointer;
  return cudaSuccess;
}

// ---- any node ----

namespace {

std::size_t used_bytes(cudaGraphNodeType type) noexcept {
  switch (type) {
  case cudaGraphNodeTypeKernel: return sizeof(cudaKernelNodeParamsV2) + 16;  // later fields of the driver's structure
  case cudaGraphNodeTypeMemcpy: return sizeof(cudaMemcpyNodeParams);
  case cudaGraphNodeTypeMemset: return sizeof(cudaMemsetParamsV2) + 8;
  case cudaGraphNodeTypeHost: return sizeof(cudaHostNodeParamsV2);
  case cudaGraphNodeTypeGraph: return sizeof(cudaChildGraphNodeParams);
  case cudaGraphNodeTypeEmpty: return 0;
  case cudaGraphNodeTypeWaitEvent:
  case cudaGraphNodeTypeEventRecord: return sizeof(cudaEventRecordNodeParams);
  case cudaGraphNodeTypeMemAlloc: return sizeof(cudaMemAllocNodeParamsV2);
  case cudaGraphNodeTypeMemFree: return sizeof(cudaMemFreeNodeParams);
  case cudaGraphNodeTypeConditional: return sizeof(cudaConditionalNodeParams) + 8;
  case cudaGraphNodeTypeExtSemaphoreSignal: return sizeof(cudaExternalSemaphoreSignalNodeParamsV2);
  case cudaGraphNodeTypeExtSemaphoreWait: return sizeof(cudaExternalSemaphoreWaitNodeParamsV2);
  default: return sizeof(cudaGraphNodeParams{}.reserved1);
  }
}
}  // namespace

bool mr::api::clean(const cudaGraphNodeParams& params) noexcept {
  if (params.reserved0[0] || params.reserved0[1] || params.reserved0[2] || params.reserved2) return false;
  const auto* bytes = reinterpret_cast<const char*>(params.reserved1);
  for (std::size_t i = used_bytes(params.type); i < sizeof params.reserved1; ++i)
    if (bytes[i]) return false;
  if (params.type != cudaGraphNodeTypeMemcpy) return true;
  const cudaMemcpyNodeParams& copy = params.memcpy;
  return !copy.flags && !copy.reserved[0] && !copy.reserved[1] && !copy.reserved[2];
}

namespace {

cudaError_t add_any(const NewNode& where, cudaGraphNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return error;
  model::Graph* graph = graph_of(where.graph);
  if (params && !api::clean(*params)) return cudaErrorInvalidValue;
  if (!where.out || !graph || !params) return invalid(params);
  switch (params->type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams kernel = plain(params->kernel);
    return add_kernel(where, &kernel);
  }
  case cudaGraphNodeTypeMemcpy: return add_copy(where, &params->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams fill = plain(params->memset);
    return add_fill(where, &fill);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams host = plain(params->host);
    return add_host(where, &host);
  }
  case cudaGraphNodeTypeEmpty: return add_empty(where);
  case cudaGraphNodeTypeWaitEvent: return add_event(where, params->type, params->eventWait.event);
  case cudaGraphNodeTypeEventRecord: return add_event(where, params->type, params->eventRecord.event);
  case cudaGraphNodeTypeMemAlloc: {
    cudaMemAllocNodeParams alloc{params->alloc.poolProps, params->alloc.accessDescs, params->alloc.accessDescCount,
                                 params->alloc.bytesize, nullptr};
    const cudaError_t error = add_alloc(where, &alloc);
    if (error == cudaSuccess) params->alloc.dptr = alloc.dptr;
    return error;
  }
  case cudaGraphNodeTypeMemFree: return add_free(where, params->free.dptr);
  case cudaGraphNodeTypeGraph: {
    model::GraphNode* node = nullptr;
    const cudaError_t error = model::add_child(*graph, &node, nodes_of(where.dependencies), where.data, where.count,
                                               reinterpret_cast<model::Graph*>(params->graph.graph),
                                               params->graph.ownership);
    if (error == cudaSuccess) *where.out = handle_of(node);
    return error;
  }
  case cudaGraphNodeTypeConditional: {
    model::GraphNode* node = nullptr;
    const cudaError_t error = model::add_conditional(*graph, &node, nodes_of(where.dependencies), where.data,
                                                     where.count, params->conditional);
    if (error == cudaSuccess) *where.out = handle_of(node);
    return error;
  }
  case cudaGraphNodeTypeExtSemaphoreSignal: {
    const External given = external_of(params->extSemSignal);
    return add_external(where, params->type, &given);
  }
  case cudaGraphNodeTypeExtSemaphoreWait: {
    const External given = external_of(params->extSemWait);
    return add_external(where, params->type, &given);
  }
  default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_any(cudaGraphNode_t handle, cudaGraphNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return error;
  if (params && !api::clean(*params)) return cudaErrorInvalidValue;
  model::GraphNode* node = node_of(handle);
  if (!node || !params || node->type != params->type) return invalid(params);
  switch (params->type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams kernel = plain(params->kernel);
    return set_kernel(handle, &kernel);
  }
  case cudaGraphNodeTypeMemcpy: return set_copy(handle, &params->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams fill = plain(params->memset);
    return set_fill(handle, &fill);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams host = plain(params->host);
    return set_host(handle, &host);
  }
  case cudaGraphNodeTypeEmpty: return cudaSuccess;
  case cudaGraphNodeTypeWaitEvent: return set_event(handle, params->type, params->eventWait.event);
  case cudaGraphNodeTypeEventRecord: return set_event(handle, params->type, params->eventRecord.event);
  case cudaGraphNodeTypeGraph:
    return model::set_child(*node, reinterpret_cast<model::Graph*>(params->graph.graph), params->graph.ownership);
  case cudaGraphNodeTypeExtSemaphoreSignal: {
    const External given = external_of(params->extSemSignal);
    return set_external(handle, params->type, &given);
  }
  case cudaGraphNodeTypeExtSemaphoreWait: {
    const External given = external_of(params->extSemWait);
    return set_external(handle, params->type, &given);
  }
  default: return cudaErrorNotSupported;
  }
}

}  // namespace

MR_API cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* deps,
                        const cudaGraphEdgeData* data, size_t count, cudaGraphNodeParams* params) {
  return result(add_any({out, graph, deps, data, count}, params));
}
MR_API cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return result(set_any(node, params));
}
