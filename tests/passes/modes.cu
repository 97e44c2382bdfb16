// Classification. A kernel's name says what it must become: finite_* runs as a loop, meet_* on fibers because its lanes
// meet, split_* has barriers or warp operations that all threads reach together, spin_* may spin.
#include "device.h"
#define K extern "C" __global__ void
K finite_empty() {}
// A volatile counter of the thread's own is a delay, not a poll.
K finite_volatile_counter(int* p, int n) {
  for (volatile int i = 0; i < n; ++i) {}
  *p = n;
}
K finite_counted(int* p, int n) {
  for (int i = 0; i < n; ++i) p[i] += i;
}
K finite_histogram(unsigned* bins, const int* d, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) __atomic_fetch_add(&bins[d[i] & 255], 1u, __ATOMIC_RELAXED);
}
K finite_histogram_old(unsigned* bins, int* d, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    d[i] = __atomic_fetch_add(&bins[d[i] & 255], 1u, __ATOMIC_RELAXED) + 1;
}
K finite_conditional_atomic(unsigned* bins, int* d, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (__atomic_fetch_add(&bins[0], 1u, __ATOMIC_RELAXED) == 5)
      d[i] = 1;
    else
      d[i] = 2;
}
K finite_continue(unsigned* bins, int* d, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (__atomic_load_n(&bins[i], __ATOMIC_RELAXED) == 5) continue;
    d[i] = 1;
  }
}
K finite_cas_retry(float* p, float v) {
  unsigned* a = reinterpret_cast<unsigned*>(p);
  unsigned old = *a, seen;
  do {
    seen = old;
    __atomic_compare_exchange_n(a, &old, __builtin_bit_cast(unsigned, __builtin_bit_cast(float, seen) + v), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  } while (seen != old);
}
K finite_work_queue(int* next, int n, int* out) {
  for (int i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED); i < n; i = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED))
    out[i] = i;
}
K finite_volatile_outside(volatile int* p, int* out) {
  int n = *p;
  for (int i = 0; i < n; ++i) out[i] = i;
}
K finite_volatile_inside(volatile int* p, int* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = *p;
}
K finite_clock(long* out, int n) {
  long t = __builtin_readcyclecounter();
  for (int i = 0; i < n; ++i) out[i] = i;
  out[0] = __builtin_readcyclecounter() - t;
}
K finite_search(const int* p, int* out) {
  int i = 0;
  while (p[i] != 0) ++i;
  *out = i;
}
__device__ __attribute__((noinline)) int plain(int x) { return x * x + 1; }
K finite_calls(int* p, int n) {
  for (int i = 0; i < plain(n); ++i) p[i] = plain(i);
}
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
K finite_recursion(int* p) { *p = fib(*p); }
K finite_pointer_in_loop(int* p, int n, int which) {
  int (*volatile f)(int) = which ? plain : fib;
  for (int i = 0; i < n; ++i) p[i] = f(i);
}
K finite_newton(float* p, float eps) {
  float x = *p;
  while (x * x - 2 > eps) x = x / 2 + 1 / x;
  *p = x;
}

K spin_flag(volatile int* p) {
  while (*p == 0) {}
}
K spin_flag_atomic(int* p) {
  while (__atomic_load_n(p, __ATOMIC_ACQUIRE) == 0) {}
}
K spin_add_zero(int* p) {
  while (__atomic_fetch_add(p, 0, __ATOMIC_RELAXED) == 0) {}
}
K spin_lock(int* p, int* out) {
  for (;;) {
    int zero = 0;
    if (__atomic_compare_exchange_n(p, &zero, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
  }
  ++*out;
  __atomic_store_n(p, 0, __ATOMIC_RELEASE);
}
K spin_done_flag(volatile int* p, int* out) {
  bool done = false;
  int n = 0;
  while (!done) {
    ++n;
    if (*p > 3) done = true;
  }
  *out = n;
}
K spin_bounded(volatile int* p, int* out) {
  int n = 0;
  while (*p == 0 && n < 1000000) ++n;
  *out = n;
}
K spin_clock(long n) {
  long t = __builtin_readcyclecounter();
  while ((long)__builtin_readcyclecounter() - t < n) {}
}
K spin_timer(unsigned long n) {
  unsigned long t = __mr_globaltimer();
  while (__mr_globaltimer() - t < n) {}
}
K spin_sleep(int n) {
  for (int i = 0; i < n; ++i) __mr_nanosleep(10);
}
K spin_forever(int* p) {
  for (;;) *p = 1;
}
K spin_empty_forever() {
  for (;;) {}
}
K spin_fence(int* p) {
  while (*p == 0) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
__device__ __attribute__((noinline)) int peek(volatile int* p) { return *p; }
K spin_through_call(volatile int* p) {
  while (peek(p) == 0) {}
}
__device__ __attribute__((noinline)) void wait_for(volatile int* p) {
  while (*p == 0) {}
}
K spin_in_callee(volatile int* p) { wait_for(p); }
struct Lock {
  int* p;
  __device__ bool try_take() { return __atomic_exchange_n(p, 1, __ATOMIC_ACQUIRE) == 0; }
};
K spin_member(Lock l) {
  while (!l.try_take()) {}
}
K spin_semaphore(int* p) {
  while (__atomic_fetch_sub(p, 1, __ATOMIC_ACQUIRE) <= 0) __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
}
K spin_pointer(volatile int* p, int which) {
  int (*volatile f)(volatile int*) = peek;
  while (f(p) == which) {}
}
K spin_count_in_condition(volatile int* p) {
  int n = 0;
  for (;;) {
    if (*p) {
      if (++n > 10) break;
    }
  }
}

K split_barrier(int* p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  __mr_barrier();
  p[threadIdx.x] = s[127 - threadIdx.x];
}
__device__ __attribute__((noinline)) void sync() { __mr_barrier(); }
K split_in_callee(int* p) {
  sync();
  *p = 1;
}
// Threads part before the barrier.
K split_early_return(int* p) {
  if (p[threadIdx.x] < 0) return;
  __mr_barrier();
  p[threadIdx.x] = 1;
}
K split_warp() { __mr_warp_sync(~0u); }
K spin_and_meet(volatile int* p) {
  while (*p == 0) {}
  __mr_barrier();
}
// One thread looks, and the block learns it through shared memory.
K spin_through_shared(volatile int* p) {
  __shared__ int go;
  do {
    if (threadIdx.x == 0) go = *p != 0;
    __mr_barrier();
  } while (!go);
}
K spin_add_zero_through_shared(int* p) {
  __shared__ int state[2];
  do {
    if (threadIdx.x == 0) state[1] = __atomic_fetch_add(p, 0, __ATOMIC_RELAXED);
    __mr_barrier();
  } while (state[1] == 0);
}
// Not waiting: each round takes the next item, whatever other atomic operations do with it.
K split_work_queue(int* next, int n, int* out) {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) item = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
    __mr_barrier();
    if (item >= n) break;
    __atomic_fetch_or(&out[item], 1 << threadIdx.x, __ATOMIC_RELAXED);
    __mr_barrier();
  }
}
// Nor is what the block's threads tell each other.
K split_until_nothing_changes(int* p) {
  __shared__ int changed;
  do {
    if (threadIdx.x == 0) changed = 0;
    __mr_barrier();
    if (p[threadIdx.x] > p[threadIdx.x + 1]) {
      p[threadIdx.x] = p[threadIdx.x + 1];
      changed = 1;
    }
    __mr_barrier();
  } while (changed);
}
