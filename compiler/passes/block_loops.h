// The loops of a kernel's run_blocks over the threads of a block, or of a group of blocks, around one call of the body.
#pragma once
#include "barrier_split.h"
#include "block_groups.h"
#include "body_call.h"
#include "context.h"

namespace llvm {
class BranchInst;
}

namespace mrcc {

// Where blocks are run: what `split` says, or loops over the threads around the body.
struct BlockPlace {
  const Extended& body;
  bool store_lane;
  const Split& split;
  const BlockGroup& group;
  llvm::BasicBlock* start;  // before all blocks
  llvm::Value *lane, *scratch;
  llvm::Value* count;  // of the group's blocks
};

// Runs the block that `of_block` tells of (its items), or a group of them from there on: in front of `builder`, which
// is behind the loops afterwards. Returns the call of the body or of what it was split into.
llvm::CallInst* run_block(llvm::IRBuilder<>& builder, const BlockPlace& place, Unpacker& unpacker,
                          llvm::MutableArrayRef<llvm::Value*> of_block);

// Loops over rows and blocks become innermost when the loop inside them dissolves; their trip counts are then mostly 1,
// or what is left isn't worth a vector.
void keep_scalar(llvm::BranchInst* back);

}  // namespace mrcc
