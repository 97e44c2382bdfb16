// Rule: memory of allocation nodes is memory from the launch to the free; what graphs can do after a fault and after
// the reset that follows.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#define R(label, call)                                                                                                 \
  do {                                                                                                                 \
    cudaError_t r_ = (call);                                                                                           \
    cudaError_t l_ = cudaGetLastError();                                                                               \
    std::printf("%s = %s | last %s\n", label, cudaGetErrorName(r_), cudaGetErrorName(l_));                             \
  } while (0)
__global__ void plus(int* p, int v) { *p += v; }
__global__ void trap(int n) {
  if (n) __trap();
}
static cudaStream_t s;
static void attrs(const char* w, void* p) {
  cudaPointerAttributes a;
  std::memset(&a, 0, sizeof a);
  cudaError_t e = cudaPointerGetAttributes(&a, p);
  cudaGetLastError();
  std::printf("%s: %s type %d device %d dev %d host %d\n", w, cudaGetErrorName(e), a.type, a.device,
              a.devicePointer == p, a.hostPointer != nullptr);
}
static cudaGraphNode_t alloc(cudaGraph_t g, void** p) {
  cudaMemAllocNodeParams a = {};
  a.poolProps.allocType = cudaMemAllocationTypePinned;
  a.poolProps.location.type = cudaMemLocationTypeDevice;
  a.bytesize = 4096;
  cudaGraphNode_t n;
  cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &a);
  *p = a.dptr;
  return n;
}
static cudaGraphNode_t set(cudaGraph_t g, cudaGraphNode_t d, void* p, int v) {
  cudaMemsetParams m = {};
  m.dst = p;
  m.elementSize = 1;
  m.width = 64;
  m.height = 1;
  m.value = v;
  cudaGraphNode_t n = nullptr;
  cudaError_t e = cudaGraphAddMemsetNode(&n, g, d ? &d : nullptr, d ? 1 : 0, &m);
  cudaGetLastError();
  if (e) std::printf("add memset %s\n", cudaGetErrorName(e));
  return n;
}
int main() {
  cudaStreamCreate(&s);
  void *a, *b;
  int* d;
  cudaMalloc(&d, 4096);
  cudaGraph_t g1, g2;
  cudaGraphCreate(&g1, 0);
  cudaGraphCreate(&g2, 0);
  auto n1 = alloc(g1, &a);
  auto m1 = set(g1, n1, a, 1);
  attrs("before launch", a);
  attrs("inner", (char*)a + 100);
  cudaGraphExec_t x1;
  R("instantiate alloc", cudaGraphInstantiate(&x1, g1, 0));
  attrs("instantiated", a);
  R("launch", cudaGraphLaunch(x1, s));
  R("sync", cudaStreamSynchronize(s));
  attrs("allocated", a);
  auto m2 = set(g2, nullptr, d, 2);
  cudaGraphExec_t x2;
  R("instantiate memset", cudaGraphInstantiate(&x2, g2, 0));
  cudaGraph_t g3;
  cudaGraphCreate(&g3, 0);
  set(g3, nullptr, a, 3);
  cudaGraphExecUpdateResultInfo ri = {};
  R("update to other graph's memory", cudaGraphExecUpdate(x2, g3, &ri));
  std::printf("result %d\n", ri.result);
  cudaMemsetParams mp = {};
  mp.dst = a;
  mp.elementSize = 1;
  mp.width = 64;
  mp.height = 1;
  R("set params to it", cudaGraphExecMemsetNodeSetParams(x2, m2, &mp));
  R("launch", cudaGraphLaunch(x2, s));
  R("sync", cudaStreamSynchronize(s));
  R("free", cudaFreeAsync(a, s));
  attrs("freed", a);
  R("sync", cudaStreamSynchronize(s));
  attrs("freed and synced", a);
  R("update when freed", cudaGraphExecUpdate(x2, g3, &ri));
  std::printf("result %d\n", ri.result);
  cudaGraph_t g4;
  cudaGraphCreate(&g4, 0);
  auto m4 = set(g4, nullptr, a, 3);
  cudaGraphExec_t x4 = nullptr;
  if (m4) R("instantiate with freed", cudaGraphInstantiate(&x4, g4, 0));
  R("trim", cudaDeviceGraphMemTrim(0));
  attrs("trimmed", a);
  cudaGraph_t g5;
  cudaGraphCreate(&g5, 0);
  auto n5 = alloc(g5, &b);
  cudaGraphNode_t f5;
  R("free node", cudaGraphAddMemFreeNode(&f5, g5, &n5, 1, b));
  cudaGraphExec_t x5;
  cudaGraphInstantiate(&x5, g5, 0);
  attrs("own before", b);
  cudaGraphLaunch(x5, s);
  cudaStreamSynchronize(s);
  attrs("own after", b);
  cudaGraphExecDestroy(x5);
  attrs("exec destroyed", b);
  cudaGraphDestroy(g5);
  attrs("graph destroyed", b);
  R("free it", cudaFree(b));
  // dead context
  cudaGraph_t gt;
  cudaGraphCreate(&gt, 0);
  int v = 1;
  void* ka[] = {&v};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)trap;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = ka;
  cudaGraphNode_t k, e;
  cudaGraphAddKernelNode(&k, gt, nullptr, 0, &kp);
  cudaGraphNode_t ms;
  cudaMemsetParams m0 = {};
  m0.dst = d;
  m0.elementSize = 1;
  m0.width = 64;
  m0.height = 1;
  cudaGraphAddMemsetNode(&ms, gt, &k, 1, &m0);
  cudaGraphExec_t xt, xu;
  cudaGraphInstantiate(&xt, gt, 0);
  cudaGraphInstantiate(&xu, gt, 0);
  R("launch trap", cudaGraphLaunch(xt, s));
  R("sync", cudaStreamSynchronize(s));
  R("launch again", cudaGraphLaunch(xt, s));
  R("launch other", cudaGraphLaunch(x2, s));
  R("update", cudaGraphExecUpdate(xu, gt, &ri));
  std::printf("result %d\n", ri.result);
  R("kernel set params", cudaGraphExecKernelNodeSetParams(xu, k, &kp));
  R("memset set params", cudaGraphExecMemsetNodeSetParams(xu, ms, &m0));
  unsigned en = 7;
  R("get enabled", cudaGraphNodeGetEnabled(xu, k, &en));
  R("set enabled", cudaGraphNodeSetEnabled(xu, k, 0));
  R("upload", cudaGraphUpload(xu, s));
  cudaGraph_t gn = nullptr;
  R("create", cudaGraphCreate(&gn, 0));
  if (gn) {
    R("add empty", cudaGraphAddEmptyNode(&e, gn, nullptr, 0));
    R("add kernel", cudaGraphAddKernelNode(&k, gn, nullptr, 0, &kp));
    R("add memset", cudaGraphAddMemsetNode(&ms, gn, nullptr, 0, &m0));
    R("instantiate", cudaGraphInstantiate(&xt, gn, 0));
  }
  cudaGraph_t cl;
  R("clone", cudaGraphClone(&cl, gt));
  R("exec destroy", cudaGraphExecDestroy(xu));
  R("graph destroy", cudaGraphDestroy(gt));
  R("reset", cudaDeviceReset());
  int* q = nullptr;
  R("malloc", cudaMalloc(&q, 64));
  plus<<<1, 1>>>(q, 1);
  R("launch", cudaGetLastError());
  R("sync", cudaDeviceSynchronize());
  R("old exec destroy", cudaGraphExecDestroy(x2));
  R("old graph destroy", cudaGraphDestroy(g2));
  (void)m1;
  return 0;
}
