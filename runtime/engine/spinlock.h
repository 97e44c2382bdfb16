// Locks and pauses for critical sections of a few instructions.
#pragma once
#include <immintrin.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

namespace mr::engine {

inline void cpu_pause() noexcept { _mm_pause(); }
// Asks for the line at `p`, to be written.
inline void fetch_to_write(const void* p) noexcept {
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(p)));
}

// A test-and-test-and-set lock. Critical sections are short and never block; a holder that was preempted is waited for
// with sched_yield. Satisfies Lockable. One uncontended lock/unlock pair costs one locked instruction.
class SpinLock {
 public:
  void lock() noexcept {
    if (!word_.exchange(1, std::memory_order_acquire)) return;
    lock_slowly();
  }
  bool try_lock() noexcept { return !word_.exchange(1, std::memory_order_acquire); }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }
  // Unlocks with a full barrier: every store before it is visible before any load after it (Dekker-style hand-shakes).
  void unlock_fenced() noexcept { word_.exchange(0, std::memory_order_seq_cst); }

 private:
  void lock_slowly() noexcept {
    for (unsigned spins = 0;; ++spins) {
      while (word_.load(std::memory_order_relaxed)) {
        if (spins++ < 128)
          cpu_pause();
        else
          sched_yield();
      }
      if (!word_.exchange(1, std::memory_order_acquire)) return;
    }
  }
  std::atomic<std::uint8_t> word_{0};
};

}  // namespace mr::engine
