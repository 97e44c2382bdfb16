// DEFECT: a kernel writes through a surface what another stream's copy reads.
// EXPECT: stream-stream
#include "streams.h"
__global__ void paint(cudaSurfaceObject_t s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  surf2Dwrite<float>(i, s, i % 64 * 4, i / 64);
}
int main() {
  float* h = (float*)pinned();
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  cudaArray_t array;
  auto desc = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &desc, 64, n / 64, cudaArraySurfaceLoadStore));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaSurfaceObject_t surf;
  CHECK(cudaCreateSurfaceObject(&surf, &r));
  paint<<<GRID, 0, s>>>(surf);  // RACE-A
#ifdef FIXED
  CHECK(cudaEventRecord(e, s));
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaMemcpy2DFromArrayAsync(h, 256, array, 0, 0, 256, n / 64, cudaMemcpyDeviceToHost, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  bool ok = true;
  for (int i = 0; i < n; ++i) ok &= h[i] == i;
  return finish(ok);
}
