// The C library's mathematical functions under their own names, for calls that the compiler makes by itself (a
// floating-point remainder is a call of fmod) or that reach it through __builtin_ functions. The bodies are the device
// headers', so the results are the same as those of code that names them.
#include "millrace/device/math/special.h"

#define MR_ONE(name)                                                                                                   \
  double name(double x) { return __mr_##name(x); }                                                                     \
  float name##f(float x) { return __mr_##name##f(x); }
#define MR_TWO(name)                                                                                                   \
  double name(double x, double y) { return __mr_##name(x, y); }                                                        \
  float name##f(float x, float y) { return __mr_##name##f(x, y); }

extern "C" {
MR_ONE(sin)
MR_ONE(cos)
MR_ONE(tan)
MR_ONE(asin)
MR_ONE(acos)
MR_ONE(atan)
MR_ONE(sinh)
MR_ONE(cosh)
MR_ONE(tanh)
MR_ONE(asinh)
MR_ONE(acosh)
MR_ONE(atanh)
MR_ONE(exp)
MR_ONE(exp2)
MR_ONE(exp10)
MR_ONE(expm1)
MR_ONE(log)
MR_ONE(log2)
MR_ONE(log10)
MR_ONE(log1p)
MR_ONE(cbrt)
MR_ONE(erf)
MR_ONE(erfc)
MR_ONE(tgamma)
MR_ONE(lgamma)
MR_ONE(round)
MR_ONE(logb)
MR_TWO(pow)
MR_TWO(atan2)
MR_TWO(hypot)
MR_TWO(fmin)
MR_TWO(fmax)
MR_TWO(fdim)
MR_TWO(fmod)
MR_TWO(remainder)
MR_TWO(nextafter)

double floor(double x) { return __mr_floor(x); }
float floorf(float x) { return __mr_floorf(x); }
double ceil(double x) { return __mr_ceil(x); }
float ceilf(float x) { return __mr_ceilf(x); }
double trunc(double x) { return __mr_trunc(x); }
float truncf(float x) { return __mr_truncf(x); }
double rint(double x) { return __mr_rint(x); }
float rintf(float x) { return __mr_rintf(x); }
double nearbyint(double x) { return __mr_rint(x); }
float nearbyintf(float x) { return __mr_rintf(x); }
double sqrt(double x) { return __mr_sqrt(x); }
float sqrtf(float x) { return __mr_sqrtf(x); }
double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
long lrint(double x) { return static_cast<long>(__mr_rint(x)); }
long lrintf(float x) { return static_cast<long>(__mr_rintf(x)); }
long lround(double x) { return static_cast<long>(__mr_round(x)); }
long lroundf(float x) { return static_cast<long>(__mr_roundf(x)); }
long long llrint(double x) { return static_cast<long long>(__mr_rint(x)); }
long long llrintf(float x) { return static_cast<long long>(__mr_rintf(x)); }
long long llround(double x) { return static_cast<long long>(__mr_round(x)); }
long long llroundf(float x) { return static_cast<long long>(__mr_roundf(x)); }
double frexp(double x, int* e) { return __mr_frexp(x, e); }
float frexpf(float x, int* e) { return __mr_frexpf(x, e); }
double modf(double x, double* i) { return __mr_modf(x, i); }
float modff(float x, float* i) { return __mr_modff(x, i); }
double ldexp(double x, int n) { return __mr_scalbn(x, n); }
float ldexpf(float x, int n) { return __mr_scalbnf(x, n); }
double scalbn(double x, int n) { return __mr_scalbn(x, n); }
float scalbnf(float x, int n) { return __mr_scalbnf(x, n); }
int ilogb(double x) { return __mr_ilogb(x); }
int ilogbf(float x) { return __mr_ilogbf(x); }
double remquo(double x, double y, int* q) { return __mr_remquo(x, y, q); }
float remquof(float x, float y, int* q) { return __mr_remquof(x, y, q); }
void sincos(double x, double* s, double* c) { __mr_sincos(x, s, c); }
void sincosf(float x, float* s, float* c) { __mr_sincosf(x, s, c); }
}
