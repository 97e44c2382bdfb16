// DEFECT: a kernel fetches from linear memory through a texture while another stream writes it.
// EXPECT: stream-stream
#include "streams.h"
__global__ void fetch(int* to, cudaTextureObject_t t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = tex1Dfetch<int>(t, i);
}
int main() {
  int *a = device(), *b = device();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = a;
  r.res.linear.desc = cudaCreateChannelDesc<int>();
  r.res.linear.sizeInBytes = bytes;
  cudaTextureDesc d = {};
  cudaTextureObject_t tex;
  CHECK(cudaCreateTextureObject(&tex, &r, &d, nullptr));
  fill<<<GRID, 0, s>>>(a, 5);  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  fetch<<<GRID, 0, t>>>(b, tex);  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(b, 5));
}
