// cuda::std::span, in every language mode.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_array.h"

namespace cuda {
namespace std {

inline constexpr size_t dynamic_extent = (size_t)-1;

template <class T, size_t N = dynamic_extent> class span;

namespace __mr_span {
template <size_t N> struct extent {
  __MR_CUM constexpr extent(size_t) {}
  __MR_CUM constexpr size_t get() const { return N; }
};
template <> struct extent<dynamic_extent> {
  size_t n;
  __MR_CUM constexpr extent(size_t v) : n(v) {}
  __MR_CUM constexpr size_t get() const { return n; }
};
template <class T> struct is_span : ::std::false_type {};
template <class T, size_t N> struct is_span<span<T, N>> : ::std::true_type {};
template <class T> struct is_array : ::std::is_array<T> {};
template <class T, size_t N> struct is_array<array<T, N>> : ::std::true_type {};
// Qualification conversions only.
template <class From, class To> inline constexpr bool converts = ::std::is_convertible<From (*)[], To (*)[]>::value;
}  // namespace __mr_span

template <class T, size_t N> class span {
 public:
  typedef T element_type;
  typedef ::std::remove_cv_t<T> value_type;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef T* pointer;
  typedef const T* const_pointer;
  typedef T& reference;
  typedef const T& const_reference;
  typedef T* iterator;
  static constexpr size_t extent = N;

  template <size_t M = N, class = ::std::enable_if_t<M == 0 || M == dynamic_extent>>
  __MR_CUM constexpr span() noexcept : data_(nullptr), size_(0) {}
  __MR_CUM constexpr span(T* p, size_t n) : data_(p), size_(n) {}
  __MR_CUM constexpr span(T* first, T* last) : data_(first), size_((size_t)(last - first)) {}
  template <size_t M, class = ::std::enable_if_t<N == dynamic_extent || N == M>>
  __MR_CUM constexpr span(T (&a)[M]) noexcept : data_(a), size_(M) {}
  template <class U, size_t M, class = ::std::enable_if_t<(N == dynamic_extent || N == M) && __mr_span::converts<U, T>>>
  __MR_CUM constexpr span(array<U, M>& a) noexcept : data_(a.data()), size_(M) {}
  template <class U, size_t M,
            class = ::std::enable_if_t<(N == dynamic_extent || N == M) && __mr_span::converts<const U, T>>>
  __MR_CUM constexpr span(const array<U, M>& a) noexcept : data_(a.data()), size_(M) {}
  template <
      class U, size_t M,
      class = ::std::enable_if_t<(N == dynamic_extent || M == dynamic_extent || N == M) && __mr_span::converts<U, T>>>
  __MR_CUM constexpr span(const span<U, M>& s) noexcept : data_(s.data()), size_(s.size()) {}
  // Containers with data() and size().
  template <class C, class D = ::std::remove_cv_t<::std::remove_reference_t<C>>,
            class = ::std::enable_if_t<
                !__mr_span::is_span<D>::value && !__mr_span::is_array<D>::value &&
                __mr_span::converts<::std::remove_pointer_t<decltype(::std::declval<C&>().data())>, T>>,
            class = decltype(::std::declval<C&>().size())>
  __MR_CUM constexpr span(C&& c) : data_(c.data()), size_(c.size()) {}
  span(const span&) noexcept = default;
  span& operator=(const span&) noexcept = default;

  __MR_CUM constexpr T* data() const noexcept { return data_; }
  __MR_CUM constexpr size_t size() const noexcept { return size_.get(); }
  __MR_CUM constexpr size_t size_bytes() const noexcept { return size() * sizeof(T); }
  __MR_CUM constexpr bool empty() const noexcept { return size() == 0; }
  __MR_CUM constexpr T& operator[](size_t i) const { return data_[i]; }
  __MR_CUM constexpr T& front() const { return data_[0]; }
  __MR_CUM constexpr T& back() const { return data_[size() - 1]; }
  __MR_CUM constexpr T* begin() const noexcept { return data_; }
  __MR_CUM constexpr T* end() const noexcept { return data_ + size(); }

  template <size_t M> __MR_CUM constexpr span<T, M> first() const { return span<T, M>(data_, M); }
  __MR_CUM constexpr span<T> first(size_t n) const { return {data_, n}; }
  template <size_t M> __MR_CUM constexpr span<T, M> last() const { return span<T, M>(data_ + (size() - M), M); }
  __MR_CUM constexpr span<T> last(size_t n) const { return {data_ + (size() - n), n}; }
  template <size_t O, size_t M = dynamic_extent> __MR_CUM constexpr auto subspan() const {
    constexpr size_t E = M != dynamic_extent ? M : N != dynamic_extent ? N - O : dynamic_extent;
    return span<T, E>(data_ + O, M != dynamic_extent ? M : size() - O);
  }
  __MR_CUM constexpr span<T> subspan(size_t o, size_t n = dynamic_extent) const {
    return {data_ + o, n == dynamic_extent ? size() - o : n};
  }

 private:
  T* data_;
  [[no_unique_address]] __mr_span::extent<N> size_;
};
#if __cplusplus >= 201703L
template <class T, size_t N> span(T (&)[N]) -> span<T, N>;
template <class T, size_t N> span(array<T, N>&) -> span<T, N>;
template <class T, size_t N> span(const array<T, N>&) -> span<const T, N>;
template <class T> span(T*, size_t) -> span<T>;

template <class T, size_t N> __MR_CU auto as_bytes(span<T, N> s) noexcept {
  return span<const byte>(reinterpret_cast<const byte*>(s.data()), s.size_bytes());
}
template <class T, size_t N> __MR_CU auto as_writable_bytes(span<T, N> s) noexcept {
  return span<byte>(reinterpret_cast<byte*>(s.data()), s.size_bytes());
}
#endif

}  // namespace std
}  // namespace cuda
