// cuda::std::expected and unexpected: a value, or the error that took its place. Trivially copyable and destructible
// when both types are, so that kernels take them as arguments. Where the standard library throws bad_expected_access,
// the program ends.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {
namespace std {

struct unexpect_t {
  explicit unexpect_t() = default;
};
inline constexpr unexpect_t unexpect{};

template <class E> class unexpected {
 public:
  template <class G = E, class = ::std::enable_if_t<!::std::is_same_v<::std::decay_t<G>, unexpected> &&
                                                    ::std::is_constructible_v<E, G>>>
  __MR_CUM constexpr explicit unexpected(G&& e) : error_(static_cast<G&&>(e)) {}
  template <class... A> __MR_CUM constexpr explicit unexpected(in_place_t, A&&... a) : error_(static_cast<A&&>(a)...) {}
  __MR_CUM constexpr E& error() & noexcept { return error_; }
  __MR_CUM constexpr const E& error() const& noexcept { return error_; }
  __MR_CUM constexpr E&& error() && noexcept { return static_cast<E&&>(error_); }
  friend __MR_CUM constexpr bool operator==(const unexpected& a, const unexpected& b) { return a.error_ == b.error_; }
  friend __MR_CUM constexpr bool operator!=(const unexpected& a, const unexpected& b) { return !(a == b); }

 private:
  E error_;
};
template <class E> unexpected(E) -> unexpected<E>;

namespace __mr_expected {

struct nothing {};  // the value of expected<void, E>

template <class T, class E> union either {
  T value;
  E error;
  __MR_CUM either() {}
  template <class... A> __MR_CUM constexpr either(in_place_t, A&&... a) : value(static_cast<A&&>(a)...) {}
  template <class... A> __MR_CUM constexpr either(unexpect_t, A&&... a) : error(static_cast<A&&>(a)...) {}
  either(const either&) = default;
  either& operator=(const either&) = default;
  ~either() = default;
};
template <class T, class E> union either_destroyed {
  T value;
  E error;
  __MR_CUM either_destroyed() {}
  template <class... A> __MR_CUM constexpr either_destroyed(in_place_t, A&&... a) : value(static_cast<A&&>(a)...) {}
  template <class... A> __MR_CUM constexpr either_destroyed(unexpect_t, A&&... a) : error(static_cast<A&&>(a)...) {}
  __MR_CUM ~either_destroyed() {}
};

template <class T, class E>
inline constexpr bool plain = ::std::is_trivially_copyable_v<T> && ::std::is_trivially_copyable_v<E>;

template <class T, class E, bool Plain = plain<T, E>> struct storage {
  either<T, E> u;
  bool has;
  __MR_CUM constexpr storage() : u(in_place), has(true) {}
  template <class... A> __MR_CUM constexpr storage(in_place_t t, A&&... a) : u(t, static_cast<A&&>(a)...), has(true) {}
  template <class... A> __MR_CUM constexpr storage(unexpect_t t, A&&... a) : u(t, static_cast<A&&>(a)...), has(false) {}
};
template <class T, class E> struct storage<T, E, false> {
  either_destroyed<T, E> u;
  bool has;
  __MR_CUM storage() : u(in_place), has(true) {}
  template <class... A> __MR_CUM storage(in_place_t t, A&&... a) : u(t, static_cast<A&&>(a)...), has(true) {}
  template <class... A> __MR_CUM storage(unexpect_t t, A&&... a) : u(t, static_cast<A&&>(a)...), has(false) {}
  __MR_CUM storage(const storage& o) : has(o.has) {
    if (has)
      ::new ((void*)&u.value) T(o.u.value);
    else
      ::new ((void*)&u.error) E(o.u.error);
  }
  __MR_CUM storage(storage&& o) : has(o.has) {
    if (has)
      ::new ((void*)&u.value) T(static_cast<T&&>(o.u.value));
    else
      ::new ((void*)&u.error) E(static_cast<E&&>(o.u.error));
  }
  __MR_CUM storage& operator=(const storage& o) {
    if (this == &o) return *this;
    clear();
    return *::new ((void*)this) storage(o);
  }
  __MR_CUM storage& operator=(storage&& o) {
    if (this == &o) return *this;
    clear();
    return *::new ((void*)this) storage(static_cast<storage&&>(o));
  }
  __MR_CUM ~storage() { clear(); }
  __MR_CUM void clear() {
    if (has)
      u.value.~T();
    else
      u.error.~E();
  }
};

}  // namespace __mr_expected

template <class T, class E> class expected {
  static constexpr bool is_void = ::std::is_void_v<T>;
  typedef ::std::conditional_t<is_void, __mr_expected::nothing, T> stored;
  template <class U>
  static constexpr bool converts = !is_void && !::std::is_same_v<::std::decay_t<U>, expected> &&
                                   !::std::is_same_v<::std::decay_t<U>, in_place_t> &&
                                   !::std::is_same_v<::std::decay_t<U>, unexpected<E>> &&
                                   ::std::is_constructible_v<stored, U>;

 public:
  typedef T value_type;
  typedef E error_type;
  typedef unexpected<E> unexpected_type;

  expected() = default;
  template <class U = stored, class = ::std::enable_if_t<converts<U>>>
  __MR_CUM constexpr expected(U&& v) : s_(in_place, static_cast<U&&>(v)) {}
  template <class G> __MR_CUM constexpr expected(const unexpected<G>& e) : s_(unexpect, e.error()) {}
  template <class G> __MR_CUM constexpr expected(unexpected<G>&& e) : s_(unexpect, static_cast<G&&>(e.error())) {}
  template <class... A> __MR_CUM constexpr explicit expected(in_place_t t, A&&... a) : s_(t, static_cast<A&&>(a)...) {}
  template <class... A> __MR_CUM constexpr explicit expected(unexpect_t t, A&&... a) : s_(t, static_cast<A&&>(a)...) {}

  __MR_CUM constexpr bool has_value() const noexcept { return s_.has; }
  __MR_CUM constexpr explicit operator bool() const noexcept { return s_.has; }
  __MR_CUM constexpr stored& operator*() & noexcept { return s_.u.value; }
  __MR_CUM constexpr const stored& operator*() const& noexcept { return s_.u.value; }
  __MR_CUM constexpr stored&& operator*() && noexcept { return static_cast<stored&&>(s_.u.value); }
  __MR_CUM constexpr stored* operator->() noexcept { return &s_.u.value; }
  __MR_CUM constexpr const stored* operator->() const noexcept { return &s_.u.value; }
  template <class V = stored> __MR_CUM constexpr ::std::conditional_t<is_void, void, V&> value() & {
    if (!s_.has) __mr_detail::fail();
    if constexpr (!is_void) return s_.u.value;
  }
  template <class V = stored> __MR_CUM constexpr ::std::conditional_t<is_void, void, const V&> value() const& {
    if (!s_.has) __mr_detail::fail();
    if constexpr (!is_void) return s_.u.value;
  }
  template <class V = stored> __MR_CUM constexpr ::std::conditional_t<is_void, void, V&&> value() && {
    if (!s_.has) __mr_detail::fail();
    if constexpr (!is_void) return static_cast<V&&>(s_.u.value);
  }
  __MR_CUM constexpr E& error() & noexcept { return s_.u.error; }
  __MR_CUM constexpr const E& error() const& noexcept { return s_.u.error; }
  __MR_CUM constexpr E&& error() && noexcept { return static_cast<E&&>(s_.u.error); }
  template <class U> __MR_CUM constexpr stored value_or(U&& other) const {
    return s_.has ? s_.u.value : static_cast<stored>(static_cast<U&&>(other));
  }
  template <class U = E> __MR_CUM constexpr E error_or(U&& other) const {
    return s_.has ? static_cast<E>(static_cast<U&&>(other)) : s_.u.error;
  }

  template <class F> __MR_CUM constexpr auto and_then(F&& f) const {
    if constexpr (is_void) {
      typedef decltype(f()) R;
      return s_.has ? f() : R(unexpect, s_.u.error);
    } else {
      typedef decltype(f(s_.u.value)) R;
      return s_.has ? f(s_.u.value) : R(unexpect, s_.u.error);
    }
  }
  template <class F> __MR_CUM constexpr auto or_else(F&& f) const {
    typedef decltype(f(s_.u.error)) R;
    if constexpr (is_void)
      return s_.has ? R() : f(s_.u.error);
    else
      return s_.has ? R(in_place, s_.u.value) : f(s_.u.error);
  }
  template <class F> __MR_CUM constexpr auto transform(F&& f) const {
    if constexpr (is_void) {
      typedef expected<decltype(f()), E> R;
      return s_.has ? R(f()) : R(unexpect, s_.u.error);
    } else {
      typedef expected<decltype(f(s_.u.value)), E> R;
      return s_.has ? R(f(s_.u.value)) : R(unexpect, s_.u.error);
    }
  }
  template <class F> __MR_CUM constexpr auto transform_error(F&& f) const {
    typedef expected<T, decltype(f(s_.u.error))> R;
    if constexpr (is_void)
      return s_.has ? R() : R(unexpect, f(s_.u.error));
    else
      return s_.has ? R(in_place, s_.u.value) : R(unexpect, f(s_.u.error));
  }

  friend __MR_CUM constexpr bool operator==(const expected& a, const expected& b) {
    if (a.s_.has != b.s_.has) return false;
    if (!a.s_.has) return a.s_.u.error == b.s_.u.error;
    if constexpr (is_void)
      return true;
    else
      return a.s_.u.value == b.s_.u.value;
  }
  friend __MR_CUM constexpr bool operator!=(const expected& a, const expected& b) { return !(a == b); }
  template <class U, class = ::std::enable_if_t<converts<const U&>>>
  friend __MR_CUM constexpr bool operator==(const expected& a, const U& b) {
    return a.s_.has && a.s_.u.value == b;
  }
  friend __MR_CUM constexpr bool operator==(const expected& a, const unexpected<E>& b) {
    return !a.s_.has && a.s_.u.error == b.error();
  }

 private:
  __mr_expected::storage<stored, E> s_;
};

}  // namespace std
}  // namespace cuda
