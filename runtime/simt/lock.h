// The lock of this room's slow paths: critical sections of a few dozen instructions that never block and never touch
// memory that a kernel supplied (a fault inside would leave the lock held).
#pragma once
#include <immintrin.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

namespace mr::simt {

// Test-and-test-and-set; a preempted holder is waited for with sched_yield. Lockable. Acquire on lock, release on
// unlock.
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
  bool try_lock() noexcept { return !word_.exchange(1, std::memory_order_acquire); }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint8_t> word_{0};
};

}  // namespace mr::simt
