// A graph and a kernel that launch themselves behind themselves for ever don't keep the device from being reset.
// nvcc-flags: -rdc=true
#include <cstdio>
#include <cuda_runtime.h>

__global__ void graph_again(int* count) {
  atomicAdd(count, 1);
  cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
__global__ void kernel_again(int* count) {
  atomicAdd(count, 1);
  kernel_again<<<1, 1, 0, cudaStreamTailLaunch>>>(count);
}

#define CHECK(...)                                                                                                     \
  if (const cudaError_t error = (__VA_ARGS__); error != cudaSuccess) {                                                 \
    std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));                                                 \
    return 1;                                                                                                          \
  }

int main() {
  int* count;
  CHECK(cudaMalloc(&count, 2 * sizeof(int)));
  CHECK(cudaMemset(count, 0, 2 * sizeof(int)));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaKernelNodeParams params = {};
  void* arguments[] = {&count};
  params.func = reinterpret_cast<void*>(graph_again);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
  CHECK(cudaGraphUpload(exec, stream));
  CHECK(cudaGraphLaunch(exec, stream));
  kernel_again<<<1, 1>>>(count + 1);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceReset());
  int value = 5, back = 0;
  CHECK(cudaMalloc(&count, sizeof(int)));
  CHECK(cudaMemcpy(count, &value, sizeof value, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(&back, count, sizeof back, cudaMemcpyDeviceToHost));
  return back == value ? 0 : 1;
}
