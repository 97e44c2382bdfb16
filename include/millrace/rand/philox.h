// Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011): four numbers are a keyed
// function of a 128-bit counter. The upper half of the counter is the subsequence.
#pragma once

#include "state.h"

struct curandStatePhilox4_32_10 : __mr_rand::Spare {
  uint4 ctr, output;  // the counter, and the numbers that it gives
  uint2 key;
  unsigned int STATE;  // how many of them are used
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

namespace __mr_rand {

__MR_D uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long x = 0xD2511F53ull * c.x, z = 0xCD9E8D57ull * c.z;
    c = make_uint4((unsigned)(z >> 32) ^ c.y ^ key.x, (unsigned)z, (unsigned)(x >> 32) ^ c.w ^ key.y, (unsigned)x);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return c;
}
// Adds n to the lower half of a counter, with carry, or to the upper half.
__MR_D void count(uint4& c, unsigned long long n) {
  const unsigned long long low = ((unsigned long long)c.y << 32 | c.x) + n;
  c.x = (unsigned)low;
  c.y = (unsigned)(low >> 32);
  if (low < n && ++c.z == 0) ++c.w;
}
__MR_D void count_subsequences(uint4& c, unsigned long long n) {
  const unsigned long long high = ((unsigned long long)c.w << 32 | c.z) + n;
  c.z = (unsigned)high;
  c.w = (unsigned)(high >> 32);
}

}  // namespace __mr_rand

__MR_D unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned used = state->STATE++;
  const uint4 o = state->output;
  if (used == 3) {
    __mr_rand::count(state->ctr, 1);
    state->output = __mr_rand::philox(state->ctr, state->key);
    state->STATE = 0;
  }
  return used == 0 ? o.x : used == 1 ? o.y : used == 2 ? o.z : o.w;
}
// The next four numbers.
__MR_D uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 o = state->output;
  __mr_rand::count(state->ctr, 1);
  const uint4 p = state->output = __mr_rand::philox(state->ctr, state->key);
  switch (state->STATE) {
  case 0: return o;
  case 1: return make_uint4(o.y, o.z, o.w, p.x);
  case 2: return make_uint4(o.z, o.w, p.x, p.y);
  default: return make_uint4(o.w, p.x, p.y, p.z);
  }
}
__MR_D void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  state->STATE += (unsigned)n & 3;
  n /= 4;
  if (state->STATE > 3) {
    ++n;
    state->STATE -= 4;
  }
  __mr_rand::count(state->ctr, n);
  state->output = __mr_rand::philox(state->ctr, state->key);
}
__MR_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  __mr_rand::count_subsequences(state->ctr, n);
  state->output = __mr_rand::philox(state->ctr, state->key);
}
__MR_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                        curandStatePhilox4_32_10_t* state) {
  state->ctr = make_uint4(0, 0, 0, 0);
  state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  state->STATE = 0;
  state->forget();
  __mr_rand::count_subsequences(state->ctr, subsequence);
  skipahead(offset, state);
}
