// <cuda/memory>, <cuda/utility>: alignment of pointers, spaces of addresses, loops over constants.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "std_utility.h"

namespace cuda {

__MR_CU bool is_aligned(const volatile void* p, size_t alignment) noexcept {
  return ((uintptr_t)p & (alignment - 1)) == 0;
}
template <class T> __MR_CU T* align_up(T* p, size_t alignment) noexcept {
  return (T*)(((uintptr_t)p + alignment - 1) & ~(uintptr_t)(alignment - 1));
}
template <class T> __MR_CU T* align_down(T* p, size_t alignment) noexcept {
  return (T*)((uintptr_t)p & ~(uintptr_t)(alignment - 1));
}
template <class U, class T> __MR_CU U* ptr_rebind(T* p) noexcept { return reinterpret_cast<U*>(p); }
template <class U, class T> __MR_CU const U* ptr_rebind(const T* p) noexcept { return reinterpret_cast<const U*>(p); }

namespace device {
enum class address_space { global, shared, constant, local, grid_constant, cluster_shared };
#if defined(__CUDACC__)
__device__ inline bool is_address_from(const volatile void* address, address_space space) {
  const void* p = const_cast<const void*>(address);
  switch (space) {
  case address_space::global: return __isGlobal(p);
  case address_space::shared: return __isShared(p);
  case address_space::constant: return __isConstant(p);
  case address_space::local: return __isLocal(p);
  case address_space::grid_constant: return __isGridConstant(p);
  case address_space::cluster_shared: return __isClusterShared(p);
  }
  return false;
}
template <class T> __device__ bool is_object_from(T& object, address_space space) {
  return is_address_from(&object, space);
}
#endif
}  // namespace device

// Calls f(integral_constant<...>) for Start, Start + Step, ... below End; with one bound from 0 on.
template <class T, T Size, class F, T... I> __MR_CU constexpr void __mr_each(F& f, ::std::integer_sequence<T, I...>) {
  (f(::std::integral_constant<T, I>()), ...);
}
template <auto Size, class F> __MR_CU constexpr void static_for(F f) {
  typedef decltype(Size) T;
  __mr_each<T, Size>(f, ::std::make_integer_sequence<T, Size>());
}

}  // namespace cuda
