// cluster_group: the blocks of a thread-block cluster, and their shared memory. Without clusters a block is its own.
#pragma once
#pragma clang system_header

#include "grid.h"

namespace cooperative_groups {

class cluster_group {
 public:
  struct arrival_token {};

  static __device__ __attribute__((convergent)) void sync() {
    __mr_cluster_arrive();
    __mr_cluster_wait();
  }
  static __device__ __attribute__((convergent)) arrival_token barrier_arrive() {
    __mr_cluster_arrive();
    return {};
  }
  static __device__ __attribute__((convergent)) void barrier_wait(arrival_token&&) { __mr_cluster_wait(); }
  static __device__ __attribute__((convergent)) void barrier_wait() { __mr_cluster_wait(); }

  static __device__ dim3 dim_blocks() {
    const unsigned* c = __mr_lane()->block->cluster_dim;
    return dim3(c[0], c[1], c[2]);
  }
  static __device__ unsigned num_blocks() {
    const dim3 d = dim_blocks();
    return d.x * d.y * d.z;
  }
  static __device__ dim3 block_index() {
    const dim3 d = dim_blocks();
    return dim3(blockIdx.x % d.x, blockIdx.y % d.y, blockIdx.z % d.z);
  }
  static __device__ unsigned block_rank() {
    const dim3 d = dim_blocks(), i = block_index();
    return i.x + d.x * (i.y + d.y * i.z);
  }
  static __device__ unsigned num_threads() { return num_blocks() * __mr_block_threads(); }
  static __device__ unsigned size() { return num_threads(); }
  static __device__ unsigned thread_rank() { return block_rank() * __mr_block_threads() + __mr_thread_rank(); }
  static __device__ dim3 dim_threads() {
    const dim3 d = dim_blocks();
    return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
  }
  static __device__ dim3 thread_index() {
    const dim3 i = block_index();
    return dim3(i.x * blockDim.x + threadIdx.x, i.y * blockDim.y + threadIdx.y, i.z * blockDim.z + threadIdx.z);
  }

  // The same variable in the shared memory of another block of the cluster.
  template <class T> static __device__ T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(__mr_cluster_map_shared((void*)address, (unsigned)rank));
  }
  // Whose shared memory an address lies in.
  static __device__ unsigned query_shared_rank(const void* address) { return __mr_cluster_rank_of_shared(address); }
};

__MR_D cluster_group this_cluster() { return cluster_group(); }

}  // namespace cooperative_groups

__MR_D dim3 __clusterDim() { return cooperative_groups::cluster_group::dim_blocks(); }
__MR_D dim3 __clusterRelativeBlockIdx() { return cooperative_groups::cluster_group::block_index(); }
__MR_D dim3 __clusterIdx() { return cooperative_groups::grid_group::cluster_index(); }
__MR_D dim3 __clusterGridDimInClusters() { return cooperative_groups::grid_group::dim_clusters(); }
__MR_D unsigned __clusterRelativeBlockRank() { return cooperative_groups::cluster_group::block_rank(); }
__MR_D unsigned __clusterSizeInBlocks() { return cooperative_groups::cluster_group::num_blocks(); }
__MR_D void* __cluster_map_shared_rank(const void* p, unsigned rank) { return __mr_cluster_map_shared((void*)p, rank); }
__MR_D unsigned __cluster_query_shared_rank(const void* p) { return __mr_cluster_rank_of_shared(p); }
