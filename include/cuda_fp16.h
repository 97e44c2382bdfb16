// Half precision (CUDA Math API): a storage type of 16 bits whose arithmetic is float's, rounded.
#ifndef MILLRACE_CUDA_FP16_H
#define MILLRACE_CUDA_FP16_H
#define __CUDA_FP16_H__  // programs ask for this name

#include "cuda_runtime.h"
#if !defined(__CUDACC__)
#include "millrace/device/host_only.h"
#endif
#include "millrace/device/math/exponential.h"
#include "millrace/device/math/roots.h"
#include "millrace/device/math/trigonometric.h"
#include "millrace/device/small_float.h"

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};
struct __half {
  unsigned short __x;
  __half() = default;
  __host__ __device__ constexpr __half(const __half_raw& r) : __x(r.x) {}
  __host__ __device__ __half(float v);
  __host__ __device__ __half(double v);
  __host__ __device__ __half(int v) : __half((double)v) {}
  __host__ __device__ __half(unsigned v) : __half((double)v) {}
  __host__ __device__ __half(short v) : __half((float)v) {}
  __host__ __device__ __half(unsigned short v) : __half((float)v) {}
  __host__ __device__ __half(long v);
  __host__ __device__ __half(unsigned long v);
  __host__ __device__ __half(long long v);
  __host__ __device__ __half(unsigned long long v);
  __host__ __device__ operator __half_raw() const {
    __half_raw r;
    r.x = __x;
    return r;
  }
  __host__ __device__ operator float() const;
  __host__ __device__ explicit operator bool() const { return (__x & 0x7fffu) != 0; }
  __host__ __device__ explicit operator int() const { return (int)(float)*this; }
  __host__ __device__ explicit operator unsigned() const { return (unsigned)(float)*this; }
  __host__ __device__ explicit operator short() const { return (short)(float)*this; }
  __host__ __device__ explicit operator unsigned short() const { return (unsigned short)(float)*this; }
  __host__ __device__ explicit operator long() const { return (long)(float)*this; }
  __host__ __device__ explicit operator unsigned long() const { return (unsigned long)(float)*this; }
  __host__ __device__ explicit operator long long() const { return (long long)(float)*this; }
  __host__ __device__ explicit operator unsigned long long() const { return (unsigned long long)(float)*this; }
  __host__ __device__ explicit operator double() const { return (double)(float)*this; }
  template <class T> __host__ __device__ __half& operator=(T v) { return *this = __half(v); }
  __half& operator=(const __half&) = default;
  __half(const __half&) = default;
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __host__ __device__ constexpr __half2(const __half& a, const __half& b) : x(a), y(b) {}
  __host__ __device__ constexpr __half2(const __half2_raw& r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
  __host__ __device__ operator __half2_raw() const { return {x.__x, y.__x}; }
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

__MR_HD __half __mr_make(unsigned short bits, __half) {
  __half h;
  h.__x = bits;
  return h;
}
__MR_HD float __mr_widen(__half h) {
#if defined(__CUDA_ARCH__)
  return (float)__builtin_bit_cast(_Float16, h.__x);
#else
  // A denormal's bits are an integer number of units; otherwise the exponent is moved to float's.
  const unsigned m = h.__x & 0x7fffu, sign = (unsigned)(h.__x & 0x8000u) << 16;
  if (m >= 0x7c00u) return __mr_from_bitsf(sign | 0x7f800000u | (m & 0x3ffu) << 13);
  if (m < 0x400u) return __builtin_copysignf((float)m * 0x1p-24f, __mr_from_bitsf(sign));
  return __mr_from_bitsf(sign | ((m << 13) + 0x38000000u));
#endif
}
__MR_HD unsigned short __mr_round(float x, __half) {
#if defined(__CUDA_ARCH__)
  return x != x ? (unsigned short)0x7fff : __builtin_bit_cast(unsigned short, (_Float16)x);
#else
  return __mr_to_small((double)x, 10, -14, 0x7c00u, __mr_to_nearest);
#endif
}

#define MR_T __half
#define MR_T2 __half2
#define MR_PASTE_(a, b) a##b
#define MR_PASTE(a, b) MR_PASTE_(a, b)
#define MR_NAME(prefix, suffix) prefix##half##suffix
#define MR_FLOAT_OF __half2float
#define MR_MANTISSA 10
#define MR_LOWEST (-14)
#define MR_INFINITY 0x7c00u
#include "millrace/device/small_float_ops.inc"
#undef MR_T
#undef MR_T2
#undef MR_PASTE_
#undef MR_PASTE
#undef MR_NAME
#undef MR_FLOAT_OF
#undef MR_MANTISSA
#undef MR_LOWEST
#undef MR_INFINITY

__host__ __device__ inline __half::__half(float v) : __x(__mr_round(v, __half())) {}
__host__ __device__ inline __half::__half(double v) : __x(__double2half(v).__x) {}
__host__ __device__ inline __half::__half(long v) : __x(__ll2half_rn(v).__x) {}
__host__ __device__ inline __half::__half(unsigned long v) : __x(__ull2half_rn(v).__x) {}
__host__ __device__ inline __half::__half(long long v) : __x(__ll2half_rn(v).__x) {}
__host__ __device__ inline __half::__half(unsigned long long v) : __x(__ull2half_rn(v).__x) {}
__host__ __device__ inline __half::operator float() const { return __mr_widen(*this); }

__MR_HD __half2 __half2half2(__half a) { return __mr_pair(a, a); }
__MR_HD __half2 __halves2half2(__half a, __half b) { return __mr_pair(a, b); }
__MR_HD __half2 make_half2(__half a, __half b) { return __mr_pair(a, b); }
__MR_HD __half __low2half(__half2 a) { return a.x; }
__MR_HD __half __high2half(__half2 a) { return a.y; }
__MR_HD __half2 __low2half2(__half2 a) { return __mr_pair(a.x, a.x); }
__MR_HD __half2 __high2half2(__half2 a) { return __mr_pair(a.y, a.y); }
__MR_HD __half2 __lows2half2(__half2 a, __half2 b) { return __mr_pair(a.x, b.x); }
__MR_HD __half2 __highs2half2(__half2 a, __half2 b) { return __mr_pair(a.y, b.y); }
__MR_HD __half2 __float2half2_rn(float a) { return __mr_pair(__float2half_rn(a), __float2half_rn(a)); }
__MR_HD __half2 __floats2half2_rn(float a, float b) { return __mr_pair(__float2half_rn(a), __float2half_rn(b)); }
__MR_HD __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
__MR_HD float2 __half22float2(__half2 a) { return make_float2(__mr_widen(a.x), __mr_widen(a.y)); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)

#endif
