// cuda::barrier (libcu++): arrive, wait by token or parity, drop; and memcpy_async that a barrier's phase completes.
//
// An asynchronous copy is made at the call by the calling threads; it is visible to whoever waits for the phase in
// which the copying threads arrive, through the barrier's own release and acquire.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "../device/aligned_size.h"
#include "atomic.h"
#if defined(__CUDACC__)
#include "../../cooperative_groups.h"
#endif

namespace cuda {
namespace std {
struct __mr_empty_completion {
  __MR_CUM void operator()() noexcept {}
};
}  // namespace std

template <thread_scope Scope, class Completion = std::__mr_empty_completion> class barrier;

namespace __mr_detail {

// The counters of a barrier. Invariant: in every phase each expected participant arrives once; the arrival that brings
// `pending` to zero is alone until it opens the next phase with a release store, which pairs with the waiters' acquire
// loads. One word for block scope, as small as the hardware's, and the one of PTX's mbarrier (compiler/passes/
// ptx_mbarrier.cpp): pending arrivals, expected ones, the phase's parity, and above it bytes that are expected and
// haven't come, or have come before they were expected; the phase ends with the last of both.
struct packed_counters {
  static constexpr unsigned bits = 20, bytes_bit = 2 * bits + 1;
  static constexpr unsigned long mask = (1ul << bits) - 1;
  static constexpr ::std::ptrdiff_t maximum = (::std::ptrdiff_t)mask;
  unsigned long word;

  packed_counters() = default;
  __MR_CUM explicit packed_counters(::std::ptrdiff_t n) : word((unsigned long)n << bits | (unsigned long)n) {}
  __MR_CUM unsigned long phase(memory_order o) const { return at<unsigned long>::load(&word, o) >> (2 * bits) & 1; }
  // Returns the phase arrived at; calls `complete` when this arrival was the last.
  template <class F>
  __MR_CUM unsigned long arrive(unsigned long n, unsigned long drop, F complete, unsigned long bytes = 0) {
    return change((bytes << bytes_bit) - (n | drop << bits), complete);
  }
  template <class F> __MR_CUM void expect(unsigned long bytes, F complete) {
    (void)change(bytes << bytes_bit, complete);
  }
  template <class F> __MR_CUM void transfer(unsigned long bytes, F complete) {
    (void)change(0 - (bytes << bytes_bit), complete);
  }

 private:
  template <class F> __MR_CUM unsigned long change(unsigned long by, F complete) {
    const unsigned long old = at<unsigned long>::add(&word, by, memory_order_acq_rel), now = old + by;
    if ((now & mask) == 0 && now >> bytes_bit == 0) {
      complete();
      const unsigned long expected = now >> bits & mask;
      at<unsigned long>::store(&word, (now ^ 1ul << (2 * bits)) | expected, memory_order_release);
    }
    return old >> (2 * bits) & 1;
  }
};
struct wide_counters {
  static constexpr ::std::ptrdiff_t maximum = 0x7fffffffffffffffl;
  unsigned long pending, expected, current;

  wide_counters() = default;
  __MR_CUM explicit wide_counters(::std::ptrdiff_t n)
      : pending((unsigned long)n), expected((unsigned long)n), current(0) {}
  static constexpr unsigned long mask = (1ul << 24) - 1;
  __MR_CUM unsigned long phase(memory_order o) const { return at<unsigned long>::load(&current, o) & mask; }
  template <class F> __MR_CUM unsigned long arrive(unsigned long n, unsigned long drop, F complete) {
    // Read before the arrival: afterwards the phase may end.
    const unsigned long here = phase(memory_order_relaxed);
    if (drop != 0) at<unsigned long>::subtract(&expected, drop, memory_order_relaxed);
    if (at<unsigned long>::subtract(&pending, n, memory_order_acq_rel) == n) {
      complete();
      at<unsigned long>::store(&pending, at<unsigned long>::load(&expected, memory_order_relaxed),
                               memory_order_relaxed);
      at<unsigned long>::store(&current, here + 1, memory_order_release);
    }
    return here;
  }
};
template <thread_scope Scope> struct counters {
  typedef wide_counters type;
};
template <> struct counters<thread_scope_block> {
  typedef packed_counters type;
};
template <> struct counters<thread_scope_thread> {
  typedef packed_counters type;
};

}  // namespace __mr_detail

template <thread_scope Scope, class Completion> class barrier {
  typedef typename __mr_detail::counters<Scope>::type counters_type;

 public:
  // The phase that an arrival belongs to.
  class arrival_token {
   public:
    arrival_token() = default;

   private:
    friend class barrier;
    __MR_CUM explicit arrival_token(unsigned long phase) : phase_(phase) {}
    unsigned long phase_;
  };

  barrier() = default;  // not usable before init()
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  // `expected` participants from the first phase on, at most max().
  __MR_CUM barrier(::std::ptrdiff_t expected, Completion completion = Completion())
      : counters_(expected), completion_(completion) {}
  // For barriers in shared memory, which has no constructors: once, by one thread, before the others use it.
  friend __MR_CUM void init(barrier* b, ::std::ptrdiff_t expected) { ::new ((void*)b) barrier(expected); }
  friend __MR_CUM void init(barrier* b, ::std::ptrdiff_t expected, Completion completion) {
    ::new ((void*)b) barrier(expected, completion);
  }

  static __MR_CUM constexpr ::std::ptrdiff_t max() noexcept { return counters_type::maximum; }
  [[nodiscard]] __MR_CUM arrival_token arrive(::std::ptrdiff_t n = 1) {
    return arrival_token(counters_.arrive((unsigned long)n, 0, [this] { completion_(); }));
  }
  // acquire: pairs with the release of the last arrival
  __MR_CUM void wait(arrival_token&& token) const {
    while (counters_.phase(memory_order_acquire) == token.phase_) __mr_detail::relax();
  }
  __MR_CUM void wait(const arrival_token& token) const {
    while (counters_.phase(memory_order_acquire) == token.phase_) __mr_detail::relax();
  }
  __MR_CUM void arrive_and_wait() { wait(arrive()); }
  __MR_CUM void arrive_and_drop() {
    (void)counters_.arrive(1, 1, [this] { completion_(); });
  }
  // Of the phase with this parity: waits until it is over.
  __MR_CUM void wait_parity(bool parity) const {
    while (((counters_.phase(memory_order_acquire) & 1) != 0) == parity) __mr_detail::relax();
  }
  __MR_CUM bool try_wait(const arrival_token& token) const {
    return counters_.phase(memory_order_acquire) != token.phase_;
  }
  __MR_CUM bool try_wait_parity(bool parity) const {
    return ((counters_.phase(memory_order_acquire) & 1) != 0) != parity;
  }
  template <class Duration> __MR_CUM bool try_wait_for(const arrival_token& token, const Duration& limit) const {
    const unsigned long start = __mr_detail::nanoseconds();
    while (!try_wait(token)) {
      if ((long)(__mr_detail::nanoseconds() - start) >= (long)nanoseconds_of(limit)) return false;
      __mr_detail::relax();
    }
    return true;
  }
  template <class Duration> __MR_CUM bool try_wait_parity_for(bool parity, const Duration& limit) const {
    const unsigned long start = __mr_detail::nanoseconds();
    while (!try_wait_parity(parity)) {
      if ((long)(__mr_detail::nanoseconds() - start) >= (long)nanoseconds_of(limit)) return false;
      __mr_detail::relax();
    }
    return true;
  }
  // Of block scope: bytes that the phase waits for as well, and their coming.
  [[nodiscard]] __MR_CUM arrival_token __mr_arrive_tx(::std::ptrdiff_t n, ::std::ptrdiff_t bytes) {
    return arrival_token(counters_.arrive((unsigned long)n, 0, [this] { completion_(); }, (unsigned long)bytes));
  }
  __MR_CUM void __mr_expect_tx(::std::ptrdiff_t bytes) {
    counters_.expect((unsigned long)bytes, [this] { completion_(); });
  }
  __MR_CUM void __mr_transfer(::std::size_t bytes) {
    counters_.transfer((unsigned long)bytes, [this] { completion_(); });
  }
  __MR_CUM unsigned long* __mr_handle() { return reinterpret_cast<unsigned long*>(&counters_); }

 private:
  template <class Duration> static __MR_CUM double nanoseconds_of(const Duration& d) {
    return (double)d.count() * 1e9 * (double)Duration::period::num / (double)Duration::period::den;
  }
  counters_type counters_;
  [[no_unique_address]] Completion completion_;
};

namespace std {
template <class Completion = __mr_empty_completion> using barrier = ::cuda::barrier<thread_scope_system, Completion>;
}

enum class async_contract_fulfillment { none, async };

namespace __mr_detail {
template <class Group> __MR_CU void copy(const Group& group, void* to, const void* from, ::std::size_t bytes) {
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  const ::std::size_t threads = (::std::size_t)group.size(), rank = (::std::size_t)group.thread_rank(),
                      pieces = bytes / 16;
  for (::std::size_t i = rank; i < pieces; i += threads) __builtin_memcpy(t + i * 16, f + i * 16, 16);
  for (::std::size_t i = pieces * 16 + rank; i < bytes; i += threads) t[i] = f[i];
}
}  // namespace __mr_detail

template <class Group, class T, thread_scope S, class C>
__MR_CU async_contract_fulfillment memcpy_async(const Group& group, T* to, const T* from, ::std::size_t bytes,
                                                barrier<S, C>&) {
  __mr_detail::copy(group, to, from, bytes);
  return async_contract_fulfillment::none;
}
template <class Group, class T, ::std::size_t A, thread_scope S, class C>
__MR_CU async_contract_fulfillment memcpy_async(const Group& group, T* to, const T* from, aligned_size_t<A> bytes,
                                                barrier<S, C>&) {
  __mr_detail::copy(group, to, from, bytes);
  return async_contract_fulfillment::none;
}
template <class Group, thread_scope S, class C>
__MR_CU async_contract_fulfillment memcpy_async(const Group& group, void* to, const void* from, ::std::size_t bytes,
                                                barrier<S, C>&) {
  __mr_detail::copy(group, to, from, bytes);
  return async_contract_fulfillment::none;
}
template <class T, class Size, thread_scope S, class C>
__MR_CU async_contract_fulfillment memcpy_async(T* to, const T* from, Size bytes, barrier<S, C>&) {
  __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(from), (::std::size_t)bytes);
  return async_contract_fulfillment::none;
}

#if defined(__CUDACC__)
namespace device {
// Copies are made at once, and their bytes counted then.
template <class C>
__attribute__((device)) inline typename barrier<thread_scope_block, C>::arrival_token barrier_arrive_tx(
    barrier<thread_scope_block, C>& b, ::std::ptrdiff_t arrivals, ::std::ptrdiff_t bytes) {
  return b.__mr_arrive_tx(arrivals, bytes);
}
template <class C>
__attribute__((device)) inline void barrier_expect_tx(barrier<thread_scope_block, C>& b, ::std::ptrdiff_t bytes) {
  b.__mr_expect_tx(bytes);
}
template <class T, class Size, class C>
__attribute__((device)) inline async_contract_fulfillment memcpy_async_tx(T* to, const T* from, Size bytes,
                                                                          barrier<thread_scope_block, C>& b) {
  __builtin_memcpy(static_cast<void*>(to), static_cast<const void*>(from), (::std::size_t)bytes);
  b.__mr_transfer((::std::size_t)bytes);
  return async_contract_fulfillment::async;
}
template <class C>
__attribute__((device)) inline ::std::uint64_t* barrier_native_handle(barrier<thread_scope_block, C>& b) {
  return reinterpret_cast<::std::uint64_t*>(b.__mr_handle());
}
}  // namespace device
#endif
}  // namespace cuda
