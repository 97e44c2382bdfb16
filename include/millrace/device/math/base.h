// Foundations of the device math library: bit access, scaling, and double-double arithmetic.
//
// Every function here is plain arithmetic with IEEE operations and explicit fused multiply-adds, so it gives the same
// bits whether the optimizer makes scalar or vector code of it. Float functions compute in double and round once.
//
// The header also compiles as plain C++ (the accuracy test does that).
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#if defined(__CUDACC__) || defined(__CUDA__)
#define __MR_MATH static __inline__ __attribute__((host, device, unused))
#define __MR_MATH_COLD static __attribute__((host, device, unused, noinline))
#else
#define __MR_MATH static inline __attribute__((unused))
#define __MR_MATH_COLD static __attribute__((unused, noinline))
#endif

// A product and a sum written separately stay separate.
#ifdef __clang__
#define __MR_EXACT _Pragma("clang fp contract(off)")
#else
#define __MR_EXACT
#endif

#define __MR_INF __builtin_inf()
#define __MR_NAN __builtin_nan("")

__MR_MATH unsigned long __mr_bits(double x) { return __builtin_bit_cast(unsigned long, x); }
__MR_MATH double __mr_from_bits(unsigned long b) { return __builtin_bit_cast(double, b); }
__MR_MATH unsigned __mr_bitsf(float x) { return __builtin_bit_cast(unsigned, x); }
__MR_MATH float __mr_from_bitsf(unsigned b) { return __builtin_bit_cast(float, b); }
__MR_MATH double __mr_abs(double x) { return __builtin_fabs(x); }
__MR_MATH bool __mr_is_nan(double x) { return x != x; }
__MR_MATH bool __mr_is_inf(double x) { return __builtin_fabs(x) == __MR_INF; }
__MR_MATH bool __mr_is_finite(double x) { return __builtin_fabs(x) < __MR_INF; }
__MR_MATH bool __mr_sign(double x) { return (__mr_bits(x) >> 63) != 0; }
__MR_MATH double __mr_copysign(double x, double s) { return __builtin_copysign(x, s); }

// 2^k for -1022 <= k <= 1023.
__MR_MATH double __mr_pow2(int k) { return __mr_from_bits((unsigned long)(1023 + k) << 52); }
// x * 2^k for |k| <= 2200, rounded once when x is normal.
__MR_MATH double __mr_scale(double x, int k) {
  const int a = k / 3;
  return x * __mr_pow2(a) * __mr_pow2(a) * __mr_pow2(k - 2 * a);
}
// As __mr_scale, for results of exp: |k| <= 2040.
__MR_MATH double __mr_scale2(double x, int k) {
  const int a = k / 2;
  return x * __mr_pow2(a) * __mr_pow2(k - a);
}

// An unevaluated sum hi + lo, |lo| at most half an ulp of hi.
struct __mr_dd {
  double hi, lo;
};
__MR_MATH __mr_dd __mr_dd_make(double hi, double lo) {
  __mr_dd r;
  r.hi = hi;
  r.lo = lo;
  return r;
}
// Exact sum where |a| >= |b| or a == 0.
__MR_MATH __mr_dd __mr_fast_sum(double a, double b) {
  __MR_EXACT
  const double s = a + b;
  return __mr_dd_make(s, b - (s - a));
}
// Exact sum.
__MR_MATH __mr_dd __mr_sum(double a, double b) {
  __MR_EXACT
  const double s = a + b, t = s - a;
  return __mr_dd_make(s, (a - (s - t)) + (b - t));
}
// Exact product, barring underflow.
__MR_MATH __mr_dd __mr_product(double a, double b) {
  __MR_EXACT
  const double p = a * b;
  return __mr_dd_make(p, __builtin_fma(a, b, -p));
}
__MR_MATH __mr_dd __mr_dd_neg(__mr_dd a) { return __mr_dd_make(-a.hi, -a.lo); }
__MR_MATH __mr_dd __mr_dd_add(__mr_dd a, __mr_dd b) {
  __MR_EXACT
  const __mr_dd s = __mr_sum(a.hi, b.hi), t = __mr_sum(a.lo, b.lo);
  const __mr_dd u = __mr_fast_sum(s.hi, s.lo + t.hi);
  return __mr_fast_sum(u.hi, u.lo + t.lo);
}
__MR_MATH __mr_dd __mr_dd_add1(__mr_dd a, double b) {
  __MR_EXACT
  const __mr_dd s = __mr_sum(a.hi, b);
  return __mr_fast_sum(s.hi, s.lo + a.lo);
}
__MR_MATH __mr_dd __mr_dd_mul(__mr_dd a, __mr_dd b) {
  __MR_EXACT
  const __mr_dd p = __mr_product(a.hi, b.hi);
  return __mr_fast_sum(p.hi, p.lo + __builtin_fma(a.hi, b.lo, a.lo * b.hi));
}
__MR_MATH __mr_dd __mr_dd_mul1(__mr_dd a, double b) {
  __MR_EXACT
  const __mr_dd p = __mr_product(a.hi, b);
  return __mr_fast_sum(p.hi, __builtin_fma(a.lo, b, p.lo));
}
__MR_MATH __mr_dd __mr_dd_div(__mr_dd a, __mr_dd b) {
  __MR_EXACT
  const double q = a.hi / b.hi;
  const double r = __builtin_fma(-q, b.hi, a.hi);
  return __mr_fast_sum(q, (r + a.lo - q * b.lo) / b.hi);
}
__MR_MATH __mr_dd __mr_dd_sqrt(__mr_dd a) {
  __MR_EXACT
  const double s = __builtin_sqrt(a.hi);
  if (s == 0) return __mr_dd_make(0, 0);
  const double r = __builtin_fma(-s, s, a.hi) + a.lo;
  return __mr_fast_sum(s, r / (s + s));
}
// Multiplication by a power of two.
__MR_MATH __mr_dd __mr_dd_scale(__mr_dd a, double p) { return __mr_dd_make(a.hi * p, a.lo * p); }
