// cuda::annotated_ptr, access properties and discard_memory (libcu++): advice to a GPU's second-level cache, which a
// processor's has no use for. What is left is the pointer.
#pragma once
#ifdef __clang__
#pragma clang system_header
#endif

#include "../device/aligned_size.h"
#include "barrier.h"

namespace cuda {

class access_property {
 public:
  struct shared {};
  struct global {};
  struct normal {};
  struct persisting {};
  struct streaming {};

  access_property() = default;
  __MR_CUM constexpr access_property(global) noexcept {}
  __MR_CUM constexpr access_property(normal) noexcept {}
  __MR_CUM constexpr access_property(persisting) noexcept {}
  __MR_CUM constexpr access_property(streaming) noexcept {}
  template <class P> __MR_CUM constexpr access_property(P, float) noexcept {}
  template <class P, class Q> __MR_CUM constexpr access_property(P, float, Q) noexcept {}
  template <class P> __MR_CUM constexpr access_property(void*, ::std::size_t, ::std::size_t, P) noexcept {}
  template <class P, class Q> __MR_CUM constexpr access_property(void*, ::std::size_t, ::std::size_t, P, Q) noexcept {}
};

template <class T, class Property> __MR_CUM T* associate_access_property(T* p, Property) { return p; }
template <class Shape, class Property> __MR_CUM void apply_access_property(const volatile void*, Shape, Property) {}
// The values are lost: whoever wants them must write them anew.
template <class Shape> __MR_CUM void discard_memory(volatile void*, Shape) {}

template <class T, class Property = access_property> class annotated_ptr {
 public:
  using value_type = T;
  using size_type = ::std::size_t;
  using reference = T&;
  using pointer = T*;
  using const_pointer = const T*;
  using difference_type = ::std::ptrdiff_t;

  annotated_ptr() = default;
  __MR_CUM constexpr explicit annotated_ptr(T* p) noexcept : pointer_(p) {}
  template <class P> __MR_CUM constexpr annotated_ptr(T* p, P) noexcept : pointer_(p) {}
  template <class U, class P>
  __MR_CUM constexpr annotated_ptr(const annotated_ptr<U, P>& other) noexcept : pointer_(other.get()) {}
  template <class U, class P, class Q>
  __MR_CUM constexpr annotated_ptr(const annotated_ptr<U, P>& other, Q) noexcept : pointer_(other.get()) {}

  __MR_CUM constexpr T* get() const noexcept { return pointer_; }
  __MR_CUM constexpr T* operator->() const noexcept { return pointer_; }
  __MR_CUM constexpr T& operator*() const noexcept { return *pointer_; }
  __MR_CUM constexpr T& operator[](difference_type i) const noexcept { return pointer_[i]; }
  __MR_CUM constexpr difference_type operator-(const annotated_ptr& other) const noexcept {
    return pointer_ - other.pointer_;
  }
  __MR_CUM constexpr explicit operator bool() const noexcept { return pointer_ != nullptr; }
  __MR_CUM constexpr Property __property() const noexcept { return Property(); }

 private:
  T* pointer_ = nullptr;
};

template <class T, class P, class U, class Q, class Shape, class Sync>
__MR_CUM void memcpy_async(annotated_ptr<T, P> to, annotated_ptr<U, Q> from, Shape bytes, Sync& sync) {
  memcpy_async(to.get(), from.get(), bytes, sync);
}
template <class T, class U, class Q, class Shape, class Sync>
__MR_CUM void memcpy_async(T* to, annotated_ptr<U, Q> from, Shape bytes, Sync& sync) {
  memcpy_async(to, from.get(), bytes, sync);
}

}  // namespace cuda
