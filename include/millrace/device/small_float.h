// Conversions to 16-bit floating-point formats with any rounding, for cuda_fp16.h and cuda_bf16.h.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "math/exact.h"
#if defined(__CUDACC__)
#include "services.h"
#else
#include "host_only.h"
#endif

enum __mr_rounding { __mr_to_nearest, __mr_to_zero, __mr_upward, __mr_downward };

// The bits of x in a format with `mantissa` stored bits and the smallest normal exponent `lowest`.
__MR_HD_BIG unsigned short __mr_to_small(double x, int mantissa, int lowest, unsigned infinity, __mr_rounding mode) {
  const unsigned sign = (unsigned)(__mr_bits(x) >> 48) & 0x8000u;
  const double a = __mr_abs(x);
  if (x != x) return 0x7fff;
  if (a == __MR_INF) return (unsigned short)(sign | infinity);
  if (a == 0) return (unsigned short)sign;
  int e = __mr_ilogb(a);
  e = e < lowest ? lowest : e;
  // In units of the last place: an integer below 2^(mantissa + 1) after rounding.
  const double t = __mr_scalbn(a, mantissa - e);
  const bool away = (mode == __mr_upward && sign == 0) || (mode == __mr_downward && sign != 0);
  const double n = mode == __mr_to_nearest ? __mr_rint(t) : away ? __mr_ceil(t) : __mr_floor(t);
  const unsigned magnitude = ((unsigned)(e - lowest) << mantissa) + (unsigned)n;
  if (magnitude >= infinity)
    return (unsigned short)(sign | (mode == __mr_to_nearest || away ? infinity : infinity - 1));
  return (unsigned short)(sign | magnitude);
}
// a + b with the last bit made odd when inexact, so that a second rounding to fewer bits is right.
__MR_HD double __mr_sum_odd(double a, double b) {
  const __mr_dd s = __mr_sum(a, b);
  const unsigned long bits = __mr_bits(s.hi);
  if (s.lo == 0 || s.lo != s.lo || (bits & 1) != 0) return s.hi;
  return __mr_from_bits((s.lo > 0) == (s.hi > 0) ? bits + 1 : bits - 1);
}
