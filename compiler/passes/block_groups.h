// Groups of blocks: of kernels with small two-dimensional blocks, neighbours in x run together, row by row.
//
//   for each block: for each row of it: threads     becomes     for each group: for each row of a block:
//                                                                 for each block of the group: threads
//
// A block of 16 x 16 threads touches sixteen places of a picture that lie a line of the picture apart. The next one
// touches their neighbours, but by then a processor's first-level cache, in which such places share a few sets, has
// lost them, and it has more streams to foresee than it can. Together the rows of neighbours are one long row.
//
// Each block has its own shared memory, below that of the one before it, and its own part of scratch memory. That is
// done where every access to shared memory is seen to be inside the block's own, so that an access beyond the end is
// still a fault. CUDA promises nothing about the order in which blocks run, but that those with smaller indices start
// first.
#pragma once
#include <array>
#include <cstdint>

#include "context.h"

namespace mrcc {

struct BlockGroup {
  unsigned count = 1;              // most blocks; 1: no group
  std::uint64_t shared_bytes = 0;  // from one block's shared memory to the next one's
};
// What to do with blocks of these extents: those of kernels that load and store, without loops, atomic operations and
// calls.
BlockGroup block_group(const Extended& body, const std::array<std::uint32_t, 3>& extents, std::uint32_t static_shared);

// The shared memory of the group's block number `index` (32 bits).
llvm::Value* shared_of(llvm::IRBuilderBase& builder, llvm::Value* first, llvm::Value* index, const BlockGroup& group);

}  // namespace mrcc
