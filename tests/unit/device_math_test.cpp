// Accuracy of the device math library (include/millrace/device/math) against 80-bit long double and, where that has too
// few bits, __float128. The bounds are those of the CUDA C++ Programming Guide, "Mathematical Functions". Prints the
// largest error of every function in units in the last place.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "millrace/device/math/special.h"

namespace {

int samples = 20000;  // fewer where the reference is slow
constexpr long double pi = 3.14159265358979323846264338327950288L;

long double unit(double reference) {
  int e;
  std::frexp(reference, &e);
  return std::ldexp(1.0L, std::max(e - 53, -1074));
}
long double unit(float reference) {
  int e;
  std::frexp(reference, &e);
  return std::ldexp(1.0L, std::max(e - 24, -149));
}

// |got - reference| in ulp of the reference; special values must agree in kind.
template <class T> double error(T got, long double reference) {
  const T rounded = static_cast<T>(reference);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // Overflow is a matter of the last ulp.
    const long double edge = std::numeric_limits<T>::max();
    if (std::isinf(got) &&
        std::fabs(reference) > edge * (1 - 4 * static_cast<long double>(std::numeric_limits<T>::epsilon())))
      return 1;
    if (std::isinf(rounded) &&
        std::fabs(got) > edge * (1 - 4 * static_cast<long double>(std::numeric_limits<T>::epsilon())))
      return 1;
    return 1e30;
  }
  return static_cast<double>(std::fabs(static_cast<long double>(got) - reference) / unit(rounded));
}

class Arguments {
 public:
  Arguments(double lo, double hi) : lo_(lo), hi_(hi) {}
  template <class T> T next() {
    // Half of them uniform, half uniform in their exponents.
    if ((++n_ & 1) != 0) return static_cast<T>(lo_ + (hi_ - lo_) * real());
    const double top = std::max(std::fabs(lo_), std::fabs(hi_)), bottom = std::is_same_v<T, float> ? 1e-44 : 1e-310;
    for (;;) {
      double v = std::exp(std::log(bottom) + (std::log(top) - std::log(bottom)) * real());
      if (lo_ < 0 && (hi_ <= 0 || (bits_() & 1) != 0)) v = -v;
      const T t = static_cast<T>(v);
      if (t >= lo_ && t <= hi_) return t;
      if (lo_ > 0) return static_cast<T>(lo_ * std::exp(std::log(hi_ / lo_) * real()));
    }
  }

 private:
  double real() { return std::uniform_real_distribution<double>(0, 1)(bits_); }
  double lo_, hi_;
  unsigned n_ = 0;
  std::mt19937_64 bits_{12345};
};

template <class T, class F, class R> void one(const char* name, double bound, double lo, double hi, F f, R reference) {
  Arguments a(lo, hi);
  double worst = 0;
  T at = 0;
  for (int i = 0; i < samples; ++i) {
    const T x = a.next<T>();
    const double e = error<T>(f(x), reference(static_cast<long double>(x)));
    if (e > worst) worst = e, at = x;
  }
  std::printf("%-14s %8.3f of %5.1f ulp  at %a\n", name, worst, bound, static_cast<double>(at));
  EXPECT_LE(worst, bound) << name << " at " << at;
}
template <class T, class F, class R>
void two(const char* name, double bound, double lo, double hi, double lo2, double hi2, F f, R reference) {
  Arguments a(lo, hi), b(lo2, hi2);
  double worst = 0;
  T at = 0, at2 = 0;
  b.next<T>();
  for (int i = 0; i < samples; ++i) {
    const T x = a.next<T>(), y = b.next<T>();
    const double e = error<T>(f(x, y), reference(static_cast<long double>(x), static_cast<long double>(y)));
    if (e > worst) worst = e, at = x, at2 = y;
  }
  std::printf("%-14s %8.3f of %5.1f ulp  at %a, %a\n", name, worst, bound, static_cast<double>(at),
              static_cast<double>(at2));
  EXPECT_LE(worst, bound) << name << " at " << at << ", " << at2;
}

#define ONE(T, name, bound, lo, hi, reference)                                                                         \
  one<T>(#name, bound, lo, hi, [](T x) { return __mr_##name(x); }, [](long double x) { return reference; })
#define TWO(T, name, bound, lo, hi, lo2, hi2, reference)                                                               \
  two<T>(                                                                                                              \
      #name, bound, lo, hi, lo2, hi2, [](T x, T y) { return __mr_##name(x, y); },                                      \
      [](long double x, long double y) { return reference; })

// Of pi x, with x reduced exactly first.
long double sinpi_reference(long double x) {
  const long double r = std::remainder(x, 2.0L);
  return std::fabs(r) > 0.5L ? std::copysign(std::sin(pi * (1 - std::fabs(r))), r) : std::sin(pi * r);
}
long double cospi_reference(long double x) {
  const long double r = std::fabs(std::remainder(x, 2.0L));
  return r > 0.25L && r < 0.75L ? std::sin(pi * (0.5L - r)) : std::cos(pi * r);
}
long double erfinv_reference(long double y);
// The inverse by Newton's method in long double.
long double erfcinv_reference(long double y) {
  if (y == 0) return INFINITY;
  if (y > 0.5L && y < 1.5L) return erfinv_reference(1 - y);
  long double x = y > 0.01L && y < 1.99L ? (1 - y) * 0.886L
                                         : std::copysign(std::sqrt(-std::log(y < 1 ? y : 2 - y)), 1 - y);
  for (int i = 0; i < 30; ++i) {
    const long double f = x < 0 ? (2 - y) - std::erfc(-x) : std::erfc(x) - y, d = 2 / std::sqrt(pi) * std::exp(-x * x);
    long double step = f / d;
    if (x >= 0 && x > 3) step = std::erfc(x) / d * std::log(std::erfc(x) / y);
    if (x < -3) step = -std::erfc(-x) / d * std::log(std::erfc(-x) / (2 - y));
    if (std::fabs(step) > 0.5L) step = std::copysign(0.5L, step);
    x += step;
  }
  return x;
}
long double erfinv_reference(long double y) {
  if (std::fabs(y) > 0.5L) return erfcinv_reference(1 - y);
  long double x = y * std::sqrt(pi) / 2;
  for (int i = 0; i < 12; ++i) x -= (std::erf(x) - y) * std::sqrt(pi) / 2 * std::exp(x * x);
  return x;
}

using quad = __float128;
quad quad_exp(quad x) {
  const int n = static_cast<int>(static_cast<double>(x) / 0.0078125);
  const quad r = x - quad(n) * quad(0.0078125);
  quad t = 1, s = 1, base = 1, term = 1;
  for (int k = 1; k < 30; ++k) s += t = t * r / k;
  for (int k = 1; k < 30; ++k) base += term = term * quad(0.0078125) / k;
  for (int k = 0; k < std::abs(n); ++k) s = n > 0 ? s * base : s / base;
  return s;
}
quad quad_log(long double x) {
  const quad y = std::log(x), e = quad_exp(y);
  return y + 2 * (quad(x) - e) / (quad(x) + e);
}
long double bessel_reference(long double x, int order, bool second) {
  const quad z = -quad(x) * quad(x) / 4;
  quad t = order == 0 ? quad(1) : quad(x) / 2, j = t, h = order == 0 ? quad(0) : quad(1), s = t * h;
  for (int k = 1; k < 120; ++k) {
    t = t * z / (quad(k) * quad(k + order));
    j += t;
    h += 1 / quad(k) + 1 / quad(k + order);
    s += t * h;
  }
  if (!second) return static_cast<long double>(j);
  const quad gamma = quad(0.57721566490153286060651209008240243L) + quad(-2.2e-20) * 0, p = quad(pi);
  const quad y = (2 * (quad_log(x / 2) + gamma) * j - s - (order == 1 ? 2 / quad(x) : quad(0))) / p;
  return static_cast<long double>(y);
}

TEST(DeviceMathDouble, Exponentials) {
  ONE(double, exp, 1, -745, 709.7, std::exp(x));
  ONE(double, exp2, 1, -1074, 1023.9, std::exp2(x));
  ONE(double, exp10, 1, -323, 308.2, exp10l(x));
  ONE(double, expm1, 1, -50, 709, std::expm1(x));
  ONE(double, log, 1, 0, 1e308, std::log(x));
  ONE(double, log, 1, 0.5, 2, std::log(x));
  ONE(double, log2, 1, 0, 1e308, std::log2(x));
  ONE(double, log2, 1, 0.5, 2, std::log2(x));
  ONE(double, log10, 1, 0, 1e308, std::log10(x));
  ONE(double, log10, 1, 0.5, 2, std::log10(x));
  ONE(double, log1p, 1, -0.9999, 1e300, std::log1p(x));
  ONE(double, log1p, 1, -0.9, 2, std::log1p(x));
  TWO(double, pow, 2, 0, 1000, -100, 100, std::pow(x, y));
  TWO(double, pow, 2, 0.9, 1.1, -5000, 5000, std::pow(x, y));
  ONE(double, sinh, 2, -710, 710, std::sinh(x));
  ONE(double, sinh, 2, -2, 2, std::sinh(x));
  ONE(double, cosh, 1, -710, 710, std::cosh(x));
  ONE(double, tanh, 1, -20, 20, std::tanh(x));
  ONE(double, asinh, 3, -1e300, 1e300, std::asinh(x));
  ONE(double, asinh, 3, -3, 3, std::asinh(x));
  ONE(double, acosh, 3, 1, 1e10, std::acosh(x));
  ONE(double, acosh, 3, 1, 2, std::acosh(x));
  ONE(double, atanh, 2, -0.99999999, 0.99999999, std::atanh(x));
}
TEST(DeviceMathDouble, Trigonometric) {
  ONE(double, sin, 2, -100, 100, std::sin(x));
  ONE(double, cos, 2, -100, 100, std::cos(x));
  ONE(double, tan, 2, -100, 100, std::tan(x));
  ONE(double, sin, 2, -1e300, 1e300, std::sin(x));
  ONE(double, cos, 2, -1e300, 1e300, std::cos(x));
  ONE(double, tan, 2, -1e300, 1e300, std::tan(x));
  ONE(double, sin, 2, -1e7, 1e7, std::sin(x));
  ONE(double, sinpi, 2, -1000, 1000, sinpi_reference(x));
  ONE(double, cospi, 2, -1000, 1000, cospi_reference(x));
  ONE(double, asin, 2, -1, 1, std::asin(x));
  ONE(double, acos, 2, -1, 1, std::acos(x));
  ONE(double, atan, 2, -1e10, 1e10, std::atan(x));
  ONE(double, atan, 2, -3, 3, std::atan(x));
  TWO(double, atan2, 2, -10, 10, -10, 10, std::atan2(x, y));
  TWO(double, atan2, 2, -1e300, 1e300, -1e300, 1e300, std::atan2(x, y));
}
TEST(DeviceMathDouble, Roots) {
  ONE(double, rsqrt, 1, 0, 1e300, 1 / std::sqrt(x));
  ONE(double, cbrt, 1, -1e300, 1e300, std::cbrt(x));
  ONE(double, rcbrt, 1, -1e300, 1e300, 1 / std::cbrt(x));
  TWO(double, hypot, 2, -1e300, 1e300, -1e300, 1e300, std::hypot(x, y));
  TWO(double, rhypot, 1, -1e300, 1e300, -1e300, 1e300, 1 / std::hypot(x, y));
}
TEST(DeviceMathDouble, Special) {
  ONE(double, erf, 2, -6, 6, std::erf(x));
  ONE(double, erfc, 5, -6, 26.5, std::erfc(x));
  ONE(double, erfcx, 4, -20, 25, (std::erfc(x) * std::exp(x * x)));
  samples = 1000;
  ONE(double, erfinv, 5, -1, 1, erfinv_reference(x));
  ONE(double, erfcinv, 6, 0, 2, erfcinv_reference(x));
  samples = 20000;
  ONE(double, normcdf, 5, -37, 8, 0.5L * std::erfc(-x / std::sqrt(2.0L)));
  samples = 1000;
  ONE(double, normcdfinv, 8, 1e-300, 0.999999, -std::sqrt(2.0L) * erfcinv_reference(2 * x));
  samples = 20000;
  ONE(double, tgamma, 10, -20, 171, std::tgamma(x));
  ONE(double, lgamma, 4, 0, 1e6, std::lgamma(x));
  ONE(double, lgamma, 4, 0, 12, std::lgamma(x));
  ONE(double, lgamma, 4, -2.26, 0, std::lgamma(x));
  samples = 500;
  ONE(double, j0, 7, -8, 8, bessel_reference(std::fabs(x), 0, false));
  ONE(double, j1, 7, 0, 8, bessel_reference(x, 1, false));
  ONE(double, y0, 7, 1e-300, 8, bessel_reference(x, 0, true));
  ONE(double, y1, 7, 1e-290, 8, bessel_reference(x, 1, true));
  samples = 5000;
  ONE(double, cyl_bessel_i0, 6, -700, 700, std::cyl_bessel_i(0.0L, std::fabs(x)));
  ONE(double, cyl_bessel_i1, 6, 0, 700, std::cyl_bessel_i(1.0L, x));
  samples = 20000;
  double worst = 0;
  for (double x = 8; x < 1000; x += 0.37) {
    worst = std::max({worst, std::fabs(__mr_j0(x) - j0(x)), std::fabs(__mr_j1(x) - j1(x)),
                      std::fabs(__mr_y0(x) - y0(x)), std::fabs(__mr_y1(x) - y1(x))});
    for (int n : {2, 7, 40}) worst = std::max(worst, std::fabs(__mr_jn(n, x) - jn(n, x)));
  }
  std::printf("Bessel functions above 8: absolute error %g\n", worst);
  EXPECT_LE(worst, 5e-12);
}
TEST(DeviceMathFloat, All) {
  ONE(float, expf, 1, -103, 88.7, std::exp(x));
  ONE(float, exp2f, 2, -149, 127.9, std::exp2(x));
  ONE(float, exp10f, 2, -44, 38.5, exp10l(x));
  ONE(float, expm1f, 1, -50, 88, std::expm1(x));
  ONE(float, logf, 1, 0, 1e38, std::log(x));
  ONE(float, logf, 1, 0.5, 2, std::log(x));
  ONE(float, log2f, 1, 0, 1e38, std::log2(x));
  ONE(float, log2f, 1, 0.5, 2, std::log2(x));
  ONE(float, log10f, 2, 0, 1e38, std::log10(x));
  ONE(float, log1pf, 1, -0.999, 1e30, std::log1p(x));
  TWO(float, powf, 4, 0, 100, -20, 20, std::pow(x, y));
  ONE(float, sinhf, 3, -89, 89, std::sinh(x));
  ONE(float, coshf, 2, -89, 89, std::cosh(x));
  ONE(float, tanhf, 2, -10, 10, std::tanh(x));
  ONE(float, asinhf, 3, -1e38, 1e38, std::asinh(x));
  ONE(float, acoshf, 4, 1, 1e38, std::acosh(x));
  ONE(float, atanhf, 3, -0.99999, 0.99999, std::atanh(x));
  ONE(float, sinf, 2, -100, 100, std::sin(x));
  ONE(float, cosf, 2, -100, 100, std::cos(x));
  ONE(float, tanf, 4, -100, 100, std::tan(x));
  ONE(float, sinf, 2, -3e38, 3e38, std::sin(x));
  ONE(float, cosf, 2, -3e38, 3e38, std::cos(x));
  ONE(float, tanf, 4, -3e38, 3e38, std::tan(x));
  ONE(float, sinpif, 1, -1000, 1000, sinpi_reference(x));
  ONE(float, cospif, 1, -1000, 1000, cospi_reference(x));
  ONE(float, asinf, 2, -1, 1, std::asin(x));
  ONE(float, acosf, 2, -1, 1, std::acos(x));
  ONE(float, atanf, 2, -1e10, 1e10, std::atan(x));
  TWO(float, atan2f, 3, -10, 10, -10, 10, std::atan2(x, y));
  ONE(float, rsqrtf, 2, 0, 3e38, 1 / std::sqrt(x));
  ONE(float, cbrtf, 1, -3e38, 3e38, std::cbrt(x));
  ONE(float, rcbrtf, 1, -3e38, 3e38, 1 / std::cbrt(x));
  TWO(float, hypotf, 3, -3e38, 3e38, -3e38, 3e38, std::hypot(x, y));
  TWO(float, rhypotf, 2, -3e38, 3e38, -3e38, 3e38, 1 / std::hypot(x, y));
  ONE(float, erff, 2, -4, 4, std::erf(x));
  ONE(float, erfcf, 4, -4, 10, std::erfc(x));
  ONE(float, erfcxf, 4, -9, 25, (std::erfc(x) * std::exp(x * x)));
  samples = 1000;
  ONE(float, erfinvf, 2, -1, 1, erfinv_reference(x));
  ONE(float, erfcinvf, 4, 1e-38, 2, erfcinv_reference(x));
  samples = 20000;
  ONE(float, normcdff, 5, -14, 5, 0.5L * std::erfc(-x / std::sqrt(2.0L)));
  samples = 1000;
  ONE(float, normcdfinvf, 5, 1e-38, 0.9999, -std::sqrt(2.0L) * erfcinv_reference(2 * x));
  samples = 20000;
  ONE(float, tgammaf, 5, -10, 35, std::tgamma(x));
  ONE(float, lgammaf, 6, 0, 1e6, std::lgamma(x));
  samples = 500;
  ONE(float, j0f, 9, 0, 8, bessel_reference(x, 0, false));
  ONE(float, y1f, 9, 1e-30, 8, bessel_reference(x, 1, true));
  samples = 20000;
}

// The exact functions give the bits of the C library's.
template <class T> bool same(T a, T b) { return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0; }
template <class T> T random_bits(std::mt19937_64& r) {
  static const T special[] = {0,
                              -T(0),
                              1,
                              -1,
                              T(0.5),
                              T(1.5),
                              T(2.5),
                              T(-2.5),
                              std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity(),
                              std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::denorm_min(),
                              std::numeric_limits<T>::max(),
                              std::numeric_limits<T>::min(),
                              T(0.49999999999999994)};
  if (r() % 8 == 0) return special[r() % std::size(special)];
  std::uint64_t b = r();
  T v;
  if (r() % 2 == 0) return static_cast<T>(static_cast<std::int64_t>(b)) / static_cast<T>(1ull << r() % 63);
  std::memcpy(&v, &b, sizeof v);
  return v;
}
TEST(DeviceMathExact, DoubleBits) {
  std::mt19937_64 r(7);
  for (int i = 0; i < 300000; ++i) {
    const double x = random_bits<double>(r), y = random_bits<double>(r);
    const int n = static_cast<int>(r() % 5000) - 2500;
    int e = 0, f = 0, p = 0, q = 0;
    double w = 0, v = 0;
    ASSERT_TRUE(same(__mr_round(x), std::round(x))) << x;
    ASSERT_TRUE(same(__mr_fmod(x, y), std::fmod(x, y))) << x << " " << y;
    // The C library loses the sign of a zero remainder of denormals.
    const double rest = std::remainder(x, y);
    ASSERT_TRUE(same(__mr_remainder(x, y), rest) || (rest == 0 && same(__mr_remainder(x, y), std::copysign(0.0, x))))
        << x << " " << y;
    const double a = __mr_remquo(x, y, &p), b = std::remquo(x, y, &q);
    ASSERT_TRUE((same(a, b) || (a == 0 && b == 0)) && ((p ^ q) & 7) == 0) << x << " " << y << " " << p << " " << q;
    ASSERT_TRUE(same(__mr_frexp(x, &e), std::frexp(x, &f)) && (e == f || !std::isfinite(x))) << x;
    ASSERT_TRUE(same(__mr_modf(x, &w), std::modf(x, &v)) && same(w, v)) << x;
    ASSERT_TRUE(same(__mr_scalbn(x, n), std::scalbn(x, n))) << x << " " << n;
    ASSERT_TRUE(same(__mr_nextafter(x, y), std::nextafter(x, y))) << x << " " << y;
    ASSERT_TRUE(same(__mr_logb(x), std::logb(x))) << x;
    ASSERT_TRUE(x == 0 || !std::isfinite(x) || __mr_ilogb(x) == std::ilogb(x)) << x;
    ASSERT_TRUE(same(__mr_fdim(x, y), std::fdim(x, y))) << x << " " << y;
    ASSERT_TRUE(x == y || same(__mr_fmin(x, y), std::fmin(x, y))) << x << " " << y;
    ASSERT_TRUE(x == y || same(__mr_fmax(x, y), std::fmax(x, y))) << x << " " << y;
  }
}
TEST(DeviceMathExact, FloatBits) {
  std::mt19937_64 r(8);
  for (int i = 0; i < 300000; ++i) {
    const float x = random_bits<float>(r), y = random_bits<float>(r);
    const int n = static_cast<int>(r() % 700) - 350;
    int e = 0, f = 0;
    float w = 0, v = 0;
    ASSERT_TRUE(same(__mr_roundf(x), std::round(x))) << x;
    ASSERT_TRUE(same(__mr_fmodf(x, y), std::fmod(x, y))) << x << " " << y;
    const float rest = std::remainder(x, y);
    ASSERT_TRUE(same(__mr_remainderf(x, y), rest) || (rest == 0 && same(__mr_remainderf(x, y), std::copysign(0.0f, x))))
        << x << " " << y;
    ASSERT_TRUE(same(__mr_frexpf(x, &e), std::frexp(x, &f)) && (e == f || !std::isfinite(x))) << x;
    ASSERT_TRUE(same(__mr_modff(x, &w), std::modf(x, &v)) && same(w, v)) << x;
    ASSERT_TRUE(same(__mr_scalbnf(x, n), std::scalbn(x, n))) << x << " " << n;
    ASSERT_TRUE(same(__mr_nextafterf(x, y), std::nextafter(x, y))) << x << " " << y;
    ASSERT_TRUE(same(__mr_logbf(x), std::logb(x))) << x;
  }
}
// Powers of special arguments, as C's Annex F has them.
TEST(DeviceMathExact, PowSpecials) {
  const double v[] = {0.0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, INFINITY, -INFINITY, NAN, 1e300, -1e300, 5e-324};
  for (double x : v)
    for (double y : v) {
      EXPECT_TRUE(same(__mr_pow(x, y), std::pow(x, y)) ||
                  error(__mr_pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))) < 1)
          << x << " ^ " << y << " = " << __mr_pow(x, y);
      EXPECT_EQ(std::isnan(__mr_powf(static_cast<float>(x), static_cast<float>(y))),
                std::isnan(std::pow(static_cast<float>(x), static_cast<float>(y))))
          << x << " " << y;
      EXPECT_TRUE(same(__mr_atan2(x, y), std::atan2(x, y)) ||
                  error(__mr_atan2(x, y), std::atan2(static_cast<long double>(x), static_cast<long double>(y))) < 1)
          << x << " " << y;
      EXPECT_TRUE(same(__mr_hypot(x, y), std::hypot(x, y)) ||
                  error(__mr_hypot(x, y), std::hypot(static_cast<long double>(x), static_cast<long double>(y))) < 1)
          << x << " " << y;
    }
}

}  // namespace
