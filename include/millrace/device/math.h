// Mathematical functions of device code under their C names, with the float overloads of C++ (CUDA Math API). The
// bodies are in math/; host code keeps the C library's functions, and gets those that only CUDA has (rsqrt, sinpi,
// normcdf, ...) from the same bodies.
//
// Declared before <cmath> is read. What <cmath> then declares `constexpr` in std would also be device code, calling the
// C library; the using-declarations at the end of this file make clang leave those to the host.
#pragma once
#pragma clang system_header

#include "math/exact.h"
#include "math/exponential.h"
#include "math/roots.h"
#include "math/special.h"
#include "math/trigonometric.h"
#include "services.h"

// name(double), namef(float), name(float)
#define __MR_MATH1(name)                                                                                               \
  __MR_D double name(double x) { return __mr_##name(x); }                                                              \
  __MR_D float name##f(float x) { return __mr_##name##f(x); }                                                          \
  __MR_D float name(float x) { return __mr_##name##f(x); }
#define __MR_MATH2(name)                                                                                               \
  __MR_D double name(double x, double y) { return __mr_##name(x, y); }                                                 \
  __MR_D float name##f(float x, float y) { return __mr_##name##f(x, y); }                                              \
  __MR_D float name(float x, float y) { return __mr_##name##f(x, y); }
// Those of CUDA alone: host code has them too.
#define __MR_MATH1_CUDA(name)                                                                                          \
  __MR_HD double name(double x) { return __mr_##name(x); }                                                             \
  __MR_HD float name##f(float x) { return __mr_##name##f(x); }                                                         \
  __MR_HD float name(float x) { return __mr_##name##f(x); }

__MR_MATH1(sin)
__MR_MATH1(cos)
__MR_MATH1(tan)
__MR_MATH1(asin)
__MR_MATH1(acos)
__MR_MATH1(atan)
__MR_MATH1(sinh)
__MR_MATH1(cosh)
__MR_MATH1(tanh)
__MR_MATH1(asinh)
__MR_MATH1(acosh)
__MR_MATH1(atanh)
__MR_MATH1(exp)
__MR_MATH1(exp2)
__MR_MATH1(expm1)
__MR_MATH1(log)
__MR_MATH1(log2)
__MR_MATH1(log10)
__MR_MATH1(log1p)
__MR_MATH1(sqrt)
__MR_MATH1(cbrt)
__MR_MATH1(erf)
__MR_MATH1(erfc)
__MR_MATH1(tgamma)
__MR_MATH1(lgamma)
__MR_MATH1(floor)
__MR_MATH1(ceil)
__MR_MATH1(trunc)
__MR_MATH1(round)
__MR_MATH1(rint)
__MR_MATH1(logb)
__MR_MATH2(pow)
__MR_MATH2(atan2)
__MR_MATH2(hypot)
__MR_MATH2(fmin)
__MR_MATH2(fmax)
__MR_MATH2(fdim)
__MR_MATH2(fmod)
__MR_MATH2(remainder)
__MR_MATH2(nextafter)

__MR_D double fabs(double x) { return __builtin_fabs(x); }
__MR_D float fabsf(float x) { return __builtin_fabsf(x); }
__MR_D float fabs(float x) { return __builtin_fabsf(x); }
__MR_D double copysign(double x, double y) { return __builtin_copysign(x, y); }
__MR_D float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
__MR_D float copysign(float x, float y) { return __builtin_copysignf(x, y); }
__MR_D double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__MR_D float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__MR_D float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__MR_D double nearbyint(double x) { return __mr_rint(x); }
__MR_D float nearbyintf(float x) { return __mr_rintf(x); }
__MR_D float nearbyint(float x) { return __mr_rintf(x); }
__MR_D double nan(const char*) { return __builtin_nan(""); }
__MR_D float nanf(const char*) { return __builtin_nanf(""); }
__MR_D double frexp(double x, int* e) { return __mr_frexp(x, e); }
__MR_D float frexpf(float x, int* e) { return __mr_frexpf(x, e); }
__MR_D float frexp(float x, int* e) { return __mr_frexpf(x, e); }
__MR_D double modf(double x, double* i) { return __mr_modf(x, i); }
__MR_D float modff(float x, float* i) { return __mr_modff(x, i); }
__MR_D float modf(float x, float* i) { return __mr_modff(x, i); }
__MR_D double remquo(double x, double y, int* q) { return __mr_remquo(x, y, q); }
__MR_D float remquof(float x, float y, int* q) { return __mr_remquof(x, y, q); }
__MR_D float remquo(float x, float y, int* q) { return __mr_remquof(x, y, q); }
__MR_D double ldexp(double x, int n) { return __mr_scalbn(x, n); }
__MR_D float ldexpf(float x, int n) { return __mr_scalbnf(x, n); }
__MR_D float ldexp(float x, int n) { return __mr_scalbnf(x, n); }
__MR_D double scalbn(double x, int n) { return __mr_scalbn(x, n); }
__MR_D float scalbnf(float x, int n) { return __mr_scalbnf(x, n); }
__MR_D float scalbn(float x, int n) { return __mr_scalbnf(x, n); }
__MR_D int __mr_clamp_exponent(long n) { return n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n; }
__MR_D double scalbln(double x, long n) { return __mr_scalbn(x, __mr_clamp_exponent(n)); }
__MR_D float scalblnf(float x, long n) { return __mr_scalbnf(x, __mr_clamp_exponent(n)); }
__MR_D float scalbln(float x, long n) { return __mr_scalbnf(x, __mr_clamp_exponent(n)); }
__MR_D int ilogb(double x) { return __mr_ilogb(x); }
__MR_D int ilogbf(float x) { return __mr_ilogbf(x); }
__MR_D int ilogb(float x) { return __mr_ilogbf(x); }
// To integers: casts saturate in device code.
__MR_D long lrint(double x) { return (long)__mr_rint(x); }
__MR_D long lrintf(float x) { return (long)__mr_rintf(x); }
__MR_D long lrint(float x) { return (long)__mr_rintf(x); }
__MR_D long long llrint(double x) { return (long long)__mr_rint(x); }
__MR_D long long llrintf(float x) { return (long long)__mr_rintf(x); }
__MR_D long long llrint(float x) { return (long long)__mr_rintf(x); }
__MR_D long lround(double x) { return (long)__mr_round(x); }
__MR_D long lroundf(float x) { return (long)__mr_roundf(x); }
__MR_D long lround(float x) { return (long)__mr_roundf(x); }
__MR_D long long llround(double x) { return (long long)__mr_round(x); }
__MR_D long long llroundf(float x) { return (long long)__mr_roundf(x); }
__MR_D long long llround(float x) { return (long long)__mr_roundf(x); }
__MR_D void sincos(double x, double* s, double* c) { __mr_sincos(x, s, c); }
__MR_D void sincosf(float x, float* s, float* c) { __mr_sincosf(x, s, c); }
__MR_D void sincos(float x, float* s, float* c) { __mr_sincosf(x, s, c); }
__MR_D double exp10(double x) { return __mr_exp10(x); }
__MR_D float exp10f(float x) { return __mr_exp10f(x); }
__MR_HD float exp10(float x) { return __mr_exp10f(x); }
__MR_D double j0(double x) { return __mr_j0(x); }
__MR_D float j0f(float x) { return __mr_j0f(x); }
__MR_D double j1(double x) { return __mr_j1(x); }
__MR_D float j1f(float x) { return __mr_j1f(x); }
__MR_D double jn(int n, double x) { return __mr_jn(n, x); }
__MR_D float jnf(int n, float x) { return __mr_jnf(n, x); }
__MR_D double y0(double x) { return __mr_y0(x); }
__MR_D float y0f(float x) { return __mr_y0f(x); }
__MR_D double y1(double x) { return __mr_y1(x); }
__MR_D float y1f(float x) { return __mr_y1f(x); }
__MR_D double yn(int n, double x) { return __mr_yn(n, x); }
__MR_D float ynf(int n, float x) { return __mr_ynf(n, x); }
__MR_D float pow(float x, int n) { return __mr_powif(x, n); }
__MR_D double pow(double x, int n) { return __mr_powi(x, n); }
__MR_D float powif(float x, int n) { return __mr_powif(x, n); }
__MR_D double powi(double x, int n) { return __mr_powi(x, n); }

__MR_MATH1_CUDA(rsqrt)
__MR_MATH1_CUDA(rcbrt)
__MR_MATH1_CUDA(sinpi)
__MR_MATH1_CUDA(cospi)
__MR_MATH1_CUDA(tanpi)
__MR_MATH1_CUDA(erfinv)
__MR_MATH1_CUDA(erfcinv)
__MR_MATH1_CUDA(erfcx)
__MR_MATH1_CUDA(normcdf)
__MR_MATH1_CUDA(normcdfinv)
__MR_MATH1_CUDA(cyl_bessel_i0)
__MR_MATH1_CUDA(cyl_bessel_i1)
__MR_HD void sincospi(double x, double* s, double* c) {
  *s = __mr_sinpi(x);
  *c = __mr_cospi(x);
}
__MR_HD void sincospif(float x, float* s, float* c) {
  *s = __mr_sinpif(x);
  *c = __mr_cospif(x);
}
__MR_HD void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
__MR_HD double rhypot(double x, double y) { return __mr_rhypot(x, y); }
__MR_HD float rhypotf(float x, float y) { return __mr_rhypotf(x, y); }
__MR_HD double norm(int n, const double* v) { return __mr_norm(n, v); }
__MR_HD float normf(int n, const float* v) { return __mr_normf(n, v); }
__MR_HD double rnorm(int n, const double* v) { return __mr_rnorm(n, v); }
__MR_HD float rnormf(int n, const float* v) { return __mr_rnormf(n, v); }
__MR_HD double norm3d(double a, double b, double c) { return __mr_norm3d(a, b, c); }
__MR_HD float norm3df(float a, float b, float c) { return __mr_norm3df(a, b, c); }
__MR_HD double rnorm3d(double a, double b, double c) { return __mr_rnorm3d(a, b, c); }
__MR_HD float rnorm3df(float a, float b, float c) { return __mr_rnorm3df(a, b, c); }
__MR_HD double norm4d(double a, double b, double c, double d) { return __mr_norm4d(a, b, c, d); }
__MR_HD float norm4df(float a, float b, float c, float d) { return __mr_norm4df(a, b, c, d); }
__MR_HD double rnorm4d(double a, double b, double c, double d) { return __mr_rnorm4d(a, b, c, d); }
__MR_HD float rnorm4df(float a, float b, float c, float d) { return __mr_rnorm4df(a, b, c, d); }
__MR_HD float fdividef(float x, float y) { return x / y; }
__MR_HD double fdivide(double x, double y) { return x / y; }

// Intrinsics. A device's fast versions are within a few ulp of the full ones; these are the full ones.
__MR_D float __sinf(float x) { return __mr_sinf(x); }
__MR_D float __cosf(float x) { return __mr_cosf(x); }
__MR_D float __tanf(float x) { return __mr_tanf(x); }
__MR_D float __tanhf(float x) { return __mr_tanhf(x); }
__MR_D void __sincosf(float x, float* s, float* c) { __mr_sincosf(x, s, c); }
__MR_D float __expf(float x) { return __mr_expf(x); }
__MR_D float __exp10f(float x) { return __mr_exp10f(x); }
__MR_D float __logf(float x) { return __mr_logf(x); }
__MR_D float __log2f(float x) { return __mr_log2f(x); }
__MR_D float __log10f(float x) { return __mr_log10f(x); }
__MR_D float __powf(float x, float y) { return __mr_powf(x, y); }
// For 2^126 < |y| < 2^128 the device flushes the reciprocal: 0, or NaN for an infinite numerator.
__MR_D float __fdividef(float x, float y) {
  const float a = __builtin_fabsf(y);
  return a > 0x1p126f && a < __builtin_inff() ? x * __builtin_copysignf(0.0f, y) : x / y;
}
__MR_D float __saturatef(float x) { return x != x || x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x + 0.0f; }

// Classification. In C++ they are functions; <cmath> removes C's macros.
__MR_D bool signbit(double x) { return __builtin_signbit(x) != 0; }
__MR_D bool signbit(float x) { return __builtin_signbitf(x) != 0; }
__MR_D bool isnan(double x) { return x != x; }
__MR_D bool isnan(float x) { return x != x; }
__MR_D bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
__MR_D bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
__MR_D bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
__MR_D bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
__MR_D int __signbit(double x) { return __builtin_signbit(x) != 0; }
__MR_D int __signbitf(float x) { return __builtin_signbitf(x) != 0; }
__MR_D int __signbitd(double x) { return __builtin_signbit(x) != 0; }
__MR_D int __isnan(double x) { return x != x; }
__MR_D int __isnanf(float x) { return x != x; }
__MR_D int __isinf(double x) { return isinf(x); }
__MR_D int __isinff(float x) { return isinf(x); }
__MR_D int __finite(double x) { return isfinite(x); }
__MR_D int __finitef(float x) { return isfinite(x); }

__MR_D int abs(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
__MR_D long labs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
__MR_D long long llabs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
__MR_D long abs(long x) { return labs(x); }
__MR_D long long abs(long long x) { return llabs(x); }
__MR_D double abs(double x) { return __builtin_fabs(x); }
__MR_D float abs(float x) { return __builtin_fabsf(x); }

// min and max of every pair of arithmetic types that CUDA overloads, host code included.
#define __MR_MINMAX(R, A, B)                                                                                           \
  __MR_HD R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }                                                        \
  __MR_HD R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
__MR_MINMAX(int, int, int)
__MR_MINMAX(unsigned, unsigned, unsigned)
__MR_MINMAX(unsigned, int, unsigned)
__MR_MINMAX(unsigned, unsigned, int)
__MR_MINMAX(long, long, long)
__MR_MINMAX(unsigned long, unsigned long, unsigned long)
__MR_MINMAX(unsigned long, long, unsigned long)
__MR_MINMAX(unsigned long, unsigned long, long)
__MR_MINMAX(long long, long long, long long)
__MR_MINMAX(unsigned long long, unsigned long long, unsigned long long)
__MR_MINMAX(unsigned long long, long long, unsigned long long)
__MR_MINMAX(unsigned long long, unsigned long long, long long)
__MR_HD float min(float a, float b) { return __mr_fminf(a, b); }
__MR_HD float max(float a, float b) { return __mr_fmaxf(a, b); }
__MR_HD double min(double a, double b) { return __mr_fmin(a, b); }
__MR_HD double max(double a, double b) { return __mr_fmax(a, b); }
__MR_HD double min(float a, double b) { return __mr_fmin((double)a, b); }
__MR_HD double max(float a, double b) { return __mr_fmax((double)a, b); }
__MR_HD double min(double a, float b) { return __mr_fmin(a, (double)b); }
__MR_HD double max(double a, float b) { return __mr_fmax(a, (double)b); }
__MR_D unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
__MR_D unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
__MR_D long long llmin(long long a, long long b) { return a < b ? a : b; }
__MR_D long long llmax(long long a, long long b) { return a > b ? a : b; }
__MR_D unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__MR_D unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

namespace std {
using ::abs;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::lrint;
using ::lround;
using ::modf;
using ::nearbyint;
using ::nextafter;
using ::pow;
using ::remainder;
using ::remquo;
using ::rint;
using ::round;
using ::scalbln;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::tgamma;
using ::trunc;
}  // namespace std
