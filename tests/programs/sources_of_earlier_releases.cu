// What changed in CUDA 13.0 and programs for 12 and 11 still call: former parameters of the runtime API, members of
// cudaDeviceProp, names with a version.
#include "check.h"

__global__ void add_one(int* p) { ++*p; }

__global__ void without_masks(int* out) {
  int sum = threadIdx.x;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor(sum, lanes);
  float last = __shfl((float)threadIdx.x, 31);
  if (threadIdx.x > 0) out[threadIdx.x] = 0;
  const bool right = sum == 496 && last == 31 && __shfl_up(sum, 1) + __shfl_down(threadIdx.x, 1, 8) > 0 &&
                     __ballot(threadIdx.x < 3) == 7 && __any(threadIdx.x == 9) && !__all(threadIdx.x == 9);
  if (__all(right) && threadIdx.x == 0) *out = 1;
}

// Where 13.0's own calls stay what they are: with a literal null as edges' data.
void calls_of_13(cudaStream_t stream, cudaGraphNode_t node) {
  cudaStreamCaptureStatus status;
  unsigned long long id;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(stream, &status));
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
  CHECK(count == 1);
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1));
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1, cudaStreamSetCaptureDependencies));
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, 0, count, cudaStreamSetCaptureDependencies));
}

int main() {
  int device, *p;
  OK(cudaGetDevice(&device));
  OK(cudaMallocManaged(&p, 4096));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, device));
  OK(cudaMemAdvise(p, 4096, cudaMemAdviseUnsetReadMostly, device));
  OK(cudaMemPrefetchAsync(p, 4096, device));
  OK(cudaMemPrefetchAsync(p, 4096, device, stream));
  OK(cudaMemPrefetchAsync(p, 4096, cudaCpuDeviceId, NULL));
  OK(cudaDeviceSynchronize());
  int place = 5;
  OK(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeLastPrefetchLocation, p, 4096));
  CHECK(place == cudaCpuDeviceId);
  EXPECT(cudaMemPrefetchAsync(p, 4096, 77, stream), cudaErrorInvalidDevice);
  cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  OK(cudaMemPrefetchAsync_v2(p, 4096, host, 0, stream));
  OK(cudaMemAdvise_v2(p, 4096, cudaMemAdviseSetAccessedBy, host));

  // Graphs without edge data.
  *p = 0;
  void* arguments[] = {&p};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void*)add_one;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  cudaGraph_t graph;
  cudaGraphNode_t first, second, third;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &kernel));
  OK(cudaGraphAddKernelNode(&second, graph, NULL, 0, &kernel));
  OK(cudaGraphAddDependencies(graph, &first, &second, 1));
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphAddNode(&third, graph, &second, 1, &parameters));
  cudaGraphNode_t from[2], to[2];
  size_t count = 2;
  OK(cudaGraphGetEdges(graph, from, to, &count));
  CHECK(count == 2);
  OK(cudaGraphNodeGetDependencies(second, from, &count));
  CHECK(count == 1 && from[0] == first);
  count = 2;
  OK(cudaGraphNodeGetDependentNodes(second, to, &count));
  CHECK(count == 1 && to[0] == third);
  OK(cudaGraphRemoveDependencies(graph, &second, &third, 1));
  cudaGraphExec_t executable;
  char log[64];
  OK(cudaGraphInstantiate(&executable, graph, &third, log, sizeof log));
  cudaGraphExecUpdateResult update = cudaGraphExecUpdateError;
  OK(cudaGraphExecUpdate(executable, graph, &third, &update));
  CHECK(update == cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(*p == 2);
  OK(cudaGraphAddNode(&third, graph, NULL, 0, &parameters));
  EXPECT(cudaGraphExecUpdate(executable, graph, &third, &update), cudaErrorGraphExecUpdateFailure);
  CHECK(update == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGetLastError();
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));

  // Capture.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  add_one<<<1, 1, 0, stream>>>(p);
  cudaStreamCaptureStatus status;
  unsigned long long id;
  const cudaGraphNode_t* dependencies;
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, &count));
  CHECK(status == cudaStreamCaptureStatusActive && count == 1);
  OK(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &dependencies, &count));
  first = dependencies[0];
  OK(cudaGraphAddEmptyNode(&second, graph, &first, 1));
  OK(cudaStreamUpdateCaptureDependencies(stream, &second, 1));
  OK(cudaStreamUpdateCaptureDependencies(stream, &second, count, cudaStreamSetCaptureDependencies));
  calls_of_13(stream, second);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphDestroy(graph));

  // Properties that are attributes only in 13.0.
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, device));
  const auto equals = [&](cudaDeviceAttr attribute, int property) {
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, attribute, device));
    CHECK(value == property);
  };
  equals(cudaDevAttrClockRate, properties.clockRate);
  equals(cudaDevAttrMemoryClockRate, properties.memoryClockRate);
  equals(cudaDevAttrGpuOverlap, properties.deviceOverlap);
  equals(cudaDevAttrKernelExecTimeout, properties.kernelExecTimeoutEnabled);
  equals(cudaDevAttrComputeMode, properties.computeMode);
  equals(cudaDevAttrMaxTexture1DLinearWidth, properties.maxTexture1DLinear);
  equals(cudaDevAttrSingleToDoublePrecisionPerfRatio, properties.singleToDoublePrecisionPerfRatio);
  CHECK(properties.cooperativeMultiDeviceLaunch == 0);
  without_masks<<<1, 32>>>(p);
  OK(cudaThreadSynchronize());
  CHECK(*p == 1);
  return report();
}
