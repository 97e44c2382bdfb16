// Small functions that libcu++ has beside the standard library's: integer division upwards, function objects that tell
// their result, minimum and maximum as objects.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {

template <class T, class U> __MR_CU constexpr typename ::std::common_type<T, U>::type ceil_div(T a, U b) {
  return (typename ::std::common_type<T, U>::type)(a / b + (a % b != 0 ? 1 : 0));
}
template <class T, class U> __MR_CU constexpr typename ::std::common_type<T, U>::type round_up(T a, U b) {
  return ceil_div(a, b) * b;
}
template <class T, class U> __MR_CU constexpr typename ::std::common_type<T, U>::type round_down(T a, U b) {
  return (a / b) * b;
}

template <class T = void> struct maximum {
  __MR_CUM constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <> struct maximum<void> {
  template <class T, class U>
  __MR_CUM constexpr typename ::std::common_type<T, U>::type operator()(const T& a, const U& b) const {
    return a < b ? b : a;
  }
};
template <class T = void> struct minimum {
  __MR_CUM constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <> struct minimum<void> {
  template <class T, class U>
  __MR_CUM constexpr typename ::std::common_type<T, U>::type operator()(const T& a, const U& b) const {
    return b < a ? b : a;
  }
};

namespace __mr_detail {
template <class R, class F> struct returning {
  F f;
  template <class... A> __MR_CUM constexpr R operator()(A&&... a) const { return f(static_cast<A&&>(a)...); }
};
}  // namespace __mr_detail
template <class R, class F>
__MR_CU constexpr __mr_detail::returning<R, typename ::std::decay<F>::type> proclaim_return_type(F&& f) {
  return {static_cast<F&&>(f)};
}

}  // namespace cuda
