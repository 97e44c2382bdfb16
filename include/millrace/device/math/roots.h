// Roots, reciprocal roots and Euclidean norms.
#pragma once
#include "exact.h"

__MR_MATH double __mr_sqrt(double x) { return __builtin_sqrt(x); }
__MR_MATH float __mr_sqrtf(float x) { return __builtin_sqrtf(x); }
__MR_MATH double __mr_rsqrt(double x) {
  const bool small = x < 0x1p-900;
  if (small) x *= 0x1p400;
  const double s = __builtin_sqrt(x), r = 1.0 / s;
  if (!(s > 0 && s < __MR_INF)) return r;
  // One correction: 1/sqrt(x) = r + r/2 (1 - x r^2)
  const double rest = __builtin_fma(-s, s, x);  // x = s^2 + rest
  const double e = __builtin_fma(-s, r, 1.0);   // 1 - s r
  return __builtin_fma(r, __builtin_fma(-0.5 * rest * r, r, e), r) * (small ? 0x1p200 : 1.0);
}
__MR_MATH float __mr_rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }

__MR_MATH double __mr_cbrt(double x) {
  if (x == 0 || !__mr_is_finite(x)) return x + x;
  int e;
  double m = __mr_frexp(__mr_abs(x), &e);  // [1/2, 1)
  int third = e / 3, rest = e - 3 * third;
  if (rest < 0) {
    rest += 3;
    --third;
  }
  m *= (double)(1 << rest);  // [1/2, 4)
  // A straight line, then Halley's iteration, which triples the digits.
  double y = 0.65 + 0.3 * m;
  for (int i = 0; i < 4; ++i) {
    const double c = y * y * y;
    y = y * (c + m + m) / (c + c + m);
  }
  // A last Newton step with the cube's rounding error.
  const __mr_dd s = __mr_product(y, y);
  const __mr_dd c = __mr_dd_mul1(s, y);
  y = y + ((m - c.hi) - c.lo) / (3.0 * s.hi);
  return __mr_copysign(y * __mr_pow2(third), x);
}
__MR_MATH double __mr_rcbrt(double x) {
  if (x == 0) return 1.0 / x;
  if (!__mr_is_finite(x)) return 1.0 / x;
  int e;
  double m = __mr_frexp(__mr_abs(x), &e);
  int third = e / 3, rest = e - 3 * third;
  if (rest < 0) {
    rest += 3;
    --third;
  }
  m *= (double)(1 << rest);
  const double y = 1.0 / __mr_cbrt(m);
  // y += y (1 - m y^3) / 3
  const __mr_dd c = __mr_dd_mul1(__mr_dd_mul1(__mr_product(y, y), y), m);
  const double r = y + y * ((1.0 - c.hi) - c.lo) * 0.33333333333333333;
  return __mr_copysign(r * __mr_pow2(-third), x);
}
__MR_MATH float __mr_cbrtf(float x) { return (float)__mr_cbrt((double)x); }
__MR_MATH float __mr_rcbrtf(float x) { return (float)__mr_rcbrt((double)x); }

// Sum of squares of values whose largest magnitude is a, scaled by 2^-*k so that nothing overflows or vanishes.
__MR_MATH int __mr_norm_scale(double a) {
  int e;
  __mr_frexp(a, &e);
  return a == 0 ? 0 : e;
}
__MR_MATH __mr_dd __mr_norm_square(const double* v, int n, int scale) {
  __mr_dd s = __mr_dd_make(0, 0);
  for (int i = 0; i < n; ++i) {
    const double t = __mr_scalbn(v[i], -scale);
    s = __mr_dd_add(s, __mr_product(t, t));
  }
  return s;
}
__MR_MATH double __mr_norm_of(const double* v, int n, bool reciprocal) {
  double a = 0;
  bool nan = false;
  for (int i = 0; i < n; ++i) {
    const double m = __mr_abs(v[i]);
    if (m == __MR_INF) return reciprocal ? 0.0 : __MR_INF;
    nan |= m != m;
    a = m > a ? m : a;
  }
  if (nan) return __MR_NAN;
  if (a == 0) return reciprocal ? __MR_INF : 0.0;
  const int scale = __mr_norm_scale(a);
  const __mr_dd root = __mr_dd_sqrt(__mr_norm_square(v, n, scale));
  return reciprocal ? __mr_scalbn(__mr_dd_div(__mr_dd_make(1, 0), root).hi, -scale) : __mr_scalbn(root.hi, scale);
}
__MR_MATH double __mr_hypot(double x, double y) {
  const double v[2] = {x, y};
  return __mr_norm_of(v, 2, false);
}
__MR_MATH double __mr_rhypot(double x, double y) {
  const double v[2] = {x, y};
  return __mr_norm_of(v, 2, true);
}
__MR_MATH double __mr_norm3d(double x, double y, double z) {
  const double v[3] = {x, y, z};
  return __mr_norm_of(v, 3, false);
}
__MR_MATH double __mr_rnorm3d(double x, double y, double z) {
  const double v[3] = {x, y, z};
  return __mr_norm_of(v, 3, true);
}
__MR_MATH double __mr_norm4d(double x, double y, double z, double w) {
  const double v[4] = {x, y, z, w};
  return __mr_norm_of(v, 4, false);
}
__MR_MATH double __mr_rnorm4d(double x, double y, double z, double w) {
  const double v[4] = {x, y, z, w};
  return __mr_norm_of(v, 4, true);
}
__MR_MATH double __mr_norm(int n, const double* v) { return __mr_norm_of(v, n, false); }
__MR_MATH double __mr_rnorm(int n, const double* v) { return __mr_norm_of(v, n, true); }

// Squares of floats neither overflow nor vanish in double.
__MR_MATH float __mr_root_float(double square, bool infinite, bool reciprocal) {
  if (infinite) return reciprocal ? 0.0f : __builtin_inff();
  const double r = __builtin_sqrt(square);
  return (float)(reciprocal ? 1.0 / r : r);
}
__MR_MATH bool __mr_inff(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
__MR_MATH float __mr_norm4f(float x, float y, float z, float w, bool reciprocal) {
  const double a = x, b = y, c = z, d = w;
  return __mr_root_float(__builtin_fma(a, a, __builtin_fma(b, b, __builtin_fma(c, c, d * d))),
                         __mr_inff(x) || __mr_inff(y) || __mr_inff(z) || __mr_inff(w), reciprocal);
}
__MR_MATH float __mr_hypotf(float x, float y) { return __mr_norm4f(x, y, 0, 0, false); }
__MR_MATH float __mr_rhypotf(float x, float y) { return __mr_norm4f(x, y, 0, 0, true); }
__MR_MATH float __mr_norm3df(float x, float y, float z) { return __mr_norm4f(x, y, z, 0, false); }
__MR_MATH float __mr_rnorm3df(float x, float y, float z) { return __mr_norm4f(x, y, z, 0, true); }
__MR_MATH float __mr_norm4df(float x, float y, float z, float w) { return __mr_norm4f(x, y, z, w, false); }
__MR_MATH float __mr_rnorm4df(float x, float y, float z, float w) { return __mr_norm4f(x, y, z, w, true); }
__MR_MATH float __mr_normnf(int n, const float* v, bool reciprocal) {
  double s = 0;
  bool infinite = false;
  for (int i = 0; i < n; ++i) {
    s = __builtin_fma((double)v[i], (double)v[i], s);
    infinite |= __mr_inff(v[i]);
  }
  return __mr_root_float(s, infinite, reciprocal);
}
__MR_MATH float __mr_normf(int n, const float* v) { return __mr_normnf(n, v, false); }
__MR_MATH float __mr_rnormf(int n, const float* v) { return __mr_normnf(n, v, true); }
