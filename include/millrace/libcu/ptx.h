// cuda::ptx (libcu++): instructions of inline PTX as functions, with the manual's names: special registers, mbarrier
// objects, bulk copies, fences, clusters' barrier. Translated as the statements are (compiler/passes/ptx*.cpp).
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include <cstdint>

#include "barrier.h"

namespace cuda {
namespace ptx {

enum class __mr_space { global, shared, cluster };
enum class __mr_sem { acquire, release, acq_rel, sc, relaxed, weak };
enum class __mr_scope { cta, cluster, gpu, sys };
template <__mr_space> struct space_t {};
template <__mr_sem> struct sem_t {};
template <__mr_scope> struct scope_t {};
using space_global_t = space_t<__mr_space::global>;
using space_shared_t = space_t<__mr_space::shared>;
using space_cluster_t = space_t<__mr_space::cluster>;
using sem_acquire_t = sem_t<__mr_sem::acquire>;
using sem_release_t = sem_t<__mr_sem::release>;
using sem_acq_rel_t = sem_t<__mr_sem::acq_rel>;
using sem_sc_t = sem_t<__mr_sem::sc>;
using sem_relaxed_t = sem_t<__mr_sem::relaxed>;
using scope_cta_t = scope_t<__mr_scope::cta>;
using scope_cluster_t = scope_t<__mr_scope::cluster>;
using scope_gpu_t = scope_t<__mr_scope::gpu>;
using scope_sys_t = scope_t<__mr_scope::sys>;
static constexpr space_global_t space_global{};
static constexpr space_shared_t space_shared{};
static constexpr space_cluster_t space_cluster{};
static constexpr sem_acquire_t sem_acquire{};
static constexpr sem_release_t sem_release{};
static constexpr sem_acq_rel_t sem_acq_rel{};
static constexpr sem_sc_t sem_sc{};
static constexpr sem_relaxed_t sem_relaxed{};
static constexpr scope_cta_t scope_cta{};
static constexpr scope_cluster_t scope_cluster{};
static constexpr scope_gpu_t scope_gpu{};
static constexpr scope_sys_t scope_sys{};

template <int N> using n32_t = ::std::integral_constant<int, N>;
template <int N> constexpr n32_t<N> n32{};

#if defined(__CUDACC__)
#define __MR_PTX static __attribute__((device, always_inline)) inline
#define __MR_PTX_SREG(name, reg)                                                                                       \
  __MR_PTX ::std::uint32_t get_sreg_##name() {                                                                         \
    ::std::uint32_t r;                                                                                                 \
    asm volatile("mov.u32 %0, %%" reg ";" : "=r"(r));                                                                  \
    return r;                                                                                                          \
  }
#define __MR_PTX_SREG3(name)                                                                                           \
  __MR_PTX_SREG(name##_x, #name ".x") __MR_PTX_SREG(name##_y, #name ".y") __MR_PTX_SREG(name##_z, #name ".z")
__MR_PTX_SREG3(tid)
__MR_PTX_SREG3(ntid)
__MR_PTX_SREG3(ctaid)
__MR_PTX_SREG3(nctaid)
__MR_PTX_SREG3(clusterid)
__MR_PTX_SREG3(nclusterid)
__MR_PTX_SREG3(cluster_ctaid)
__MR_PTX_SREG3(cluster_nctaid)
__MR_PTX_SREG(cluster_ctarank, "cluster_ctarank")
__MR_PTX_SREG(cluster_nctarank, "cluster_nctarank")
__MR_PTX_SREG(laneid, "laneid")
__MR_PTX_SREG(warpid, "warpid")
__MR_PTX_SREG(nwarpid, "nwarpid")
__MR_PTX_SREG(smid, "smid")
__MR_PTX_SREG(nsmid, "nsmid")
__MR_PTX_SREG(lanemask_eq, "lanemask_eq")
__MR_PTX_SREG(lanemask_le, "lanemask_le")
__MR_PTX_SREG(lanemask_lt, "lanemask_lt")
__MR_PTX_SREG(lanemask_ge, "lanemask_ge")
__MR_PTX_SREG(lanemask_gt, "lanemask_gt")
__MR_PTX_SREG(clock, "clock")
__MR_PTX_SREG(clock_hi, "clock_hi")
__MR_PTX_SREG(globaltimer_lo, "globaltimer_lo")
__MR_PTX_SREG(globaltimer_hi, "globaltimer_hi")
__MR_PTX_SREG(dynamic_smem_size, "dynamic_smem_size")
__MR_PTX_SREG(total_smem_size, "total_smem_size")
#undef __MR_PTX_SREG3
#undef __MR_PTX_SREG
__MR_PTX ::std::uint64_t get_sreg_clock64() {
  ::std::uint64_t r;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(r));
  return r;
}
__MR_PTX ::std::uint64_t get_sreg_globaltimer() {
  ::std::uint64_t r;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(r));
  return r;
}

__MR_PTX ::std::uint32_t __mr_shared(const void* p) { return (::std::uint32_t)__cvta_generic_to_shared(p); }

__MR_PTX void mbarrier_init(::std::uint64_t* object, const ::std::uint32_t& count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(__mr_shared(object)), "r"(count) : "memory");
}
__MR_PTX void mbarrier_inval(::std::uint64_t*) {}
__MR_PTX ::std::uint64_t mbarrier_arrive(::std::uint64_t* object) {
  ::std::uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(__mr_shared(object)) : "memory");
  return state;
}
__MR_PTX ::std::uint64_t mbarrier_arrive(::std::uint64_t* object, const ::std::uint32_t& count) {
  ::std::uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(__mr_shared(object)), "r"(count)
               : "memory");
  return state;
}
template <__mr_sem S, __mr_scope C>
__MR_PTX ::std::uint64_t mbarrier_arrive(sem_t<S>, scope_t<C>, space_shared_t, ::std::uint64_t* object) {
  return mbarrier_arrive(object);
}
template <__mr_sem S, __mr_scope C>
__MR_PTX ::std::uint64_t mbarrier_arrive(sem_t<S>, scope_t<C>, space_shared_t, ::std::uint64_t* object,
                                         const ::std::uint32_t& count) {
  return mbarrier_arrive(object, count);
}
template <__mr_sem S, __mr_scope C>
__MR_PTX ::std::uint64_t mbarrier_arrive_expect_tx(sem_t<S>, scope_t<C>, space_shared_t, ::std::uint64_t* object,
                                                   const ::std::uint32_t& bytes) {
  ::std::uint64_t state;
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(__mr_shared(object)), "r"(bytes)
               : "memory");
  return state;
}
template <__mr_scope C, __mr_space P>
__MR_PTX void mbarrier_expect_tx(sem_relaxed_t, scope_t<C>, space_t<P>, ::std::uint64_t* object,
                                 const ::std::uint32_t& bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(__mr_shared(object)), "r"(bytes)
               : "memory");
}
__MR_PTX bool mbarrier_test_wait(::std::uint64_t* object, const ::std::uint64_t& state) {
  ::std::uint32_t over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(__mr_shared(object)), "l"(state)
               : "memory");
  return over != 0;
}
__MR_PTX bool mbarrier_test_wait_parity(::std::uint64_t* object, const ::std::uint32_t& parity) {
  ::std::uint32_t over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over)
               : "r"(__mr_shared(object)), "r"(parity)
               : "memory");
  return over != 0;
}
__MR_PTX bool mbarrier_try_wait(::std::uint64_t* object, const ::std::uint64_t& state) {
  return mbarrier_test_wait(object, state);
}
__MR_PTX bool mbarrier_try_wait(::std::uint64_t* object, const ::std::uint64_t& state, const ::std::uint32_t&) {
  return mbarrier_test_wait(object, state);
}
__MR_PTX bool mbarrier_try_wait_parity(::std::uint64_t* object, const ::std::uint32_t& parity) {
  return mbarrier_test_wait_parity(object, parity);
}
__MR_PTX bool mbarrier_try_wait_parity(::std::uint64_t* object, const ::std::uint32_t& parity, const ::std::uint32_t&) {
  return mbarrier_test_wait_parity(object, parity);
}
template <__mr_sem S, __mr_scope C>
__MR_PTX bool mbarrier_try_wait_parity(sem_t<S>, scope_t<C>, ::std::uint64_t* object, const ::std::uint32_t& parity) {
  return mbarrier_test_wait_parity(object, parity);
}

template <__mr_space To>
__MR_PTX void cp_async_bulk(space_t<To>, space_global_t, void* to, const void* from, const ::std::uint32_t& bytes,
                            ::std::uint64_t* object) {
  static_assert(To != __mr_space::global, "with an mbarrier object, bulk copies go to shared memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(__mr_shared(to)),
      "l"(from), "r"(bytes), "r"(__mr_shared(object))
      : "memory");
}
__MR_PTX void cp_async_bulk(space_global_t, space_shared_t, void* to, const void* from, const ::std::uint32_t& bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(__mr_shared(from)),
               "r"(bytes)
               : "memory");
}
// Copies are made at the call.
__MR_PTX void cp_async_bulk_commit_group() {}
template <int N> __MR_PTX void cp_async_bulk_wait_group(::std::integral_constant<int, N>) {}
template <int N> __MR_PTX void cp_async_bulk_wait_group_read(::std::integral_constant<int, N>) {}

template <__mr_sem S, __mr_scope C> __MR_PTX void fence(sem_t<S>, scope_t<C>) {
  if (C == __mr_scope::cta)
    __threadfence_block();
  else
    __threadfence();
}
__MR_PTX void fence_mbarrier_init(sem_release_t, scope_cluster_t) { __threadfence_block(); }
__MR_PTX void fence_proxy_alias() { __threadfence(); }
__MR_PTX void fence_proxy_async() { __threadfence(); }
template <__mr_space S> __MR_PTX void fence_proxy_async(space_t<S>) { __threadfence(); }

__MR_PTX void barrier_cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__MR_PTX void barrier_cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__MR_PTX bool elect_sync(const ::std::uint32_t& mask) {
  ::std::uint32_t is;
  asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(is) : "r"(mask));
  return is != 0;
}
#undef __MR_PTX
#endif

}  // namespace ptx
}  // namespace cuda
