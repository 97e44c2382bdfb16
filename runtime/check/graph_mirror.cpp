#include "graph_mirror.h"

namespace mr::check {
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
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> dependencies, early;
    std::unordered_map<cudaGraphNode_t, std::size_t> left;
    std::unordered_map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> dependents;
    for (cudaGraphNode_t node : nodes) {
      std::size_t n = 0;
      get_dependencies(node, nullptr, nullptr, &n);
      std::vector<cudaGraphNode_t> list(n);
      if (n) {
        std::vector<cudaGraphEdgeData> data(n);
        get_dependencies(node, list.data(), data.data(), &n);
        for (std::size_t i = 0; i < n; ++i)
          if (data[i].type == cudaGraphDependencyTypeProgrammatic) early[node].push_back(list[i]);
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
        const auto first = static_cast<std::uint32_t>(exec.nodes.size());
        const auto ends = read(child, behind);
        at = add(node, cudaGraphNodeTypeEmpty, ends);
        exec.nodes[at].inside = at - first;
      } else if (type == cudaGraphNodeTypeConditional) {
        // One body runs at a time, and one turn behind the other.
        std::vector<std::uint32_t> ends{add(node, type, behind)};
        if (const auto known = checker->nodes.find(node); known != checker->nodes.end())
          for (cudaGraph_t body : known->second.bodies) ends = read(body, ends);
        at = add(node, cudaGraphNodeTypeEmpty, ends);
      } else {
        at = add(node, type, behind);
        MirrorNode& mirror = exec.nodes[at];
        mirror.tag = take_tag(node);
        for (cudaGraphNode_t d : early[node]) mirror.early.push_back(index[d]);
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
    case cudaGraphNodeTypeKernel: {
      static const auto get = MR_REAL(cudaGraphKernelNodeGetParams);
      cudaKernelNodeParams params{};
      if (get(node, &params) == cudaSuccess) mirror.kernel = kernel_name(params.func);
      break;
    }
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
  // Launches of one executable graph follow each other: an updated one goes on in the chains that it had (`spare`).
  void assign_chains(std::vector<std::pair<Chain, Time>> spare, const Actor& by) {
    const auto take = [&] {
      if (spare.empty()) return exec.chains.emplace_back(checker->order.take_chain(by.clock)).first;
      exec.chains.push_back(spare.back());
      spare.pop_back();
      return exec.chains.back().first;
    };
    std::vector<bool> taken(exec.nodes.size(), false);
    for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
      MirrorNode& node = exec.nodes[i];
      for (const std::uint32_t b : node.before)
        if (!taken[b]) {
          taken[b] = true;
          node.chain = exec.nodes[b].chain;
          break;
        }
      if (!node.chain) node.chain = take();
      if (!node.early.empty()) node.early_chain = take();
    }
    for (const auto& [chain, time] : spare) checker->order.give_back(chain, time);
  }
};

}  // namespace

void read_nodes(ExecMirror& exec, cudaGraph_t graph, const ApiCall& call) {
  Reader reader{exec, call.instantiated};
  reader.read(graph, {});
}

void read_exec(ExecMirror& exec, cudaGraph_t graph, const ApiCall& call) {
  std::vector<MirrorNode> old = std::move(exec.nodes);
  exec.nodes.clear();
  std::vector<std::pair<Chain, Time>> spare = std::exchange(exec.chains, {});
  Reader reader{exec, call.instantiated};
  reader.read(graph, {});
  reader.assign_chains(std::move(spare), *call.thread.actor);
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    MirrorNode& node = exec.nodes[i];
    // An update leaves the steps where they are.
    if (!node.tag && i < old.size() && old.size() == exec.nodes.size()) node.tag = old[i].tag;
    if (node.tag) checker->steps[node.tag] = {&exec, static_cast<std::uint32_t>(i)};
  }
}

}  // namespace mr::check
