// thread_block_tile<N>: N consecutive threads, N a power of two. Up to 32 they are lanes of one warp; above, whole
// warps, whose collectives go through shared memory and a barrier of the tile.
#pragma once
#pragma clang system_header

#include "block.h"

namespace cooperative_groups {

template <unsigned N, class Parent = void> class thread_block_tile;

namespace details {

// Threads, rank and position of a tile of N within its parent's threads.
template <unsigned N> struct tile_shape {
  static_assert(N >= 1 && N <= 1024 && (N & (N - 1)) == 0, "a tile's size is a power of two from 1 to 1024");
  static __device__ unsigned thread_rank() { return __mr_thread_rank() & (N - 1); }
};

// Tiles of up to a warp.
template <unsigned N> class warp_tile : public thread_group {
 public:
  __device__ warp_tile(unsigned rank, unsigned count)
      : thread_group(false, lanes(), true), meta_rank_(rank), meta_size_(count) {}

  static __device__ constexpr unsigned size() { return N; }
  static __device__ constexpr unsigned num_threads() { return N; }
  static __device__ unsigned thread_rank() { return tile_shape<N>::thread_rank(); }
  __device__ unsigned meta_group_rank() const { return meta_rank_; }
  __device__ unsigned meta_group_size() const { return meta_size_; }
  static __device__ bool is_valid() { return true; }

  __device__ __attribute__((convergent)) void sync() const { __mr_warp_sync(lanes()); }

  template <class T> __device__ __attribute__((convergent)) T shfl(const T& value, int source) const {
    return exchange<T>(lanes(), value, first() + ((unsigned)source & (N - 1)));
  }
  template <class T> __device__ __attribute__((convergent)) T shfl_up(const T& value, unsigned delta) const {
    const unsigned r = thread_rank();
    return exchange<T>(lanes(), value, first() + (r >= delta ? r - delta : r));
  }
  template <class T> __device__ __attribute__((convergent)) T shfl_down(const T& value, unsigned delta) const {
    const unsigned r = thread_rank();
    return exchange<T>(lanes(), value, first() + (delta < N - r ? r + delta : r));
  }
  template <class T> __device__ __attribute__((convergent)) T shfl_xor(const T& value, unsigned bits) const {
    const unsigned r = thread_rank(), s = r ^ bits;
    return exchange<T>(lanes(), value, first() + (s < N ? s : r));
  }
  __device__ __attribute__((convergent)) int any(int predicate) const { return __any_sync(lanes(), predicate); }
  __device__ __attribute__((convergent)) int all(int predicate) const { return __all_sync(lanes(), predicate); }
  __device__ __attribute__((convergent)) unsigned ballot(int predicate) const {
    return __ballot_sync(lanes(), predicate) >> first();
  }
  template <class T> __device__ __attribute__((convergent)) unsigned match_any(const T& value) const {
    return __match_any_sync(lanes(), value) >> first();
  }
  template <class T> __device__ __attribute__((convergent)) unsigned match_all(const T& value, int& predicate) const {
    return __match_all_sync(lanes(), value, &predicate) >> first();
  }

  // The tile's lanes in its warp.
  static __device__ unsigned lanes() { return (N == 32 ? 0xffffffffu : ((1u << (N & 31)) - 1u) << first()); }

 private:
  static __device__ unsigned first() { return __mr_lane_id() & ~(N - 1); }
  unsigned meta_rank_, meta_size_;
};

// Tiles of several warps.
template <unsigned N> class wide_tile {
 public:
  __device__ wide_tile(unsigned rank, unsigned count) : meta_rank_(rank), meta_size_(count) {}

  static __device__ constexpr unsigned size() { return N; }
  static __device__ constexpr unsigned num_threads() { return N; }
  static __device__ unsigned thread_rank() { return tile_shape<N>::thread_rank(); }
  __device__ unsigned meta_group_rank() const { return meta_rank_; }
  __device__ unsigned meta_group_size() const { return meta_size_; }
  static __device__ bool is_valid() { return true; }

  // A barrier of the block by number: 16 and up are these headers', one for every tile of every size.
  __device__ __attribute__((convergent)) void sync() const {
    __mr_barrier_named(15u + 1024u / N + __mr_thread_rank() / N, N);
  }

  template <class T> __device__ __attribute__((convergent)) T shfl(const T& value, int source) const {
    static_assert(__is_trivially_copyable(T), "only trivially copyable values can be exchanged between threads");
    alignas(T) unsigned char result[sizeof(T)];
    constexpr unsigned chunk = 64;
    unsigned char* slot = exchange_memory() + __mr_thread_rank() / N * (N / 32) * chunk;
    for (unsigned at = 0; at < sizeof(T); at += chunk) {
      const unsigned n = sizeof(T) - at < chunk ? sizeof(T) - at : chunk;
      if (thread_rank() == ((unsigned)source & (N - 1))) __builtin_memcpy(slot, (const unsigned char*)&value + at, n);
      sync();
      __builtin_memcpy(result + at, slot, n);
      sync();
    }
    return *reinterpret_cast<T*>(result);
  }
  __device__ __attribute__((convergent)) int any(int predicate) const { return count(predicate) != 0; }
  __device__ __attribute__((convergent)) int all(int predicate) const { return count(predicate) == N; }

  // Combines each warp's value over the tile: warps write theirs, all read all of those before `count`.
  template <class T, class Op>
  __device__ __attribute__((convergent)) T __mr_combine(const T& warp_value, Op op, unsigned count) const {
    static_assert(sizeof(T) <= 64, "collectives of tiles beyond a warp move values of at most 64 bytes");
    unsigned char* first = exchange_memory() + __mr_thread_rank() / N * (N / 32) * 64;
    if ((thread_rank() & 31) == 0) __builtin_memcpy(first + thread_rank() / 32 * 64, &warp_value, sizeof(T));
    sync();
    T total = *reinterpret_cast<const T*>(first);
    for (unsigned w = 1; w < count; ++w) total = op(total, *reinterpret_cast<const T*>(first + w * 64));
    sync();
    return total;
  }

 private:
  __device__ __attribute__((convergent)) unsigned count(int predicate) const {
    const unsigned votes = (unsigned)__builtin_popcount(__ballot_sync(0xffffffffu, predicate));
    return __mr_combine(votes, [](unsigned a, unsigned b) { return a + b; }, N / 32);
  }
  unsigned meta_rank_, meta_size_;
};

template <unsigned N, bool Wide = (N > 32)> struct tile_base {
  typedef warp_tile<N> type;
};
template <unsigned N> struct tile_base<N, true> {
  typedef wide_tile<N> type;
};

}  // namespace details

// `Parent` is the type of group that was partitioned; void erases it.
template <unsigned N, class Parent> class thread_block_tile : public details::tile_base<N>::type {
  typedef typename details::tile_base<N>::type base;

 public:
  using base::base;
  // To the form that does not name the parent.
  __device__ operator thread_block_tile<N, void>() const {
    return thread_block_tile<N, void>(this->meta_group_rank(), this->meta_group_size());
  }
};
template <unsigned N> class thread_block_tile<N, void> : public details::tile_base<N>::type {
  typedef typename details::tile_base<N>::type base;

 public:
  using base::base;
};

// Of a block, or of a tile; the last tile of a block may have fewer threads than its size says.
template <unsigned N> __MR_D thread_block_tile<N, thread_block> tiled_partition(const thread_block&) {
  return thread_block_tile<N, thread_block>(__mr_thread_rank() / N, (__mr_block_threads() + N - 1) / N);
}
template <unsigned N, unsigned M, class P>
__MR_D thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(const thread_block_tile<M, P>& parent) {
  static_assert(N <= M, "a tile cannot be larger than the group that it is a part of");
  return thread_block_tile<N, thread_block_tile<M, P>>(parent.thread_rank() / N, M / N);
}

}  // namespace cooperative_groups
