// Type-punning and conversion intrinsics with every rounding mode (CUDA Math API, "Type Casting Intrinsics").
//
// Conversions to integers saturate and turn NaN into 0 as device code's plain casts do; the pass plugin gives those
// that meaning, so they are written as casts.
#pragma once
#pragma clang system_header

#include "rounding.h"

__MR_D int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__MR_D unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__MR_D float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__MR_D float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__MR_D long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__MR_D double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__MR_D int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long, x) >> 32); }
__MR_D int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long, x); }
__MR_D double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(double, (unsigned long)(unsigned)hi << 32 | (unsigned)lo);
}

// Floating point to integer: round first, exactly, then convert.
#define __MR_TO_INT(from, F, to, I, f)                                                                                 \
  __MR_D I __##from##2##to##_rn(F x) { return (I)__builtin_rint##f(x); }                                               \
  __MR_D I __##from##2##to##_rz(F x) { return (I)x; }                                                                  \
  __MR_D I __##from##2##to##_ru(F x) { return (I)__builtin_ceil##f(x); }                                               \
  __MR_D I __##from##2##to##_rd(F x) { return (I)__builtin_floor##f(x); }
__MR_TO_INT(float, float, int, int, f)
__MR_TO_INT(float, float, uint, unsigned, f)
__MR_TO_INT(float, float, ll, long long, f)
__MR_TO_INT(float, float, ull, unsigned long long, f)
__MR_TO_INT(double, double, int, int, )
__MR_TO_INT(double, double, uint, unsigned, )
__MR_TO_INT(double, double, ll, long long, )
__MR_TO_INT(double, double, ull, unsigned long long, )

__MR_D float __double2float_rn(double x) { return (float)x; }
#define __MR_NARROW(mode)                                                                                              \
  __MR_D float __double2float_##mode(double x) {                                                                       \
    float r;                                                                                                           \
    __MR_ROUNDED(mode, "vcvtsd2ss %3, %3, %0", "=&x"(r), "x"(x));                                                      \
    return r;                                                                                                          \
  }
__MR_NARROW(rz)
__MR_NARROW(ru)
__MR_NARROW(rd)

// Signed integers: one instruction under the wanted MXCSR.
#define __MR_FROM_INT(name, T, I, instruction, mode)                                                                   \
  __MR_D T name##_##mode(I x) {                                                                                        \
    T r;                                                                                                               \
    __MR_ROUNDED(mode, "vxorps %0, %0, %0\n\t" instruction " %3, %0, %0", "=&x"(r), "r"(x));                           \
    return r;                                                                                                          \
  }
#define __MR_FROM_SIGNED(name, T, I, instruction)                                                                      \
  __MR_D T name##_rn(I x) { return (T)x; }                                                                             \
  __MR_FROM_INT(name, T, I, instruction, rz)                                                                           \
  __MR_FROM_INT(name, T, I, instruction, ru)                                                                           \
  __MR_FROM_INT(name, T, I, instruction, rd)
__MR_FROM_SIGNED(__int2float, float, int, "vcvtsi2ssl")
__MR_FROM_SIGNED(__ll2float, float, long long, "vcvtsi2ssq")
__MR_FROM_SIGNED(__ll2double, double, long long, "vcvtsi2sdq")
__MR_D double __int2double_rn(int x) { return (double)x; }
__MR_D double __uint2double_rn(unsigned x) { return (double)x; }

// Unsigned integers: 32 bits fit a signed 64-bit source; 64 bits above 2^63 are halved with the lost bit kept sticky,
// which leaves every rounding decision as it was.
#define __MR_FROM_UINT(mode)                                                                                           \
  __MR_D float __uint2float_##mode(unsigned x) { return __ll2float_##mode((long long)x); }                             \
  __MR_D float __ull2float_##mode(unsigned long long x) {                                                              \
    return (long long)x >= 0 ? __ll2float_##mode((long long)x)                                                         \
                             : __ll2float_##mode((long long)(x >> 1 | (x & 1))) * 2.0f;                                \
  }                                                                                                                    \
  __MR_D double __ull2double_##mode(unsigned long long x) {                                                            \
    return (long long)x >= 0 ? __ll2double_##mode((long long)x)                                                        \
                             : __ll2double_##mode((long long)(x >> 1 | (x & 1))) * 2.0;                                \
  }
__MR_FROM_UINT(rn)
__MR_FROM_UINT(rz)
__MR_FROM_UINT(ru)
__MR_FROM_UINT(rd)
