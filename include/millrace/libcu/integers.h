// Integers, as <cuda/cmath>, <cuda/bit> and <cuda/numeric> have them: logarithms and powers of two, roots, fields of
// bits, arithmetic that tells whether it overflowed.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "extended.h"
#include "std_bit.h"

namespace cuda {

// ---- <cuda/cmath>

template <class T> __MR_CU constexpr ::std::make_unsigned_t<T> uabs(T v) noexcept {
  typedef ::std::make_unsigned_t<T> U;
  return v < 0 ? (U)(U{0} - (U)v) : (U)v;
}
template <class T> __MR_CU constexpr T neg(T v) noexcept { return (T)(::std::make_unsigned_t<T>{0} - v); }
template <class T> __MR_CU constexpr bool is_power_of_two(T v) noexcept {
  return v > 0 && std::has_single_bit((::std::make_unsigned_t<T>)v);
}
template <class T> __MR_CU constexpr T next_power_of_two(T v) noexcept {
  return (T)std::bit_ceil((::std::make_unsigned_t<T>)v);
}
template <class T> __MR_CU constexpr T prev_power_of_two(T v) noexcept {
  return (T)std::bit_floor((::std::make_unsigned_t<T>)v);
}
template <class T> __MR_CU constexpr int ilog2(T v) noexcept {
  return std::bit_width((::std::make_unsigned_t<T>)v) - 1;
}
template <class T> __MR_CU constexpr int ceil_ilog2(T v) noexcept { return v <= 1 ? 0 : ilog2((T)(v - 1)) + 1; }
template <class T> __MR_CU constexpr int ilog10(T v) noexcept {
  int n = 0;
  for (; v >= 10; v /= 10) ++n;
  return n;
}
template <class T> __MR_CU constexpr T isqrt(T v) noexcept {
  T root = 0;
  for (T bit = (T)((T)1 << (ilog2((T)(v | 1)) / 2)); bit != 0; bit = (T)(bit >> 1)) {
    const T next = (T)(root | bit);
    if (next <= v / next) root = next;
  }
  return root;
}
__MR_CU constexpr unsigned mul_hi(unsigned a, unsigned b) noexcept {
  return (unsigned)((unsigned long long)a * b >> 32);
}
__MR_CU constexpr unsigned long long mul_hi(unsigned long long a, unsigned long long b) noexcept {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}

// ---- <cuda/bit>

template <class T> __MR_CU constexpr T bit_reverse(T v) noexcept {
  T r = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) r = (T)(r << 1 | (v >> i & 1));
  return r;
}
// `width` ones from the bit `start` on.
template <class T = unsigned> __MR_CU constexpr T bitmask(int start, int width) noexcept {
  const T ones = width >= (int)sizeof(T) * 8 ? (T) ~(T)0 : (T)(((T)1 << width) - 1);
  return start >= (int)sizeof(T) * 8 ? (T)0 : (T)(ones << start);
}
template <class T> __MR_CU constexpr T bitfield_insert(T into, T value, int start, int width) noexcept {
  const T mask = bitmask<T>(start, width);
  return (T)((into & (T)~mask) | ((T)(value << start) & mask));
}
template <class T> __MR_CU constexpr T bitfield_extract(T value, int start, int width) noexcept {
  return (T)((value & bitmask<T>(start, width)) >> start);
}

// ---- <cuda/numeric>

template <class T> struct overflow_result {
  T value;
  bool overflow;
  __MR_CUM constexpr explicit operator bool() const noexcept { return overflow; }
};
#define __MR_OVERFLOW(name, builtin)                                                                                   \
  template <class R = void, class T, class U,                                                                          \
            class V = ::std::conditional_t<::std::is_void_v<R>, typename ::std::common_type<T, U>::type, R>>           \
  __MR_CU constexpr overflow_result<V> name(T a, U b) noexcept {                                                       \
    overflow_result<V> r{};                                                                                            \
    r.overflow = builtin(a, b, &r.value);                                                                              \
    return r;                                                                                                          \
  }                                                                                                                    \
  template <class R, class T, class U> __MR_CU constexpr bool name(R& result, T a, U b) noexcept {                     \
    return builtin(a, b, &result);                                                                                     \
  }
__MR_OVERFLOW(add_overflow, __builtin_add_overflow)
__MR_OVERFLOW(sub_overflow, __builtin_sub_overflow)
__MR_OVERFLOW(mul_overflow, __builtin_mul_overflow)
#undef __MR_OVERFLOW
template <class To, class From> __MR_CU constexpr overflow_result<To> overflow_cast(From v) noexcept {
  overflow_result<To> r{};
  r.overflow = __builtin_add_overflow(v, 0, &r.value);
  return r;
}

}  // namespace cuda
