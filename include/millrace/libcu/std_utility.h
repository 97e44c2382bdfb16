// cuda::std: utilities, type traits, limits, fixed-size integers, and function objects are the standard library's own,
// whose functions are constexpr or were made host and device (millrace/std).
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "common.h"
#include <bits/functional_hash.h>
#include <bits/invoke.h>
#include <bits/refwrap.h>
#include <bits/stl_algobase.h>
#include <bits/stl_function.h>
#include <initializer_list>
#include <limits>
#include <ratio>
#include <tuple>

namespace cuda {
namespace std {

// <cstddef>, <cstdint>
using ::std::int16_t;
using ::std::int32_t;
using ::std::int64_t;
using ::std::int8_t;
using ::std::int_fast16_t;
using ::std::int_fast32_t;
using ::std::int_fast64_t;
using ::std::int_fast8_t;
using ::std::int_least16_t;
using ::std::int_least32_t;
using ::std::int_least64_t;
using ::std::int_least8_t;
using ::std::intmax_t;
using ::std::intptr_t;
using ::std::max_align_t;
using ::std::nullptr_t;
using ::std::ptrdiff_t;
using ::std::size_t;
using ::std::uint16_t;
using ::std::uint32_t;
using ::std::uint64_t;
using ::std::uint8_t;
using ::std::uint_fast16_t;
using ::std::uint_fast32_t;
using ::std::uint_fast64_t;
using ::std::uint_fast8_t;
using ::std::uint_least16_t;
using ::std::uint_least32_t;
using ::std::uint_least64_t;
using ::std::uint_least8_t;
using ::std::uintmax_t;
using ::std::uintptr_t;

// <utility>, <tuple>
using ::std::declval;
using ::std::forward;
using ::std::forward_as_tuple;
using ::std::get;
using ::std::ignore;
using ::std::make_pair;
using ::std::make_tuple;
using ::std::move;
using ::std::move_if_noexcept;
using ::std::pair;
using ::std::piecewise_construct;
using ::std::piecewise_construct_t;
using ::std::swap;
using ::std::tie;
using ::std::tuple;
using ::std::tuple_cat;
using ::std::tuple_element;
using ::std::tuple_size;
#if __cplusplus >= 201402L
using ::std::exchange;
using ::std::index_sequence;
using ::std::index_sequence_for;
using ::std::integer_sequence;
using ::std::make_index_sequence;
using ::std::make_integer_sequence;
using ::std::tuple_element_t;
#endif
#if __cplusplus >= 201703L
using ::std::apply;
using ::std::as_const;
using ::std::byte;
using ::std::in_place;
using ::std::in_place_index;
using ::std::in_place_index_t;
using ::std::in_place_t;
using ::std::in_place_type;
using ::std::in_place_type_t;
using ::std::make_from_tuple;
using ::std::tuple_size_v;
#endif

// <initializer_list>, <limits>, <ratio>, <algorithm>'s smallest
using ::std::float_denorm_style;
using ::std::float_round_style;
using ::std::giga;
using ::std::initializer_list;
using ::std::kilo;
using ::std::max;
using ::std::mega;
using ::std::micro;
using ::std::milli;
using ::std::min;
using ::std::nano;
using ::std::numeric_limits;
using ::std::ratio;
template <class T, class Less> __MR_CU constexpr const T& clamp(const T& v, const T& lo, const T& hi, Less less) {
  return less(v, lo) ? lo : less(hi, v) ? hi : v;
}
template <class T> __MR_CU constexpr const T& clamp(const T& v, const T& lo, const T& hi) {
  return v < lo ? lo : hi < v ? hi : v;
}

// <functional>
using ::std::bit_and;
using ::std::bit_not;
using ::std::bit_or;
using ::std::bit_xor;
using ::std::cref;
using ::std::divides;
using ::std::equal_to;
using ::std::greater;
using ::std::greater_equal;
using ::std::hash;
using ::std::less;
using ::std::less_equal;
using ::std::logical_and;
using ::std::logical_not;
using ::std::logical_or;
using ::std::minus;
using ::std::modulus;
using ::std::multiplies;
using ::std::negate;
using ::std::not_equal_to;
using ::std::plus;
using ::std::ref;
using ::std::reference_wrapper;
struct identity {
  template <class T> __MR_CUM constexpr T&& operator()(T&& v) const noexcept { return static_cast<T&&>(v); }
};
#if __cplusplus >= 201703L
template <class F, class... A> __MR_CU constexpr ::std::invoke_result_t<F, A...> invoke(F&& f, A&&... a) {
  return ::std::__invoke(static_cast<F&&>(f), static_cast<A&&>(a)...);
}
#endif

}  // namespace std
}  // namespace cuda
