#include "whole_blocks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

#include "names.h"
#include "options.h"
#include "thread_loops.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr const char* row_marker = "mrcc.row";
constexpr std::size_t most_instructions = 48;  // of a loop
constexpr std::size_t most_vectors = 32;       // that it becomes
constexpr unsigned most_blocks_between = 8;    // two of them
constexpr std::size_t most_code = 4096;        // instructions of a chain, as vectors

Instruction* end_of(const Loop& loop) { return loop.getLoopLatch() ? loop.getLoopLatch()->getTerminator() : nullptr; }

// The constant number of times that a loop of a kernel's entry is gone around, 0 where it isn't known: an index from 0,
// by one, compared with the number.
std::uint64_t count_of(const Loop& loop) {
  auto* back = dyn_cast_or_null<BranchInst>(end_of(loop));
  auto* more = back && back->isConditional() ? dyn_cast<ICmpInst>(back->getCondition()) : nullptr;
  auto* limit = more ? dyn_cast<ConstantInt>(more->getOperand(1)) : nullptr;
  return limit && loop.getExitingBlock() == loop.getLoopLatch() ? limit->getZExtValue() : 0;
}

// The thread's index, or that and something that all have in common.
bool is_index(const Value* v, const Loop& loop, unsigned depth = 0) {
  if (const auto* phi = dyn_cast<PHINode>(v)) return phi->getParent() == loop.getHeader();
  const auto* i = dyn_cast<Instruction>(v);
  if (!i || depth > 3 || !loop.contains(i)) return false;
  if (isa<CastInst>(i)) return is_index(i->getOperand(0), loop, depth + 1);
  if (i->getOpcode() != Instruction::Add) return false;
  for (unsigned side : {0u, 1u})
    if (is_index(i->getOperand(side), loop, depth + 1)) return loop.isLoopInvariant(i->getOperand(1 - side));
  return false;
}

// The branch lets one thread access memory that the others don't.
bool is_for_one(const BranchInst& branch, const Loop& loop) {
  using namespace PatternMatch;
  const auto* compare = branch.isConditional() ? dyn_cast<ICmpInst>(branch.getCondition()) : nullptr;
  if (!compare || (!is_index(compare->getOperand(0), loop) && !is_index(compare->getOperand(1), loop))) return false;
  unsigned side;
  switch (compare->getPredicate()) {
  case ICmpInst::ICMP_EQ: side = 0; break;
  case ICmpInst::ICMP_NE: side = 1; break;
  case ICmpInst::ICMP_ULT:
  case ICmpInst::ICMP_SLT:
    if (!match(compare->getOperand(1), m_One())) return false;
    side = 0;
    break;
  case ICmpInst::ICMP_UGT:
  case ICmpInst::ICMP_SGT:
    if (!match(compare->getOperand(1), m_Zero())) return false;
    side = 1;
    break;
  default: return false;
  }
  const BasicBlock* only = branch.getSuccessor(side);
  return only->getSinglePredecessor() && any_of(*only, [](const Instruction& i) { return i.mayReadOrWriteMemory(); });
}

// Instructions that the body costs; 0 where it isn't to be part of a chain.
std::size_t cost_of(const Loop& loop) {
  std::size_t size = 0;
  for (const BasicBlock* block : loop.blocks()) {
    // What one thread does isn't worth a vector: such loops are divided.
    if (const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
        branch && branch != end_of(loop) && (branch->getMetadata(kTakesPartMark) || is_for_one(*branch, loop)))
      return 0;
    for (const Instruction& i : *block) {
      if (i.isVolatile() || i.isAtomic() || isa<AllocaInst>(i)) return 0;
      if (const auto* call = dyn_cast<CallBase>(&i))
        if (!isa<IntrinsicInst>(call) || call->isConvergent() || !call->doesNotAccessMemory()) return 0;
      size += !isa<PHINode, GetElementPtrInst, CastInst, BranchInst>(i) && !i.getType()->isIntegerTy(1);
    }
  }
  return size <= most_instructions ? size + 1 : 0;
}

struct Nest {
  Loop* threads = nullptr;
  Loop* outermost = nullptr;  // of those over rows
  std::size_t code = 0;
  const Loop* around() const { return outermost->getParentLoop(); }
};

bool is_nest(Loop* threads, std::uint64_t vector, Nest& nest) {
  const std::uint64_t row = count_of(*threads);
  if (!threads->isInnermost() || row < vector || row % vector) return false;
  const std::size_t cost = cost_of(*threads);
  if (!cost) return false;
  nest.threads = nest.outermost = threads;
  for (Loop* rows = threads->getParentLoop(); rows; rows = rows->getParentLoop()) {
    Instruction* end = end_of(*rows);
    if (!end || !loop_has(*end, row_marker)) break;
    if (count_of(*rows) != 1 || rows->getSubLoops().size() != 1) return false;
    nest.outermost = rows;
  }
  nest.code = cost * (row / vector);
  return row / vector <= most_vectors;
}

}  // namespace

void mark_row_loop(BranchInst& back) {
  add_to_loop(back, MDNode::get(back.getContext(), {MDString::get(back.getContext(), row_marker)}));
}

void mark_chains(Function& function, const LoopInfo& loops) {
  const std::uint64_t vector = options().march == "x86-64-v4" ? 16 : 8;
  SmallVector<Nest, 16> nests;
  DenseMap<const BasicBlock*, std::size_t> begins;  // by the header of the outermost loop
  for (Loop* loop : const_cast<LoopInfo&>(loops).getLoopsInPreorder()) {
    Nest nest;
    Instruction* end = end_of(*loop);
    if (!end || !is_thread_loop(*end) || !is_nest(loop, vector, nest)) continue;
    begins[nest.outermost->getHeader()] = nests.size();
    nests.push_back(nest);
  }
  // Each joins the chain of the one that follows.
  EquivalenceClasses<std::size_t> chains;
  for (std::size_t i = 0; i < nests.size(); ++i) {
    chains.insert(i);
    const BasicBlock* at = nests[i].outermost->getExitBlock();
    for (unsigned steps = 0; at && steps < most_blocks_between && !begins.contains(at); ++steps)
      at = at->getSingleSuccessor();
    const auto next = at ? begins.find(at) : begins.end();
    if (next != begins.end() && nests[next->second].around() == nests[i].around()) chains.unionSets(i, next->second);
  }
  MDNode* whole = MDNode::get(function.getContext(), {MDString::get(function.getContext(), whole_marker)});
  for (auto chain = chains.begin(); chain != chains.end(); ++chain) {
    if (!chain->isLeader()) continue;
    SmallVector<std::size_t, 16> members(chains.member_begin(chain), chains.member_end());
    std::size_t code = 0;
    for (std::size_t i : members) code += nests[i].code;
    if (members.size() < 2 || code > most_code) continue;
    for (std::size_t i : members) add_to_loop(*end_of(*nests[i].threads), whole);
  }
}

void unroll_chains(Function& function, const LoopInfo& loops) {
  LLVMContext& c = function.getContext();
  const auto word = [&](const char* text) { return MDString::get(c, text); };
  for (Loop* loop : const_cast<LoopInfo&>(loops).getLoopsInPreorder()) {
    Instruction* end = end_of(*loop);
    if (!end || !loop_has(*end, whole_marker)) continue;
    // Only where it has become vectors.
    MDNode* all = MDNode::get(c, {word("llvm.loop.unroll.full")});
    add_to_loop(*end, MDNode::get(c, {word("llvm.loop.vectorize.followup_vectorized"), all}));
  }
}

}  // namespace mrcc
