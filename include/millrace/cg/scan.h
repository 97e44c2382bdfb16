// Prefix sums (scans) by rank over tiles and coalesced groups.
#pragma once
#pragma clang system_header

#include "reduce.h"

namespace cooperative_groups {
namespace details {

template <class T, class Op> __MR_D __attribute__((convergent)) T scan_lanes(unsigned mask, T value, Op op) {
  const unsigned n = (unsigned)__builtin_popcount(mask), rank = (unsigned)__builtin_popcount(mask & lanes_below());
  for (unsigned step = 1; step < n; step *= 2) {
    T below = exchange<T>(mask, value, nth_lane(mask, rank >= step ? rank - step : rank));
    if (rank >= step) value = op(below, value);
  }
  return value;
}
// The same within a tile, whose lanes are neighbours.
template <unsigned N, class T, class Op>
__MR_D __attribute__((convergent)) T scan_tile(unsigned lanes, T value, Op op) {
  const unsigned lane = __mr_lane_id(), rank = lane & (N - 1);
#pragma unroll
  for (unsigned step = 1; step < N; step *= 2) {
    const T below = exchange<T>(lanes, value, rank >= step ? lane - step : lane);
    if (rank >= step) value = op(below, value);
  }
  return value;
}
template <unsigned N, class T> __MR_D __attribute__((convergent)) T shift_tile(unsigned lanes, T inclusive, T first) {
  const unsigned lane = __mr_lane_id(), rank = lane & (N - 1);
  const T below = exchange<T>(lanes, inclusive, rank == 0 ? lane : lane - 1);
  return rank == 0 ? first : below;
}
// The inclusive result of the rank below; `first` for rank 0.
template <class T> __MR_D __attribute__((convergent)) T shift_lanes(unsigned mask, T inclusive, T first) {
  const unsigned rank = (unsigned)__builtin_popcount(mask & lanes_below());
  T below = exchange<T>(mask, inclusive, nth_lane(mask, rank == 0 ? 0 : rank - 1));
  return rank == 0 ? first : below;
}

template <class T, class Op, unsigned N, class P>
__MR_D __attribute__((convergent)) T inclusive(const thread_block_tile<N, P>& group, T value, Op op) {
  if constexpr (N <= 32) {
    return scan_tile<N, T>(group.lanes(), value, op);
  } else {
    T here = scan_tile<32, T>(0xffffffffu, value, op);
    const T total = exchange<T>(0xffffffffu, here, 31);
    const unsigned warp = group.thread_rank() / 32;
    const T before = group.__mr_combine(total, op, warp == 0 ? 1 : warp);
    return warp == 0 ? here : op(before, here);
  }
}
template <class T, class Op>
__MR_D __attribute__((convergent)) T inclusive(const coalesced_group& group, T value, Op op) {
  return scan_lanes<T>(group.lanes(), value, op);
}
template <class T, class Op, unsigned N, class P>
__MR_D __attribute__((convergent)) T exclusive(const thread_block_tile<N, P>& group, T value, Op op) {
  if constexpr (N <= 32) {
    return shift_tile<N, T>(group.lanes(), scan_tile<N, T>(group.lanes(), value, op), T());
  } else {
    T here = scan_tile<32, T>(0xffffffffu, value, op);
    const T total = exchange<T>(0xffffffffu, here, 31);
    const unsigned warp = group.thread_rank() / 32;
    const T before = group.__mr_combine(total, op, warp == 0 ? 1 : warp);
    const T below = shift_tile<32, T>(0xffffffffu, here, T());
    if (warp == 0) return below;
    return (group.thread_rank() & 31) == 0 ? before : op(before, below);
  }
}
template <class T, class Op>
__MR_D __attribute__((convergent)) T exclusive(const coalesced_group& group, T value, Op op) {
  return shift_lanes<T>(group.lanes(), scan_lanes<T>(group.lanes(), value, op), T());
}

}  // namespace details

template <class Group, class T, class Op>
__MR_D __attribute__((convergent)) details::plain_t<T> inclusive_scan(const Group& group, T&& value, Op&& op) {
  typedef details::plain_t<T> V;
  return details::inclusive<V>(group, V(value), op);
}
template <class Group, class T>
__MR_D __attribute__((convergent)) details::plain_t<T> inclusive_scan(const Group& group, T&& value) {
  typedef details::plain_t<T> V;
  return details::inclusive<V>(group, V(value), plus<V>());
}
// The first thread gets T{}.
template <class Group, class T, class Op>
__MR_D __attribute__((convergent)) details::plain_t<T> exclusive_scan(const Group& group, T&& value, Op&& op) {
  typedef details::plain_t<T> V;
  return details::exclusive<V>(group, V(value), op);
}
template <class Group, class T>
__MR_D __attribute__((convergent)) details::plain_t<T> exclusive_scan(const Group& group, T&& value) {
  typedef details::plain_t<T> V;
  return details::exclusive<V>(group, V(value), plus<V>());
}

// One thread adds the group's total to an atomic object; every thread's result starts from what was there before.
template <class Group, class Atomic, class T, class Op>
__MR_D __attribute__((convergent)) details::plain_t<T> inclusive_scan_update(const Group& group, Atomic& destination,
                                                                             T&& value, Op&& op) {
  typedef details::plain_t<T> V;
  const V here = details::inclusive<V>(group, V(value), op);
  V old = here;
  if (group.thread_rank() == group.size() - 1) old = details::update(destination, here, op);
  old = group.shfl(old, (int)group.size() - 1);
  return (V)op(old, here);
}
template <class Group, class Atomic, class T>
__MR_D __attribute__((convergent)) details::plain_t<T> inclusive_scan_update(const Group& group, Atomic& destination,
                                                                             T&& value) {
  return inclusive_scan_update(group, destination, static_cast<T&&>(value), plus<details::plain_t<T>>());
}
template <class Group, class Atomic, class T, class Op>
__MR_D __attribute__((convergent)) details::plain_t<T> exclusive_scan_update(const Group& group, Atomic& destination,
                                                                             T&& value, Op&& op) {
  typedef details::plain_t<T> V;
  const V here = details::inclusive<V>(group, V(value), op), below = details::exclusive<V>(group, V(value), op);
  V old = here;
  if (group.thread_rank() == group.size() - 1) old = details::update(destination, here, op);
  old = group.shfl(old, (int)group.size() - 1);
  return group.thread_rank() == 0 ? old : (V)op(old, below);
}
template <class Group, class Atomic, class T>
__MR_D __attribute__((convergent)) details::plain_t<T> exclusive_scan_update(const Group& group, Atomic& destination,
                                                                             T&& value) {
  return exclusive_scan_update(group, destination, static_cast<T&&>(value), plus<details::plain_t<T>>());
}

}  // namespace cooperative_groups
