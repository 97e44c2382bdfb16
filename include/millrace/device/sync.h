// Barriers and fences (programming guide, "Synchronization Functions", "Memory Fence Functions").
#pragma once
#pragma clang system_header

#include "builtins.h"

__MR_D __attribute__((convergent)) void __syncthreads() { __mr_barrier(); }
__MR_D __attribute__((convergent)) int __syncthreads_count(int predicate) { return __mr_barrier_reduce(0, predicate); }
__MR_D __attribute__((convergent)) int __syncthreads_and(int predicate) { return __mr_barrier_reduce(1, predicate); }
__MR_D __attribute__((convergent)) int __syncthreads_or(int predicate) { return __mr_barrier_reduce(2, predicate); }
__MR_D __attribute__((convergent)) void __syncwarp(unsigned mask = 0xffffffffu) { __mr_warp_sync(mask); }

// Block scope: all threads of a block run on one processor core, one at a time, so the order the compiler keeps is the
// order that the other threads see.
__MR_D void __threadfence_block() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
__MR_D void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__MR_D void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

__MR_D __attribute__((convergent)) void __barrier_sync(unsigned id) { __mr_barrier_named(id, __mr_block_threads()); }
__MR_D __attribute__((convergent)) void __barrier_sync_count(unsigned id, unsigned count) {
  __mr_barrier_named(id, count);
}
__MR_D __attribute__((convergent)) void __cluster_barrier_arrive() { __mr_cluster_arrive(); }
__MR_D __attribute__((convergent)) void __cluster_barrier_arrive_relaxed() { __mr_cluster_arrive(); }
__MR_D __attribute__((convergent)) void __cluster_barrier_wait() { __mr_cluster_wait(); }
