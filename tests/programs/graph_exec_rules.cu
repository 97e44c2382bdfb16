// Rules of executable graphs: parameters that change in the executable graph and not in the graph, nodes that are
// switched off, children, events, objects that live as long as a launch needs them, and handles that are destroyed
// while their work runs.
#include <atomic>
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

#include "check.h"

__global__ void add(int* p, int value) { atomicAdd(p, value); }
__global__ void add_twice(int* p, int value) { atomicAdd(p, 2 * value); }
static void CUDART_CB count(void* calls) { static_cast<std::atomic<int>*>(calls)->fetch_add(1); }

static int* device;
static cudaStream_t stream;

struct Kernel {
  int value;
  void* arguments[2];
  cudaKernelNodeParams params{};
  Kernel(void (*function)(int*, int), int v) : value(v), arguments{&device, &value} {
    params.func = reinterpret_cast<void*>(function);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
  }
  Kernel(const Kernel&) = delete;
};

// What one launch adds to device[0].
static int launched(cudaGraphExec_t exec) {
  int before = 0, after = 0;
  OK(cudaMemcpy(&before, device, sizeof before, cudaMemcpyDeviceToHost));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(&after, device, sizeof after, cudaMemcpyDeviceToHost));
  return after - before;
}

// kernel - set - copy - host function - event record - child graph, in a line.
struct Line {
  cudaGraph_t graph = nullptr, child = nullptr;
  cudaGraphNode_t kernel, set, copy, host, empty, record, nested, inner;
  cudaEvent_t event;
  std::atomic<int> calls{0};
  Kernel one{add, 1};

  Line() {
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaEventCreate(&event));
    OK(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &one.params));
    const cudaMemsetParams fill = filled(1);
    OK(cudaGraphAddMemsetNode(&set, graph, &kernel, 1, &fill));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, device + 16, device + 8, 16, cudaMemcpyDeviceToDevice));
    cudaHostNodeParams function{count, &calls};
    OK(cudaGraphAddHostNode(&host, graph, &copy, 1, &function));
    OK(cudaGraphAddEmptyNode(&empty, graph, &host, 1));
    OK(cudaGraphAddEventRecordNode(&record, graph, &empty, 1, event));
    OK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &one.params));
    OK(cudaGraphAddChildGraphNode(&nested, graph, &record, 1, child));
  }
  ~Line() {
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(child));
    OK(cudaEventDestroy(event));
  }
  static cudaMemsetParams filled(unsigned value) { return {device + 8, 0, value, 4, 4, 1}; }
};

static void parameters() {
  Line line;
  Kernel ten(add_twice, 10);
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, line.graph, 0));
  CHECK(launched(exec) == 1 + 1);
  OK(cudaGraphExecKernelNodeSetParams(exec, line.kernel, &ten.params));
  CHECK(launched(exec) == 20 + 1);
  cudaKernelNodeParams kept;
  OK(cudaGraphKernelNodeGetParams(line.kernel, &kept));
  CHECK(kept.func == reinterpret_cast<void*>(add) && *static_cast<int*>(kept.kernelParams[1]) == 1);
  // Each call is for its own kind of node, and a refused one changes nothing.
  cudaMemsetParams nine = Line::filled(9);
  std::atomic<int> others{0};
  cudaHostNodeParams other{count, &others};
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  REFUSED(cudaGraphExecKernelNodeSetParams(exec, line.set, &ten.params));
  REFUSED(cudaGraphExecMemsetNodeSetParams(exec, line.kernel, &nine));
  REFUSED(cudaGraphExecHostNodeSetParams(exec, line.empty, &other));
  REFUSED(cudaGraphExecEventWaitNodeSetEvent(exec, line.record, event));
  CHECK(launched(exec) == 20 + 1);
  OK(cudaGraphExecMemsetNodeSetParams(exec, line.set, &nine));
  OK(cudaGraphExecHostNodeSetParams(exec, line.host, &other));
  OK(cudaGraphExecEventRecordNodeSetEvent(exec, line.record, event));
  OK(cudaGraphExecMemcpyNodeSetParams1D(exec, line.copy, device + 20, device + 8, 8, cudaMemcpyDeviceToDevice));
  OK(cudaMemset(device + 16, 0, 32));
  const int calls = line.calls.load();
  CHECK(launched(exec) == 20 + 1);
  CHECK(line.calls.load() == calls && others.load() == 1);
  OK(cudaEventQuery(event));
  int values[24];
  OK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
  CHECK(values[16] == 0 && values[20] == 9 && values[21] == 9 && values[22] == 0);
  // A copy keeps its direction.
  int* pinned;
  OK(cudaMallocHost(&pinned, 64));
  REFUSED(cudaGraphExecMemcpyNodeSetParams1D(exec, line.copy, pinned, device + 8, 8, cudaMemcpyDeviceToHost));
  OK(cudaFreeHost(pinned));
  // Children of the same shape.
  cudaGraph_t same;
  cudaGraphNode_t node;
  OK(cudaGraphCreate(&same, 0));
  OK(cudaGraphAddKernelNode(&node, same, nullptr, 0, &ten.params));
  OK(cudaGraphExecChildGraphNodeSetParams(exec, line.nested, same));
  CHECK(launched(exec) == 20 + 20);
  OK(cudaGraphAddEmptyNode(&node, same, nullptr, 0));
  EXPECT(cudaGraphExecChildGraphNodeSetParams(exec, line.nested, same), cudaErrorGraphExecUpdateFailure);
  CHECK(launched(exec) == 20 + 20);
  OK(cudaGraphDestroy(same));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaEventDestroy(event));
}

static void switched_off() {
  Line line;
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, line.graph, 0));
  unsigned enabled = 9;
  OK(cudaGraphNodeGetEnabled(exec, line.kernel, &enabled));
  CHECK(enabled == 1);
  OK(cudaGraphNodeSetEnabled(exec, line.kernel, 0));
  OK(cudaGraphNodeGetEnabled(exec, line.kernel, &enabled));
  CHECK(enabled == 0 && launched(exec) == 1);
  Kernel ten(add, 10);
  OK(cudaGraphExecKernelNodeSetParams(exec, line.kernel, &ten.params));  // stays off
  CHECK(launched(exec) == 1);
  OK(cudaGraphNodeSetEnabled(exec, line.kernel, 1));
  CHECK(launched(exec) == 10 + 1);
  REFUSED(cudaGraphNodeSetEnabled(exec, line.host, 0));
  REFUSED(cudaGraphNodeSetEnabled(exec, line.empty, 0));
  REFUSED(cudaGraphNodeGetEnabled(exec, line.kernel, nullptr));
  OK(cudaGraphExecDestroy(exec));
}

static void attributes() {
  Line line;
  cudaGraphNode_t other;
  OK(cudaGraphAddKernelNode(&other, line.graph, nullptr, 0, &line.one.params));
  cudaLaunchAttributeValue value{};
  value.priority = -3;
  OK(cudaGraphKernelNodeSetAttribute(line.kernel, cudaLaunchAttributePriority, &value));
  OK(cudaGraphKernelNodeCopyAttributes(other, line.kernel));
  value = {};
  OK(cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributePriority, &value));
  CHECK(value.priority == -3);
  REFUSED(cudaGraphKernelNodeCopyAttributes(other, line.set));
  REFUSED(cudaGraphKernelNodeGetAttribute(line.set, cudaLaunchAttributePriority, &value));
  REFUSED(cudaGraphKernelNodeSetAttribute(line.kernel, cudaLaunchAttributePriority, nullptr));
  Kernel ten(add, 10);
  cudaGraphNodeParams generic{};
  generic.type = cudaGraphNodeTypeKernel;
  generic.kernel.func = ten.params.func;
  generic.kernel.gridDim = dim3(2);
  generic.kernel.blockDim = dim3(1);
  generic.kernel.kernelParams = ten.arguments;
  OK(cudaGraphNodeSetParams(line.kernel, &generic));
  cudaKernelNodeParams kept;
  OK(cudaGraphKernelNodeGetParams(line.kernel, &kept));
  CHECK(kept.gridDim.x == 2 && *static_cast<int*>(kept.kernelParams[1]) == 10);
  generic.type = cudaGraphNodeTypeMemset;
  REFUSED(cudaGraphNodeSetParams(line.kernel, &generic));
}

static void lifetimes() {
  cudaGraphExec_t exec;
  {
    Line line;
    for (int i = 0; i < 200; ++i) {
      OK(cudaGraphInstantiate(&exec, line.graph, 0));
      OK(cudaGraphLaunch(exec, stream));
      OK(cudaGraphLaunch(exec, stream));
      OK(cudaGraphExecDestroy(exec));  // both launches run to their end
    }
    OK(cudaStreamSynchronize(stream));
    CHECK(line.calls.load() == 400);
    OK(cudaGraphInstantiate(&exec, line.child, 0));
  }
  CHECK(launched(exec) == 1);  // without its graph
  OK(cudaGraphExecDestroy(exec));
  REFUSED(cudaGraphLaunch(exec, stream));
  REFUSED(cudaGraphExecDestroy(exec));
  // A user object lives while a graph, an executable graph or a launch has it.
  std::atomic<int> destroyed{0};
  Line line;
  cudaUserObject_t object;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &line.one.params));
  OK(cudaUserObjectCreate(&object, &destroyed, count, 2, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaUserObjectRelease(object, 1));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  CHECK(destroyed.load() == 0);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaStreamSynchronize(stream));
  while (destroyed.load() == 0) std::this_thread::yield();
  CHECK(destroyed.load() == 1);
}

static void instantiations() {
  Line line;
  cudaGraphExec_t exec;
  cudaGraphInstantiateParams params{};
  params.flags = cudaGraphInstantiateFlagUpload;
  params.uploadStream = stream;
  OK(cudaGraphInstantiateWithParams(&exec, line.graph, &params));
  CHECK(params.result_out == cudaGraphInstantiateSuccess);
  OK(cudaGraphUpload(exec, stream));
  CHECK(launched(exec) == 2);
  OK(cudaGraphExecDestroy(exec));
  REFUSED(cudaGraphInstantiate(&exec, line.graph, 1ull << 20));
  REFUSED(cudaGraphInstantiate(nullptr, line.graph, 0));
  REFUSED(cudaGraphInstantiate(&exec, nullptr, 0));
}

int main() {
  OK(cudaMalloc(&device, 256));
  OK(cudaMemset(device, 0, 256));
  OK(cudaStreamCreate(&stream));
  parameters();
  switched_off();
  attributes();
  lifetimes();
  instantiations();
  OK(cudaDeviceSynchronize());
  return wrong != 0;
}
