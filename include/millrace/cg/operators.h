// plus, less (minimum), greater (maximum), bit_and, bit_or, bit_xor.
#pragma once
#pragma clang system_header

#include "group.h"

namespace cooperative_groups {

template <class T> struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

namespace details {

// destination = op(destination, value), atomically; returns what was there before.
template <class Atomic, class T, class Op> __MR_D T update(Atomic& destination, T value, Op& op) {
  T old = destination.load();
  while (!destination.compare_exchange_strong(old, (T)op(old, value))) {}
  return old;
}

}  // namespace details
}  // namespace cooperative_groups
