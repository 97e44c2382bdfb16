#include <simt/abi.h>

#include "splitter.h"

namespace mrcc::splitting {

void Splitter::bring(IRBuilder<>& b, CallInst* call, Value* v, Value* thread, MDNode* group) {
  StoreInst* store = b.CreateStore(v, element(b, reductions_[call].brought, thread));
  if (!store_lane_) store->setMetadata(LLVMContext::MD_access_group, group);
}

// All threads have brought theirs: what they get, before the next region writes again.
void Splitter::complete_in_warps(IRBuilder<>& b, CallInst* call) {
  const Sync sync = sync_of(*call);
  if (sync == Sync::warp) return;
  const Reduction& red = reductions_[call];
  Value* from = element(b, red.brought, b.getInt64(0));
  Value* to = element(b, red.given, b.getInt64(0));
  if (sync == Sync::shuffle) {
    b.CreateMemCpy(to, Align(8), from, Align(8), b.CreateMul(threads_, b.getInt64(8)));
    return;
  }
  Module& module = *body_.getParent();
  Value* op = sync == Sync::ballot ? b.getInt32(~0u) : call->getArgOperand(1);
  FunctionCallee f = module.getOrInsertFunction(
      "__mr_reduce_warps",
      FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()}, false));
  CallInst* done = b.CreateCall(f, {from, to, threads_, op});
  done->setDoesNotThrow();
  if (subprogram_) done->setDebugLoc(DILocation::get(b.getContext(), 0, 0, subprogram_));
}

// What the current thread gets; the shuffle's source as runtime/simt/warp.h (shuffle_source) has it.
Value* Splitter::given_by_warp(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map,
                               Value* thread) {
  const Reduction& red = reductions_[call];
  const auto operand = [&](unsigned n) { return at_start(outside, b, call->getArgOperand(n), map, thread); };
  if (sync_of(*call) != Sync::shuffle) {
    Value* given = b.CreateLoad(b.getInt32Ty(), element(b, red.given, b.CreateLShr(thread, 5)));
    return sync_of(*call) == Sync::ballot && !all_lanes(call) ? b.CreateAnd(given, operand(0)) : given;
  }
  const auto i32 = [&](std::uint32_t v) { return b.getInt32(v); };
  Value* lane = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), i32(31));
  Value* width = operand(4);
  Value* segment = b.CreateSelect(b.CreateICmpUGE(width, i32(32)), i32(0), b.CreateSub(i32(32), width));
  Value* inner = b.CreateAnd(i32(31), b.CreateNot(segment));
  Value* first = b.CreateAnd(lane, segment);
  Value* last = b.CreateOr(first, inner);
  Value* step = b.CreateAnd(operand(3), i32(31));
  Value* source = nullptr;
  Value* inside = b.getTrue();
  switch (cast<ConstantInt>(call->getArgOperand(1))->getZExtValue()) {
  case MR_SHFL_UP:
    source = b.CreateSub(lane, step);
    inside = b.CreateICmpSGE(source, first);
    break;
  case MR_SHFL_DOWN:
    source = b.CreateAdd(lane, step);
    inside = b.CreateICmpULE(source, last);
    break;
  case MR_SHFL_XOR:
    source = b.CreateXor(lane, step);
    inside = b.CreateICmpULE(source, last);
    break;
  default: source = b.CreateOr(first, b.CreateAnd(step, b.CreateNot(segment))); break;
  }
  source = b.CreateSelect(inside, source, lane);
  Value* at = b.CreateAdd(b.CreateAnd(thread, b.getInt64(~std::uint64_t{31})), b.CreateZExt(source, b.getInt64Ty()));
  // A lane that the block doesn't have gives 0.
  Value* there = b.CreateICmpULT(at, threads_);
  if (!all_lanes(call))  // nor does one that the mask doesn't name
    there = b.CreateAnd(there, b.CreateTrunc(b.CreateLShr(operand(0), source), b.getInt1Ty()));
  Value* v = b.CreateLoad(b.getInt64Ty(), element(b, red.given, b.CreateSelect(there, at, thread)));
  if (Value* out = call->getArgOperand(5); !isa<ConstantPointerNull>(out))
    b.CreateStore(b.CreateZExt(inside, b.getInt32Ty()), operand(5));
  return b.CreateSelect(there, v, b.getInt64(0));
}

}  // namespace mrcc::splitting
