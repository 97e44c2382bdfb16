// Graphs (CUDA Runtime API, "Graph Management"): creation, shape, clones, user objects, memory attributes.
#include <algorithm>
#include <vector>

#include <api/graph_handles.h>
#include <model/graph_memory.h>
#include <model/user_object.h>

using namespace mr;
using namespace mr::api;

namespace {

// Fills an array of handles the way all queries do: a null array asks for the number; a longer one is padded with null;
// a shorter one gets as many as fit.
template <class Next> cudaError_t give(cudaGraphNode_t* array, std::size_t* count, std::size_t there, Next&& next) {
  if (!count) return cudaErrorInvalidValue;
  if (!array) {
    *count = there;
    return cudaSuccess;
  }
  if (*count == 0) return cudaErrorInvalidValue;
  const std::size_t given = std::min(*count, there);
  for (std::size_t i = 0; i < given; ++i) array[i] = handle_of(next());
  for (std::size_t i = given; i < *count; ++i) array[i] = nullptr;
  *count = given;
  return cudaSuccess;
}

cudaError_t give_edges(const model::EdgeList& edges, cudaGraphNode_t* array, cudaGraphEdgeData* data,
                       std::size_t* count) {
  if (!count || (data && !array)) return cudaErrorInvalidValue;
  if (!array) {
    *count = edges.size();
    return cudaSuccess;
  }
  if (*count == 0) return cudaErrorInvalidValue;
  const std::size_t given = std::min<std::size_t>(*count, edges.size());
  if (!data)
    for (std::size_t i = 0; i < given; ++i)
      if (model::has_edge_data(edges.begin()[i].data)) return cudaErrorLossyQuery;
  // Unlike the array of nodes, that of edge data isn't padded.
  for (std::size_t i = 0; i < *count; ++i) {
    array[i] = i < given ? handle_of(edges.begin()[i].node) : nullptr;
    if (data && i < given) data[i] = edges.begin()[i].data;
  }
  *count = given;
  return cudaSuccess;
}

cudaError_t get_edges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                      std::size_t* count) {
  model::Graph* graph = graph_of(handle);
  if (!graph || !count || !from != !to || (data && !from)) return cudaErrorInvalidValue;
  if (!from) {
    *count = graph->edge_count;
    return cudaSuccess;
  }
  if (*count == 0) return cudaErrorInvalidValue;
  if (!data && graph->special_edges) return cudaErrorLossyQuery;
  std::size_t i = 0;
  for (model::GraphNode* node = graph->first; node && i < *count; node = node->next)
    for (const model::EdgeRef& edge : node->dependents) {
      if (i == *count) break;
      from[i] = handle_of(node);
      to[i] = handle_of(edge.node);
      if (data) data[i] = edge.data;
      ++i;
    }
  for (std::size_t k = i; k < *count; ++k) {
    from[k] = to[k] = nullptr;
    if (data) data[k] = {};
  }
  *count = i;
  return cudaSuccess;
}

}  // namespace

MR_API cudaGraphCreate(cudaGraph_t* out, unsigned flags) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (!out || flags) return result(cudaErrorInvalidValue);
  model::Graph* graph = model::create_graph();
  if (!graph) return result(cudaErrorMemoryAllocation);
  *out = handle_of(graph);
  return cudaSuccess;
}

MR_API cudaGraphDestroy(cudaGraph_t handle) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph) return result(cudaErrorInvalidValue);
  return result(model::destroy_graph(*graph));
}

MR_API cudaGraphClone(cudaGraph_t* out, cudaGraph_t original) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(original);
  if (!out || !graph) return result(cudaErrorInvalidValue);
  model::Graph* made = nullptr;
  if (const cudaError_t error = model::clone_graph(&made, *graph)) return result(error);
  *out = handle_of(made);
  return cudaSuccess;
}

MR_API cudaGraphNodeFindInClone(cudaGraphNode_t* out, cudaGraphNode_t original, cudaGraph_t clone) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(original);
  model::Graph* graph = graph_of(clone);
  if (!out || !node || !graph) return result(cudaErrorInvalidValue);
  model::GraphNode* found = nullptr;
  if (const cudaError_t error = model::find_in_clone(&found, *node, *graph)) return result(error);
  *out = handle_of(found);
  return cudaSuccess;
}

MR_API cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* out) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle);
  if (!node || !out) return result(cudaErrorInvalidValue);
  *out = node->type;
  return cudaSuccess;
}

MR_API cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph) return result(cudaErrorInvalidValue);
  model::GraphNode* at = graph->first;
  return result(give(nodes, count, graph->node_count, [&] {
    model::GraphNode* node = at;
    at = at->next;
    return node;
  }));
}

MR_API cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph) return result(cudaErrorInvalidValue);
  // Those that became roots last come first.
  std::vector<model::GraphNode*> roots;
  for (model::GraphNode* node = graph->first; node; node = node->next)
    if (node->dependencies.empty()) roots.push_back(node);
  std::sort(roots.begin(), roots.end(), [](const auto* a, const auto* b) { return a->root_since > b->root_since; });
  auto at = roots.begin();
  return result(give(nodes, count, roots.size(), [&] { return *at++; }));
}

MR_API cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
                         size_t* count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  return result(get_edges(graph, from, to, data, count));
}

MR_API cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                    size_t* count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle);
  if (!node) return result(cudaErrorInvalidValue);
  return result(give_edges(node->dependencies, nodes, data, count));
}

MR_API cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
                                      size_t* count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle);
  if (!node) return result(cudaErrorInvalidValue);
  return result(give_edges(node->dependents, nodes, data, count));
}

MR_API cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                const cudaGraphEdgeData* data, size_t count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph) return result(cudaErrorInvalidValue);
  return result(model::add_dependencies(*graph, nodes_of(from), nodes_of(to), data, count));
}

// Two nodes have at most one edge between them: its data needn't be given, and is not compared.
MR_API cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                   const cudaGraphEdgeData*, size_t count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph) return result(cudaErrorInvalidValue);
  return result(model::remove_dependencies(*graph, nodes_of(from), nodes_of(to), count));
}

MR_API cudaGraphDestroyNode(cudaGraphNode_t handle) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::GraphNode* node = node_of(handle);
  if (!node) return result(cudaErrorInvalidValue);
  return result(model::destroy_node(*node));
}

MR_API cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned flags) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph || !path) return result(cudaErrorInvalidValue);
  return result(model::print_dot(*graph, path, flags));
}

MR_API cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t handle, unsigned initial,
                                        unsigned flags) {
  if (const cudaError_t error = refused()) return result(error);
  model::Graph* graph = graph_of(handle);
  if (!graph || !out) return result(cudaErrorInvalidValue);
  return result(model::create_handle(*graph, initial, flags, out));
}

// ---- user objects ----

namespace {
model::UserObject* user_of(cudaUserObject_t handle) noexcept {
  auto* object = reinterpret_cast<model::UserObject*>(handle);
  return model::valid_user_object(object) ? object : nullptr;
}
}  // namespace

MR_API cudaUserObjectCreate(cudaUserObject_t* out, void* pointer, cudaHostFn_t destroy, unsigned references,
                            unsigned flags) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (!out || !destroy || references == 0 || flags != cudaUserObjectNoDestructorSync)
    return result(cudaErrorInvalidValue);
  return result(model::create_user_object(reinterpret_cast<model::UserObject**>(out), pointer, destroy, references));
}
MR_API cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::UserObject* object = user_of(handle);
  if (!object || count == 0 || count > 0x7fffffffu) return result(cudaErrorInvalidValue);
  model::retain_user_object(*object, count);
  return cudaSuccess;
}
MR_API cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::UserObject* object = user_of(handle);
  if (!object || count == 0 || count > 0x7fffffffu) return result(cudaErrorInvalidValue);
  model::release_user_object(*object, count);
  return cudaSuccess;
}
MR_API cudaGraphRetainUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle, unsigned count, unsigned flags) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(graph_handle);
  model::UserObject* object = user_of(handle);
  if (!graph || !object || count == 0 || count > 0x7fffffffu ||
      (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)))
    return result(cudaErrorInvalidValue);
  if (!(flags & cudaGraphUserObjectMove)) model::retain_user_object(*object, count);
  for (model::UserReference& user : graph->users)
    if (user.object == object) {
      user.count += count;
      return cudaSuccess;
    }
  graph->users.push_back({object, count});
  return cudaSuccess;
}
MR_API cudaGraphReleaseUserObject(cudaGraph_t graph_handle, cudaUserObject_t handle, unsigned count) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  model::Graph* graph = graph_of(graph_handle);
  model::UserObject* object = user_of(handle);
  if (!graph || !object || count == 0 || count > 0x7fffffffu) return result(cudaErrorInvalidValue);
  // As many references go as the call says, whether the graph holds them or somebody else.
  for (std::size_t i = 0; i < graph->users.size(); ++i) {
    model::UserReference& user = graph->users[i];
    if (user.object != object) continue;
    user.count -= std::min(count, user.count);
    if (user.count == 0) graph->users.erase(graph->users.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  model::release_user_object(*object, count);
  return cudaSuccess;
}

// ---- graph memory ----

MR_API cudaDeviceGraphMemTrim(int device) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (device < 0 || device >= model::device_count()) return result(cudaErrorInvalidDevice);
  model::trim_graph_memory(device);
  return cudaSuccess;
}
MR_API cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (device < 0 || device >= model::device_count()) return result(cudaErrorInvalidDevice);
  if (!value) return result(cudaErrorInvalidValue);
  return result(model::graph_memory_attribute(device, attribute, static_cast<unsigned long long*>(value)));
}
MR_API cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (const cudaError_t error = refused_on_host()) return result(error);
  if (device < 0 || device >= model::device_count()) return result(cudaErrorInvalidDevice);
  if (!value) return result(cudaErrorInvalidValue);
  return result(model::reset_graph_memory_attribute(device, attribute, *static_cast<unsigned long long*>(value)));
}
