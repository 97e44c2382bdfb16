// Wrong handles and wrong kinds of nodes, in every function that takes a graph, a node, an executable graph or a user
// object: each is refused, and the graph and its executable form stay as they were.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "graph_kernels.h"

namespace {

using namespace graph_test;

struct Args {
  int* to;
  int value;
};
void add(MrBlock* block, std::uint64_t, std::uint64_t) {
  const Args& a = *static_cast<const Args*>(block->args);
  *a.to += a.value;
}
char key;
std::atomic<int> calls = 0;
void CUDART_CB count(void*) { ++calls; }

// One node of every kind in a line, but for memory nodes, which have a graph of their own.
struct World {
  cudaGraph_t graph, child, clone, memory_graph;
  cudaGraphNode_t kernel, copy, set, host, empty, nested, record, wait, conditional, allocate, release;
  cudaGraphExec_t exec, memory_exec;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaUserObject_t user;
  int* memory;
  Args args{};
  void* pointers[1];
  cudaKernelNodeParams kernel_params{};
  cudaMemcpy3DParms copy_params{};
  cudaMemsetParams set_params{};
  cudaHostNodeParams host_params{count, nullptr};
  cudaMemAllocNodeParams alloc_params{};
  std::vector<cudaGraphNode_t> all;

  World() {
    register_kernel<sizeof(Args)>(&key, "_Z3add4Args", add, [](const void*) {});
    build();
  }
  void build() {
    OK(cudaMallocHost(reinterpret_cast<void**>(&memory), 4096));
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    args = {memory, 1};
    pointers[0] = &args;
    kernel_params = {&key, {1, 1, 1}, {1, 1, 1}, 0, pointers, nullptr};
    copy_params.srcPtr = {memory, 64, 64, 1};
    copy_params.dstPtr = {memory + 64, 64, 64, 1};
    copy_params.extent = {16, 1, 1};
    copy_params.kind = cudaMemcpyDefault;
    set_params = {memory + 128, 0, 7, 4, 4, 1};
    alloc_params.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc_params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    alloc_params.bytesize = 256;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t inner;
    OK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel_params));
    OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &kernel_params));
    OK(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &copy_params));
    OK(cudaGraphAddMemsetNode(&set, graph, &copy, 1, &set_params));
    OK(cudaGraphAddHostNode(&host, graph, &set, 1, &host_params));
    OK(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
    OK(cudaGraphAddChildGraphNode(&nested, graph, &empty, 1, child));
    OK(cudaGraphAddEventRecordNode(&record, graph, &nested, 1, event));
    OK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    OK(cudaGraphClone(&clone, graph));
    cudaGraphConditionalHandle handle;
    OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&conditional, graph, &wait, nullptr, 1, &params));
    OK(cudaGraphCreate(&memory_graph, 0));
    OK(cudaGraphAddMemAllocNode(&allocate, memory_graph, nullptr, 0, &alloc_params));
    OK(cudaGraphAddMemFreeNode(&release, memory_graph, &allocate, 1, alloc_params.dptr));
    OK(cudaUserObjectCreate(&user, nullptr, count, 1, cudaUserObjectNoDestructorSync));
    OK(cudaGraphRetainUserObject(graph, user, 1, cudaGraphUserObjectMove));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphInstantiate(&memory_exec, memory_graph, 0));
    all = {kernel, copy, set, host, empty, nested, record, wait, conditional, allocate, release};
  }

  // Everything that can be seen of the graphs, and what a launch does.
  std::string fingerprint() {
    std::string text;
    const std::string path = "/tmp/graph_misuse_" + std::to_string(getpid()) + ".dot";
    for (cudaGraph_t g : {graph, child, clone, memory_graph}) {
      EXPECT_EQ(cudaGraphDebugDotPrint(g, path.c_str(), cudaGraphDebugDotFlagsVerbose), cudaSuccess);
      std::ifstream file(path);
      text.append(std::istreambuf_iterator<char>(file), {});
    }
    std::remove(path.c_str());
    for (int i = 0; i < 1024; ++i) memory[i] = i;
    const int before = calls;
    for (cudaGraphExec_t x : {exec, memory_exec}) {
      EXPECT_EQ(cudaGraphLaunch(x, stream), cudaSuccess);
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    }
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    for (int i = 0; i < 1024; ++i)
      if (memory[i] != i) text += std::to_string(i) + "=" + std::to_string(memory[i]) + " ";
    unsigned enabled = 9;
    EXPECT_EQ(cudaGraphNodeGetEnabled(exec, kernel, &enabled), cudaSuccess);
    return text + "calls " + std::to_string(calls - before) + " enabled " + std::to_string(enabled);
  }
};

World& world() {
  static World* const instance = new World;
  return *instance;
}

template <class Handle> struct Row {
  const char* name;
  std::function<cudaError_t(Handle)> call;
};
#define ROW(Handle, ...)                                                                                               \
  {#__VA_ARGS__, [&w](Handle h) {                                                                                      \
     (void)w;                                                                                                          \
     return __VA_ARGS__;                                                                                               \
   }}

struct Bad {
  const char* what;
  void* handle;
};
// What no function may take for a handle of another kind.
std::vector<Bad> bad_handles(World& w) {
  static char here[256];
  static cudaGraphNode_t of_destroyed_graph, of_small_graph, destroyed;
  static cudaGraph_t destroyed_graph;
  static cudaGraphExec_t destroyed_exec;
  static cudaUserObject_t destroyed_user;
  const auto make = [&] {
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&destroyed, graph, nullptr, 0));
    OK(cudaGraphDestroyNode(destroyed));
    OK(cudaUserObjectCreate(&destroyed_user, nullptr, count, 1, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRelease(destroyed_user, 1));
    OK(cudaDeviceSynchronize());
    // Many graphs: their memory has been given back.
    for (int i = 0; i < 3; ++i) {
      cudaGraph_t large;
      OK(cudaGraphCreate(&large, 0));
      for (int k = 0; k < 60000; ++k) OK(cudaGraphAddEmptyNode(&of_destroyed_graph, large, nullptr, 0));
      OK(cudaGraphDestroy(large));
    }
    // Last: handles are used again.
    OK(cudaGraphCreate(&destroyed_graph, 0));
    OK(cudaGraphAddKernelNode(&of_small_graph, destroyed_graph, nullptr, 0, &w.kernel_params));
    OK(cudaGraphInstantiate(&destroyed_exec, destroyed_graph, 0));
    OK(cudaGraphExecDestroy(destroyed_exec));
    OK(cudaGraphDestroy(destroyed_graph));
  };
  if (!destroyed_graph) make();
  return {{"null", nullptr},
          {"one", reinterpret_cast<void*>(1)},
          {"a stream", w.stream},
          {"an event", w.event},
          {"pinned memory", w.memory},
          {"static memory", here},
          {"the inside of a node", reinterpret_cast<char*>(w.kernel) + 16},
          {"behind a node", reinterpret_cast<char*>(w.kernel) + 3},
          {"the inside of a graph", reinterpret_cast<char*>(w.graph) + 8},
          {"a destroyed node", destroyed},
          {"a node of a destroyed graph", of_small_graph},
          {"a node whose memory was given back", of_destroyed_graph},
          {"a destroyed graph", destroyed_graph},
          {"a destroyed executable graph", destroyed_exec},
          {"a destroyed user object", destroyed_user}};
}

// Calls each row with each handle.
template <class Handle>
void check_all(const std::vector<Row<Handle>>& rows, const std::vector<Bad>& handles,
               cudaError_t expected = cudaErrorInvalidValue) {
  World& w = world();
  const std::string before = w.fingerprint();
  for (const Row<Handle>& row : rows) {
    for (const Bad& bad : handles)
      EXPECT_EQ(row.call(reinterpret_cast<Handle>(bad.handle)), expected) << row.name << " with " << bad.what;
    ASSERT_EQ(w.fingerprint(), before) << row.name;
  }
  (void)cudaGetLastError();
}

cudaGraphNode_t out_node;
cudaGraphNode_t some[8];
std::size_t some_count;
cudaGraphEdgeData some_data[8];

TEST(GraphMisuse, Nodes) {
  World& w = world();
  using N = cudaGraphNode_t;
  static cudaGraphNodeType type;
  static cudaKernelNodeParams kp;
  static cudaMemcpy3DParms cp;
  static cudaMemsetParams sp;
  static cudaHostNodeParams hp;
  static cudaMemAllocNodeParams ap;
  static cudaGraphNodeParams any{};
  static cudaLaunchAttributeValue value;
  static cudaGraph_t graph;
  static cudaEvent_t event;
  static void* pointer;
  static unsigned enabled;
  any.type = cudaGraphNodeTypeEmpty;
  const std::vector<Row<N>> rows = {
      ROW(N, cudaGraphNodeGetType(h, &type)),
      ROW(N, (some_count = 8, cudaGraphNodeGetDependencies(h, some, some_data, &some_count))),
      ROW(N, (some_count = 8, cudaGraphNodeGetDependentNodes(h, some, some_data, &some_count))),
      ROW(N, cudaGraphNodeFindInClone(&out_node, h, w.clone)),
      ROW(N, cudaGraphDestroyNode(h)),
      ROW(N, cudaGraphKernelNodeGetParams(h, &kp)),
      ROW(N, cudaGraphKernelNodeSetParams(h, &w.kernel_params)),
      ROW(N, cudaGraphKernelNodeGetAttribute(h, cudaLaunchAttributePriority, &value)),
      ROW(N, cudaGraphKernelNodeSetAttribute(h, cudaLaunchAttributePriority, &value)),
      ROW(N, cudaGraphKernelNodeCopyAttributes(h, w.kernel)),
      ROW(N, cudaGraphKernelNodeCopyAttributes(w.kernel, h)),
      ROW(N, cudaGraphMemcpyNodeGetParams(h, &cp)),
      ROW(N, cudaGraphMemcpyNodeSetParams(h, &w.copy_params)),
      ROW(N, cudaGraphMemcpyNodeSetParams1D(h, w.memory, w.memory + 8, 4, cudaMemcpyDefault)),
      ROW(N, cudaGraphMemsetNodeGetParams(h, &sp)),
      ROW(N, cudaGraphMemsetNodeSetParams(h, &w.set_params)),
      ROW(N, cudaGraphHostNodeGetParams(h, &hp)),
      ROW(N, cudaGraphHostNodeSetParams(h, &w.host_params)),
      ROW(N, cudaGraphChildGraphNodeGetGraph(h, &graph)),
      ROW(N, cudaGraphEventRecordNodeGetEvent(h, &event)),
      ROW(N, cudaGraphEventRecordNodeSetEvent(h, w.event)),
      ROW(N, cudaGraphEventWaitNodeGetEvent(h, &event)),
      ROW(N, cudaGraphEventWaitNodeSetEvent(h, w.event)),
      ROW(N, cudaGraphMemAllocNodeGetParams(h, &ap)),
      ROW(N, cudaGraphMemFreeNodeGetParams(h, &pointer)),
      ROW(N, cudaGraphNodeSetParams(h, &any)),
      ROW(N, cudaGraphExecKernelNodeSetParams(w.exec, h, &w.kernel_params)),
      ROW(N, cudaGraphExecMemcpyNodeSetParams(w.exec, h, &w.copy_params)),
      ROW(N, cudaGraphExecMemcpyNodeSetParams1D(w.exec, h, w.memory, w.memory + 8, 4, cudaMemcpyDefault)),
      ROW(N, cudaGraphExecMemsetNodeSetParams(w.exec, h, &w.set_params)),
      ROW(N, cudaGraphExecHostNodeSetParams(w.exec, h, &w.host_params)),
      ROW(N, cudaGraphExecChildGraphNodeSetParams(w.exec, h, w.child)),
      ROW(N, cudaGraphExecEventRecordNodeSetEvent(w.exec, h, w.event)),
      ROW(N, cudaGraphExecEventWaitNodeSetEvent(w.exec, h, w.event)),
      ROW(N, cudaGraphExecNodeSetParams(w.exec, h, &any)),
      ROW(N, cudaGraphNodeSetEnabled(w.exec, h, 0)),
      ROW(N, cudaGraphNodeGetEnabled(w.exec, h, &enabled)),
      // As a dependency.
      ROW(N, cudaGraphAddKernelNode(&out_node, w.graph, &h, 1, &w.kernel_params)),
      ROW(N, cudaGraphAddMemcpyNode(&out_node, w.graph, &h, 1, &w.copy_params)),
      ROW(N, cudaGraphAddMemcpyNode1D(&out_node, w.graph, &h, 1, w.memory, w.memory + 8, 4, cudaMemcpyDefault)),
      ROW(N, cudaGraphAddMemsetNode(&out_node, w.graph, &h, 1, &w.set_params)),
      ROW(N, cudaGraphAddHostNode(&out_node, w.graph, &h, 1, &w.host_params)),
      ROW(N, cudaGraphAddEmptyNode(&out_node, w.graph, &h, 1)),
      ROW(N, cudaGraphAddChildGraphNode(&out_node, w.graph, &h, 1, w.child)),
      ROW(N, cudaGraphAddEventRecordNode(&out_node, w.graph, &h, 1, w.event)),
      ROW(N, cudaGraphAddEventWaitNode(&out_node, w.graph, &h, 1, w.event)),
      ROW(N, cudaGraphAddMemAllocNode(&out_node, w.graph, &h, 1, &w.alloc_params)),
      ROW(N, cudaGraphAddMemFreeNode(&out_node, w.graph, &h, 1, w.alloc_params.dptr)),
      ROW(N, cudaGraphAddNode(&out_node, w.graph, &h, nullptr, 1, &any)),
      ROW(N, cudaGraphAddDependencies(w.graph, &h, &w.copy, nullptr, 1)),
      ROW(N, cudaGraphAddDependencies(w.graph, &w.copy, &h, nullptr, 1)),
      ROW(N, cudaGraphRemoveDependencies(w.memory_graph, &h, &w.copy, nullptr, 0) == cudaSuccess
                 ? cudaGraphRemoveDependencies(w.graph, &h, &w.copy, nullptr, 1)
                 : cudaErrorUnknown),
      ROW(N, cudaGraphRemoveDependencies(w.graph, &w.copy, &h, nullptr, 1)),
      ROW(N, cudaStreamBeginCaptureToGraph(w.stream, w.clone, &h, nullptr, 1, cudaStreamCaptureModeGlobal)),
  };
  check_all(rows, bad_handles(w));
  // What is wrong with a symbol is told ahead of the node.
  const std::vector<Row<N>> symbols = {
      ROW(N, cudaGraphMemcpyNodeSetParamsToSymbol(h, &key, w.memory, 4, 0, cudaMemcpyDefault)),
      ROW(N, cudaGraphMemcpyNodeSetParamsFromSymbol(h, w.memory, &key, 4, 0, cudaMemcpyDefault)),
      ROW(N, cudaGraphExecMemcpyNodeSetParamsToSymbol(w.exec, h, &key, w.memory, 4, 0, cudaMemcpyDefault)),
      ROW(N, cudaGraphExecMemcpyNodeSetParamsFromSymbol(w.exec, h, w.memory, &key, 4, 0, cudaMemcpyDefault)),
  };
  check_all(symbols, bad_handles(w), cudaErrorInvalidSymbol);
}

TEST(GraphMisuse, Graphs) {
  World& w = world();
  using G = cudaGraph_t;
  static cudaGraph_t graph;
  static cudaGraphExec_t exec;
  static cudaGraphInstantiateParams instantiate;
  static cudaGraphExecUpdateResultInfo info;
  static cudaGraphConditionalHandle handle;
  static cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeEmpty;
  const std::vector<Row<G>> rows = {
      ROW(G, cudaGraphDestroy(h)),
      ROW(G, cudaGraphClone(&graph, h)),
      ROW(G, cudaGraphNodeFindInClone(&out_node, w.kernel, h)),
      ROW(G, (some_count = 8, cudaGraphGetNodes(h, some, &some_count))),
      ROW(G, (some_count = 8, cudaGraphGetRootNodes(h, some, &some_count))),
      ROW(G, (some_count = 4, cudaGraphGetEdges(h, some, some + 4, some_data, &some_count))),
      ROW(G, cudaGraphAddDependencies(h, &w.kernel, &w.set, nullptr, 1)),
      ROW(G, cudaGraphRemoveDependencies(h, &w.kernel, &w.copy, nullptr, 1)),
      ROW(G, cudaGraphDebugDotPrint(h, "/dev/null", 0)),
      ROW(G, cudaGraphConditionalHandleCreate(&handle, h, 0, 0)),
      ROW(G, cudaGraphRetainUserObject(h, w.user, 1, 0)),
      ROW(G, cudaGraphReleaseUserObject(h, w.user, 1)),
      ROW(G, cudaGraphInstantiate(&exec, h, 0)),
      ROW(G, cudaGraphInstantiateWithFlags(&exec, h, 0)),
      ROW(G, cudaGraphInstantiateWithParams(&exec, h, &instantiate)),
      ROW(G, cudaGraphExecUpdate(w.exec, h, &info)),
      ROW(G, cudaGraphExecChildGraphNodeSetParams(w.exec, w.nested, h)),
      ROW(G, cudaGraphAddChildGraphNode(&out_node, w.graph, nullptr, 0, h)),
      ROW(G, cudaGraphAddChildGraphNode(&out_node, h, nullptr, 0, w.child)),
      ROW(G, cudaGraphAddKernelNode(&out_node, h, nullptr, 0, &w.kernel_params)),
      ROW(G, cudaGraphAddMemcpyNode(&out_node, h, nullptr, 0, &w.copy_params)),
      ROW(G, cudaGraphAddMemsetNode(&out_node, h, nullptr, 0, &w.set_params)),
      ROW(G, cudaGraphAddHostNode(&out_node, h, nullptr, 0, &w.host_params)),
      ROW(G, cudaGraphAddEmptyNode(&out_node, h, nullptr, 0)),
      ROW(G, cudaGraphAddEventRecordNode(&out_node, h, nullptr, 0, w.event)),
      ROW(G, cudaGraphAddEventWaitNode(&out_node, h, nullptr, 0, w.event)),
      ROW(G, cudaGraphAddMemAllocNode(&out_node, h, nullptr, 0, &w.alloc_params)),
      ROW(G, cudaGraphAddMemFreeNode(&out_node, h, nullptr, 0, w.alloc_params.dptr)),
      ROW(G, cudaGraphAddNode(&out_node, h, nullptr, nullptr, 0, &any)),
      ROW(G, cudaStreamBeginCaptureToGraph(w.stream, h, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal)),
  };
  std::vector<Bad> handles = bad_handles(w);
  handles.push_back({"a node", w.kernel});
  handles.push_back({"an executable graph", w.exec});
  check_all(rows, handles);
}

TEST(GraphMisuse, ExecutableGraphs) {
  World& w = world();
  using X = cudaGraphExec_t;
  static unsigned long long flags;
  static unsigned enabled;
  static cudaGraphExecUpdateResultInfo info;
  static cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeEmpty;
  const std::vector<Row<X>> rows = {
      ROW(X, cudaGraphLaunch(h, w.stream)),
      ROW(X, cudaGraphUpload(h, w.stream)),
      ROW(X, cudaGraphExecDestroy(h)),
      ROW(X, cudaGraphExecGetFlags(h, &flags)),
      ROW(X, cudaGraphExecUpdate(h, w.graph, &info)),
      ROW(X, cudaGraphExecKernelNodeSetParams(h, w.kernel, &w.kernel_params)),
      ROW(X, cudaGraphExecMemcpyNodeSetParams(h, w.copy, &w.copy_params)),
      ROW(X, cudaGraphExecMemcpyNodeSetParams1D(h, w.copy, w.memory, w.memory + 8, 4, cudaMemcpyDefault)),
      ROW(X, cudaGraphExecMemsetNodeSetParams(h, w.set, &w.set_params)),
      ROW(X, cudaGraphExecHostNodeSetParams(h, w.host, &w.host_params)),
      ROW(X, cudaGraphExecChildGraphNodeSetParams(h, w.nested, w.child)),
      ROW(X, cudaGraphExecEventRecordNodeSetEvent(h, w.record, w.event)),
      ROW(X, cudaGraphExecEventWaitNodeSetEvent(h, w.wait, w.event)),
      ROW(X, cudaGraphExecNodeSetParams(h, w.empty, &any)),
      ROW(X, cudaGraphNodeSetEnabled(h, w.kernel, 0)),
      ROW(X, cudaGraphNodeGetEnabled(h, w.kernel, &enabled)),
  };
  std::vector<Bad> handles = bad_handles(w);
  handles.push_back({"a node", w.kernel});
  handles.push_back({"a graph", w.graph});
  check_all(rows, handles);
}

TEST(GraphMisuse, UserObjects) {
  World& w = world();
  using U = cudaUserObject_t;
  const std::vector<Row<U>> rows = {
      ROW(U, cudaUserObjectRetain(h, 1)),
      ROW(U, cudaUserObjectRelease(h, 1)),
      ROW(U, cudaGraphRetainUserObject(w.graph, h, 1, 0)),
      ROW(U, cudaGraphReleaseUserObject(w.graph, h, 1)),
  };
  std::vector<Bad> handles = bad_handles(w);
  handles.push_back({"a node", w.kernel});
  handles.push_back({"a graph", w.graph});
  check_all(rows, handles);
}

// Functions for one kind of node refuse all other kinds, and nodes of other graphs.
TEST(GraphMisuse, KindsOfNodes) {
  World& w = world();
  const std::string before = w.fingerprint();
  static cudaKernelNodeParams kp;
  static cudaMemcpy3DParms cp;
  static cudaMemsetParams sp;
  static cudaHostNodeParams hp;
  static cudaMemAllocNodeParams ap;
  static cudaLaunchAttributeValue value;
  static cudaGraph_t graph;
  static cudaEvent_t event;
  static void* pointer;
  using N = cudaGraphNode_t;
  struct Typed {
    N kind;
    Row<N> row;
  };
  const std::vector<Typed> rows = {
      {w.kernel, ROW(N, cudaGraphKernelNodeGetParams(h, &kp))},
      {w.kernel, ROW(N, cudaGraphKernelNodeSetParams(h, &w.kernel_params))},
      {w.kernel, ROW(N, cudaGraphKernelNodeGetAttribute(h, cudaLaunchAttributePriority, &value))},
      {w.kernel, ROW(N, cudaGraphKernelNodeCopyAttributes(h, w.kernel))},
      {w.kernel, ROW(N, cudaGraphExecKernelNodeSetParams(w.exec, h, &w.kernel_params))},
      {w.copy, ROW(N, cudaGraphMemcpyNodeGetParams(h, &cp))},
      {w.copy, ROW(N, cudaGraphMemcpyNodeSetParams(h, &w.copy_params))},
      {w.copy, ROW(N, cudaGraphExecMemcpyNodeSetParams(w.exec, h, &w.copy_params))},
      {w.set, ROW(N, cudaGraphMemsetNodeGetParams(h, &sp))},
      {w.set, ROW(N, cudaGraphMemsetNodeSetParams(h, &w.set_params))},
      {w.set, ROW(N, cudaGraphExecMemsetNodeSetParams(w.exec, h, &w.set_params))},
      {w.host, ROW(N, cudaGraphHostNodeGetParams(h, &hp))},
      {w.host, ROW(N, cudaGraphHostNodeSetParams(h, &w.host_params))},
      {w.host, ROW(N, cudaGraphExecHostNodeSetParams(w.exec, h, &w.host_params))},
      {w.nested, ROW(N, cudaGraphChildGraphNodeGetGraph(h, &graph))},
      {w.nested, ROW(N, cudaGraphExecChildGraphNodeSetParams(w.exec, h, w.child))},
      {w.record, ROW(N, cudaGraphEventRecordNodeGetEvent(h, &event))},
      {w.record, ROW(N, cudaGraphEventRecordNodeSetEvent(h, w.event))},
      {w.record, ROW(N, cudaGraphExecEventRecordNodeSetEvent(w.exec, h, w.event))},
      {w.wait, ROW(N, cudaGraphEventWaitNodeGetEvent(h, &event))},
      {w.wait, ROW(N, cudaGraphEventWaitNodeSetEvent(h, w.event))},
      {w.wait, ROW(N, cudaGraphExecEventWaitNodeSetEvent(w.exec, h, w.event))},
      {w.allocate, ROW(N, cudaGraphMemAllocNodeGetParams(h, &ap))},
      {w.release, ROW(N, cudaGraphMemFreeNodeGetParams(h, &pointer))},
  };
  for (const Typed& typed : rows) {
    for (N node : w.all)
      EXPECT_EQ(typed.row.call(node), node == typed.kind ? cudaSuccess : cudaErrorInvalidValue) << typed.row.name;
    ASSERT_EQ(w.fingerprint(), before) << typed.row.name;
  }
  // Nodes of other graphs.
  N twin;
  OK(cudaGraphNodeFindInClone(&twin, w.kernel, w.clone));
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(w.exec, twin, &w.kernel_params), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeSetEnabled(w.exec, twin, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(&out_node, w.graph, &twin, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(w.graph, &w.kernel, &twin, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeFindInClone(&out_node, twin, w.clone), cudaErrorInvalidValue);
  EXPECT_EQ(w.fingerprint(), before);
}

// What holds a graph that a stream is being captured into is neither destroyed nor replaced: the capture goes on in it.
TEST(GraphMisuse, CapturedIntoAPart) {
  World& w = world();
  const auto child = [&](cudaGraph_t& outer, cudaGraphNode_t& node, cudaGraph_t& inner, int depth) {
    OK(cudaGraphCreate(&outer, 0));
    for (int i = 0; i < depth; ++i) {
      cudaGraph_t around;
      OK(cudaGraphCreate(&around, 0));
      OK(cudaGraphAddChildGraphNode(&node, around, nullptr, 0, outer));
      OK(cudaGraphDestroy(outer));
      outer = around;
    }
    inner = outer;
    for (int i = 0; i < depth; ++i) {
      cudaGraphNode_t at;
      std::size_t one = 1;
      OK(cudaGraphGetNodes(inner, &at, &one));
      OK(cudaGraphChildGraphNodeGetGraph(at, &inner));
    }
  };
  const auto body = [&](cudaGraph_t& outer, cudaGraphNode_t& node, cudaGraph_t& inner) {
    OK(cudaGraphCreate(&outer, 0));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    OK(cudaGraphConditionalHandleCreate(&params.conditional.handle, outer, 1, cudaGraphCondAssignDefault));
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 2;
    OK(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params));
    inner = params.conditional.phGraph_out[1];
  };
  for (int shape = 0; shape < 4; ++shape)
    for (const bool moved : {false, true}) {
      SCOPED_TRACE(shape);
      cudaGraph_t outer = nullptr, inner = nullptr, ended = nullptr;
      cudaGraphNode_t node = nullptr;
      if (moved) {
        if (shape > 1) continue;
        // Moved while it is captured into.
        OK(cudaGraphCreate(&inner, 0));
        OK(cudaStreamBeginCaptureToGraph(w.stream, inner, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
        OK(cudaGraphCreate(&outer, 0));
        cudaGraphNodeParams params = {};
        params.type = cudaGraphNodeTypeGraph;
        params.graph.graph = inner;
        params.graph.ownership = cudaGraphChildGraphOwnershipMove;
        OK(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params));
      } else {
        if (shape < 3)
          child(outer, node, inner, shape + 1);
        else
          body(outer, node, inner);
        OK(cudaStreamBeginCaptureToGraph(w.stream, inner, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
      }
      EXPECT_EQ(cudaGraphDestroy(outer), cudaErrorIllegalState);
      EXPECT_EQ(cudaGraphDestroyNode(node), cudaErrorIllegalState);
      if (shape < 3) {
        cudaGraphNodeParams params = {};
        params.type = cudaGraphNodeTypeGraph;
        params.graph.graph = w.child;
        EXPECT_EQ(cudaGraphNodeSetParams(node, &params), cudaErrorIllegalState);
      }
      OK(cudaMemsetAsync(w.memory, 0, 4, w.stream));
      if (shape & 1) {  // invalidated, it still goes on
        EXPECT_EQ(cudaStreamQuery(w.stream), cudaErrorStreamCaptureUnsupported);
        EXPECT_EQ(cudaGraphDestroy(outer), cudaErrorIllegalState);
        EXPECT_EQ(cudaStreamEndCapture(w.stream, &ended), cudaErrorStreamCaptureInvalidated);
      } else {
        OK(cudaStreamEndCapture(w.stream, &ended));
        EXPECT_EQ(ended, inner);
        std::size_t count = 0;
        OK(cudaGraphGetNodes(inner, nullptr, &count));
        EXPECT_EQ(count, 1u);
      }
      OK(cudaGraphDestroyNode(node));
      OK(cudaGraphDestroy(outer));
    }
  // A stream that goes takes the graph along that it was captured into.
  cudaStream_t stream;
  cudaGraph_t graph;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  OK(cudaStreamDestroy(stream));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

}  // namespace
