// MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators",
// 1999): the difference of two recurrences of order three.
#pragma once

#include "state.h"

struct curandStateMRG32k3a : __mr_rand::Spare {
  unsigned int s1[3], s2[3];
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

namespace __mr_rand {

constexpr unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;

struct Matrix {
  unsigned long long m[3][3];
};
__MR_D_BIG Matrix product(const Matrix& a, const Matrix& b, unsigned long long m) {
  Matrix r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      unsigned long long sum = 0;
      for (int k = 0; k < 3; ++k) sum = (sum + a.m[i][k] * b.m[k][j] % m) % m;
      r.m[i][j] = sum;
    }
  return r;
}
// Steps a recurrence, whose step is `power`, n * 2^twice times.
__MR_D_BIG void jump(unsigned (&s)[3], Matrix power, unsigned long long m, unsigned long long n, unsigned twice) {
  if (n == 0) return;
  for (; twice != 0; --twice) power = product(power, power, m);
  for (; n != 0; n >>= 1, power = product(power, power, m)) {
    if ((n & 1) == 0) continue;
    unsigned next[3];
    for (int i = 0; i < 3; ++i) {
      unsigned long long sum = 0;
      for (int k = 0; k < 3; ++k) sum = (sum + power.m[i][k] * s[k] % m) % m;
      next[i] = (unsigned)sum;
    }
    for (int i = 0; i < 3; ++i) s[i] = next[i];
  }
}
__MR_D_BIG void jump(curandStateMRG32k3a_t* state, unsigned long long n, unsigned twice) {
  jump(state->s1, Matrix{{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}}, m1, n, twice);
  jump(state->s2, Matrix{{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}}, m2, n, twice);
}
// A number of 1 .. m1.
__MR_D double number(curandStateMRG32k3a_t* state) {
  const unsigned long long p = (1403580ull * state->s1[1] + (m1 - 810728) * state->s1[0]) % m1;
  const unsigned long long q = (527612ull * state->s2[2] + (m2 - 1370589) * state->s2[0]) % m2;
  state->s1[0] = state->s1[1];
  state->s1[1] = state->s1[2];
  state->s1[2] = (unsigned)p;
  state->s2[0] = state->s2[1];
  state->s2[1] = state->s2[2];
  state->s2[2] = (unsigned)q;
  return (double)(p > q ? p - q : p + m1 - q);
}

}  // namespace __mr_rand

__MR_D unsigned int curand(curandStateMRG32k3a_t* state) {
  return (unsigned)(__mr_rand::number(state) * (4294967296.0 / 4294967087.0));
}
__MR_D void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) { __mr_rand::jump(state, n, 0); }
__MR_D void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) { __mr_rand::jump(state, n, 76); }
__MR_D void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) { __mr_rand::jump(state, n, 127); }
__MR_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateMRG32k3a_t* state) {
  unsigned long long x = 1, y = 1;
  if (seed != 0) {
    x = (unsigned)seed ^ 0x55555555u;
    y = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
  }
  for (int i = 0; i < 3; ++i) {
    state->s1[i] = (unsigned)(12345 * (i == 1 ? y : x) % __mr_rand::m1);
    state->s2[i] = (unsigned)(12345 * (i == 1 ? x : y) % __mr_rand::m2);
  }
  state->forget();
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}
