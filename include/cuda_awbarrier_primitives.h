// Barriers in shared memory, as C functions (programming guide, "Memory Barrier Primitives Interface"): the word and
// the rules of cuda::barrier of block scope.
#ifndef MILLRACE_CUDA_AWBARRIER_PRIMITIVES_H
#define MILLRACE_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_pipeline_primitives.h"

#if defined(__CUDACC__)
#include "millrace/libcu/barrier.h"

namespace __mr_awbarrier {
typedef cuda::__mr_detail::packed_counters counters;
static __device__ __forceinline__ counters* of(__mbarrier_t* b) { return reinterpret_cast<counters*>(b); }
static __device__ __forceinline__ __mbarrier_token_t arrive(__mbarrier_t* b, unsigned long drop) {
  return of(b)->arrive(1, drop, [] {});
}
}  // namespace __mr_awbarrier

static __device__ __forceinline__ unsigned __mbarrier_maximum_count() { return (1u << 20) - 1; }
static __device__ __forceinline__ void __mbarrier_init(__mbarrier_t* b, unsigned expected) {
  ::new ((void*)b) __mr_awbarrier::counters((long)expected);
}
static __device__ __forceinline__ void __mbarrier_inval(__mbarrier_t*) {}
static __device__ __forceinline__ __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* b) {
  return __mr_awbarrier::arrive(b, 0);
}
static __device__ __forceinline__ __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* b) {
  return __mr_awbarrier::arrive(b, 1);
}
static __device__ __forceinline__ bool __mbarrier_test_wait(__mbarrier_t* b, __mbarrier_token_t token) {
  return __mr_awbarrier::of(b)->phase(cuda::memory_order_acquire) != token;
}
static __device__ __forceinline__ bool __mbarrier_try_wait(__mbarrier_t* b, __mbarrier_token_t token, unsigned = 0) {
  return __mbarrier_test_wait(b, token);
}
static __device__ __forceinline__ bool __mbarrier_test_wait_parity(__mbarrier_t* b, bool parity) {
  return ((__mr_awbarrier::of(b)->phase(cuda::memory_order_acquire) & 1) != 0) != parity;
}
static __device__ __forceinline__ bool __mbarrier_try_wait_parity(__mbarrier_t* b, bool parity, unsigned = 0) {
  return __mbarrier_test_wait_parity(b, parity);
}
static __device__ __forceinline__ void __pipeline_arrive_on(__mbarrier_t*) {}
#endif

#endif
