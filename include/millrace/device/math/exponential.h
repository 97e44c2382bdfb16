// Exponentials, logarithms and powers, hyperbolic functions and their inverses.
#pragma once
#include "polynomials.h"

// exp(x.hi + x.lo) = (result) * 2^k for |x| <= 1500; about 2^-60 relative. `minus_one` gives exp - 1 instead when k is
// 0 and otherwise (result) = exp / 2^k - 1: see __mr_expm1_dd.
__MR_MATH __mr_dd __mr_exp_reduced(__mr_dd x, int* k) {
  __MR_EXACT
  const double n = __builtin_rint(x.hi * 0x1.71547652b82fep+0);
  // ln 2 in three parts; the first has 32 bits, so that its product with n is exact.
  const double a = __builtin_fma(-n, 0x1.62e42feep-1, x.hi);
  const __mr_dd b = __mr_sum(a, -(n * 0x1.a39ef356p-33));
  const double lo = b.lo + __builtin_fma(-n, 0x1.93c7673007e5fp-65, x.lo);
  const __mr_dd r = __mr_fast_sum(b.hi, lo);
  // exp(r) - 1 = r + r^2 (1/2 + ...)
  const __mr_dd square = __mr_product(r.hi, r.hi);
  const double tail = __mr_poly_exp(r.hi) - 0.5;
  const __mr_dd half = __mr_dd_make(0.5 * square.hi, 0.5 * square.lo + r.hi * r.lo);
  const __mr_dd s = __mr_sum(r.hi, half.hi);
  *k = (int)n;
  return __mr_fast_sum(s.hi, s.lo + (r.lo + half.lo + square.hi * tail));
}
__MR_MATH __mr_dd __mr_exp_dd(__mr_dd x, int* k) {
  const __mr_dd m = __mr_exp_reduced(x, k);
  const __mr_dd s = __mr_fast_sum(1.0, m.hi);
  return __mr_fast_sum(s.hi, s.lo + m.lo);
}
// exp(x) - 1 for |x| <= 690.
__MR_MATH __mr_dd __mr_expm1_dd(__mr_dd x) {
  int k;
  const __mr_dd m = __mr_exp_reduced(x, &k);
  if (k == 0) return m;
  const double p = __mr_pow2(k);
  const __mr_dd s = __mr_dd_scale(m, p);
  return __mr_dd_add(__mr_sum(p, -1.0), s);
}
// exp of a double-double, rounded to double, with overflow and underflow.
__MR_MATH double __mr_exp_result(__mr_dd x) {
  if (x.hi > 710) return __MR_INF;
  if (x.hi < -746) return 0.0;
  int k;
  const __mr_dd e = __mr_exp_dd(x, &k);
  return __mr_scale2(e.hi, k);
}
__MR_MATH double __mr_exp(double x) {
  const double c = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;
  int k;
  const __mr_dd e = __mr_exp_dd(__mr_dd_make(c, 0), &k);
  return x != x ? x : __mr_scale2(e.hi, k);
}
__MR_MATH double __mr_exp2(double x) {
  const double c = x > 1025.0 ? 1025.0 : x < -1077.0 ? -1077.0 : x;
  const double n = __builtin_rint(c);
  int k;
  const __mr_dd e = __mr_exp_dd(__mr_dd_mul1(__mr_dd_make(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56), c - n), &k);
  return x != x ? x : __mr_scale2(e.hi, k + (int)n);
}
__MR_MATH double __mr_exp10(double x) {
  const double c = x > 310.0 ? 310.0 : x < -325.0 ? -325.0 : x;
  int k;
  const __mr_dd e = __mr_exp_dd(__mr_dd_mul1(__mr_dd_make(0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53), c), &k);
  return x != x ? x : __mr_scale2(e.hi, k);
}
__MR_MATH double __mr_expm1(double x) {
  if (!(__mr_abs(x) < 700)) return x != x ? x : x < 0 ? -1.0 : __mr_exp(x);
  if (__mr_abs(x) < 0x1p-54) return x;
  if (x < -50) return -1.0;
  if (x > 60) return __mr_exp(x);
  return __mr_expm1_dd(__mr_dd_make(x, 0)).hi;
}

// Exponentials for float results: |x| <= 400, about 2^-36 relative.
__MR_MATH double __mr_exp_short(double x) {
  const double n = __builtin_rint(x * 0x1.71547652b82fep+0);
  const double r = __builtin_fma(-n, 0x1.abc9e3b39803fp-56, __builtin_fma(-n, 0x1.62e42fefa39efp-1, x));
  return __builtin_fma(r, __mr_poly_exp_float(r), 1.0) * __mr_pow2((int)n);
}
__MR_MATH double __mr_clamp(double x, double lo, double hi) { return x > hi ? hi : x < lo ? lo : x; }
__MR_MATH float __mr_expf(float x) { return x != x ? x : (float)__mr_exp_short(__mr_clamp((double)x, -150.0, 150.0)); }
__MR_MATH float __mr_exp2f(float x) {
  return x != x ? x : (float)__mr_exp_short(__mr_clamp((double)x, -200.0, 200.0) * 0x1.62e42fefa39efp-1);
}
__MR_MATH float __mr_exp10f(float x) {
  return x != x ? x : (float)__mr_exp_short(__mr_clamp((double)x, -60.0, 60.0) * 0x1.26bb1bbb55516p+1);
}
// exp(x) - 1 in double with a small relative error everywhere: the reduced part is kept apart from the power of two.
__MR_MATH double __mr_expm1_short(double x) {
  const double n = __builtin_rint(x * 0x1.71547652b82fep+0);
  const double r = __builtin_fma(-n, 0x1.abc9e3b39803fp-56, __builtin_fma(-n, 0x1.62e42fefa39efp-1, x));
  const double p = __mr_pow2((int)n);
  return __builtin_fma(r * __mr_poly_exp_float(r), p, p - 1.0);
}
__MR_MATH float __mr_expm1f(float x) {
  return x != x || x == 0 ? x : (float)__mr_expm1_short(__mr_clamp((double)x, -100.0, 150.0));
}

// ---- Logarithms
// --------------------------------------------------------------------------------------------------------

// log(m) of a double-double near 1 (0.7 to 1.42), about 2^-66 relative to the larger of itself and 2^-3.
__MR_MATH __mr_dd __mr_log_near_one(__mr_dd m) {
  __MR_EXACT
  // s = (m - 1) / (m + 1), log m = 2 atanh s = 2 s + 2/3 s^3 + ...
  const __mr_dd s = __mr_dd_div(__mr_dd_add1(m, -1.0), __mr_dd_add1(m, 1.0));
  const __mr_dd z = __mr_dd_mul(s, s);
  const double high = z.hi * z.hi * __mr_poly_log(z.hi);
  const __mr_dd third = __mr_dd_mul(z, __mr_dd_make(0x1.5555555555555p-2, 0x1.5555555555555p-56));
  const __mr_dd t = __mr_fast_sum(third.hi, third.lo + high);
  const __mr_dd twice = __mr_dd_scale(s, 2.0);
  const __mr_dd u = __mr_dd_mul(twice, t);
  const __mr_dd v = __mr_fast_sum(twice.hi, u.hi);
  return __mr_fast_sum(v.hi, v.lo + (u.lo + twice.lo));
}
// log of a positive, finite, normal double-double.
__MR_MATH __mr_dd __mr_log_dd(__mr_dd x) {
  // x = m 2^k with m in [sqrt(1/2), sqrt(2))
  const unsigned long b = __mr_bits(x.hi);
  const long k = (long)(b - 0x3fe6a09e667f3bcdul) >> 52;
  const bool top = k >= 1023;  // 2^-k would be denormal
  const double p = __mr_from_bits((unsigned long)(1023 - (top ? k - 64 : k)) << 52), q = top ? 0x1p-64 : 1.0;
  const __mr_dd m = __mr_dd_make(x.hi * p * q, x.lo * p * q);
  const __mr_dd l = __mr_log_near_one(m);
  const double n = (double)k;
  const __mr_dd ln2 = __mr_dd_add(__mr_dd_make(n * 0x1.62e42fefa38p-1, 0), __mr_product(n, 0x1.ef35793c7673p-45));
  return k == 0 ? l : __mr_dd_add(ln2, l);
}
// Scales denormals up; `k` is what the logarithm's exponent must be corrected by.
__MR_MATH double __mr_normalize(double x, int* k) {
  const bool small = x < 0x1p-1022;
  *k = small ? -54 : 0;
  return small ? x * 0x1p54 : x;
}
__MR_MATH double __mr_log_special(double x) {
  return x == 0 ? -__MR_INF : x < 0 ? __MR_NAN : x;  // +inf and NaN give themselves
}
__MR_MATH double __mr_log(double x) {
  int k;
  const bool ordinary = x > 0 && x < __MR_INF;
  const double y = __mr_normalize(ordinary ? x : 1.0, &k);
  __mr_dd l = __mr_log_dd(__mr_dd_make(y, 0));
  if (k != 0) l = __mr_dd_add(l, __mr_dd_make(-0x1.2b708872320e2p+5, 0x1.570da7e077bcbp-50));
  return ordinary ? l.hi : __mr_log_special(x);
}
__MR_MATH double __mr_log2(double x) {
  if (!(x > 0 && x < __MR_INF)) return __mr_log_special(x);
  int k;
  const double y = __mr_normalize(x, &k);
  // Exponent and mantissa apart, so that powers of two are exact and nothing cancels.
  const long e = (long)(__mr_bits(y) - 0x3fe6a09e667f3bcdul) >> 52;
  const double m = __mr_from_bits(__mr_bits(y) - ((unsigned long)e << 52));
  const __mr_dd l = __mr_dd_mul(__mr_log_near_one(__mr_dd_make(m, 0)),
                                __mr_dd_make(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
  return __mr_dd_add1(l, (double)(e + k)).hi;
}
__MR_MATH double __mr_log10(double x) {
  if (!(x > 0 && x < __MR_INF)) return __mr_log_special(x);
  int k;
  __mr_dd l = __mr_log_dd(__mr_dd_make(__mr_normalize(x, &k), 0));
  if (k != 0) l = __mr_dd_add(l, __mr_dd_make(-0x1.2b708872320e2p+5, 0x1.570da7e077bcbp-50));
  return __mr_dd_mul(l, __mr_dd_make(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57)).hi;
}
// log(1 + x) for a double-double x > -1, small or large, below 2^1000.
__MR_MATH __mr_dd __mr_log1p_dd(__mr_dd x) {
  if (__mr_abs(x.hi) < 0x1p-60) return x;
  const __mr_dd m = __mr_dd_add1(x, 1.0);
  if (x.hi > -0.25 && x.hi < 0.375) {
    // As __mr_log_near_one, but m - 1 is x, without loss.
    __MR_EXACT
    const __mr_dd s = __mr_dd_div(x, __mr_dd_add1(x, 2.0));
    const __mr_dd z = __mr_dd_mul(s, s);
    const double high = z.hi * z.hi * __mr_poly_log(z.hi);
    const __mr_dd third = __mr_dd_mul(z, __mr_dd_make(0x1.5555555555555p-2, 0x1.5555555555555p-56));
    const __mr_dd t = __mr_fast_sum(third.hi, third.lo + high);
    const __mr_dd twice = __mr_dd_scale(s, 2.0);
    return __mr_dd_add(twice, __mr_dd_mul(twice, t));
  }
  return __mr_log_dd(m);
}
__MR_MATH double __mr_log1p(double x) {
  if (!(x > -1 && x < __MR_INF)) return x == -1 ? -__MR_INF : x < -1 ? __MR_NAN : x;
  if (x == 0) return x;
  if (x > 0x1p1000) return __mr_log(x);
  return __mr_log1p_dd(__mr_dd_make(x, 0)).hi;
}

// log of a positive normal double for float results.
__MR_MATH double __mr_log_short(double x) {
  const unsigned long b = __mr_bits(x);
  const long k = (long)(b - 0x3fe6a09e667f3bcdul) >> 52;
  const double m = __mr_from_bits(b - ((unsigned long)k << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  const double t = s + s;
  return __builtin_fma((double)k, 0x1.62e42fefa39efp-1, __builtin_fma(t * z, __mr_poly_log_float(z), t));
}
__MR_MATH float __mr_logf(float x) {
  const bool ordinary = x > 0 && x < __builtin_inff();
  const double l = __mr_log_short(ordinary ? (double)x : 1.0);
  return ordinary ? (float)l : (float)__mr_log_special((double)x);
}
__MR_MATH float __mr_log2f(float x) {
  const bool ordinary = x > 0 && x < __builtin_inff();
  const double l = __mr_log_short(ordinary ? (double)x : 1.0) * 0x1.71547652b82fep+0;
  return ordinary ? (float)l : (float)__mr_log_special((double)x);
}
__MR_MATH float __mr_log10f(float x) {
  const bool ordinary = x > 0 && x < __builtin_inff();
  const double l = __mr_log_short(ordinary ? (double)x : 1.0) * 0x1.bcb7b1526e50ep-2;
  return ordinary ? (float)l : (float)__mr_log_special((double)x);
}
// log(1 + x) in double with a small relative error, x a float above -1.
__MR_MATH double __mr_log1p_short(double x) {
  if (x > -0.25 && x < 0.375) {
    const double s = x / (2.0 + x), z = s * s, t = s + s;
    return __builtin_fma(t * z, __mr_poly_log_float(z), t);
  }
  return __mr_log_short(1.0 + x);
}
__MR_MATH float __mr_log1pf(float x) {
  if (!(x > -1 && x < __builtin_inff())) return x == -1 ? -__builtin_inff() : x < -1 ? __builtin_nanf("") : x;
  return x == 0 ? x : (float)__mr_log1p_short((double)x);
}

// ---- Powers
// ------------------------------------------------------------------------------------------------------------

// 0: not an integer, 1: odd, 2: even. Finite or infinite y.
__MR_MATH int __mr_integer_kind(double y) {
  const double a = __mr_abs(y);
  if (a >= 0x1p53) return 2;
  if (__builtin_trunc(a) != a) return 0;
  return ((long)a & 1) != 0 ? 1 : 2;
}
__MR_MATH double __mr_pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (x != x || y != y) return x + y;
  const int kind = __mr_integer_kind(y);
  const double ax = __mr_abs(x);
  const bool minus = __mr_sign(x) && kind == 1;
  if (__mr_is_inf(y)) return ax == 1 ? 1.0 : (ax > 1) == (y > 0) ? __MR_INF : 0.0;
  if (x == 0 || __mr_is_inf(x)) {
    const double r = (x == 0) == (y > 0) ? 0.0 : __MR_INF;
    return minus ? -r : r;
  }
  if (x < 0 && kind == 0) return __MR_NAN;
  int k;
  __mr_dd l = __mr_log_dd(__mr_dd_make(__mr_normalize(ax, &k), 0));
  if (k != 0) l = __mr_dd_add(l, __mr_dd_make(-0x1.2b708872320e2p+5, 0x1.570da7e077bcbp-50));
  const double huge = l.hi * y;
  double r;
  if (huge > 720)
    r = __MR_INF;
  else if (huge < -760)
    r = 0.0;
  else
    r = __mr_exp_result(__mr_dd_mul1(l, y));
  return minus ? -r : r;
}
// The logarithm of a float has about 2^-50 relative error here and the product is at most 2^7: 2^-40 in the exponent.
__MR_MATH float __mr_powf(float x, float y) {
  if (y == 0 || x == 1) return 1.0f;
  if (x != x || y != y) return x + y;
  const int kind = __mr_integer_kind((double)y);
  const float ax = __builtin_fabsf(x), inf = __builtin_inff();
  const bool minus = (__mr_bitsf(x) >> 31) != 0 && kind == 1;
  if (__builtin_fabsf(y) == inf) return ax == 1 ? 1.0f : (ax > 1) == (y > 0) ? inf : 0.0f;
  if (x == 0 || ax == inf) {
    const float r = (x == 0) == (y > 0) ? 0.0f : inf;
    return minus ? -r : r;
  }
  if (x < 0 && kind == 0) return __builtin_nanf("");
  const double r = __mr_exp_short(__mr_clamp(__mr_log_short((double)ax) * (double)y, -150.0, 150.0));
  return (float)(minus ? -r : r);
}
// x^n by an integer; CUDA has it beside pow.
__MR_MATH double __mr_powi(double x, int n) { return __mr_pow(x, (double)n); }
__MR_MATH float __mr_powif(float x, int n) { return (float)__mr_pow((double)x, (double)n); }

// ---- Hyperbolic functions
// ----------------------------------------------------------------------------------------------

__MR_MATH double __mr_sinh(double x) {
  const double a = __mr_abs(x);
  if (!(a < 711)) return x * (a + a);  // infinity or NaN
  if (a < 0x1p-27) return x;
  double r;
  if (a > 22) {
    int k;
    const __mr_dd e = __mr_exp_dd(__mr_dd_make(a, 0), &k);
    r = __mr_scale2(e.hi, k - 1);
  } else {
    // (E + E / (E + 1)) / 2, E = exp(a) - 1
    const __mr_dd e = __mr_expm1_dd(__mr_dd_make(a, 0));
    r = 0.5 * __mr_dd_add(e, __mr_dd_div(e, __mr_dd_add1(e, 1.0))).hi;
  }
  return __mr_copysign(r, x);
}
__MR_MATH double __mr_cosh(double x) {
  const double a = __mr_abs(x);
  if (!(a < 711)) return a * a;
  int k;
  const __mr_dd e = __mr_exp_dd(__mr_dd_make(a, 0), &k);
  if (a > 22) return __mr_scale2(e.hi, k - 1);
  const __mr_dd s = __mr_dd_scale(e, __mr_pow2(k));
  return 0.5 * __mr_dd_add(s, __mr_dd_div(__mr_dd_make(1, 0), s)).hi;
}
__MR_MATH double __mr_tanh(double x) {
  const double a = __mr_abs(x);
  if (a != a) return x;
  if (a < 0x1p-28) return x;
  if (a > 22) return __mr_copysign(1.0, x);
  const __mr_dd e = __mr_expm1_dd(__mr_dd_make(2 * a, 0));
  return __mr_copysign(__mr_dd_div(e, __mr_dd_add1(e, 2.0)).hi, x);
}
__MR_MATH double __mr_asinh(double x) {
  const double a = __mr_abs(x);
  if (!(a < __MR_INF) || a < 0x1p-28) return x;
  double r;
  if (a > 0x1p28) {
    r = __mr_dd_add(__mr_log_dd(__mr_dd_make(a, 0)), __mr_dd_make(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56)).hi;
  } else {
    // log1p(a + a^2 / (1 + sqrt(1 + a^2)))
    const __mr_dd square = __mr_product(a, a);
    const __mr_dd root = __mr_dd_sqrt(__mr_dd_add1(square, 1.0));
    r = __mr_log1p_dd(__mr_dd_add1(__mr_dd_div(square, __mr_dd_add1(root, 1.0)), a)).hi;
  }
  return __mr_copysign(r, x);
}
__MR_MATH double __mr_acosh(double x) {
  if (!(x >= 1)) return __MR_NAN;
  if (x > 0x1p28)
    return x == __MR_INF
               ? x
               : __mr_dd_add(__mr_log_dd(__mr_dd_make(x, 0)), __mr_dd_make(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56))
                     .hi;
  // log1p(t + sqrt(2 t + t^2)), t = x - 1
  const double t = x - 1;
  const __mr_dd root = __mr_dd_sqrt(__mr_dd_add1(__mr_product(t, t), 2 * t));
  return __mr_log1p_dd(__mr_dd_add1(root, t)).hi;
}
__MR_MATH double __mr_atanh(double x) {
  const double a = __mr_abs(x);
  if (!(a < 1)) return a == 1 ? __mr_copysign(__MR_INF, x) : __MR_NAN;
  if (a < 0x1p-28) return x;
  // log1p(2 a / (1 - a)) / 2
  const __mr_dd q = __mr_dd_div(__mr_dd_make(2 * a, 0), __mr_sum(1.0, -a));
  return __mr_copysign(0.5 * __mr_log1p_dd(q).hi, x);
}

__MR_MATH float __mr_sinhf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a < 150)) return x * (float)a;
  const double e = __mr_expm1_short(a);
  return x == 0 ? x : (float)__mr_copysign(0.5 * (e + e / (e + 1.0)), (double)x);
}
__MR_MATH float __mr_coshf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a < 150)) return (float)(a * a);
  const double e = __mr_exp_short(a);
  return (float)(0.5 * (e + 1.0 / e));
}
__MR_MATH float __mr_tanhf(float x) {
  const double a = __mr_abs((double)x);
  if (a != a || a == 0) return x;
  const double e = __mr_expm1_short(a > 20.0 ? 40.0 : 2.0 * a);
  return (float)__mr_copysign(e / (e + 2.0), (double)x);
}
__MR_MATH float __mr_asinhf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a < __MR_INF) || a == 0) return x;
  return (float)__mr_copysign(__mr_log1p_short(a + a * a / (1.0 + __builtin_sqrt(1.0 + a * a))), (double)x);
}
__MR_MATH float __mr_acoshf(float x) {
  if (!(x >= 1)) return __builtin_nanf("");
  if (x == __builtin_inff()) return x;
  const double t = (double)x - 1;
  return (float)__mr_log1p_short(t + __builtin_sqrt(2 * t + t * t));
}
__MR_MATH float __mr_atanhf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a < 1)) return a == 1 ? __builtin_copysignf(__builtin_inff(), x) : __builtin_nanf("");
  return x == 0 ? x : (float)__mr_copysign(0.5 * __mr_log1p_short(2 * a / (1 - a)), (double)x);
}
