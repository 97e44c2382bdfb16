// Trigonometric functions, their inverses, and the forms scaled by pi.
#pragma once
#include "polynomials.h"

struct __mr_reduced {
  __mr_dd r;  // x - n pi/2, |r| <= pi/4 and a little
  int n;      // modulo 4
};

// Payne and Hanek: any finite |x| >= 2^20. Only the bits of 2/pi that matter are multiplied.
__MR_MATH_COLD __mr_reduced __mr_reduce_large(double x) {
  const unsigned long b = __mr_bits(x);
  const int e = (int)(b >> 52 & 0x7ff) - 1075;  // |x| = m 2^e
  const unsigned long m = (b & 0xffffffffffffful) | 0x10000000000000ul;
  // 192 bits of 2/pi: those before bit e - 2 only add whole turns.
  const int offset = e >= 2 ? e - 2 : 0;
  const int word = offset >> 6, shift = offset & 63;
  unsigned long w[4];
  for (int i = 0; i < 4; ++i) w[i] = word + i < 21 ? __mr_two_over_pi(word + i) : 0;
  if (shift != 0)
    for (int i = 0; i < 3; ++i) w[i] = w[i] << shift | w[i + 1] >> (64 - shift);
  if (e < 2) {  // the window begins before the first bit
    const int s = 2 - e;
    w[2] = w[2] >> s | w[1] << (64 - s);
    w[1] = w[1] >> s | w[0] << (64 - s);
    w[0] >>= s;
  }
  // p = m * w modulo 2^192, three words, the most significant first.
  __extension__ typedef unsigned __int128 wide;
  const wide low = (wide)m * w[2];
  const wide mid = (wide)m * w[1] + (unsigned long)(low >> 64);
  unsigned long p[3] = {m * w[0] + (unsigned long)(mid >> 64), (unsigned long)mid, (unsigned long)low};
  // The value is p * 2^-190: the top two bits count quarter turns.
  int n = (int)(p[0] >> 62);
  unsigned long f0 = p[0] << 2 | p[1] >> 62, f1 = p[1] << 2 | p[2] >> 62, f2 = p[2] << 2;
  bool minus = false;
  if ((f0 >> 63) != 0) {  // more than half a quarter turn: count up and take the complement
    ++n;
    minus = true;
    f2 = ~f2 + 1;
    f1 = ~f1 + (f2 == 0);
    f0 = ~f0 + (f1 == 0 && f2 == 0);
  }
  int zeros = 0;
  while (zeros < 128 && (f0 >> 63) == 0) {
    const int s = f0 == 0 ? 63 : __builtin_clzl(f0);
    f0 = f0 << s | f1 >> (64 - s);
    f1 = f1 << s | f2 >> (64 - s);
    f2 <<= s;
    zeros += s;
  }
  const double hi = (double)(f0 >> 11) * 0x1p-53, lo = (double)((f0 & 0x7ff) << 42 | f1 >> 22) * 0x1p-106;
  __mr_dd r = __mr_dd_mul(__mr_fast_sum(hi, lo), __mr_dd_make(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54));
  r = __mr_dd_scale(r, __mr_pow2(-zeros));
  if (minus) r = __mr_dd_neg(r);
  if (x < 0) {
    r = __mr_dd_neg(r);
    n = -n;
  }
  __mr_reduced result;
  result.r = r;
  result.n = n & 3;
  return result;
}
__MR_MATH __mr_reduced __mr_reduce(double x) {
  __MR_EXACT
  if (!(__mr_abs(x) < 0x1p20)) return __mr_reduce_large(x);
  const double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
  // pi/2 in four parts; the first two have 33 bits, so that their products with n are exact.
  const double a = __builtin_fma(-n, 0x1.921fb544p+0, x);
  const __mr_dd b = __mr_sum(a, -(n * 0x1.0b4611a6p-34));
  const __mr_dd c = __mr_product(-n, 0x1.3198a2e037073p-69);
  const __mr_dd d = __mr_sum(b.hi, c.hi);
  const double lo = d.lo + (b.lo + __builtin_fma(-n, 0x1.129024e088a68p-123, c.lo));
  __mr_reduced result;
  result.r = __mr_fast_sum(d.hi, lo);
  result.n = (int)n & 3;
  return result;
}

// sin and cos of |r| <= pi/4, about 2^-60.
__MR_MATH __mr_dd __mr_sin_kernel(__mr_dd r) {
  __MR_EXACT
  const double z = r.hi * r.hi;
  // sin(r + e) = r + (r^3 p(z) + e (1 - z/2))
  return __mr_fast_sum(r.hi, __builtin_fma(r.hi * z, __mr_poly_sin(z), r.lo * __builtin_fma(z, -0.5, 1.0)));
}
__MR_MATH __mr_dd __mr_cos_kernel(__mr_dd r) {
  __MR_EXACT
  const __mr_dd z = __mr_product(r.hi, r.hi);
  const __mr_dd one = __mr_fast_sum(1.0, -0.5 * z.hi);
  // cos(r + e) = 1 - z/2 + (z^2 p(z) - r e)
  return __mr_fast_sum(one.hi, one.lo + (__builtin_fma(z.hi * z.hi, __mr_poly_cos(z.hi), -0.5 * z.lo) - r.hi * r.lo));
}
__MR_MATH double __mr_sin(double x) {
  if (!__mr_is_finite(x)) return x - x;
  const __mr_reduced q = __mr_reduce(x);
  const __mr_dd s = __mr_sin_kernel(q.r), c = __mr_cos_kernel(q.r);
  const double v = (q.n & 1) != 0 ? c.hi : s.hi;
  return x == 0 ? x : (q.n & 2) != 0 ? -v : v;
}
__MR_MATH double __mr_cos(double x) {
  if (!__mr_is_finite(x)) return x - x;
  const __mr_reduced q = __mr_reduce(x);
  const __mr_dd s = __mr_sin_kernel(q.r), c = __mr_cos_kernel(q.r);
  const double v = (q.n & 1) != 0 ? s.hi : c.hi;
  return ((q.n + 1) & 2) != 0 ? -v : v;
}
__MR_MATH void __mr_sincos(double x, double* sine, double* cosine) {
  *sine = __mr_sin(x);
  *cosine = __mr_cos(x);
}
__MR_MATH double __mr_tan(double x) {
  if (!__mr_is_finite(x)) return x - x;
  if (x == 0) return x;
  const __mr_reduced q = __mr_reduce(x);
  const __mr_dd s = __mr_sin_kernel(q.r), c = __mr_cos_kernel(q.r);
  return (q.n & 1) != 0 ? -__mr_dd_div(c, s).hi : __mr_dd_div(s, c).hi;
}

// Of pi x: x modulo 2 is exact.
struct __mr_reduced_pi {
  __mr_dd r;
  int n;
};
__MR_MATH __mr_reduced_pi __mr_reduce_pi(double x) {
  const double n = __builtin_rint(2.0 * x);  // |x| < 2^53, else even
  const double f = __builtin_fma(-0.5, n, x);
  __mr_reduced_pi q;
  q.r = __mr_dd_mul1(__mr_dd_make(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), f);
  q.n = (int)(n - 4.0 * __builtin_floor(0.25 * n));
  return q;
}
__MR_MATH double __mr_sinpi(double x) {
  if (!__mr_is_finite(x)) return x - x;
  if (__mr_abs(x) >= 0x1p53) return __mr_copysign(0.0, x);
  const __mr_reduced_pi q = __mr_reduce_pi(x);
  const double v = (q.n & 1) != 0 ? __mr_cos_kernel(q.r).hi : __mr_sin_kernel(q.r).hi;
  const double w = (q.n & 2) != 0 ? -v : v;
  return w == 0 ? __mr_copysign(0.0, x) : w;
}
__MR_MATH double __mr_cospi(double x) {
  if (!__mr_is_finite(x)) return x - x;
  if (__mr_abs(x) >= 0x1p53) return 1.0;
  const __mr_reduced_pi q = __mr_reduce_pi(x);
  const double v = (q.n & 1) != 0 ? __mr_sin_kernel(q.r).hi : __mr_cos_kernel(q.r).hi;
  const double w = ((q.n + 1) & 2) != 0 ? -v : v;
  return w == 0 ? 0.0 : w;
}
__MR_MATH double __mr_tanpi(double x) {
  if (!__mr_is_finite(x)) return x - x;
  return __mr_sinpi(x) / __mr_cospi(x);
}

// ---- For float results
// -------------------------------------------------------------------------------------------------

struct __mr_reduced_float {
  double r;
  int n;
};
__MR_MATH __mr_reduced_float __mr_reduce_float(double x) {
  __mr_reduced_float q;
  if (__mr_abs(x) < 0x1p30) {
    const double n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
    q.r = __builtin_fma(-n, 0x1.1a62633145c07p-54, __builtin_fma(-n, 0x1.921fb54442d18p+0, x));
    q.n = (int)n & 3;
  } else {
    // Payne and Hanek with 128 bits of 2/pi, which is enough for a float and vectorises: x = m 2^e.
    const unsigned long b = __mr_bits(x);
    const int offset = (int)(b >> 52 & 0x7ff) - 1048;  // e - 2 where m has 24 bits
    const unsigned long m = (b >> 29 & 0x7fffff) | 0x800000;
    // The first four words of 2/pi: choices, where a table would be gathered from.
    const unsigned long t0 = 0xa2f9836e4e441529ul, t1 = 0xfc2757d1f534ddc0ul, t2 = 0xdb6295993c439041ul,
                        t3 = 0xfe5163abdebbc561ul;
    const bool second = offset >= 64;
    const int shift = offset & 63;
    const unsigned long w0 = second ? t1 : t0, w1 = second ? t2 : t1, w2 = second ? t3 : t2;
    const unsigned long hi = w0 << shift | w1 >> 1 >> (63 - shift), lo = w1 << shift | w2 >> 1 >> (63 - shift);
    const unsigned long p = m * hi + ((m * (lo >> 32) + (m * (lo & 0xffffffff) >> 32)) >> 32);
    const unsigned long n = (p + 0x2000000000000000ul) >> 62;
    const double r = (double)(long)(p - (n << 62)) * (0x1p-62 * 0x1.921fb54442d18p+0);
    q.r = x < 0 ? -r : r;
    q.n = (int)(x < 0 ? 0 - n : n) & 3;
  }
  return q;
}
__MR_MATH double __mr_sin_short(double r) {
  const double z = r * r;
  return __builtin_fma(r * z, __mr_poly_sin_float(z), r);
}
__MR_MATH double __mr_cos_short(double r) {
  const double z = r * r;
  return __builtin_fma(z, __mr_poly_cos_float(z), 1.0);
}
__MR_MATH float __mr_sinf(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  const __mr_reduced_float q = __mr_reduce_float((double)x);
  const double v = (q.n & 1) != 0 ? __mr_cos_short(q.r) : __mr_sin_short(q.r);
  return x == 0 ? x : (float)((q.n & 2) != 0 ? -v : v);
}
__MR_MATH float __mr_cosf(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  const __mr_reduced_float q = __mr_reduce_float((double)x);
  const double v = (q.n & 1) != 0 ? __mr_sin_short(q.r) : __mr_cos_short(q.r);
  return (float)(((q.n + 1) & 2) != 0 ? -v : v);
}
__MR_MATH void __mr_sincosf(float x, float* sine, float* cosine) {
  *sine = __mr_sinf(x);
  *cosine = __mr_cosf(x);
}
__MR_MATH float __mr_tanf(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  const __mr_reduced_float q = __mr_reduce_float((double)x);
  const double s = __mr_sin_short(q.r), c = __mr_cos_short(q.r);
  return x == 0 ? x : (float)((q.n & 1) != 0 ? -c / s : s / c);
}
__MR_MATH float __mr_sinpif(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  const double n = __builtin_rint(2.0 * (double)x), r = __builtin_fma(-0.5, n, (double)x) * 0x1.921fb54442d18p+1;
  const int k = (int)(n - 4.0 * __builtin_floor(0.25 * n));
  const double v = (k & 1) != 0 ? __mr_cos_short(r) : __mr_sin_short(r);
  return v == 0 ? __builtin_copysignf(0.0f, x) : (float)((k & 2) != 0 ? -v : v);
}
__MR_MATH float __mr_cospif(float x) {
  if (!(__builtin_fabsf(x) < __builtin_inff())) return x - x;
  const double n = __builtin_rint(2.0 * (double)x), r = __builtin_fma(-0.5, n, (double)x) * 0x1.921fb54442d18p+1;
  const int k = (int)(n - 4.0 * __builtin_floor(0.25 * n));
  const double v = (k & 1) != 0 ? __mr_sin_short(r) : __mr_cos_short(r);
  return v == 0 ? 0.0f : (float)(((k + 1) & 2) != 0 ? -v : v);
}
__MR_MATH float __mr_tanpif(float x) { return __mr_sinpif(x) / __mr_cospif(x); }

// ---- Inverses
// ----------------------------------------------------------------------------------------------------------

// atan of the quotient y / x, both nonnegative double-doubles, not both zero: reduced to |t| <= tan(pi/8).
__MR_MATH __mr_dd __mr_atan_quotient(__mr_dd y, __mr_dd x) {
  __MR_EXACT
  const bool steep = y.hi > x.hi;
  const __mr_dd lo = steep ? x : y, hi = steep ? y : x;
  const bool middle = lo.hi > 0.41421356237309503 * hi.hi;
  // (lo - hi) / (lo + hi) is the tangent of the angle less pi/4.
  const __mr_dd num = middle ? __mr_dd_add(lo, __mr_dd_neg(hi)) : lo, den = middle ? __mr_dd_add(lo, hi) : hi;
  const __mr_dd t = __mr_dd_div(num, den);
  const double z = t.hi * t.hi;
  // atan(t + e) = t + (t^3 p(z) + e (1 - z))
  __mr_dd a = __mr_fast_sum(t.hi, __builtin_fma(t.hi * z, __mr_poly_atan(z), t.lo * (1.0 - z)));
  if (middle) a = __mr_dd_add(__mr_dd_make(0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55), a);
  if (steep) a = __mr_dd_add(__mr_dd_make(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54), __mr_dd_neg(a));
  return a;
}
__MR_MATH double __mr_atan(double x) {
  const double a = __mr_abs(x);
  if (a != a || a < 0x1p-27) return x;
  if (a > 0x1p60) return __mr_copysign(0x1.921fb54442d18p+0, x);
  return __mr_copysign(__mr_atan_quotient(__mr_dd_make(a, 0), __mr_dd_make(1, 0)).hi, x);
}
__MR_MATH double __mr_atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  double ay = __mr_abs(y), ax = __mr_abs(x);
  const double pi = 0x1.921fb54442d18p+1;
  double r;
  if (ay == 0 || (ax == __MR_INF && ay != __MR_INF)) {
    r = __mr_sign(x) ? pi : 0.0;
  } else if (ax == 0 || (ay == __MR_INF && ax != __MR_INF)) {
    r = 0.5 * pi;
  } else if (ay == __MR_INF) {
    r = __mr_sign(x) ? 0.75 * pi : 0.25 * pi;
  } else {
    // Bring both into the middle of the range; a quotient out of range is its limit.
    int ey, ex;
    const double my = __mr_frexp(ay, &ey), mx = __mr_frexp(ax, &ex);
    const int d = ey - ex;
    if (d > 70) {
      r = 0.5 * pi;
    } else if (d < -70) {
      if (__mr_sign(x)) {
        r = pi;
      } else {
        // y / x itself, rounded once even when it is denormal
        r = d > -1020 ? __mr_scalbn(my / mx, d) : ay / ax;
      }
    } else {
      __mr_dd a = __mr_atan_quotient(__mr_dd_make(__mr_scalbn(my, d), 0), __mr_dd_make(mx, 0));
      if (__mr_sign(x)) a = __mr_dd_add(__mr_dd_make(pi, 0x1.1a62633145c07p-53), __mr_dd_neg(a));
      r = a.hi;
    }
  }
  return __mr_copysign(r, y);
}
// asin of |x| <= 1/2 as a double-double.
__MR_MATH __mr_dd __mr_asin_kernel(__mr_dd x) {
  __MR_EXACT
  const double z = x.hi * x.hi;
  // asin(x + e) = asin(x) + e / sqrt(1 - z); the tail needs few bits
  return __mr_fast_sum(x.hi, __builtin_fma(x.hi * z, __mr_poly_asin(z), x.lo * __builtin_fma(z, 0.5 + 0.375 * z, 1.0)));
}
__MR_MATH double __mr_asin(double x) {
  const double a = __mr_abs(x);
  if (!(a <= 1)) return __MR_NAN;
  if (a < 0x1p-27) return x;
  if (a <= 0.5) return __mr_asin_kernel(__mr_dd_make(x, 0)).hi;
  // pi/2 - 2 asin(sqrt((1 - a) / 2)); 1 - a is exact
  const __mr_dd s = __mr_asin_kernel(__mr_dd_sqrt(__mr_dd_make(0.5 * (1.0 - a), 0)));
  const __mr_dd r = __mr_dd_add(__mr_dd_make(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54),
                                __mr_dd_make(-2 * s.hi, -2 * s.lo));
  return __mr_copysign(r.hi, x);
}
__MR_MATH double __mr_acos(double x) {
  const double a = __mr_abs(x);
  if (!(a <= 1)) return __MR_NAN;
  if (a <= 0.5) {
    const __mr_dd s = __mr_asin_kernel(__mr_dd_make(x, 0));
    return __mr_dd_add(__mr_dd_make(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54), __mr_dd_neg(s)).hi;
  }
  const __mr_dd s = __mr_asin_kernel(__mr_dd_sqrt(__mr_dd_make(0.5 * (1.0 - a), 0)));
  if (x > 0) return 2 * s.hi;
  return __mr_dd_add(__mr_dd_make(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), __mr_dd_make(-2 * s.hi, -2 * s.lo)).hi;
}

__MR_MATH double __mr_atan_short(double y, double x) {
  const bool steep = y > x;
  const double lo = steep ? x : y, hi = steep ? y : x;
  const bool middle = lo > 0.41421356237309503 * hi;
  const double t = (middle ? lo - hi : lo) / (middle ? lo + hi : hi), z = t * t;
  double a = __builtin_fma(t * z, __mr_poly_atan_float(z), t);
  if (middle) a += 0x1.921fb54442d18p-1;
  return steep ? 0x1.921fb54442d18p+0 - a : a;
}
__MR_MATH float __mr_atanf(float x) {
  if (x != x || x == 0) return x;
  const double a = __mr_abs((double)x);
  return (float)__mr_copysign(__mr_atan_short(a > 1e300 ? 1e300 : a, 1.0), (double)x);
}
__MR_MATH float __mr_atan2f(float y, float x) {
  if (x != x || y != y) return x + y;
  double ay = __mr_abs((double)y), ax = __mr_abs((double)x);
  if (ay == __MR_INF) {
    if (ax == __MR_INF)
      ax = 1.0;
    else
      ax = 0.0;
    ay = 1.0;
  } else if (ax == __MR_INF) {
    ay = 0.0;
    ax = 1.0;
  }
  if (ax == 0 && ay == 0) ax = 1.0;
  double r = __mr_atan_short(ay, ax);
  if ((__mr_bitsf(x) >> 31) != 0) r = 0x1.921fb54442d18p+1 - r;
  return (float)__mr_copysign(r, (double)y);
}
__MR_MATH double __mr_asin_short(double x) {
  const double z = x * x;
  return __builtin_fma(x * z, __mr_poly_asin_float(z), x);
}
__MR_MATH float __mr_asinf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a <= 1)) return __builtin_nanf("");
  if (x == 0) return x;
  const bool large = a > 0.5;
  const double s = __mr_asin_short(large ? __builtin_sqrt(0.5 * (1.0 - a)) : a);
  return (float)__mr_copysign(large ? 0x1.921fb54442d18p+0 - 2 * s : s, (double)x);
}
__MR_MATH float __mr_acosf(float x) {
  const double a = __mr_abs((double)x);
  if (!(a <= 1)) return __builtin_nanf("");
  const bool large = a > 0.5;
  const double s = __mr_asin_short(large ? __builtin_sqrt(0.5 * (1.0 - a)) : (double)x);
  return (float)(!large ? 0x1.921fb54442d18p+0 - s : x > 0 ? 2 * s : 0x1.921fb54442d18p+1 - 2 * s);
}
