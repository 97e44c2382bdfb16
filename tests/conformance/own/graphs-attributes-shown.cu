// Rule: attributes of kernel nodes: their defaults, ranges, copies.
#include "graph_sections.h"

__device__ int sym[16];
__constant__ int csym[16];
struct Big {
  char a;
  double b;
  short c[5];
};
__global__ void kb(Big b, int* p) { *p = b.c[4]; }
static void showk(const char* l, cudaGraphNode_t n) {
  cudaKernelNodeParams p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphKernelNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  printf("%s: func %d grid %u %u %u block %u %u %u shared %u params %d extra %d", l,
         p.func == (void*)k        ? 1
         : p.func == (void*)put    ? 2
         : p.func == (void*)noargs ? 3
         : p.func == (void*)kb     ? 4
                                   : 0,
         p.gridDim.x, p.gridDim.y, p.gridDim.z, p.blockDim.x, p.blockDim.y, p.blockDim.z, p.sharedMemBytes,
         p.kernelParams != nullptr, p.extra != nullptr);
  if (p.kernelParams && (p.func == (void*)k || p.func == (void*)put))
    printf(" args %s %d", P(*(void**)p.kernelParams[0]).c_str(), *(int*)p.kernelParams[1]);
  puts("");
}
static void showc(const char* l, cudaGraphNode_t n) {
  cudaMemcpy3DParms p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphMemcpyNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  void* sa = nullptr;
  cudaGetSymbolAddress(&sa, sym);
  void* ca = nullptr;
  cudaGetSymbolAddress(&ca, csym);
  auto Q = [&](void* q) {
    if (q >= sa && q < (char*)sa + 64) return std::string("sym+") + std::to_string((char*)q - (char*)sa);
    if (q >= ca && q < (char*)ca + 64) return std::string("csym+") + std::to_string((char*)q - (char*)ca);
    return P(q);
  };
  printf("%s: src %s arr %d pitch %zu x %zu y %zu pos %zu %zu %zu | dst %s arr %d pitch %zu x %zu y %zu pos %zu %zu "
         "%zu | ext %zu %zu %zu kind %d\n",
         l, Q(p.srcPtr.ptr).c_str(), p.srcArray != nullptr, p.srcPtr.pitch, p.srcPtr.xsize, p.srcPtr.ysize, p.srcPos.x,
         p.srcPos.y, p.srcPos.z, Q(p.dstPtr.ptr).c_str(), p.dstArray != nullptr, p.dstPtr.pitch, p.dstPtr.xsize,
         p.dstPtr.ysize, p.dstPos.x, p.dstPos.y, p.dstPos.z, p.extent.width, p.extent.height, p.extent.depth, p.kind);
}
static void showm(const char* l, cudaGraphNode_t n) {
  cudaMemsetParams p;
  memset(&p, 0x55, sizeof p);
  cudaError_t e = cudaGraphMemsetNodeGetParams(n, &p);
  if (e) {
    printf("%s: %s\n", l, N(e));
    cudaGetLastError();
    return;
  }
  printf("%s: dst %s pitch %zu value %x elt %u width %zu height %zu\n", l, P(p.dst).c_str(), p.pitch, p.value,
         p.elementSize, p.width, p.height);
}
T(attributes) {
  cudaGraph_t g = mk();
  auto n = kern(g, {}, k, d, 1), m = kern(g, {}, put, d, 1);
  for (int id = -1; id < 22; id++) {
    cudaLaunchAttributeValue v;
    memset(&v, 0, sizeof v);
    cudaError_t e = cudaGraphKernelNodeGetAttribute(n, (cudaLaunchAttributeID)id, &v);
    cudaGetLastError();
    printf("get %d %s", id, N(e));
    if (!e) {
      printf(" %d %d %d", ((int*)&v)[0], ((int*)&v)[1], ((int*)&v)[2]);
    }
    memset(&v, 0, sizeof v);
    e = cudaGraphKernelNodeSetAttribute(n, (cudaLaunchAttributeID)id, &v);
    cudaGetLastError();
    printf(" set zero %s\n", N(e));
  }
  auto show = [&](const char* l, cudaGraphNode_t q) {
    cudaLaunchAttributeValue v;
    printf("%s:", l);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeCooperative, &v));
    printf(" coop %d", v.cooperative);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributePriority, &v));
    printf(" prio %d", v.priority);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeClusterDimension, &v));
    printf(" cluster %u %u %u", v.clusterDim.x, v.clusterDim.y, v.clusterDim.z);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeClusterSchedulingPolicyPreference, &v));
    printf(" sched %d", v.clusterSchedulingPolicyPreference);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeMemSyncDomain, &v));
    printf(" domain %d", v.memSyncDomain);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeMemSyncDomainMap, &v));
    printf(" map %d %d", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(q, cudaLaunchAttributeAccessPolicyWindow, &v));
    printf(" window %s %zu %.2f %d %d\n", P(v.accessPolicyWindow.base_ptr).c_str(), v.accessPolicyWindow.num_bytes,
           v.accessPolicyWindow.hitRatio, v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
  };
  cudaLaunchAttributeValue v;
  auto setp = [&](int p) {
    memset(&v, 0, sizeof v);
    v.priority = p;
    R("priority", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePriority, &v));
    show("p", n);
  };
  for (int p : {-1, -5, -6, -100, 0, 1, 100}) setp(p);
  setp(-2);
  memset(&v, 0, sizeof v);
  v.cooperative = 1;
  R("coop", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeCooperative, &v));
  memset(&v, 0, sizeof v);
  v.cooperative = 5;
  R("coop 5", cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributeCooperative, &v));
  show("coop 5", m);
  memset(&v, 0, sizeof v);
  v.memSyncDomain = (cudaLaunchMemSyncDomain)1;
  R("domain", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomain, &v));
  memset(&v, 0, sizeof v);
  v.memSyncDomain = (cudaLaunchMemSyncDomain)2;
  R("domain 2", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomain, &v));
  memset(&v, 0, sizeof v);
  v.memSyncDomainMap.default_ = 2;
  v.memSyncDomainMap.remote = 3;
  R("map", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomainMap, &v));
  memset(&v, 0, sizeof v);
  v.memSyncDomainMap.default_ = 9;
  R("map 9", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomainMap, &v));
  memset(&v, 0, sizeof v);
  v.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
  R("sched", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterSchedulingPolicyPreference, &v));
  memset(&v, 0, sizeof v);
  v.clusterSchedulingPolicyPreference = (cudaClusterSchedulingPolicy)9;
  R("sched 9", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterSchedulingPolicyPreference, &v));
  memset(&v, 0, sizeof v);
  v.clusterDim.x = 2;
  v.clusterDim.y = v.clusterDim.z = 1;
  R("cluster 2 of grid 1", cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributeClusterDimension, &v));
  memset(&v, 0, sizeof v);
  v.clusterDim.x = 17;
  v.clusterDim.y = v.clusterDim.z = 1;
  R("cluster 17", cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributeClusterDimension, &v));
  memset(&v, 0, sizeof v);
  v.clusterDim.x = 1;
  R("cluster 1 0 0", cudaGraphKernelNodeSetAttribute(m, cudaLaunchAttributeClusterDimension, &v));
  memset(&v, 0, sizeof v);
  v.accessPolicyWindow.base_ptr = d;
  v.accessPolicyWindow.num_bytes = 128;
  v.accessPolicyWindow.hitRatio = 0.25f;
  v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  R("window", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &v));
  auto w = v;
  w.accessPolicyWindow.hitRatio = 1.5f;
  R("window ratio", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &w));
  w = v;
  w.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
  R("window miss persisting", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &w));
  w = v;
  w.accessPolicyWindow.num_bytes = 1ull << 40;
  R("window big", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeAccessPolicyWindow, &w));
  show("n", n);
  show("m", m);
  R("copy", cudaGraphKernelNodeCopyAttributes(m, n));
  show("m", m);
  show("n", n);
  R("copy self", cudaGraphKernelNodeCopyAttributes(m, m));
  R("copy null", cudaGraphKernelNodeCopyAttributes(m, nullptr));
  R("copy null dst", cudaGraphKernelNodeCopyAttributes(nullptr, m));
  cudaGraphNode_t e;
  M(cudaGraphAddEmptyNode(&e, g, 0, 0));
  R("copy from empty", cudaGraphKernelNodeCopyAttributes(m, e));
  R("copy to empty", cudaGraphKernelNodeCopyAttributes(e, m));
  R("get of empty", cudaGraphKernelNodeGetAttribute(e, cudaLaunchAttributePriority, &v));
  // attributes after new parameters, and in a clone
  int x = 3;
  void* args[] = {&d, &x};
  cudaKernelNodeParams kp = {};
  kp.func = (void*)k;
  kp.gridDim = kp.blockDim = dim3(1);
  kp.kernelParams = args;
  M(cudaGraphKernelNodeSetParams(n, &kp));
  show("after set", n);
  kp.func = (void*)put;
  M(cudaGraphKernelNodeSetParams(n, &kp));
  show("after set of another function", n);
  cudaGraph_t c;
  cudaGraphNode_t cn;
  M(cudaGraphClone(&c, g));
  M(cudaGraphNodeFindInClone(&cn, n, c));
  show("clone", cn);
  V("run", run(g));
}
static cudaGraphNode_t only(cudaGraph_t g) {
  cudaGraphNode_t n[4];
  size_t c = 4;
  M(cudaGraphGetNodes(g, n, &c));
  if (c != 1) printf("nodes %zu ", c);
  return c ? n[0] : nullptr;
}
template <class F> static cudaGraphNode_t cap(F f, cudaStream_t q = s) {
  cudaGraph_t g = nullptr;
  M(cudaStreamBeginCapture(q, cudaStreamCaptureModeRelaxed));
  f();
  M(cudaStreamEndCapture(q, &g));
  return only(g);
}
T(attribute_values) {
  cudaGraph_t g = mk();
  auto n = kern(g, {}, k, d, 1);
  cudaLaunchAttributeValue v;
  for (int a = 0; a < 6; a++) {
    memset(&v, 0, sizeof v);
    v.memSyncDomainMap.default_ = a;
    v.memSyncDomainMap.remote = 3;
    R("default", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomainMap, &v));
    v.memSyncDomainMap.default_ = 0;
    v.memSyncDomainMap.remote = a;
    R("remote", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeMemSyncDomainMap, &v));
  }
  for (int c : {-2, -1, 0, 50, 100, 101}) {
    memset(&v, 0, sizeof v);
    v.sharedMemCarveout = c;
    R("carveout", cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributePreferredSharedMemoryCarveout, &v));
    memset(&v, 0, sizeof v);
    M(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributePreferredSharedMemoryCarveout, &v));
    V("is", v.sharedMemCarveout);
  }
  cudaStream_t t;
  M(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  memset(&v, 0, sizeof v);
  v.memSyncDomain = (cudaLaunchMemSyncDomain)2;
  R("stream domain 2", cudaStreamSetAttribute(t, cudaLaunchAttributeMemSyncDomain, &v));
  v.memSyncDomain = (cudaLaunchMemSyncDomain)1;
  R("stream domain 1", cudaStreamSetAttribute(t, cudaLaunchAttributeMemSyncDomain, &v));
  memset(&v, 0, sizeof v);
  v.memSyncDomainMap.default_ = 9;
  R("stream map 9", cudaStreamSetAttribute(t, cudaLaunchAttributeMemSyncDomainMap, &v));
  v.memSyncDomainMap.default_ = 3;
  R("stream map 3", cudaStreamSetAttribute(t, cudaLaunchAttributeMemSyncDomainMap, &v));
  auto L = [&](cudaLaunchAttributeID id, auto f) {
    cudaLaunchConfig_t c = {};
    c.gridDim = c.blockDim = dim3(1);
    c.stream = s;
    cudaLaunchAttribute a = {};
    a.id = id;
    f(a.val);
    c.attrs = &a;
    c.numAttrs = 1;
    return cudaLaunchKernelEx(&c, k, d, 1);
  };
  R("launch domain 2",
    L(cudaLaunchAttributeMemSyncDomain, [](auto& w) { w.memSyncDomain = (cudaLaunchMemSyncDomain)2; }));
  R("launch map 9", L(cudaLaunchAttributeMemSyncDomainMap, [](auto& w) { w.memSyncDomainMap.default_ = 9; }));
}
// Each section is a process of its own.
int main(int c, char** v) {
  for (auto& t : sections()) {
    if (c == 1) {
      if (std::system((std::string(v[0]) + " " + t.name).c_str())) return 1;
      continue;
    }
    if (strcmp(v[1], t.name)) continue;
    init();
    printf("== %s\n", t.name);
    t.fn();
    cudaStreamSynchronize(s);
    cudaError_t e = cudaGetLastError();
    if (e) printf("left %s\n", N(e));
    fflush(stdout);
  }
}
