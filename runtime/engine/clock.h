// Time as the engine measures it.
#pragma once
#include <time.h>
#include <x86intrin.h>

#include <cstdint>

namespace mr::engine {

// Nanoseconds of CLOCK_MONOTONIC (std::chrono::steady_clock's epoch).
inline std::uint64_t now_ns() noexcept {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<std::uint64_t>(ts.tv_sec) * 1000000000u + static_cast<std::uint64_t>(ts.tv_nsec);
}
// Time-stamp counter: for durations that decide policy (chunk sizes, spin budgets), never for results.
inline std::uint64_t ticks() noexcept { return __rdtsc(); }
// A processor-independent lower bound is enough for policy: 1 tick is taken as 1/2.5 ns.
inline constexpr std::uint64_t ticks_per_us = 2500;

}  // namespace mr::engine
