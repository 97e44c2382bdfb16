// Split mode: a kernel's body with barriers becomes loops over the block's threads between the barriers.
//
//   body(params, items)            blocks(params, items, scratch)
//     A                              for each thread: A, spill what B needs
//     barrier          becomes       for each thread: B
//     B                              return
//
// The code from one barrier (or the entry) to the next ones is a *region*: every block that can be reached from there
// without another barrier, cloned (a block that several barriers reach is in several regions). All threads leave a
// region by the same barrier, so a uniform scalar decides which region follows and loops around barriers become loops
// around thread loops. Values that live across a barrier are recomputed where that is cheap, kept once if they are
// uniform (uniformity.h), else in an array with one element per thread in `scratch`. Private variables in memory are
// such arrays as well.
//
// Threads that return while others go on are noted in a byte each; later regions leave them out, but test for it only
// once a thread of the block has gone.
//
// Warp operations (shuffle, ballot, reduce, __syncwarp) that all threads of the block that are left reach together end
// regions too: a region before stores what each thread brings, the next one takes its part from there.
//
// Where threads may go on to different ones (`if (warp == 0)` around shuffles, rows per warp with lengths of their
// own), each notes in two bytes where it waits, and the warps go on one by one: a *phase*. A warp runs a region for the
// lanes that are ready for it, a mask, then those that wait at warp operations which all lanes of their masks have
// reached are ready for the regions behind these (runtime/simt/split_warps.h, compiler/devicert/split_warps.cpp), until
// all its lanes wait at a barrier or have returned. When all warps have got there, the block goes on together. Such
// regions are there twice, for blocks and for warps. Nothing is taken for uniform in phases: values that are defined
// there have an element per thread.
//
// What can't be split: barriers and warp operations in functions that are not inlined, named barriers.
#pragma once
#include <cstdint>
#include <string>

#include "block_groups.h"
#include "context.h"

namespace mrcc {

inline constexpr std::uint64_t scratch_margin = 256;

struct Split {
  llvm::Function* blocks = nullptr;  // null: can't be split
  std::string why;                   // the reason then
  std::uint32_t lane_bytes = 0;      // of scratch memory per thread
  bool by_warps = false;             // warps run by themselves somewhere
};
// The new function has the body's parameters and items (thread items are ignored), then `scratch`, aligned to 64, of
// lane_bytes per thread with scratch_margin readable bytes before and behind, and the block's three extents. With
// `store_lane` each thread's indices are in MrLane while it runs. The body is changed only by splitting blocks.
// For a group (as block_group() gives it) blockIdx.x and shared memory are the first block's, scratch is as large as
// for all blocks of a group, and behind the extents comes how many blocks there are.
Split split_at_barriers(const Extended& body, bool store_lane, const BlockGroup& group = {});

// The same for a body without barriers, where loops in it change places with the loop over threads (exchange.h). Not
// split (`blocks` is null) where there are none.
Split split_at_exchanges(const Extended& body);

}  // namespace mrcc
