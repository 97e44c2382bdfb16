// What all groups share: exchange of values of any size within a warp, lane masks, and the run-time group type.
#pragma once
#pragma clang system_header

#include <type_traits>

namespace cooperative_groups {

namespace details {

template <bool B, class T = void> using enable_if_t = typename std::enable_if<B, T>::type;  // C++11 has none

// Lanes of the calling thread's warp that its block has.
__MR_D unsigned existing_lanes() {
  const unsigned first = __mr_thread_rank() & ~31u, left = __mr_block_threads() - first;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1u;
}
__MR_D unsigned lanes_below() { return (1u << __mr_lane_id()) - 1u; }
// The lane of the n-th set bit of a mask, 31 past the end.
__MR_D_BIG unsigned nth_lane(unsigned mask, unsigned n) {
  for (; n != 0 && (mask & (mask - 1)) != 0; --n) mask &= mask - 1;
  return mask == 0 ? 31 : (unsigned)__builtin_ctz(mask);
}
// Packs the bits of `votes` at the positions of `mask` together, lowest first.
__MR_D_BIG unsigned pack(unsigned votes, unsigned mask) {
  unsigned r = 0;
  for (unsigned n = 0; mask != 0; mask &= mask - 1, ++n)
    if ((votes & mask & (0u - mask)) != 0) r |= 1u << n;
  return r;
}

// `value` of the lane `source`, for every lane of `mask`; any trivially copyable type, 8 bytes at a time.
template <class T> __MR_D __attribute__((convergent)) T exchange(unsigned mask, const T& value, unsigned source) {
  static_assert(__is_trivially_copyable(T), "only trivially copyable values can be exchanged between threads");
  constexpr unsigned words = (sizeof(T) + 7) / 8;
  unsigned long buffer[words] = {};
  __builtin_memcpy(buffer, &value, sizeof(T));
  for (unsigned i = 0; i < words; ++i) buffer[i] = __mr_shuffle(mask, 0, buffer[i], source, 32, nullptr);
  alignas(T) unsigned char bytes[sizeof(T)];
  __builtin_memcpy(bytes, buffer, sizeof(T));
  return *reinterpret_cast<T*>(bytes);
}

}  // namespace details

// The scopes of groups' barriers as libcu++ names them.
enum thread_scope_kind {
  thread_scope_system_kind,
  thread_scope_device_kind,
  thread_scope_block_kind,
  thread_scope_thread_kind
};

// A group whose kind is known at run time only: a block, a tile of up to 32 threads, or a coalesced group.
class thread_group {
 public:
  __device__ unsigned long long size() const { return num_threads(); }
  __device__ unsigned long long num_threads() const {
    return block_ ? __mr_block_threads() : (unsigned)__builtin_popcount(mask_);
  }
  __device__ unsigned long long thread_rank() const {
    return block_ ? __mr_thread_rank() : (unsigned)__builtin_popcount(mask_ & details::lanes_below());
  }
  __device__ bool is_valid() const { return true; }
  __device__ __attribute__((convergent)) void sync() const {
    if (block_)
      __mr_barrier();
    else
      __mr_warp_sync(mask_);
  }
  // Lanes of the group in its warp; not meaningful for a block.
  __device__ unsigned __mr_mask() const { return mask_; }
  __device__ bool __mr_is_block() const { return block_; }
  __device__ bool __mr_is_tile() const { return tile_; }

 protected:
  __device__ thread_group(bool block, unsigned mask, bool tile = false) : mask_(mask), block_(block), tile_(tile) {}
  friend __device__ thread_group __mr_make_group(unsigned mask, bool tile);

  unsigned mask_;
  bool block_, tile_;
};
__device__ inline thread_group __mr_make_group(unsigned mask, bool tile) { return thread_group(false, mask, tile); }

// Any group.
template <class Group> __MR_D __attribute__((convergent)) void sync(const Group& group) { group.sync(); }
template <class Group> __MR_D auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group> __MR_D auto group_size(const Group& group) -> decltype(group.size()) { return group.size(); }

}  // namespace cooperative_groups
