// Atomic functions (programming guide, "Atomic Functions"): plain, _block and _system forms of every operation.
//
// The scope makes no difference on a processor with coherent caches. CUDA promises no order beyond the operation
// itself, but programs lean on the fact that a device compiler moves nothing across one; acquire-release costs nothing
// on x86-64 and keeps that.
#pragma once
#pragma clang system_header

#include "builtins.h"

template <class T> __MR_D T __mr_atomic_cas(T* address, T expected, T desired) {
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}

#define __MR_ATOMIC_OP(name, builtin, T)                                                                               \
  __MR_D T name(T* address, T value) { return builtin(address, value, __ATOMIC_ACQ_REL); }                             \
  __MR_D T name##_block(T* address, T value) { return builtin(address, value, __ATOMIC_ACQ_REL); }                     \
  __MR_D T name##_system(T* address, T value) { return builtin(address, value, __ATOMIC_ACQ_REL); }
#define __MR_ATOMIC_CAS(T)                                                                                             \
  __MR_D T atomicCAS(T* address, T compare, T value) { return __mr_atomic_cas(address, compare, value); }              \
  __MR_D T atomicCAS_block(T* address, T compare, T value) { return __mr_atomic_cas(address, compare, value); }        \
  __MR_D T atomicCAS_system(T* address, T compare, T value) { return __mr_atomic_cas(address, compare, value); }

__MR_ATOMIC_OP(atomicAdd, __atomic_fetch_add, int)
__MR_ATOMIC_OP(atomicAdd, __atomic_fetch_add, unsigned int)
__MR_ATOMIC_OP(atomicAdd, __atomic_fetch_add, unsigned long long)
__MR_ATOMIC_OP(atomicAdd, __atomic_fetch_add, float)
__MR_ATOMIC_OP(atomicAdd, __atomic_fetch_add, double)
__MR_ATOMIC_OP(atomicSub, __atomic_fetch_sub, int)
__MR_ATOMIC_OP(atomicSub, __atomic_fetch_sub, unsigned int)
__MR_ATOMIC_OP(atomicExch, __atomic_exchange_n, int)
__MR_ATOMIC_OP(atomicExch, __atomic_exchange_n, unsigned int)
__MR_ATOMIC_OP(atomicExch, __atomic_exchange_n, unsigned long long)
__MR_ATOMIC_OP(atomicMin, __atomic_fetch_min, int)
__MR_ATOMIC_OP(atomicMin, __atomic_fetch_min, unsigned int)
__MR_ATOMIC_OP(atomicMin, __atomic_fetch_min, long long)
__MR_ATOMIC_OP(atomicMin, __atomic_fetch_min, unsigned long long)
__MR_ATOMIC_OP(atomicMax, __atomic_fetch_max, int)
__MR_ATOMIC_OP(atomicMax, __atomic_fetch_max, unsigned int)
__MR_ATOMIC_OP(atomicMax, __atomic_fetch_max, long long)
__MR_ATOMIC_OP(atomicMax, __atomic_fetch_max, unsigned long long)
__MR_ATOMIC_OP(atomicAnd, __atomic_fetch_and, int)
__MR_ATOMIC_OP(atomicAnd, __atomic_fetch_and, unsigned int)
__MR_ATOMIC_OP(atomicAnd, __atomic_fetch_and, long long)
__MR_ATOMIC_OP(atomicAnd, __atomic_fetch_and, unsigned long long)
__MR_ATOMIC_OP(atomicOr, __atomic_fetch_or, int)
__MR_ATOMIC_OP(atomicOr, __atomic_fetch_or, unsigned int)
__MR_ATOMIC_OP(atomicOr, __atomic_fetch_or, long long)
__MR_ATOMIC_OP(atomicOr, __atomic_fetch_or, unsigned long long)
__MR_ATOMIC_OP(atomicXor, __atomic_fetch_xor, int)
__MR_ATOMIC_OP(atomicXor, __atomic_fetch_xor, unsigned int)
__MR_ATOMIC_OP(atomicXor, __atomic_fetch_xor, long long)
__MR_ATOMIC_OP(atomicXor, __atomic_fetch_xor, unsigned long long)
__MR_ATOMIC_CAS(int)
__MR_ATOMIC_CAS(unsigned int)
__MR_ATOMIC_CAS(unsigned long long)
__MR_ATOMIC_CAS(unsigned short)

// Wrapping counters: a loop, kept out of line so that a kernel that counts is not taken for one that spins.
#define __MR_ATOMIC_COUNT(name, function)                                                                              \
  __MR_D unsigned name(unsigned* address, unsigned limit) { return function(address, limit); }                         \
  __MR_D unsigned name##_block(unsigned* address, unsigned limit) { return function(address, limit); }                 \
  __MR_D unsigned name##_system(unsigned* address, unsigned limit) { return function(address, limit); }
__MR_ATOMIC_COUNT(atomicInc, __mr_atomic_inc)
__MR_ATOMIC_COUNT(atomicDec, __mr_atomic_dec)

__MR_D float __mr_atomic_exchange(float* address, float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  bits = __atomic_exchange_n((unsigned*)address, bits, __ATOMIC_ACQ_REL);
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
__MR_D float atomicExch(float* address, float value) { return __mr_atomic_exchange(address, value); }
__MR_D float atomicExch_block(float* address, float value) { return __mr_atomic_exchange(address, value); }
__MR_D float atomicExch_system(float* address, float value) { return __mr_atomic_exchange(address, value); }

// Vectors are atomic per element (programming guide, atomicAdd of float2 and float4).
#define __MR_ATOMIC_VECTOR(suffix)                                                                                     \
  __MR_D float2 atomicAdd##suffix(float2* a, float2 v) {                                                               \
    return float2{atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y)};                                                       \
  }                                                                                                                    \
  __MR_D float4 atomicAdd##suffix(float4* a, float4 v) {                                                               \
    return float4{atomicAdd(&a->x, v.x), atomicAdd(&a->y, v.y), atomicAdd(&a->z, v.z), atomicAdd(&a->w, v.w)};         \
  }
__MR_ATOMIC_VECTOR()
__MR_ATOMIC_VECTOR(_block)
__MR_ATOMIC_VECTOR(_system)

// Any 16-byte type with 16-byte alignment (compute capability 9.0).
template <bool ok> struct __mr_when {};
template <> struct __mr_when<true> {
  typedef int type;
};
template <class T> struct __mr_wide {
  static constexpr bool value = sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T);
};
__MR_D void __mr_atomic16(void* address, const void* compare, const void* value, void* old) {
  unsigned __int128 c, v;
  __builtin_memcpy(&v, value, 16);
  __builtin_memcpy(&c, compare, 16);
  __atomic_compare_exchange_n((unsigned __int128*)address, &c, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  __builtin_memcpy(old, &c, 16);
}
#define __MR_ATOMIC_WIDE(suffix)                                                                                       \
  template <class T, typename __mr_when<__mr_wide<T>::value>::type = 0>                                                \
  __MR_D T atomicCAS##suffix(T* address, T compare, T value) {                                                         \
    T old;                                                                                                             \
    __mr_atomic16(address, &compare, &value, &old);                                                                    \
    return old;                                                                                                        \
  }                                                                                                                    \
  template <class T, typename __mr_when<__mr_wide<T>::value>::type = 0>                                                \
  __MR_D T atomicExch##suffix(T* address, T value) {                                                                   \
    unsigned __int128 v;                                                                                               \
    __builtin_memcpy(&v, &value, 16);                                                                                  \
    v = __atomic_exchange_n((unsigned __int128*)address, v, __ATOMIC_ACQ_REL);                                         \
    __builtin_memcpy(&value, &v, 16);                                                                                  \
    return value;                                                                                                      \
  }
__MR_ATOMIC_WIDE()
__MR_ATOMIC_WIDE(_block)
__MR_ATOMIC_WIDE(_system)

// Low-level forms (CUDA 12.8: __nv_atomic_*). Order and scope are compile-time values.
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
// The value converts to the object's type.
template <class T> struct __mr_atomic_value {
  typedef __remove_cv(T) type;
};
#define __MR_NV_ATOMIC(name, builtin)                                                                                  \
  template <class T>                                                                                                   \
  __MR_D typename __mr_atomic_value<T>::type __nv_atomic_##name(T* address, typename __mr_atomic_value<T>::type value, \
                                                                int order, int = __NV_THREAD_SCOPE_SYSTEM) {           \
    return builtin(address, value, order);                                                                             \
  }
// With and without the old value.
#define __MR_NV_ATOMIC_FETCH(name)                                                                                     \
  __MR_NV_ATOMIC(fetch_##name, __atomic_fetch_##name)                                                                  \
  template <class T>                                                                                                   \
  __MR_D void __nv_atomic_##name(T* address, typename __mr_atomic_value<T>::type value, int order,                     \
                                 int = __NV_THREAD_SCOPE_SYSTEM) {                                                     \
    __atomic_fetch_##name(address, value, order);                                                                      \
  }
__MR_NV_ATOMIC_FETCH(add)
__MR_NV_ATOMIC_FETCH(sub)
__MR_NV_ATOMIC_FETCH(and)
__MR_NV_ATOMIC_FETCH(or)
__MR_NV_ATOMIC_FETCH(xor)
__MR_NV_ATOMIC_FETCH(min)
__MR_NV_ATOMIC_FETCH(max)
__MR_NV_ATOMIC(exchange_n, __atomic_exchange_n)
template <class T>
__MR_D typename __mr_atomic_value<T>::type __nv_atomic_load_n(T* address, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_load_n(address, order);
}
template <class T>
__MR_D void __nv_atomic_store_n(T* address, typename __mr_atomic_value<T>::type value, int order,
                                int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store_n(address, value, order);
}
template <class T>
__MR_D bool __nv_atomic_compare_exchange_n(T* address, typename __mr_atomic_value<T>::type* expected,
                                           typename __mr_atomic_value<T>::type desired, bool weak, int success,
                                           int failure, int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_compare_exchange_n(address, expected, desired, weak, success, failure);
}
// The forms that pass values through pointers, for types of 1 to 16 bytes.
template <class T>
__MR_D void __nv_atomic_load(T* address, typename __mr_atomic_value<T>::type* result, int order,
                             int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_load(address, result, order);
}
template <class T>
__MR_D void __nv_atomic_store(T* address, typename __mr_atomic_value<T>::type* value, int order,
                              int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_store(address, value, order);
}
template <class T>
__MR_D void __nv_atomic_exchange(T* address, typename __mr_atomic_value<T>::type* value,
                                 typename __mr_atomic_value<T>::type* result, int order,
                                 int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_exchange(address, value, result, order);
}
template <class T>
__MR_D bool __nv_atomic_compare_exchange(T* address, typename __mr_atomic_value<T>::type* expected,
                                         typename __mr_atomic_value<T>::type* desired, bool weak, int success,
                                         int failure, int = __NV_THREAD_SCOPE_SYSTEM) {
  return __atomic_compare_exchange(address, expected, desired, weak, success, failure);
}
__MR_D void __nv_atomic_thread_fence(int order, int = __NV_THREAD_SCOPE_SYSTEM) { __atomic_thread_fence(order); }
