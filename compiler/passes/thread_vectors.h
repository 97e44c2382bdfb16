// Thread loops whose bodies are loops and conditions, written for a vector of threads at a time.
#pragma once

namespace llvm {
class Instruction;
class Loop;
class LoopInfo;
class ScalarEvolution;
}  // namespace llvm

namespace mrcc {

// Whether the instruction can be executed for a vector of threads of which some don't take part, with the same bits for
// each: arithmetic, comparisons, conversions, plain loads and stores, branches.
bool has_vector_form(const llvm::Instruction& i);

// Whether it is a division that mustn't be done for threads that don't take part.
bool may_trap(const llvm::Instruction& i);

// Replaces the thread loop by one over vectors of `lanes` threads, the last one with fewer. Requires of the loop: LCSSA
// and simplified form; a trip count and header phis that can be computed in front of it; no values used behind it;
// inner loops that leave to the loop around them only; has_vector_form() of each instruction. The loop that was is
// unreachable afterwards.
void make_vectors(llvm::Loop& loop, unsigned lanes, llvm::LoopInfo& loops, llvm::ScalarEvolution& se);

}  // namespace mrcc
