// Warp operations without a mask, which CUDA removed for architectures from sm_70 on, for the sources of old programs:
// as if all lanes of the warp took part. Lanes that are elsewhere in the program are waited for, where old GPUs left
// them out.
#pragma once
#pragma clang system_header

#include "warp.h"

template <class T>
__MR_D __attribute__((convergent)) auto __shfl(T value, int source, int width = 32)
    -> decltype(__shfl_sync(0xffffffffu, value, source, width)) {
  return __shfl_sync(0xffffffffu, value, source, width);
}
template <class T>
__MR_D __attribute__((convergent)) auto __shfl_up(T value, unsigned delta, int width = 32)
    -> decltype(__shfl_up_sync(0xffffffffu, value, delta, width)) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <class T>
__MR_D __attribute__((convergent)) auto __shfl_down(T value, unsigned delta, int width = 32)
    -> decltype(__shfl_down_sync(0xffffffffu, value, delta, width)) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
template <class T>
__MR_D __attribute__((convergent)) auto __shfl_xor(T value, int lanes, int width = 32)
    -> decltype(__shfl_xor_sync(0xffffffffu, value, lanes, width)) {
  return __shfl_xor_sync(0xffffffffu, value, lanes, width);
}
__MR_D __attribute__((convergent)) int __any(int predicate) { return __any_sync(0xffffffffu, predicate); }
__MR_D __attribute__((convergent)) int __all(int predicate) { return __all_sync(0xffffffffu, predicate); }
__MR_D __attribute__((convergent)) unsigned __ballot(int predicate) { return __ballot_sync(0xffffffffu, predicate); }
