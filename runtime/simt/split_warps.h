// How split kernels (compiler/passes/barrier_split.h) tell the device runtime archive
// (compiler/devicert/split_warps.cpp) of the warp operations that they don't complete themselves. Both are of one
// build, so this is no part of the ABI with the runtime.
//
// Each thread of a block has an element in the arrays that lie in the kernel's scratch memory, at an offset times the
// number of threads. A thread waits at one barrier or warp operation at a time, which its number says.
#pragma once
#include <cstdint>

// What the operation of a number is. Those from MR_SYNC_WARP on are of warps.
enum MrSyncKind : std::uint32_t {
  MR_SYNC_ENTRY = 0,  // the kernel's beginning, where nobody waits
  MR_SYNC_BARRIER = 1,
  MR_SYNC_WARP = 2,
  MR_SYNC_SHUFFLE = 3,
  MR_SYNC_BALLOT = 4,
  MR_SYNC_REDUCE = 5,     // op: MrReduce
  MR_SYNC_MATCH = 6,      // op: MrMatch
  MR_SYNC_ACTIVEMASK = 7  // the lanes that are there when no other lane of the warp can go on
};

struct MrSync {
  std::uint32_t kind, op;
  std::uint32_t mask;        // of all threads, or
  std::uint32_t mask_known;  // 0: each has its own in MrSplit::masks
  std::uint64_t brought;     // array of what the threads bring: elements of brought_bytes, 4 or 8 (ballots: 0 or 1)
  std::uint64_t given;       // array of 32-bit results; not for shuffles, whose threads read `brought`
  std::uint64_t brought_bytes;
};

// Where a thread waits, and more: MR_SPLIT_READY is set when it may go on behind it.
inline constexpr std::uint32_t MR_SPLIT_READY = 0x8000, MR_SPLIT_RETURNED = 0x7fff, MR_SPLIT_MIXED = 0x7ffe;

struct MrSplit {
  const MrSync* syncs;  // by number
  std::uint64_t at;     // array of 16 bits: where each thread waits, or MR_SPLIT_RETURNED
  std::uint64_t masks;  // array of 32 bits: the mask that it brought; then, of shuffles, the lanes that it met
  std::uint64_t here;   // array of bytes: 0 when it has returned
  std::uint64_t has_here;
};
