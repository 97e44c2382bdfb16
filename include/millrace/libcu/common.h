// What the headers of libcu++ share (<cuda/...>, <cuda/std/...>). Names are those of the CUDA C++ standard library;
// types that the standard library has, and whose functions can run on a device, are the standard library's own.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "../../cuda_runtime.h"
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <new>
#include <sched.h>
#include <time.h>

#if defined(__CUDACC__)
#define __MR_CU __attribute__((host, device)) inline
#define __MR_CUM __attribute__((host, device))
#else
#define __MR_CU inline
#define __MR_CUM
#endif
// Always inlined: the passes must see an atomic access where it is, or they take every loop around a call for one that
// may wait.
#define __MR_CU_ATOMIC __attribute__((always_inline)) __MR_CU
#define __MR_CUM_ATOMIC __attribute__((always_inline)) __MR_CUM

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace __mr_detail {

// Between two looks of a waiting thread. In device code the loop itself is recognised and polled.
__MR_CU void relax() {
#if !defined(__CUDA_ARCH__)
  ::sched_yield();
#endif
}
// Ends a program whose contract was broken, where the host's library would throw.
[[noreturn]] __MR_CU void fail() {
#if defined(__CUDA_ARCH__)
  ::__trap();
#endif
  __builtin_trap();
}
// A clock in nanoseconds for waits with a time limit.
__MR_CU unsigned long nanoseconds() {
#if defined(__CUDA_ARCH__)
  return __mr_globaltimer();
#else
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
#endif
}

}  // namespace __mr_detail
}  // namespace cuda
