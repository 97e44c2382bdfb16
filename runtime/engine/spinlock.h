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
//
// Who finds it taken looks again after `first` pauses (some 50 ns each), and after twice as many each time, up to
// `most`. Few: it gets the lock soon. Many: the line, and those that the lock guards, stay with the holder for some
// more of its critical sections, instead of travelling for each.
template <unsigned first, unsigned most> class BackoffLock {
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
  static constexpr unsigned patience = 256;  // pauses, before the holder may have this processor
  [[gnu::noinline, gnu::cold]] void lock_slowly() noexcept {
    for (unsigned pauses = first, waited = 0;;) {
      for (unsigned i = 0; i < pauses; ++i) cpu_pause();
      if (!word_.load(std::memory_order_relaxed) && !word_.exchange(1, std::memory_order_acquire)) return;
      waited += pauses;
      if (waited > patience) sched_yield();
      if (pauses < most) pauses *= 2;
    }
  }
  std::atomic<std::uint8_t> word_{0};
};

using SpinLock = BackoffLock<1, 32>;
// For what threads do again and again, as fast as they can.
using BatchLock = BackoffLock<32, 1024>;

}  // namespace mr::engine
