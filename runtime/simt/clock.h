// The clock of __nanosleep and StepResult: std::chrono::steady_clock in nanoseconds.
#pragma once
#include <time.h>

#include <cstdint>

namespace mr::simt {

inline std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace mr::simt
