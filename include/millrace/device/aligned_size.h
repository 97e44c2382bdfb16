// cuda::aligned_size_t: a size whose alignment is known, for asynchronous copies.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "../../host_defines.h"

namespace cuda {
inline namespace __mr {
template <__SIZE_TYPE__ Alignment> struct aligned_size_t {
  static constexpr __SIZE_TYPE__ align = Alignment;
  __SIZE_TYPE__ value;
  __host__ __device__ explicit constexpr aligned_size_t(__SIZE_TYPE__ size) : value(size) {}
  __host__ __device__ constexpr operator __SIZE_TYPE__() const { return value; }
};
}  // namespace __mr
}  // namespace cuda
