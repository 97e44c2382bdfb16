// cuda::aligned_size_t: a size whose alignment is known, for asynchronous copies.
#pragma once
#pragma clang system_header

namespace cuda {
inline namespace __mr {
template <__SIZE_TYPE__ Alignment>
struct aligned_size_t {
  static constexpr __SIZE_TYPE__ align = Alignment;
  __SIZE_TYPE__ value;
  __attribute__((host, device)) explicit constexpr aligned_size_t(__SIZE_TYPE__ size) : value(size) {}
  __attribute__((host, device)) constexpr operator __SIZE_TYPE__() const { return value; }
};
}  // namespace __mr
}  // namespace cuda
