// Thread loops (the loops over threadIdx.x that kernels become) are divided where a condition of their threads changes.
//
//   for x in [0, bdim): if (base + x < n) A else B      becomes      for x in [0, m): A
//                                                                     for x in [m, bdim): B
//
// Guards (`if (i < n)`), halves of a reduction (`if (tid < k)`) and single threads (`if (tid == 0)`) so cost one
// comparison for each row of a block instead of a mask for each vector, and loops of threads that do nothing vanish.
// The order of threads stays what it was.
//
// A comparison counts when one side is a loop-invariant value plus threadIdx.x and the other is invariant, or when both
// are invariant and the loop has no loops in it: then there is a loop for each case, and a branch chooses. Where the
// sum may wrap around, a test before the loops decides, and the loop stays as it was for the rows in which it does.
// Short rows of constant extents (a vector or two) aren't divided: their conditions become constant masks.
#pragma once
#include "llvm/IR/PassManager.h"

namespace llvm {
class BranchInst;
class Function;
class Instruction;
class Loop;
class MDNode;
class ScalarEvolution;
}  // namespace llvm

namespace mrcc {

// Marks the branch that ends a thread loop: one block is the header, one the latch; its index is a 32-bit phi in the
// header that the latch increases by one and compares (unsigned less) with the limit. Nothing else is carried around.
// `access_group`: the loop's accesses that are independent of each other, or null.
void mark_thread_loop(llvm::BranchInst& back, llvm::MDNode* access_group);
// Whether the branch ends a thread loop.
bool is_thread_loop(const llvm::Instruction& end);
// Whether the branch's loop has a property of this name.
bool loop_has(const llvm::Instruction& end, llvm::StringRef property);
// Gives the branch's loop one more property, and takes away that called `without`.
void add_to_loop(llvm::Instruction& end, llvm::MDNode* property, llvm::StringRef without = {});
// The property of thread loops that aren't divided, as they become straight-line code (whole_blocks.h).
inline constexpr const char* whole_marker = "mrcc.whole";
// Thread loops aren't unrolled, so that they are still there for the vectoriser. To be called just before it: what is
// left of short rows, a few vectors, may be unrolled after it.
void allow_unrolling(llvm::Loop& loop, llvm::ScalarEvolution& se);
// The function is rarely run: few instructions instead of vectors.
void keep_small(llvm::Function& function);
// Returns true if anything was changed.
bool divide_thread_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
// Gives comparisons in rows that stay whole their constants back. To be called just before vectorisation; returns true
// if anything was changed.
bool reveal_constants(llvm::Function& function);

}  // namespace mrcc
