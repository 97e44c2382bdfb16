// DEFECT: a node copies what a child graph sets, without an edge from the child.
// EXPECT: graph-graph
#include "streams.h"
int main() {
  int *d = device(), *o = device();
  auto s = nonblocking();
  cudaGraph_t child, g;
  cudaGraphExec_t x;
  cudaGraphNode_t a, b, c;
  CHECK(cudaGraphCreate(&child, 0));
  CHECK(cudaGraphCreate(&g, 0));
  cudaMemsetParams m{};
  m.dst = d;
  m.value = 1;
  m.elementSize = 4;
  m.width = n;
  m.height = 1;
  CHECK(cudaGraphAddMemsetNode(&a, child, nullptr, 0, &m));  // RACE-A
  CHECK(cudaGraphAddChildGraphNode(&b, g, nullptr, 0, child));
#ifdef FIXED
  CHECK(cudaGraphAddMemcpyNode1D(&c, g, &b, 1, o, d, bytes, cudaMemcpyDeviceToDevice));
#else
  CHECK(cudaGraphAddMemcpyNode1D(&c, g, nullptr, 0, o, d, bytes, cudaMemcpyDeviceToDevice));  // RACE-B
#endif
  CHECK(cudaGraphInstantiate(&x, g, 0));
  CHECK(cudaGraphLaunch(x, s));
  CHECK(cudaDeviceSynchronize());
  return finish(holds(o, 1, 0));
}
