// Executable graphs (CUDA Runtime API, "Graph Management"): instantiation, launch, update, parameters.
#include <api/graph_handles.h>

using namespace mr;
using namespace mr::api;

namespace {

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t handle, unsigned long long flags,
                        model::InstantiateOutcome& outcome) {
  if (const cudaError_t error = refused()) return error;
  if (model::slow() && !(flags & cudaGraphInstantiateFlagUpload)) [[unlikely]] {  // an upload is work for a stream
    cudaError_t error;
    if (model::capture_unsafe(error)) return error;
  }
  model::Graph* graph = graph_of(handle);
  if (!out || !graph) return cudaErrorInvalidValue;
  model::GraphExec* exec = nullptr;
  if (const cudaError_t error = model::instantiate(&exec, *graph, flags, outcome)) return error;
  *out = handle_of(exec);
  return cudaSuccess;
}

cudaError_t instantiate_plain(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  if (flags & cudaGraphInstantiateFlagUpload) return cudaErrorInvalidValue;  // needs a stream
  model::InstantiateOutcome outcome;
  return instantiate(out, graph, flags, outcome);
}

cudaError_t upload(cudaGraphExec_t handle, cudaStream_t stream_handle, bool per_thread) {
  if (const cudaError_t error = refused()) return error;
  model::GraphExec* exec = exec_of(handle);
  if (!exec) return cudaErrorInvalidValue;
  model::Stream* stream = model::resolve(stream_handle, per_thread);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_refuse(*stream, error)) return error;
  }
  model::upload_exec(*exec);
  return cudaSuccess;
}
cudaError_t upload_result(cudaGraphExec_t exec, cudaStream_t stream, bool per_thread) {
  return result(upload(exec, stream, per_thread));
}

cudaError_t instantiate_with_params(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphInstantiateParams* params,
                                    bool per_thread) {
  if (!params) return result(cudaErrorInvalidValue);
  model::InstantiateOutcome outcome;
  const cudaError_t error = instantiate(out, graph, params->flags, outcome);
  params->result_out = outcome.result;
  params->errNode_out = handle_of(outcome.node);
  if (error != cudaSuccess) return result(error);
  if (params->flags & cudaGraphInstantiateFlagUpload) return result(upload(*out, params->uploadStream, per_thread));
  return cudaSuccess;
}

cudaError_t launch(cudaGraphExec_t handle, cudaStream_t stream_handle, bool per_thread) {
  if (const cudaError_t error = refused()) return result(error);
  model::Stream* stream = model::resolve(stream_handle, per_thread);
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_refuse(*stream, error)) return result(error);
  }
  model::GraphExec* exec = exec_of(handle);
  if (!exec) return result(cudaErrorInvalidValue);
  return result(model::launch_graph(*exec, *stream));
}

// What calls that set parameters of an executable graph begin with.
struct Target {
  model::GraphExec* exec;
  model::GraphNode* node;
  cudaError_t error;
};
Target target(cudaGraphExec_t exec_handle, cudaGraphNode_t node_handle, bool sets_type = true) {
  if (const cudaError_t error = refused_on_host()) return {nullptr, nullptr, error};
  Target t{exec_of(exec_handle), node_of(node_handle), cudaSuccess};
  if (const cudaError_t error = t.node && sets_type ? refused_for(t.node->type) : cudaSuccess)
    return {nullptr, nullptr, error};
  if (!t.exec || !t.node || model::step_of(*t.exec, *t.node) == model::no_step) t.error = cudaErrorInvalidValue;
  return t;
}

cudaError_t set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  Target t = target(exec, node);
  if (!t.error && t.node->type != cudaGraphNodeTypeKernel) t.error = cudaErrorInvalidValue;
  if (t.error) return params ? with_function(t.error, params->func) : t.error;
  if (!params) return cudaErrorInvalidValue;
  return model::exec_set_kernel(*t.exec, *t.node, *params);
}
template <class Make> cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, Make&& make) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  model::CopyData data{};
  if (const cudaError_t error = make(data, t.exec->context->ordinal)) return error;
  return model::exec_set_copy(*t.exec, *t.node, data);
}
cudaError_t set_copy_3d(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  if (!params) return cudaErrorInvalidValue;
  return set_copy(exec, node, [&](model::CopyData& data, int) { return model::make_copy(data, *params); });
}
cudaError_t set_fill(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  model::FillData data{};
  if (!params) return cudaErrorInvalidValue;
  if (const cudaError_t error = model::make_fill(data, *params, true)) return error;
  return model::exec_set_fill(*t.exec, *t.node, data);
}
cudaError_t set_host(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* params) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  if (!params || !params->fn) return cudaErrorInvalidValue;
  return model::exec_set_host(*t.exec, *t.node, *params);
}
cudaError_t set_event(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, cudaEvent_t event) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  auto* e = reinterpret_cast<model::Event*>(event);
  if (!model::valid_event(e)) return cudaErrorInvalidValue;
  return model::exec_set_event(*t.exec, *t.node, type, *e);
}
cudaError_t set_external(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeType type, const External* given) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  if (!given) return cudaErrorInvalidValue;
  model::GraphArena scratch;
  model::ExternalData data{};
  if (const cudaError_t error = model::make_external(data, scratch, given->semaphores, given->signals, given->waits,
                                                     given->count))
    return error;
  return model::exec_set_external(*t.exec, *t.node, type, data);
}
cudaError_t set_child(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  const Target t = target(exec, node);
  if (t.error) return t.error;
  model::Graph* graph = graph_of(child);
  if (!graph) return cudaErrorInvalidValue;
  return model::exec_set_child(*t.exec, *t.node, *graph);
}

cudaError_t set_any(cudaGraphExec_t exec, cudaGraphNode_t handle, cudaGraphNodeParams* params) {
  if (const cudaError_t error = refused_on_host()) return error;
  if (params && !clean(*params)) return cudaErrorInvalidValue;
  const model::GraphNode* node = node_of(handle);
  if (!exec_of(exec) || !node || !params || params->type != node->type) return invalid(params);
  switch (params->type) {                           // these are told whether the node is in there or not (recorded)
  case cudaGraphNodeTypeEmpty: return cudaSuccess;  // nothing to set
  case cudaGraphNodeTypeMemAlloc:
  case cudaGraphNodeTypeMemFree: return cudaErrorNotSupported;
  default: break;
  }
  const Target t = target(exec, handle);
  if (t.error) return params->type == cudaGraphNodeTypeKernel ? with_function(t.error, params->kernel.func) : t.error;
  switch (params->type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams kernel = plain(params->kernel);
    return set_kernel(exec, handle, &kernel);
  }
  case cudaGraphNodeTypeMemcpy: return set_copy_3d(exec, handle, &params->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams fill = plain(params->memset);
    return set_fill(exec, handle, &fill);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams host = plain(params->host);
    return set_host(exec, handle, &host);
  }
  case cudaGraphNodeTypeWaitEvent: return set_event(exec, handle, params->type, params->eventWait.event);
  case cudaGraphNodeTypeEventRecord: return set_event(exec, handle, params->type, params->eventRecord.event);
  case cudaGraphNodeTypeGraph: return set_child(exec, handle, params->graph.graph);
  case cudaGraphNodeTypeExtSemaphoreSignal: {
    const External given = external_of(params->extSemSignal);
    return set_external(exec, handle, params->type, &given);
  }
  case cudaGraphNodeTypeExtSemaphoreWait: {
    const External given = external_of(params->extSemWait);
    return set_external(exec, handle, params->type, &given);
  }
  default: return cudaErrorNotSupported;
  }
}

}  // namespace

MR_API cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return result(instantiate_plain(out, graph, flags));
}
MR_API cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  return result(instantiate_plain(out, graph, flags));
}
MR_TWINS(cudaGraphInstantiateWithParams, _ptsz, instantiate_with_params,
         (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams* params), out, graph, params)
MR_TWINS(cudaGraphUpload, _ptsz, upload_result, (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
MR_TWINS(cudaGraphLaunch, _ptsz, launch, (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)

MR_API cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  const model::GraphExec* exec = exec_of(handle);
  if (!exec || !flags) return result(cudaErrorInvalidValue);
  *flags = exec->flags & (cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagDeviceLaunch);
  return cudaSuccess;
}

MR_API cudaGraphExecDestroy(cudaGraphExec_t handle) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_unsafe(error)) return result(error);
  }
  model::GraphExec* exec = exec_of(handle);
  if (!exec) return result(cudaErrorInvalidValue);
  model::destroy_exec(*exec);
  return cudaSuccess;
}

MR_API cudaGraphExecUpdate(cudaGraphExec_t exec_handle, cudaGraph_t graph_handle, cudaGraphExecUpdateResultInfo* info) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphExec* exec = exec_of(exec_handle);
  model::Graph* graph = graph_of(graph_handle);
  if (!exec || !graph) return result(cudaErrorInvalidValue);
  model::UpdateOutcome outcome;
  const cudaError_t error = graph->owner ? cudaErrorInvalidValue : model::update_exec(*exec, *graph, outcome);
  if (info) *info = {outcome.result, handle_of(outcome.node), handle_of(outcome.from)};
  return result(error);
}

MR_API cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* params) {
  return result(set_any(exec, node, params));
}
MR_API cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const cudaKernelNodeParams* params) {
  return result(set_kernel(exec, node, params));
}
MR_API cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return result(set_copy_3d(exec, node, params));
}
MR_API cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst, const void* src,
                                          size_t bytes, cudaMemcpyKind kind) {
  return result(set_copy(exec, node,
                         [&](model::CopyData& data, int) { return model::make_copy_1d(data, dst, src, bytes, kind); }));
}
MR_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol,
                                                const void* src, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  if (const cudaError_t error = refused()) return result(error);
  if (const cudaError_t error = model::check_symbol(true, symbol, bytes, offset, kind)) return result(error);
  return result(set_copy(exec, node, [&](model::CopyData& data, int device) {
    return model::make_copy_symbol(data, true, symbol, const_cast<void*>(src), bytes, offset, kind, device);
  }));
}
MR_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst,
                                                  const void* symbol, size_t bytes, size_t offset,
                                                  cudaMemcpyKind kind) {
  if (const cudaError_t error = refused()) return result(error);
  if (const cudaError_t error = model::check_symbol(false, symbol, bytes, offset, kind)) return result(error);
  return result(set_copy(exec, node, [&](model::CopyData& data, int device) {
    return model::make_copy_symbol(data, false, symbol, dst, bytes, offset, kind, device);
  }));
}
MR_API cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params) {
  return result(set_fill(exec, node, params));
}
MR_API cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return result(set_host(exec, node, params));
}
MR_API cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  return result(set_child(exec, node, child));
}
MR_API cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return result(set_event(exec, node, cudaGraphNodeTypeEventRecord, event));
}
MR_API cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
  return result(set_event(exec, node, cudaGraphNodeTypeWaitEvent, event));
}
MR_API cudaGraphExecExternalSemaphoresSignalNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                          const cudaExternalSemaphoreSignalNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(set_external(exec, node, cudaGraphNodeTypeExtSemaphoreSignal, params ? &given : nullptr));
}
MR_API cudaGraphExecExternalSemaphoresWaitNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const cudaExternalSemaphoreWaitNodeParams* params) {
  const External given = params ? external_of(*params) : External{};
  return result(set_external(exec, node, cudaGraphNodeTypeExtSemaphoreWait, params ? &given : nullptr));
}
MR_API cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  const Target t = target(exec, node, false);
  if (t.error) return result(t.error);
  return result(model::exec_set_enabled(*t.exec, *t.node, enabled != 0));
}
MR_API cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  const Target t = target(exec, node, false);
  if (t.error) return result(t.error);
  if (!enabled) return result(cudaErrorInvalidValue);
  return result(model::exec_get_enabled(*t.exec, *t.node, *enabled));
}
