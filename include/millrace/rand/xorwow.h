// XORWOW (Marsaglia, "Xorshift RNGs", 2003): 160 bits stepped by shifts and exclusive-ors, plus a Weyl sequence.
#pragma once

#include "state.h"
#include "xorwow_jumps.h"

struct curandStateXORWOW : __mr_rand::Spare {
  unsigned int d, v[5];
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

namespace __mr_rand {

__MR_D void step(unsigned (&v)[5]) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
// Steps n times, or n times 2^67: for each digit of n the sum of the powers of a step that its polynomial names.
__MR_D_BIG void jump(unsigned (&v)[5], unsigned long long n, bool subsequences) {
  for (unsigned j = 0; n != 0; ++j, n >>= 4) {
    const unsigned digit = (unsigned)n & 15;
    if (digit == 0) continue;
    unsigned sum[5] = {0, 0, 0, 0, 0};
    for (unsigned w = 0; w < 5; ++w) {
      unsigned terms = __mr_xorwow_jumps[subsequences][j][digit - 1][w];
      for (unsigned bit = 0; bit < 32; ++bit, terms >>= 1) {
        const unsigned takes = 0u - (terms & 1);
        for (unsigned k = 0; k < 5; ++k) sum[k] ^= v[k] & takes;
        step(v);
      }
    }
    for (unsigned k = 0; k < 5; ++k) v[k] = sum[k];
  }
}

}  // namespace __mr_rand

__MR_D unsigned int curand(curandStateXORWOW_t* state) {
  __mr_rand::step(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}
// Leaves out the next `n` numbers.
__MR_D void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  __mr_rand::jump(state->v, n, false);
  state->d += 362437 * (unsigned)n;
}
// Leaves out 2^67 numbers `n` times; the Weyl sequence is where it was then.
__MR_D void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) { __mr_rand::jump(state->v, n, true); }
__MR_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStateXORWOW_t* state) {
  const unsigned a = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
  const unsigned b = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
  state->d = 6615241u + a + b;
  state->v[0] = 123456789u + a;
  state->v[1] = 362436069u ^ a;
  state->v[2] = 521288629u + b;
  state->v[3] = 88675123u ^ b;
  state->v[4] = 5783321u + a;
  state->forget();
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
