// Rule: updates of executable graphs: priorities, cooperative kernels, kernels and nodes that device code may change,
// and kernels that launch graphs or change nodes. nvcc-flags: -std=c++17 -arch=sm_90 -rdc=true -lcudadevrt
#include "call_sections.h"

__global__ void leaf(int* p) { atomicAdd(p, 1); }
__global__ void plain(int* p) { atomicAdd(p, 1); }
__global__ void other(int* p) { atomicAdd(p, 2); }
__global__ void launches_kernels(int* p) { leaf<<<1, 1>>>(p); }
__global__ void launches_graphs(int* p) {
  atomicAdd(p, 4);
  if (*p == 12345) cudaGraphLaunch((cudaGraphExec_t)p, cudaStreamGraphFireAndForget);
}
__global__ void launches_graphs_too(int* p) {
  atomicAdd(p, 8);
  if (*p == 12345) cudaGraphLaunch((cudaGraphExec_t)p, cudaStreamGraphTailLaunch);
}
__global__ void asks_for_its_graph(int* p) { atomicAdd(p, cudaGetCurrentGraphExec() ? 16 : 32); }
__global__ void changes_nodes(int* p) {
  atomicAdd(p, 64);
  if (*p == 12345) cudaGraphKernelNodeSetEnabled((cudaGraphDeviceNode_t)p, false);
}
__global__ void sets_conditions(int* p) {
  atomicAdd(p, 128);
  if (*p == 12345) cudaGraphSetConditional(0, 1);
}
static int* d;
static void* args[1];
struct Made {
  cudaGraph_t graph;
  cudaGraphNode_t node;
};
static cudaKernelNodeParams params(void (*f)(int*)) {
  cudaKernelNodeParams p = {};
  args[0] = &d;
  p.func = (void*)f;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = args;
  return p;
}
static Made make(void (*f)(int*)) {
  Made m;
  MUST(cudaGraphCreate(&m.graph, 0));
  cudaKernelNodeParams p = params(f);
  MUST(cudaGraphAddKernelNode(&m.node, m.graph, nullptr, 0, &p));
  return m;
}
static void run(cudaGraphExec_t x) {
  int v = -1;
  MUST(cudaMemset(d, 0, 4));
  CALL(cudaGraphLaunch(x, nullptr));
  CALL(cudaDeviceSynchronize());
  MUST(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
  FACT(v);
}
static struct {
  const char* name;
  void (*f)(int*);
} const kernels[] = {{"plain", plain},
                     {"other", other},
                     {"launches_kernels", launches_kernels},
                     {"launches_graphs", launches_graphs},
                     {"launches_graphs_too", launches_graphs_too},
                     {"asks_for_its_graph", asks_for_its_graph},
                     {"changes_nodes", changes_nodes},
                     {"sets_conditions", sets_conditions}};

static Made with(cudaLaunchAttributeID id, int value) {
  Made m = make(plain);
  cudaLaunchAttributeValue v = {};
  if (id == cudaLaunchAttributeCooperative) v.cooperative = value;
  if (id == cudaLaunchAttributePriority) v.priority = value;
  if (id == cudaLaunchAttributeDeviceUpdatableKernelNode) v.deviceUpdatableKernelNode.deviceUpdatable = value;
  if (value) CALL(cudaGraphKernelNodeSetAttribute(m.node, id, &v));
  return m;
}
static void change(const char* name, cudaLaunchAttributeID id, int from, int to, unsigned flags) {
  std::printf("%s %d to %d, flags %u\n", name, from, to, flags);
  Made a = with(id, from), b = with(id, to);
  if (id == cudaLaunchAttributePriority) {
    cudaLaunchAttributeValue v = {};
    MUST(cudaGraphKernelNodeGetAttribute(a.node, id, &v));
    FACT(v.priority);
  }
  cudaGraphExec_t x = nullptr;
  CALL(cudaGraphInstantiate(&x, a.graph, flags));
  if (!x) return;
  cudaGraphExecUpdateResultInfo info = {};
  CALL(cudaGraphExecUpdate(x, b.graph, &info));
  FACT(info.result);
  FACT(info.errorNode == b.node);
  CALL(cudaGraphExecUpdate(x, a.graph, &info));
  FACT(info.result);
  run(x);
  MUST(cudaGraphExecDestroy(x));
  MUST(cudaGraphDestroy(a.graph));
  MUST(cudaGraphDestroy(b.graph));
}
int main() {
  MUST(cudaMalloc(&d, 64));
  int least, greatest;
  MUST(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  FACT(least);
  FACT(greatest);
  const cudaLaunchAttributeID priority = cudaLaunchAttributePriority;
  for (unsigned flags : {0u, (unsigned)cudaGraphInstantiateFlagUseNodePriority})
    for (auto [from, to] : {std::pair<int, int>{0, -1},
                            {-1, 0},
                            {-1, -1},
                            {0, 7},
                            {7, 8},
                            {-5, -100},
                            {-100, -99},
                            {-6, -5},
                            {-100, -100},
                            {0, -100},
                            {-2, -3}})
      change("priority", priority, from, to, flags);
  for (auto [from, to] : {std::pair<int, int>{0, 1}, {1, 0}, {1, 1}}) {
    change("cooperative", cudaLaunchAttributeCooperative, from, to, 0);
    change("updatable", cudaLaunchAttributeDeviceUpdatableKernelNode, from, to, 0);
  }
  for (auto& from : kernels)
    for (auto& to : kernels) {
      std::printf("%s to %s\n", from.name, to.name);
      Made a = make(from.f), b = make(to.f);
      for (unsigned flags : {0u, (unsigned)cudaGraphInstantiateFlagDeviceLaunch}) {
        cudaGraphExec_t x = nullptr;
        FACT(flags);
        CALL(cudaGraphInstantiate(&x, a.graph, flags));
        if (!x) continue;
        cudaGraphExecUpdateResultInfo info = {};
        CALL(cudaGraphExecUpdate(x, b.graph, &info));
        FACT(info.result);
        run(x);
        MUST(cudaGraphExecDestroy(x));
        x = nullptr;
        MUST(cudaGraphInstantiate(&x, a.graph, flags));
        cudaKernelNodeParams p = params(to.f);
        CALL(cudaGraphExecKernelNodeSetParams(x, a.node, &p));
        run(x);
        MUST(cudaGraphExecDestroy(x));
      }
      cudaKernelNodeParams p = params(to.f);
      CALL(cudaGraphKernelNodeSetParams(a.node, &p));
      MUST(cudaGraphDestroy(a.graph));
      MUST(cudaGraphDestroy(b.graph));
    }
}
