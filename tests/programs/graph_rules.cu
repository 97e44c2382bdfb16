// Rules of building graphs, each seen by what a program can see: one node of every kind through the generic call, edge
// data in all queries, clones, cycles, conditional handles, memory that outlives a launch.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#include "check.h"

__global__ void add(int* p, int value) { atomicAdd(p, value); }
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
  --*left;
  cudaGraphSetConditional(handle, *left > 0);
}
static void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }

static int* device;  // [0] is what kernels add to
static cudaStream_t stream;

static cudaGraph_t make() {
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  return graph;
}
static cudaGraphNode_t adder(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after, int value) {
  void* arguments[] = {&device, &value};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(add);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}
static int sum() {
  int value = -1;
  OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
static size_t node_count(cudaGraph_t graph) {
  size_t n = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &n));
  return n;
}

// A line of one node of every kind, added by the one call for all of them.
static void every_kind() {
  cudaGraph_t graph = make(), child = make();
  adder(child, {}, 100);
  cudaGraphNode_t last = nullptr;
  size_t nodes = 0;
  const auto append = [&](cudaGraphNodeParams& params) {
    cudaGraphNode_t node = nullptr;
    OK(cudaGraphAddNode(&node, graph, last ? &last : nullptr, nullptr, last ? 1 : 0, &params));
    cudaGraphNodeType type = cudaGraphNodeTypeCount;
    OK(cudaGraphNodeGetType(node, &type));
    CHECK(type == params.type);
    size_t before = 9;
    OK(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &before));
    CHECK(before == (last ? 1u : 0u));
    last = node;
    ++nodes;
  };
  int one = 1, calls = 0;
  void* arguments[] = {&device, &one};
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = reinterpret_cast<void*>(add);
  p.kernel.gridDim = dim3(2);
  p.kernel.blockDim = dim3(3);
  p.kernel.kernelParams = arguments;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeEmpty;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeMemset;
  p.memset.dst = device + 4;
  p.memset.elementSize = 4;
  p.memset.width = 2;
  p.memset.height = 1;
  p.memset.value = 7;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeMemcpy;
  p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(device + 4, 8, 8, 1);
  p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(device + 8, 8, 8, 1);
  p.memcpy.copyParams.extent = make_cudaExtent(8, 1, 1);
  p.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeHost;
  p.host.fn = count;
  p.host.userData = &calls;
  append(p);
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  p = {};
  p.type = cudaGraphNodeTypeEventRecord;
  p.eventRecord.event = event;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeWaitEvent;
  p.eventWait.event = event;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeGraph;
  p.graph.graph = child;
  p.graph.ownership = cudaGraphChildGraphOwnershipClone;
  append(p);
  p = {};
  p.type = cudaGraphNodeTypeMemAlloc;
  p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  p.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.alloc.bytesize = 1000;
  append(p);
  void* const memory = p.alloc.dptr;
  CHECK(memory != nullptr);
  p = {};
  p.type = cudaGraphNodeTypeMemFree;
  p.free.dptr = memory;
  append(p);
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  append(p);
  adder(p.conditional.phGraph_out[0], {}, 1000);
  CHECK(node_count(graph) == nodes);

  cudaGraphNode_t none = nullptr;
  p = {};
  p.type = static_cast<cudaGraphNodeType>(55);
  REFUSED(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &p));
  REFUSED(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, nullptr));

  OK(cudaMemset(device, 0, 64));
  cudaGraphExec_t exec, second;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);  // its memory can be there once
  for (int k = 0; k < 3; ++k) OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(sum() == 3 * (6 + 100 + 1000));
  CHECK(calls == 3);
  OK(cudaEventQuery(event));
  int values[11];
  OK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
  CHECK(values[8] == 7 && values[9] == 7 && values[10] == 0);
  cudaGraph_t clone;
  EXPECT(cudaGraphClone(&clone, graph), cudaErrorNotSupported);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(child));
  OK(cudaEventDestroy(event));
}

// Edges with data of their own: no query loses it, and a removal names it.
static void edge_data() {
  cudaGraph_t graph = make();
  cudaGraphNode_t a = adder(graph, {}, 1), b = adder(graph, {}, 1), from = nullptr, to = nullptr, empty = nullptr;
  cudaGraphEdgeData programmatic{}, got{}, ordinary{};
  programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  OK(cudaGraphAddDependencies(graph, &a, &b, &programmatic, 1));
  size_t n = 1;
  EXPECT(cudaGraphGetEdges(graph, &from, &to, nullptr, &n), cudaErrorLossyQuery);
  n = 1;
  EXPECT(cudaGraphNodeGetDependencies(b, &from, nullptr, &n), cudaErrorLossyQuery);
  n = 1;
  EXPECT(cudaGraphNodeGetDependentNodes(a, &to, nullptr, &n), cudaErrorLossyQuery);
  n = 1;
  OK(cudaGraphNodeGetDependencies(b, &from, &got, &n));
  CHECK(n == 1 && from == a && got.from_port == programmatic.from_port && got.type == programmatic.type);
  // There is one edge at most between two nodes, and removing it doesn't ask what it was.
  OK(cudaGraphRemoveDependencies(graph, &a, &b, &ordinary, 1));
  REFUSED(cudaGraphRemoveDependencies(graph, &a, &b, &programmatic, 1));
  OK(cudaGraphAddDependencies(graph, &a, &b, &programmatic, 1));
  OK(cudaGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
  // What is no edge at all.
  for (int kind = 0; kind < 4; ++kind) {
    cudaGraphEdgeData bad = programmatic;
    if (kind == 0) bad.from_port = 3;
    if (kind == 1) bad.to_port = 1;
    if (kind == 2) bad.type = 9;
    if (kind == 3) bad.reserved[0] = 1;
    REFUSED(cudaGraphAddDependencies(graph, &a, &b, &bad, 1));
  }
  OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  REFUSED(cudaGraphAddDependencies(graph, &a, &empty, &programmatic, 1));  // kernels only
  OK(cudaGraphDestroy(graph));
}

// Cycles are refused by instantiation, and taking one edge away makes the graph good again.
static void cycles() {
  cudaGraph_t graph = make();
  cudaGraphNode_t a = adder(graph, {}, 1), b = adder(graph, {a}, 2), c = adder(graph, {b}, 3);
  cudaGraphExec_t exec;
  REFUSED(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));  // there already
  REFUSED(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
  REFUSED(cudaGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
  OK(cudaGraphAddDependencies(graph, &c, &a, nullptr, 1));
  REFUSED(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphRemoveDependencies(graph, &c, &a, nullptr, 1));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

static void clones() {
  cudaGraph_t graph = make(), clone, again;
  cudaGraphNode_t a = adder(graph, {}, 1), b = adder(graph, {a}, 2), found = nullptr;
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&found, b, clone));
  CHECK(found && found != b);
  REFUSED(cudaGraphNodeFindInClone(&found, b, graph));
  cudaGraphNode_t late = adder(graph, {}, 3);
  REFUSED(cudaGraphNodeFindInClone(&found, late, clone));
  OK(cudaGraphClone(&again, clone));
  REFUSED(cudaGraphNodeFindInClone(&found, a, again));  // a clone of the clone knows the clone's nodes
  OK(cudaGraphNodeFindInClone(&found, b, clone));
  OK(cudaGraphDestroyNode(found));
  REFUSED(cudaGraphNodeFindInClone(&found, b, clone));
  CHECK(node_count(graph) == 3 && node_count(clone) == 1 && node_count(again) == 2);
  for (cudaGraph_t g : {graph, clone, again}) OK(cudaGraphDestroy(g));
}

static void conditionals() {
  cudaGraph_t graph = make();
  cudaGraphConditionalHandle handle, unused;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  cudaGraphNode_t loop, none, step;
  OK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &p));
  cudaGraph_t body = p.conditional.phGraph_out[0];
  cudaGraphNode_t first = adder(body, {}, 1);
  int* left = device + 1;
  void* arguments[] = {&handle, &left};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(count_down);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&step, body, &first, 1, &kernel));
  REFUSED(cudaGraphDestroy(body));  // the node's
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  // The default is assigned at every launch, whatever the launch before left behind.
  for (int rounds : {5, 1, 3}) {
    OK(cudaMemset(device, 0, sizeof(int)));
    OK(cudaMemcpy(left, &rounds, sizeof rounds, cudaMemcpyHostToDevice));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(sum() == rounds);
  }
  OK(cudaGraphExecDestroy(exec));
  p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  REFUSED(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &p));  // one node for a handle
  REFUSED(cudaGraphConditionalHandleCreate(&unused, graph, 0, 2));
  OK(cudaGraphConditionalHandleCreate(&unused, graph, 0, 0));
  p.conditional.handle = unused;
  for (unsigned size : {0u, 3u}) {
    p.conditional.size = size;
    REFUSED(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &p));
  }
  REFUSED(cudaGraphInstantiate(&exec, graph, 0));  // a handle without a node
  OK(cudaGraphDestroy(graph));
}

// What a graph allocates and doesn't free stays until somebody does: the program, or the next launch.
static void memory_that_stays() {
  cudaGraph_t graph = make();
  cudaMemAllocNodeParams p{};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.bytesize = 1 << 20;
  cudaGraphNode_t allocated, filled;
  OK(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &p));
  cudaMemsetParams fill{p.dptr, 0, 3, 4, 10, 1};
  OK(cudaGraphAddMemsetNode(&filled, graph, &allocated, 1, &fill));
  EXPECT(cudaGraphDestroyNode(filled), cudaErrorNotSupported);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  unsigned long long flags = 0;
  OK(cudaGraphExecGetFlags(exec, &flags));
  CHECK(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int k = 0; k < 4; ++k) OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  int value = 0;
  OK(cudaMemcpy(&value, p.dptr, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(value == 3);
  OK(cudaFree(p.dptr));
  REFUSED(cudaFree(p.dptr));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaFreeAsync(p.dptr, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  REFUSED(cudaGraphLaunch(exec, stream));  // it is there still
  OK(cudaFree(p.dptr));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaFreeAsync(p.dptr, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  unsigned long long number = 77;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &number));
  EXPECT(cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemCurrent, &number), cudaErrorInvalidDevice);
  number = 0;
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &number));
  REFUSED(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &number));
  number = 5;
  REFUSED(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &number));
  OK(cudaDeviceGraphMemTrim(0));
  EXPECT(cudaDeviceGraphMemTrim(-1), cudaErrorInvalidDevice);
}

int main() {
  OK(cudaMalloc(&device, 64));
  OK(cudaStreamCreate(&stream));
  every_kind();
  edge_data();
  cycles();
  clones();
  conditionals();
  memory_that_stays();
  OK(cudaDeviceSynchronize());
  return wrong != 0;
}
