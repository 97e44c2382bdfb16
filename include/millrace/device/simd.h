// SIMD within a 32-bit word: two halfwords or four bytes (CUDA Math API, "SIMD Intrinsics").
#pragma once
#pragma clang system_header

#include "builtins.h"

// Applies `expression` of the lanes x and y (and z) to every field of N bits; S reads fields as signed.
#define __MR_SIMD_FIELD_S(v, i, N) ((int)((v) << (32 - N - (i))) >> (32 - N))
#define __MR_SIMD_FIELD_U(v, i, N) ((int)((v) >> (i) & ((1u << N) - 1u)))
#define __MR_SIMD2(name, N, sign, expression)                                                                          \
  __MR_D unsigned name(unsigned a, unsigned b) {                                                                       \
    unsigned r = 0;                                                                                                    \
    for (int i = 0; i < 32; i += N) {                                                                                  \
      const int x = __MR_SIMD_FIELD_##sign(a, i, N), y = __MR_SIMD_FIELD_##sign(b, i, N);                              \
      r |= ((unsigned)(expression) & ((1u << N) - 1u)) << i;                                                           \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
#define __MR_SIMD1(name, N, sign, expression)                                                                          \
  __MR_D unsigned name(unsigned a) {                                                                                   \
    unsigned r = 0;                                                                                                    \
    for (int i = 0; i < 32; i += N) {                                                                                  \
      const int x = __MR_SIMD_FIELD_##sign(a, i, N);                                                                   \
      r |= ((unsigned)(expression) & ((1u << N) - 1u)) << i;                                                           \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
#define __MR_SIMD3(name, N, sign, expression)                                                                          \
  __MR_D unsigned name(unsigned a, unsigned b, unsigned c) {                                                           \
    unsigned r = 0;                                                                                                    \
    for (int i = 0; i < 32; i += N) {                                                                                  \
      const int x = __MR_SIMD_FIELD_##sign(a, i, N), y = __MR_SIMD_FIELD_##sign(b, i, N),                              \
                z = __MR_SIMD_FIELD_##sign(c, i, N);                                                                   \
      r |= ((unsigned)(expression) & ((1u << N) - 1u)) << i;                                                           \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
// Sum over the fields instead of a packed result.
#define __MR_SIMD_SUM(name, N, sign, expression)                                                                       \
  __MR_D unsigned name(unsigned a, unsigned b) {                                                                       \
    unsigned r = 0;                                                                                                    \
    for (int i = 0; i < 32; i += N) {                                                                                  \
      const int x = __MR_SIMD_FIELD_##sign(a, i, N), y = __MR_SIMD_FIELD_##sign(b, i, N);                              \
      r += (unsigned)(expression);                                                                                     \
    }                                                                                                                  \
    return r;                                                                                                          \
  }
#define __MR_CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

#define __MR_SIMD_FAMILY(K, N)                                                                                         \
  __MR_SIMD2(__vadd##K, N, U, x + y)                                                                                   \
  __MR_SIMD2(__vsub##K, N, U, x - y)                                                                                   \
  __MR_SIMD2(__vaddss##K, N, S, __MR_CLAMP(x + y, -(1 << (N - 1)), (1 << (N - 1)) - 1))                                \
  __MR_SIMD2(__vaddus##K, N, U, __MR_CLAMP(x + y, 0, (1 << N) - 1))                                                    \
  __MR_SIMD2(__vsubss##K, N, S, __MR_CLAMP(x - y, -(1 << (N - 1)), (1 << (N - 1)) - 1))                                \
  __MR_SIMD2(__vsubus##K, N, U, __MR_CLAMP(x - y, 0, (1 << N) - 1))                                                    \
  __MR_SIMD1(__vabs##K, N, S, x < 0 ? -x : x)                                                                          \
  __MR_SIMD1(__vabsss##K, N, S, __MR_CLAMP(x < 0 ? -x : x, 0, (1 << (N - 1)) - 1))                                     \
  __MR_SIMD1(__vneg##K, N, S, -x)                                                                                      \
  __MR_SIMD1(__vnegss##K, N, S, __MR_CLAMP(-x, -(1 << (N - 1)), (1 << (N - 1)) - 1))                                   \
  __MR_SIMD2(__vabsdiffs##K, N, S, x < y ? y - x : x - y)                                                              \
  __MR_SIMD2(__vabsdiffu##K, N, U, x < y ? y - x : x - y)                                                              \
  __MR_SIMD2(__vavgs##K, N, S, (x + y + (x + y >= 0)) >> 1)                                                            \
  __MR_SIMD2(__vavgu##K, N, U, (x + y + 1) >> 1)                                                                       \
  __MR_SIMD2(__vhaddu##K, N, U, (x + y) >> 1)                                                                          \
  __MR_SIMD2(__vmaxs##K, N, S, x > y ? x : y)                                                                          \
  __MR_SIMD2(__vmaxu##K, N, U, x > y ? x : y)                                                                          \
  __MR_SIMD2(__vmins##K, N, S, x < y ? x : y)                                                                          \
  __MR_SIMD2(__vminu##K, N, U, x < y ? x : y)                                                                          \
  __MR_SIMD2(__vcmpeq##K, N, U, x == y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vcmpne##K, N, U, x != y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vcmpges##K, N, S, x >= y ? -1 : 0)                                                                      \
  __MR_SIMD2(__vcmpgeu##K, N, U, x >= y ? -1 : 0)                                                                      \
  __MR_SIMD2(__vcmpgts##K, N, S, x > y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vcmpgtu##K, N, U, x > y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vcmples##K, N, S, x <= y ? -1 : 0)                                                                      \
  __MR_SIMD2(__vcmpleu##K, N, U, x <= y ? -1 : 0)                                                                      \
  __MR_SIMD2(__vcmplts##K, N, S, x < y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vcmpltu##K, N, U, x < y ? -1 : 0)                                                                       \
  __MR_SIMD2(__vseteq##K, N, U, x == y)                                                                                \
  __MR_SIMD2(__vsetne##K, N, U, x != y)                                                                                \
  __MR_SIMD2(__vsetges##K, N, S, x >= y)                                                                               \
  __MR_SIMD2(__vsetgeu##K, N, U, x >= y)                                                                               \
  __MR_SIMD2(__vsetgts##K, N, S, x > y)                                                                                \
  __MR_SIMD2(__vsetgtu##K, N, U, x > y)                                                                                \
  __MR_SIMD2(__vsetles##K, N, S, x <= y)                                                                               \
  __MR_SIMD2(__vsetleu##K, N, U, x <= y)                                                                               \
  __MR_SIMD2(__vsetlts##K, N, S, x < y)                                                                                \
  __MR_SIMD2(__vsetltu##K, N, U, x < y)                                                                                \
  __MR_SIMD_SUM(__vsads##K, N, S, x < y ? y - x : x - y)                                                               \
  __MR_SIMD_SUM(__vsadu##K, N, U, x < y ? y - x : x - y)
__MR_SIMD_FAMILY(2, 16)
__MR_SIMD_FAMILY(4, 8)

// Three-operand minimum and maximum, and addition before them; the _relu forms clamp at zero.
#define __MR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define __MR_MAX(a, b) ((a) > (b) ? (a) : (b))
__MR_SIMD3(__vimax3_s16x2, 16, S, __MR_MAX(__MR_MAX(x, y), z))
__MR_SIMD3(__vimax3_u16x2, 16, U, __MR_MAX(__MR_MAX(x, y), z))
__MR_SIMD3(__vimin3_s16x2, 16, S, __MR_MIN(__MR_MIN(x, y), z))
__MR_SIMD3(__vimin3_u16x2, 16, U, __MR_MIN(__MR_MIN(x, y), z))
__MR_SIMD3(__vimax3_s16x2_relu, 16, S, __MR_MAX(__MR_MAX(__MR_MAX(x, y), z), 0))
__MR_SIMD3(__vimin3_s16x2_relu, 16, S, __MR_MAX(__MR_MIN(__MR_MIN(x, y), z), 0))
__MR_SIMD2(__vimax_s16x2_relu, 16, S, __MR_MAX(__MR_MAX(x, y), 0))
__MR_SIMD2(__vimin_s16x2_relu, 16, S, __MR_MAX(__MR_MIN(x, y), 0))
__MR_SIMD3(__viaddmax_s16x2, 16, S, __MR_MAX((short)(x + y), z))
__MR_SIMD3(__viaddmax_u16x2, 16, U, __MR_MAX((int)(unsigned short)(x + y), z))
__MR_SIMD3(__viaddmin_s16x2, 16, S, __MR_MIN((short)(x + y), z))
__MR_SIMD3(__viaddmin_u16x2, 16, U, __MR_MIN((int)(unsigned short)(x + y), z))
__MR_SIMD3(__viaddmax_s16x2_relu, 16, S, __MR_MAX(__MR_MAX((short)(x + y), z), 0))
__MR_SIMD3(__viaddmin_s16x2_relu, 16, S, __MR_MAX(__MR_MIN((short)(x + y), z), 0))

__MR_HD int __vimax3_s32(int a, int b, int c) { return __MR_MAX(__MR_MAX(a, b), c); }
__MR_HD int __vimin3_s32(int a, int b, int c) { return __MR_MIN(__MR_MIN(a, b), c); }
__MR_HD unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c) { return __MR_MAX(__MR_MAX(a, b), c); }
__MR_HD unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return __MR_MIN(__MR_MIN(a, b), c); }
__MR_HD int __vimax3_s32_relu(int a, int b, int c) { return __MR_MAX(__vimax3_s32(a, b, c), 0); }
__MR_HD int __vimin3_s32_relu(int a, int b, int c) { return __MR_MAX(__vimin3_s32(a, b, c), 0); }
__MR_HD int __vimax_s32_relu(int a, int b) { return __MR_MAX(__MR_MAX(a, b), 0); }
__MR_HD int __vimin_s32_relu(int a, int b) { return __MR_MAX(__MR_MIN(a, b), 0); }
__MR_HD int __viaddmax_s32(int a, int b, int c) { return __MR_MAX((int)((unsigned)a + (unsigned)b), c); }
__MR_HD int __viaddmin_s32(int a, int b, int c) { return __MR_MIN((int)((unsigned)a + (unsigned)b), c); }
__MR_HD unsigned __viaddmax_u32(unsigned a, unsigned b, unsigned c) { return __MR_MAX(a + b, c); }
__MR_HD unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return __MR_MIN(a + b, c); }
__MR_HD int __viaddmax_s32_relu(int a, int b, int c) { return __MR_MAX(__viaddmax_s32(a, b, c), 0); }
__MR_HD int __viaddmin_s32_relu(int a, int b, int c) { return __MR_MAX(__viaddmin_s32(a, b, c), 0); }
__MR_HD int __vibmax_s32(int a, int b, bool* first) {
  *first = a >= b;
  return *first ? a : b;
}
__MR_HD int __vibmin_s32(int a, int b, bool* first) {
  *first = a <= b;
  return *first ? a : b;
}
__MR_HD unsigned __vibmax_u32(unsigned a, unsigned b, bool* first) {
  *first = a >= b;
  return *first ? a : b;
}
__MR_HD unsigned __vibmin_u32(unsigned a, unsigned b, bool* first) {
  *first = a <= b;
  return *first ? a : b;
}
// Which operand of the high and of the low halfword was taken.
#define __MR_SIMD_CHOICE(name, sign, comparison)                                                                       \
  __MR_D unsigned name(unsigned a, unsigned b, bool* high_first, bool* low_first) {                                    \
    const int x = __MR_SIMD_FIELD_##sign(a, 16, 16), y = __MR_SIMD_FIELD_##sign(b, 16, 16);                            \
    const int z = __MR_SIMD_FIELD_##sign(a, 0, 16), w = __MR_SIMD_FIELD_##sign(b, 0, 16);                              \
    *high_first = x comparison y;                                                                                      \
    *low_first = z comparison w;                                                                                       \
    return (unsigned)(*high_first ? x : y) << 16 | ((unsigned)(*low_first ? z : w) & 0xffffu);                         \
  }
__MR_SIMD_CHOICE(__vibmax_s16x2, S, >=)
__MR_SIMD_CHOICE(__vibmax_u16x2, U, >=)
__MR_SIMD_CHOICE(__vibmin_s16x2, S, <=)
__MR_SIMD_CHOICE(__vibmin_u16x2, U, <=)
