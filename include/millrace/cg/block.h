// thread_block: all threads of the block, and the shared memory that tiles of several warps exchange values through.
#pragma once
#pragma clang system_header

#include "group.h"

namespace cooperative_groups {

// Room for the exchanges of tiles beyond a warp (programming guide, "block_tile_memory"). These headers keep their own,
// so this only has to exist.
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
  char __mr_unused[MaxBlockSize / 32 * 8 + 8];
};

class thread_block : public thread_group {
 public:
  __device__ thread_block() : thread_group(true, 0) {}

  // Splits the barrier: what a thread does between the two calls need not be ordered against other threads.
  struct arrival_token {};

  static __device__ __attribute__((convergent)) void sync() { __mr_barrier(); }
  __device__ arrival_token barrier_arrive() const {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return {};
  }
  __device__ __attribute__((convergent)) void barrier_wait(arrival_token&&) const { __mr_barrier(); }

  static __device__ unsigned thread_rank() { return __mr_thread_rank(); }
  static __device__ unsigned size() { return __mr_block_threads(); }
  static __device__ unsigned num_threads() { return __mr_block_threads(); }
  static __device__ dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __device__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __device__ dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __device__ dim3 dim_threads() { return group_dim(); }
};

__MR_D thread_block this_thread_block() { return thread_block(); }
template <unsigned N> __MR_D thread_block this_thread_block(block_tile_memory<N>&) { return thread_block(); }

namespace details {

// One slot of 64 bytes per warp of the block.
__MR_D unsigned char* exchange_memory() {
  __shared__ __attribute__((aligned(16))) unsigned char memory[32 * 64];
  return memory;
}

}  // namespace details
}  // namespace cooperative_groups
