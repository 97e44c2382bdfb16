// Graphs for the programs of random calls: kernels, memory, and how a graph is told.
#pragma once
#include "random_calls.h"

__global__ void k(int* p, int v) { atomicAdd(p, v); }
__global__ void k2(int* p, int v) { atomicAdd(p, v + 1000); }
__global__ void k3(int* p, int v, int w) { atomicAdd(p, v + w); }
__global__ void setc(cudaGraphConditionalHandle h, unsigned v) { cudaGraphSetConditional(h, v); }
__device__ int sym[64];
static int hosts[64];
static void CUDART_CB h1(void* p) { ++*(int*)p; }
static void CUDART_CB h2(void* p) { *(int*)p += 100; }
static int *d, *pin, *d2;
static int page[262144];
static cudaStream_t s;
static cudaEvent_t ev[3];
static cudaGraphNode_t kern(cudaGraph_t g, const cudaGraphNode_t* dep, size_t nd, void* f, int cell, int v,
                            cudaError_t* e = nullptr) {
  int* p = d + cell;
  int w = 7;
  void* args[] = {&p, &v, &w};
  cudaKernelNodeParams q = {};
  q.func = f;
  q.gridDim = q.blockDim = dim3(1);
  q.kernelParams = args;
  cudaGraphNode_t n = nullptr;
  cudaError_t r = cudaGraphAddKernelNode(&n, g, dep, nd, &q);
  if (e)
    *e = r;
  else
    M(r);
  return n;
}
static std::string shape(cudaGraph_t g, int depth = 0) {
  cudaGraphNode_t n[128], f[256], t[256];
  cudaGraphEdgeData e[256];
  size_t c = 128;
  std::string o = "{";
  char b[64];
  if (cudaError_t r = cudaGraphGetNodes(g, n, &c)) {
    cudaGetLastError();
    return N(r);
  }
  size_t nc = c;
  auto at = [&](cudaGraphNode_t x) {
    for (size_t j = 0; j < nc; j++)
      if (n[j] == x) return (int)j;
    return -1;
  };
  for (size_t i = 0; i < nc; i++) {
    cudaGraphNodeType ty;
    M(cudaGraphNodeGetType(n[i], &ty));
    o += (i ? " " : "") + std::to_string((int)ty);
    if (ty == cudaGraphNodeTypeGraph && depth < 3) {
      cudaGraph_t ch;
      M(cudaGraphChildGraphNodeGetGraph(n[i], &ch));
      o += shape(ch, depth + 1);
    }
  }
  c = 256;
  M(cudaGraphGetEdges(g, f, t, e, &c));
  o += "|";
  for (size_t i = 0; i < c; i++) {
    snprintf(b, 64, " %d-%d", at(f[i]), at(t[i]));
    o += b;
    if (e[i].type || e[i].from_port) {
      snprintf(b, 64, "(%d%d)", e[i].from_port, e[i].type);
      o += b;
    }
  }
  c = 128;
  M(cudaGraphGetRootNodes(g, f, &c));
  o += "|";
  for (size_t i = 0; i < c; i++) o += " " + std::to_string(at(f[i]));
  return o + "}";
}
static void ginit() {
  M(cudaMalloc(&d, 65536));
  M(cudaMalloc(&d2, 65536));
  M(cudaMallocHost(&pin, 65536));
  M(cudaMemset(d, 0, 65536));
  M(cudaMemset(d2, 0, 65536));
  memset(pin, 0, 65536);
  M(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto& e : ev) M(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  M(cudaDeviceSynchronize());
}
static void cells(int n) {
  static int c[64];
  M(cudaMemcpy(c, d, 4 * n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) say(" %d", c[i]);
  M(cudaMemset(d, 0, 4 * n));
  M(cudaDeviceSynchronize());
}
static const char* UR[] = {
    "Success",           "Error",        "TopologyChanged",           "NodeTypeChanged",  "FunctionChanged",
    "ParametersChanged", "NotSupported", "UnsupportedFunctionChange", "AttributesChanged"};
static int nodeAt(cudaGraph_t g, cudaGraphNode_t x) {
  cudaGraphNode_t n[128];
  size_t c = 128;
  if (!x) return -1;
  if (cudaGraphGetNodes(g, n, &c)) {
    cudaGetLastError();
    return -3;
  }
  for (size_t j = 0; j < c; j++)
    if (n[j] == x) return j;
  return -2;
}
