// Graphs: which call made a node, what an executable graph consists of, and its launches.
//
// An executable graph is read back from the graph that it was made from with the API's own queries, so that captured
// graphs, built ones and changed ones are the same to the checker.
#include <algorithm>

#include "api.h"

using namespace mr::check;

namespace {

struct Reader {
  ExecMirror& exec;
  const std::vector<std::pair<const void*, std::uint32_t>>& tags;
  std::vector<bool> used = std::vector<bool>(tags.size(), false);

  std::uint32_t take_tag(const void* node) {
    for (std::size_t i = 0; i < tags.size(); ++i)
      if (tags[i].first == node && !used[i]) {
        used[i] = true;
        return tags[i].second;
      }
    return 0;
  }

  std::uint32_t add(const void* handle, cudaGraphNodeType type, std::vector<std::uint32_t> before) {
    MirrorNode node;
    node.handle = handle;
    node.type = type;
    node.before = std::move(before);
    if (const auto known = checker->nodes.find(handle); known != checker->nodes.end()) node.call = known->second.call;
    exec.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(exec.nodes.size() - 1);
  }

  // Adds the nodes of a graph behind `before`; returns its last ones.
  std::vector<std::uint32_t> read(cudaGraph_t graph, const std::vector<std::uint32_t>& before) {
    static const auto get_nodes = MR_REAL(cudaGraphGetNodes);
    static const auto get_dependencies = MR_REAL(cudaGraphNodeGetDependencies);
    static const auto get_type = MR_REAL(cudaGraphNodeGetType);
    static const auto get_child = MR_REAL(cudaGraphChildGraphNodeGetGraph);
    std::size_t count = 0;
    if (get_nodes(graph, nullptr, &count) != cudaSuccess || count == 0) return before;
    std::vector<cudaGraphNode_t> nodes(count);
    get_nodes(graph, nodes.data(), &count);
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> dependencies;
    std::unordered_map<cudaGraphNode_t, std::size_t> left;
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> dependents;
    for (cudaGraphNode_t node : nodes) {
      std::size_t n = 0;
      get_dependencies(node, nullptr, nullptr, &n);
      std::vector<cudaGraphNode_t> list(n);
      if (n) {
        std::vector<cudaGraphEdgeData> data(n);
        get_dependencies(node, list.data(), data.data(), &n);
      }
      for (cudaGraphNode_t d : list) dependents[d].push_back(node);
      left[node] = n;
      dependencies[node] = std::move(list);
    }
    std::unordered_map<cudaGraphNode_t, std::uint32_t> index;
    std::vector<cudaGraphNode_t> ready;
    for (cudaGraphNode_t node : nodes)
      if (left[node] == 0) ready.push_back(node);
    std::vector<std::uint32_t> last;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      cudaGraphNode_t node = ready[i];
      std::vector<std::uint32_t> behind;
      for (cudaGraphNode_t d : dependencies[node]) behind.push_back(index[d]);
      if (behind.empty()) behind = before;
      cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
      get_type(node, &type);
      std::uint32_t at;
      if (type == cudaGraphNodeTypeGraph) {
        cudaGraph_t child = nullptr;
        get_child(node, &child);
        at = add(node, cudaGraphNodeTypeEmpty, read(child, behind));
      } else if (type == cudaGraphNodeTypeConditional) {
        const std::uint32_t begin = add(node, type, behind);
        std::vector<std::uint32_t> ends{begin};
        if (const auto known = checker->nodes.find(node); known != checker->nodes.end())
          for (cudaGraph_t body : known->second.bodies)
            for (const std::uint32_t end : read(body, {begin})) ends.push_back(end);
        at = add(node, cudaGraphNodeTypeEmpty, ends);
      } else {
        at = add(node, type, behind);
        MirrorNode& mirror = exec.nodes[at];
        mirror.tag = take_tag(node);
        describe(mirror, node);
      }
      index[node] = at;
      if (dependents[node].empty()) last.push_back(at);
      for (cudaGraphNode_t next : dependents[node])
        if (--left[next] == 0) ready.push_back(next);
    }
    return last;
  }

  static void describe(MirrorNode& mirror, cudaGraphNode_t node) {
    switch (mirror.type) {
    case cudaGraphNodeTypeMemcpy: {
      static const auto get = MR_REAL(cudaGraphMemcpyNodeGetParams);
      cudaMemcpy3DParms params{};
      if (get(node, &params) == cudaSuccess) mirror.touches = box(params);
      break;
    }
    case cudaGraphNodeTypeMemset: {
      static const auto get = MR_REAL(cudaGraphMemsetNodeGetParams);
      cudaMemsetParams params{};
      if (get(node, &params) == cudaSuccess) mirror.touches = box(params);
      break;
    }
    case cudaGraphNodeTypeMemAlloc: {
      static const auto get = MR_REAL(cudaGraphMemAllocNodeGetParams);
      cudaMemAllocNodeParams params{};
      if (get(node, &params) == cudaSuccess) mirror.touches = {linear(params.dptr, params.bytesize, allocates)};
      break;
    }
    case cudaGraphNodeTypeMemFree: {
      static const auto get = MR_REAL(cudaGraphMemFreeNodeGetParams);
      void* p = nullptr;
      if (get(node, &p) == cudaSuccess)
        if (const Allocation* a = checker->allocation_of(reinterpret_cast<std::uintptr_t>(p)))
          mirror.touches = {linear(p, a->end - reinterpret_cast<std::uintptr_t>(p), frees)};
      break;
    }
    case cudaGraphNodeTypeEventRecord:
    case cudaGraphNodeTypeWaitEvent: {
      static const auto record = MR_REAL(cudaGraphEventRecordNodeGetEvent);
      static const auto wait = MR_REAL(cudaGraphEventWaitNodeGetEvent);
      cudaEvent_t event = nullptr;
      if ((mirror.type == cudaGraphNodeTypeEventRecord ? record : wait)(node, &event) != cudaSuccess) break;
      if (const auto known = checker->events.find(event); known != checker->events.end()) mirror.event = known->second;
      break;
    }
    default: break;
    }
  }

  // Paths through the graph become chains: a node goes on in the chain of a predecessor that nobody else has gone on
  // in.
  void assign_chains() {
    std::vector<bool> taken(exec.nodes.size(), false);
    for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
      MirrorNode& node = exec.nodes[i];
      for (const std::uint32_t b : node.before)
        if (!taken[b]) {
          taken[b] = true;
          node.chain = exec.nodes[b].chain;
          break;
        }
      if (!node.chain) {
        node.chain = checker->order.new_chain();
        exec.chains.emplace_back(node.chain, 0);
      }
    }
  }
};

void read_exec(ExecMirror& exec, cudaGraph_t graph, const ApiCall& call) {  // under the lock
  std::vector<MirrorNode> old = std::move(exec.nodes);
  exec.nodes.clear();
  exec.chains.clear();
  Reader reader{exec, call.instantiated};
  reader.read(graph, {});
  reader.assign_chains();
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    MirrorNode& node = exec.nodes[i];
    // An update leaves the steps where they are.
    if (!node.tag && i < old.size() && old.size() == exec.nodes.size()) node.tag = old[i].tag;
    if (node.tag) checker->steps[node.tag] = {&exec, static_cast<std::uint32_t>(i)};
  }
}

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
  for (const MirrorNode& node : exec.nodes) {
    auto& chain = *std::find_if(exec.chains.begin(), exec.chains.end(),
                                [&](const auto& entry) { return entry.first == node.chain; });
    OpRef op = order.make_op(stream, actor, node.type == cudaGraphNodeTypeHost ? Role::node_host_function : Role::node,
                             node.call ? node.call : call.call, node.chain, ++chain.second);
    op->launch = number;
    op->via = call.call;
    if (node.enabled) op->touches = node.touches;
    if (node.tag) launch->tags.push_back(node.tag);
    if (node.type == cudaGraphNodeTypeKernel && node.enabled) op->kernel = std::make_shared<KernelRecord>();
    Frontier behind;
    for (const std::uint32_t b : node.before) {
      behind.push_back(launch->ops[b]);
      has_next[b] = true;
    }
    if (behind.empty()) behind.push_back(begin);
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
namespace {
// A copy of the parameters with the host function in the checker's wrapper.
cudaGraphNodeParams wrapped_params(const cudaGraphNodeParams& params) {
  cudaGraphNodeParams copy = params;
  if (params.type == cudaGraphNodeTypeHost && params.host.fn) {
    cudaHostNodeParams host{params.host.fn, params.host.userData};
    wrap(host);
    copy.host.fn = host.fn;
    copy.host.userData = host.userData;
  }
  return copy;
}
}  // namespace

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
  return changed(call, next(exec, node, params), exec, node, nothing_more);
}
MR_ONE(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* params),
       (exec, node, params)) {
  if (!params) return next(exec, node, params);
  ApiCall call("cudaGraphExecNodeSetParams");
  cudaGraphNodeParams copy = wrapped_params(*params);
  const cudaError_t error = next(exec, node, &copy);
  switch (params->type) {
  case cudaGraphNodeTypeMemcpy: return changed(call, error, exec, node, touching(box(params->memcpy.copyParams)));
  case cudaGraphNodeTypeMemset: {
    const auto& set = params->memset;
    return changed(call, error, exec, node,
                   touching({rows(set.dst, set.pitch ? set.pitch : set.width * set.elementSize,
                                  set.width * set.elementSize, set.height ? set.height : 1, writes)}));
  }
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
MR_ONE(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params),
       (exec, node, params)) {
  ApiCall call("cudaGraphExecMemsetNodeSetParams");
  if (!params) return next(exec, node, params);
  return changed(call, next(exec, node, params), exec, node, touching(box(*params)));
}
