// cuda::std::array: std::array's interface with functions for host and device in every language mode.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {
namespace std {

template <class T, size_t N> struct array {
  typedef T value_type;
  typedef T& reference;
  typedef const T& const_reference;
  typedef T* pointer;
  typedef const T* const_pointer;
  typedef T* iterator;
  typedef const T* const_iterator;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;

  T __mr_elements[N == 0 ? 1 : N];

  __MR_CUM constexpr T* data() noexcept { return __mr_elements; }
  __MR_CUM constexpr const T* data() const noexcept { return __mr_elements; }
  __MR_CUM constexpr iterator begin() noexcept { return __mr_elements; }
  __MR_CUM constexpr const_iterator begin() const noexcept { return __mr_elements; }
  __MR_CUM constexpr iterator end() noexcept { return __mr_elements + N; }
  __MR_CUM constexpr const_iterator end() const noexcept { return __mr_elements + N; }
  __MR_CUM constexpr const_iterator cbegin() const noexcept { return __mr_elements; }
  __MR_CUM constexpr const_iterator cend() const noexcept { return __mr_elements + N; }
  __MR_CUM constexpr size_t size() const noexcept { return N; }
  __MR_CUM constexpr size_t max_size() const noexcept { return N; }
  __MR_CUM constexpr bool empty() const noexcept { return N == 0; }
  __MR_CUM constexpr T& operator[](size_t i) noexcept { return __mr_elements[i]; }
  __MR_CUM constexpr const T& operator[](size_t i) const noexcept { return __mr_elements[i]; }
  __MR_CUM constexpr T& at(size_t i) {
    if (i >= N) __mr_detail::fail();
    return __mr_elements[i];
  }
  __MR_CUM constexpr const T& at(size_t i) const {
    if (i >= N) __mr_detail::fail();
    return __mr_elements[i];
  }
  __MR_CUM constexpr T& front() noexcept { return __mr_elements[0]; }
  __MR_CUM constexpr const T& front() const noexcept { return __mr_elements[0]; }
  __MR_CUM constexpr T& back() noexcept { return __mr_elements[N - 1]; }
  __MR_CUM constexpr const T& back() const noexcept { return __mr_elements[N - 1]; }
  __MR_CUM constexpr void fill(const T& v) {
    for (size_t i = 0; i < N; ++i) __mr_elements[i] = v;
  }
  __MR_CUM constexpr void swap(array& o) {
    for (size_t i = 0; i < N; ++i) {
      T t = static_cast<T&&>(__mr_elements[i]);
      __mr_elements[i] = static_cast<T&&>(o.__mr_elements[i]);
      o.__mr_elements[i] = static_cast<T&&>(t);
    }
  }

  friend __MR_CUM constexpr bool operator==(const array& a, const array& b) {
    for (size_t i = 0; i < N; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }
  friend __MR_CUM constexpr bool operator<(const array& a, const array& b) {
    for (size_t i = 0; i < N; ++i) {
      if (a[i] < b[i]) return true;
      if (b[i] < a[i]) return false;
    }
    return false;
  }
  friend __MR_CUM constexpr bool operator!=(const array& a, const array& b) { return !(a == b); }
  friend __MR_CUM constexpr bool operator>(const array& a, const array& b) { return b < a; }
  friend __MR_CUM constexpr bool operator<=(const array& a, const array& b) { return !(b < a); }
  friend __MR_CUM constexpr bool operator>=(const array& a, const array& b) { return !(a < b); }
  friend __MR_CUM constexpr void swap(array& a, array& b) { a.swap(b); }
};
#if __cplusplus >= 201703L
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
#endif

template <size_t I, class T, size_t N> __MR_CU constexpr T& get(array<T, N>& a) noexcept {
  static_assert(I < N, "index out of range");
  return a[I];
}
template <size_t I, class T, size_t N> __MR_CU constexpr const T& get(const array<T, N>& a) noexcept {
  static_assert(I < N, "index out of range");
  return a[I];
}
template <size_t I, class T, size_t N> __MR_CU constexpr T&& get(array<T, N>&& a) noexcept {
  static_assert(I < N, "index out of range");
  return static_cast<T&&>(a[I]);
}

}  // namespace std
}  // namespace cuda

template <class T, std::size_t N>
struct std::tuple_size<cuda::std::array<T, N>> : std::integral_constant<std::size_t, N> {};
template <std::size_t I, class T, std::size_t N> struct std::tuple_element<I, cuda::std::array<T, N>> {
  typedef T type;
};
