// Stream capture: what two streams are told once becomes a graph, which is then launched as often as needed.
//
//            *--- left ---*
//   begin ---|            |--- join
//            *--- right --*
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add(int* x, int value) { *x += value; }
__global__ void join(int* total, const int* left, const int* right) { *total = *left + *right; }

int main() {
  int *x, result[3];
  cudaMalloc(&x, 3 * sizeof(int));
  cudaStream_t stream, side;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaMemsetAsync(x, 0, 3 * sizeof(int), stream);  // the default stream would not be ordered with non-blocking ones
  cudaEvent_t fork, joined;
  cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);

  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  add<<<1, 1, 0, stream>>>(x, 1);
  add<<<1, 1, 0, side>>>(x + 1, 10);
  cudaEventRecord(joined, side);
  cudaStreamWaitEvent(stream, joined, 0);
  join<<<1, 1, 0, stream>>>(x + 2, x, x + 1);
  cudaStreamEndCapture(stream, &graph);

  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 100; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(result, x, sizeof result, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaGetLastError();
  std::printf("%zu nodes, launched 100 times: left %d, right %d, joined %d\n", nodes, result[0], result[1], result[2]);

  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(fork);
  cudaEventDestroy(joined);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(side);
  cudaFree(x);
  return nodes != 3 || result[2] != 1100 || error != cudaSuccess;
}
