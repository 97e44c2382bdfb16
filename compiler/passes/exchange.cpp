#include "exchange.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "splitter.h"
#include "strided_loops.h"
#include "strides.h"
#include "uniformity.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr std::size_t most_instructions = 120;  // of a loop
constexpr std::size_t most_unrolled = 200;      // such a loop dissolves, and what it carries is in registers

// Who goes this way doesn't come to the block any more.
bool leaves(BasicBlock* way, BasicBlock* block) {
  SmallPtrSet<BasicBlock*, 16> seen;
  SmallVector<BasicBlock*, 16> stack{way};
  while (!stack.empty()) {
    BasicBlock* at = stack.pop_back_val();
    if (at == block) return false;
    if (seen.insert(at).second) stack.append(succ_begin(at), succ_end(at));
  }
  return true;
}

// Whether a thread that is still there reaches the block depends on nothing that differs among them. (A sum that one
// thread makes for all is not to be gone around by all.)
bool reached_together(BasicBlock* block, const PostDominatorTree& post, const Uniformity& uniformity) {
  SmallSetVector<BasicBlock*, 8> work;
  work.insert(block);
  for (std::size_t i = 0; i < work.size(); ++i)
    for (BasicBlock& decides : *block->getParent()) {
      if (decides.getTerminator()->getNumSuccessors() < 2 || post.properlyDominates(work[i], &decides) ||
          none_of(successors(&decides), [&](BasicBlock* next) { return post.dominates(work[i], next); }))
        continue;
      if (!uniformity.uniform(decides.getTerminator()) && any_of(successors(&decides), [&](BasicBlock* next) {
            return !post.dominates(work[i], next) && !leaves(next, work[i]);
          }))
        return false;
      work.insert(&decides);
    }
  return true;
}

// Whatever the order of the threads: the result isn't used, and what is left in the end is the same.
bool in_any_order(const AtomicRMWInst& i) {
  switch (i.getOperation()) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::And:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::Max:
  case AtomicRMWInst::Min:
  case AtomicRMWInst::UMax:
  case AtomicRMWInst::UMin: return !i.isVolatile() && i.use_empty() && i.getType()->isIntegerTy();
  default: return false;
  }
}

// `words`: where bits of misaligned addresses are collected.
bool worth_it(Loop& loop, const Uniformity& uniformity, const Strides& strides, ScalarEvolution& se,
              ArrayRef<Value*> words) {
  const DataLayout& layout = se.getDataLayout();
  const unsigned times = se.getSmallConstantTripCount(&loop);
  BasicBlock* exiting = loop.getExitingBlock();
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch() || !exiting || !loop.getExitBlock() ||
      !uniformity.uniform(exiting->getTerminator()))
    return false;
  const bool together = is_gone_around_together(*loop.getLoopLatch()->getTerminator());
  bool carries = together;
  const AtomicRMWInst* counts = nullptr;
  for (PHINode& phi : loop.getHeader()->phis()) {
    const bool counts_up = phi.getType()->isIntegerTy() && isa<SCEVAddRecExpr>(se.getSCEV(&phi));
    carries |= !phi.getType()->isPointerTy() && !counts_up && !uniformity.uniform(&phi);
  }
  std::size_t size = 0, cost = 0;
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& i : *block) {
      if (++size > most_instructions || isa<AllocaInst>(i)) return false;
      cost += !isa<PHINode, GetElementPtrInst, CastInst, CmpInst, BranchInst>(i);
      if (const Value* pointer = getLoadStorePointerOperand(&i); pointer && is_contained(words, pointer)) continue;
      if (const auto* load = dyn_cast<LoadInst>(&i)) {
        const auto stride = strides.of(load->getPointerOperand());
        const std::int64_t bytes = layout.getTypeStoreSize(load->getType());
        if (!load->isSimple() || !stride || (*stride != 0 && *stride != bytes)) return false;
      } else if (const auto* store = dyn_cast<StoreInst>(&i)) {
        const auto stride = strides.of(store->getPointerOperand());
        const std::int64_t bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
        if (!together || !store->isSimple() || !stride || *stride != bytes) return false;
      } else if (const auto* add = dyn_cast<AtomicRMWInst>(&i)) {
        if (!in_any_order(*add) || (counts && counts->getOperation() != add->getOperation())) return false;
        counts = add;
      } else if (const auto* call = dyn_cast<CallBase>(&i)) {
        if (!isa<IntrinsicInst>(call) || call->isConvergent()) return false;
        if (!call->doesNotAccessMemory() && !isa<DbgInfoIntrinsic>(call)) return false;
      } else if (i.mayReadOrWriteMemory()) {
        return false;
      }
    }
  return (carries || counts) && (!times || cost * times > most_unrolled);
}

}  // namespace

SmallVector<CallInst*, 4> mark_exchanges(const Extended& body) {
  Function& f = *body.body;
  SmallVector<CallInst*, 4> out;
  const auto item = [&](Item i) -> Value* {
    if (!(body.items >> i & 1)) return nullptr;
    return f.getArg(f.arg_size() - popcount(body.items) + popcount(body.items & ((1u << i) - 1)));
  };
  Value* tid[3] = {item(tid_x), item(tid_y), item(tid_z)};
  Value* words[2] = {item(misaligned_bits), item(misaligned_parameters)};
  if (!tid[tid_x]) return out;
  go_around_together(body);
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  const Uniformity uniformity(f, {tid[tid_x], tid[tid_y], tid[tid_z]});
  const DataLayout& layout = f.getParent()->getDataLayout();
  const Strides strides(uniformity, tid, layout);
  const TargetLibraryInfoImpl library(Triple(f.getParent()->getTargetTriple()));
  TargetLibraryInfo functions(library, &f);
  AssumptionCache assumptions(f);
  ScalarEvolution se(f, functions, assumptions, dominators, loops);
  const PostDominatorTree post(f);
  SmallVector<Loop*, 4> chosen;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (worth_it(*loop, uniformity, strides, se, words) && reached_together(loop->getHeader(), post, uniformity))
      chosen.push_back(loop);
  SmallVector<BasicBlock*, 8> places;
  for (Loop* loop : chosen) {
    BasicBlock* exit = loop->getExitBlock();
    if (!exit->getSinglePredecessor()) exit = SplitEdge(loop->getExitingBlock(), exit);
    places.append({loop->getHeader(), exit});
    // What it was before is apart from what the others go around.
    if (is_gone_around_together(*loop->getLoopLatch()->getTerminator()))
      for (BasicBlock* other : successors(loop->getLoopPreheader()->getSinglePredecessor()))
        if (other != loop->getLoopPreheader()) places.push_back(other);
  }
  if (places.empty()) return out;
  FunctionCallee meet = f.getParent()->getOrInsertFunction("__mr_barrier",
                                                           FunctionType::get(Type::getVoidTy(f.getContext()), false));
  for (BasicBlock* block : places) {
    if (splitting::sync_of(*block->getFirstNonPHIOrDbgOrLifetime()) == splitting::Sync::barrier) continue;
    CallInst* call = CallInst::Create(meet, "", block->getFirstInsertionPt());
    call->addFnAttr(Attribute::Convergent);
    call->setDoesNotThrow();
    out.push_back(call);
  }
  return out;
}

}  // namespace mrcc
