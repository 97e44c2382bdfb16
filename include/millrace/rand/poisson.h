// Poisson's distribution. Small means: as many uniform numbers as their product stays above exp(-mean). Large ones: the
// normal distribution. Between, cuRAND inverts an approximation of its own of the incomplete gamma function; here the
// same distribution is drawn by Hörmann's transformed rejection ("The transformed rejection method for generating
// Poisson random variables", 1993), so that single numbers differ from a GPU's.
#pragma once

namespace __mr_rand {

template <class State> __MR_D_BIG unsigned poisson_small(State* s, double mean) {
  const float enough = expf((float)mean);
  float product = 1.0f;
  unsigned k = 0;
  product = enough;
  do {
    ++k;
    product *= curand_uniform(s);
  } while (product > 1.0f);
  return k - 1;
}
template <class State> __MR_D_BIG unsigned poisson_between(State* s, double mean) {
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double scale = 1.1239 + 1.1328 / (b - 3.4), v_most = 0.9277 - 3.6224 / (b - 2), log_mean = log(mean);
  for (;;) {
    const double u = curand_uniform(s) - 0.5, v = curand_uniform(s), us = 0.5 - fabs(u);
    if (us <= 0) continue;
    const double k = floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_most) return (unsigned)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v * scale / (a / (us * us) + b)) <= k * log_mean - mean - lgamma(k + 1)) return (unsigned)k;
  }
}
template <class State> __MR_D_BIG unsigned poisson(State* s, double mean) {
  if (mean < 64) return poisson_small(s, mean);
  if (mean > 4000) return (unsigned)((sqrt(mean) * curand_normal_double(s)) + mean + 0.5);
  return poisson_between(s, mean);
}

}  // namespace __mr_rand

__MR_D unsigned int curand_poisson(curandStateXORWOW_t* s, double mean) { return __mr_rand::poisson(s, mean); }
__MR_D unsigned int curand_poisson(curandStatePhilox4_32_10_t* s, double mean) { return __mr_rand::poisson(s, mean); }
__MR_D unsigned int curand_poisson(curandStateMRG32k3a_t* s, double mean) { return __mr_rand::poisson(s, mean); }
__MR_D uint4 curand_poisson4(curandStatePhilox4_32_10_t* s, double mean) {
  const unsigned a = curand_poisson(s, mean), b = curand_poisson(s, mean);
  const unsigned c = curand_poisson(s, mean), d = curand_poisson(s, mean);
  return make_uint4(a, b, c, d);
}
