// Loads and stores with cache hints, address-space predicates and conversions, and asynchronous copies within a thread
// (programming guide, "Read-Only Data Cache Load Function", "Load/Store Functions Using Cache Hints", "Address Space
// Predicate Functions", "Pipeline Interface").
#pragma once
#pragma clang system_header

#include "builtins.h"

// A cache hint has no effect on the value: these are plain accesses, except that the volatile forms (__ldcv, __stwt)
// must see what other processors wrote.
#define __MR_HINTED(T)                                                                                                 \
  __MR_D T __ldg(const T* p) { return *p; }                                                                            \
  __MR_D T __ldca(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcg(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcs(const T* p) { return *p; }                                                                           \
  __MR_D T __ldlu(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcv(const T* p) {                                                                                        \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);                                                                           \
    T v = *p;                                                                                                          \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);                                                                           \
    return v;                                                                                                          \
  }                                                                                                                    \
  __MR_D void __stwb(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stcg(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stcs(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stwt(T* p, T v) {                                                                                      \
    *p = v;                                                                                                            \
    __atomic_signal_fence(__ATOMIC_SEQ_CST);                                                                           \
  }
// Scalars read through volatile: a loop that waits on such a load is recognised as one that spins.
#define __MR_HINTED_SCALAR(T)                                                                                          \
  __MR_D T __ldg(const T* p) { return *p; }                                                                            \
  __MR_D T __ldca(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcg(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcs(const T* p) { return *p; }                                                                           \
  __MR_D T __ldlu(const T* p) { return *p; }                                                                           \
  __MR_D T __ldcv(const T* p) { return *(const volatile T*)p; }                                                        \
  __MR_D void __stwb(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stcg(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stcs(T* p, T v) { *p = v; }                                                                            \
  __MR_D void __stwt(T* p, T v) { *(volatile T*)p = v; }
__MR_HINTED_SCALAR(char)
__MR_HINTED_SCALAR(signed char)
__MR_HINTED_SCALAR(unsigned char)
__MR_HINTED_SCALAR(short)
__MR_HINTED_SCALAR(unsigned short)
__MR_HINTED_SCALAR(int)
__MR_HINTED_SCALAR(unsigned int)
__MR_HINTED_SCALAR(long)
__MR_HINTED_SCALAR(unsigned long)
__MR_HINTED_SCALAR(long long)
__MR_HINTED_SCALAR(unsigned long long)
__MR_HINTED_SCALAR(float)
__MR_HINTED_SCALAR(double)
__MR_HINTED(char2)
__MR_HINTED(char4)
__MR_HINTED(uchar2)
__MR_HINTED(uchar4)
__MR_HINTED(short2)
__MR_HINTED(short4)
__MR_HINTED(ushort2)
__MR_HINTED(ushort4)
__MR_HINTED(int2)
__MR_HINTED(int4)
__MR_HINTED(uint2)
__MR_HINTED(uint4)
__MR_HINTED(longlong2)
__MR_HINTED(ulonglong2)
__MR_HINTED(float2)
__MR_HINTED(float4)
__MR_HINTED(double2)

// Address spaces. Shared memory is the block's window, local memory the lane's stack, and constant variables are in the
// image's table of variables. Everything else is global.
__MR_D unsigned __isShared(const void* p) {
  const __mr_block* block = __mr_lane()->block;
  const unsigned long offset = (unsigned long)p - (unsigned long)block->shared;
  const unsigned long size = block->dynamic_shared != 0 ? (unsigned long)block->dynamic_offset + block->dynamic_shared
                                                        : block->static_shared;
  return offset < size;
}
__MR_D unsigned __isLocal(const void* p) {
  unsigned long sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  return ((unsigned long)p ^ sp) >> 18 == 0;
}
__MR_D unsigned __isConstant(const void* p) { return __mr_is_constant(p); }
__MR_D unsigned __isGridConstant(const void* p) {
  const unsigned long offset = (unsigned long)p - (unsigned long)__mr_lane()->block->args;
  return offset < 32764;
}
__MR_D unsigned __isGlobal(const void* p) { return !__isShared(p) && !__isLocal(p) && !__isConstant(p); }
__MR_D unsigned __isClusterShared(const void* p) { return __mr_cluster_rank_of_shared(p) != ~0u; }

// Addresses are generic everywhere here, so a conversion keeps the value.
#define __MR_CVTA(space)                                                                                               \
  __MR_D __SIZE_TYPE__ __cvta_generic_to_##space(const void* p) { return (__SIZE_TYPE__)p; }                           \
  __MR_D void* __cvta_##space##_to_generic(__SIZE_TYPE__ p) { return (void*)p; }
__MR_CVTA(global)
__MR_CVTA(constant)
__MR_CVTA(local)
__MR_CVTA(grid_constant)

// But a shared address must fit 32 bits, which is what inline PTX keeps it in: it is the place in the block's window.
__MR_D __SIZE_TYPE__ __cvta_generic_to_shared(const void* p) {
  return (__SIZE_TYPE__)p - (__SIZE_TYPE__)__mr_static_shared();
}
__MR_D void* __cvta_shared_to_generic(__SIZE_TYPE__ p) { return (char*)__mr_static_shared() + p; }

// Dynamic shared memory and stack of the calling thread.
__MR_D unsigned __mr_dynamic_shared_bytes() { return __mr_lane()->block->dynamic_shared; }

__MR_D void* __nv_associate_access_property(const void* p, unsigned long long) { return (void*)p; }
