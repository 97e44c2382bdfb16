// Rule: the least signed byte is a little less than -1 while texels are interpolated.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstring>
__global__ void t1(cudaTextureObject_t t, const float3* c, float* o, int n, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    o[i] = dim == 1   ? tex1D<float>(t, c[i].x)
           : dim == 2 ? tex2D<float>(t, c[i].x, c[i].y)
                      : tex3D<float>(t, c[i].x, c[i].y, c[i].z);
}
template <class T>
static void run(const char* name, int dim, const T* data, int w, int h, int d, bool normalized_read, unsigned seed) {
  cudaChannelFormatDesc c = cudaCreateChannelDesc<T>();
  cudaArray_t a;
  cudaExtent e = make_cudaExtent(w, dim > 1 ? h : 0, dim > 2 ? d : 0);
  cudaMalloc3DArray(&a, &c, e);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr((void*)data, w * sizeof(T), w, h);
  p.dstArray = a;
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyHostToDevice;
  cudaError_t r = cudaMemcpy3D(&p);
  cudaResourceDesc rd;
  std::memset(&rd, 0, sizeof rd);
  rd.resType = cudaResourceTypeArray;
  rd.res.array.array = a;
  cudaTextureDesc td;
  std::memset(&td, 0, sizeof td);
  td.filterMode = cudaFilterModeLinear;
  td.readMode = normalized_read ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  for (auto& m : td.addressMode) m = cudaAddressModeClamp;
  cudaTextureObject_t t;
  cudaError_t r2 = cudaCreateTextureObject(&t, &rd, &td, nullptr);
  const int n = 48;
  float3 in[n];
  for (auto& v : in) {
    seed = seed * 1664525u + 1013904223u;
    v.x = (seed >> 8) * (1.0f / (1 << 24)) * w;
    seed = seed * 1664525u + 1013904223u;
    v.y = (seed >> 8) * (1.0f / (1 << 24)) * h;
    seed = seed * 1664525u + 1013904223u;
    v.z = (seed >> 8) * (1.0f / (1 << 24)) * d;
  }
  for (int i = 0; i < 8; ++i) {
    in[i].x = 1.0f + i / 16.0f;
    in[i].y = in[i].z = 1.5f;
  }
  float3* dc;
  float *dev, out[n];
  cudaMalloc(&dc, sizeof in);
  cudaMalloc(&dev, sizeof out);
  cudaMemcpy(dc, in, sizeof in, cudaMemcpyHostToDevice);
  t1<<<1, n>>>(t, dc, dev, n, dim);
  cudaMemcpy(out, dev, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%s %dD %s %s\n", name, dim, cudaGetErrorName(r), cudaGetErrorName(r2));
  for (int i = 0; i < n; ++i) {
    unsigned x, y, z, q;
    std::memcpy(&x, &in[i].x, 4);
    std::memcpy(&y, &in[i].y, 4);
    std::memcpy(&z, &in[i].z, 4);
    std::memcpy(&q, &out[i], 4);
    std::printf("%08x %08x %08x -> %08x\n", x, y, z, q);
  }
}
int main() {
  static signed char s8[4 * 4 * 4];
  static unsigned char u8[64];
  static short s16[64];
  static float f[64];
  unsigned q = 9;
  for (int i = 0; i < 64; ++i) {
    q = q * 1664525u + 1013904223u;
    s8[i] = (signed char)(q >> 24);
    u8[i] = q >> 24;
    s16[i] = (short)(q >> 16);
    f[i] = (int)(q >> 20) / 64.0f - 20;
  }
  s8[0] = -128;
  s8[1] = 127;
  s8[5] = -128;
  s8[6] = -128;
  run("s8", 1, s8, 4, 1, 1, true, 1);
  (void)u8, (void)s16, (void)f;
}
