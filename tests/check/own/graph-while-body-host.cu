// DEFECT: the host reads the iteration's pinned result right behind the launch of a graph with a loop.
// EXPECT: graph-host
#include "streams.h"
__global__ void step(int* p, cudaGraphConditionalHandle h) {
  int v = ++p[0];
  cudaGraphSetConditional(h, v < 5);
}
int main() {
  int* p = pinned();
  cudaStream_t s = nonblocking();
  cudaGraph_t g;
  CHECK(cudaGraphCreate(&g, 0));
  cudaGraphConditionalHandle h;
  CHECK(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams c = {};
  c.type = cudaGraphNodeTypeConditional;
  c.conditional.handle = h;
  c.conditional.type = cudaGraphCondTypeWhile;
  c.conditional.size = 1;
  cudaGraphNode_t loop, k;
  CHECK(cudaGraphAddNode(&loop, g, nullptr, nullptr, 0, &c));
  cudaKernelNodeParams kp = {};
  void* args[] = {&p, &h};
  kp.func = (void*)step;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&k, c.conditional.phGraph_out[0], nullptr, 0, &kp));  // RACE-A
  cudaGraphExec_t x;
  CHECK(cudaGraphInstantiate(&x, g, 0));
  CHECK(cudaGraphLaunch(x, s));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  int got = p[0];  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(got == 5);
}
