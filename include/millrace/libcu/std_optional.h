// cuda::std::optional: std::optional's interface (C++17 with C++23's monadic functions) for host and device. Trivially
// copyable, so that it can be a kernel's argument, when its value is.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {
namespace std {

struct nullopt_t {
  struct __mr_tag {};
  __MR_CUM explicit constexpr nullopt_t(__mr_tag) {}
};
inline constexpr nullopt_t nullopt{nullopt_t::__mr_tag{}};

template <class T> class optional;

namespace __mr_optional {

template <class T> struct is_optional : ::std::false_type {};
template <class T> struct is_optional<optional<T>> : ::std::true_type {};

// Storage, with a destructor only where the value needs one.
template <class T, bool = ::std::is_trivially_destructible<T>::value> struct storage {
  union {
    char none;
    T value;
  };
  bool has;
  __MR_CUM constexpr storage() : none(0), has(false) {}
  template <class... A> __MR_CUM constexpr storage(in_place_t, A&&... a) : value(static_cast<A&&>(a)...), has(true) {}
  __MR_CUM void clear() { has = false; }
};
template <class T> struct storage<T, false> {
  union {
    char none;
    T value;
  };
  bool has;
  __MR_CUM constexpr storage() : none(0), has(false) {}
  template <class... A> __MR_CUM constexpr storage(in_place_t, A&&... a) : value(static_cast<A&&>(a)...), has(true) {}
  __MR_CUM ~storage() { clear(); }
  __MR_CUM void clear() {
    if (has) value.~T();
    has = false;
  }
};
// Copying: trivial where the value's is.
template <class T, bool = ::std::is_trivially_copyable<T>::value> struct copying : storage<T> {
  using storage<T>::storage;
};
template <class T> struct copying<T, false> : storage<T> {
  using storage<T>::storage;
  copying() = default;
  __MR_CUM copying(const copying& o) : storage<T>() {
    if (o.has) construct(o.value);
  }
  __MR_CUM copying(copying&& o) : storage<T>() {
    if (o.has) construct(static_cast<T&&>(o.value));
  }
  __MR_CUM copying& operator=(const copying& o) {
    if (this != &o) assign(o.has, o.value);
    return *this;
  }
  __MR_CUM copying& operator=(copying&& o) {
    if (this != &o) assign(o.has, static_cast<T&&>(o.value));
    return *this;
  }

 private:
  template <class U> __MR_CUM void construct(U&& v) {
    ::new ((void*)&this->value) T(static_cast<U&&>(v));
    this->has = true;
  }
  template <class U> __MR_CUM void assign(bool has, U&& v) {
    if (!has)
      this->clear();
    else if (this->has)
      this->value = static_cast<U&&>(v);
    else
      construct(static_cast<U&&>(v));
  }
};

}  // namespace __mr_optional

template <class T> class optional : __mr_optional::copying<T> {
  typedef __mr_optional::copying<T> base;

 public:
  typedef T value_type;

  constexpr optional() = default;
  __MR_CUM constexpr optional(nullopt_t) {}
  template <class... A, class = ::std::enable_if_t<::std::is_constructible<T, A...>::value>>
  __MR_CUM constexpr explicit optional(in_place_t t, A&&... a) : base(t, static_cast<A&&>(a)...) {}
  template <class U = T, class D = ::std::decay_t<U>,
            class = ::std::enable_if_t<::std::is_constructible<T, U&&>::value && !::std::is_same<D, optional>::value &&
                                       !::std::is_same<D, in_place_t>::value && !::std::is_same<D, nullopt_t>::value &&
                                       !__mr_optional::is_optional<D>::value>>
  __MR_CUM constexpr optional(U&& v) : base(in_place, static_cast<U&&>(v)) {}
  template <class U,
            class = ::std::enable_if_t<::std::is_constructible<T, const U&>::value && !::std::is_same<U, T>::value>>
  __MR_CUM constexpr optional(const optional<U>& o) {
    if (o) emplace(*o);
  }

  __MR_CUM optional& operator=(nullopt_t) {
    reset();
    return *this;
  }
  template <class U = T, class D = ::std::decay_t<U>,
            class = ::std::enable_if_t<::std::is_constructible<T, U>::value && !__mr_optional::is_optional<D>::value &&
                                       !::std::is_same<D, nullopt_t>::value>>
  __MR_CUM optional& operator=(U&& v) {
    if (this->has)
      this->value_() = static_cast<U&&>(v);
    else
      emplace(static_cast<U&&>(v));
    return *this;
  }

  __MR_CUM constexpr bool has_value() const noexcept { return this->has; }
  __MR_CUM constexpr explicit operator bool() const noexcept { return this->has; }
  __MR_CUM constexpr T& operator*() & noexcept { return value_(); }
  __MR_CUM constexpr const T& operator*() const& noexcept { return value_(); }
  __MR_CUM constexpr T&& operator*() && noexcept { return static_cast<T&&>(value_()); }
  __MR_CUM constexpr T* operator->() noexcept { return &value_(); }
  __MR_CUM constexpr const T* operator->() const noexcept { return &value_(); }
  __MR_CUM constexpr T& value() & {
    if (!this->has) __mr_detail::fail();
    return value_();
  }
  __MR_CUM constexpr const T& value() const& {
    if (!this->has) __mr_detail::fail();
    return value_();
  }
  __MR_CUM constexpr T&& value() && {
    if (!this->has) __mr_detail::fail();
    return static_cast<T&&>(value_());
  }
  template <class U> __MR_CUM constexpr T value_or(U&& other) const& {
    return this->has ? value_() : static_cast<T>(static_cast<U&&>(other));
  }
  template <class U> __MR_CUM constexpr T value_or(U&& other) && {
    return this->has ? static_cast<T&&>(value_()) : static_cast<T>(static_cast<U&&>(other));
  }
  __MR_CUM void reset() noexcept { this->clear(); }
  template <class... A> __MR_CUM T& emplace(A&&... a) {
    this->clear();
    ::new ((void*)&value_()) T(static_cast<A&&>(a)...);
    this->has = true;
    return value_();
  }
  __MR_CUM void swap(optional& o) {
    optional t = static_cast<optional&&>(*this);
    *this = static_cast<optional&&>(o);
    o = static_cast<optional&&>(t);
  }
  template <class F> __MR_CUM constexpr auto and_then(F&& f) const {
    typedef ::std::decay_t<::std::invoke_result_t<F, const T&>> R;
    return this->has ? invoke(static_cast<F&&>(f), value_()) : R(nullopt);
  }
  template <class F> __MR_CUM constexpr auto transform(F&& f) const {
    typedef optional<::std::decay_t<::std::invoke_result_t<F, const T&>>> R;
    return this->has ? R(invoke(static_cast<F&&>(f), value_())) : R(nullopt);
  }
  template <class F> __MR_CUM constexpr optional or_else(F&& f) const {
    return this->has ? *this : static_cast<F&&>(f)();
  }

 private:
  __MR_CUM constexpr T& value_() { return base::value; }
  __MR_CUM constexpr const T& value_() const { return base::value; }
};
template <class T> optional(T) -> optional<T>;

// Comparison: nothing is below everything.
#define __MR_OPTIONAL_COMPARE(op, both, left_empty, right_empty)                                                       \
  template <class T, class U> __MR_CU constexpr bool operator op(const optional<T>& a, const optional<U>& b) {         \
    return a && b ? *a op * b : both;                                                                                  \
  }                                                                                                                    \
  template <class T, class U, class = ::std::enable_if_t<!__mr_optional::is_optional<U>::value>>                       \
  __MR_CU constexpr bool operator op(const optional<T>& a, const U& b) {                                               \
    return a ? *a op b : left_empty;                                                                                   \
  }                                                                                                                    \
  template <class T, class U, class = ::std::enable_if_t<!__mr_optional::is_optional<T>::value>>                       \
  __MR_CU constexpr bool operator op(const T& a, const optional<U>& b) {                                               \
    return b ? a op * b : right_empty;                                                                                 \
  }
__MR_OPTIONAL_COMPARE(==, a.has_value() == b.has_value(), false, false)
__MR_OPTIONAL_COMPARE(!=, a.has_value() != b.has_value(), true, true)
__MR_OPTIONAL_COMPARE(<, !a.has_value() && b.has_value(), true, false)
__MR_OPTIONAL_COMPARE(>, a.has_value() && !b.has_value(), false, true)
__MR_OPTIONAL_COMPARE(<=, !a.has_value(), true, false)
__MR_OPTIONAL_COMPARE(>=, !b.has_value(), false, true)
#undef __MR_OPTIONAL_COMPARE
template <class T> __MR_CU constexpr bool operator==(const optional<T>& a, nullopt_t) { return !a; }
template <class T> __MR_CU constexpr bool operator==(nullopt_t, const optional<T>& a) { return !a; }
template <class T> __MR_CU constexpr bool operator!=(const optional<T>& a, nullopt_t) { return (bool)a; }
template <class T> __MR_CU constexpr bool operator!=(nullopt_t, const optional<T>& a) { return (bool)a; }
template <class T> __MR_CU constexpr optional<::std::decay_t<T>> make_optional(T&& v) {
  return optional<::std::decay_t<T>>(static_cast<T&&>(v));
}
template <class T, class... A> __MR_CU constexpr optional<T> make_optional(A&&... a) {
  return optional<T>(in_place, static_cast<A&&>(a)...);
}
template <class T> __MR_CU void swap(optional<T>& a, optional<T>& b) { a.swap(b); }

}  // namespace std
}  // namespace cuda
