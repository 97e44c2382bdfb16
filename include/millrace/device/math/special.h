// Error functions, the normal distribution, gamma and Bessel functions.
#pragma once
#include "exponential.h"
#include "roots.h"
#include "trigonometric.h"

// ---- Error functions
// ---------------------------------------------------------------------------------------------------

__MR_MATH double __mr_erf_small(double x) {  // |x| <= 1
  const double z = x * x;
  return __builtin_fma(x, 0x1.20dd750429b6dp+0, x * __builtin_fma(z, __mr_poly_erf(z), 0x1.1ae3a914fed80p-56));
}
// exp(x^2) erfc(x) for x >= 0.
__MR_MATH double __mr_erfcx_core(double x) {
  if (x > 1e10) return 0x1.20dd750429b6dp-1 / x;
  const double d = x + 4.0, t = (x - 4.0) / d;
  // t's rounding error, put back by the slope of the result against it
  return __mr_poly_erfcx(t) / __builtin_fma(2.0, x, 1.0);
}
// erfc(x) for x >= 0 beyond the middle.
__MR_MATH double __mr_erfc_tail(double x) {
  if (x > 27.5) return 0.0;
  const __mr_dd square = __mr_product(x, x);
  int k;
  const __mr_dd e = __mr_exp_dd(__mr_dd_neg(square), &k);
  return __mr_scale2(__mr_dd_mul1(e, __mr_erfcx_core(x)).hi, k);
}
__MR_MATH double __mr_erf(double x) {
  const double a = __mr_abs(x);
  if (x != x) return x;
  if (a <= 1.0) return a < 0x1p-1000 ? x * 0x1.20dd750429b6dp+0 : __mr_erf_small(x);
  return __mr_copysign(a > 6.0 ? 1.0 : 1.0 - __mr_erfc_tail(a), x);
}
__MR_MATH double __mr_erfc(double x) {
  if (x != x) return x;
  if (x < 0.5) return x < -0.5 ? 2.0 - (x < -6.0 ? 0.0 : __mr_erfc_tail(-x)) : 1.0 - __mr_erf_small(x);
  return __mr_erfc_tail(x);
}
__MR_MATH double __mr_erfcx(double x) {
  if (x != x) return x;
  if (x >= 0.5) return __mr_erfcx_core(x);
  if (x > -0.5) return __mr_exp(x * x) * (1.0 - __mr_erf_small(x));
  // 2 exp(x^2) - erfcx(-x)
  const __mr_dd square = __mr_product(x, x);
  if (square.hi > 709.8) return __MR_INF;
  int k;
  const __mr_dd e = __mr_exp_dd(square, &k);
  return __mr_scale2(e.hi, k) * 2.0 - __mr_erfcx_core(-x);
}
// Newton's method on erfc from a starting value good to three digits; y = erfc of the result, 0 < y <= 1/2.
__MR_MATH double __mr_erfc_inverse_tail(double y) {
  int e;
  const double normal = __mr_normalize(y, &e);
  __mr_dd l = __mr_log_dd(__mr_dd_make(normal, 0));
  if (e != 0) l = __mr_dd_add(l, __mr_dd_make(-0x1.2b708872320e2p+5, 0x1.570da7e077bcbp-50));
  // Winitzki's approximation of the inverse of erf at 1 - y.
  const double w = l.hi + __mr_log1p_dd(__mr_dd_make(1.0 - y, 0)).hi, t = 4.3307467508 + 0.5 * w;
  double x = __builtin_sqrt(__builtin_sqrt(t * t - w * 6.8027210884) - t);
  // On log erfc: f = log erfcx(x) - x^2 - log y, with second-order correction.
  for (int i = 0; i < 4; ++i) {
    const double c = __mr_erfcx_core(x);
    const __mr_dd square = __mr_product(x, x);
    const __mr_dd f = __mr_dd_add(__mr_dd_add(__mr_log_dd(__mr_dd_make(c, 0)), __mr_dd_neg(square)), __mr_dd_neg(l));
    const double slope = -0x1.20dd750429b6dp+0 / c;  // (log erfc)'
    const double step = f.hi / slope;
    const double curve = -slope * (slope + 2.0 * x);  // (log erfc)'' = -slope (slope + 2 x)
    x -= step * (1.0 + 0.5 * step * curve / slope);
  }
  return x;
}
__MR_MATH double __mr_erfinv(double y) {
  const double a = __mr_abs(y);
  if (!(a <= 1)) return __MR_NAN;
  if (a == 1) return __mr_copysign(__MR_INF, y);
  if (a < 1e-100) return y * 0x1.c5bf891b4ef6bp-1;
  if (a > 0.5) return __mr_copysign(__mr_erfc_inverse_tail(1.0 - a), y);
  // sqrt(pi)/2 (y + pi/12 y^3 + ...), then Newton on erf.
  const double u = 0x1.c5bf891b4ef6bp-1 * a, z = u * u;
  double x = u * (1.0 + z * (1.0 / 3 + z * (7.0 / 30 + z * (127.0 / 630))));
  for (int i = 0; i < 3; ++i) {
    const double f = __mr_erf_small(x) - a;
    const double step = f * 0x1.c5bf891b4ef6bp-1 * __mr_exp(x * x);
    x -= step / (1.0 + step * x);
  }
  return __mr_copysign(x, y);
}
__MR_MATH double __mr_erfcinv(double y) {
  if (!(y >= 0 && y <= 2)) return __MR_NAN;
  if (y == 0) return __MR_INF;
  if (y == 2) return -__MR_INF;
  if (y > 1.5) return -__mr_erfc_inverse_tail(2.0 - y);
  if (y >= 0.5) return __mr_erfinv(1.0 - y);
  return __mr_erfc_inverse_tail(y);
}
__MR_MATH double __mr_normcdf(double x) {
  if (x != x) return x;
  if (x > 0) {
    if (x > 9) return 1.0;
    // erfc of a negative argument has no cancellation to fear
    return 0.5 * __mr_erfc(-x * 0x1.6a09e667f3bcdp-1);
  }
  if (x < -38.6) return 0.0;
  const double a = -x;
  if (a < 0.6) return 0.5 * __mr_erfc(a * 0x1.6a09e667f3bcdp-1);
  const __mr_dd half = __mr_dd_scale(__mr_product(a, a), -0.5);
  int k;
  const __mr_dd e = __mr_exp_dd(half, &k);
  return __mr_scale2(0.5 * __mr_dd_mul1(e, __mr_erfcx_core(a * 0x1.6a09e667f3bcdp-1)).hi, k);
}
__MR_MATH double __mr_normcdfinv(double p) {
  if (!(p >= 0 && p <= 1)) return __MR_NAN;
  return -0x1.6a09e667f3bcdp+0 * __mr_erfcinv(2.0 * p);
}
// erfc(a), a = |x| >= 0, for float results; without branches, for vectors.
__MR_MATH double __mr_erfc_short(double a) {
  const double c = a > 12.0 ? 12.0 : a;
  return __mr_poly_erfcx((c - 4.0) / (c + 4.0)) / __builtin_fma(2.0, c, 1.0) * __mr_exp_short(-c * c);
}
__MR_MATH float __mr_erff(float x) {
  const double v = x, a = __mr_abs(v);
  const double small = __mr_erf_small(v), large = __mr_copysign(1.0 - __mr_erfc_short(a), v);
  return (float)(a <= 1.0 ? small : large);
}
__MR_MATH float __mr_erfcf(float x) {
  const double v = x, y = __mr_erfc_short(__mr_abs(v));
  return (float)(v < 0 ? 2.0 - y : y);
}
__MR_MATH float __mr_erfcxf(float x) { return (float)__mr_erfcx((double)x); }
__MR_MATH float __mr_erfinvf(float x) { return (float)__mr_erfinv((double)x); }
__MR_MATH float __mr_erfcinvf(float x) { return (float)__mr_erfcinv((double)x); }
__MR_MATH float __mr_normcdff(float x) { return (float)__mr_normcdf((double)x); }
__MR_MATH float __mr_normcdfinvf(float x) { return (float)__mr_normcdfinv((double)x); }

// ---- Gamma
// -------------------------------------------------------------------------------------------------------------

// log gamma(x) for x >= 10.
__MR_MATH __mr_dd __mr_stirling(double x) {
  const double w = 1.0 / x;
  const __mr_dd l = __mr_log_dd(__mr_dd_make(x, 0));
  __mr_dd s = __mr_dd_mul(l, __mr_sum(x, -0.5));
  s = __mr_dd_add1(s, -x);
  s = __mr_dd_add(s, __mr_dd_make(0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55));
  return __mr_dd_add1(s, x > 1e18 ? 0.0 : w * __mr_poly_stirling(w * w));
}
__MR_MATH double __mr_tgamma(double x) {
  if (x != x || x == __MR_INF) return x;
  if (__mr_abs(x) < 0x1p-100) return 1.0 / x;
  const bool integer = __builtin_trunc(x) == x;
  if (x < 0 && (integer || x == -__MR_INF)) return __MR_NAN;
  if (x > 171.7) return __MR_INF;
  if (x >= 10) {
    return __mr_exp_result(__mr_stirling(x));
  }
  if (x < -10) {
    // -pi / (x sin(pi x) gamma(-x)), with gamma's logarithm so that nothing overflows on the way
    if (x < -190) return __mr_copysign(0.0, ((long)__builtin_floor(x) & 1) != 0 ? -1.0 : 1.0);
    const double s = __mr_sinpi(x);
    int k;
    const __mr_dd e = __mr_exp_dd(__mr_dd_neg(__mr_stirling(-x)), &k);
    const __mr_dd d = __mr_product(x, s);
    const double q = __mr_dd_div(__mr_dd_mul(e, __mr_dd_make(-0x1.921fb54442d18p+1, -0x1.1a62633145c07p-53)), d).hi;
    return __mr_scale2(q, k);
  }
  // Shift into [1.5, 2.5].
  const double n = __builtin_rint(x) - 2.0, f = x - (n + 2.0);
  __mr_dd p = __mr_dd_make(1, 0);
  if (n > 0) {
    for (double i = 0; i < n; i += 1.0) p = __mr_dd_mul(p, __mr_sum(f, 2.0 + i));
  } else {
    for (double i = 0; i < -n; i += 1.0) p = __mr_dd_mul(p, i == 0 ? __mr_dd_make(x, 0) : __mr_sum(x, i));
  }
  const __mr_dd g = __mr_fast_sum(1.0, f * __mr_poly_gamma(f));
  return n > 0 ? __mr_dd_mul(g, p).hi : __mr_dd_div(g, p).hi;
}
// log |gamma(x)| for 0 < x < 2^1000.
__MR_MATH __mr_dd __mr_lgamma_positive(double x) {
  if (x >= 10) return __mr_stirling(x);
  if (x > 3) {
    // Down to (2, 3]; the product's logarithm makes up for it.
    const double n = __builtin_ceil(x) - 3.0;
    __mr_dd p = __mr_dd_make(1, 0);
    for (double i = 1; i <= n; i += 1.0) p = __mr_dd_mul1(p, x - i);
    const double f = x - n - 2.0;
    return __mr_dd_add1(__mr_log_dd(p), f * __mr_poly_lgamma(f));
  }
  if (x >= 1.25) {
    const double f = x - 2.0;
    return __mr_dd_make(f * __mr_poly_lgamma(f), 0);
  }
  if (x >= 0.5) {
    const double g = x - 1.0;  // lgamma(1 + g) = lgamma(2 + g) - log(1 + g)
    return __mr_dd_add1(__mr_dd_neg(__mr_log1p_dd(__mr_dd_make(g, 0))), g * __mr_poly_lgamma(g));
  }
  if (x < 1e-40) {
    int k;
    __mr_dd l = __mr_log_dd(__mr_dd_make(__mr_normalize(x, &k), 0));
    if (k != 0) l = __mr_dd_add(l, __mr_dd_make(-0x1.2b708872320e2p+5, 0x1.570da7e077bcbp-50));
    return __mr_dd_neg(l);
  }
  // lgamma(x) = lgamma(2 + x) - log(x (1 + x))
  const __mr_dd p = __mr_dd_mul1(__mr_sum(1.0, x), x);
  return __mr_dd_add1(__mr_dd_neg(__mr_log_dd(p)), x * __mr_poly_lgamma(x));
}
__MR_MATH double __mr_lgamma(double x) {
  if (x != x) return x;
  if (__mr_is_inf(x)) return __MR_INF;
  if (x > 0) return x > 2.6e305 ? __MR_INF : __mr_lgamma_positive(x).hi;
  if (__builtin_trunc(x) == x) return __MR_INF;
  if (x > -1e-40) return __mr_lgamma_positive(-x).hi;
  // log(pi / |x sin(pi x)|) - lgamma(-x)
  const __mr_reduced_pi q = __mr_reduce_pi(x);
  __mr_dd s = (q.n & 1) != 0 ? __mr_cos_kernel(q.r) : __mr_sin_kernel(q.r);
  if (s.hi < 0) s = __mr_dd_neg(s);
  const __mr_dd d = __mr_dd_mul1(s, -x);
  const __mr_dd l = __mr_log_dd(__mr_dd_div(__mr_dd_make(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), d));
  return __mr_dd_add(l, __mr_dd_neg(__mr_lgamma_positive(-x))).hi;
}
__MR_MATH float __mr_tgammaf(float x) { return (float)__mr_tgamma((double)x); }
__MR_MATH float __mr_lgammaf(float x) { return (float)__mr_lgamma((double)x); }

// ---- Bessel functions
// --------------------------------------------------------------------------------------------------
//
// Below 25 the power series in double-double: its terms grow to e^x before they cancel, which costs 36 of its 106 bits
// and leaves full relative accuracy next to the zeros. Above, Hankel's asymptotic expansion.

struct __mr_bessel_pair {
  __mr_dd j, y;
};
// J and Y of order 0 or 1 for 0 < x < 25.
__MR_MATH_COLD __mr_bessel_pair __mr_bessel_series(double x, int order, bool second_kind) {
  const __mr_dd z = __mr_dd_scale(__mr_product(x, x), -0.25);
  __mr_dd term = order == 0 ? __mr_dd_make(1, 0) : __mr_dd_make(0.5 * x, 0);
  __mr_dd j = term;
  // Sum of term * (psi(k + 1) + psi(k + order + 1)) without Euler's constant: harmonic numbers.
  __mr_dd harmonic = __mr_dd_make(order == 0 ? 0 : 1, 0);
  __mr_dd h = __mr_dd_mul(term, harmonic);
  for (int k = 1; k < 90; ++k) {
    term = __mr_dd_div(__mr_dd_mul(term, z), __mr_dd_make((double)(k * (k + order)), 0));
    j = __mr_dd_add(j, term);
    if (second_kind) {
      harmonic = __mr_dd_add(harmonic, __mr_dd_div(__mr_dd_make(1, 0), __mr_dd_make((double)k, 0)));
      harmonic = __mr_dd_add(harmonic, __mr_dd_div(__mr_dd_make(1, 0), __mr_dd_make((double)(k + order), 0)));
      h = __mr_dd_add(h, __mr_dd_mul(term, harmonic));
    }
    if (__mr_abs(term.hi) * 200.0 < 1e-34 && k > 3) break;
  }
  __mr_bessel_pair r;
  r.j = j;
  r.y = __mr_dd_make(0, 0);
  if (second_kind) {
    // 2/pi (log(x/2) + gamma) J - (1/pi) h, and -2/(pi x) for order 1
    const __mr_dd l = __mr_dd_add(__mr_log_dd(__mr_dd_make(0.5 * x, 0)),
                                  __mr_dd_make(0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58));
    __mr_dd s = __mr_dd_add(__mr_dd_mul(__mr_dd_scale(l, 2), j), __mr_dd_neg(h));
    if (order == 1) s = __mr_dd_add(s, __mr_dd_div(__mr_dd_make(-2, 0), __mr_dd_make(x, 0)));
    r.y = __mr_dd_mul(s, __mr_dd_make(0x1.45f306dc9c883p-2, -0x1.6b01ec5417056p-56));
  }
  return r;
}
// x >= 25: sqrt(2 / (pi x)) (P cos c - Q sin c) and (P sin c + Q cos c), c = x - (2 order + 1) pi / 4.
__MR_MATH_COLD void __mr_bessel_asymptotic(double x, int order, double* j, double* y) {
  const double mu = 4.0 * order * order;
  double p = 1, q = 0, a = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2.0 * k - 1.0, next = a * (mu - odd * odd) / ((double)k * 8.0 * x);
    if (__mr_abs(next) < 1e-19 || (k > 4 && __mr_abs(next) > __mr_abs(a))) break;
    a = next;
    const double s = (k & 2) != 0 ? -a : a;  // signs: + q, - p, - q, + p
    if ((k & 1) != 0)
      q += s;
    else
      p += s;
  }
  const double s = __mr_sin(x), c = __mr_cos(x), h = 0x1.6a09e667f3bcdp-1;
  double cosine = h * (c + s), sine = h * (s - c);  // of x - pi/4
  if (order == 1) {                                 // a quarter turn further
    const double t = cosine;
    cosine = sine;
    sine = -t;
  }
  const double f = __builtin_sqrt(0x1.45f306dc9c883p-1 / x);
  *j = f * (p * cosine - q * sine);
  *y = f * (p * sine + q * cosine);
}
__MR_MATH double __mr_bessel_j(double x, int order) {
  if (x != x) return x;
  const double a = __mr_abs(x);
  if (a == __MR_INF) return 0.0;
  double j, y;
  if (a == 0) return order == 0 ? 1.0 : x;
  if (a < 25)
    j = a < 1e-150 ? (order == 0 ? 1.0 : 0.5 * a) : __mr_bessel_series(a, order, false).j.hi;
  else
    __mr_bessel_asymptotic(a, order, &j, &y);
  return order == 1 && x < 0 ? -j : j;
}
__MR_MATH double __mr_bessel_y(double x, int order) {
  if (x != x || x < 0) return __MR_NAN;
  if (x == 0) return -__MR_INF;
  if (x == __MR_INF) return 0.0;
  if (x < 1e-150)
    return order == 0 ? 0x1.45f306dc9c883p-1 * (__mr_log(0.5 * x) + 0x1.2788cfc6fb619p-1) : -0x1.45f306dc9c883p-1 / x;
  double j, y;
  if (x < 25) return __mr_bessel_series(x, order, true).y.hi;
  __mr_bessel_asymptotic(x, order, &j, &y);
  return y;
}
__MR_MATH double __mr_j0(double x) { return __mr_bessel_j(x, 0); }
__MR_MATH double __mr_j1(double x) { return __mr_bessel_j(x, 1); }
__MR_MATH double __mr_y0(double x) { return __mr_bessel_y(x, 0); }
__MR_MATH double __mr_y1(double x) { return __mr_bessel_y(x, 1); }
__MR_MATH double __mr_jn(int n, double x) {
  if (n < 0) return __MR_NAN;
  if (n == 0) return __mr_j0(x);
  if (n == 1) return __mr_j1(x);
  if (x != x || x == 0) return x != x ? x : 0.0;
  const double a = __mr_abs(x);
  if (a == __MR_INF) return 0.0;
  double r;
  if (a > (double)n) {  // upwards is stable
    double b = __mr_j0(a), c = __mr_j1(a);
    for (int k = 1; k < n; ++k) {
      const double d = 2.0 * k / a * c - b;
      b = c;
      c = d;
    }
    r = c;
  } else {  // downwards from far above, normalized by J0 + 2 J2 + 2 J4 + ... = 1
    int top = n + 20 + (int)__builtin_sqrt(50.0 * n);
    top += top & 1;
    double above = 0, here = 1e-290, sum = 0, wanted = 0;
    for (int k = top; k > 0; --k) {
      if (k == n) wanted = here;
      if ((k & 1) == 0) sum += 2 * here;
      const double below = 2.0 * k / a * here - above;
      above = here;
      here = below;
      if (__mr_abs(here) > 1e250) {
        here *= 1e-250;
        above *= 1e-250;
        sum *= 1e-250;
        wanted *= 1e-250;
      }
    }
    r = wanted / (sum + here);
  }
  return x < 0 && (n & 1) != 0 ? -r : r;
}
__MR_MATH double __mr_yn(int n, double x) {
  if (n < 0) return __MR_NAN;
  if (n == 0) return __mr_y0(x);
  double b = __mr_y0(x), c = __mr_y1(x);
  if (n == 1 || !(x > 0) || x == __MR_INF) return c;
  for (int k = 1; k < n && c != -__MR_INF; ++k) {
    const double d = 2.0 * k / x * c - b;
    b = c;
    c = d;
  }
  return c;
}
// Modified Bessel functions: all terms of the series are positive.
__MR_MATH double __mr_bessel_i(double x, int order) {
  if (x != x) return x;
  const double a = __mr_abs(x);
  double r;
  if (a < 35) {
    const __mr_dd z = __mr_dd_scale(__mr_product(a, a), 0.25);
    __mr_dd term = __mr_dd_make(order == 0 ? 1.0 : 0.5 * a, 0), s = term;
    for (int k = 1; k < 120; ++k) {
      term = __mr_dd_div(__mr_dd_mul(term, z), __mr_dd_make((double)(k * (k + order)), 0));
      s = __mr_dd_add(s, term);
      if (term.hi < s.hi * 1e-18) break;
    }
    r = s.hi;
  } else {
    const double mu = 4.0 * order;
    double s = 1, t = 1;
    for (int k = 1; k < 30; ++k) {
      const double odd = 2.0 * k - 1.0;
      t *= (odd * odd - mu) / ((double)k * 8.0 * a);
      s += t;
      if (__mr_abs(t) < 1e-18) break;
    }
    if (a > 720) return order == 1 && x < 0 ? -__MR_INF : __MR_INF;
    int k;
    const __mr_dd e = __mr_exp_dd(__mr_dd_make(a, 0), &k);
    r = __mr_scale2(e.hi * s / __builtin_sqrt(0x1.921fb54442d18p+2 * a), k);
  }
  return order == 1 && x < 0 ? -r : r;
}
__MR_MATH double __mr_cyl_bessel_i0(double x) { return __mr_bessel_i(x, 0); }
__MR_MATH double __mr_cyl_bessel_i1(double x) { return __mr_bessel_i(x, 1); }
__MR_MATH float __mr_j0f(float x) { return (float)__mr_j0((double)x); }
__MR_MATH float __mr_j1f(float x) { return (float)__mr_j1((double)x); }
__MR_MATH float __mr_y0f(float x) { return (float)__mr_y0((double)x); }
__MR_MATH float __mr_y1f(float x) { return (float)__mr_y1((double)x); }
__MR_MATH float __mr_jnf(int n, float x) { return (float)__mr_jn(n, (double)x); }
__MR_MATH float __mr_ynf(int n, float x) { return (float)__mr_yn(n, (double)x); }
__MR_MATH float __mr_cyl_bessel_i0f(float x) { return (float)__mr_cyl_bessel_i0((double)x); }
__MR_MATH float __mr_cyl_bessel_i1f(float x) { return (float)__mr_cyl_bessel_i1((double)x); }
