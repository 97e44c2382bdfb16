#include <memory/level_of_gradients.h>

#include <algorithm>
#include <cmath>

namespace mr::memory {
namespace {

// The number with so many significant bits.
double cut_to(double value, int bits) noexcept {
  int exponent;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits)), exponent - bits);
}
// A fraction of a value, rounded to the value's bit of that number, halves up in magnitude.
double part_of(double value, int numerator, int denominator, int bit) noexcept {
  int exponent;
  const double fraction = std::frexp(value, &exponent) * numerator / denominator;
  return std::ldexp(std::round(std::ldexp(fraction, bit)), exponent - bit);
}

constexpr int bits_of_steps = 10;

// A step's length: an octagon instead of a circle, up to a seventeenth too long or a twentieth too short.
double length_of(double x, double y) noexcept {
  const double a = cut_to(std::fabs(x), bits_of_steps), b = cut_to(std::fabs(y), bits_of_steps);
  return std::max(a, b) + part_of(std::min(a, b), 11, 32, 12);
}

// Two steps span an ellipse, whose longer half axis it is about: where it is neither step, it is looked for half way
// between them, at 11/16 of their sum and difference.
double half_way(double x, double y) noexcept {
  return length_of(part_of(cut_to(x, bits_of_steps), 11, 16, 11), part_of(cut_to(y, bits_of_steps), 11, 16, 11));
}

// In 256ths, by a table of the fraction's first eight bits.
int logarithm(double value) noexcept {
  int exponent;
  const double fraction = std::frexp(value, &exponent) * 2;  // from 1 up to 2
  const int place = static_cast<int>((fraction - 1) * 256);
  const int entry = static_cast<int>(256 * std::log2(1 + (place + 0.47) / 256) + 0.5);
  return (exponent - 1) * 256 + (place == 0 ? 0 : std::min(entry, 255));
}

}  // namespace

float level_of_steps(const double* steps, unsigned axes) noexcept {
  if (axes > 2) {
    double longest = 0;
    for (const double* step : {steps, steps + 3})
      longest = std::max(longest, step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    return longest > 0 ? static_cast<float>(0.5 * std::log2(longest)) : 0;
  }
  double x[2], y[2];
  for (int i = 0; i < 2; ++i) {
    const auto limited = [](double step) { return std::isnan(step) ? 0 : std::clamp(step, -0x1p40, 0x1p40); };
    x[i] = cut_to(limited(steps[3 * i]), bits_of_steps);
    y[i] = axes > 1 ? cut_to(limited(steps[3 * i + 1]), bits_of_steps) : 0;
  }
  const double longest = std::max({length_of(x[0], y[0]), length_of(x[1], y[1]), half_way(x[0] + x[1], y[0] + y[1]),
                                   half_way(x[0] - x[1], y[0] - y[1])});
  return longest > 0 ? static_cast<float>(logarithm(longest)) / 256 : 0;
}

}  // namespace mr::memory
