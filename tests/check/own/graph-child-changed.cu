// DEFECT: a child graph is changed to set another buffer, which another stream uses.
// EXPECT: stream-stream
#include "streams.h"
static cudaGraph_t setting(int* p) {
  cudaGraph_t g;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&g, 0));
  cudaMemsetParams set = {};
  set.dst = p;
  set.elementSize = 4;
  set.width = n;
  set.height = 1;
  set.value = 4;
  CHECK(cudaGraphAddMemsetNode(&node, g, nullptr, 0, &set));  // RACE-A
  return g;
}
int main() {
  int *a = device(), *b = device(), *c = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, setting(a)));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphExecChildGraphNodeSetParams(exec, node, setting(b)));
  CHECK(cudaGraphLaunch(exec, s));  // VIA-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  move<<<GRID, 0, t>>>(c, b);  // RACE-B
  move<<<GRID, 0, t>>>(c, a);
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 4, 0));
}
