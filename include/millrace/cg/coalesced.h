// coalesced_group: lanes of one warp that came together, in lane order.
#pragma once
#pragma clang system_header

#include "tile.h"

namespace cooperative_groups {

class coalesced_group : public thread_group {
 public:
  __device__ unsigned size() const { return (unsigned)__builtin_popcount(mask_); }
  __device__ unsigned num_threads() const { return size(); }
  __device__ unsigned thread_rank() const { return (unsigned)__builtin_popcount(mask_ & details::lanes_below()); }
  __device__ unsigned meta_group_rank() const { return meta_rank_; }
  __device__ unsigned meta_group_size() const { return meta_size_; }
  __device__ __attribute__((convergent)) void sync() const { __mr_warp_sync(mask_); }

  template <class T> __device__ __attribute__((convergent)) T shfl(const T& value, int source) const {
    return details::exchange<T>(mask_, value, details::nth_lane(mask_, (unsigned)source % size()));
  }
  template <class T> __device__ __attribute__((convergent)) T shfl_up(const T& value, unsigned delta) const {
    const unsigned r = thread_rank();
    return details::exchange<T>(mask_, value, details::nth_lane(mask_, r >= delta ? r - delta : r));
  }
  template <class T> __device__ __attribute__((convergent)) T shfl_down(const T& value, unsigned delta) const {
    const unsigned r = thread_rank();
    return details::exchange<T>(mask_, value, details::nth_lane(mask_, delta < size() - r ? r + delta : r));
  }
  __device__ __attribute__((convergent)) int any(int predicate) const { return __any_sync(mask_, predicate); }
  __device__ __attribute__((convergent)) int all(int predicate) const { return __all_sync(mask_, predicate); }
  __device__ __attribute__((convergent)) unsigned ballot(int predicate) const {
    return details::pack(__ballot_sync(mask_, predicate), mask_);
  }
  template <class T> __device__ __attribute__((convergent)) unsigned match_any(const T& value) const {
    return details::pack(__match_any_sync(mask_, value), mask_);
  }
  template <class T> __device__ __attribute__((convergent)) unsigned match_all(const T& value, int& predicate) const {
    return details::pack(__match_all_sync(mask_, value, &predicate), mask_);
  }
  // The group's lanes in its warp.
  __device__ unsigned lanes() const { return mask_; }

 private:
  __device__ coalesced_group(unsigned mask, unsigned rank, unsigned count)
      : thread_group(false, mask), meta_rank_(rank), meta_size_(count) {}
  friend __device__ coalesced_group __mr_make_coalesced(unsigned mask, unsigned rank, unsigned count);

  unsigned meta_rank_, meta_size_;
};
__device__ inline coalesced_group __mr_make_coalesced(unsigned mask, unsigned rank = 0, unsigned count = 1) {
  return coalesced_group(mask, rank, count);
}

// The threads that run the call together.
__MR_D __attribute__((convergent)) coalesced_group coalesced_threads() { return __mr_make_coalesced(__activemask()); }

}  // namespace cooperative_groups
