// DEFECT: a programmatic edge of a graph, whose second kernel doesn't wait.
// EXPECT: graph-graph
#include "streams.h"
__global__ void primary(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = i;
}
__global__ void secondary(int* to, const int* from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
  cudaGridDependencySynchronize();
#endif
  to[i] = from[i] + 1;
}
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  primary<<<GRID, 0, s>>>(a);  // RACE-A
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = n / 256;
  config.blockDim = 256;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const int* in = a;
  CHECK(cudaLaunchKernelEx(&config, secondary, b, in));  // RACE-B
  CHECK(cudaStreamEndCapture(s, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, s));  // VIA-A VIA-B
  CHECK(cudaStreamSynchronize(s));
#ifdef FIXED
  return finish(holds(b, 1));
#else
  return finish(true);
#endif
}
