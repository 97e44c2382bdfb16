// Programmatic edges in graphs (programming guide, "Programmatic Dependent Launch", use in CUDA graphs): a kernel
// begins when the one in front of it has triggered, or when all of its blocks have begun, and may wait for its end.
// Nothing here depends on time: what must not wait for something would wait for ever.
#include "check.h"
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

struct Flags {
  volatile int first, second, third, late[4], seen[4], gone;
};

__device__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
  __threadfence();
}
// Triggers, and ends only when the next kernel has begun.
__global__ void meets(Flags* f, int value) {
  cudaTriggerProgrammaticLaunchCompletion();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    wait_for(&f->second);
    f->late[0] = value;
  }
}
// Never triggers: what follows begins when all of its blocks have begun.
__global__ void only_begins(Flags* f, int value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    wait_for(&f->second);
    f->late[0] = value;
  }
}
__global__ void follows(Flags* f) {
  if (threadIdx.x == 0) f->second = 1;
  cudaGridDependencySynchronize();
  if (threadIdx.x == 0) f->seen[0] = f->late[0];
}
// Behind one kernel and in front of another.
__global__ void between(Flags* f, int value) {
  if (threadIdx.x == 0) f->second = 1;
  cudaTriggerProgrammaticLaunchCompletion();
  wait_for(&f->third);
  cudaGridDependencySynchronize();
  if (threadIdx.x == 0) {
    f->seen[0] = f->late[0];
    f->late[1] = value;
  }
}
__global__ void last(Flags* f) {
  if (threadIdx.x == 0) f->third = 1;
  cudaGridDependencySynchronize();
  if (threadIdx.x == 0) f->seen[1] = f->late[1], f->seen[2] = f->late[0];
}
// Ends before the kernel in front of it.
__global__ void overtakes(Flags* f) { f->second = 1; }
__global__ void behind_both(Flags* f) { f->seen[3] = f->late[0]; }
__global__ void writes(Flags* f, int value) { f->late[0] = value, f->second = 1; }
__global__ void again(Flags* f, cudaGraphConditionalHandle loop) {
  if (threadIdx.x != 0) return;
  f->second = 0;
  cudaGraphSetConditional(loop, ++f->gone < 5);
}

static Flags* flags;
static cudaStream_t stream;

template <class... P, class... A>
static cudaGraphNode_t add(cudaGraph_t graph, unsigned blocks, void (*kernel)(P...), A... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams p{};
  p.func = (void*)kernel;
  p.gridDim = dim3(blocks);
  p.blockDim = dim3(32);
  p.kernelParams = pointers;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  return node;
}
static void edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, int port, int type = 1) {
  cudaGraphEdgeData data{};
  data.from_port = port;
  data.type = type;
  OK(cudaGraphAddDependencies(graph, &from, &to, &data, 1));
}
static cudaGraphExec_t made(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}
static void run(cudaGraphExec_t exec) {
  std::memset((void*)flags, 0, sizeof *flags);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
}

static void pair_of_kernels() {
  for (const int port : {cudaGraphKernelNodePortProgrammatic, cudaGraphKernelNodePortLaunchCompletion}) {
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    auto kernel = port == cudaGraphKernelNodePortProgrammatic ? meets : only_begins;
    const auto a = add(graph, 3, kernel, flags, 7), b = add(graph, 2, follows, flags);
    edge(graph, a, b, port);
    const auto exec = made(graph);
    for (int round = 0; round < 50; ++round) {
      run(exec);
      CHECK(flags->seen[0] == 7);
    }
    // What is changed while a launch is pending goes to a copy of the executable graph.
    void* arguments[2];
    int value = 9;
    arguments[0] = &flags, arguments[1] = &value;
    cudaKernelNodeParams p{};
    p.func = (void*)kernel;
    p.gridDim = dim3(5), p.blockDim = dim3(32);
    p.kernelParams = arguments;
    std::memset((void*)flags, 0, sizeof *flags);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphExecKernelNodeSetParams(exec, a, &p));
    OK(cudaStreamSynchronize(stream));
    CHECK(flags->seen[0] == 7);
    run(exec);
    CHECK(flags->seen[0] == 9);
    // Without the first kernel the second waits for nothing.
    OK(cudaGraphNodeSetEnabled(exec, a, 0));
    run(exec);
    CHECK(flags->second == 1 && flags->seen[0] == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
  }
}

static void chain() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  const auto a = add(graph, 1, meets, flags, 7), b = add(graph, 1, between, flags, 8), c = add(graph, 1, last, flags);
  edge(graph, a, b, 1);
  edge(graph, b, c, 1);
  cudaGraph_t outer;
  OK(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t child;
  OK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  for (cudaGraph_t g : {graph, outer}) {
    const auto exec = made(g);
    for (int round = 0; round < 50; ++round) {
      run(exec);
      CHECK(flags->seen[0] == 7 && flags->seen[1] == 8 && flags->seen[2] == 7);
    }
    OK(cudaGraphExecDestroy(exec));
  }
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(outer));
}

// What follows the second kernel follows the first one too, and so does the end of the launch.
static void ends_in_order() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  const auto a = add(graph, 1, meets, flags, 7), b = add(graph, 1, overtakes, flags);
  edge(graph, a, b, 1);
  auto exec = made(graph);
  for (int round = 0; round < 50; ++round) {
    run(exec);
    CHECK(flags->late[0] == 7);
  }
  OK(cudaGraphExecDestroy(exec));
  const auto c = add(graph, 1, behind_both, flags);
  edge(graph, b, c, 0, 0);
  exec = made(graph);
  for (int round = 0; round < 50; ++round) {
    run(exec);
    CHECK(flags->seen[3] == 7);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// A kernel that doesn't know of triggers opens its edges by its end.
static void ordinary_kernels() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  const auto a = add(graph, 4, writes, flags, 5), b = add(graph, 1, behind_both, flags),
             c = add(graph, 1, follows, flags);
  edge(graph, a, b, 1);
  edge(graph, a, c, 2);
  const auto exec = made(graph);
  for (int round = 0; round < 50; ++round) {
    run(exec);
    CHECK(flags->seen[3] == 5 && flags->seen[0] == 5);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

static void in_a_loop() {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p{};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeWhile;
  p.conditional.size = 1;
  cudaGraphNode_t loop;
  OK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &p));
  cudaGraph_t body = p.conditional.phGraph_out[0];
  const auto a = add(body, 1, meets, flags, 7), b = add(body, 1, overtakes, flags),
             c = add(body, 1, again, flags, handle);
  edge(body, a, b, 1);
  edge(body, b, c, 0, 0);
  const auto exec = made(graph);
  for (int round = 0; round < 10; ++round) {
    run(exec);
    CHECK(flags->gone == 5);
  }
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// Captured programmatic launches are such edges.
static void captured() {
  cudaGraph_t graph;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  meets<<<1, 32, 0, stream>>>(flags, 7);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cudaLaunchKernelEx(&config, follows, flags));
  OK(cudaStreamEndCapture(stream, &graph));
  const auto exec = made(graph);
  run(exec);
  CHECK(flags->seen[0] == 7);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

int main() {
  OK(cudaMallocManaged(&flags, sizeof *flags));
  OK(cudaStreamCreate(&stream));
  pair_of_kernels();
  chain();
  ends_in_order();
  ordinary_kernels();
  in_a_loop();
  captured();
  return report();
}
