// Events: order work between two streams without stopping the host, and measure it.
//
//   producer  --- fill ---*(filled)
//                          \
//   consumer                *--- square ---*(squared)
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i % 1000;
}

__global__ void square(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= x[i];
}

int main() {
  const int n = 1 << 22, blocks = n / 256;
  int *x, *host;
  cudaMalloc(&x, n * sizeof(int));
  cudaMallocHost(&host, n * sizeof(int));
  cudaStream_t producer, consumer;
  cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking);
  cudaEvent_t begin, filled, squared;
  cudaEventCreate(&begin);
  cudaEventCreate(&filled);
  cudaEventCreate(&squared);

  cudaEventRecord(begin, producer);
  fill<<<blocks, 256, 0, producer>>>(x, n);
  cudaEventRecord(filled, producer);
  cudaStreamWaitEvent(consumer, filled, 0);  // the consumer's next operation waits; the host doesn't
  square<<<blocks, 256, 0, consumer>>>(x, n);
  cudaEventRecord(squared, consumer);
  cudaMemcpyAsync(host, x, n * sizeof(int), cudaMemcpyDeviceToHost, consumer);
  std::printf("everything is enqueued; the first stage is %s\n",
              cudaEventQuery(filled) == cudaErrorNotReady ? "still running" : "done already");
  cudaStreamSynchronize(consumer);

  float first = 0, both = 0;
  cudaEventElapsedTime(&first, begin, filled);
  cudaEventElapsedTime(&both, begin, squared);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != (i % 1000) * (i % 1000);
  std::printf("fill took %.3f ms, fill and square %.3f ms; %d wrong\n", first, both, wrong);
  const cudaError_t error = cudaGetLastError();
  for (cudaEvent_t e : {begin, filled, squared}) cudaEventDestroy(e);
  cudaStreamDestroy(producer);
  cudaStreamDestroy(consumer);
  cudaFree(x);
  cudaFreeHost(host);
  return wrong != 0 || first <= 0 || both < first || error != cudaSuccess;
}
