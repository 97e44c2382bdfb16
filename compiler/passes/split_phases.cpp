// Split mode where threads part (barrier_split.h): the warps of a block go on one by one until all their threads wait
// at a barrier or have returned.
#include <simt/split_warps.h>

#include "splitter.h"

namespace mrcc::splitting {

// Those that can be reached from where threads part, up to barriers. With two barriers or more, threads of one block
// may wait at different ones: the regions behind these, too.
bool Splitter::find_warp_regions() {
  SmallSetVector<CallInst*, 16> reached, barriers;
  const auto add = [&](const Region& r) {
    for (CallInst* next : r.next) (of_warp(sync_of(*next)) ? reached : barriers).insert(next);
  };
  for (const Region& r : regions_)
    if (r.parts) add(r);
  for (std::size_t i = 0, k = 0; i < reached.size() || (barriers.size() > 1 && k < barriers.size());)
    add(region_of(i < reached.size() ? reached[i++] : barriers[k++]));
  SmallSetVector<CallInst*, 16> together;  // null: the entry
  together.insert(nullptr);
  together.insert(barriers.begin(), barriers.end());
  for (std::size_t i = 0; i < together.size(); ++i)
    if (const Region& r = region_of(together[i]); !r.parts) together.insert(r.next.begin(), r.next.end());
  unsigned cloned = 0;
  for (Region& r : regions_) {
    r.by_blocks = together.contains(r.barrier);
    r.by_warps = r.barrier && (reached.contains(r.barrier) || (barriers.size() > 1 && barriers.contains(r.barrier)));
    for (BasicBlock* block : r.blocks) cloned += (r.by_blocks + r.by_warps) * block->size();
  }
  return (cloned <= max_cloned && regions_.size() < MR_SPLIT_MIXED) || refuse_for("it has too many barriers");
}

// A constant MrSplit.
Constant* Splitter::split_table() {
  if (split_table_) return split_table_;
  Module& module = *body_.getParent();
  LLVMContext& c = module.getContext();
  Type *i32 = Type::getInt32Ty(c), *i64 = Type::getInt64Ty(c);
  const auto number = [](Type* type, std::uint64_t v) { return ConstantInt::get(type, v); };
  auto* record = StructType::get(c, {i32, i32, i32, i32, i64, i64, i64});
  SmallVector<Constant*, 16> records;
  for (const Region& r : regions_) {
    MrSync sync{};
    sync.mask_known = 1;
    if (r.barrier) {
      const auto constant = [&](unsigned operand) {
        return static_cast<std::uint32_t>(cast<ConstantInt>(r.barrier->getArgOperand(operand))->getZExtValue());
      };
      switch (sync_of(*r.barrier)) {
      case Sync::warp: sync.kind = MR_SYNC_WARP; break;
      case Sync::shuffle: sync.kind = MR_SYNC_SHUFFLE; break;
      case Sync::ballot: sync.kind = MR_SYNC_BALLOT; break;
      case Sync::reduce: sync.kind = MR_SYNC_REDUCE; break;
      case Sync::match: sync.kind = MR_SYNC_MATCH; break;
      case Sync::active: sync.kind = MR_SYNC_ACTIVEMASK; break;
      default: sync.kind = MR_SYNC_BARRIER; break;
      }
      if (sync.kind == MR_SYNC_REDUCE || sync.kind == MR_SYNC_MATCH) sync.op = constant(1);
      if (of_warp(sync_of(*r.barrier)) && sync.kind != MR_SYNC_ACTIVEMASK) {
        sync.mask_known = isa<ConstantInt>(r.barrier->getArgOperand(0));
        if (sync.mask_known) sync.mask = constant(0);
      }
      if (auto found = reductions_.find(r.barrier); found != reductions_.end()) {
        sync.brought = found->second.brought.offset;
        sync.given = found->second.given.offset;
        sync.brought_bytes = found->second.brought.size;
      }
    }
    records.push_back(ConstantStruct::get(record, {number(i32, sync.kind), number(i32, sync.op), number(i32, sync.mask),
                                                   number(i32, sync.mask_known), number(i64, sync.brought),
                                                   number(i64, sync.given), number(i64, sync.brought_bytes)}));
  }
  static_assert(sizeof(MrSync) == 40 && sizeof(MrSplit) == 40);
  auto* type = ArrayType::get(record, records.size());
  auto* syncs = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, ConstantArray::get(type, records),
                                   "syncs");
  Constant* split = ConstantStruct::getAnon({syncs, number(i64, at_.offset), number(i64, masks_.offset),
                                             number(i64, here_.offset), number(i64, leaves_early_)});
  return split_table_ = new GlobalVariable(module, split->getType(), true, GlobalValue::PrivateLinkage, split, "split");
}

void Splitter::waits_at(IRBuilder<>& b, std::uint32_t number, Value* thread) {
  if (number == returned) number = MR_SPLIT_RETURNED;
  independent(b.CreateStore(b.getInt16(static_cast<std::uint16_t>(number)), element(b, at_, thread)));
}

// The code that runs phases, but for the regions. At the entry's end.
void Splitter::begin_phase(IRBuilder<>& entry) {
  LLVMContext& c = body_.getContext();
  Module& module = *body_.getParent();
  active_ = entry.CreateAlloca(entry.getInt32Ty(), nullptr, "active");
  everything_ = entry.CreateAlloca(entry.getInt8Ty(), nullptr, "everything");
  phase_ = BasicBlock::Create(c, "phase", out_, done_);
  BasicBlock* warp = BasicBlock::Create(c, "warp", out_, done_);
  resume_ = BasicBlock::Create(c, "resume", out_, done_);
  next_warp_ = BasicBlock::Create(c, "next.warp", out_, done_);
  BasicBlock* together = BasicBlock::Create(c, "together", out_, done_);
  BasicBlock* mixed = BasicBlock::Create(c, "mixed", out_, done_);
  const auto place = [&](CallInst* call) {
    call->setDoesNotThrow();
    if (subprogram_) call->setDebugLoc(DILocation::get(c, 0, 0, subprogram_));
    return call;
  };
  IRBuilder<> b(phase_);
  Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty();
  b.CreateBr(warp);

  b.SetInsertPoint(warp);
  warp_first_ = b.CreatePHI(i64, 2, "warp.first");
  warp_first_->addIncoming(b.getInt64(0), phase_);
  b.CreateBr(resume_);

  b.SetInsertPoint(resume_);
  FunctionCallee next_of_warp = module.getOrInsertFunction("__mr_next_of_warp",
                                                           FunctionType::get(i64, {pointer, pointer, i64, i64}, false));
  Value* next = place(b.CreateCall(next_of_warp, {split_table(), scratch_, threads_, warp_first_}));
  b.CreateStore(b.CreateTrunc(b.CreateLShr(next, 32), b.getInt32Ty()), active_);
  b.CreateStore(b.CreateAnd(b.CreateTrunc(b.CreateLShr(next, 16), b.getInt8Ty()), 1), everything_);
  SwitchInst* regions = b.CreateSwitch(b.CreateTrunc(next, b.getInt16Ty()), next_warp_);
  for (Region& r : regions_)
    if (r.by_warps) regions->addCase(b.getInt16(static_cast<std::uint16_t>(number_of(r.barrier))), r.warp_before);

  b.SetInsertPoint(next_warp_);
  Value* after = b.CreateNUWAdd(warp_first_, b.getInt64(32));
  warp_first_->addIncoming(after, next_warp_);
  b.CreateCondBr(b.CreateICmpULT(after, threads_), warp, together);

  b.SetInsertPoint(together);
  FunctionCallee next_of_block = module.getOrInsertFunction(
      "__mr_next_of_block", FunctionType::get(b.getInt32Ty(), {pointer, pointer, i64}, false));
  SwitchInst* choose = b.CreateSwitch(place(b.CreateCall(next_of_block, {split_table(), scratch_, threads_})), done_);
  for (Region& r : regions_)
    if (r.by_blocks && r.barrier && !of_warp(sync_of(*r.barrier)))
      choose->addCase(b.getInt32(number_of(r.barrier)), r.before);
  choose->addCase(b.getInt32(MR_SPLIT_MIXED), mixed);

  b.SetInsertPoint(mixed);
  for (CallInst* barrier : barriers_)
    if (sync_of(*barrier) == Sync::barrier_reduce) {
      const Reduction& red = reductions_[barrier];
      b.CreateStore(b.CreateLoad(b.getInt32Ty(), red.sum), red.result);
      start_sum(b, barrier);
    }
  b.CreateBr(phase_);
}

// A warp's threads lie in rows of the block: mostly in one, else in pieces of several.
Splitter::Threads Splitter::open_warp(IRBuilder<>& b) {
  Threads t;
  Type* i32 = b.getInt32Ty();
  Value* threads = b.CreateTrunc(threads_, i32);
  Value* first = b.CreateTrunc(warp_first_, i32);
  Value* left = b.CreateBinaryIntrinsic(Intrinsic::umin, b.CreateSub(threads, first), b.getInt32(32));
  Value* whole_rows = b.CreateICmpEQ(b.CreateAnd(extent_[0], b.getInt32(31)), b.getInt32(0));
  Value* exist = b.CreateLShr(b.getInt32(~0u), b.CreateSub(b.getInt32(32), left));
  t.all = b.CreateICmpEQ(active_now_, exist);
  t.y = open(b, "piece", b.getInt32(0));
  Value* begin = b.CreateAdd(first, t.y.index);
  Value* row = b.CreateUDiv(begin, extent_[0]);
  Value* x = b.CreateSub(begin, b.CreateMul(row, extent_[0]));
  Value* piece = b.CreateBinaryIntrinsic(Intrinsic::umin, b.CreateSub(extent_[0], x), b.CreateSub(left, t.y.index));
  t.step = b.CreateSelect(whole_rows, b.getInt32(32), piece);
  t.end[0] = t.step;
  t.end[1] = left;
  t.tid[1] = row;
  t.tid[2] = b.getInt32(0);
  if (rows_differ()) {
    t.tid[2] = b.CreateUDiv(row, extent_[1]);
    t.tid[1] = b.CreateSub(row, b.CreateMul(t.tid[2], extent_[1]));
  }
  Value* begin_thread = b.CreateZExt(begin, b.getInt64Ty());
  t.x = open(b, "thread.x");
  t.tid[0] = b.CreateAdd(x, t.x.index, "", true, true);
  t.thread = b.CreateAdd(begin_thread, b.CreateZExt(t.x.index, b.getInt64Ty()), "thread", true, true);
  access_group_ = MDNode::getDistinct(b.getContext(), {});
  Value* lane = b.CreateAnd(b.CreateTrunc(t.thread, i32), b.getInt32(31));
  t.here = b.CreateTrunc(b.CreateLShr(active_now_, lane), b.getInt1Ty());
  return t;
}

// A warp's lanes have run the region. Where they all meet again, and the runtime isn't needed for that, they go on.
void Splitter::go_on_by_warps(IRBuilder<>& b, const Region& r) {
  BasicBlock* next = nullptr;
  if (r.next.size() + r.returns == 1 && !r.next.empty()) {
    CallInst* barrier = r.next[0];
    const Sync sync = sync_of(*barrier);
    if (!of_warp(sync))
      next = next_warp_;
    else if ((sync == Sync::warp || sync == Sync::shuffle) && all_lanes(barrier))
      next = region_of(barrier).warp_before;
  }
  next ? void(b.CreateCondBr(everything_now_, next, resume_)) : void(b.CreateBr(resume_));
}

}  // namespace mrcc::splitting
