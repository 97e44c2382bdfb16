// cuda::std <bit>, in every language mode.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "common.h"

namespace cuda {
namespace std {

enum class endian { little = __ORDER_LITTLE_ENDIAN__, big = __ORDER_BIG_ENDIAN__, native = __BYTE_ORDER__ };

template <class To, class From> __MR_CU constexpr To bit_cast(const From& v) noexcept {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  return __builtin_bit_cast(To, v);
}

namespace __mr_bits {
template <class T> inline constexpr int width = (int)(sizeof(T) * 8);
template <class T>
using only_unsigned = ::std::enable_if_t<::std::is_unsigned<T>::value && !::std::is_same<T, bool>::value, int>;
}  // namespace __mr_bits

template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int popcount(T v) noexcept {
  return __builtin_popcountll((unsigned long long)v);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int countl_zero(T v) noexcept {
  return v == 0 ? __mr_bits::width<T> : __builtin_clzll((unsigned long long)v) - (64 - __mr_bits::width<T>);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int countl_one(T v) noexcept {
  return countl_zero((T)~v);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int countr_zero(T v) noexcept {
  return v == 0 ? __mr_bits::width<T> : __builtin_ctzll((unsigned long long)v);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int countr_one(T v) noexcept {
  return countr_zero((T)~v);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr int bit_width(T v) noexcept {
  return __mr_bits::width<T> - countl_zero(v);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr bool has_single_bit(T v) noexcept {
  return v != 0 && (v & (T)(v - 1)) == 0;
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr T bit_floor(T v) noexcept {
  return v == 0 ? (T)0 : (T)((T)1 << (bit_width(v) - 1));
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr T bit_ceil(T v) noexcept {
  return v <= 1 ? (T)1 : (T)((T)1 << bit_width((T)(v - 1)));
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr T rotl(T v, int n) noexcept {
  const int s = n & (__mr_bits::width<T> - 1);
  return s == 0 ? v : (T)((T)(v << s) | (T)(v >> (__mr_bits::width<T> - s)));
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr T rotr(T v, int n) noexcept {
  return rotl(v, -n);
}
template <class T, __mr_bits::only_unsigned<T> = 0> __MR_CU constexpr T byteswap(T v) noexcept {
  return sizeof(T) == 1 ? v : (T)(__builtin_bswap64((unsigned long long)v) >> (64 - __mr_bits::width<T>));
}

}  // namespace std
}  // namespace cuda
