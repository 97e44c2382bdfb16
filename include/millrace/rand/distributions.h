// Distributions over the generators: uniform in (0, 1], normal by Box and Muller's transformation, and its exponential.
#pragma once

namespace __mr_rand {

__MR_D float unit(unsigned x) { return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f); }
__MR_D double unit_double(unsigned x) { return x * 0x1p-32 + 0x1p-32; }
// Of 53 bits of two numbers.
__MR_D double unit_double(unsigned x, unsigned y) {
  const unsigned long long z = (unsigned long long)x ^ (unsigned long long)y << 21;
  return z * 0x1p-53 + 0x1p-54;
}

// Two normal numbers, of a radius and an angle.
__MR_D float2 polar(float u, float angle) {
  const float s = sqrtf(-2.0f * logf(u));
  float2 r;
  sincosf(angle, &r.x, &r.y);
  return make_float2(r.x * s, r.y * s);
}
__MR_D double2 polar(double u, double half_turns) {
  const double s = sqrt(-2.0 * log(u));
  double2 r;
  sincospi(half_turns, &r.x, &r.y);
  return make_double2(r.x * s, r.y * s);
}
constexpr float two_pi = 6.2831855f;
__MR_D float2 normal_of(unsigned x, unsigned y) {
  return polar(unit(x), __fmaf_rn((float)y, 0x1p-32f * two_pi, 0x1p-33f * two_pi));
}
__MR_D double2 normal_of(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  return polar(unit_double(x0, x1), 2.0 * unit_double(y0, y1));
}

template <class State> __MR_D float2 normal_pair(State* s) {
  const unsigned x = curand(s), y = curand(s);
  return normal_of(x, y);
}
__MR_D float2 normal_pair(curandStateMRG32k3a_t* s);
template <class State> __MR_D double2 normal_pair_double(State* s) {
  const unsigned x0 = curand(s), x1 = curand(s), y0 = curand(s), y1 = curand(s);
  return normal_of(x0, x1, y0, y1);
}
__MR_D double2 normal_pair_double(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return normal_of(x.x, x.y, x.z, x.w);
}
__MR_D double2 normal_pair_double(curandStateMRG32k3a_t* s);

}  // namespace __mr_rand

#define __MR_UNIFORM(State)                                                                                            \
  __MR_D float curand_uniform(State* s) { return __mr_rand::unit(curand(s)); }
__MR_UNIFORM(curandStateXORWOW_t)
__MR_UNIFORM(curandStatePhilox4_32_10_t)
#undef __MR_UNIFORM
__MR_D float curand_uniform(curandStateMRG32k3a_t* s) { return (float)(__mr_rand::number(s) * (1.0 / __mr_rand::m1)); }
__MR_D double curand_uniform_double(curandStateXORWOW_t* s) {
  const unsigned x = curand(s), y = curand(s);
  return __mr_rand::unit_double(x, y);
}
__MR_D double curand_uniform_double(curandStatePhilox4_32_10_t* s) { return __mr_rand::unit_double(curand(s)); }
__MR_D double curand_uniform_double(curandStateMRG32k3a_t* s) { return __mr_rand::number(s) * (1.0 / __mr_rand::m1); }

namespace __mr_rand {
__MR_D float2 normal_pair(curandStateMRG32k3a_t* s) {
  const float x = curand_uniform(s), y = curand_uniform(s) * two_pi;
  return polar(x, y);
}
__MR_D double2 normal_pair_double(curandStateMRG32k3a_t* s) {
  const double x = curand_uniform_double(s), y = curand_uniform_double(s) * 2.0;
  return polar(x, y);
}
}  // namespace __mr_rand

namespace __mr_rand {
// The number that is left of an earlier pair of this kind, or the first of a new pair, whose second is kept.
template <class State, class Pair> __MR_D float one_of_pair(State* s, int kind, Pair pair) {
  if (s->boxmuller_flag == kind) {
    s->boxmuller_flag = 0;
    return s->boxmuller_extra;
  }
  const float2 r = pair();
  s->boxmuller_extra = r.y;
  s->boxmuller_flag = kind;
  return r.x;
}
template <class State, class Pair> __MR_D double one_of_pair_double(State* s, int kind, Pair pair) {
  if (s->boxmuller_flag_double == kind) {
    s->boxmuller_flag_double = 0;
    return s->boxmuller_extra_double;
  }
  const double2 r = pair();
  s->boxmuller_extra_double = r.y;
  s->boxmuller_flag_double = kind;
  return r.x;
}
}  // namespace __mr_rand

#define __MR_NORMALS(State)                                                                                            \
  __MR_D float2 curand_normal2(State* s) { return __mr_rand::normal_pair(s); }                                         \
  __MR_D double2 curand_normal2_double(State* s) { return __mr_rand::normal_pair_double(s); }                          \
  __MR_D float2 curand_log_normal2(State* s, float mean, float deviation) {                                            \
    const float2 r = curand_normal2(s);                                                                                \
    return make_float2(expf(mean + deviation * r.x), expf(mean + deviation * r.y));                                    \
  }                                                                                                                    \
  __MR_D double2 curand_log_normal2_double(State* s, double mean, double deviation) {                                  \
    const double2 r = curand_normal2_double(s);                                                                        \
    return make_double2(exp(mean + deviation * r.x), exp(mean + deviation * r.y));                                     \
  }                                                                                                                    \
  __MR_D float curand_normal(State* s) {                                                                               \
    return __mr_rand::one_of_pair(s, __mr_rand::of_normal, [&] { return curand_normal2(s); });                         \
  }                                                                                                                    \
  __MR_D double curand_normal_double(State* s) {                                                                       \
    return __mr_rand::one_of_pair_double(s, __mr_rand::of_normal, [&] { return curand_normal2_double(s); });           \
  }                                                                                                                    \
  __MR_D float curand_log_normal(State* s, float mean, float deviation) {                                              \
    return __mr_rand::one_of_pair(s, __mr_rand::of_log_normal,                                                         \
                                  [&] { return curand_log_normal2(s, mean, deviation); });                             \
  }                                                                                                                    \
  __MR_D double curand_log_normal_double(State* s, double mean, double deviation) {                                    \
    return __mr_rand::one_of_pair_double(s, __mr_rand::of_log_normal,                                                  \
                                         [&] { return curand_log_normal2_double(s, mean, deviation); });               \
  }
__MR_NORMALS(curandStateXORWOW_t)
__MR_NORMALS(curandStatePhilox4_32_10_t)
__MR_NORMALS(curandStateMRG32k3a_t)
#undef __MR_NORMALS

// Four numbers of one counter.
__MR_D float4 curand_uniform4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_float4(__mr_rand::unit(x.x), __mr_rand::unit(x.y), __mr_rand::unit(x.z), __mr_rand::unit(x.w));
}
__MR_D double2 curand_uniform2_double(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_double2(__mr_rand::unit_double(x.x, x.y), __mr_rand::unit_double(x.z, x.w));
}
__MR_D double4 curand_uniform4_double(curandStatePhilox4_32_10_t* s) {
  const double2 a = curand_uniform2_double(s), b = curand_uniform2_double(s);
  return make_double4(a.x, a.y, b.x, b.y);
}
__MR_D float4 curand_normal4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  const float2 a = __mr_rand::normal_of(x.x, x.y), b = __mr_rand::normal_of(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
__MR_D double4 curand_normal4_double(curandStatePhilox4_32_10_t* s) {
  const double2 a = curand_normal2_double(s), b = curand_normal2_double(s);
  return make_double4(a.x, a.y, b.x, b.y);
}
__MR_D float4 curand_log_normal4(curandStatePhilox4_32_10_t* s, float mean, float deviation) {
  const float4 n = curand_normal4(s);
  return make_float4(expf(mean + deviation * n.x), expf(mean + deviation * n.y), expf(mean + deviation * n.z),
                     expf(mean + deviation * n.w));
}
__MR_D double4 curand_log_normal4_double(curandStatePhilox4_32_10_t* s, double mean, double deviation) {
  const double4 n = curand_normal4_double(s);
  return make_double4(exp(mean + deviation * n.x), exp(mean + deviation * n.y), exp(mean + deviation * n.z),
                      exp(mean + deviation * n.w));
}
