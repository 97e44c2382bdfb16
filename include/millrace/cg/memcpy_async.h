// Collective copies. The threads of the group copy at the call, each its part; the data is there for all of them after
// the wait, which is the group's barrier.
#pragma once
#pragma clang system_header

#include "../device/aligned_size.h"
#include "coalesced.h"

namespace cooperative_groups {
namespace details {

template <class Group> __MR_D void copy(const Group& group, void* to, const void* from, size_t bytes) {
  // Whole 16-byte pieces by rank, then the rest by bytes.
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  const size_t threads = (size_t)group.size(), rank = (size_t)group.thread_rank(), pieces = bytes / 16;
  for (size_t i = rank; i < pieces; i += threads) __builtin_memcpy(t + i * 16, f + i * 16, 16);
  for (size_t i = pieces * 16 + rank; i < bytes; i += threads) t[i] = f[i];
}

}  // namespace details

template <class Group, class T> __MR_D void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  details::copy(group, to, from, bytes);
}
template <class Group, class T, size_t Alignment>
__MR_D void memcpy_async(const Group& group, T* to, const T* from, const cuda::aligned_size_t<Alignment>& bytes) {
  details::copy(group, to, from, (size_t)bytes);
}
template <class Group> __MR_D void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  details::copy(group, to, from, bytes);
}
// By elements: the smaller of the two counts.
template <class Group, class T, class DstCount, class SrcCount>
__MR_D void memcpy_async(const Group& group, T* to, const DstCount& to_count, const T* from,
                         const SrcCount& from_count) {
  const size_t d = (size_t)to_count, s = (size_t)from_count;
  details::copy(group, to, from, (d < s ? d : s) * sizeof(T));
}

template <class Group> __MR_D __attribute__((convergent)) void wait(const Group& group) { group.sync(); }
// Waits for all but the last `Stages` copies: here for all of them.
template <unsigned Stages, class Group> __MR_D __attribute__((convergent)) void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
