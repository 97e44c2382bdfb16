// Graphs: which call made a node, executable graphs, and their launches.
#include <algorithm>

#include "graph_mirror.h"

using namespace mr::check;

namespace {

cudaError_t instantiated(ApiCall& call, cudaError_t error, cudaGraphExec_t* out, cudaGraph_t graph) {
  if (error != cudaSuccess || !out || !*out) return error;
  std::scoped_lock hold(checker->lock);
  auto& exec = checker->execs[*out];
  exec = std::make_unique<ExecMirror>();
  read_exec(*exec, graph, call);
  return error;
}

}  // namespace

MR_ONE(cudaGraphInstantiate, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
       (out, graph, flags)) {
  ApiCall call("cudaGraphInstantiate");
  return instantiated(call, next(out, graph, flags), out, graph);
}
MR_ONE(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
       (out, graph, flags)) {
  ApiCall call("cudaGraphInstantiateWithFlags");
  return instantiated(call, next(out, graph, flags), out, graph);
}
MR_TWINS(cudaGraphInstantiateWithParams, _ptsz,
         (cudaGraphExec_t * out, cudaGraph_t graph, cudaGraphInstantiateParams* params), (out, graph, params)) {
  (void)per_thread;
  ApiCall call("cudaGraphInstantiateWithParams");
  return instantiated(call, next(out, graph, params), out, graph);
}
MR_ONE(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),
       (exec, graph, info)) {
  ApiCall call("cudaGraphExecUpdate");
  const cudaError_t error = next(exec, graph, info);
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto known = checker->execs.find(exec); known != checker->execs.end())
    read_exec(*known->second, graph, call);
  return error;
}
MR_ONE(cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec)) {
  ApiCall call("cudaGraphExecDestroy");
  const cudaError_t error = next(exec);
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  if (const auto known = checker->execs.find(exec); known != checker->execs.end()) {
    // Launches that are pending still name it.
    static auto* kept = new std::deque<std::unique_ptr<ExecMirror>>;
    for (const auto& [chain, time] : known->second->chains) checker->order.give_back(chain, time);
    kept->push_back(std::move(known->second));
    checker->execs.erase(known);
    if (kept->size() > 256 && kept->front()->launches.empty()) {
      for (const MirrorNode& node : kept->front()->nodes) checker->steps.erase(node.tag);
      kept->pop_front();
    }
  }
  return error;
}

namespace {

std::shared_ptr<GraphLaunch> make_launch(ApiCall& call, ExecMirror& exec, const std::shared_ptr<Stream>& stream) {
  Order& order = checker->order;
  Actor& actor = *call.thread.actor;
  auto launch = std::make_shared<GraphLaunch>();
  launch->exec = &exec;
  const std::uint64_t number = checker->next_launch++;
  const OpRef begin = order.enqueue(stream, actor, Role::point, call.call);
  // Behind its previous launch too, wherever that was.
  for (auto& before : begin->before) add(before, exec.last);
  std::vector<bool> has_next(exec.nodes.size(), false);
  const auto make = [&](const MirrorNode& node, Chain of) {
    auto& chain = *std::find_if(exec.chains.begin(), exec.chains.end(),
                                [&](const auto& entry) { return entry.first == of; });
    OpRef op = order.make_op(stream, actor, node.type == cudaGraphNodeTypeHost ? Role::node_host_function : Role::node,
                             node.call ? node.call : call.call, of, ++chain.second);
    op->launch = number;
    op->via = call.call;
    return op;
  };
  for (const MirrorNode& node : exec.nodes) {
    OpRef op = make(node, node.chain);
    if (node.enabled) op->touches = node.touches;
    if (node.tag) launch->tags.push_back(node.tag);
    if (node.type == cudaGraphNodeTypeKernel && node.enabled) {
      op->kernel = std::make_shared<KernelRecord>();
      op->kernel->name = node.kernel;
    }
    Frontier behind;
    for (const std::uint32_t b : node.before) {
      behind.push_back(launch->ops[b]);
      has_next[b] = true;
    }
    if (behind.empty()) behind.push_back(begin);
    if (op->kernel && !node.early.empty() && launch->ops[node.early[0]]->kernel) {
      // What it does before its wait is behind what its primaries are behind.
      const OpRef early = make(node, node.early_chain);
      for (auto& before : early->before) before = {begin};
      for (const std::uint32_t b : node.before) {
        const bool primary = std::find(node.early.begin(), node.early.end(), b) != node.early.end();
        for (int world = 0; world < worlds; ++world)
          if (primary)
            add(early->before[world], launch->ops[b]->before[world]);
          else
            add(early->before[world], launch->ops[b]);
      }
      op->kernel->programmatic = true;
      op->kernel->primary = launch->ops[node.early[0]];
      op->kernel->early = early;
      behind.push_back(early);
    }
    for (int world = 0; world < worlds; ++world) {
      op->before[world] = behind;
      if (node.type == cudaGraphNodeTypeWaitEvent && node.event && !node.event->records.empty())
        add(op->before[world], node.event->records.back().frontier[world]);
    }
    if (node.type == cudaGraphNodeTypeEventRecord && node.event) {
      RecordOf record;
      for (auto& frontier : record.frontier) frontier = {op};
      record.stream = stream;
      record.number = op->number;
      node.event->captured = false;
      node.event->records.push_back(std::move(record));
      stream->records.push_back(op->number);
    }
    launch->ops.push_back(std::move(op));
  }
  const OpRef end = order.enqueue(stream, actor, Role::point, call.call);
  for (std::size_t i = 0; i < launch->ops.size(); ++i)
    if (!has_next[i])
      for (auto& before : end->before) before.push_back(launch->ops[i]);
  exec.last = {end};
  exec.launches.push_back(launch);
  return launch;
}

}  // namespace

MR_TWINS(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream)) {
  ApiCall call("cudaGraphLaunch");
  std::shared_ptr<GraphLaunch> launch;
  if (!capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    const auto known = checker->execs.find(exec);
    const auto s = stream_of(stream, per_thread);
    if (s && known != checker->execs.end()) {
      launch = make_launch(call, *known->second, s);
      call.expect({});
      call.group->launch = launch;
    }
  }
  const cudaError_t error = next(exec, stream);
  if (error != cudaSuccess && launch) {
    std::scoped_lock hold(checker->lock);
    std::erase(launch->exec->launches, launch);
  }
  call.finish(error == cudaSuccess);
  return error;
}

// ---- nodes ----

#define MR_NODE(name, PARAMETERS, ARGUMENTS)                                                                           \
  MR_ONE(name, PARAMETERS, ARGUMENTS) {                                                                                \
    ApiCall call(#name);                                                                                               \
    return next ARGUMENTS;                                                                                             \
  }

MR_NODE(cudaGraphAddKernelNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
         const cudaKernelNodeParams* params),
        (out, graph, before, count, params))
MR_NODE(cudaGraphAddMemcpyNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
         const cudaMemcpy3DParms* params),
        (out, graph, before, count, params))
MR_NODE(cudaGraphAddMemcpyNode1D,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, void* to,
         const void* from, std::size_t n, cudaMemcpyKind kind),
        (out, graph, before, count, to, from, n, kind))
MR_NODE(cudaGraphAddMemcpyNodeToSymbol,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, const void* symbol,
         const void* from, std::size_t n, std::size_t offset, cudaMemcpyKind kind),
        (out, graph, before, count, symbol, from, n, offset, kind))
MR_NODE(cudaGraphAddMemcpyNodeFromSymbol,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, void* to,
         const void* symbol, std::size_t n, std::size_t offset, cudaMemcpyKind kind),
        (out, graph, before, count, to, symbol, n, offset, kind))
MR_NODE(cudaGraphAddMemsetNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
         const cudaMemsetParams* params),
        (out, graph, before, count, params))
MR_NODE(cudaGraphAddChildGraphNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, cudaGraph_t child),
        (out, graph, before, count, child))
MR_NODE(cudaGraphAddEventRecordNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, cudaEvent_t event),
        (out, graph, before, count, event))
MR_NODE(cudaGraphAddEventWaitNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, cudaEvent_t event),
        (out, graph, before, count, event))
MR_NODE(cudaGraphAddEmptyNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count),
        (out, graph, before, count))
MR_NODE(cudaGraphAddMemFreeNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, void* p),
        (out, graph, before, count, p))
MR_NODE(cudaGraphClone, (cudaGraph_t * out, cudaGraph_t graph), (out, graph))

MR_ONE(cudaGraphAddMemAllocNode,
       (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
        cudaMemAllocNodeParams* params),
       (out, graph, before, count, params)) {
  ApiCall call("cudaGraphAddMemAllocNode");
  const cudaError_t error = next(out, graph, before, count, params);
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  checker->add_allocation(params->dptr, params->bytesize, Memory::pool, 0, call.call);
  return error;
}

MR_ONE(cudaGraphAddHostNode,
       (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
        const cudaHostNodeParams* params),
       (out, graph, before, count, params)) {
  ApiCall call("cudaGraphAddHostNode");
  if (!params) return next(out, graph, before, count, params);
  cudaHostNodeParams wrapped = *params;
  wrap(wrapped);
  return next(out, graph, before, count, &wrapped);
}
MR_ONE(cudaGraphAddNode,
       (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before, const cudaGraphEdgeData* data,
        std::size_t count, cudaGraphNodeParams* params),
       (out, graph, before, data, count, params)) {
  ApiCall call("cudaGraphAddNode");
  if (!params) return next(out, graph, before, data, count, params);
  cudaGraphNodeParams copy = wrapped_params(*params);
  const cudaError_t error = next(out, graph, before, data, count, &copy);
  if (copy.type != cudaGraphNodeTypeHost) *params = copy;
  if (error != cudaSuccess) return error;
  std::scoped_lock hold(checker->lock);
  if (params->type == cudaGraphNodeTypeConditional) {
    auto& known = checker->nodes[*out];
    for (unsigned i = 0; i < params->conditional.size; ++i) known.bodies.push_back(params->conditional.phGraph_out[i]);
  } else if (params->type == cudaGraphNodeTypeMemAlloc) {
    checker->add_allocation(params->alloc.dptr, params->alloc.bytesize, Memory::pool, 0, call.call);
  }
  return error;
}
