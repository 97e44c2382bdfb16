// Rule: child graphs set in executable graphs, for nodes that are in there, came later, or are another graph's.
#include "call_sections.h"
__global__ void add(int* p, int v) { atomicAdd(p, v); }
static int* d;
static int one = 1;
static cudaGraph_t chain(int n, bool edges = true) {
  static void* args[] = {&d, &one};
  cudaKernelNodeParams p = {};
  p.func = (void*)add;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphNode_t before = nullptr;
  for (int i = 0; i < n; i++) {
    cudaGraphNode_t node;
    MUST(cudaGraphAddKernelNode(&node, g, &before, i && edges, &p));
    before = node;
  }
  return g;
}
static cudaGraph_t of_empty(int n) {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  cudaGraphNode_t node;
  for (int i = 0; i < n; i++) MUST(cudaGraphAddEmptyNode(&node, g, nullptr, 0));
  return g;
}
static cudaGraph_t around(cudaGraph_t inner, cudaGraphNode_t* n) {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphAddChildGraphNode(n, g, nullptr, 0, inner));
  return g;
}
static cudaGraph_t shape(int i) {
  return i == 0   ? chain(0)
         : i == 1 ? chain(1)
         : i == 2 ? chain(2)
         : i == 3 ? chain(2, false)
         : i == 4 ? of_empty(1)
                  : of_empty(2);
}
int main() {
  MUST(cudaMalloc(&d, 64));
  // The executable graph has a child of shape e (or is plain, -1: the node came later, or is another graph's).
  for (int later = 0; later < 3; later++)
    for (int has = 0; has < 6; has++)
      for (int given = 0; given < 6; given++) {
        cudaGraphNode_t n = nullptr, m;
        cudaGraph_t g, h;
        cudaGraphExec_t x;
        if (later == 0) {  // the node is in there
          g = around(shape(has), &n);
          MUST(cudaGraphInstantiate(&x, g, 0));
        } else if (later == 1) {  // it came later
          g = chain(1);
          MUST(cudaGraphInstantiate(&x, g, 0));
          MUST(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, shape(has)));
        } else {  // it is another graph's, that looks the same
          h = around(shape(has), &m);
          MUST(cudaGraphInstantiate(&x, h, 0));
          g = around(shape(has), &n);
        }
        std::printf("%d has %d given %d:", later, has, given);
        std::printf(" %s", E(cudaGraphExecChildGraphNodeSetParams(x, n, shape(given))));
        cudaGraphNodeParams p = {};
        p.type = cudaGraphNodeTypeGraph;
        p.graph.graph = shape(given);
        for (int own : {0, 1}) {
          p.graph.ownership = (cudaGraphChildGraphNodeOwnership)own;
          std::printf(" %s", E(cudaGraphExecNodeSetParams(x, n, &p)));
        }
        std::printf("\n");
      }
}
