// DEFECT: a changed kernel of an executable graph writes what another stream reads.
// EXPECT: stream-stream
#include "streams.h"
int main() {
  int *d = device(), *e2 = device(), *o = device();
  auto s = nonblocking(), t = nonblocking();
  int v = 3;
  void* args[] = {&d, &v};
  void* args2[] = {&e2, &v};
  cudaKernelNodeParams p{};
  p.func = (void*)fill;
  p.gridDim = n / 256;
  p.blockDim = 256;
  p.kernelParams = args;
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphNode_t a;
  CHECK(cudaGraphCreate(&g, 0));
  CHECK(cudaGraphAddKernelNode(&a, g, nullptr, 0, &p));  // RACE-A
  CHECK(cudaGraphInstantiate(&x, g, 0));
  CHECK(cudaGraphLaunch(x, s));
  p.kernelParams = args2;
  CHECK(cudaGraphExecKernelNodeSetParams(x, a, &p));
  CHECK(cudaGraphLaunch(x, s));  // VIA-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  move<<<GRID, 0, t>>>(o, e2);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(o, 3));
}
