// The lock of this room's data structures: critical sections of a few dozen instructions that never block.
#pragma once
#include <immintrin.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

namespace mr::memory {

// Test-and-test-and-set; a preempted holder is waited for with sched_yield. Lockable (std::lock_guard). Acquire on
// lock, release on unlock.
class Lock {
 public:
  void lock() noexcept {
    if (!word_.exchange(1, std::memory_order_acquire)) return;
    for (unsigned spins = 0;;) {
      while (word_.load(std::memory_order_relaxed)) {
        if (++spins < 128)
          _mm_pause();
        else
          sched_yield();
      }
      if (!word_.exchange(1, std::memory_order_acquire)) return;
    }
  }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint8_t> word_{0};
};

// A field that one side changes under a lock while others may look at it without: each access is a relaxed atomic one.
// What a reader makes of it must not depend on other memory, unless its own comment says what publishes that.
template <class T> class Relaxed {
 public:
  constexpr Relaxed() noexcept = default;
  constexpr Relaxed(T value) noexcept : value_(value) {}
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }
  T operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return value;
  }

 private:
  std::atomic<T> value_{};
};

}  // namespace mr::memory
