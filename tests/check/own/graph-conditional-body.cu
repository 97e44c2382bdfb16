// DEFECT: a conditional body writes what a node beside the conditional reads.
// EXPECT: graph-graph
#include <cuda_runtime.h>

#include <cstdio>

#include "check.h"

constexpr int n = 8192;
__global__ void fill(int* out, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = v;
}
__global__ void add(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}
int main() {
  int *a, *b, *host;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t s, t;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  cudaEvent_t e;
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t conditional, inner, beside;
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddNode(&conditional, graph, nullptr, nullptr, 0, &params));
#else
  CHECK(cudaGraphAddNode(&conditional, graph, nullptr, 0, &params));
#endif
  cudaGraph_t body = params.conditional.phGraph_out[0];
  int one = 1;
  void* of_fill[] = {&a, &one};
  cudaKernelNodeParams k = {};
  k.func = reinterpret_cast<void*>(fill);
  k.gridDim = dim3(n / 256);
  k.blockDim = dim3(256);
  k.kernelParams = of_fill;
  CHECK(cudaGraphAddKernelNode(&inner, body, nullptr, 0, &k));  // RACE-A
  void* of_add[] = {&b, &a};
  k.func = reinterpret_cast<void*>(add);
  k.kernelParams = of_add;
#ifdef FIXED
  CHECK(cudaGraphAddKernelNode(&beside, graph, &conditional, 1, &k));
#else
  CHECK(cudaGraphAddKernelNode(&beside, graph, nullptr, 0, &k));  // RACE-B
#endif
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaDeviceSynchronize());
  std::printf("data right\n");
  std::puts("done");
  return 0;
}
