// Warp operations (programming guide, "Warp Shuffle Functions", "Warp Vote Functions", "Warp Match Functions", "Warp
// Reduce Functions"). Every lane that the mask names must execute the same operation with the same mask.
#pragma once
#pragma clang system_header

#include "builtins.h"

// Moves any trivially copyable value of up to 8 bytes; `mode` is abi.h's MrShuffle.
template <class T>
__MR_D __attribute__((convergent)) T __mr_shuffle_value(unsigned mask, unsigned mode, T value, unsigned operand,
                                                        int width) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = __mr_shuffle(mask, mode, bits, operand, (unsigned)width, nullptr);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

#define __MR_SHUFFLES(T)                                                                                               \
  __MR_D __attribute__((convergent)) T __shfl_sync(unsigned mask, T value, int source, int width = 32) {               \
    return __mr_shuffle_value<T>(mask, 0, value, (unsigned)source, width);                                             \
  }                                                                                                                    \
  __MR_D __attribute__((convergent)) T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {        \
    return __mr_shuffle_value<T>(mask, 1, value, delta, width);                                                        \
  }                                                                                                                    \
  __MR_D __attribute__((convergent)) T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {      \
    return __mr_shuffle_value<T>(mask, 2, value, delta, width);                                                        \
  }                                                                                                                    \
  __MR_D __attribute__((convergent)) T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {            \
    return __mr_shuffle_value<T>(mask, 3, value, (unsigned)lanes, width);                                              \
  }
__MR_SHUFFLES(int)
__MR_SHUFFLES(unsigned int)
__MR_SHUFFLES(long)
__MR_SHUFFLES(unsigned long)
__MR_SHUFFLES(long long)
__MR_SHUFFLES(unsigned long long)
__MR_SHUFFLES(float)
__MR_SHUFFLES(double)

__MR_D __attribute__((convergent)) unsigned __ballot_sync(unsigned mask, int predicate) {
  return __mr_ballot(mask, predicate != 0);
}
__MR_D __attribute__((convergent)) int __any_sync(unsigned mask, int predicate) {
  return __mr_ballot(mask, predicate != 0) != 0;
}
// All lanes of the mask that still run: a lane that has left takes no part, so its absence is counted from the other
// side.
__MR_D __attribute__((convergent)) int __all_sync(unsigned mask, int predicate) {
  return __mr_ballot(mask, predicate == 0) == 0;
}
__MR_D __attribute__((convergent)) int __uni_sync(unsigned mask, int predicate) {
  int equal;
  __mr_match(mask, 1, (unsigned long)(predicate != 0), &equal);
  return equal;
}
__MR_D __attribute__((convergent)) unsigned __activemask() { return __mr_activemask(); }

#define __MR_MATCHES(T)                                                                                                \
  __MR_D __attribute__((convergent)) unsigned __match_any_sync(unsigned mask, T value) {                               \
    unsigned long bits = 0;                                                                                            \
    __builtin_memcpy(&bits, &value, sizeof(T));                                                                        \
    return __mr_match(mask, 0, bits, nullptr);                                                                         \
  }                                                                                                                    \
  __MR_D __attribute__((convergent)) unsigned __match_all_sync(unsigned mask, T value, int* predicate) {               \
    unsigned long bits = 0;                                                                                            \
    int equal;                                                                                                         \
    __builtin_memcpy(&bits, &value, sizeof(T));                                                                        \
    unsigned lanes = __mr_match(mask, 1, bits, &equal);                                                                \
    *predicate = equal;                                                                                                \
    return lanes;                                                                                                      \
  }
__MR_MATCHES(int)
__MR_MATCHES(unsigned int)
__MR_MATCHES(long)
__MR_MATCHES(unsigned long)
__MR_MATCHES(long long)
__MR_MATCHES(unsigned long long)
__MR_MATCHES(float)
__MR_MATCHES(double)

// `op` is abi.h's MrReduce.
__MR_D __attribute__((convergent)) unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 0, value);
}
__MR_D __attribute__((convergent)) int __reduce_add_sync(unsigned mask, int value) {
  return (int)__mr_reduce(mask, 0, (unsigned)value);
}
__MR_D __attribute__((convergent)) unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 1, value);
}
__MR_D __attribute__((convergent)) unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 2, value);
}
__MR_D __attribute__((convergent)) int __reduce_min_sync(unsigned mask, int value) {
  return (int)__mr_reduce(mask, 3, (unsigned)value);
}
__MR_D __attribute__((convergent)) int __reduce_max_sync(unsigned mask, int value) {
  return (int)__mr_reduce(mask, 4, (unsigned)value);
}
__MR_D __attribute__((convergent)) unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 5, value);
}
__MR_D __attribute__((convergent)) unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 6, value);
}
__MR_D __attribute__((convergent)) unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return __mr_reduce(mask, 7, value);
}
