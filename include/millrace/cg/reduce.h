// Reductions over tiles and coalesced groups. Every thread gets the result.
#pragma once
#pragma clang system_header

#include "operators.h"
#include "partition.h"

namespace cooperative_groups {
namespace details {

// Lanes of a mask, by rank: halves fold onto each other; an odd rest is folded first. The order of operands is that of
// the ranks, and a full tile's sum is the butterfly's.
template <class T, class Op> __MR_D __attribute__((convergent)) T reduce_lanes(unsigned mask, T value, Op op) {
  const unsigned n = (unsigned)__builtin_popcount(mask), rank = (unsigned)__builtin_popcount(mask & lanes_below());
  for (unsigned width = n; width > 1;) {
    const unsigned half = (width + 1) / 2;
    const bool takes = rank + half < width;
    T other = exchange<T>(mask, value, nth_lane(mask, takes ? rank + half : rank));
    if (takes) value = op(value, other);
    width = half;
  }
  return exchange<T>(mask, value, nth_lane(mask, 0));
}

// Operators by which all threads of a butterfly get the same bits, whichever of two values comes first.
template <class Op, class T> struct commutes {
  static constexpr bool value = false;
};
template <class T> struct commutes<plus<T>, T> {
  static constexpr bool value = std::is_arithmetic<T>::value;
};
template <class T> struct commutes<less<T>, T> {
  static constexpr bool value = std::is_integral<T>::value;
};
template <class T> struct commutes<greater<T>, T> {
  static constexpr bool value = std::is_integral<T>::value;
};
template <class T> struct commutes<bit_and<T>, T> {
  static constexpr bool value = std::is_integral<T>::value;
};
template <class T> struct commutes<bit_or<T>, T> {
  static constexpr bool value = std::is_integral<T>::value;
};
template <class T> struct commutes<bit_xor<T>, T> {
  static constexpr bool value = std::is_integral<T>::value;
};

// The same within a tile, whose lanes are neighbours. Each thread makes the same exchanges whether or not its tile is
// full, so that the compiler sees that all threads reach them; values of lanes that a block's last tile lacks are left.
template <unsigned N, class T, class Op>
__MR_D __attribute__((convergent)) T reduce_tile(unsigned lanes, T value, Op op) {
  const unsigned rank = __mr_lane_id() & (N - 1), first = __mr_lane_id() & ~(N - 1);
  const unsigned n = (unsigned)__builtin_popcount(lanes & existing_lanes());
#pragma unroll
  for (unsigned half = N / 2; half > 0; half /= 2) {
    if constexpr (commutes<typename std::decay<Op>::type, T>::value) {
      const T other = exchange<T>(lanes, value, first + (rank ^ half));
      value = (rank ^ half) < n ? op(value, other) : value;
    } else {
      const bool takes = rank < half && rank + half < n;
      const T other = exchange<T>(lanes, value, first + (takes ? rank + half : rank));
      if (takes) value = op(value, other);
    }
  }
  return exchange<T>(lanes, value, first);
}

template <class T> using plain_t = typename std::remove_cv<typename std::remove_reference<T>::type>::type;

}  // namespace details

template <class T, class Op, unsigned N, class P>
__MR_D __attribute__((convergent)) details::plain_t<T> reduce(const thread_block_tile<N, P>& group, T&& value,
                                                              Op&& op) {
  typedef details::plain_t<T> V;
  if constexpr (N <= 32) {
    return details::reduce_tile<N, V>(group.lanes(), V(value), op);
  } else {
    const V warp = details::reduce_tile<32, V>(0xffffffffu, V(value), op);
    return group.__mr_combine(warp, op, N / 32);
  }
}
template <class T, class Op>
__MR_D __attribute__((convergent)) details::plain_t<T> reduce(const coalesced_group& group, T&& value, Op&& op) {
  typedef details::plain_t<T> V;
  return details::reduce_lanes<V>(group.lanes(), V(value), op);
}
template <class T, unsigned N, class P>
__MR_D __attribute__((convergent)) details::plain_t<T> reduce(const thread_block_tile<N, P>& group, T&& value) {
  return reduce(group, static_cast<T&&>(value), plus<details::plain_t<T>>());
}
template <class T>
__MR_D __attribute__((convergent)) details::plain_t<T> reduce(const coalesced_group& group, T&& value) {
  return reduce(group, static_cast<T&&>(value), plus<details::plain_t<T>>());
}

// One thread combines the group's result with an atomic object, or stores it there.
template <class Group, class Atomic, class T, class Op>
__MR_D __attribute__((convergent)) void reduce_update_async(const Group& group, Atomic& destination, T&& value,
                                                            Op&& op) {
  const auto total = reduce(group, static_cast<T&&>(value), op);
  if (group.thread_rank() == 0) details::update(destination, total, op);
}
template <class Group, class Atomic, class T, class Op>
__MR_D __attribute__((convergent)) void reduce_store_async(const Group& group, Atomic& destination, T&& value,
                                                           Op&& op) {
  const auto total = reduce(group, static_cast<T&&>(value), op);
  if (group.thread_rank() == 0) destination.store(total);
}

}  // namespace cooperative_groups
