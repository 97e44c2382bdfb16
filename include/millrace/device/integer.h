// Integer intrinsics (CUDA Math API, "Integer Intrinsics").
#pragma once
#pragma clang system_header

#include "builtins.h"

__MR_D int __popc(unsigned x) { return __builtin_popcount(x); }
__MR_D int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__MR_D int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
__MR_D int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
__MR_D int __ffs(int x) { return __builtin_ffs(x); }
__MR_D int __ffsll(long long x) { return __builtin_ffsll(x); }
__MR_D unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__MR_D unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

// Position of the n-th set bit counted from bit `base`, upwards for n > 0 and downwards for n < 0; ~0 if there is none.
__MR_D_BIG unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return base < 32 && (mask >> base & 1u) != 0 ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  int left = n > 0 ? n : -n;
  for (int i = (int)base; i >= 0 && i < 32; i += step)
    if ((mask >> i & 1u) != 0 && --left == 0) return (unsigned)i;
  return 0xffffffffu;
}

__MR_D_BIG unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = selector >> (4 * i) & 0xfu;
    unsigned b = (unsigned)(bytes >> (8 * (s & 7u))) & 0xffu;
    if ((s & 8u) != 0) b = (b & 0x80u) != 0 ? 0xffu : 0u;
    r |= b << (8 * i);
  }
  return r;
}

// Funnel shifts: the 64-bit value hi:lo shifted by `shift` modulo 32, or clamped to 32 (the _c forms).
__MR_D unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (shift & 31u) >> 32);
}
__MR_D unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32u ? lo : __funnelshift_l(lo, hi, shift);
}
__MR_D unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (shift & 31u));
}
__MR_D unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32u ? hi : __funnelshift_r(lo, hi, shift);
}

__MR_D int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__MR_D unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
__MR_D long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
__MR_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
__MR_D int mulhi(int a, int b) { return __mulhi(a, b); }
__MR_D unsigned mulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
__MR_D unsigned mulhi(int a, unsigned b) { return __umulhi((unsigned)a, b); }
__MR_D unsigned mulhi(unsigned a, int b) { return __umulhi(a, (unsigned)b); }
__MR_D long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
__MR_D unsigned long long mul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
__MR_D unsigned long long mul64hi(long long a, unsigned long long b) { return __umul64hi((unsigned long long)a, b); }
__MR_D unsigned long long mul64hi(unsigned long long a, long long b) { return __umul64hi(a, (unsigned long long)b); }

// The low 24 bits of each operand; the low 32 bits of the product.
__MR_D int __mul24(int a, int b) {
  return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
__MR_D unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
__MR_D int mul24(int a, int b) { return __mul24(a, b); }
__MR_D unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }

__MR_D unsigned __sad(int a, int b, unsigned c) {
  return (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + c;
}
__MR_D unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
__MR_D int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
__MR_D int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
__MR_D unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
__MR_D unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }

// Dot products of packed bytes (and halfwords by bytes) with accumulation, modulo 2^32.
#define __MR_DP4A(T, A, B, AV, BV)                                                                                     \
  __MR_D T __dp4a(AV a, BV b, T c) {                                                                                   \
    A p[4];                                                                                                            \
    B q[4];                                                                                                            \
    __builtin_memcpy(p, &a, 4);                                                                                        \
    __builtin_memcpy(q, &b, 4);                                                                                        \
    unsigned s = (unsigned)c;                                                                                          \
    for (int i = 0; i < 4; ++i) s += (unsigned)((int)p[i] * (int)q[i]);                                                \
    return (T)s;                                                                                                       \
  }
__MR_DP4A(int, signed char, signed char, int, int)
__MR_DP4A(int, signed char, signed char, char4, char4)
__MR_DP4A(unsigned, unsigned char, unsigned char, unsigned, unsigned)
__MR_DP4A(unsigned, unsigned char, unsigned char, uchar4, uchar4)
#define __MR_DP2A(name, first, T, A, B, AV, BV)                                                                        \
  __MR_D T name(AV a, BV b, T c) {                                                                                     \
    A p[2];                                                                                                            \
    B q[4];                                                                                                            \
    __builtin_memcpy(p, &a, 4);                                                                                        \
    __builtin_memcpy(q, &b, 4);                                                                                        \
    unsigned s = (unsigned)c;                                                                                          \
    for (int i = 0; i < 2; ++i) s += (unsigned)((int)p[i] * (int)q[first + i]);                                        \
    return (T)s;                                                                                                       \
  }
__MR_DP2A(__dp2a_lo, 0, int, short, signed char, int, int)
__MR_DP2A(__dp2a_lo, 0, int, short, signed char, short2, char4)
__MR_DP2A(__dp2a_lo, 0, unsigned, unsigned short, unsigned char, unsigned, unsigned)
__MR_DP2A(__dp2a_lo, 0, unsigned, unsigned short, unsigned char, ushort2, uchar4)
__MR_DP2A(__dp2a_hi, 2, int, short, signed char, int, int)
__MR_DP2A(__dp2a_hi, 2, int, short, signed char, short2, char4)
__MR_DP2A(__dp2a_hi, 2, unsigned, unsigned short, unsigned char, unsigned, unsigned)
__MR_DP2A(__dp2a_hi, 2, unsigned, unsigned short, unsigned char, ushort2, uchar4)

__MR_D short __nv_bswap16(unsigned short x) { return (short)__builtin_bswap16(x); }
__MR_D unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
__MR_D unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
