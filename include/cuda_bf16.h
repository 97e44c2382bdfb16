// The bfloat16 format (CUDA Math API): a storage type of 16 bits whose arithmetic is float's, rounded.
#ifndef MILLRACE_CUDA_BF16_H
#define MILLRACE_CUDA_BF16_H
#define __CUDA_BF16_H__  // programs ask for this name

#include "cuda_runtime.h"
#if !defined(__CUDACC__)
#include "millrace/device/host_only.h"
#endif
#include "millrace/device/math/exponential.h"
#include "millrace/device/math/roots.h"
#include "millrace/device/math/trigonometric.h"
#include "millrace/device/small_float.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};
struct __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __host__ __device__ constexpr __nv_bfloat16(const __nv_bfloat16_raw& r) : __x(r.x) {}
  __host__ __device__ __nv_bfloat16(float v);
  __host__ __device__ __nv_bfloat16(double v);
  __host__ __device__ __nv_bfloat16(int v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(unsigned v) : __nv_bfloat16((double)v) {}
  __host__ __device__ __nv_bfloat16(short v) : __nv_bfloat16((float)v) {}
  __host__ __device__ __nv_bfloat16(unsigned short v) : __nv_bfloat16((float)v) {}
  __host__ __device__ __nv_bfloat16(long v);
  __host__ __device__ __nv_bfloat16(unsigned long v);
  __host__ __device__ __nv_bfloat16(long long v);
  __host__ __device__ __nv_bfloat16(unsigned long long v);
  __host__ __device__ operator __nv_bfloat16_raw() const {
    __nv_bfloat16_raw r;
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
  template <class T> __host__ __device__ __nv_bfloat16& operator=(T v) { return *this = __nv_bfloat16(v); }
  __nv_bfloat16& operator=(const __nv_bfloat16&) = default;
  __nv_bfloat16(const __nv_bfloat16&) = default;
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __host__ __device__ constexpr __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  __host__ __device__ constexpr __nv_bfloat162(const __nv_bfloat162_raw& r)
      : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y}) {}
  __host__ __device__ operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

__MR_HD __nv_bfloat16 __mr_make(unsigned short bits, __nv_bfloat16) {
  __nv_bfloat16 h;
  h.__x = bits;
  return h;
}
// The upper half of a float.
__MR_HD float __mr_widen(__nv_bfloat16 h) { return __mr_from_bitsf((unsigned)h.__x << 16); }
__MR_HD unsigned short __mr_round(float x, __nv_bfloat16) {
  const unsigned b = __mr_bitsf(x);
  return x != x ? (unsigned short)0x7fff : (unsigned short)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}

#define MR_T __nv_bfloat16
#define MR_T2 __nv_bfloat162
#define MR_PASTE_(a, b) a##b
#define MR_PASTE(a, b) MR_PASTE_(a, b)
#define MR_NAME(prefix, suffix) prefix##bfloat16##suffix
#define MR_FLOAT_OF __bfloat162float
#define MR_MANTISSA 7
#define MR_LOWEST (-126)
#define MR_INFINITY 0x7f80u
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

__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(float v) : __x(__mr_round(v, __nv_bfloat16())) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(double v) : __x(__double2bfloat16(v).__x) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(long v) : __x(__ll2bfloat16_rn(v).__x) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(unsigned long v) : __x(__ull2bfloat16_rn(v).__x) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(long long v) : __x(__ll2bfloat16_rn(v).__x) {}
__host__ __device__ inline __nv_bfloat16::__nv_bfloat16(unsigned long long v) : __x(__ull2bfloat16_rn(v).__x) {}
__host__ __device__ inline __nv_bfloat16::operator float() const { return __mr_widen(*this); }

__MR_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __mr_pair(a, a); }
__MR_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __mr_pair(a, b); }
__MR_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __mr_pair(a, b); }
__MR_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
__MR_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
__MR_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __mr_pair(a.x, a.x); }
__MR_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __mr_pair(a.y, a.y); }
__MR_HD __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __mr_pair(a.x, b.x); }
__MR_HD __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __mr_pair(a.y, b.y); }
__MR_HD __nv_bfloat162 __float2bfloat162_rn(float a) {
  return __mr_pair(__float2bfloat16_rn(a), __float2bfloat16_rn(a));
}
__MR_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __mr_pair(__float2bfloat16_rn(a), __float2bfloat16_rn(b));
}
__MR_HD __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
__MR_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(__mr_widen(a.x), __mr_widen(a.y)); }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)

#endif
