// DEFECT: a device variable is read back in a stream that doesn't wait for the kernel that writes it.
// EXPECT: stream-stream
#include "streams.h"
__device__ int best;
__global__ void find(const int* p) {
  if (threadIdx.x == 0 && blockIdx.x == 0) best = p[3];  // AT-A
}
int main() {
  int* a = device();
  int* h = pinned();
  fill<<<GRID>>>(a, 4);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t s = nonblocking(), t = nonblocking();
  find<<<1, 32, 0, s>>>(a);  // RACE-A
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  CHECK(cudaMemcpyFromSymbolAsync(h, best, sizeof(int), 0, cudaMemcpyDeviceToHost, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(h[0] == 7);
}
