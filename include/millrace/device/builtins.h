// The built-in variables (programming guide, "Built-in Variables"). They have no storage: the pass plugin replaces
// every use, so their address cannot be taken.
#pragma once
#pragma clang system_header

#include "../../vector_types.h"
#include "services.h"

extern const __attribute__((device)) uint3 threadIdx;
extern const __attribute__((device)) uint3 blockIdx;
extern const __attribute__((device)) dim3 blockDim;
extern const __attribute__((device)) dim3 gridDim;
static constexpr int warpSize = 32;

// What runtime/simt/abi.h calls MrBlock and MrLane; only what headers read is named here.
struct __mr_block {
  unsigned grid_dim[3];
  unsigned block_dim[3];
  unsigned block_idx[3];
  unsigned threads;
  char* shared;
  unsigned static_shared;
  unsigned dynamic_offset;
  unsigned dynamic_shared;
  unsigned cluster_dim[3];
  unsigned long grid_id;
  const void* args;
  void* runtime;
};
struct __mr_lane_record {
  __mr_block* block;
  unsigned tid[3];
  unsigned linear;
  unsigned poll_count;
  unsigned last_error;
  void* runtime;
  unsigned long spare[3];
};

// The record of the lane that runs on the current stack: a function of the stack pointer alone (abi.h, mr_lane_of).
__MR_D __mr_lane_record* __mr_lane() {
  unsigned long sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  return (__mr_lane_record*)((sp & ~((1ul << 18) - 1)) + ((sp >> 18 & 63u) << 6));
}

// Rank of the calling thread in its block, x fastest, and in its warp.
__MR_D unsigned __mr_thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
__MR_D unsigned __mr_block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
__MR_D unsigned __mr_lane_id() { return __mr_thread_rank() & 31u; }
