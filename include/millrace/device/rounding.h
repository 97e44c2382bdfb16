// Arithmetic with a given rounding direction (CUDA Math API, "Single/Double Precision Intrinsics": _rn, _rz, _ru, _rd).
//
// Rounding to nearest is the plain operation, but never contracted with its neighbours, as the API promises. The
// directed forms set MXCSR around one instruction inside one asm statement: right for every input, denormal and
// overflowing ones included, and free of side effects on the code around it.
#pragma once
#pragma clang system_header

#include "services.h"

// MXCSR with all exceptions masked and the rounding control of each direction.
#define __MR_MXCSR_rd 0x3f80u
#define __MR_MXCSR_ru 0x5f80u
#define __MR_MXCSR_rz 0x7f80u

#define __MR_ROUNDED(mode, text, output, ...)                                                                          \
  unsigned saved;                                                                                                      \
  const unsigned control = __MR_MXCSR_##mode;                                                                          \
  __asm__("stmxcsr %1\n\tldmxcsr %2\n\t" text "\n\tldmxcsr %1" : output, "=m"(saved) : "m"(control), __VA_ARGS__)

#define __MR_DIRECTED2(name, instruction, T)                                                                           \
  __MR_ROUND2(name, instruction, T, rz)                                                                                \
  __MR_ROUND2(name, instruction, T, ru)                                                                                \
  __MR_ROUND2(name, instruction, T, rd)
#define __MR_ROUND2(name, instruction, T, mode)                                                                        \
  __MR_D T name##_##mode(T a, T b) {                                                                                   \
    T r;                                                                                                               \
    __MR_ROUNDED(mode, instruction " %4, %3, %0", "=&x"(r), "x"(a), "x"(b));                                           \
    return r;                                                                                                          \
  }
__MR_DIRECTED2(__fadd, "vaddss", float)
__MR_DIRECTED2(__fsub, "vsubss", float)
__MR_DIRECTED2(__fmul, "vmulss", float)
__MR_DIRECTED2(__fdiv, "vdivss", float)
__MR_DIRECTED2(__dadd, "vaddsd", double)
__MR_DIRECTED2(__dsub, "vsubsd", double)
__MR_DIRECTED2(__dmul, "vmulsd", double)
__MR_DIRECTED2(__ddiv, "vdivsd", double)
#define __MR_DIRECTED1(name, instruction, T)                                                                           \
  __MR_ROUND1(name, instruction, T, rz)                                                                                \
  __MR_ROUND1(name, instruction, T, ru)                                                                                \
  __MR_ROUND1(name, instruction, T, rd)
#define __MR_ROUND1(name, instruction, T, mode)                                                                        \
  __MR_D T name##_##mode(T a) {                                                                                        \
    T r;                                                                                                               \
    __MR_ROUNDED(mode, instruction " %3, %3, %0", "=&x"(r), "x"(a));                                                   \
    return r;                                                                                                          \
  }
__MR_DIRECTED1(__fsqrt, "vsqrtss", float)
__MR_DIRECTED1(__dsqrt, "vsqrtsd", double)
#define __MR_DIRECTED3(name, instruction, T)                                                                           \
  __MR_ROUND3(name, instruction, T, rz)                                                                                \
  __MR_ROUND3(name, instruction, T, ru)                                                                                \
  __MR_ROUND3(name, instruction, T, rd)
#define __MR_ROUND3(name, instruction, T, mode)                                                                        \
  __MR_D T name##_##mode(T a, T b, T c) {                                                                              \
    T r;                                                                                                               \
    __MR_ROUNDED(mode, "vmovaps %3, %0\n\t" instruction " %5, %4, %0", "=&x"(r), "x"(c), "x"(a), "x"(b));              \
    return r;                                                                                                          \
  }
__MR_DIRECTED3(__fmaf, "vfmadd231ss", float)
__MR_DIRECTED3(__fma, "vfmadd231sd", double)
#define __MR_RECIPROCAL(mode)                                                                                          \
  __MR_D float __frcp_##mode(float a) { return __fdiv_##mode(1.0f, a); }                                               \
  __MR_D double __drcp_##mode(double a) { return __ddiv_##mode(1.0, a); }
__MR_RECIPROCAL(rz)
__MR_RECIPROCAL(ru)
__MR_RECIPROCAL(rd)

// Round to nearest, even. The pragma keeps a product and a sum of different calls apart after inlining.
#define __MR_NEAREST(suffix, prefix, T, sqrt_builtin, fma_builtin, fma_name)                                           \
  __MR_D T __##prefix##add_rn(T a, T b) { _Pragma("clang fp contract(off)") return a + b; }                            \
  __MR_D T __##prefix##sub_rn(T a, T b) { _Pragma("clang fp contract(off)") return a - b; }                            \
  __MR_D T __##prefix##mul_rn(T a, T b) { _Pragma("clang fp contract(off)") return a * b; }                            \
  __MR_D T __##prefix##div_rn(T a, T b) { return a / b; }                                                              \
  __MR_D T __##prefix##rcp_rn(T a) { return (T)1 / a; }                                                                \
  __MR_D T __##prefix##sqrt_rn(T a) { return sqrt_builtin(a); }                                                        \
  __MR_D T fma_name(T a, T b, T c) { return fma_builtin(a, b, c); }
__MR_NEAREST(f, f, float, __builtin_sqrtf, __builtin_fmaf, __fmaf_rn)
__MR_NEAREST(, d, double, __builtin_sqrt, __builtin_fma, __fma_rn)

// 1/sqrt(x), correctly rounded: in double the two roundings leave an error far below half an ulp of float, and no float
// has a reciprocal root that near to a tie.
__MR_D float __frsqrt_rn(float a) { return (float)(1.0 / __builtin_sqrt((double)a)); }

// _ieee forms: denormals are always kept here.
__MR_D float __fmaf_ieee_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__MR_D float __fmaf_ieee_rz(float a, float b, float c) { return __fmaf_rz(a, b, c); }
__MR_D float __fmaf_ieee_ru(float a, float b, float c) { return __fmaf_ru(a, b, c); }
__MR_D float __fmaf_ieee_rd(float a, float b, float c) { return __fmaf_rd(a, b, c); }
