// The 8-bit floating-point formats (CUDA Math API, "FP8 Intrinsics"): storage types and their conversions, on host and
// device. Everything is rounded to nearest even, once.
//
//   e4m3  4 bits of exponent, 3 of mantissa; no infinity, one NaN (0x7f, 0xff); largest 448
//   e5m2  5 bits of exponent, 2 of mantissa; the upper half of a __half; largest 57344
//
// What is too large becomes, with __NV_SATFINITE, the largest value of its sign; with __NV_NOSAT e5m2's infinity or
// e4m3's NaN of its sign. NaN becomes 0x7f. The types' constructors saturate.
#ifndef MILLRACE_CUDA_FP8_H
#define MILLRACE_CUDA_FP8_H
#define __CUDA_FP8_H__  // programs ask for this name

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;  // the first element in the low byte
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// ---- Conversions ----
__MR_HD_BIG __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t format) {
  if (x != x) return 0x7f;
  const unsigned sign = (unsigned)(__mr_bits(x) >> 56) & 0x80u;
  const unsigned beyond = format == __NV_E4M3 ? 0x7fu : 0x7cu;  // the first magnitude that is no number
  unsigned magnitude = format == __NV_E4M3 ? __mr_to_small(__mr_abs(x), 3, -6, beyond, __mr_to_nearest)
                                           : __mr_to_small(__mr_abs(x), 2, -14, beyond, __mr_to_nearest);
  if (saturate == __NV_SATFINITE && magnitude == beyond) --magnitude;
  return (__nv_fp8_storage_t)(sign | magnitude);
}
__MR_HD __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t format) {
  const unsigned sign = (x & 0x80u) << 8, magnitude = x & 0x7fu;
  __half_raw r;
  if (format == __NV_E5M2) {
    r.x = (unsigned short)(magnitude > 0x7cu ? 0x7fffu : sign | magnitude << 8);
  } else if (magnitude == 0x7fu) {
    r.x = 0x7fff;
  } else if (magnitude >= 8u) {
    r.x = (unsigned short)(sign | ((magnitude << 7) + 0x2000u));  // the exponent's bias is 8 less
  } else {
    r = __half_raw(__half((float)magnitude * 0x1p-9f));
    r.x = (unsigned short)(r.x | sign);
  }
  return r;
}
__MR_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float x, const __nv_saturation_t saturate,
                                                 const __nv_fp8_interpretation_t format) {
  return __nv_cvt_double_to_fp8((double)x, saturate, format);
}
__MR_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
                                                   const __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__half2float(__half(x)), saturate, format);
}
__MR_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(__bfloat162float(__nv_bfloat16(x)), saturate, format);
}
__MR_HD __nv_fp8x2_storage_t __mr_fp8x2(unsigned low, unsigned high) { return (__nv_fp8x2_storage_t)(low | high << 8); }
__MR_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 x, const __nv_saturation_t saturate,
                                                       const __nv_fp8_interpretation_t format) {
  return __mr_fp8x2(__nv_cvt_double_to_fp8(x.x, saturate, format), __nv_cvt_double_to_fp8(x.y, saturate, format));
}
__MR_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 x, const __nv_saturation_t saturate,
                                                      const __nv_fp8_interpretation_t format) {
  return __mr_fp8x2(__nv_cvt_float_to_fp8(x.x, saturate, format), __nv_cvt_float_to_fp8(x.y, saturate, format));
}
__MR_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
                                                        const __nv_fp8_interpretation_t format) {
  return __mr_fp8x2(__nv_cvt_halfraw_to_fp8(__half_raw{x.x}, saturate, format),
                    __nv_cvt_halfraw_to_fp8(__half_raw{x.y}, saturate, format));
}
__MR_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
                                                            const __nv_saturation_t saturate,
                                                            const __nv_fp8_interpretation_t format) {
  return __mr_fp8x2(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.x}, saturate, format),
                    __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x.y}, saturate, format));
}
__MR_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x, const __nv_fp8_interpretation_t format) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, format).x,
                     __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), format).x};
}

// ---- Types: one, two and four values of each format ----
#define MR_FP8(T, T2, T4, MR_FORMAT)                                                                                   \
  struct T {                                                                                                           \
    __nv_fp8_storage_t __x;                                                                                            \
    T() = default;                                                                                                     \
    __host__ __device__ explicit T(const __half v) : __x(__nv_cvt_halfraw_to_fp8(v, __NV_SATFINITE, MR_FORMAT)) {}     \
    __host__ __device__ explicit T(const __nv_bfloat16 v)                                                              \
        : __x(__nv_cvt_bfloat16raw_to_fp8(v, __NV_SATFINITE, MR_FORMAT)) {}                                            \
    __host__ __device__ explicit T(const float v) : __x(__nv_cvt_float_to_fp8(v, __NV_SATFINITE, MR_FORMAT)) {}        \
    __host__ __device__ explicit T(const double v) : __x(__nv_cvt_double_to_fp8(v, __NV_SATFINITE, MR_FORMAT)) {}      \
    __host__ __device__ explicit T(const int v) : T((float)v) {}                                                       \
    __host__ __device__ explicit T(const unsigned v) : T((float)v) {}                                                  \
    __host__ __device__ explicit T(const short v) : T((float)v) {}                                                     \
    __host__ __device__ explicit T(const unsigned short v) : T((float)v) {}                                            \
    __host__ __device__ explicit T(const long v) : T((float)v) {}                                                      \
    __host__ __device__ explicit T(const unsigned long v) : T((float)v) {}                                             \
    __host__ __device__ explicit T(const long long v) : T((float)v) {}                                                 \
    __host__ __device__ explicit T(const unsigned long long v) : T((float)v) {}                                        \
    __host__ __device__ explicit operator __half() const { return __half(__nv_cvt_fp8_to_halfraw(__x, MR_FORMAT)); }   \
    __host__ __device__ explicit operator float() const { return __half2float(__half(*this)); }                        \
    __host__ __device__ explicit operator __nv_bfloat16() const { return __float2bfloat16_rz(float(*this)); }          \
    __host__ __device__ explicit operator double() const { return (double)float(*this); }                              \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7fu) != 0; }                                  \
    __host__ __device__ explicit operator char() const { return (char)__half2char_rz(__half(*this)); }                 \
    __host__ __device__ explicit operator signed char() const { return __half2char_rz(__half(*this)); }                \
    __host__ __device__ explicit operator unsigned char() const { return __half2uchar_rz(__half(*this)); }             \
    __host__ __device__ explicit operator short() const { return __half2short_rz(__half(*this)); }                     \
    __host__ __device__ explicit operator unsigned short() const { return __half2ushort_rz(__half(*this)); }           \
    __host__ __device__ explicit operator int() const { return __half2int_rz(__half(*this)); }                         \
    __host__ __device__ explicit operator unsigned() const { return __half2uint_rz(__half(*this)); }                   \
    __host__ __device__ explicit operator long() const { return (long)__half2ll_rz(__half(*this)); }                   \
    __host__ __device__ explicit operator unsigned long() const {                                                      \
      return (unsigned long)__half2ull_rz(__half(*this));                                                              \
    }                                                                                                                  \
    __host__ __device__ explicit operator long long() const { return __half2ll_rz(__half(*this)); }                    \
    __host__ __device__ explicit operator unsigned long long() const { return __half2ull_rz(__half(*this)); }          \
  };                                                                                                                   \
  struct __align__(2) T2 {                                                                                             \
    __nv_fp8x2_storage_t __x;                                                                                          \
    T2() = default;                                                                                                    \
    __host__ __device__ explicit T2(const __half2 v)                                                                   \
        : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, MR_FORMAT)) {}                                             \
    __host__ __device__ explicit T2(const __nv_bfloat162 v)                                                            \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, MR_FORMAT)) {}                                         \
    __host__ __device__ explicit T2(const float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, MR_FORMAT)) {}   \
    __host__ __device__ explicit T2(const double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, MR_FORMAT)) {} \
    __host__ __device__ explicit operator __half2() const {                                                            \
      return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, MR_FORMAT));                                                      \
    }                                                                                                                  \
    __host__ __device__ explicit operator float2() const { return __half22float2(__half2(*this)); }                    \
  };                                                                                                                   \
  struct __align__(4) T4 {                                                                                             \
    __nv_fp8x4_storage_t __x;                                                                                          \
    T4() = default;                                                                                                    \
    __host__ __device__ explicit T4(const __half2 low, const __half2 high) : T4(T2(low), T2(high)) {}                  \
    __host__ __device__ explicit T4(const __nv_bfloat162 low, const __nv_bfloat162 high) : T4(T2(low), T2(high)) {}    \
    __host__ __device__ explicit T4(const float4 v) : T4(T2(make_float2(v.x, v.y)), T2(make_float2(v.z, v.w))) {}      \
    __host__ __device__ explicit T4(const double4 v) : T4(T2(make_double2(v.x, v.y)), T2(make_double2(v.z, v.w))) {}   \
    __host__ __device__ explicit operator float4() const {                                                             \
      T2 low, high;                                                                                                    \
      low.__x = (__nv_fp8x2_storage_t)__x;                                                                             \
      high.__x = (__nv_fp8x2_storage_t)(__x >> 16);                                                                    \
      const float2 a = float2(low), b = float2(high);                                                                  \
      return make_float4(a.x, a.y, b.x, b.y);                                                                          \
    }                                                                                                                  \
                                                                                                                       \
   private:                                                                                                            \
    __host__ __device__ T4(T2 low, T2 high) : __x(low.__x | (__nv_fp8x4_storage_t)high.__x << 16) {}                   \
  };
MR_FP8(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
MR_FP8(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef MR_FP8

#endif
