// Rule: what an executable graph's kernel may be exchanged for: a kernel that launches kernels only for one that does.
// nvcc-flags: -std=c++17 -arch=sm_90 -rdc=true -lcudadevrt
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add(int* n, int x) { atomicAdd(n, x); }
__global__ void plain(int* n) { atomicAdd(n, 1); }
__global__ void other(int* n) { atomicAdd(n, 2); }
__global__ void launching(int* n) { add<<<1, 1>>>(n, 10); }
__global__ void launching_too(int* n) { add<<<1, 1>>>(n, 100); }

static int* n;
static void say(const char* what, cudaError_t error) {
  printf("%s = %s\n", what, cudaGetErrorName(error));
  fflush(stdout);
  cudaGetLastError();
}
static cudaGraph_t graph_of(void (*f)(int*), int edge, cudaGraphNode_t* second) {
  cudaGraph_t g;
  cudaGraphCreate(&g, 0);
  cudaKernelNodeParams p = {};
  p.func = (void*)plain;
  p.gridDim = p.blockDim = dim3(1);
  void* args[] = {&n};
  p.kernelParams = args;
  cudaGraphNode_t first;
  cudaGraphAddKernelNode(&first, g, nullptr, 0, &p);
  p.func = (void*)f;
  if (edge == 0) {
    say("  add", cudaGraphAddKernelNode(second, g, &first, 1, &p));
  } else {
    cudaGraphNodeParams q = {};
    q.type = cudaGraphNodeTypeKernel;
    q.kernel.func = p.func;
    q.kernel.gridDim = q.kernel.blockDim = dim3(1);
    q.kernel.kernelParams = args;
    cudaGraphEdgeData e = {};
    e.from_port = cudaGraphKernelNodePortProgrammatic;
    e.type = cudaGraphDependencyTypeProgrammatic;
    say("  add", cudaGraphAddNode(second, g, &first, &e, 1, &q));
  }
  return g;
}
static void run(cudaGraphExec_t x) {
  cudaMemset(n, 0, 4);
  say("  launch", cudaGraphLaunch(x, 0));
  say("  wait", cudaDeviceSynchronize());
  int h = -1;
  cudaMemcpy(&h, n, 4, cudaMemcpyDeviceToHost);
  printf("  n = %d\n", h);
  fflush(stdout);
}
static void change(const char* name, void (*from)(int*), void (*to)(int*), int edge) {
  printf("%s, edge %d\n", name, edge);
  cudaGraphNode_t a, b;
  cudaGraph_t g = graph_of(from, edge, &a), h = graph_of(to, edge, &b);
  cudaGraphExec_t x;
  cudaError_t made = cudaGraphInstantiate(&x, g, 0);
  say("  instantiate", made);
  if (made != cudaSuccess) return;
  run(x);
  cudaGraphExecUpdateResultInfo info = {};
  cudaError_t e = cudaGraphExecUpdate(x, h, &info);
  say("  update", e);
  printf("  result %d node %d from %d\n", (int)info.result,
         info.errorNode == b ? 2
         : info.errorNode    ? 1
                             : 0,
         info.errorFromNode != nullptr);
  run(x);
  cudaKernelNodeParams p = {};
  p.func = (void*)from;
  p.gridDim = p.blockDim = dim3(1);
  void* args[] = {&n};
  p.kernelParams = args;
  say("  set back", cudaGraphExecKernelNodeSetParams(x, a, &p));
  p.func = (void*)to;
  say("  set", cudaGraphExecKernelNodeSetParams(x, a, &p));
  run(x);
  say("  set node", cudaGraphKernelNodeSetParams(a, &p));
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
  cudaGraphDestroy(h);
}
int main() {
  cudaMalloc(&n, 4);
  for (int edge = 0; edge < 2; ++edge) {
    change("plain to other", plain, other, edge);
    change("plain to launching", plain, launching, edge);
    change("launching to plain", launching, plain, edge);
    change("launching to launching_too", launching, launching_too, edge);
  }
}
