// cuda::latch and semaphores (libcu++).
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "atomic.h"

namespace cuda {

// Counts down once. Invariant: the counter only falls; what happened before a count_down (release) is seen by whoever
// finds it at zero (acquire).
template <thread_scope Scope> class latch {
 public:
  __MR_CUM explicit constexpr latch(::std::ptrdiff_t expected) : left_(expected) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;
  static __MR_CUM constexpr ::std::ptrdiff_t max() noexcept { return 0x7fffffffffffffffl; }
  __MR_CUM void count_down(::std::ptrdiff_t n = 1) { left_.fetch_sub(n, memory_order_release); }
  __MR_CUM bool try_wait() const noexcept { return left_.load(memory_order_acquire) == 0; }
  __MR_CUM void wait() const {
    while (!try_wait()) __mr_detail::relax();
  }
  __MR_CUM void arrive_and_wait(::std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  atomic<::std::ptrdiff_t, Scope> left_;
};

// Invariant: the counter is the number of free slots, never negative. An acquire takes one from a positive count only.
template <thread_scope Scope, ::std::ptrdiff_t Max = 0x7fffffffffffffffl> class counting_semaphore {
 public:
  __MR_CUM explicit constexpr counting_semaphore(::std::ptrdiff_t desired) : free_(desired) {}
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;
  static __MR_CUM constexpr ::std::ptrdiff_t max() noexcept { return Max; }
  __MR_CUM void release(::std::ptrdiff_t n = 1) { free_.fetch_add(n, memory_order_release); }
  __MR_CUM void acquire() {
    for (;;) {
      ::std::ptrdiff_t now = free_.load(memory_order_relaxed);
      if (now > 0 && free_.compare_exchange_strong(now, now - 1, memory_order_acquire, memory_order_relaxed)) return;
      __mr_detail::relax();
    }
  }
  __MR_CUM bool try_acquire() noexcept {
    ::std::ptrdiff_t now = free_.load(memory_order_relaxed);
    while (now > 0)
      if (free_.compare_exchange_weak(now, now - 1, memory_order_acquire, memory_order_relaxed)) return true;
    return false;
  }
  template <class Duration> __MR_CUM bool try_acquire_for(const Duration& limit) {
    const double ns = (double)limit.count() * 1e9 * (double)Duration::period::num / (double)Duration::period::den;
    const unsigned long start = __mr_detail::nanoseconds();
    while (!try_acquire()) {
      if ((double)(__mr_detail::nanoseconds() - start) >= ns) return false;
      __mr_detail::relax();
    }
    return true;
  }

 private:
  atomic<::std::ptrdiff_t, Scope> free_;
};
template <thread_scope Scope> using binary_semaphore = counting_semaphore<Scope, 1>;

namespace std {
using latch = ::cuda::latch<thread_scope_system>;
template <::std::ptrdiff_t Max = 0x7fffffffffffffffl>
using counting_semaphore = ::cuda::counting_semaphore<thread_scope_system, Max>;
using binary_semaphore = ::cuda::counting_semaphore<thread_scope_system, 1>;
}  // namespace std
}  // namespace cuda
