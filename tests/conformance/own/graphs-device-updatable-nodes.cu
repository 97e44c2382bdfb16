// Rule: kernel nodes that device code may change: what the host may do with them, what device code sets, how long it
// nvcc-flags: -std=c++17 -arch=sm_90 -rdc=true -lcudadevrt
// stays.
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
__device__ int out[64];
__device__ int codes[64];
__global__ void target(int a, int b, int* where) {
  atomicAdd(&where[0], a * 100 + b);
  if (threadIdx.x == 0) atomicAdd(&where[1], 1);
}
__global__ void upd(cudaGraphDeviceNode_t n, int how, int v) {
  int z = 0;
  switch (how) {
  case 0: codes[z++] = cudaGraphKernelNodeSetParam(n, 0, v); break;
  case 1: codes[z++] = cudaGraphKernelNodeSetParam(n, 4, &v, 4); break;
  case 2: codes[z++] = cudaGraphKernelNodeSetGridDim(n, dim3(v)); break;
  case 3: codes[z++] = cudaGraphKernelNodeSetEnabled(n, v != 0); break;
  case 4: {
    alignas(16) char ub[3 * sizeof(cudaGraphKernelNodeUpdate)] = {};
    cudaGraphKernelNodeUpdate* u = (cudaGraphKernelNodeUpdate*)ub;
    u[0].node = n;
    u[0].field = cudaGraphKernelNodeFieldParam;
    u[0].updateData.param.pValue = &v;
    u[0].updateData.param.offset = 0;
    u[0].updateData.param.size = 4;
    u[1].node = n;
    u[1].field = cudaGraphKernelNodeFieldGridDim;
    u[1].updateData.gridDim = dim3(2);
    u[2].node = n;
    u[2].field = cudaGraphKernelNodeFieldEnabled;
    u[2].updateData.isEnabled = 1;
    codes[z++] = cudaGraphKernelNodeUpdatesApply(u, 3);
    break;
  }
  }
}
__global__ void bad(cudaGraphDeviceNode_t n, int how) {
  int v = 1;
  alignas(16) char ub[sizeof(cudaGraphKernelNodeUpdate)] = {};
  cudaGraphKernelNodeUpdate& u = *(cudaGraphKernelNodeUpdate*)ub;
  u.node = n;
  switch (how) {
  case 0: codes[0] = cudaGraphKernelNodeSetParam(nullptr, 0, &v, 4); break;
  case 1: codes[0] = cudaGraphKernelNodeSetParam(n, 1000, &v, 4); break;
  case 2: codes[0] = cudaGraphKernelNodeSetParam(n, 0, nullptr, 4); break;
  case 3: codes[0] = cudaGraphKernelNodeSetParam(n, 0, &v, 0); break;
  case 4: codes[0] = cudaGraphKernelNodeSetGridDim(n, dim3(0)); break;
  case 5: codes[0] = cudaGraphKernelNodeSetGridDim(n, dim3(1, 70000, 1)); break;
  case 6: codes[0] = cudaGraphKernelNodeUpdatesApply(nullptr, 1); break;
  case 7: codes[0] = cudaGraphKernelNodeUpdatesApply(&u, 0); break;
  case 8: codes[0] = cudaGraphKernelNodeUpdatesApply(&u, 1); break;
  case 9:
    u.field = (cudaGraphKernelNodeField)9;
    codes[0] = cudaGraphKernelNodeUpdatesApply(&u, 1);
    break;
  case 10: codes[0] = cudaGraphKernelNodeSetEnabled(nullptr, true); break;
  case 11: codes[0] = cudaGraphKernelNodeSetGridDim(nullptr, dim3(1)); break;
  case 12: codes[0] = cudaGraphKernelNodeSetParam(n, 14, &v, 4); break;
  case 13: codes[0] = cudaGraphKernelNodeSetParam(n, 16, &v, 4); break;
  }
}
static cudaStream_t s;
static cudaGraphDeviceNode_t updatable(const char* l, cudaGraphNode_t n) {
  cudaLaunchAttributeValue v = {};
  v.deviceUpdatableKernelNode.deviceUpdatable = 1;
  R(l, cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  return v.deviceUpdatableKernelNode.devNode;
}
static void show(const char* w) {
  cudaError_t e = cudaStreamSynchronize(s);
  std::printf("%s: %s", w, N(e));
  int o[4], c;
  if (!e) {
    M(cudaMemcpyFromSymbol(o, out, 16));
    M(cudaMemcpyFromSymbol(&c, codes, 4));
    std::printf(" out %d runs %d code %d", o[0], o[1], c);
    int z[4] = {};
    M(cudaMemcpyToSymbol(out, z, 16));
    c = -1;
    M(cudaMemcpyToSymbol(codes, &c, 4));
  }
  std::printf("\n");
  fflush(stdout);
  cudaGetLastError();
}
int main() {
  for (int which : {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 90}) {
    std::printf("== %d\n", which);
    M(cudaStreamCreate(&s));
    int* po;
    M(cudaGetSymbolAddress((void**)&po, out));
    if (which < 0) {
      cudaGraph_t g = mk();
      cudaGraphNode_t t = kern(g, {}, target, 1, 2, po);
      cudaLaunchAttributeValue v = {};
      v.deviceUpdatableKernelNode.deviceUpdatable = 0;
      R("set 0 first", cudaGraphKernelNodeSetAttribute(t, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
      R("get", cudaGraphKernelNodeGetAttribute(t, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
      V("value", v.deviceUpdatableKernelNode.deviceUpdatable);
      V("dev null", v.deviceUpdatableKernelNode.devNode == nullptr);
      v.deviceUpdatableKernelNode.deviceUpdatable = 2;
      R("set 2", cudaGraphKernelNodeSetAttribute(t, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
      cudaGraphDeviceNode_t dn = updatable("set 1", t);
      V("dev given", dn != nullptr);
      cudaGraphDeviceNode_t dn2 = updatable("set 1 again", t);
      V("same", dn == dn2);
      v = {};
      R("set 0", cudaGraphKernelNodeSetAttribute(t, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
      R("get", cudaGraphKernelNodeGetAttribute(t, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
      V("value", v.deviceUpdatableKernelNode.deviceUpdatable);
      V("dev same", v.deviceUpdatableKernelNode.devNode == dn);
      cudaGraphNode_t u = kern(g, {}, upd, dn, 0, 7);
      cudaGraphNode_t pl = kern(g, {}, target, 0, 0, po);
      R("copy attributes from", cudaGraphKernelNodeCopyAttributes(pl, t));
      R("copy attributes to", cudaGraphKernelNodeCopyAttributes(t, pl));
      R("depend", cudaGraphAddDependencies(g, &u, &t, nullptr, 1));
      R("destroy node", cudaGraphDestroyNode(t));
      R("destroy plain", cudaGraphDestroyNode(pl));
      cudaGraph_t cl = nullptr;
      R("clone", cudaGraphClone(&cl, g));
      {
        cudaGraph_t o = mk();
        cudaGraphNode_t n = nullptr;
        R("as child", cudaGraphAddChildGraphNode(&n, o, 0, 0, g));
        size_t c = 9;
        M(cudaGraphGetNodes(o, nullptr, &c));
        V("nodes", c);
      }
      {
        cudaKernelNodeParams p = {};
        R("get params", cudaGraphKernelNodeGetParams(t, &p));
        R("set params", cudaGraphKernelNodeSetParams(t, &p));
      }
      cudaGraphExec_t x = nullptr, y = nullptr;
      R("instantiate", cudaGraphInstantiate(&x, g, 0));
      R("instantiate again", cudaGraphInstantiate(&y, g, 0));
      R("launch without upload", cudaGraphLaunch(x, s));
      show("not uploaded");
      R("upload", cudaGraphUpload(x, s));
      R("launch", cudaGraphLaunch(x, s));
      show("param 0 = 7");
      {
        cudaKernelNodeParams p = {};
        int h = 1, val = 5;
        void* a[] = {&dn, &h, &val};
        p.func = (void*)upd;
        p.gridDim = p.blockDim = dim3(1);
        p.kernelParams = a;
        auto run = [&](const char* w, int how, int vv) {
          h = how;
          val = vv;
          M(cudaGraphExecKernelNodeSetParams(x, u, &p));
          M(cudaGraphLaunch(x, s));
          show(w);
        };
        run("param 1 = 5", 1, 5);
        run("grid 3", 2, 3);
        run("disable", 3, 0);
        run("still off, param 0 = 4", 0, 4);
        run("enable", 3, 1);
        run("batch 9", 4, 9);
        run("batch 8", 4, 8);
        unsigned en = 9;
        R("get enabled", cudaGraphNodeGetEnabled(x, t, &en));
        V("enabled", en);
        run("disable", 3, 0);
        R("get enabled", cudaGraphNodeGetEnabled(x, t, &en));
        V("enabled", en);
        R("host enable", cudaGraphNodeSetEnabled(x, t, 1));
        M(cudaGraphUpload(x, s));
        run("after host enable", 0, 1);
        int a0 = 3, b0 = 4;
        void* ta[] = {&a0, &b0, &po};
        cudaKernelNodeParams tp = {};
        tp.func = (void*)target;
        tp.gridDim = tp.blockDim = dim3(1);
        tp.kernelParams = ta;
        R("host set target", cudaGraphExecKernelNodeSetParams(x, t, &tp));
        R("upload", cudaGraphUpload(x, s));
        run("host set then param 1", 1, 6);
        {
          cudaKernelNodeParams q = {};
          R("graph node params", cudaGraphKernelNodeGetParams(t, &q));
          V("grid", q.gridDim.x);
          V("a", *(int*)q.kernelParams[0]);
        }
      }
      {
        cudaGraph_t q = mk();
        auto b = kern(q, {}, upd, dn, 0, 7);
        kern(q, {b}, target, 1, 2, po);
        cudaGraphExecUpdateResultInfo i = {};
        R("exec update of updatable exec", cudaGraphExecUpdate(x, q, &i));
        V("res", i.result);
        V("node", i.errorNode != nullptr);
        cudaGraphExec_t z;
        M(cudaGraphInstantiate(&z, q, 0));
        i = {};
        R("exec update from updatable graph", cudaGraphExecUpdate(z, g, &i));
        V("res", i.result);
      }
      R("destroy exec", cudaGraphExecDestroy(x));
      R("instantiate after destroy", cudaGraphInstantiate(&y, g, 0));
      // in a device graph
      {
        cudaGraph_t q = mk();
        cudaGraphNode_t w = kern(q, {}, target, 1, 1, po);
        updatable("in device graph", w);
        cudaGraphExec_t z = nullptr;
        R("device instantiate", cudaGraphInstantiate(&z, q, 4));
      }
      // launch attribute
      {
        cudaLaunchConfig_t c = {};
        c.gridDim = c.blockDim = dim3(1);
        c.stream = s;
        cudaLaunchAttribute at[1];
        memset(at, 0, sizeof at);
        at[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
        at[0].val.deviceUpdatableKernelNode.deviceUpdatable = 1;
        c.attrs = at;
        c.numAttrs = 1;
        R("eager launch", cudaLaunchKernelEx(&c, target, 1, 2, po));
        M(cudaStreamSynchronize(s));
        M(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
        R("captured launch", cudaLaunchKernelEx(&c, target, 1, 2, po));
        V("dev given", at[0].val.deviceUpdatableKernelNode.devNode != nullptr);
        cudaGraph_t q = nullptr;
        R("end", cudaStreamEndCapture(s, &q));
        cudaGraphNode_t n[4];
        size_t k = 4;
        if (q) {
          M(cudaGraphGetNodes(q, n, &k));
          V("nodes", k);
          v = {};
          R("get", cudaGraphKernelNodeGetAttribute(n[0], cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
          V("updatable", v.deviceUpdatableKernelNode.deviceUpdatable);
          V("same", v.deviceUpdatableKernelNode.devNode == at[0].val.deviceUpdatableKernelNode.devNode);
        }
      }
      // update from a plain kernel of a node in another graph's exec
      {
        cudaGraph_t q = mk();
        cudaGraphNode_t w = kern(q, {}, target, 1, 1, po);
        cudaGraphDeviceNode_t d = updatable("other", w);
        cudaGraphExec_t z = nullptr;
        M(cudaGraphInstantiate(&z, q, 0));
        M(cudaGraphUpload(z, s));
        upd<<<1, 1, 0, s>>>(d, 0, 6);
        M(cudaGraphLaunch(z, s));
        show("updated by a plain kernel");
        M(cudaGraphLaunch(z, s));
        show("stays");
        M(cudaGraphExecDestroy(z));
        M(cudaGraphInstantiate(&z, q, 0));
        M(cudaGraphUpload(z, s));
        M(cudaGraphLaunch(z, s));
        show("new exec");
      }
    } else {
      cudaGraph_t g = mk();
      cudaGraphNode_t t = kern(g, {}, target, 1, 2, po);
      cudaGraphDeviceNode_t d = updatable("set", t);
      cudaGraphExec_t z = nullptr;
      if (which < 90) {
        M(cudaGraphInstantiate(&z, g, 0));
        M(cudaGraphUpload(z, s));
        bad<<<1, 1, 0, s>>>(d, which);
        M(cudaGetLastError());
        show("bad");
        R("then", cudaGraphLaunch(z, s));
        show("run");
      }
      if (which == 90) {
        upd<<<1, 1, 0, s>>>(d, 0, 6);
        M(cudaGetLastError());
        show("update before instantiation");
        M(cudaGraphInstantiate(&z, g, 0));
        M(cudaGraphUpload(z, s));
        M(cudaGraphLaunch(z, s));
        show("run");
      }
    }
  }
  {
    std::puts("== as a child");
    int* po;
    M(cudaGetSymbolAddress((void**)&po, out));
    cudaGraph_t g = mk();
    cudaGraphNode_t t = kern(g, {}, target, 1, 2, po);
    cudaGraphDeviceNode_t d = updatable("set", t);
    cudaGraph_t o = mk();
    cudaGraphNode_t c;
    M(cudaGraphAddChildGraphNode(&c, o, 0, 0, g));
    cudaGraph_t in;
    M(cudaGraphChildGraphNodeGetGraph(c, &in));
    size_t n = 1;
    cudaGraphNode_t k;
    M(cudaGraphGetNodes(in, &k, &n));
    cudaLaunchAttributeValue v = {};
    R("get", cudaGraphKernelNodeGetAttribute(k, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
    V("updatable", v.deviceUpdatableKernelNode.deviceUpdatable);
    V("same handle", v.deviceUpdatableKernelNode.devNode == d);
    cudaGraphExec_t x, y;
    R("instantiate", cudaGraphInstantiate(&x, o, 0));
    R("instantiate again", cudaGraphInstantiate(&y, o, 0));
    R("instantiate original", cudaGraphInstantiate(&y, g, 0));
  }
}
