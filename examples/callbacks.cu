// Host functions: the stream calls the program when a batch is there, and goes on with the next one. The host thread
// that enqueued all of it meanwhile does something else.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void triangle(long long* sum, int batch) {  // 0 + 1 + ... + 1000 * batch, by one block
  __shared__ long long part[128];
  long long mine = 0;
  for (int i = threadIdx.x; i <= 1000 * batch; i += blockDim.x) mine += i;
  part[threadIdx.x] = mine;
  for (unsigned half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *sum = part[0];
}

struct Batch {
  int number;
  long long* sum;  // pinned
  bool right;
};

void arrived(void* argument) {
  Batch& batch = *static_cast<Batch*>(argument);
  const long long last = 1000LL * batch.number;
  batch.right = *batch.sum == last * (last + 1) / 2;
  std::printf("batch %d: %lld, %s\n", batch.number, *batch.sum, batch.right ? "right" : "WRONG");
}

int main() {
  const int batches = 4;
  long long *device, *host;
  cudaMalloc(&device, batches * sizeof(long long));
  cudaMallocHost(&host, batches * sizeof(long long));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  Batch batch[batches];
  for (int i = 0; i < batches; ++i) {
    batch[i] = {i + 1, host + i, false};
    triangle<<<1, 128, 0, stream>>>(device + i, i + 1);
    cudaMemcpyAsync(host + i, device + i, sizeof(long long), cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, arrived, &batch[i]);
  }
  cudaStreamSynchronize(stream);
  const cudaError_t error = cudaGetLastError();
  bool all = true;
  for (const Batch& b : batch) all &= b.right;
  cudaStreamDestroy(stream);
  cudaFree(device);
  cudaFreeHost(host);
  return !all || error != cudaSuccess;
}
