// Functions with exact or correctly rounded results: rounding, remainders, decomposition, neighbours.
#pragma once
#include "base.h"

// Integer below, written on bits, would be no faster than the rounding instruction that these become.
__MR_MATH double __mr_rint(double x) { return __builtin_rint(x); }
__MR_MATH double __mr_floor(double x) { return __builtin_floor(x); }
__MR_MATH double __mr_ceil(double x) { return __builtin_ceil(x); }
__MR_MATH double __mr_trunc(double x) { return __builtin_trunc(x); }
// Halves away from zero: x plus the largest double below one half, cut off.
__MR_MATH double __mr_round(double x) { return __builtin_trunc(x + __builtin_copysign(0.49999999999999994, x)); }
__MR_MATH float __mr_rintf(float x) { return __builtin_rintf(x); }
__MR_MATH float __mr_floorf(float x) { return __builtin_floorf(x); }
__MR_MATH float __mr_ceilf(float x) { return __builtin_ceilf(x); }
__MR_MATH float __mr_truncf(float x) { return __builtin_truncf(x); }
__MR_MATH float __mr_roundf(float x) { return __builtin_truncf(x + __builtin_copysignf(0.49999997f, x)); }

// IEEE minimum and maximum: a NaN loses against a number; -0 is below +0.
__MR_MATH double __mr_fmin(double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __mr_sign(a) ? a : b;
  return a < b ? a : b;
}
__MR_MATH double __mr_fmax(double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __mr_sign(a) ? b : a;
  return a > b ? a : b;
}
__MR_MATH float __mr_fminf(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return (__mr_bitsf(a) >> 31) != 0 ? a : b;
  return a < b ? a : b;
}
__MR_MATH float __mr_fmaxf(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return (__mr_bitsf(a) >> 31) != 0 ? b : a;
  return a > b ? a : b;
}
__MR_MATH double __mr_fdim(double a, double b) { return a != a || b != b ? a + b : a > b ? a - b : 0.0; }
__MR_MATH float __mr_fdimf(float a, float b) { return a != a || b != b ? a + b : a > b ? a - b : 0.0f; }

__MR_MATH double __mr_frexp(double x, int* e) {
  unsigned long b = __mr_bits(x);
  int k = (int)(b >> 52 & 0x7ff);
  if (x == 0 || k == 0x7ff) {
    *e = 0;
    return x + x;
  }
  if (k == 0) {
    b = __mr_bits(x * 0x1p54);
    k = (int)(b >> 52 & 0x7ff) - 54;
  }
  *e = k - 1022;
  return __mr_from_bits((b & 0x800ffffffffffffful) | 0x3fe0000000000000ul);
}
__MR_MATH double __mr_scalbn(double x, int n) {
  n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
  // Down in steps that keep the value normal until the last, so that it is rounded once.
  if (n < -1022) {
    x *= 0x1p-969;
    n += 969;
    if (n < -1022) {
      x *= 0x1p-969;
      n += 969;
      n = n < -1022 ? -1022 : n;
    }
  } else if (n > 1023) {
    x *= 0x1p1023;
    n -= 1023;
    if (n > 1023) {
      x *= 0x1p1023;
      n -= 1023;
      n = n > 1023 ? 1023 : n;
    }
  }
  return x * __mr_pow2(n);
}
__MR_MATH float __mr_frexpf(float x, int* e) {
  return (float)__mr_frexp((double)x, e);  // exact both ways
}
// Exact in double for every float, then rounded once.
__MR_MATH float __mr_scalbnf(float x, int n) {
  n = n > 400 ? 400 : n < -400 ? -400 : n;
  return (float)((double)x * __mr_pow2(n));
}
__MR_MATH double __mr_modf(double x, double* whole) {
  const double t = __builtin_trunc(x);
  *whole = t;
  return __mr_copysign(__mr_is_inf(x) ? 0.0 : x - t, x);
}
__MR_MATH float __mr_modff(float x, float* whole) {
  const float t = __builtin_truncf(x);
  *whole = t;
  return __builtin_copysignf(__builtin_fabsf(x) == __builtin_inff() ? 0.0f : x - t, x);
}
__MR_MATH int __mr_ilogb(double x) {
  const unsigned long b = __mr_bits(x) & 0x7ffffffffffffffful;
  const int k = (int)(b >> 52);
  if (b == 0) return -__INT_MAX__ - 1;
  if (k == 0x7ff) return x != x ? -__INT_MAX__ - 1 : __INT_MAX__;
  if (k == 0) return -1011 - __builtin_clzl(b);
  return k - 1023;
}
__MR_MATH int __mr_ilogbf(float x) { return __mr_ilogb((double)x); }
__MR_MATH double __mr_logb(double x) {
  if (x == 0) return -__MR_INF;
  if (!__mr_is_finite(x)) return x * x;
  return (double)__mr_ilogb(x);
}
__MR_MATH float __mr_logbf(float x) { return (float)__mr_logb((double)x); }

__MR_MATH double __mr_nextafter(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __mr_copysign(0x1p-1074, y);
  const unsigned long b = __mr_bits(x);
  return __mr_from_bits((x < y) == (x > 0) ? b + 1 : b - 1);
}
__MR_MATH float __mr_nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0) return __builtin_copysignf(0x1p-149f, y);
  const unsigned b = __mr_bitsf(x);
  return __mr_from_bitsf((x < y) == (x > 0) ? b + 1 : b - 1);
}

// |x| modulo |y| for finite nonzero |y|, with the low bits of the quotient: long division in steps of 11 bits.
__MR_MATH double __mr_mod(double x, double y, unsigned* quotient) {
  x = __mr_abs(x);
  y = __mr_abs(y);
  unsigned q = 0;
  if (x >= y) {
    int ex, ey;
    unsigned long mx = (unsigned long)(__mr_frexp(x, &ex) * 0x1p53), my = (unsigned long)(__mr_frexp(y, &ey) * 0x1p53);
    int shift = ex - ey;
    unsigned long n = mx / my;
    mx -= n * my;
    q = (unsigned)n;
    while (shift > 0) {
      const int step = shift < 11 ? shift : 11;
      mx <<= step;
      n = mx / my;
      mx -= n * my;
      q = (q << step) + (unsigned)n;
      shift -= step;
    }
    x = __mr_scalbn((double)mx, ey - 53);
  }
  *quotient = q;
  return x;
}
__MR_MATH double __mr_fmod(double x, double y) {
  if (x != x || y != y || __mr_is_inf(x) || y == 0) return (x * y) / (x * y);
  if (__mr_is_inf(y)) return x;
  unsigned q;
  return __mr_copysign(__mr_mod(x, y, &q), x);
}
__MR_MATH double __mr_remquo(double x, double y, int* quotient) {
  *quotient = 0;
  if (x != x || y != y || __mr_is_inf(x) || y == 0) return (x * y) / (x * y);
  if (__mr_is_inf(y)) return x;
  unsigned q;
  double r = __mr_mod(x, y, &q);
  const double ay = __mr_abs(y), rest = ay - r;  // exact enough: only compared with r where they are near
  if (r > rest || (r == rest && (q & 1u) != 0)) {
    r = r - ay;
    ++q;
  }
  const bool minus = __mr_sign(x) != __mr_sign(y);
  *quotient = minus ? -(int)(q & 0x7fffffffu) : (int)(q & 0x7fffffffu);
  if (r == 0) return __mr_copysign(0.0, x);
  return __mr_sign(x) ? -r : r;
}
__MR_MATH double __mr_remainder(double x, double y) {
  int q;
  return __mr_remquo(x, y, &q);
}
// Exact in double, and a remainder of floats is a float.
__MR_MATH float __mr_fmodf(float x, float y) { return (float)__mr_fmod((double)x, (double)y); }
__MR_MATH float __mr_remainderf(float x, float y) { return (float)__mr_remainder((double)x, (double)y); }
__MR_MATH float __mr_remquof(float x, float y, int* q) { return (float)__mr_remquo((double)x, (double)y, q); }
