// Rule: graphs of every kind made executable with every combination of flags, by each function: the error, the result,
// the node that is to blame, the flags that are shown, and whether it can be launched. nvcc-flags: -std=c++17
// -arch=sm_90 -rdc=true -lcudadevrt
#include <cuda_runtime.h>

#include <cstdio>
#include <string>
#include <vector>

static const char* N(cudaError_t e) { return e == cudaSuccess ? "ok" : cudaGetErrorName(e) + 9; }
#define MUST(...)                                                                                                      \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected at line %d: %s\n", __LINE__, N(r_)), cudaGetLastError();            \
  } while (0)

__global__ void add(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) { add<<<1, 1>>>(p); }
__global__ void launching(int* p) {
  atomicAdd(p, 1);
  if (*p == 12345) cudaGraphLaunch((cudaGraphExec_t)p, cudaStreamGraphFireAndForget);
}
__global__ void changing(int* p) {
  atomicAdd(p, 1);
  if (*p == 12345) cudaGraphKernelNodeSetEnabled((cudaGraphDeviceNode_t)p, false);
}
__device__ int sym[4];
static void CUDART_CB call(void*) {}
static int *d, *d2, *pin;
static int page[64];
static cudaStream_t s;
static cudaEvent_t e;
static cudaArray_t array;

static cudaGraphNode_t kernel(cudaGraph_t g, void (*f)(int*), cudaGraphNode_t behind = nullptr) {
  static void* args[] = {&d};
  cudaKernelNodeParams p = {};
  p.func = (void*)f;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  cudaGraphNode_t n = nullptr;
  MUST(cudaGraphAddKernelNode(&n, g, &behind, behind ? 1 : 0, &p));
  return n;
}
static void copy(cudaGraph_t g, void* to, void* from) {
  cudaGraphNode_t n;
  MUST(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, to, from, 16, cudaMemcpyDefault));
}
static void* allocate(cudaGraph_t g, cudaGraphNode_t* n) {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.bytesize = 64;
  MUST(cudaGraphAddMemAllocNode(n, g, nullptr, 0, &p));
  return p.dptr;
}
static cudaGraph_t conditional(cudaGraph_t g, cudaGraphConditionalNodeType type) {
  cudaGraphConditionalHandle h;
  MUST(cudaGraphConditionalHandleCreate(&h, g, 0, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = type;
  p.conditional.size = 1;
  cudaGraphNode_t n;
  MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
  return p.conditional.phGraph_out[0];
}
static void child(cudaGraph_t g, void (*fill)(cudaGraph_t)) {
  cudaGraph_t inner;
  cudaGraphNode_t n;
  MUST(cudaGraphCreate(&inner, 0));
  fill(inner);
  MUST(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, inner));
  MUST(cudaGraphDestroy(inner));
}
static void moved(cudaGraph_t g, void (*fill)(cudaGraph_t)) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeGraph;
  cudaGraph_t inner;
  MUST(cudaGraphCreate(&inner, 0));
  fill(inner);
  p.graph.graph = inner;
  p.graph.ownership = cudaGraphChildGraphOwnershipMove;
  cudaGraphNode_t n;
  MUST(cudaGraphAddNode(&n, g, nullptr, nullptr, 0, &p));
}
static cudaGraphNode_t node;
static const struct {
  const char* name;
  void (*fill)(cudaGraph_t);
} graphs[] = {
    {"nothing", [](cudaGraph_t) {}},
    {"empty node", [](cudaGraph_t g) { MUST(cudaGraphAddEmptyNode(&node, g, nullptr, 0)); }},
    {"kernel", [](cudaGraph_t g) { kernel(g, add); }},
    {"two roots", [](cudaGraph_t g) { kernel(g, add), kernel(g, add); }},
    {"kernel that launches kernels", [](cudaGraph_t g) { kernel(g, parent); }},
    {"kernel that launches graphs", [](cudaGraph_t g) { kernel(g, launching); }},
    {"kernel that changes nodes", [](cudaGraph_t g) { kernel(g, changing); }},
    {"cooperative kernel",
     [](cudaGraph_t g) {
       cudaLaunchAttributeValue v = {};
       v.cooperative = 1;
       MUST(cudaGraphKernelNodeSetAttribute(kernel(g, add), cudaLaunchAttributeCooperative, &v));
     }},
    {"updatable kernel",
     [](cudaGraph_t g) {
       cudaLaunchAttributeValue v = {};
       v.deviceUpdatableKernelNode.deviceUpdatable = 1;
       MUST(cudaGraphKernelNodeSetAttribute(kernel(g, add), cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
     }},
    {"programmatic edge",
     [](cudaGraph_t g) {
       cudaGraphNode_t a = kernel(g, add), b = kernel(g, add);
       cudaGraphEdgeData x = {};
       x.from_port = cudaGraphKernelNodePortProgrammatic;
       x.type = cudaGraphDependencyTypeProgrammatic;
       MUST(cudaGraphAddDependencies(g, &a, &b, &x, 1));
     }},
    {"copy on the device", [](cudaGraph_t g) { copy(g, d, d2); }},
    {"copy from pinned memory", [](cudaGraph_t g) { copy(g, d, pin); }},
    {"copy to pinned memory", [](cudaGraph_t g) { copy(g, pin, d); }},
    {"copy from pageable memory", [](cudaGraph_t g) { copy(g, d, page); }},
    {"copy to pageable memory", [](cudaGraph_t g) { copy(g, page, d); }},
    {"copy on the host", [](cudaGraph_t g) { copy(g, pin, pin + 16); }},
    {"copy to a symbol",
     [](cudaGraph_t g) {
       MUST(cudaGraphAddMemcpyNodeToSymbol(&node, g, nullptr, 0, sym, d, 4, 0, cudaMemcpyDefault));
     }},
    {"copy to an array",
     [](cudaGraph_t g) {
       cudaMemcpy3DParms p = {};
       p.srcPtr = make_cudaPitchedPtr(d, 16, 16, 1);
       p.dstArray = array;
       p.extent = make_cudaExtent(4, 1, 1);
       p.kind = cudaMemcpyDefault;
       MUST(cudaGraphAddMemcpyNode(&node, g, nullptr, 0, &p));
     }},
    {"set",
     [](cudaGraph_t g) {
       cudaMemsetParams p = {};
       p.dst = d;
       p.elementSize = 4;
       p.width = p.height = 1;
       MUST(cudaGraphAddMemsetNode(&node, g, nullptr, 0, &p));
     }},
    {"host function",
     [](cudaGraph_t g) {
       cudaHostNodeParams p = {call, nullptr};
       MUST(cudaGraphAddHostNode(&node, g, nullptr, 0, &p));
     }},
    {"event record", [](cudaGraph_t g) { MUST(cudaGraphAddEventRecordNode(&node, g, nullptr, 0, e)); }},
    {"event wait", [](cudaGraph_t g) { MUST(cudaGraphAddEventWaitNode(&node, g, nullptr, 0, e)); }},
    {"child graph with nothing", [](cudaGraph_t g) { child(g, [](cudaGraph_t) {}); }},
    {"child graph with a kernel", [](cudaGraph_t g) { child(g, [](cudaGraph_t i) { kernel(i, add); }); }},
    {"child graph with a host function",
     [](cudaGraph_t g) {
       child(g, [](cudaGraph_t i) {
         cudaHostNodeParams p = {call, nullptr};
         MUST(cudaGraphAddHostNode(&node, i, nullptr, 0, &p));
       });
     }},
    {"allocation", [](cudaGraph_t g) { allocate(g, &node); }},
    {"allocation and free",
     [](cudaGraph_t g) {
       void* p = allocate(g, &node);
       cudaGraphNode_t n;
       MUST(cudaGraphAddMemFreeNode(&n, g, &node, 1, p));
     }},
    {"free that doesn't depend",
     [](cudaGraph_t g) {
       void* p = allocate(g, &node);
       cudaGraphNode_t n;
       MUST(cudaGraphAddMemFreeNode(&n, g, nullptr, 0, p));
     }},
    {"if with nothing", [](cudaGraph_t g) { conditional(g, cudaGraphCondTypeIf); }},
    {"if with a kernel", [](cudaGraph_t g) { kernel(conditional(g, cudaGraphCondTypeIf), add); }},
    {"while with a host function",
     [](cudaGraph_t g) {
       cudaGraph_t body = conditional(g, cudaGraphCondTypeWhile);
       cudaHostNodeParams p = {call, nullptr};
       MUST(cudaGraphAddHostNode(&node, body, nullptr, 0, &p));
     }},
    {"if with a kernel that launches kernels",
     [](cudaGraph_t g) { kernel(conditional(g, cudaGraphCondTypeIf), parent); }},
    {"if with a kernel that launches graphs",
     [](cudaGraph_t g) { kernel(conditional(g, cudaGraphCondTypeIf), launching); }},
    {"if with an event",
     [](cudaGraph_t g) {
       MUST(cudaGraphAddEventRecordNode(&node, conditional(g, cudaGraphCondTypeIf), nullptr, 0, e));
     }},
    {"if with an allocation", [](cudaGraph_t g) { allocate(conditional(g, cudaGraphCondTypeIf), &node); }},
    {"if with an allocation and free",
     [](cudaGraph_t g) {
       cudaGraph_t body = conditional(g, cudaGraphCondTypeIf);
       void* p = allocate(body, &node);
       cudaGraphNode_t n;
       MUST(cudaGraphAddMemFreeNode(&n, body, &node, 1, p));
     }},
    {"if with a pageable copy", [](cudaGraph_t g) { copy(conditional(g, cudaGraphCondTypeIf), d, page); }},
    {"if in a child graph of a body",
     [](cudaGraph_t g) { child(conditional(g, cudaGraphCondTypeIf), [](cudaGraph_t i) { kernel(i, add); }); }},
    {"handle that no node uses",
     [](cudaGraph_t g) {
       cudaGraphConditionalHandle h;
       MUST(cudaGraphConditionalHandleCreate(&h, g, 0, cudaGraphCondAssignDefault));
     }},
    {"moved child graph with an allocation",
     [](cudaGraph_t g) { moved(g, [](cudaGraph_t i) { allocate(i, &node); }); }},
    {"moved child graph with an allocation and free",
     [](cudaGraph_t g) {
       moved(g, [](cudaGraph_t i) {
         void* p = allocate(i, &node);
         cudaGraphNode_t n;
         MUST(cudaGraphAddMemFreeNode(&n, i, &node, 1, p));
       });
     }},
    {"moved child graph with a moved child graph with an allocation",
     [](cudaGraph_t g) { moved(g, [](cudaGraph_t i) { moved(i, [](cudaGraph_t j) { allocate(j, &node); }); }); }},
};
static int at(cudaGraph_t g, cudaGraphNode_t n) {
  if (!n) return -1;
  cudaGraphNode_t all[8];
  size_t c = 8;
  MUST(cudaGraphGetNodes(g, all, &c));
  for (size_t i = 0; i < c; i++)
    if (all[i] == n) return i;
  return -2;
}
static std::string how(cudaGraph_t g, int by, unsigned long long flags) {
  cudaGraphExec_t x = nullptr;
  cudaGraphInstantiateParams p = {};
  p.flags = flags;
  p.result_out = (cudaGraphInstantiateResult)77;
  p.errNode_out = nullptr;
  cudaError_t r;
  switch (by) {
  case 0: r = cudaGraphInstantiate(&x, g, flags); break;
  case 1: r = cudaGraphInstantiateWithFlags(&x, g, flags); break;
  case 2: r = cudaGraphInstantiateWithParams(&x, g, &p); break;
  default: p.uploadStream = s; r = cudaGraphInstantiateWithParams(&x, g, &p);
  }
  std::string say = N(r);
  cudaError_t last = cudaGetLastError();
  if (last != r) say += std::string(" last ") + N(last);
  if (by > 1) say += " result " + std::to_string(p.result_out) + " node " + std::to_string(at(g, p.errNode_out));
  if (!x) return say;
  unsigned long long shown = 99;
  MUST(cudaGraphExecGetFlags(x, &shown));
  if (shown != flags) say += " shows " + std::to_string(shown);
  for (int i = 0; i < 2; i++) {
    r = cudaGraphLaunch(x, s);
    cudaGetLastError();
    if (r) say += " launch " + std::to_string(i) + " " + N(r);
    r = cudaStreamSynchronize(s);
    cudaGetLastError();
    if (r) say += " wait " + std::to_string(i) + " " + N(r);
  }
  MUST(cudaGraphExecDestroy(x));
  return say;
}
int main() {
  MUST(cudaMalloc(&d, 4096));
  MUST(cudaMalloc(&d2, 4096));
  MUST(cudaMallocHost(&pin, 4096));
  MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  MUST(cudaEventCreate(&e));
  cudaChannelFormatDesc fd = cudaCreateChannelDesc<int>();
  MUST(cudaMallocArray(&array, &fd, 8, 8));
  for (auto& graph : graphs)
    for (int by = 0; by < 4; by++) {
      static const char* const names[] = {"", "WithFlags", "WithParams", "WithParams, stream"};
      std::string line, before;
      for (unsigned long long flags : {0ull, 1ull, 2ull, 3ull, 4ull, 5ull, 6ull, 7ull, 8ull, 9ull, 10ull, 12ull, 14ull,
                                       15ull, 16ull, 20ull, 1ull << 32}) {
        cudaGraph_t g;
        MUST(cudaGraphCreate(&g, 0));
        graph.fill(g);
        const std::string say = how(g, by, flags);
        if (say != before) line += (before.empty() ? "" : " " + before) + " |";
        before = say;
        line += " " + std::to_string(flags);
        MUST(cudaGraphDestroy(g));
      }
      std::printf("%s %s%s %s\n", graph.name, names[by], line.c_str(), before.c_str());
      std::fflush(stdout);
    }
}
