// Partitions whose parts are known at run time: by size, by a label, by a predicate.
#pragma once
#pragma clang system_header

#include "coalesced.h"

namespace cooperative_groups {

// Consecutive `size` threads of a block, tile or coalesced group; size is a power of two up to 32.
__MR_D_BIG __attribute__((convergent)) thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.__mr_is_block() || parent.__mr_is_tile()) {
    const unsigned first = __mr_lane_id() & ~(size - 1);
    const unsigned lanes = size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << first;
    return __mr_make_group(lanes & details::existing_lanes(), true);
  }
  // Members of a coalesced group are neighbours by rank, not by lane.
  const unsigned mask = parent.__mr_mask(), rank = (unsigned)parent.thread_rank() / size * size;
  unsigned lanes = 0;
  for (unsigned i = rank; i < rank + size && i < (unsigned)parent.size(); ++i)
    lanes |= 1u << details::nth_lane(mask, i);
  return __mr_make_group(lanes, false);
}
__MR_D __attribute__((convergent)) coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned rank = parent.thread_rank() / size;
  unsigned lanes = 0;
  for (unsigned i = rank * size; i < (rank + 1) * size && i < parent.size(); ++i)
    lanes |= 1u << details::nth_lane(parent.lanes(), i);
  return __mr_make_coalesced(lanes, rank, (parent.size() + size - 1) / size);
}

namespace details {

// Splits the lanes `mask` by a label: the calling thread's part, its rank among the parts (by lowest lane) and their
// count.
__MR_D_BIG __attribute__((convergent)) coalesced_group split(unsigned mask, long long label) {
  const unsigned same = __match_any_sync(mask, label);
  const unsigned leaders = __ballot_sync(mask, (same & (0u - same)) == 1u << __mr_lane_id());
  const unsigned leader = same & (0u - same);
  return __mr_make_coalesced(same, (unsigned)__builtin_popcount(leaders & (leader - 1)),
                             (unsigned)__builtin_popcount(leaders));
}

}  // namespace details

template <class Label>
__MR_D __attribute__((convergent)) coalesced_group labeled_partition(const coalesced_group& parent, Label label) {
  return details::split(parent.lanes(), (long long)label);
}
template <class Label, unsigned N, class P>
__MR_D __attribute__((convergent)) coalesced_group labeled_partition(const thread_block_tile<N, P>& parent,
                                                                     Label label) {
  static_assert(N <= 32, "labeled_partition takes tiles of at most 32 threads");
  return details::split(parent.lanes() & details::existing_lanes(), (long long)label);
}
// False is the first part.
__MR_D __attribute__((convergent)) coalesced_group binary_partition(const coalesced_group& parent, bool predicate) {
  const unsigned yes = __ballot_sync(parent.lanes(), predicate);
  return __mr_make_coalesced(predicate ? yes : parent.lanes() & ~yes, predicate ? 1 : 0, 2);
}
template <unsigned N, class P>
__MR_D __attribute__((convergent)) coalesced_group binary_partition(const thread_block_tile<N, P>& parent,
                                                                    bool predicate) {
  static_assert(N <= 32, "binary_partition takes tiles of at most 32 threads");
  const unsigned lanes = parent.lanes() & details::existing_lanes(), yes = __ballot_sync(lanes, predicate);
  return __mr_make_coalesced(predicate ? yes : lanes & ~yes, predicate ? 1 : 0, 2);
}

}  // namespace cooperative_groups
