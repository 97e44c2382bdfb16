#include "strided_loops.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "names.h"
#include "strides.h"
#include "thread_loops.h"
#include "uniformity.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr const char* together = "mrcc.together";
constexpr const char* apart = "mrcc.apart";  // a loop as it was
constexpr unsigned deepest = 8;
constexpr std::size_t most_instructions = 100;
constexpr std::uint64_t most_threads = 1024;  // of a row

struct Strided {
  Loop* loop = nullptr;
  BranchInst* guard = nullptr;  // enters the loop or goes to its exit
  PHINode* index = nullptr;
  Value* start = nullptr;  // `of_block` and threadIdx.x
  Value* limit = nullptr;
  Value* step = nullptr;
  bool is_signed = false;
  bool guard_is_first_test = false;  // start < limit, and nothing else
};

class Rewriter {
 public:
  Rewriter(Function& f, ArrayRef<Value*> tid) : f_(f), tid_(tid) {}

  bool run() {
    bool changed = false;
    while (one()) changed = true;
    return changed;
  }

 private:
  // Analyses are made anew for each loop: there are few.
  bool one() {
    DominatorTree dominators(f_);
    LoopInfo loops(dominators);
    const TargetLibraryInfoImpl library(Triple(f_.getParent()->getTargetTriple()));
    TargetLibraryInfo functions(library, &f_);
    AssumptionCache assumptions(f_);
    ScalarEvolution se(f_, functions, assumptions, dominators, loops);
    const Uniformity uniformity(f_, {tid_[0], tid_[1], tid_[2]});
    for (Loop* loop : loops.getLoopsInPreorder()) {
      Strided s;
      if (!loop->isInnermost() || !recognise(*loop, se, uniformity, s)) continue;
      rewrite(s);
      return true;
    }
    return false;
  }

  // threadIdx.x, and what all threads have in common.
  bool is_row_index(const Value* v, const Uniformity& uniformity, unsigned depth = 0) const {
    if (v == tid_[0]) return true;
    const auto* i = dyn_cast<Instruction>(v);
    if (!i || depth == deepest) return false;
    if (isa<ZExtInst, SExtInst>(i)) return is_row_index(i->getOperand(0), uniformity, depth + 1);
    const auto* disjoint = dyn_cast<PossiblyDisjointInst>(i);
    if (i->getOpcode() != Instruction::Add && !(disjoint && disjoint->isDisjoint())) return false;
    for (const unsigned n : {0u, 1u})
      if (is_row_index(i->getOperand(n), uniformity, depth + 1)) return uniformity.uniform(i->getOperand(1 - n));
    return false;
  }
  // The same of thread 0.
  Value* of_block(IRBuilder<>& b, Value* v) const {
    if (v == tid_[0]) return ConstantInt::get(v->getType(), 0);
    auto* i = dyn_cast<Instruction>(v);
    if (!i || !depends_on_thread(v)) return v;
    Instruction* copy = i->clone();
    copy->dropPoisonGeneratingFlags();
    for (Use& o : copy->operands()) o.set(of_block(b, o.get()));
    copy->setDebugLoc({});
    return b.Insert(copy);
  }
  bool depends_on_thread(const Value* v) const {
    if (v == tid_[0]) return true;
    const auto* i = dyn_cast<Instruction>(v);
    return i && (isa<CastInst>(i) || isa<BinaryOperator>(i)) &&
           any_of(i->operands(), [&](const Value* o) { return depends_on_thread(o); });
  }

  bool recognise(Loop& loop, ScalarEvolution& se, const Uniformity& uniformity, Strided& s) const {
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch(), *exit = loop.getExitBlock();
    if (!before || !latch || !exit || loop.getExitingBlock() != latch || loop_has(*latch->getTerminator(), apart))
      return false;
    auto* back = dyn_cast<BranchInst>(latch->getTerminator());
    auto* more = back && back->isConditional() ? dyn_cast<ICmpInst>(back->getCondition()) : nullptr;
    if (!more || uniformity.uniform(back)) return false;
    // if (start < limit) do ... while (index + step < limit)
    BasicBlock* ahead = before->getSinglePredecessor();
    s.guard = ahead ? dyn_cast<BranchInst>(ahead->getTerminator()) : nullptr;
    if (!s.guard || !s.guard->isConditional() || !is_contained(successors(ahead), exit)) return false;
    for (Instruction& i : *before)
      if (!i.isTerminator() && (isa<PHINode>(i) || !isSafeToSpeculativelyExecute(&i))) return false;
    ICmpInst::Predicate p = more->getPredicate();
    if (back->getSuccessor(0) != loop.getHeader()) p = ICmpInst::getInversePredicate(p);
    Value *left = more->getOperand(0), *right = more->getOperand(1);
    if (p == ICmpInst::ICMP_SGT || p == ICmpInst::ICMP_UGT) {
      std::swap(left, right);
      p = ICmpInst::getSwappedPredicate(p);
    }
    if (p != ICmpInst::ICMP_SLT && p != ICmpInst::ICMP_ULT) return false;
    s.is_signed = p == ICmpInst::ICMP_SLT;
    auto* next = dyn_cast<BinaryOperator>(left);
    if (!next || next->getOpcode() != Instruction::Add || !loop.isLoopInvariant(right) || !uniformity.uniform(right))
      return false;
    s.loop = &loop;
    s.limit = right;
    for (PHINode& phi : loop.getHeader()->phis())
      if (phi.getIncomingValueForBlock(latch) == next)
        for (const unsigned n : {0u, 1u})
          if (next->getOperand(n) == &phi) s.index = &phi, s.step = next->getOperand(1 - n);
    if (!s.index || !loop.isLoopInvariant(s.step) || !uniformity.uniform(s.step) ||
        !isGuaranteedNotToBeUndefOrPoison(s.step))
      return false;
    const unsigned bits = s.index->getType()->getIntegerBitWidth();
    s.start = s.index->getIncomingValueForBlock(before);
    if ((bits != 32 && bits != 64) || !is_row_index(s.start, uniformity) ||
        !se.isLoopEntryGuardedByCond(&loop, p, se.getSCEV(s.start), se.getSCEV(s.limit)))
      return false;
    if (auto* test = dyn_cast<ICmpInst>(s.guard->getCondition()); test && s.guard->getSuccessor(0) == before)
      s.guard_is_first_test = test->getPredicate() == p && test->getOperand(0) == unextended(s.start) &&
                              test->getOperand(1) == unextended(s.limit);
    // Worth it where neighbours access neighbours.
    const Strides strides(uniformity, tid_, f_.getParent()->getDataLayout(), s.index);
    std::size_t size = 0;
    bool rows = false;
    for (BasicBlock* block : loop.blocks())
      for (Instruction& i : *block) {
        if (++size > most_instructions || isa<AllocaInst>(i)) return false;
        if (Value* pointer = getLoadStorePointerOperand(&i)) {
          if (i.isVolatile() || i.isAtomic()) return false;
          if (is_contained(words_of(), pointer)) continue;
          const auto stride = strides.of(pointer);
          const auto bytes = static_cast<std::int64_t>(
              f_.getParent()->getDataLayout().getTypeStoreSize(getLoadStoreType(&i)));
          if (!stride || (*stride != 0 && *stride != bytes)) return false;
          rows |= *stride != 0;
        } else if (i.mayReadOrWriteMemory() || (isa<CallBase>(i) && !isa<IntrinsicInst>(i))) {
          if (!isa<DbgInfoIntrinsic>(i)) return false;
        }
      }
    return rows;
  }
  static Value* unextended(Value* v) { return isa<ZExtInst, SExtInst>(v) ? cast<Instruction>(v)->getOperand(0) : v; }
  SmallVector<Value*, 2> words_of() const { return {tid_[3], tid_[4]}; }

  void rewrite(const Strided& s) {
    LLVMContext& c = f_.getContext();
    Loop& loop = *s.loop;
    BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch(), *exit = loop.getExitBlock();
    BasicBlock* ahead = s.guard->getParent();
    Value* entered = s.guard->getCondition();
    const bool entered_if = s.guard->getSuccessor(0) == before;
    for (Instruction& i : make_early_inc_range(*before))
      if (!i.isTerminator()) {
        i.moveBefore(s.guard);
        i.dropPoisonGeneratingFlags();
      }
    Type* type = s.index->getType();
    const auto number = [&](std::uint64_t n) { return ConstantInt::get(type, n); };
    IRBuilder<> b(s.guard);
    b.SetCurrentDebugLocation({});
    if (!entered_if) entered = b.CreateNot(entered);
    Value* first = of_block(b, s.start);
    Value* thread = b.CreateZExtOrTrunc(tid_[0], type);
    // Nothing wraps around: 0 < step <= 2^30, limit <= 2^31 - 1 - 1024 - step; negative starts aren't below zero.
    Value* safe = b.CreateICmpULT(b.CreateSub(s.step, number(1)), number(1u << 30));
    Value* most = b.CreateSub(number(0x7fffffffu - most_threads), s.step);
    safe = b.CreateAnd(safe, s.is_signed ? b.CreateICmpSLE(s.limit, most) : b.CreateICmpULE(s.limit, most));
    safe = b.CreateAnd(safe, b.CreateICmpSGE(first, number(0)));

    // The guard and the loop as it was, from now on for the case that something might.
    BasicBlock* other = SplitBlock(ahead, s.guard);
    BasicBlock* enter = BasicBlock::Create(c, "enter", &f_, other);
    BasicBlock* header = BasicBlock::Create(c, "together", &f_, other);
    BasicBlock* choose = BasicBlock::Create(c, "choose", &f_, other);
    BasicBlock* end = BasicBlock::Create(c, "end", &f_, other);
    BasicBlock* leave = BasicBlock::Create(c, "leave", &f_, other);
    ahead->getTerminator()->eraseFromParent();
    BranchInst::Create(enter, other, safe, ahead);
    BranchInst::Create(header, enter);

    ValueToValueMapTy map;
    SmallVector<BasicBlock*, 8> clones;
    for (BasicBlock* block : loop.blocks()) {
      BasicBlock* clone = CloneBasicBlock(block, map, ".together", &f_);
      clone->moveBefore(end);
      map[block] = clone;
      clones.push_back(clone);
    }
    auto* clone_header = cast<BasicBlock>(&*map[loop.getHeader()]);
    auto* clone_latch = cast<BasicBlock>(&*map[latch]);

    b.SetInsertPoint(header);
    PHINode* base = b.CreatePHI(type, 2, "base");
    SmallVector<std::pair<PHINode*, PHINode*>, 4> carried;  // old, new
    for (PHINode& phi : loop.getHeader()->phis())
      if (&phi != s.index) carried.push_back({&phi, b.CreatePHI(phi.getType(), 2, phi.getName())});
    // What is used behind the loop, as it was in the thread's last iteration.
    SmallVector<std::pair<Value*, PHINode*>, 4> last;
    for (PHINode& phi : exit->phis()) {
      auto* v = dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch));
      const bool known = any_of(carried, [&](auto& k) { return k.first->getIncomingValueForBlock(latch) == v; }) ||
                         any_of(last, [&](auto& l) { return l.first == v; });
      if (v && loop.contains(v) && !known) last.push_back({v, b.CreatePHI(v->getType(), 2, "last")});
    }
    Value* left = b.CreateSub(s.limit, base);
    b.CreateCondBr(b.CreateICmp(s.is_signed ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_ULT, base, s.limit), choose, leave);
    b.SetInsertPoint(choose);
    Value* index = b.CreateAdd(base, thread, "index");
    Value* takes_part = b.CreateICmpULT(thread, left);
    if (!s.guard_is_first_test) takes_part = b.CreateAnd(takes_part, entered);
    b.CreateCondBr(takes_part, clone_header, end)->setMetadata(kTakesPartMark, MDNode::get(c, {}));

    // The iteration.
    for (auto [old, fresh] : carried) {
      auto* phi = cast<PHINode>(&*map[old]);
      phi->replaceAllUsesWith(fresh);
      phi->eraseFromParent();
      map[old] = fresh;
    }
    auto* phi = cast<PHINode>(&*map[s.index]);
    phi->replaceAllUsesWith(index);
    phi->eraseFromParent();
    map[s.index] = index;
    remapInstructionsInBlocks(clones, map);
    const auto mapped = [&](Value* v) -> Value* {
      auto found = map.find(v);
      return found == map.end() ? v : static_cast<Value*>(found->second);
    };
    clone_latch->getTerminator()->eraseFromParent();
    BranchInst::Create(end, clone_latch);

    b.SetInsertPoint(end);
    const auto merge = [&](PHINode* fresh, Value* initial, Value* now) {
      PHINode* merged = b.CreatePHI(fresh->getType(), 2);
      merged->addIncoming(fresh, choose);
      merged->addIncoming(now, clone_latch);
      fresh->addIncoming(initial, enter);
      fresh->addIncoming(merged, end);
    };
    for (auto [old, fresh] : carried)
      merge(fresh, old->getIncomingValueForBlock(before), mapped(old->getIncomingValueForBlock(latch)));
    for (auto [v, fresh] : last) merge(fresh, PoisonValue::get(v->getType()), mapped(v));
    Value* up = b.CreateAdd(base, s.step, "", /*HasNUW=*/true, /*HasNSW=*/true);
    base->addIncoming(first, enter);
    base->addIncoming(up, end);
    BranchInst* back = b.CreateBr(header);
    add_to_loop(*back, MDNode::get(c, {MDString::get(c, together)}));
    add_to_loop(*latch->getTerminator(), MDNode::get(c, {MDString::get(c, apart)}));

    b.SetInsertPoint(leave);
    BranchInst* out = b.CreateBr(exit);
    b.SetInsertPoint(out);
    for (PHINode& p : exit->phis()) {
      Value* v = p.getIncomingValueForBlock(latch);
      Value* never = p.getIncomingValueForBlock(other);  // of threads that don't enter
      Value* initial = nullptr;
      for (auto& [old, fresh] : last)
        if (old == v) v = fresh;
      for (auto& [old, fresh] : carried)
        if (old->getIncomingValueForBlock(latch) == v) {
          v = fresh;
          initial = old->getIncomingValueForBlock(before);
          break;
        }
      const bool same = s.guard_is_first_test && initial == never;
      p.addIncoming(same || v == never ? v : b.CreateSelect(entered, v, never), leave);
    }
  }

  Function& f_;
  ArrayRef<Value*> tid_;
};

}  // namespace

bool is_gone_around_together(const Instruction& end) { return loop_has(end, together); }

bool go_around_together(const Extended& body) {
  Function& f = *body.body;
  const auto item = [&](Item i) -> Value* {
    if (!(body.items >> i & 1)) return nullptr;
    return f.getArg(f.arg_size() - popcount(body.items) + popcount(body.items & ((1u << i) - 1)));
  };
  Value* tid[5] = {item(tid_x), item(tid_y), item(tid_z), item(misaligned_bits), item(misaligned_parameters)};
  return tid[0] && Rewriter(f, tid).run();
}

}  // namespace mrcc
