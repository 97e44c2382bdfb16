// grid_group: all threads of the grid. Its barrier needs a cooperative launch.
#pragma once
#pragma clang system_header

#include "group.h"

namespace cooperative_groups {

class grid_group {
 public:
  struct arrival_token {};

  // The group exists in every launch; its barrier needs a cooperative one.
  __device__ bool is_valid() const { return __mr_grid_is_cooperative() != 0; }
  __device__ __attribute__((convergent)) void sync() const { __mr_grid_sync(); }
  __device__ arrival_token barrier_arrive() const {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return {};
  }
  __device__ __attribute__((convergent)) void barrier_wait(arrival_token&&) const { __mr_grid_sync(); }

  static __device__ unsigned long long size() { return num_blocks() * __mr_block_threads(); }
  static __device__ unsigned long long num_threads() { return size(); }
  static __device__ unsigned long long thread_rank() {
    return block_rank() * __mr_block_threads() + __mr_thread_rank();
  }
  static __device__ dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __device__ dim3 dim_blocks() { return group_dim(); }
  static __device__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __device__ dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __device__ unsigned long long block_rank() {
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
  }

  static __device__ dim3 dim_clusters() {
    const unsigned* c = __mr_lane()->block->cluster_dim;
    return dim3(gridDim.x / c[0], gridDim.y / c[1], gridDim.z / c[2]);
  }
  static __device__ unsigned num_clusters() {
    const dim3 d = dim_clusters();
    return d.x * d.y * d.z;
  }
  static __device__ dim3 cluster_index() {
    const unsigned* c = __mr_lane()->block->cluster_dim;
    return dim3(blockIdx.x / c[0], blockIdx.y / c[1], blockIdx.z / c[2]);
  }
  static __device__ unsigned cluster_rank() {
    const dim3 d = dim_clusters(), i = cluster_index();
    return i.x + d.x * (i.y + d.y * i.z);
  }
};

__MR_D grid_group this_grid() { return grid_group(); }

}  // namespace cooperative_groups
