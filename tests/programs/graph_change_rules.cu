// Rules of changes to graphs: which node and edge an update names, which copies may change, edges added in one call,
// child graphs that are set, graphs of captures that fail, memory that is used again, and graphs after the context has
// died.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

__global__ void add(int* p, int value) { atomicAdd(p, value); }

static int* device;
static cudaStream_t stream;

struct Shape {
  cudaGraph_t graph = nullptr;
  std::vector<cudaGraphNode_t> nodes;
  // A node behind others of this graph: a kernel, or an empty one.
  void node(std::vector<int> after, bool empty = false) {
    if (!graph) OK(cudaGraphCreate(&graph, 0));
    std::vector<cudaGraphNode_t> dependencies;
    for (int i : after) dependencies.push_back(nodes[i]);
    static int one = 1;
    void* arguments[] = {&device, &one};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(add);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    cudaGraphNode_t made = nullptr;
    if (empty)
      OK(cudaGraphAddEmptyNode(&made, graph, dependencies.data(), dependencies.size()));
    else
      OK(cudaGraphAddKernelNode(&made, graph, dependencies.data(), dependencies.size(), &params));
    nodes.push_back(made);
  }
};

// What an update names is what is met first on the way back from the last sink.
static void names(Shape& now, Shape& then, cudaGraphExecUpdateResult result, int node, int from) {
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, now.graph, 0));
  cudaGraphExecUpdateResultInfo info{};
  EXPECT(cudaGraphExecUpdate(exec, then.graph, &info), cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == result);
  CHECK(info.errorNode == (node < 0 ? nullptr : then.nodes[node]));
  CHECK(info.errorFromNode == (from < 0 ? nullptr : then.nodes[from]));
  OK(cudaGraphExecDestroy(exec));
}
static void updates() {
  Shape line, changed, fan, fan_changed, two, cross, edge;
  for (int i = 0; i < 4; ++i) {
    const std::vector<int> previous = i ? std::vector<int>{i - 1} : std::vector<int>{};
    line.node(previous);
    changed.node(previous, i < 2);
    edge.node(previous);
    fan.node(i ? std::vector<int>{0} : std::vector<int>{});
    fan_changed.node(i ? std::vector<int>{0} : std::vector<int>{}, i != 0);
    two.node(i < 2 ? std::vector<int>{} : std::vector<int>{0, 1});
    cross.node(i < 2 ? std::vector<int>{} : i == 2 ? std::vector<int>{0, 1} : std::vector<int>{1, 0});
  }
  names(line, changed, cudaGraphExecUpdateErrorNodeTypeChanged, 1, -1);
  names(fan, fan_changed, cudaGraphExecUpdateErrorNodeTypeChanged, 3, -1);
  names(two, cross, cudaGraphExecUpdateErrorTopologyChanged, 2, 0);
  cudaGraphEdgeData programmatic{};
  programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  OK(cudaGraphRemoveDependencies(edge.graph, &edge.nodes[1], &edge.nodes[2], nullptr, 1));
  OK(cudaGraphAddDependencies(edge.graph, &edge.nodes[1], &edge.nodes[2], &programmatic, 1));
  names(line, edge, cudaGraphExecUpdateErrorTopologyChanged, 2, 1);
}

// Copies in rows stay as they are; one row may go elsewhere.
static void copies() {
  for (const size_t rows : {1, 2}) {
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(device + 256, 64, 64, 4);
    params.dstPtr = make_cudaPitchedPtr(device + 512, 64, 64, 4);
    params.extent = make_cudaExtent(32, rows, 1);
    params.kind = cudaMemcpyDeviceToDevice;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecMemcpyNodeSetParams(exec, node, &params));
    params.dstPtr.ptr = device + 768;
    EXPECT(cudaGraphExecMemcpyNodeSetParams(exec, node, &params), rows == 1 ? cudaSuccess : cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  }
}

// Bad nodes are found before any edge is added; an edge that is there already only when its turn comes.
static void edges() {
  Shape shape;
  for (int i = 0; i < 4; ++i) shape.node({});
  const auto count = [&] {
    size_t n = 99;
    OK(cudaGraphGetEdges(shape.graph, nullptr, nullptr, nullptr, &n));
    return n;
  };
  const cudaGraphNode_t *n = shape.nodes.data(), from[] = {n[0], n[1]}, to[] = {n[1], n[1]}, twice[] = {n[0], n[0]};
  REFUSED(cudaGraphAddDependencies(shape.graph, from, to, nullptr, 2));
  CHECK(count() == 0);
  REFUSED(cudaGraphAddDependencies(shape.graph, twice, to, nullptr, 2));
  CHECK(count() == 1);
}

static void children() {
  Shape inner, other, outer;
  inner.node({});
  other.node({});
  other.node({});
  cudaGraph_t held = nullptr;
  cudaGraphNode_t child, part;
  OK(cudaGraphCreate(&outer.graph, 0));
  OK(cudaGraphAddChildGraphNode(&child, outer.graph, nullptr, 0, inner.graph));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeGraph;
  params.graph.graph = other.graph;
  OK(cudaGraphNodeSetParams(child, &params));
  OK(cudaGraphChildGraphNodeGetGraph(child, &held));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(held, nullptr, &nodes));
  CHECK(nodes == 2 && held != other.graph);
  EXPECT(cudaGraphAddChildGraphNode(&part, outer.graph, nullptr, 0, held), cudaErrorNotSupported);
}

// A capture that fails takes the graph along that it was made into.
static void failed_captures() {
  cudaGraph_t graph, out = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  EXPECT(cudaGraphInstantiate(nullptr, nullptr, 0), cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &out), cudaErrorStreamCaptureInvalidated);
  CHECK(!out);
  REFUSED(cudaGraphDestroy(graph));
}

// What is freed ahead of an allocation is used again, once.
static void memory() {
  cudaGraph_t graph;
  cudaGraphNode_t node, freed;
  OK(cudaGraphCreate(&graph, 0));
  const auto allocate = [&](size_t bytes, const cudaGraphNode_t* after) {
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    params.bytesize = bytes;
    OK(cudaGraphAddMemAllocNode(&node, graph, after, after ? 1 : 0, &params));
    return params.dptr;
  };
  void* const first = allocate(4096, nullptr);
  OK(cudaGraphAddMemFreeNode(&freed, graph, &node, 1, first));
  CHECK(allocate(8192, &freed) != first);
  CHECK(allocate(64, &freed) == first);
  cudaGraphNode_t freed_again;
  OK(cudaGraphAddMemFreeNode(&freed_again, graph, &node, 1, first));
  // That it is free again further on is nothing to a node behind the first free only.
  CHECK(allocate(64, &freed) != first);
  CHECK(allocate(64, &freed_again) == first);
  CHECK(allocate(64, &freed_again) != first);
}

static void dead() {
  Shape shape;
  shape.node({});
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, shape.graph, 0));
  add<<<1, 1, 0, stream>>>(nullptr, 1);
  EXPECT(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  cudaGraphNode_t node;
  OK(cudaGraphAddEmptyNode(&node, shape.graph, nullptr, 0));
  OK(cudaGraphNodeSetEnabled(exec, shape.nodes[0], 0));
  EXPECT(cudaGraphLaunch(exec, stream), cudaErrorIllegalAddress);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(shape.graph));
}

int main() {
  OK(cudaMalloc(&device, 1 << 16));
  OK(cudaStreamCreate(&stream));
  updates();
  copies();
  edges();
  children();
  failed_captures();
  memory();
  dead();
  return wrong != 0;
}
