// Rule: removing dependencies whose edge data is or isn't that of the edge, in one call and several; adding beside
// others.
#include "call_sections.h"

__global__ void add(int* p, int v) { atomicAdd(p, v); }
static int* d;
static int one = 1;
static cudaGraph_t g;
static cudaGraphNode_t n[4];

static cudaGraphEdgeData data(int kind) {
  cudaGraphEdgeData e = {};
  switch (kind) {
  case 0: break;
  case 1:
    e.from_port = cudaGraphKernelNodePortProgrammatic;
    e.type = cudaGraphDependencyTypeProgrammatic;
    break;
  case 2:
    e.from_port = cudaGraphKernelNodePortLaunchCompletion;
    e.type = cudaGraphDependencyTypeProgrammatic;
    break;
  case 3: e.from_port = cudaGraphKernelNodePortLaunchCompletion; break;
  case 4: e.from_port = 9; break;
  case 5: e.to_port = 1; break;
  case 6: e.type = 7; break;
  case 7: e.reserved[2] = 1; break;
  case 8: e.from_port = cudaGraphKernelNodePortProgrammatic; break;
  }
  return e;
}
static void graph() {
  static void* args[] = {&d, &one};
  cudaKernelNodeParams p = {};
  p.func = (void*)add;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  MUST(cudaGraphCreate(&g, 0));
  for (auto& x : n) MUST(cudaGraphAddKernelNode(&x, g, nullptr, 0, &p));
}
static void edges() {
  cudaGraphNode_t f[16], t[16];
  cudaGraphEdgeData e[16];
  size_t c = 16;
  MUST(cudaGraphGetEdges(g, f, t, e, &c));
  std::printf("edges:");
  for (size_t i = 0; i < c; i++) {
    int a = 0, b = 0;
    while (n[a] != f[i]) a++;
    while (n[b] != t[i]) b++;
    std::printf(" %d-%d(%d,%d,%d)", a, b, e[i].from_port, e[i].to_port, e[i].type);
  }
  std::printf("\n");
}
int main() {
  MUST(cudaMalloc(&d, 64));
  for (int has = 0; has < 4; has++)
    for (int said = -1; said < 9; said++) {
      std::printf("-- edge %d, said %d\n", has, said);
      graph();
      cudaGraphEdgeData a = data(has), b = data(said);
      CALL(cudaGraphAddDependencies(g, n, n + 1, &a, 1));
      CALL(cudaGraphRemoveDependencies(g, n, n + 1, said < 0 ? nullptr : &b, 1));
      edges();
      CALL(cudaGraphAddDependencies(g, n, n + 1, said < 0 ? nullptr : &b, 1));
      edges();
      MUST(cudaGraphDestroy(g));
    }
  // Several at once: those ahead of what doesn't do.
  for (int bad = 0; bad < 3; bad++)
    for (int said = -1; said < 9; said++) {
      std::printf("-- three edges, the one at %d said to be %d\n", bad, said);
      graph();
      cudaGraphNode_t f[] = {n[0], n[0], n[1]}, t[] = {n[1], n[2], n[3]};
      cudaGraphEdgeData has[3] = {data(1), data(0), data(3)}, b[3] = {data(1), data(0), data(3)};
      b[bad] = data(said);
      CALL(cudaGraphAddDependencies(g, f, t, has, 3));
      CALL(cudaGraphRemoveDependencies(g, f, t, said < 0 ? nullptr : b, 3));
      edges();
      MUST(cudaGraphDestroy(g));
    }
  {
    std::printf("-- the same edge twice\n");
    graph();
    cudaGraphNode_t f[] = {n[0], n[0]}, t[] = {n[1], n[1]};
    cudaGraphEdgeData e[2] = {data(0), data(1)};
    CALL(cudaGraphAddDependencies(g, f, t, e, 2));
    edges();
    CALL(cudaGraphRemoveDependencies(g, f, t, e, 2));
    edges();
    CALL(cudaGraphRemoveDependencies(g, f, t, nullptr, 1));
    edges();
  }
  {
    std::printf("-- nodes of other graphs, null, none\n");
    graph();
    cudaGraphNode_t other = n[0];
    graph();
    CALL(cudaGraphAddDependencies(g, n, n + 1, nullptr, 1));
    cudaGraphNode_t f[] = {n[0], other}, t[] = {n[1], n[1]};
    cudaGraphEdgeData e[2] = {data(0), data(6)};
    CALL(cudaGraphRemoveDependencies(g, f, t, e, 2));
    edges();
    CALL(cudaGraphRemoveDependencies(g, f, t, nullptr, 2));
    edges();
    CALL(cudaGraphRemoveDependencies(g, nullptr, nullptr, e, 0));
    CALL(cudaGraphRemoveDependencies(g, nullptr, t, e, 1));
    CALL(cudaGraphRemoveDependencies(g, f, nullptr, e, 1));
    CALL(cudaGraphRemoveDependencies(g, n, n, e, 1));
    CALL(cudaGraphRemoveDependencies(g, n + 2, n + 3, e, 1));
  }
  {
    std::printf("-- dependencies and dependents with data of their own, asked for without\n");
    graph();
    cudaGraphEdgeData a = data(1), out[2];
    CALL(cudaGraphAddDependencies(g, n, n + 1, &a, 1));
    size_t c = 2;
    cudaGraphNode_t x[2];
    CALL(cudaGraphNodeGetDependencies(n[1], x, nullptr, &c));
    CALL(cudaGraphNodeGetDependencies(n[1], x, out, &c));
    CALL(cudaGraphNodeGetDependencies(n[1], nullptr, nullptr, &c));
    FACT(c);
    c = 0;
    CALL(cudaGraphNodeGetDependencies(n[1], x, nullptr, &c));
    c = 2;
    CALL(cudaGraphNodeGetDependentNodes(n[0], x, nullptr, &c));
    CALL(cudaGraphGetEdges(g, x, x, nullptr, &c));
    CALL(cudaGraphNodeGetDependencies(n[1], nullptr, out, &c));
  }
}
