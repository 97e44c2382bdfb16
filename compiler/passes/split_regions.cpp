#include <simt/abi.h>
#include <simt/split_warps.h>

#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#include "splitter.h"
#include "thread_loops.h"

namespace mrcc::splitting {

Splitter::Threads Splitter::open_block(IRBuilder<>& b, const Region& r, ValueToValueMapTy& map) {
  Threads t;
  if (leaves_early_ && r.barrier) t.all = b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), left_), b.getInt32(0));
  const bool differ = rows_differ();
  t.end[0] = extent_[0];
  t.end[1] = differ ? extent_[1] : b.CreateNUWMul(extent_[1], extent_[2]);
  t.end[2] = extent_[2];
  if (differ) t.z = open(b, "thread.z");
  t.y = open(b, "thread.y");
  Value* row = differ ? b.CreateAdd(t.y.index, b.CreateMul(t.z.index, extent_[1])) : static_cast<Value*>(t.y.index);
  Value* first = b.CreateZExt(b.CreateNUWMul(row, extent_[0]), b.getInt64Ty());
  if (in_groups()) {
    t.block = open(b, "block");
    Value* of_block = b.CreateMul(extent_[0], b.CreateMul(extent_[1], extent_[2]));
    first = b.CreateAdd(first, b.CreateZExt(b.CreateNUWMul(t.block.index, of_block), b.getInt64Ty()), "", true, true);
    be_block(b, t.block.index, map);
  }
  t.x = open(b, "thread.x");
  t.thread = b.CreateAdd(first, b.CreateZExt(t.x.index, b.getInt64Ty()), "thread", true, true);
  t.tid[0] = t.x.index;
  t.tid[1] = t.y.index;
  t.tid[2] = differ ? static_cast<Value*>(t.z.index) : b.getInt32(0);
  access_group_ = MDNode::getDistinct(b.getContext(), {});
  if (t.all)
    t.here = b.CreateICmpNE(independent(b.CreateLoad(b.getInt8Ty(), element(b, here_, t.thread))), b.getInt8(0));
  return t;
}

void Splitter::close_threads(IRBuilder<>& b, const Threads& t, bool by_warps) {
  mark_thread_loop(*close(b, t.x, t.end[0]), store_lane_ ? nullptr : access_group_);
  if (t.block.header) no_vectors(close(b, t.block, out_->getArg(out_->arg_size() - 1)));
  no_vectors(close(b, t.y, t.end[1], t.step), /*rows=*/!by_warps);
  if (t.z.header) no_vectors(close(b, t.z, t.end[2]));
}

void Splitter::start_sum(IRBuilder<>& b, CallInst* barrier) {
  auto* op = dyn_cast<ConstantInt>(barrier->getArgOperand(0));
  b.CreateStore(b.getInt32(op && op->getZExtValue() == MR_BAR_AND), reductions_[barrier].sum);
}

void Splitter::build_region(Region& r, bool by_warps) {
  LLVMContext& c = body_.getContext();
  start_values_.clear();
  current_ = r.barrier;
  IRBuilder<> b(by_warps ? r.warp_before : r.before);
  active_now_ = by_warps ? b.CreateLoad(b.getInt32Ty(), active_) : nullptr;
  everything_now_ = by_warps ? b.CreateTrunc(b.CreateLoad(b.getInt8Ty(), everything_), b.getInt1Ty()) : nullptr;
  if (r.barrier && !by_warps && sync_of(*r.barrier) == Sync::barrier_reduce) {
    const Reduction& red = reductions_[r.barrier];
    b.CreateStore(b.CreateLoad(b.getInt32Ty(), red.sum), red.result);
    if (parts_) start_sum(b, r.barrier);
  }
  if (r.barrier && of_warp(sync_of(*r.barrier))) complete_in_warps(b, r.barrier, by_warps);
  if (!parts_)
    for (CallInst* barrier : r.next)
      if (sync_of(*barrier) == Sync::barrier_reduce) start_sum(b, barrier);
  SmallVector<std::pair<Instruction*, Slot*>, 16> defined;
  for (auto& [value, slot] : slots_) {
    auto* i = cast<Instruction>(value);
    if (isa<AllocaInst>(i) || (i != r.barrier && !r.blocks.contains(i->getParent()))) continue;
    defined.push_back({i, &slot});
    if (slot.uniform) b.CreateStore(b.CreateLoad(i->getType(), slot.now), slot.next);
  }

  const bool several = r.next.size() + r.returns > 1;
  const bool each_notes = by_warps || r.parts;  // where it goes on
  if (several && leaves_early_ && !each_notes) b.CreateStore(b.getInt32(returned), next_);

  ValueToValueMapTy map;
  for (unsigned i = 0; i < body_.arg_size(); ++i) map[body_.getArg(i)] = out_->getArg(i);
  BasicBlock* head = b.GetInsertBlock();
  const Threads t = by_warps ? open_warp(b) : open_block(b, r, map);
  Value* thread = t.thread;
  IRBuilder<> outside(head->getTerminator());
  BasicBlock* latch = BasicBlock::Create(c, "latch", out_, done_);
  if (t.all) {
    BasicBlock* go_on = BasicBlock::Create(c, "here", out_, latch);
    b.CreateCondBr(b.CreateOr(t.all, t.here), go_on, latch);
    b.SetInsertPoint(go_on);
  }
  BasicBlock* start = b.GetInsertBlock();

  for (unsigned i = 0; i < 3; ++i)
    if (items_[tid_x + i]) map[items_[tid_x + i]] = t.tid[i];
  if (store_lane_) store_thread_items(b, lane_pointer(b), t.tid, {extent_[0], extent_[1]});

  // The blocks.
  SmallVector<BasicBlock*, 16> clones;
  for (BasicBlock* block : r.blocks) {
    BasicBlock* clone = CloneBasicBlock(block, map, "", out_);
    clone->moveBefore(latch);
    map[block] = clone;
    clones.push_back(clone);
  }
  SmallVector<Instruction*, 16> merged;
  for (Instruction& i : instructions(body_)) {
    if (i.getType()->isVoidTy()) continue;
    const bool inside = r.blocks.contains(i.getParent());
    if (isa<AllocaInst>(i)) {
      const bool used = any_of(i.users(), [&](User* u) {
        return r.blocks.contains(cast<Instruction>(u)->getParent()) || recomputed_.contains(cast<Instruction>(u));
      });
      auto* clone = inside ? cast<Instruction>(&*map[&i]) : nullptr;
      if (used || inside) map[&i] = at_start(outside, b, &i, map, thread);
      if (clone) {
        clone->replaceAllUsesWith(map[&i]);
        clone->eraseFromParent();
      }
      continue;
    }
    if (!crosses_into(r, i)) continue;
    Value* before = at_start(outside, b, &i, map, thread);
    if (inside)
      merged.push_back(&i);
    else
      map[&i] = before;
  }
  if (r.barrier && gives_by_pointer(r.barrier)) at_start(outside, b, r.barrier, map, thread);
  const auto leave = [&](IRBuilder<>& at, std::uint32_t next) {
    if (each_notes)
      waits_at(at, next, thread);
    else if (several)
      at.CreateStore(at.getInt32(next), next_);
    at.CreateBr(latch);
  };
  for (CallInst* barrier : r.next) {
    BasicBlock* exit = BasicBlock::Create(c, "exit", out_, latch);
    map[barrier->getParent()] = exit;
    IRBuilder<> at(exit);
    const auto operand = [&](unsigned n) {
      Value* p = barrier->getArgOperand(n);
      return isa<Constant>(p) ? p : static_cast<Value*>(map.lookup(p));
    };
    switch (sync_of(*barrier)) {
    case Sync::barrier_reduce: reduce(at, barrier, operand(1)); break;
    case Sync::shuffle:
    case Sync::reduce:
    case Sync::match: bring(at, barrier, operand(2), thread); break;
    case Sync::ballot:
      bring(at, barrier, at.CreateZExt(at.CreateICmpNE(operand(1), at.getInt32(0)), at.getInt32Ty()), thread);
      break;
    default: break;
    }
    if (of_warp(sync_of(*barrier)) && sync_of(*barrier) != Sync::active &&
        (each_notes || reductions_[barrier].per_lane))
      bring_mask(at, barrier, operand(0), thread);
    leave(at, number_of(barrier));
  }
  DenseMap<const MDNode*, MDNode*> cache;
  DILocation* here = subprogram_ ? DILocation::get(c, subprogram_->getLine(), 0, subprogram_) : nullptr;
  for (BasicBlock* clone : clones)
    for (Instruction& i : make_early_inc_range(*clone)) {
      i.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(i) || i.isLifetimeStartOrEnd()) {
        i.eraseFromParent();
        continue;
      }
      if (auto* phi = dyn_cast<PHINode>(&i))
        for (unsigned k = phi->getNumIncomingValues(); k-- > 0;)
          if (!r.blocks.contains(phi->getIncomingBlock(k))) phi->removeIncomingValue(k, /*DeletePHIIfEmpty=*/false);
      RemapInstruction(&i, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      if (i.getDebugLoc())
        i.setDebugLoc(here ? DebugLoc::appendInlinedAt(i.getDebugLoc(), here, c, cache) : DebugLoc());
      if (i.mayReadOrWriteMemory()) independent(&i);
      if (isa<ReturnInst>(i)) {
        IRBuilder<> at(&i);
        if (leaves_early_ && (several || by_warps)) {
          go(at, thread);
          at.CreateBr(latch);
        } else {
          leave(at, returned);
        }
        i.eraseFromParent();
      }
    }
  for (auto [v, slot] : defined) {
    if (v == r.barrier) {
      Value* given = at_start(outside, b, v, map, thread);
      slot->uniform ? void(b.CreateStore(given, slot->next)) : store(b, given, element(b, *slot, thread));
      continue;
    }
    auto* clone = cast<Instruction>(&*map[v]);
    IRBuilder<> at(clone->getParent(),
                   isa<PHINode>(clone) ? clone->getParent()->getFirstInsertionPt() : std::next(clone->getIterator()));
    at.SetCurrentDebugLocation({});
    if (slot->uniform) {
      at.CreateStore(clone, slot->next);
    } else {
      store(at, clone, element(at, *slot, thread));
    }
  }
  b.CreateBr(cast<BasicBlock>(&*map[r.entry]));
  for (Instruction* v : merged) {
    auto* clone = cast<Instruction>(&*map[v]);
    SSAUpdater ssa;
    ssa.Initialize(clone->getType(), clone->getName());
    ssa.AddAvailableValue(start, start_values_[v]);
    ssa.AddAvailableValue(clone->getParent(), clone);
    SmallVector<Use*, 8> uses;
    for (Use& use : clone->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (user->getParent() != clone->getParent() || isa<PHINode>(user)) uses.push_back(&use);
    }
    for (Use* use : uses) ssa.RewriteUse(*use);
  }

  // The loops' ends, and what follows.
  b.SetInsertPoint(latch);
  close_threads(b, t, by_warps);
  for (auto [v, slot] : defined)
    if (slot->uniform) b.CreateStore(b.CreateLoad(v->getType(), slot->next), slot->now);
  if (by_warps) return go_on_by_warps(b, r);
  if (r.parts) {
    b.CreateBr(phase_);
    return;
  }
  if (!several) {
    b.CreateBr(r.next.empty() ? done_ : regions_[number_of(r.next[0])].before);
    return;
  }
  SwitchInst* choose = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), next_), done_, r.next.size());
  for (CallInst* barrier : r.next) choose->addCase(b.getInt32(number_of(barrier)), regions_[number_of(barrier)].before);
}

// What differs for the group's block number `index`.
void Splitter::be_block(IRBuilder<>& b, Value* index, ValueToValueMapTy& map) {
  map[items_[block_x]] = b.CreateAdd(map.lookup(items_[block_x]), index);
  if (Value* shared = items_[shared_base]) map[shared] = shared_of(b, map.lookup(shared), index, group_);
}

// The thread returns, others may go on: it brings nothing to warp operations any more.
void Splitter::go(IRBuilder<>& b, Value* thread) {
  independent(b.CreateStore(b.getInt8(0), element(b, here_, thread)));
  b.CreateStore(b.getInt32(1), left_);
  if (parts_) return waits_at(b, MR_SPLIT_RETURNED, thread);
  for (CallInst* call : barriers_) {
    const Sync sync = sync_of(*call);
    if (!of_warp(sync) || sync == Sync::warp || reductions_[call].per_lane) continue;
    const Slot& brought = reductions_[call].brought;
    Value* nothing = b.getIntN(8 * brought.size, 0);
    if (sync == Sync::reduce) switch (cast<ConstantInt>(call->getArgOperand(1))->getZExtValue()) {
      case MR_RED_MIN_U:
      case MR_RED_AND: nothing = b.getInt32(~0u); break;
      case MR_RED_MIN_S: nothing = b.getInt32(0x7fffffffu); break;
      case MR_RED_MAX_S: nothing = b.getInt32(0x80000000u); break;
      default: break;
      }
    independent(b.CreateStore(nothing, element(b, brought, thread)));
  }
}

void Splitter::reduce(IRBuilder<>& b, CallInst* barrier, Value* predicate) {
  AllocaInst* sum = reductions_[barrier].sum;
  Value* old = b.CreateLoad(b.getInt32Ty(), sum);
  Value* holds = b.CreateZExt(b.CreateICmpNE(predicate, ConstantInt::get(predicate->getType(), 0)), b.getInt32Ty());
  auto* op = dyn_cast<ConstantInt>(barrier->getArgOperand(0));
  const std::uint64_t kind = op ? op->getZExtValue() : MR_BAR_COUNT;
  b.CreateStore(kind == MR_BAR_COUNT ? b.CreateAdd(old, holds)
                : kind == MR_BAR_AND ? b.CreateAnd(old, holds)
                                     : b.CreateOr(old, holds),
                sum);
}

}  // namespace mrcc::splitting
