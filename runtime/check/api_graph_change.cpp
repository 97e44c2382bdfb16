// Nodes and steps of executable graphs that get other parameters.
#include "graph_mirror.h"

using namespace mr::check;

MR_ONE(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, cudaHostNodeParams* params), (node, params)) {
  const cudaError_t error = next(node, params);
  if (error == cudaSuccess) unwrap(*params);
  return error;
}
MR_ONE(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const cudaHostNodeParams* params), (node, params)) {
  if (!params) return next(node, params);
  cudaHostNodeParams wrapped = *params;
  wrap(wrapped);
  return next(node, &wrapped);
}
MR_ONE(cudaGraphNodeSetParams, (cudaGraphNode_t node, cudaGraphNodeParams* params), (node, params)) {
  if (!params) return next(node, params);
  cudaGraphNodeParams copy = wrapped_params(*params);
  return next(node, &copy);
}

namespace {
// A step of an executable graph has been changed by `call`: it may have another tag now. `change` does the rest.
template <class Change>
cudaError_t changed(const ApiCall& call, cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
                    const Change& change) {
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  const auto known = checker->execs.find(exec);
  if (known == checker->execs.end()) return error;
  auto& nodes = known->second->nodes;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].handle != node) continue;
    if (!call.instantiated.empty()) {
      nodes[i].tag = call.instantiated.back().second;
      checker->steps[nodes[i].tag] = {known->second.get(), i};
    }
    change(nodes[i]);
  }
  return error;
}
auto touching(std::vector<Touch> touches) {
  return [touches = std::move(touches)](MirrorNode& node) { node.touches = touches; };
}
void nothing_more(MirrorNode&) {}
auto with_event(cudaEvent_t event) {
  return [event](MirrorNode& node) {
    const auto known = checker->events.find(event);
    node.event = known == checker->events.end() ? nullptr : known->second;
  };
}
}  // namespace

namespace {
// The steps of a child graph are those of another one now, of the same shape.
cudaError_t child_changed(const ApiCall& call, cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
                          cudaGraph_t child) {
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  const auto known = checker->execs.find(exec);
  if (known == checker->execs.end()) return error;
  auto& nodes = known->second->nodes;
  ExecMirror fresh;
  read_nodes(fresh, child, call);
  for (std::uint32_t at = 0; at < nodes.size(); ++at) {
    if (nodes[at].handle != node || !nodes[at].inside || nodes[at].inside != fresh.nodes.size()) continue;
    for (std::uint32_t i = 0; i < fresh.nodes.size(); ++i) {
      MirrorNode& to = nodes[at - nodes[at].inside + i];
      MirrorNode& from = fresh.nodes[i];
      if (to.type != from.type) continue;
      to.call = from.call;
      to.touches = std::move(from.touches);
      to.event = std::move(from.event);
      to.kernel = std::move(from.kernel);
      if (!from.tag) continue;
      to.tag = from.tag;
      checker->steps[to.tag] = {known->second.get(), at - nodes[at].inside + i};
    }
  }
  return error;
}
}  // namespace
MR_ONE(cudaGraphExecHostNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* params),
       (exec, node, params)) {
  if (!params) return next(exec, node, params);
  ApiCall call("cudaGraphExecHostNodeSetParams");
  cudaHostNodeParams wrapped = *params;
  wrap(wrapped);
  return changed(call, next(exec, node, &wrapped), exec, node, nothing_more);
}
MR_ONE(cudaGraphExecKernelNodeSetParams,
       (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* params), (exec, node, params)) {
  ApiCall call("cudaGraphExecKernelNodeSetParams");
  const std::string name = params ? kernel_name(params->func) : "";
  return changed(call, next(exec, node, params), exec, node, [&](MirrorNode& mirror) { mirror.kernel = name; });
}
MR_ONE(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* params),
       (exec, node, params)) {
  if (!params) return next(exec, node, params);
  ApiCall call("cudaGraphExecNodeSetParams");
  cudaGraphNodeParams copy = wrapped_params(*params);
  const cudaError_t error = next(exec, node, &copy);
  switch (params->type) {
  case cudaGraphNodeTypeKernel:
    return changed(call, error, exec, node,
                   [&](MirrorNode& mirror) { mirror.kernel = kernel_name(params->kernel.func); });
  case cudaGraphNodeTypeMemcpy: return changed(call, error, exec, node, touching(box(params->memcpy.copyParams)));
  case cudaGraphNodeTypeMemset: {
    const auto& set = params->memset;
    return changed(call, error, exec, node,
                   touching({rows(set.dst, set.pitch ? set.pitch : set.width * set.elementSize,
                                  set.width * set.elementSize, set.height ? set.height : 1, writes)}));
  }
  case cudaGraphNodeTypeGraph: return child_changed(call, error, exec, node, params->graph.graph);
  case cudaGraphNodeTypeEventRecord: return changed(call, error, exec, node, with_event(params->eventRecord.event));
  case cudaGraphNodeTypeWaitEvent: return changed(call, error, exec, node, with_event(params->eventWait.event));
  default: return changed(call, error, exec, node, nothing_more);
  }
}
MR_ONE(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
       (exec, node, event)) {
  ApiCall call("cudaGraphExecEventRecordNodeSetEvent");
  return changed(call, next(exec, node, event), exec, node, with_event(event));
}
MR_ONE(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
       (exec, node, event)) {
  ApiCall call("cudaGraphExecEventWaitNodeSetEvent");
  return changed(call, next(exec, node, event), exec, node, with_event(event));
}
MR_ONE(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled),
       (exec, node, enabled)) {
  ApiCall call("cudaGraphNodeSetEnabled");
  return changed(call, next(exec, node, enabled), exec, node,
                 [enabled](MirrorNode& mirror) { mirror.enabled = enabled != 0; });
}
MR_ONE(cudaGraphExecMemcpyNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* params),
       (exec, node, params)) {
  ApiCall call("cudaGraphExecMemcpyNodeSetParams");
  if (!params) return next(exec, node, params);
  return changed(call, next(exec, node, params), exec, node, touching(box(*params)));
}
MR_ONE(cudaGraphExecMemcpyNodeSetParams1D,
       (cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from, std::size_t n, cudaMemcpyKind kind),
       (exec, node, to, from, n, kind)) {
  ApiCall call("cudaGraphExecMemcpyNodeSetParams1D");
  return changed(call, next(exec, node, to, from, n, kind), exec, node,
                 touching({linear(from, n, reads), linear(to, n, writes)}));
}
MR_ONE(cudaGraphExecMemcpyNodeSetParamsToSymbol,
       (cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* from, std::size_t n,
        std::size_t offset, cudaMemcpyKind kind),
       (exec, node, symbol, from, n, offset, kind)) {
  ApiCall call("cudaGraphExecMemcpyNodeSetParamsToSymbol");
  const cudaError_t error = next(exec, node, symbol, from, n, offset, kind);
  if (error != cudaSuccess) return error;
  return changed(call, error, exec, node,
                 touching({linear(from, n, reads), linear(symbol_address(symbol, n) + offset, n, writes)}));
}
MR_ONE(cudaGraphExecMemcpyNodeSetParamsFromSymbol,
       (cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* symbol, std::size_t n, std::size_t offset,
        cudaMemcpyKind kind),
       (exec, node, to, symbol, n, offset, kind)) {
  ApiCall call("cudaGraphExecMemcpyNodeSetParamsFromSymbol");
  const cudaError_t error = next(exec, node, to, symbol, n, offset, kind);
  if (error != cudaSuccess) return error;
  return changed(call, error, exec, node,
                 touching({linear(symbol_address(symbol, n) + offset, n, reads), linear(to, n, writes)}));
}

MR_ONE(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
       (exec, node, child)) {
  ApiCall call("cudaGraphExecChildGraphNodeSetParams");
  return child_changed(call, next(exec, node, child), exec, node, child);
}
MR_ONE(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params),
       (exec, node, params)) {
  ApiCall call("cudaGraphExecMemsetNodeSetParams");
  if (!params) return next(exec, node, params);
  return changed(call, next(exec, node, params), exec, node, touching(box(*params)));
}
