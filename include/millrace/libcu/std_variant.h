// cuda::std::variant: std::variant's interface for host and device. Trivially copyable when all alternatives are.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {
namespace std {

inline constexpr size_t variant_npos = (size_t)-1;

struct monostate {};
__MR_CU constexpr bool operator==(monostate, monostate) noexcept { return true; }
__MR_CU constexpr bool operator!=(monostate, monostate) noexcept { return false; }
__MR_CU constexpr bool operator<(monostate, monostate) noexcept { return false; }

template <class... T> class variant;

template <class V> struct variant_size;
template <class... T> struct variant_size<variant<T...>> : ::std::integral_constant<size_t, sizeof...(T)> {};
template <class V> inline constexpr size_t variant_size_v = variant_size<V>::value;
template <size_t I, class V> struct variant_alternative;
template <size_t I, class... T>
struct variant_alternative<I, variant<T...>> : ::std::tuple_element<I, ::std::tuple<T...>> {};
template <size_t I, class V> using variant_alternative_t = typename variant_alternative<I, V>::type;

namespace __mr_variant {

template <class T, class... U> constexpr size_t index_of() {
  const bool same[] = {::std::is_same<T, U>::value...};
  for (size_t i = 0; i < sizeof...(U); ++i)
    if (same[i]) return i;
  return variant_npos;
}
// Which alternative a value converts to: overload resolution among those that do not narrow.
template <class T> struct whole {
  T x[1];
};
template <class V, class T, size_t I, class = void> struct candidate {
  static void choose();
};
template <class V, class T, size_t I>
struct candidate<V, T, I, ::std::void_t<decltype(whole<T>{{::std::declval<V>()}})>> {
  static ::std::integral_constant<size_t, I> choose(T);
};
template <class V, class Indices, class... T> struct candidates;
template <class V, size_t... I, class... T> struct candidates<V, index_sequence<I...>, T...> : candidate<V, T, I>... {
  using candidate<V, T, I>::choose...;
};
template <class V, class... T>
using chosen = decltype(candidates<V, index_sequence_for<T...>, T...>::choose(::std::declval<V>()));

template <class... T> constexpr size_t largest(size_t a = 1) {
  const size_t s[] = {a, sizeof(T)...};
  size_t r = 1;
  for (size_t v : s) r = v > r ? v : r;
  return r;
}

// Calls f with the I-th alternative at `p`, where I == index; a chain of comparisons that the optimizer turns into a
// switch.
template <class R, size_t I, class F, class... T> struct dispatch;
template <class R, size_t I, class F, class T, class... U> struct dispatch<R, I, F, T, U...> {
  static __MR_CUM constexpr R call(F& f, size_t index, void* p) {
    if constexpr (sizeof...(U) == 0) {
      return f.template operator()<I>(*static_cast<T*>(p));
    } else {
      if (index == I) return f.template operator()<I>(*static_cast<T*>(p));
      return dispatch<R, I + 1, F, U...>::call(f, index, p);
    }
  }
};

template <bool Trivial, class... T> struct storage {
  alignas(T...) unsigned char bytes[largest<T...>()];
  size_t index;
  __MR_CUM void* memory() const { return const_cast<unsigned char*>(bytes); }
  __MR_CUM void destroy() { index = variant_npos; }
};
struct copy_to {
  void* to;
  template <size_t I, class T> __MR_CUM void operator()(T& v) const { ::new (to) T(static_cast<const T&>(v)); }
};
struct move_to {
  void* to;
  template <size_t I, class T> __MR_CUM void operator()(T& v) const { ::new (to) T(static_cast<T&&>(v)); }
};
struct destroyer {
  template <size_t I, class T> __MR_CUM void operator()(T& v) const { v.~T(); }
};
template <class... T> struct storage<false, T...> {
  alignas(T...) unsigned char bytes[largest<T...>()];
  size_t index;
  storage() = default;
  __MR_CUM storage(const storage& o) { copy(o); }
  __MR_CUM storage(storage&& o) { move(o); }
  __MR_CUM storage& operator=(const storage& o) {
    if (this != &o) {
      destroy();
      copy(o);
    }
    return *this;
  }
  __MR_CUM storage& operator=(storage&& o) {
    if (this != &o) {
      destroy();
      move(o);
    }
    return *this;
  }
  __MR_CUM ~storage() { destroy(); }
  __MR_CUM void* memory() const { return const_cast<unsigned char*>(bytes); }
  __MR_CUM void destroy() {
    if (index != variant_npos) {
      destroyer d;
      dispatch<void, 0, destroyer, T...>::call(d, index, memory());
    }
    index = variant_npos;
  }

 private:
  __MR_CUM void copy(const storage& o) {
    index = o.index;
    copy_to c{memory()};
    if (index != variant_npos) dispatch<void, 0, copy_to, T...>::call(c, index, o.memory());
  }
  __MR_CUM void move(storage& o) {
    index = o.index;
    move_to c{memory()};
    if (index != variant_npos) dispatch<void, 0, move_to, T...>::call(c, index, o.memory());
  }
};

template <class T> struct is_variant : ::std::false_type {};
template <class... T> struct is_variant<variant<T...>> : ::std::true_type {};
template <class T> struct is_in_place : ::std::false_type {};
template <class T> struct is_in_place<in_place_type_t<T>> : ::std::true_type {};
template <size_t I> struct is_in_place<in_place_index_t<I>> : ::std::true_type {};

}  // namespace __mr_variant

template <class... T> class variant {
  template <size_t I> using nth = typename ::std::tuple_element<I, ::std::tuple<T...>>::type;

 public:
  __MR_CUM variant() { construct<0>(); }
  template <class V, class D = ::std::decay_t<V>,
            class = ::std::enable_if_t<!__mr_variant::is_variant<D>::value && !__mr_variant::is_in_place<D>::value>,
            size_t I = __mr_variant::chosen<V&&, T...>::value>
  __MR_CUM variant(V&& v) {
    construct<I>(static_cast<V&&>(v));
  }
  template <size_t I, class... A> __MR_CUM explicit variant(in_place_index_t<I>, A&&... a) {
    construct<I>(static_cast<A&&>(a)...);
  }
  template <class V, class... A> __MR_CUM explicit variant(in_place_type_t<V>, A&&... a) {
    construct<__mr_variant::index_of<V, T...>()>(static_cast<A&&>(a)...);
  }
  template <class V, class D = ::std::decay_t<V>, class = ::std::enable_if_t<!__mr_variant::is_variant<D>::value>,
            size_t I = __mr_variant::chosen<V&&, T...>::value>
  __MR_CUM variant& operator=(V&& v) {
    if (s_.index == I) {
      *static_cast<nth<I>*>(s_.memory()) = static_cast<V&&>(v);
    } else {
      s_.destroy();
      construct<I>(static_cast<V&&>(v));
    }
    return *this;
  }
  template <size_t I, class... A> __MR_CUM nth<I>& emplace(A&&... a) {
    s_.destroy();
    construct<I>(static_cast<A&&>(a)...);
    return *static_cast<nth<I>*>(s_.memory());
  }
  template <class V, class... A> __MR_CUM V& emplace(A&&... a) {
    return emplace<__mr_variant::index_of<V, T...>()>(static_cast<A&&>(a)...);
  }
  __MR_CUM constexpr size_t index() const noexcept { return s_.index; }
  __MR_CUM constexpr bool valueless_by_exception() const noexcept { return s_.index == variant_npos; }
  __MR_CUM void swap(variant& o) {
    variant t = static_cast<variant&&>(*this);
    *this = static_cast<variant&&>(o);
    o = static_cast<variant&&>(t);
  }
  __MR_CUM void* __mr_memory() const { return s_.memory(); }

 private:
  template <size_t I, class... A> __MR_CUM void construct(A&&... a) {
    ::new (s_.memory()) nth<I>(static_cast<A&&>(a)...);
    s_.index = I;
  }
  __mr_variant::storage<::std::conjunction<::std::is_trivially_copyable<T>...>::value, T...> s_;
};

template <size_t I, class... T> __MR_CU auto get_if(variant<T...>* v) noexcept {
  typedef variant_alternative_t<I, variant<T...>> A;
  return v != nullptr && v->index() == I ? static_cast<A*>(v->__mr_memory()) : nullptr;
}
template <size_t I, class... T> __MR_CU auto get_if(const variant<T...>* v) noexcept {
  typedef const variant_alternative_t<I, variant<T...>> A;
  return v != nullptr && v->index() == I ? static_cast<A*>(v->__mr_memory()) : nullptr;
}
template <class A, class... T> __MR_CU A* get_if(variant<T...>* v) noexcept {
  return get_if<__mr_variant::index_of<A, T...>()>(v);
}
template <class A, class... T> __MR_CU const A* get_if(const variant<T...>* v) noexcept {
  return get_if<__mr_variant::index_of<A, T...>()>(v);
}
template <class A, class... T> __MR_CU bool holds_alternative(const variant<T...>& v) noexcept {
  return v.index() == __mr_variant::index_of<A, T...>();
}
// An access to another alternative than the one held traps.
template <size_t I, class... T> __MR_CU variant_alternative_t<I, variant<T...>>& get(variant<T...>& v) {
  if (v.index() != I) __mr_detail::fail();
  return *get_if<I>(&v);
}
template <size_t I, class... T> __MR_CU const variant_alternative_t<I, variant<T...>>& get(const variant<T...>& v) {
  if (v.index() != I) __mr_detail::fail();
  return *get_if<I>(&v);
}
template <class A, class... T> __MR_CU A& get(variant<T...>& v) { return get<__mr_variant::index_of<A, T...>()>(v); }
template <class A, class... T> __MR_CU const A& get(const variant<T...>& v) {
  return get<__mr_variant::index_of<A, T...>()>(v);
}

namespace __mr_variant {

// A variant's reference kind put on its alternative.
template <class V, class T> struct like {
  typedef T&& type;
};
template <class V, class T> struct like<const V&, T> {
  typedef const T& type;
};
template <class V, class T> struct like<V&, T> {
  typedef T& type;
};

template <class R, class V, class F> struct visitor {
  F& f;
  template <size_t I, class T> __MR_CUM R operator()(T& v) const {
    return static_cast<R>(f(static_cast<typename like<V, T>::type>(v)));
  }
};
template <class R, class V, class F, class... T> __MR_CU R visit_one(F& f, const variant<T...>& v) {
  if (v.index() == variant_npos) __mr_detail::fail();
  visitor<R, V, F> call{f};
  return dispatch<R, 0, visitor<R, V, F>, T...>::call(call, v.index(), v.__mr_memory());
}
template <class F, class V, class First> struct bound {
  F& f;
  First&& first;
  template <class... A> __MR_CUM decltype(auto) operator()(A&&... a) const {
    return f(static_cast<First&&>(first), static_cast<A&&>(a)...);
  }
};
template <class V> struct first_of;
template <class T, class... U> struct first_of<variant<T, U...>> {
  typedef T type;
};
template <class V> using first_like = typename like<V, typename first_of<::std::decay_t<V>>::type>::type;

template <class R, class F, class V> __MR_CU R visit_all(F& f, V&& v) { return visit_one<R, V, F>(f, v); }
template <class R, class F, class V, class W, class... X> __MR_CU R visit_all(F& f, V&& v, W&& w, X&&... x) {
  auto outer = [&](auto&& a) -> R {
    bound<F, V, decltype(a)> inner{f, static_cast<decltype(a)>(a)};
    return visit_all<R>(inner, static_cast<W&&>(w), static_cast<X&&>(x)...);
  };
  return visit_one<R, V, decltype(outer)>(outer, v);
}

}  // namespace __mr_variant

template <class F, class... V> __MR_CU decltype(auto) visit(F&& f, V&&... v) {
  typedef decltype(f(::std::declval<__mr_variant::first_like<V&&>>()...)) R;
  return __mr_variant::visit_all<R>(f, static_cast<V&&>(v)...);
}

namespace __mr_variant {
template <class V> struct equal {
  const V& other;
  template <size_t I, class T> __MR_CUM bool operator()(T& v) const {
    return v == *static_cast<const T*>(other.__mr_memory());
  }
};
template <class V> struct below {
  const V& other;
  template <size_t I, class T> __MR_CUM bool operator()(T& v) const {
    return v < *static_cast<const T*>(other.__mr_memory());
  }
};
}  // namespace __mr_variant

template <class... T> __MR_CU bool operator==(const variant<T...>& a, const variant<T...>& b) {
  if (a.index() != b.index()) return false;
  if (a.valueless_by_exception()) return true;
  typedef __mr_variant::equal<variant<T...>> E;
  E e{b};
  return __mr_variant::dispatch<bool, 0, E, T...>::call(e, a.index(), a.__mr_memory());
}
template <class... T> __MR_CU bool operator!=(const variant<T...>& a, const variant<T...>& b) { return !(a == b); }
template <class... T> __MR_CU bool operator<(const variant<T...>& a, const variant<T...>& b) {
  if (b.valueless_by_exception()) return false;
  if (a.valueless_by_exception()) return true;
  if (a.index() != b.index()) return a.index() < b.index();
  typedef __mr_variant::below<variant<T...>> L;
  L l{b};
  return __mr_variant::dispatch<bool, 0, L, T...>::call(l, a.index(), a.__mr_memory());
}

}  // namespace std
}  // namespace cuda
