// DEFECT: stream-ordered memory is written in a stream that doesn't wait for its allocation.
// EXPECT: pool
#include <cuda_runtime.h>

#include <cstdio>

__global__ void set(int* p, int value) { p[threadIdx.x] = value; }

int main() {
  cudaStream_t owner, writer;
  cudaStreamCreateWithFlags(&owner, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking);
  cudaEvent_t allocated, written;
  cudaEventCreate(&allocated);
  cudaEventCreate(&written);
  int* p;
  cudaMallocAsync(&p, 64 * sizeof(int), owner);
#ifdef FIXED
  cudaEventRecord(allocated, owner);
  cudaStreamWaitEvent(writer, allocated, 0);
#endif
  set<<<1, 64, 0, writer>>>(p, 3);
  cudaEventRecord(written, writer);
  cudaStreamWaitEvent(owner, written, 0);
  int value = 0;
  cudaMemcpyAsync(&value, p, sizeof value, cudaMemcpyDeviceToHost, owner);
  cudaFreeAsync(p, owner);
  cudaStreamSynchronize(owner);
  std::printf("data %s\ndone\n", value == 3 ? "right" : "wrong");
}
