// Blocks whose lanes are fibers: the data that the scheduler (resident.cpp), the warp operations (warp.cpp) and the
// barriers (barrier.cpp) share. Everything here is touched by one thread only.
//
// A lane of a warp is in exactly one place at a time: running, or one of the sets below (one bit a lane), or ended.
// Lanes run until they wait for something; the lane that waits picks the next one itself, lowest lane of its own warp
// first, and switches to it directly. Only when no lane can go on does control return to the host context.
#pragma once
#include <bit>
#include <cstdint>

#include <simt/abi.h>
#include <simt/executor.h>
#include <simt/grid.h>

namespace mr::simt {

struct Block;

inline constexpr std::uint32_t most_spare_residents = 8, most_cached_stacks = 1100;
inline constexpr int most_rounds = 8;  // of one step

// Lanes of a warp that wait in the same collective operation: same kind, same mask.
struct WarpGroup {
  std::uint32_t mask;     // as passed by the lanes
  std::uint32_t kind;     // WarpKind
  std::uint32_t arrived;  // the lanes that wait here
  std::uint32_t votes;    // a bit for each arrived lane whose predicate holds
};

struct alignas(64) Warp {
  // Sets of lanes.
  std::uint32_t ready;          // can run
  std::uint32_t live;           // has not ended
  std::uint32_t started;        // has a stack
  std::uint32_t at_barrier;     // waits at the block's barrier
  std::uint32_t polled;         // gave up its turn in a spin loop
  std::uint32_t sleeping;       // in __nanosleep until value[lane]
  std::uint32_t at_activemask;  // waits for the others to stop, called from value[lane]
  std::uint32_t at_named;       // waits at named barrier operand[lane]
  std::uint32_t at_grid;        // waits at the grid's barrier
  std::uint32_t at_cluster;     // waits at the cluster's barrier
  std::uint32_t predicate;      // result of shuffles and matches beside result[]
  std::uint32_t group_count;
  std::uint32_t index;            // in the block
  std::uint32_t cluster_arrived;  // lanes that arrived in the cluster barrier's phase and have not waited yet
  Block* block;
  std::uint64_t context[32];  // suspended lanes
  StackId stack[32];          // started lanes
  std::uint64_t value[32];    // what the lane brought to the operation
  std::uint64_t result[32];   // what it takes away
  std::uint32_t operand[32];
  std::uint32_t detail[32];
  std::uint32_t cluster_phase[32];  // of the lane's last arrival
  WarpGroup groups[32];             // the first group_count; their arrived sets are disjoint
};

struct NamedBarrier {
  std::uint32_t arrived;
};

struct Cluster;

struct Block {
  MrBlock* abi;
  Resident* resident;
  Window* window;
  Warp* warps;
  std::uint32_t warp_count, warp_capacity;
  std::uint32_t index;                           // in the resident
  std::uint32_t live;                            // lanes that have not ended
  std::uint32_t ready_warps;                     // warps with ready lanes (may include some without)
  std::uint32_t arrived;                         // lanes at the block's barrier
  std::uint32_t count, all, any;                 // reductions of the barrier in progress
  std::uint32_t last_count, last_all, last_any;  // and of the last completed one
  std::uint32_t grid_arrived;                    // lanes at the grid's barrier
  bool pdl_triggered;
  bool checked;                // of a kernel with MR_KERNEL_SITES: see misuse.h
  const MrSite* barrier_site;  // of the first lane that arrived at the barrier, and its number; of checked blocks
  std::uint32_t barrier_thread;
  Cluster* cluster;
  std::uint32_t cluster_rank;
  std::uint64_t linear;  // of the block in its grid, x fastest
  NamedBarrier
      named[48];  // 0..15 for device code by number, the others for tiles of several warps (cooperative groups)
};

// Blocks of one cluster; all in one resident.
struct Cluster {
  std::uint32_t live, arrived, phase;
  std::uint32_t first_block, blocks;  // in the resident
};

class Resident {
 public:
  Executor* executor = nullptr;
  Grid grid{};          // a copy: callers of start may reuse theirs
  bool finite = false;  // belongs to run_blocks: nothing to return to the host for
  bool progress = false;
  Block* blocks = nullptr;
  std::uint32_t block_count = 0, live_blocks = 0, block_capacity = 0;
  std::uint64_t* ready_blocks = nullptr;  // a bit for each block with ready warps
  std::uint32_t ready_words = 0;
  std::uint32_t sleepers = 0;         // lanes in __nanosleep
  std::uint32_t grid_waiting = 0;     // blocks whose lanes all wait at the grid's barrier
  std::uint32_t grid_generation = 0;  // of the grid's barrier when they arrived
  Cluster* clusters = nullptr;
  std::uint32_t cluster_count = 0;
  std::uint32_t reserved_stacks = 0;
  Resident* next = nullptr;  // in a list of recycled ones
};

// Enters the lanes of `r` from the host; returns when none can go on (leave_idle) or they were abandoned. On e's
// thread.
std::uint64_t enter(Executor* e, Resident& r) noexcept;

// ---- Set-up (resident.cpp)
// -------------------------------------------------------------------------------------------- A resident without
// blocks for e's thread; null without memory.
Resident* new_resident(Executor* e) noexcept;
// Gives `r` room for `count` blocks of the grid, with windows and MrBlocks filled in but for block_idx. False without
// memory.
bool shape(Resident& r, const Grid& g, std::uint32_t count) noexcept;
// Sets block `b` of `r` up as block `linear` of the grid: all lanes ready, none started.
void prepare_block(Resident& r, Block& b, std::uint64_t linear) noexcept;
// Groups the blocks of a launch with clusters (cluster.cpp). False without memory. After shape.
bool make_clusters(Resident& r) noexcept;
// Takes the stacks of abandoned lanes back.
void reclaim_stacks(Executor* e, Resident& r) noexcept;
// Lanes that polled may run again, and those that slept until `now` or, with `all_sleepers`, any. True if there were
// some.
bool wake_pollers(Resident& r, bool all_sleepers, std::uint64_t now) noexcept;
// Frees a resident whose blocks have all ended or were abandoned.
void destroy(Resident* r) noexcept;

inline void make_ready(Warp& w, std::uint32_t lanes) noexcept {
  Block& b = *w.block;
  w.ready |= lanes;
  b.ready_warps |= 1u << w.index;
  b.resident->ready_blocks[b.index / 64] |= std::uint64_t{1} << b.index % 64;
}

// The calling lane, by its stack. Fiber mode only.
struct Self {
  Warp* warp;
  unsigned lane;
  std::uint32_t bit() const noexcept { return 1u << lane; }
};
inline Self self(MrLane* lane) noexcept { return {static_cast<Warp*>(lane->runtime), lane->linear % MR_WARP}; }

namespace detail {
void suspend_slowly(Warp* w, unsigned lane, Warp* from, unsigned after) noexcept;
}
// Stops the calling lane, which has put itself in a waiting set or made itself ready, and runs others until its turn
// comes. The next lane is the first ready one after lane `after` of warp `from`; 31 = the warp's lowest.
inline void suspend(Warp* w, unsigned lane, Warp* from, unsigned after) noexcept {
#if !defined(MR_SIMT_ASAN) && !defined(MR_SIMT_TSAN)
  // The common case: another started lane of the warp.
  if (const std::uint32_t ready = from->ready) [[likely]] {
    const std::uint32_t later = ready & ~1u << after;
    const unsigned next = static_cast<unsigned>(std::countr_zero(later ? later : ready));
    const std::uint32_t bit = 1u << next;
    if (from->started & bit && (from != w || next != lane)) [[likely]] {
      from->ready = ready & ~bit;
      mr_simt_switch(&w->context[lane], from->context[next], 0);
      return;
    }
  }
#endif
  detail::suspend_slowly(w, lane, from, after);
}
inline void suspend(Warp* w, unsigned lane) noexcept { suspend(w, lane, w, lane); }

// Each room file's part in a lane's end: whoever waits for the ended lane may go on. The lane is no longer in
// warp->live.
void lane_left_warp(Warp& w, std::uint32_t bit) noexcept;
void lane_left_block(Block& b) noexcept;
void lane_left_cluster(Block& b, Warp& w, std::uint32_t bit) noexcept;
void lane_left_grid(Block& b) noexcept;
// Lanes wait in activemask and no lane of the warp can run: answers them. True if lanes became ready.
bool resolve_activemask(Warp& w) noexcept;
// Looks whether the grid's barrier has completed since the resident's blocks arrived, and releases them.
void poll_grid_barrier(Resident& r) noexcept;
// The context died: leaves the device code. Called by lanes where they may wait.
inline void give_up_if_dead(Resident& r) noexcept {
  if (r.grid.device->dead.load(std::memory_order_relaxed)) abandon(r.executor, Fault::interrupted);
}

}  // namespace mr::simt
