// DEFECT: a pitched image is reloaded while a kernel still samples it through a texture.
// EXPECT: stream-stream
#include "streams.h"
constexpr int width = 64, height = 32;
__global__ void sample(int* to, cudaTextureObject_t t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = tex2D<int>(t, i % width, i / width);
}
int main() {
  int *image, *out = device(), *h = pinned();
  size_t pitch;
  for (int i = 0; i < n; ++i) h[i] = i;
  CHECK(cudaMallocPitch(&image, &pitch, width * 4, height));
  CHECK(cudaMemcpy2D(image, pitch, h, width * 4, width * 4, height, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) h[i] = 9;
  cudaStream_t s = nonblocking(), t = nonblocking();
  cudaEvent_t e = event();
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = image;
  r.res.pitch2D.desc = cudaCreateChannelDesc<int>();
  r.res.pitch2D.width = width;
  r.res.pitch2D.height = height;
  r.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc d = {};
  d.readMode = cudaReadModeElementType;
  cudaTextureObject_t tex;
  CHECK(cudaCreateTextureObject(&tex, &r, &d, nullptr));
  sample<<<GRID, 0, s>>>(out, tex);  // RACE-A
  CHECK(cudaEventRecord(e, s));
#ifdef FIXED
  CHECK(cudaStreamWaitEvent(t, e, 0));
#endif
  CHECK(cudaMemcpy2DAsync(image, pitch, h, width * 4, width * 4, height, cudaMemcpyHostToDevice, t));  // RACE-B
  CHECK(cudaDeviceSynchronize());
  return finish(holds(out, 0));
}
