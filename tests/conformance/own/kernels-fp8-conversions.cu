// Rule: what cuda_fp8.h's conversions give for every half, every byte and chosen floats and doubles, by format and
// saturation, on both sides.
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector>

__host__ __device__ __nv_saturation_t saturation_of(int s) { return s ? __NV_SATFINITE : __NV_NOSAT; }
__host__ __device__ __nv_fp8_interpretation_t format_of(int f) { return f ? __NV_E5M2 : __NV_E4M3; }

__host__ __device__ float as_float(unsigned bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
// Signs, all exponents near the formats' ranges, mantissas around halfway points.
__host__ __device__ float chosen(unsigned i) {
  const unsigned tails[] = {0, 1, 0x7ffff, 0x80000, 0x80001, 0xfffff, 0x100000, 0x100001};
  return as_float((i & 1) << 31 | (97 + i / 128 % 50) << 23 | (i / 16 % 8) << 20 | tails[i / 2 % 8]);
}
constexpr unsigned n_chosen = 128 * 50;

__global__ void from_half(unsigned char* o, int format, int saturation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __half_raw h;
  h.x = (unsigned short)i;
  o[i] = __nv_cvt_halfraw_to_fp8(h, saturation_of(saturation), format_of(format));
}
__global__ void from_bfloat16(unsigned char* o, int format, int saturation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  __nv_bfloat16_raw h;
  h.x = (unsigned short)i;
  o[i] = __nv_cvt_bfloat16raw_to_fp8(h, saturation_of(saturation), format_of(format));
}
__global__ void from_float(unsigned char* o, int format, int saturation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n_chosen) o[i] = __nv_cvt_float_to_fp8(chosen(i), saturation_of(saturation), format_of(format));
}
__global__ void from_double(unsigned char* o, int format, int saturation) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n_chosen)
    o[i] = __nv_cvt_double_to_fp8((double)chosen(i) * (1 + 0x1p-40), saturation_of(saturation), format_of(format));
}
__global__ void to_half(unsigned short* o, int format) {
  o[threadIdx.x] = __half_raw(__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)threadIdx.x, format_of(format))).x;
}
template <class T> __host__ __device__ void values(T, int* o) {
  int n = 0;
  const auto put = [&](float x) { o[n++] = (int)(x * 1024); };
  put(float(T(1.1f))), put(float(T(-300))), put(float(T(7u))), put(float(T((short)-5))), put(float(T(123456789LL)));
  put(float(T(2.71828))), put(float(T(__float2half(0.1f)))), put(float(T(__float2bfloat16(0.3f))));
  o[n++] = int(T(3.7f)), o[n++] = (unsigned char)T(-3.f), o[n++] = (signed char)T(-200.f), o[n++] = bool(T(0.f));
  o[n++] = bool(T(-0.f)), o[n++] = bool(T(1.f)), o[n++] = (int)(double(T(5.5f)) * 4), o[n++] = T(1e9f).__x;
  o[n++] = T(as_float(0x7fc00000)).__x, o[n++] = T(as_float(0xffc00000)).__x, o[n++] = T(as_float(0xff800000)).__x;
  o[n++] = (unsigned short)T(9.f), o[n++] = (int)(long long)T(-9.f), o[n++] = sizeof(T), o[n++] = alignof(T);
}
__global__ void values_there(int* o) {
  values(__nv_fp8_e4m3(), o);
  values(__nv_fp8_e5m2(), o + 32);
}
template <class T2, class T4> __host__ __device__ void vectors(int* o) {
  const T2 a(make_float2(1.3f, -2.6f)), b(__floats2half2_rn(0.2f, 500.f)), c(__floats2bfloat162_rn(3.f, 0.01f));
  const T4 d(make_float4(1, 2, 3, -1e5f)), e(__floats2half2_rn(1, -2), __floats2half2_rn(3, -4));
  const float2 f = float2(b), g = __half22float2(__half2(a));
  const float4 h = float4(d);
  o[0] = a.__x, o[1] = b.__x, o[2] = c.__x, o[3] = (int)d.__x, o[4] = (int)e.__x;
  o[5] = (int)(f.x * 1024), o[6] = (int)(f.y), o[7] = (int)(g.x * 1024), o[8] = (int)(g.y * 1024), o[9] = (int)h.w;
  o[10] = T2(make_double2(0.7, -0.9)).__x, o[11] = (int)T4(make_double4(1, 2, 3, 4)).__x;
}
__global__ void vectors_there(int* o) {
  vectors<__nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(o);
  vectors<__nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(o + 16);
}

static unsigned long long sum(const void* data, size_t bytes) {
  unsigned long long h = 14695981039346656037ull;
  for (size_t i = 0; i < bytes; ++i) h = (h ^ ((const unsigned char*)data)[i]) * 1099511628211ull;
  return h;
}
static void show(const char* what, const std::vector<int>& v, int n) {
  std::printf("%s:", what);
  for (int i = 0; i < n; ++i) std::printf(" %d", v[i]);
  std::printf("\n");
}

int main() {
  unsigned char* d;
  cudaMalloc(&d, 1 << 17);
  std::vector<unsigned char> there(1 << 16), here(1 << 16);
  const unsigned short shown[] = {0x0000, 0x8000, 0x0001, 0x3c00, 0x5f00, 0x5f01, 0x5f40, 0x5f41,
                                  0x7bff, 0x7b80, 0x7b7f, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01,
                                  0xffff, 0x1400, 0x1401, 0x1800, 0x0080, 0x0081};
  for (int f = 0; f < 2; ++f)
    for (int s = 0; s < 2; ++s) {
      std::printf("format %d saturation %d\n", f, s);
      from_half<<<256, 256>>>(d, f, s);
      cudaMemcpy(there.data(), d, 65536, cudaMemcpyDeviceToHost);
      for (int i = 0; i < 65536; ++i) {
        __half_raw h;
        h.x = (unsigned short)i;
        here[i] = __nv_cvt_halfraw_to_fp8(h, saturation_of(s), format_of(f));
      }
      std::printf(" half %016llx %016llx:", sum(there.data(), 65536), sum(here.data(), 65536));
      for (unsigned short i : shown) std::printf(" %02x", there[i]);
      std::printf("\n");
      from_bfloat16<<<256, 256>>>(d, f, s);
      cudaMemcpy(there.data(), d, 65536, cudaMemcpyDeviceToHost);
      for (int i = 0; i < 65536; ++i) {
        __nv_bfloat16_raw h;
        h.x = (unsigned short)i;
        here[i] = __nv_cvt_bfloat16raw_to_fp8(h, saturation_of(s), format_of(f));
      }
      std::printf(" bfloat16 %016llx %016llx\n", sum(there.data(), 65536), sum(here.data(), 65536));
      from_float<<<(n_chosen + 255) / 256, 256>>>(d, f, s);
      cudaMemcpy(there.data(), d, n_chosen, cudaMemcpyDeviceToHost);
      for (unsigned i = 0; i < n_chosen; ++i)
        here[i] = __nv_cvt_float_to_fp8(chosen(i), saturation_of(s), format_of(f));
      std::printf(" float %016llx %016llx\n", sum(there.data(), n_chosen), sum(here.data(), n_chosen));
      from_double<<<(n_chosen + 255) / 256, 256>>>(d, f, s);
      cudaMemcpy(there.data(), d, n_chosen, cudaMemcpyDeviceToHost);
      for (unsigned i = 0; i < n_chosen; ++i)
        here[i] = __nv_cvt_double_to_fp8((double)chosen(i) * (1 + 0x1p-40), saturation_of(s), format_of(f));
      std::printf(" double %016llx %016llx\n", sum(there.data(), n_chosen), sum(here.data(), n_chosen));
    }
  for (int f = 0; f < 2; ++f) {
    unsigned short h[256], g[256];
    to_half<<<1, 256>>>((unsigned short*)d, f);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; ++i) g[i] = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, format_of(f)).x;
    std::printf("to half, format %d: %016llx %016llx:", f, sum(h, sizeof h), sum(g, sizeof g));
    for (int i : {0, 1, 7, 8, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0xfc, 0xfd, 0xff}) std::printf(" %04x", h[i]);
    std::printf("\n");
  }
  std::vector<int> v(64), w(64);
  values_there<<<1, 1>>>((int*)d);
  cudaMemcpy(v.data(), d, 256, cudaMemcpyDeviceToHost);
  values(__nv_fp8_e4m3(), w.data()), values(__nv_fp8_e5m2(), w.data() + 32);
  show("e4m3 there", v, 23), show("e4m3 here", w, 23);
  v.erase(v.begin(), v.begin() + 32), w.erase(w.begin(), w.begin() + 32);
  show("e5m2 there", v, 23), show("e5m2 here", w, 23);
  v.resize(64), w.resize(64);
  vectors_there<<<1, 1>>>((int*)d);
  cudaMemcpy(v.data(), d, 256, cudaMemcpyDeviceToHost);
  vectors<__nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(w.data()), vectors<__nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(w.data() + 16);
  show("e4m3 vectors there", v, 12), show("e4m3 vectors here", w, 12);
  v.erase(v.begin(), v.begin() + 16), w.erase(w.begin(), w.begin() + 16);
  show("e5m2 vectors there", v, 12), show("e5m2 vectors here", w, 12);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
