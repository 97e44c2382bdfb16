// Rule: a graph that a stream is being captured into, and one around it, are changed, moved, copied and made
// executable. Destroying the one around, or its node, crashes the driver when the capture ends, and is not here.
#include "call_sections.h"

__global__ void add(int* p, int v) { atomicAdd(p, v); }
static int* d;
static int one = 1;
static cudaStream_t s;

static cudaKernelNodeParams kernel() {
  static void* args[] = {&d, &one};
  cudaKernelNodeParams p = {};
  p.func = (void*)add;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  return p;
}
static long long count(cudaGraph_t g) {
  size_t n = 0;
  return cudaGraphGetNodes(g, nullptr, &n) == cudaSuccess ? (long long)n : -1;
}
static void init() {
  MUST(cudaMalloc(&d, 64));
  MUST(cudaMemset(d, 0, 64));
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
}
static cudaGraph_t with_kernel() {
  cudaGraph_t g;
  cudaGraphNode_t n;
  cudaKernelNodeParams p = kernel();
  MUST(cudaGraphCreate(&g, 0));
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &p));
  return g;
}
// `depth` graphs around a graph, each the child of the next: the outermost, the innermost, the node of the innermost.
struct Nested {
  cudaGraph_t outer, inner;
  cudaGraphNode_t node, outer_node;
};
static Nested nested(int depth) {
  cudaGraph_t g = with_kernel();
  Nested r{};
  for (int i = 0; i < depth; i++) {
    cudaGraph_t around;
    MUST(cudaGraphCreate(&around, 0));
    MUST(cudaGraphAddChildGraphNode(&r.outer_node, around, nullptr, 0, g));
    MUST(cudaGraphDestroy(g));
    g = around;
  }
  r.outer = r.inner = g;
  for (int i = 0; i < depth; i++) {
    size_t n = 1;
    MUST(cudaGraphGetNodes(r.inner, &r.node, &n));
    MUST(cudaGraphChildGraphNodeGetGraph(r.node, &r.inner));
  }
  return r;
}
static void begin(cudaGraph_t g) {
  CALL(cudaStreamBeginCaptureToGraph(s, g, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, s>>>(d, 1);
  CALL(cudaGetLastError());
}
static void status() {
  cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
  unsigned long long id = 0;
  cudaGraph_t g = nullptr;
  const cudaGraphNode_t* deps;
  const cudaGraphEdgeData* edges;
  size_t n = 99;
  CALL(cudaStreamGetCaptureInfo(s, &c, &id, &g, &deps, &edges, &n));
  FACT(c);
  FACT(n);
}
// Goes on with the capture and ends it.
static void finish(cudaGraph_t inner) {
  add<<<1, 1, 0, s>>>(d, 1);
  CALL(cudaGetLastError());
  status();
  cudaGraph_t ended = nullptr;
  CALL(cudaStreamEndCapture(s, &ended));
  FACT(ended == inner);
  if (ended) FACT(count(ended));
}
static void run(cudaGraph_t g) {
  int v = 0;
  MUST(cudaMemset(d, 0, 4));
  cudaGraphExec_t x = nullptr;
  CALL(cudaGraphInstantiate(&x, g, 0));
  if (!x) return;
  CALL(cudaGraphLaunch(x, s));
  CALL(cudaStreamSynchronize(s));
  MUST(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
  FACT(v);
  MUST(cudaGraphExecDestroy(x));
}

int main() {
  alone("moving a graph that is captured into", [] {
    init();
    cudaGraph_t g = with_kernel(), around = with_kernel();
    begin(g);
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = g;
    p.graph.ownership = cudaGraphChildGraphOwnershipMove;
    cudaGraphNode_t n;
    CALL(cudaGraphAddNode(&n, around, nullptr, nullptr, 0, &p));
    FACT(count(around));
    finish(g);
    run(around);
    CALL(cudaGraphDestroy(g));
    CALL(cudaGraphDestroy(around));
  });
  alone("moving a graph whose child is captured into", [] {
    init();
    Nested g = nested(1);
    cudaGraph_t around = with_kernel();
    begin(g.inner);
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = g.outer;
    p.graph.ownership = cudaGraphChildGraphOwnershipMove;
    cudaGraphNode_t n;
    CALL(cudaGraphAddNode(&n, around, nullptr, nullptr, 0, &p));
    FACT(count(around));
    finish(g.inner);
    run(around);
    CALL(cudaGraphDestroy(around));
  });
  alone("copying graphs that are captured into", [] {
    init();
    cudaGraph_t g = with_kernel(), around = with_kernel();
    begin(g);
    cudaGraphNode_t n;
    CALL(cudaGraphAddChildGraphNode(&n, around, nullptr, 0, g));
    FACT(count(around));
    cudaGraph_t copy = nullptr;
    CALL(cudaGraphClone(&copy, g));
    if (copy) FACT(count(copy));
    finish(g);
    run(around);
    run(g);
  });
  alone("the graph around a child graph that is captured into", [] {
    init();
    Nested g = nested(1);
    begin(g.inner);
    cudaGraph_t copy = nullptr;
    CALL(cudaGraphClone(&copy, g.outer));
    cudaGraphExec_t x = nullptr;
    CALL(cudaGraphInstantiate(&x, g.outer, 0));
    cudaGraphExec_t y = nullptr;
    MUST(cudaGraphInstantiate(&y, with_kernel(), 0));
    cudaGraphExecUpdateResultInfo info = {};
    CALL(cudaGraphExecUpdate(y, g.inner, &info));
    FACT(info.result);
    CALL(cudaGraphExecUpdate(y, g.outer, &info));
    FACT(info.result);
    if (x) {
      CALL(cudaGraphExecUpdate(x, g.outer, &info));
      FACT(info.result);
    }
    CALL(cudaGraphDebugDotPrint(g.outer, "/dev/null", 0));
    finish(g.inner);
    run(g.outer);
  });
  alone("making executable a graph that is captured into", [] {
    init();
    cudaGraph_t g = with_kernel();
    begin(g);
    cudaGraphExec_t x = nullptr;
    CALL(cudaGraphInstantiate(&x, g, 0));
    if (x) CALL(cudaGraphLaunch(x, nullptr));
    finish(g);
    CALL(cudaStreamSynchronize(nullptr));
    run(g);
  });
  alone("own graph, its stream is destroyed", [] {
    init();
    cudaGraph_t g = with_kernel();
    begin(g);
    CALL(cudaStreamDestroy(s));
    FACT(count(g));
    CALL(cudaGraphDestroy(g));
    FACT(count(g));
  });
  alone("changing a graph that is captured into", [] {
    init();
    cudaGraph_t g = with_kernel();
    cudaGraphNode_t n[3];
    cudaKernelNodeParams p = kernel();
    MUST(cudaGraphAddKernelNode(&n[0], g, nullptr, 0, &p));
    MUST(cudaGraphAddKernelNode(&n[1], g, n, 1, &p));
    begin(g);
    CALL(cudaGraphAddKernelNode(&n[2], g, n, 1, &p));
    CALL(cudaGraphDestroyNode(n[1]));
    CALL(cudaGraphAddDependencies(g, n, n + 2, nullptr, 1));
    CALL(cudaGraphRemoveDependencies(g, n, n + 2, nullptr, 1));
    CALL(cudaGraphAddDependencies(g, n, n + 2, nullptr, 1));
    CALL(cudaGraphKernelNodeSetParams(n[0], &p));
    FACT(count(g));
    finish(g);
    run(g);
  });
  alone("changing the graph around one that is captured into", [] {
    init();
    Nested g = nested(1);
    cudaGraphNode_t n[2];
    cudaKernelNodeParams p = kernel();
    MUST(cudaGraphAddKernelNode(&n[0], g.outer, nullptr, 0, &p));
    begin(g.inner);
    CALL(cudaGraphAddKernelNode(&n[1], g.outer, n, 1, &p));
    CALL(cudaGraphRemoveDependencies(g.outer, n, n + 1, nullptr, 1));
    CALL(cudaGraphDestroyNode(n[0]));
    FACT(count(g.outer));
    finish(g.inner);
    run(g.outer);
  });
}
