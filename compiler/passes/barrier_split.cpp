#include "barrier_split.h"

#include <simt/abi.h>

#include "llvm/Analysis/ValueTracking.h"

#include "exchange.h"
#include "splitter.h"

namespace mrcc {
namespace splitting {

// Every barrier alone in a block of its own.
void Splitter::isolate_barriers() {
  SmallVector<CallInst*, 8> calls;
  for (Instruction& i : instructions(body_))
    if (sync_of(i) != Sync::none) calls.push_back(cast<CallInst>(&i));
  for (CallInst* call : calls) {
    SplitBlock(call->getParent(), call->getIterator());
    SplitBlock(call->getParent(), std::next(call->getIterator()));
  }
  barriers_.insert(calls.begin(), calls.end());
  // Noted now: while regions are cloned, the clones' branches lead here too.
  for (CallInst* call : calls) before_[call->getParent()] = call->getParent()->getSinglePredecessor();
}

bool Splitter::check_calls() {
  if (barriers_.empty()) return refuse_for("what lanes do together is in a function that is not inlined");
  for (Instruction& i : instructions(body_)) {
    auto* call = dyn_cast<CallBase>(&i);
    if (call && sync_of(i) == Sync::none && call->isConvergent() && !call->isInlineAsm())
      return refuse_for(call->getCalledFunction() && is_collective(call->getCalledFunction()->getName())
                            ? "it calls a warp operation that is not split"
                            : "a barrier is in a function that is not inlined");
    if (of_warp(sync_of(i))) {
      const Sync sync = sync_of(i);
      if ((sync == Sync::shuffle || sync == Sync::reduce || sync == Sync::match) &&
          !isa<ConstantInt>(call->getArgOperand(1)))
        return refuse_for("a warp operation's kind is not constant");
    }
    if (auto* a = dyn_cast<AllocaInst>(&i); a && !a->isStaticAlloca())
      return refuse_for("a private variable has no constant size");
    if (isa<InvokeInst>(i) || isa<IndirectBrInst>(i) || isa<CallBrInst>(i)) return refuse_for("unusual control flow");
  }
  return true;
}

Region Splitter::make_region(BasicBlock* entry, CallInst* barrier) {
  Region r;
  r.entry = entry;
  r.barrier = barrier;
  SmallVector<BasicBlock*, 16> stack{entry};
  while (!stack.empty()) {
    BasicBlock* block = stack.pop_back_val();
    if (CallInst* next = barrier_of(block)) {
      r.next.insert(next);
      continue;
    }
    if (!r.blocks.insert(block)) continue;
    if (isa<ReturnInst>(block->getTerminator())) r.returns = true;
    // In the order of a walk in depth, so that definitions mostly come before uses.
    SmallVector<BasicBlock*, 4> after(successors(block));
    stack.append(after.rbegin(), after.rend());
  }
  return r;
}

// Where a region can end at several barriers, a uniform branch decides, or the threads part. Some threads may return
// and the others go on: they are noted as gone.
bool Splitter::check_exits() {
  unsigned cloned = 0;
  for (Region& r : regions_) {
    for (BasicBlock* block : r.blocks) cloned += block->size();
    if (r.next.size() + r.returns < 2) continue;
    // The ends that each block leads to: barriers, and null for return.
    DenseMap<BasicBlock*, SmallPtrSet<void*, 4>> ends;
    for (bool changed = true; changed;) {
      changed = false;
      for (BasicBlock* block : reverse(r.blocks)) {
        SmallPtrSet<void*, 4>& mine = ends[block];
        const std::size_t before = mine.size();
        if (isa<ReturnInst>(block->getTerminator())) mine.insert(nullptr);
        for (BasicBlock* next : successors(block)) {
          if (CallInst* barrier = barrier_of(next)) {
            mine.insert(barrier);
          } else {
            const SmallPtrSet<void*, 4> theirs = ends[next];
            ends[block].insert(theirs.begin(), theirs.end());
          }
        }
        changed |= ends[block].size() != before;
      }
    }
    for (BasicBlock* block : r.blocks) {
      Instruction* end = block->getTerminator();
      if (end->getNumSuccessors() < 2 || ends[block].size() < 2 || uniformity_->uniform(end)) continue;
      if (ends[block].size() == 2 && ends[block].contains(nullptr)) {
        leaves_early_ = true;
        continue;
      }
      if (!may_part_) return refuse_for("not all threads reach the same barrier");
      r.parts = parts_ = true;
    }
  }
  if (in_groups() && leaves_early_) return refuse_for("some threads return before others");
  return cloned <= max_cloned || refuse_for("it has too many barriers");
}

// Blocks of the region that its entry reaches without passing `def`.
SmallPtrSet<BasicBlock*, 16> Splitter::reached_around(const Region& r, BasicBlock* def) const {
  SmallPtrSet<BasicBlock*, 16> seen;
  SmallVector<BasicBlock*, 16> stack{r.entry};
  while (!stack.empty()) {
    BasicBlock* block = stack.pop_back_val();
    if (block == def || !r.blocks.contains(block) || !seen.insert(block).second) continue;
    stack.append(succ_begin(block), succ_end(block));
  }
  return seen;
}

// The value is needed from before the region.
bool Splitter::crosses_into(const Region& r, Instruction& v) {
  BasicBlock* def = v.getParent();
  SmallVector<BasicBlock*, 8> uses;
  for (Use& use : v.uses()) {
    auto* user = cast<Instruction>(use.getUser());
    BasicBlock* at = user->getParent();
    // Where a shuffle reads is looked at when the next region begins, and so are masks and where results go.
    if (user == r.barrier && of_warp(sync_of(*user)) &&
        (use.getOperandNo() == 0 ||
         (use.getOperandNo() >= 3 && (sync_of(*user) == Sync::shuffle || sync_of(*user) == Sync::match))))
      return true;
    if (auto* phi = dyn_cast<PHINode>(user))
      at = phi->getIncomingBlock(use);
    else if (at == def && !barriers_.contains(dyn_cast<CallInst>(user)))
      continue;
    // A barrier's operand is evaluated at the end of the regions before it.
    if (barrier_of(at)) at = before_.lookup(at);
    if (at && at != def && r.blocks.contains(at)) uses.push_back(at);
  }
  if (uses.empty()) return false;
  if (!r.blocks.contains(def)) return true;
  const SmallPtrSet<BasicBlock*, 16> around = reached_around(r, def);
  return any_of(uses, [&](BasicBlock* b) { return around.contains(b); });
}

bool Splitter::cheap(Value* v, unsigned& cost) {
  auto* i = dyn_cast<Instruction>(v);
  if (!i) return true;
  if (isa<AllocaInst>(i)) return true;
  if (isa<PHINode>(i) || ++cost > max_recomputed || i->mayReadOrWriteMemory() || i->mayHaveSideEffects() ||
      isa<CallBase>(i) || i->isTerminator() || isa<FreezeInst>(i))
    return false;
  // Divisions and the like cost more than a load.
  switch (i->getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
  case Instruction::FDiv:
  case Instruction::FRem: return false;
  default: break;
  }
  return all_of(i->operands(), [&](Value* o) { return cheap(o, cost); });
}

void Splitter::find_slots() {
  std::vector<std::pair<Value*, std::uint64_t>> arrays;
  for (Instruction& i : instructions(body_)) {
    if (auto* a = dyn_cast<AllocaInst>(&i)) {
      const std::uint64_t align = std::max<std::uint64_t>(a->getAlign().value(), 1);
      const std::uint64_t size = alignTo(*a->getAllocationSize(layout_), align);
      arrays.push_back({a, size});
      slots_[a] = {false, nullptr, nullptr, 0, size};
      continue;
    }
    auto* barrier = dyn_cast<CallInst>(&i);
    if (barrier && !barriers_.contains(barrier)) barrier = nullptr;
    if (i.getType()->isVoidTy() || (barrier && !parts_)) continue;
    if (none_of(regions_, [&](const Region& r) { return !(barrier && r.barrier == barrier) && crosses_into(r, i); }))
      continue;
    unsigned cost = 0;
    if (cheap(&i, cost)) {
      recomputed_.insert(&i);
      continue;
    }
    Slot slot;
    slot.uniform = uniformity_->uniform(&i) && none_of(regions_, [&](const Region& r) {
                     return r.by_warps && ((barrier && r.barrier == barrier) || r.blocks.contains(i.getParent()));
                   });
    slot.size = layout_.getTypeAllocSize(i.getType());
    if (!slot.uniform) arrays.push_back({&i, slot.size});
    slots_[&i] = slot;
  }
  for (CallInst* call : barriers_) {
    const Sync sync = sync_of(*call);
    if (!of_warp(sync)) continue;
    keeps_masks_ |= parts_ && sync != Sync::active;
    if (sync == Sync::warp) continue;
    Reduction& red = reductions_[call];
    const bool wide = (sync == Sync::shuffle || sync == Sync::match) &&
                      computeKnownBits(call->getArgOperand(2), layout_).countMinLeadingZeros() < 32;
    red.per_lane = sync != Sync::shuffle && (parts_ || sync == Sync::match || sync == Sync::active ||
                                             (sync == Sync::reduce && !all_lanes(call)));
    keeps_masks_ |= red.per_lane && sync != Sync::active && !isa<ConstantInt>(call->getArgOperand(0));
    red.brought.size = sync == Sync::active ? 0 : wide ? 8 : 4;
    red.given.size = sync == Sync::shuffle ? red.brought.size : 4;
    red.direct = sync == Sync::shuffle && may_read_directly(call);
  }
  for (const std::uint64_t size : {8, 4})
    for (CallInst* call : barriers_) {
      auto found = reductions_.find(call);
      if (found == reductions_.end()) continue;
      Reduction& red = found->second;
      for (Slot* slot : {&red.brought, &red.given}) {
        if (slot->size != size || (slot == &red.given && red.direct)) continue;
        slot->offset = lane_bytes_;
        lane_bytes_ += slot->size;
      }
    }
  if (keeps_masks_) {
    masks_ = {false, nullptr, nullptr, lane_bytes_, 4};
    lane_bytes_ += 4;
  }
  if (parts_) {
    at_ = {false, nullptr, nullptr, lane_bytes_, 2};
    lane_bytes_ += 2;
  }
  if (lane_bytes_) lane_bytes_ = alignTo(lane_bytes_, 64);  // whatever follows is aligned
  // Larger alignments first: a multiple of the number of threads keeps it.
  sort(arrays, [&](const auto& a, const auto& b) { return (a.second & -a.second) > (b.second & -b.second); });
  for (auto& [value, size] : arrays) {
    slots_[value].offset = lane_bytes_;
    lane_bytes_ += size;
  }
  for (const Region& r : regions_) leaves_early_ |= parts_ && r.returns && (!r.next.empty() || r.by_warps);
  if (leaves_early_) {
    here_ = {false, nullptr, nullptr, lane_bytes_, 1};
    lane_bytes_ += 1;
  }
  lane_bytes_ = alignTo(lane_bytes_, 64);
}

}  // namespace splitting

Split split_at_barriers(const Extended& body, bool store_lane, const BlockGroup& group) {
  Split split;
  const auto exchanges = store_lane ? llvm::SmallVector<llvm::CallInst*, 4>() : mark_exchanges(body);
  if (!exchanges.empty()) split = splitting::Splitter(body, store_lane, group, /*may_part=*/false).run();
  for (llvm::CallInst* meeting : exchanges) meeting->eraseFromParent();
  return split.blocks ? split : splitting::Splitter(body, store_lane, group, /*may_part=*/group.count <= 1).run();
}

Split split_at_exchanges(const Extended& body) {
  constexpr std::uint32_t most_bytes = 128;  // of a thread, so that blocks of any size have room
  Split split;
  const auto exchanges = mark_exchanges(body);
  if (!exchanges.empty()) split = splitting::Splitter(body, /*store_lane=*/false, {}, /*may_part=*/false).run();
  for (llvm::CallInst* meeting : exchanges) meeting->eraseFromParent();
  if (!split.blocks || split.lane_bytes <= most_bytes) return split;
  split.blocks->eraseFromParent();
  return {};
}

}  // namespace mrcc
