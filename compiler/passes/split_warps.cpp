#include <simt/abi.h>
#include <simt/split_warps.h>

#include "splitter.h"

namespace mrcc::splitting {

void Splitter::bring(IRBuilder<>& b, CallInst* call, Value* v, Value* thread) {
  const Slot& slot = reductions_[call].brought;
  independent(b.CreateStore(b.CreateTrunc(v, b.getIntNTy(8 * slot.size)), element(b, slot, thread)));
}

void Splitter::bring_mask(IRBuilder<>& b, CallInst* call, Value* mask, Value* thread) {
  if (!isa<ConstantInt>(mask)) independent(b.CreateStore(mask, element(b, masks_, thread)));
}

// While some threads still read what the shuffle gave them no other brings anything new: the shuffle's result isn't
// used where threads go on to bring something to it. Nor does any leave, and bring nothing, before the last use.
// (Where threads part, results are used in the region behind the shuffle alone, and threads that leave bring nothing.)
bool Splitter::may_read_directly(CallInst* shuffle) {
  if (parts_) return !region_of(shuffle).next.contains(shuffle);
  return !leaves_early_ &&
         none_of(regions_, [&](const Region& r) { return r.next.contains(shuffle) && crosses_into(r, *shuffle); });
}

// All threads have brought theirs: what they get, before the next region writes again.
void Splitter::complete_in_warps(IRBuilder<>& b, CallInst* call, bool by_warps) {
  const Sync sync = sync_of(*call);
  const Reduction& red = reductions_[call];
  if (sync == Sync::warp || (by_warps && sync != Sync::shuffle)) return;  // __mr_next_of_warp has done it
  Module& module = *body_.getParent();
  const auto call_runtime = [&](const char* name, ArrayRef<Value*> arguments) {
    SmallVector<Type*, 4> types;
    for (Value* v : arguments) types.push_back(v->getType());
    CallInst* done = b.CreateCall(module.getOrInsertFunction(name, FunctionType::get(b.getVoidTy(), types, false)),
                                  arguments);
    done->setDoesNotThrow();
    if (subprogram_) done->setDebugLoc(DILocation::get(b.getContext(), 0, 0, subprogram_));
  };
  if (red.per_lane)
    return call_runtime("__mr_complete_block", {split_table(), scratch_, threads_, b.getInt32(number_of(call))});
  if (sync == Sync::shuffle && parts_ && leaves_early_ && !by_warps) {
    BasicBlock* clear = BasicBlock::Create(b.getContext(), "clear", out_, done_);
    BasicBlock* cleared = BasicBlock::Create(b.getContext(), "cleared", out_, done_);
    b.CreateCondBr(b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), left_), b.getInt32(0)), cleared, clear);
    b.SetInsertPoint(clear);
    call_runtime("__mr_clear_returned", {split_table(), scratch_, threads_, b.getInt32(number_of(call))});
    b.CreateBr(cleared);
    b.SetInsertPoint(cleared);
  }
  if (red.direct) return;
  Value* first = by_warps ? static_cast<Value*>(warp_first_) : b.getInt64(0);
  Value* count = by_warps ? b.CreateBinaryIntrinsic(Intrinsic::umin, b.CreateSub(threads_, first), b.getInt64(MR_WARP))
                          : threads_;
  Value* from = element(b, red.brought, first);
  Value* to = element(b, red.given, first);
  if (sync == Sync::shuffle) {
    b.CreateMemCpy(to, Align(4), from, Align(4), b.CreateMul(count, b.getInt64(red.given.size)));
    return;
  }
  Value* op = sync == Sync::ballot ? b.getInt32(~0u) : call->getArgOperand(1);
  call_runtime("__mr_reduce_warps", {from, to, threads_, op});
}

// What the current thread gets.
Value* Splitter::given_by_warp(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map,
                               Value* thread) {
  if (sync_of(*call) == Sync::shuffle) return shuffled(outside, b, call, map, thread);
  if (reductions_[call].per_lane) {
    Value* given = independent(b.CreateLoad(b.getInt32Ty(), element(b, reductions_[call].given, thread)));
    if (gives_by_pointer(call)) {
      auto* op = cast<ConstantInt>(call->getArgOperand(1));
      Value* all = op->getZExtValue() == MR_MATCH_ALL ? b.CreateICmpNE(given, b.getInt32(0)) : b.getFalse();
      b.CreateStore(b.CreateZExt(all, b.getInt32Ty()), at_start(outside, b, call->getArgOperand(3), map, thread));
    }
    return given;
  }
  Value* given = independent(
      b.CreateLoad(b.getInt32Ty(), element(b, reductions_[call].given, b.CreateLShr(thread, 5))));
  return sync_of(*call) == Sync::ballot && !all_lanes(call)
             ? b.CreateAnd(given, at_start(outside, b, call->getArgOperand(0), map, thread))
             : given;
}

// The source as runtime/simt/warp.h (shuffle_source) has it. What lies a constant step away is read for all lanes, so
// that a vector is one load, and used where the step stays inside the segment.
Value* Splitter::shuffled(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map, Value* thread) {
  const Reduction& red = reductions_[call];
  const Slot& array = red.direct ? red.brought : red.given;
  const auto operand = [&](unsigned n) { return at_start(outside, b, call->getArgOperand(n), map, thread); };
  const auto i32 = [&](std::uint32_t v) { return b.getInt32(v); };
  const auto read = [&](Value* at) {
    return independent(b.CreateLoad(b.getIntNTy(8 * array.size), element(b, array, at)));
  };
  Value* lane = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), i32(31));
  Value* width = operand(4);
  Value* segment = b.CreateSelect(b.CreateICmpUGE(width, i32(32)), i32(0), b.CreateSub(i32(32), width));
  Value* inner = b.CreateAnd(i32(31), b.CreateNot(segment));
  Value* first = b.CreateAnd(lane, segment);
  Value* last = b.CreateOr(first, inner);
  Value* step = b.CreateAnd(operand(3), i32(31));
  auto* constant = dyn_cast<ConstantInt>(step);
  Value* far = constant ? b.CreateZExt(step, b.getInt64Ty()) : nullptr;
  Value* source = nullptr;
  Value* inside = b.getTrue();
  Value* v = nullptr;  // of the source, if it is inside
  switch (cast<ConstantInt>(call->getArgOperand(1))->getZExtValue()) {
  case MR_SHFL_UP:
    source = b.CreateSub(lane, step);
    inside = b.CreateICmpSGE(source, first);
    if (far) v = read(b.CreateSub(thread, far));
    break;
  case MR_SHFL_DOWN:
    source = b.CreateAdd(lane, step);
    inside = b.CreateICmpULE(source, last);
    if (far) v = read(b.CreateAdd(thread, far));
    break;
  case MR_SHFL_XOR:
    source = b.CreateXor(lane, step);
    inside = b.CreateICmpULE(source, last);
    if (far && constant->getValue().isPowerOf2()) {
      Value* back = b.CreateICmpNE(b.CreateAnd(lane, step), i32(0));
      v = b.CreateSelect(back, read(b.CreateSub(thread, far)), read(b.CreateAdd(thread, far)));
    }
    break;
  default: source = b.CreateOr(first, b.CreateAnd(step, b.CreateNot(segment))); break;
  }
  source = b.CreateSelect(inside, source, lane);
  Value* at = b.CreateAdd(b.CreateAnd(thread, b.getInt64(~std::uint64_t{31})), b.CreateZExt(source, b.getInt64Ty()));
  // A lane that the block doesn't have gives 0.
  Value* whole_warps = outside.CreateICmpEQ(outside.CreateAnd(threads_, outside.getInt64(31)), outside.getInt64(0));
  Value* there;
  if (active_now_) {  // the lanes that it met
    Value* met = b.CreateSelect(everything_now_, active_now_,
                                independent(b.CreateLoad(b.getInt32Ty(), element(b, masks_, thread))));
    there = b.CreateTrunc(b.CreateLShr(met, source), b.getInt1Ty());
  } else {
    there = b.CreateOr(whole_warps, b.CreateICmpULT(at, threads_));
  }
  if (!active_now_ && !all_lanes(call))  // nor does one that the mask doesn't name
    there = b.CreateAnd(there, b.CreateTrunc(b.CreateLShr(operand(0), source), b.getInt1Ty()));
  v = v ? b.CreateSelect(inside, v, read(thread)) : read(b.CreateSelect(there, at, thread));
  if (Value* out = call->getArgOperand(5); !isa<ConstantPointerNull>(out))
    b.CreateStore(b.CreateZExt(inside, b.getInt32Ty()), operand(5));
  return b.CreateZExt(b.CreateSelect(there, v, ConstantInt::get(v->getType(), 0)), b.getInt64Ty());
}

}  // namespace mrcc::splitting
