// Rule: queries with room for more or less, edges and their data, clones, cycles, instantiation flags.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <thread>
#include <vector>
static const char* N(cudaError_t e) { return cudaGetErrorName(e) + 4; }
#define R(label, ...)                                                                                                  \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__), l_ = cudaGetLastError();                                                           \
    std::printf("%s = %s%s%s\n", label, N(r_), l_ == r_ ? "" : " last ", l_ == r_ ? "" : N(l_));                       \
    std::fflush(stdout);                                                                                               \
  } while (0)
#define V(label, v)                                                                                                    \
  do {                                                                                                                 \
    std::printf("%s = %lld\n", label, (long long)(v));                                                                 \
    std::fflush(stdout);                                                                                               \
  } while (0)
#define M(...)                                                                                                         \
  do {                                                                                                                 \
    cudaError_t r_ = (__VA_ARGS__);                                                                                    \
    if (r_ != cudaSuccess) std::printf("unexpected_at_line_%d = %s\n", __LINE__, cudaGetErrorName(r_));                \
  } while (0)
template <class T> struct Same {
  typedef T type;
};
template <class... P>
static cudaGraphNode_t kern(cudaGraph_t g, std::vector<cudaGraphNode_t> deps, void (*fn)(P...),
                            typename Same<P>::type... a) {
  void* args[] = {(void*)&a..., nullptr};
  cudaKernelNodeParams p = {};
  p.func = (void*)fn;
  p.gridDim = dim3(1);
  p.blockDim = dim3(1);
  p.kernelParams = args;
  cudaGraphNode_t n = nullptr;
  M(cudaGraphAddKernelNode(&n, g, deps.data(), deps.size(), &p));
  return n;
}
static inline cudaGraph_t mk() {
  cudaGraph_t g = nullptr;
  M(cudaGraphCreate(&g, 0));
  return g;
}
__global__ void k(int* p, int v) { *p += v; }
int main() {
  int* d;
  M(cudaMalloc(&d, 64));
  cudaGraph_t g = mk(), e = mk(), g2 = mk();
  R("create null", cudaGraphCreate(nullptr, 0));
  cudaGraph_t t = nullptr;
  R("create flags 1", cudaGraphCreate(&t, 1));
  R("destroy null", cudaGraphDestroy(nullptr));
  cudaGraphNode_t n[5];
  for (int i = 0; i < 5; i++)
    n[i] = kern(g, i ? std::vector<cudaGraphNode_t>{n[i - 1]} : std::vector<cudaGraphNode_t>{}, k, d, i);
  cudaGraphNode_t x = kern(g, {}, k, d, 9), o = kern(g2, {}, k, d, 1);
  size_t c;
  cudaGraphNode_t buf[10], b2[10];
  auto clr = [&] {
    for (int i = 0; i < 10; i++) buf[i] = b2[i] = (cudaGraphNode_t)8;
  };
  auto cnt = [&](cudaGraphNode_t* b) {
    int r = 0;
    for (int i = 0; i < 10; i++) r += b[i] == nullptr ? 100 : b[i] != (cudaGraphNode_t)8;
    return r;
  };
  R("nodes null count", cudaGraphGetNodes(g, buf, nullptr));
  R("nodes null graph", cudaGraphGetNodes(nullptr, buf, &c));
  c = 3;
  clr();
  R("nodes 3", cudaGraphGetNodes(g, buf, &c));
  V("c", c);
  V("filled", cnt(buf));
  c = 9;
  clr();
  R("nodes 9", cudaGraphGetNodes(g, buf, &c));
  V("c", c);
  V("filled", cnt(buf));
  c = 0;
  clr();
  R("nodes 0", cudaGraphGetNodes(g, buf, &c));
  V("c", c);
  V("filled", cnt(buf));
  c = 4;
  R("nodes empty graph", cudaGraphGetNodes(e, buf, &c));
  V("c", c);
  c = 1;
  clr();
  R("roots 1", cudaGraphGetRootNodes(g, buf, &c));
  V("c", c);
  V("filled", cnt(buf));
  c = 5;
  clr();
  R("roots 5", cudaGraphGetRootNodes(g, buf, &c));
  V("c", c);
  V("filled", cnt(buf));
  R("roots null", cudaGraphGetRootNodes(g, nullptr, nullptr));
  c = 9;
  clr();
  R("edges 9", cudaGraphGetEdges(g, buf, b2, nullptr, &c));
  V("c", c);
  V("filled", cnt(buf) * 1000 + cnt(b2));
  c = 2;
  clr();
  R("edges 2", cudaGraphGetEdges(g, buf, b2, nullptr, &c));
  V("c", c);
  V("filled", cnt(buf) * 1000 + cnt(b2));
  c = 2;
  R("edges from only", cudaGraphGetEdges(g, buf, nullptr, nullptr, &c));
  R("edges null", cudaGraphGetEdges(g, nullptr, nullptr, nullptr, nullptr));
  c = 7;
  R("edges count", cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
  V("c", c);
  c = 0;
  clr();
  R("edges 0", cudaGraphGetEdges(g, buf, b2, nullptr, &c));
  V("c", c);
  cudaGraphEdgeData ed[9];
  memset(ed, 7, sizeof ed);
  c = 9;
  R("edges only data", cudaGraphGetEdges(g, nullptr, nullptr, ed, &c));
  V("c", c);
  c = 9;
  memset(ed, 7, sizeof ed);
  R("edges data", cudaGraphGetEdges(g, buf, b2, ed, &c));
  V("c", c);
  V("d3", ed[3].type);
  V("d4", ed[4].type);
  c = 9;
  clr();
  R("deps", cudaGraphNodeGetDependencies(n[2], buf, nullptr, &c));
  V("c", c);
  V("filled", cnt(buf));
  R("deps null node", cudaGraphNodeGetDependencies(nullptr, buf, nullptr, &c));
  R("deps null count", cudaGraphNodeGetDependencies(n[2], buf, nullptr, nullptr));
  c = 5;
  R("deps root", cudaGraphNodeGetDependencies(n[0], buf, nullptr, &c));
  V("c", c);
  c = 5;
  clr();
  R("dependents last", cudaGraphNodeGetDependentNodes(n[4], buf, nullptr, &c));
  V("c", c);
  V("filled", cnt(buf));
  R("dependents null", cudaGraphNodeGetDependentNodes(nullptr, nullptr, nullptr, &c));
  c = 9;
  R("deps only data", cudaGraphNodeGetDependencies(n[2], nullptr, ed, &c));
  V("c", c);
  cudaGraphNodeType ty;
  R("type null node", cudaGraphNodeGetType(nullptr, &ty));
  R("type null out", cudaGraphNodeGetType(n[0], nullptr));
  R("type", cudaGraphNodeGetType(n[0], &ty));
  V("ty", ty);
  // dependencies
  R("add dup edge", cudaGraphAddDependencies(g, &n[0], &n[1], nullptr, 1));
  R("add self", cudaGraphAddDependencies(g, &n[0], &n[0], nullptr, 1));
  R("add foreign", cudaGraphAddDependencies(g, &n[0], &o, nullptr, 1));
  R("add null from", cudaGraphAddDependencies(g, nullptr, &n[0], nullptr, 1));
  R("add null graph", cudaGraphAddDependencies(nullptr, &n[0], &x, nullptr, 1));
  R("add 0 null", cudaGraphAddDependencies(g, nullptr, nullptr, nullptr, 0));
  R("add 0 null graph", cudaGraphAddDependencies(nullptr, nullptr, nullptr, nullptr, 0));
  R("add wrong graph", cudaGraphAddDependencies(g2, &n[0], &x, nullptr, 1));
  {
    cudaGraphNode_t f[] = {n[4], n[4]}, to[] = {x, x};
    R("add twice in one", cudaGraphAddDependencies(g, f, to, nullptr, 2));
    c = 9;
    M(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
    V("edges", c);
  }
  {
    cudaGraphNode_t f[] = {n[3], n[0]}, to[] = {x, n[1]};
    R("add good then dup", cudaGraphAddDependencies(g, f, to, nullptr, 2));
    c = 9;
    M(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
    V("edges", c);
  }
  {
    cudaGraphNode_t f[] = {n[2], n[0]}, to[] = {x, o};
    R("add good then foreign", cudaGraphAddDependencies(g, f, to, nullptr, 2));
    c = 9;
    M(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
    V("edges", c);
  }
  R("remove absent", cudaGraphRemoveDependencies(g, &n[0], &n[3], nullptr, 1));
  R("remove reversed", cudaGraphRemoveDependencies(g, &n[1], &n[0], nullptr, 1));
  R("remove foreign", cudaGraphRemoveDependencies(g, &n[1], &o, nullptr, 1));
  R("remove ok", cudaGraphRemoveDependencies(g, &n[1], &n[2], nullptr, 1));
  R("remove again", cudaGraphRemoveDependencies(g, &n[1], &n[2], nullptr, 1));
  R("remove 0", cudaGraphRemoveDependencies(g, nullptr, nullptr, nullptr, 0));
  {
    cudaGraphNode_t f[] = {n[2], n[2]}, to[] = {n[3], n[3]};
    R("remove twice in one", cudaGraphRemoveDependencies(g, f, to, nullptr, 2));
    c = 9;
    M(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
    V("edges", c);
  }
  // edge data
  {
    cudaGraphEdgeData z = {};
    z.type = cudaGraphDependencyTypeProgrammatic;
    R("prog port 0", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    z.from_port = 1;
    R("prog port 1", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    cudaGraphEdgeData y = {};
    R("remove with other data", cudaGraphRemoveDependencies(g, &n[1], &n[2], &y, 1));
    c = 9;
    M(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &c));
    V("edges", c);
    R("edges without data", cudaGraphGetEdges(g, buf, b2, nullptr, (c = 9, &c)));
    R("deps without data", cudaGraphNodeGetDependencies(n[2], buf, nullptr, (c = 9, &c)));
    R("remove same data", cudaGraphRemoveDependencies(g, &n[1], &n[2], &z, 1));
    z = {};
    z.from_port = 3;
    R("port 3", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    z = {};
    z.to_port = 1;
    R("to port 1", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    z = {};
    z.type = 9;
    R("type 9", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    z = {};
    z.reserved[0] = 1;
    R("reserved", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    z = {};
    z.from_port = 2;
    R("default port 2", cudaGraphAddDependencies(g, &n[1], &n[2], &z, 1));
    cudaGraphNode_t en;
    M(cudaGraphAddEmptyNode(&en, g, 0, 0));
    z = {};
    z.from_port = 1;
    z.type = 1;
    R("prog to empty", cudaGraphAddDependencies(g, &n[1], &en, &z, 1));
    R("prog from empty", cudaGraphAddDependencies(g, &en, &n[3], &z, 1));
    z = {};
    z.from_port = 2;
    R("launch port to empty", cudaGraphAddDependencies(g, &n[2], &en, &z, 1));
    R("launch port from empty", cudaGraphAddDependencies(g, &en, &n[4], &z, 1));
  }
  // cycle
  {
    cudaGraph_t cy = mk();
    auto a = kern(cy, {}, k, d, 1);
    auto b = kern(cy, {a}, k, d, 1);
    R("cycle edge", cudaGraphAddDependencies(cy, &b, &a, nullptr, 1));
    cudaGraphExec_t ex = nullptr;
    cudaGraphInstantiateParams ip = {};
    R("cycle inst", cudaGraphInstantiateWithParams(&ex, cy, &ip));
    V("res", ip.result_out);
    V("node", ip.errNode_out == a || ip.errNode_out == b);
    V("exec null", ex == nullptr);
    R("clone cycle", cudaGraphClone(&t, cy));
    cudaGraphNode_t nn;
    cudaGraph_t oo = mk();
    R("child cycle", cudaGraphAddChildGraphNode(&nn, oo, 0, 0, cy));
    ip = {};
    R("inst child cycle", cudaGraphInstantiateWithParams(&ex, oo, &ip));
    V("res", ip.result_out);
  }
  // clone
  R("clone null out", cudaGraphClone(nullptr, g));
  R("clone null", cudaGraphClone(&t, nullptr));
  cudaGraph_t cl = nullptr;
  R("clone", cudaGraphClone(&cl, g));
  cudaGraphNode_t f = nullptr;
  R("find", cudaGraphNodeFindInClone(&f, n[0], cl));
  V("other", f != n[0] && f != nullptr);
  R("find foreign", cudaGraphNodeFindInClone(&f, o, cl));
  R("find in original", cudaGraphNodeFindInClone(&f, n[0], g));
  R("find null", cudaGraphNodeFindInClone(nullptr, n[0], cl));
  R("find null node", cudaGraphNodeFindInClone(&f, nullptr, cl));
  cudaGraph_t cc;
  M(cudaGraphClone(&cc, cl));
  R("find in clone's clone", cudaGraphNodeFindInClone(&f, n[0], cc));
  cudaGraphNode_t late = kern(g, {}, k, d, 1);
  R("find later node", cudaGraphNodeFindInClone(&f, late, cl));
  R("destroy in original", cudaGraphDestroyNode(x));
  M(cudaGraphNodeFindInClone(&f, n[1], cl));
  R("destroy in clone", cudaGraphDestroyNode(f));
  R("find destroyed in clone", cudaGraphNodeFindInClone(&f, n[1], cl));
  R("destroy node null", cudaGraphDestroyNode(nullptr));
  cudaGraphExec_t ex;
  R("inst null out", cudaGraphInstantiate(nullptr, g2, 0));
  R("inst null", cudaGraphInstantiate(&ex, nullptr, 0));
  R("launch null", cudaGraphLaunch(nullptr, 0));
  R("exec destroy null", cudaGraphExecDestroy(nullptr));
  unsigned long long fl;
  R("flags null", cudaGraphExecGetFlags(nullptr, &fl));
  M(cudaGraphInstantiate(&ex, g2, 0));
  R("flags null out", cudaGraphExecGetFlags(ex, nullptr));
  R("flags", cudaGraphExecGetFlags(ex, &fl));
  V("fl", fl);
  R("params null", cudaGraphInstantiateWithParams(&ex, g2, nullptr));
  R("inst empty", cudaGraphInstantiate(&ex, e, 0));
  R("launch empty", cudaGraphLaunch(ex, 0));
  R("sync", cudaDeviceSynchronize());
  for (int bit = 0; bit < 6; bit++) {
    cudaGraphExec_t q = nullptr;
    cudaError_t r = cudaGraphInstantiate(&q, g2, 1ull << bit);
    unsigned long long ff = 77;
    if (!r) cudaGraphExecGetFlags(q, &ff);
    printf("flag %d %s %lld\n", 1 << bit, N(r), (long long)ff);
    cudaGetLastError();
  }
}
