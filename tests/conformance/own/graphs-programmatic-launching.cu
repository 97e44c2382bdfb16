// Rule: kernels with programmatic edges that launch kernels themselves.
// nvcc-flags: -rdc=true
#include "graph_sections.h"
__global__ void leaf(int* p, int v) { atomicAdd(p, v); }
__global__ void parent(int* p) {
  leaf<<<1, 4>>>(p, 10);
  leaf<<<2, 1>>>(p, 100);
}
__global__ void trig(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  leaf<<<1, 1>>>(p, 1000);
  *(p + 1) = cudaGetLastError();
}
__global__ void after(int* p, int* out) {
  cudaGridDependencySynchronize();
  *out = *p;
}
__global__ void aftertail(int* p) {
  leaf<<<1, 1, 0, cudaStreamTailLaunch>>>(p, 5);
  *(p + 1) = cudaGetLastError();
}
static void edge(cudaGraph_t g, cudaGraphNode_t a, cudaGraphNode_t b, int port) {
  cudaGraphEdgeData e = {};
  e.from_port = port;
  e.type = 1;
  R("edge", cudaGraphAddDependencies(g, &a, &b, &e, 1));
}
T(launching) {
  for (int port : {1, 2}) {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, parent, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, port);
    cudaGraphExec_t x = nullptr;
    cudaGraphInstantiateParams ip = {};
    R("inst", cudaGraphInstantiateWithParams(&x, g, &ip));
    V("r", ip.result_out);
    if (x) {
      set(0);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, trig, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, 1);
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, aftertail, d), b = kern(g, {}, after, d, d + 4);
    edge(g, a, b, 1);
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  {
    cudaGraph_t g = mk();
    auto a = kern(g, {}, leaf, d, 1), b = kern(g, {}, trig, d);
    edge(g, a, b, 1);
    auto c = kern(g, {b}, after, d, d + 4);
    (void)c;
    cudaGraphExec_t x = nullptr;
    R("inst", cudaGraphInstantiate(&x, g, 0));
    if (x) {
      set(0);
      set(-1, 1);
      R("launch", cudaGraphLaunch(x, s));
      R("sync", cudaStreamSynchronize(s));
      V("sum", get());
      V("error", get(1));
      V("seen", get(4));
    }
  }
  // in streams
  cudaLaunchConfig_t c = {};
  c.gridDim = c.blockDim = dim3(1);
  c.stream = s;
  cudaLaunchAttribute at = {};
  at.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  at.val.programmaticStreamSerializationAllowed = 1;
  set(0);
  parent<<<1, 1, 0, s>>>(d);
  c.attrs = &at;
  c.numAttrs = 1;
  R("stream pss", cudaLaunchKernelEx(&c, after, d, d + 4));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("seen", get(4));
  set(0);
  set(-1, 1);
  trig<<<1, 1, 0, s>>>(d);
  R("stream pss", cudaLaunchKernelEx(&c, after, d, d + 4));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("error", get(1));
  V("seen", get(4));
  set(0);
  set(-1, 1);
  leaf<<<1, 1, 0, s>>>(d, 1);
  R("launching kernel as secondary", cudaLaunchKernelEx(&c, trig, d));
  R("sync", cudaStreamSynchronize(s));
  V("sum", get());
  V("error", get(1));
}
int main() {
  init();
  for (auto& t : sections()) {
    printf("== %s\n", t.name);
    t.fn();
    cudaStreamSynchronize(s);
    cudaError_t e = cudaGetLastError();
    if (e) printf("left %s\n", N(e));
    fflush(stdout);
  }
}
