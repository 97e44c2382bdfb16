// cuda::atomic, atomic_ref, atomic_flag and fences, in all scopes (libcu++, "Extended API: Synchronization
// primitives").
//
// The scope is kept in the type and has no further effect: memory is coherent between all that can run here. The order
// given is the order used.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "common.h"
#include <atomic>

namespace cuda {

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

namespace __mr_detail {

__MR_CU_ATOMIC constexpr int order(memory_order o) { return (int)o; }
// A failed exchange stores nothing: what is left of the order for the load.
__MR_CU_ATOMIC constexpr memory_order failure_order(memory_order o) {
  return o == memory_order_acq_rel ? memory_order_acquire : o == memory_order_release ? memory_order_relaxed : o;
}

template <class T, class = void> struct difference {
  typedef T type;
};
template <class T> struct difference<T*, void> {
  typedef ::std::ptrdiff_t type;
};

// The operations on an object that lies at `p`. T is trivially copyable, of 1, 2, 4, 8 or 16 bytes.
template <class T> struct at {
  static_assert(__is_trivially_copyable(T), "atomic objects are trivially copyable");
  typedef typename difference<T>::type D;
  static constexpr bool arithmetic = (::std::is_arithmetic<T>::value && !::std::is_same<T, bool>::value);

  static __MR_CU_ATOMIC T load(const T* p, memory_order o) {
    alignas(T) unsigned char r[sizeof(T)];
    __atomic_load(const_cast<T*>(p), reinterpret_cast<T*>(r), order(o));
    return *reinterpret_cast<T*>(r);
  }
  static __MR_CU_ATOMIC void store(T* p, T v, memory_order o) { __atomic_store(p, &v, order(o)); }
  static __MR_CU_ATOMIC T exchange(T* p, T v, memory_order o) {
    alignas(T) unsigned char r[sizeof(T)];
    __atomic_exchange(p, &v, reinterpret_cast<T*>(r), order(o));
    return *reinterpret_cast<T*>(r);
  }
  static __MR_CU_ATOMIC bool compare_exchange(T* p, T& expected, T desired, bool weak, memory_order s, memory_order f) {
    return weak ? __atomic_compare_exchange(p, &expected, &desired, true, order(s), order(f))
                : __atomic_compare_exchange(p, &expected, &desired, false, order(s), order(f));
  }
  static __MR_CU_ATOMIC T add(T* p, D v, memory_order o) {
    if constexpr (::std::is_pointer<T>::value) {
      const ::std::ptrdiff_t bytes = v * (::std::ptrdiff_t)sizeof(*T());
      return (T)__atomic_fetch_add((::std::uintptr_t*)p, (::std::uintptr_t)bytes, order(o));
    } else {
      return __atomic_fetch_add(p, v, order(o));
    }
  }
  static __MR_CU_ATOMIC T subtract(T* p, D v, memory_order o) {
    if constexpr (::std::is_pointer<T>::value)
      return add(p, -v, o);
    else
      return __atomic_fetch_sub(p, v, order(o));
  }
  template <bool Greater> static __MR_CU_ATOMIC T extreme(T* p, T v, memory_order o) {
    if constexpr (::std::is_integral<T>::value) {
      if constexpr (Greater)
        return __atomic_fetch_max(p, v, order(o));
      else
        return __atomic_fetch_min(p, v, order(o));
    } else {
      T old = load(p, memory_order_relaxed);
      while ((Greater ? old < v : v < old) && !compare_exchange(p, old, v, true, o, failure_order(o))) {}
      return old;
    }
  }
  static __MR_CU_ATOMIC void wait(const T* p, T old, memory_order o) {
    for (T now = load(p, o); __builtin_memcmp(&now, &old, sizeof(T)) == 0; now = load(p, o)) relax();
  }
};

// The member functions of atomic and atomic_ref; Self gives the address.
template <class T, class Self> struct operations {
  typedef T value_type;
  typedef typename difference<T>::type difference_type;
  static constexpr bool is_always_lock_free = sizeof(T) <= 8;

  __MR_CUM_ATOMIC bool is_lock_free() const noexcept { return sizeof(T) <= 16; }
  __MR_CUM_ATOMIC T load(memory_order o = memory_order_seq_cst) const noexcept { return at<T>::load(p(), o); }
  __MR_CUM_ATOMIC void store(T v, memory_order o = memory_order_seq_cst) const noexcept { at<T>::store(p(), v, o); }
  __MR_CUM_ATOMIC operator T() const noexcept { return load(); }
  __MR_CUM_ATOMIC T exchange(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::exchange(p(), v, o);
  }
  __MR_CUM_ATOMIC bool compare_exchange_weak(T& e, T d, memory_order s, memory_order f) const noexcept {
    return at<T>::compare_exchange(p(), e, d, true, s, f);
  }
  __MR_CUM_ATOMIC bool compare_exchange_weak(T& e, T d, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::compare_exchange(p(), e, d, true, o, failure_order(o));
  }
  __MR_CUM_ATOMIC bool compare_exchange_strong(T& e, T d, memory_order s, memory_order f) const noexcept {
    return at<T>::compare_exchange(p(), e, d, false, s, f);
  }
  __MR_CUM_ATOMIC bool compare_exchange_strong(T& e, T d, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::compare_exchange(p(), e, d, false, o, failure_order(o));
  }
  __MR_CUM_ATOMIC void wait(T old, memory_order o = memory_order_seq_cst) const noexcept { at<T>::wait(p(), old, o); }
  // Waiting threads look again by themselves.
  __MR_CUM_ATOMIC void notify_one() const noexcept {}
  __MR_CUM_ATOMIC void notify_all() const noexcept {}

  __MR_CUM_ATOMIC T fetch_add(difference_type v, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::add(p(), v, o);
  }
  __MR_CUM_ATOMIC T fetch_sub(difference_type v, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::subtract(p(), v, o);
  }
  __MR_CUM_ATOMIC T fetch_and(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return __atomic_fetch_and(p(), v, order(o));
  }
  __MR_CUM_ATOMIC T fetch_or(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return __atomic_fetch_or(p(), v, order(o));
  }
  __MR_CUM_ATOMIC T fetch_xor(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return __atomic_fetch_xor(p(), v, order(o));
  }
  __MR_CUM_ATOMIC T fetch_min(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::template extreme<false>(p(), v, o);
  }
  __MR_CUM_ATOMIC T fetch_max(T v, memory_order o = memory_order_seq_cst) const noexcept {
    return at<T>::template extreme<true>(p(), v, o);
  }
  __MR_CUM_ATOMIC T operator++() const noexcept { return fetch_add(1) + 1; }
  __MR_CUM_ATOMIC T operator++(int) const noexcept { return fetch_add(1); }
  __MR_CUM_ATOMIC T operator--() const noexcept { return fetch_sub(1) - 1; }
  __MR_CUM_ATOMIC T operator--(int) const noexcept { return fetch_sub(1); }
  __MR_CUM_ATOMIC T operator+=(difference_type v) const noexcept { return fetch_add(v) + v; }
  __MR_CUM_ATOMIC T operator-=(difference_type v) const noexcept { return fetch_sub(v) - v; }
  __MR_CUM_ATOMIC T operator&=(T v) const noexcept { return fetch_and(v) & v; }
  __MR_CUM_ATOMIC T operator|=(T v) const noexcept { return fetch_or(v) | v; }
  __MR_CUM_ATOMIC T operator^=(T v) const noexcept { return fetch_xor(v) ^ v; }

 private:
  __MR_CUM_ATOMIC T* p() const { return static_cast<const Self*>(this)->__mr_address(); }
};

}  // namespace __mr_detail

template <class T, thread_scope Scope = thread_scope_system>
struct atomic : __mr_detail::operations<T, atomic<T, Scope>> {
  atomic() noexcept = default;
  __MR_CUM_ATOMIC constexpr atomic(T v) noexcept : value_(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  __MR_CUM_ATOMIC T operator=(T v) noexcept {
    this->store(v);
    return v;
  }
  __MR_CUM_ATOMIC T* __mr_address() const { return const_cast<T*>(&value_); }

 private:
  // Small structures must be aligned for their size to be exchanged at once.
  static constexpr ::std::size_t alignment_ = sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16
                                                  ? (sizeof(T) > alignof(T) ? sizeof(T) : alignof(T))
                                                  : alignof(T);
  alignas(alignment_) T value_;
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref : __mr_detail::operations<T, atomic_ref<T, Scope>> {
  static constexpr ::std::size_t required_alignment = sizeof(T) > alignof(T) && sizeof(T) <= 16 ? sizeof(T)
                                                                                                : alignof(T);
  __MR_CUM_ATOMIC explicit atomic_ref(T& object) noexcept : object_(&object) {}
  __MR_CUM_ATOMIC atomic_ref(const atomic_ref& o) noexcept : object_(o.object_) {}
  atomic_ref& operator=(const atomic_ref&) = delete;
  __MR_CUM_ATOMIC T operator=(T v) const noexcept {
    this->store(v);
    return v;
  }
  __MR_CUM_ATOMIC T* __mr_address() const { return object_; }

 private:
  T* object_;
};

template <thread_scope Scope = thread_scope_system> struct __mr_atomic_flag {
  __mr_atomic_flag() noexcept = default;
  __MR_CUM_ATOMIC constexpr __mr_atomic_flag(bool v) noexcept : value_(v) {}
  __MR_CUM_ATOMIC bool test(memory_order o = memory_order_seq_cst) const noexcept { return value_.load(o) != 0; }
  __MR_CUM_ATOMIC bool test_and_set(memory_order o = memory_order_seq_cst) noexcept {
    return value_.exchange(1, o) != 0;
  }
  __MR_CUM_ATOMIC void clear(memory_order o = memory_order_seq_cst) noexcept { value_.store(0, o); }
  __MR_CUM_ATOMIC void wait(bool old, memory_order o = memory_order_seq_cst) const noexcept {
    while (test(o) == old) __mr_detail::relax();
  }
  __MR_CUM_ATOMIC void notify_one() noexcept {}
  __MR_CUM_ATOMIC void notify_all() noexcept {}

 private:
  atomic<unsigned, Scope> value_;
};
template <thread_scope Scope = thread_scope_system> using atomic_flag = __mr_atomic_flag<Scope>;

__MR_CU_ATOMIC void atomic_thread_fence(memory_order o, thread_scope = thread_scope_system) noexcept {
  __atomic_thread_fence((int)o);
}
__MR_CU_ATOMIC void atomic_signal_fence(memory_order o) noexcept { __atomic_signal_fence((int)o); }

namespace std {
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
template <class T> struct atomic : ::cuda::atomic<T, thread_scope_system> {
  typedef ::cuda::atomic<T, thread_scope_system> __mr_base;
  atomic() noexcept = default;
  __MR_CUM_ATOMIC constexpr atomic(T v) noexcept : __mr_base(v) {}
  using __mr_base::operator=;
};
template <class T> using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using atomic_flag = __mr_atomic_flag<thread_scope_system>;
typedef atomic<bool> atomic_bool;
typedef atomic<char> atomic_char;
typedef atomic<int> atomic_int;
typedef atomic<unsigned> atomic_uint;
typedef atomic<long> atomic_long;
typedef atomic<unsigned long> atomic_ulong;
typedef atomic<long long> atomic_llong;
typedef atomic<unsigned long long> atomic_ullong;
typedef atomic<::std::int32_t> atomic_int32_t;
typedef atomic<::std::uint32_t> atomic_uint32_t;
typedef atomic<::std::int64_t> atomic_int64_t;
typedef atomic<::std::uint64_t> atomic_uint64_t;
typedef atomic<::std::size_t> atomic_size_t;
using ::cuda::atomic_signal_fence;
__MR_CU_ATOMIC void atomic_thread_fence(memory_order o) noexcept { __atomic_thread_fence((int)o); }
}  // namespace std
}  // namespace cuda
