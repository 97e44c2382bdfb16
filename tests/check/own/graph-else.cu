// DEFECT: none: an if and its else never run both, and a loop's turns follow each other.
// EXPECT: none
#include "streams.h"
__global__ void choose(cudaGraphConditionalHandle h, const int* left) { cudaGraphSetConditional(h, *left & 1); }
int main() {
  int *d = device(), *flag = device();
  int one = 1;
  CHECK(cudaMemcpy(flag, &one, 4, cudaMemcpyHostToDevice));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  cudaGraphNodeParams k = {};
  k.type = cudaGraphNodeTypeKernel;
  void* args[] = {&handle, &flag};
  k.kernel.func = (void*)choose;
  k.kernel.gridDim = 1;
  k.kernel.blockDim = 1;
  k.kernel.kernelParams = args;
  cudaGraphNode_t first, cond, node;
  CHECK(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &k));
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 2;
  CHECK(cudaGraphAddNode(&cond, graph, &first, nullptr, 1, &p));
  for (int i = 0; i < 2; ++i) {
    cudaMemsetParams set = {};
    set.dst = d;
    set.elementSize = 4;
    set.width = n;
    set.height = 1;
    set.value = 3 + i;
    CHECK(cudaGraphAddMemsetNode(&node, p.conditional.phGraph_out[i], nullptr, 0, &set));
  }
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  cudaStream_t s = nonblocking();
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  return finish(holds(d, 3, 0));
}
