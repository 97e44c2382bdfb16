// What the timeline's test draws: two streams in turn, a graph, ranges, and what an argument asks for: a crash, or many
// operations ("killed": and then SIGKILL).
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int n = 1 << 14;
__global__ void scale(float* x, float f) { x[blockIdx.x * blockDim.x + threadIdx.x] *= f; }
__global__ void nudge(float* x) { x[threadIdx.x] += 1; }

// Holds a stream until everything is enqueued, so that a wait has something to wait for.
std::atomic<int> enqueued{0};
void CUDART_CB hold(void* frame) {
  while (enqueued.load() <= *static_cast<int*>(frame)) {}
}

int main(int argc, char** argv) {
  float *d, *h;
  cudaMalloc(&d, n * sizeof(float));
  cudaMallocHost(&h, n * sizeof(float));
  std::memset(h, 0, n * sizeof(float));
  cudaStream_t copies, kernels;
  cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking);
  cudaEvent_t there;
  cudaEventCreateWithFlags(&there, cudaEventDisableTiming);
  if (argc > 2 && std::strcmp(argv[1], "many") == 0) {
    for (int i = 0, count = std::atoi(argv[2]); i < count; ++i) nudge<<<1, 1, 0, kernels>>>(d);
    cudaDeviceSynchronize();
    if (argc > 3 && std::strcmp(argv[3], "killed") == 0) raise(SIGKILL);
    return 0;
  }
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("frame");
    cudaLaunchHostFunc(copies, hold, &i);
    cudaMemcpyAsync(d, h, n * sizeof(float), cudaMemcpyHostToDevice, copies);
    cudaEventRecord(there, copies);
    cudaStreamWaitEvent(kernels, there, 0);
    scale<<<n / 256, 256, 0, kernels>>>(d, 2.0f);
    ++enqueued;
    cudaStreamSynchronize(kernels);
    nvtxRangePop();
  }
  if (argc > 1 && std::strcmp(argv[1], "crash") == 0) std::abort();
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(kernels, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(d, 0, n * sizeof(float), kernels);
  nudge<<<1, 256, 0, kernels>>>(d);
  scale<<<n / 256, 256, 0, kernels>>>(d, 3.0f);
  cudaMemcpyAsync(h, d, n * sizeof(float), cudaMemcpyDeviceToHost, kernels);
  cudaStreamEndCapture(kernels, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, kernels);
  cudaStreamSynchronize(kernels);
  std::printf("%g\n", h[0]);
}
