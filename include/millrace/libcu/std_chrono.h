// cuda::std::chrono: the standard library's durations and time points, and a clock that device code can read.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"
#include <chrono>

namespace cuda {
namespace std {

namespace chrono {
using ::std::chrono::duration;
using ::std::chrono::duration_cast;
using ::std::chrono::duration_values;
using ::std::chrono::hours;
using ::std::chrono::microseconds;
using ::std::chrono::milliseconds;
using ::std::chrono::minutes;
using ::std::chrono::nanoseconds;
using ::std::chrono::seconds;
using ::std::chrono::time_point;
using ::std::chrono::time_point_cast;
using ::std::chrono::treat_as_floating_point;
#if __cplusplus >= 201703L
using ::std::chrono::ceil;
using ::std::chrono::floor;
using ::std::chrono::round;
#endif
// Wall-clock time, in device code too.
struct system_clock {
  typedef ::std::chrono::nanoseconds duration;
  typedef duration::rep rep;
  typedef duration::period period;
  typedef ::std::chrono::time_point<system_clock> time_point;
  static constexpr bool is_steady = false;
  static __MR_CUM time_point now() noexcept { return time_point(duration((rep)__mr_detail::nanoseconds())); }
};
typedef system_clock high_resolution_clock;
}  // namespace chrono
#if __cplusplus >= 201402L
inline namespace literals {
inline namespace chrono_literals {
using namespace ::std::literals::chrono_literals;
}
}  // namespace literals
#endif

}  // namespace std
}  // namespace cuda
