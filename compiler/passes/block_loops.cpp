#include "block_loops.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include "names.h"
#include "thread_loops.h"

namespace mrcc {
using namespace llvm;

namespace {

struct Loop {
  BasicBlock* header = nullptr;
  PHINode* index = nullptr;
};
// do { } while (++index != limit): extents are at least 1.
Loop open_loop(IRBuilder<>& b, Type* type, const Twine& name) {
  BasicBlock* before = b.GetInsertBlock();
  BasicBlock* header = BasicBlock::Create(b.getContext(), name, before->getParent());
  b.CreateBr(header);
  b.SetInsertPoint(header);
  PHINode* index = b.CreatePHI(type, 2, name + ".index");
  index->addIncoming(ConstantInt::get(type, 0), before);
  return {header, index};
}
BranchInst* close_loop(IRBuilder<>& b, const Loop& loop, Value* limit) {
  Value* next = b.CreateAdd(loop.index, ConstantInt::get(loop.index->getType(), 1), "", /*NUW=*/true,
                            /*NSW=*/loop.index->getType()->isIntegerTy(32));
  loop.index->addIncoming(next, b.GetInsertBlock());
  BasicBlock* after = BasicBlock::Create(b.getContext(), "after", b.GetInsertBlock()->getParent());
  BranchInst* back = b.CreateCondBr(b.CreateICmpULT(next, limit), loop.header, after);
  b.SetInsertPoint(after);
  return back;
}

// Lanes of a finite kernel without barriers are independent: what one writes and another accesses without
// synchronisation is a data race in CUDA, and atomic accesses are taken out of the group after inlining
// (parallel_groups.cpp).
MDNode* mark_parallel(CallInst* body) {
  MDNode* group = MDNode::getDistinct(body->getContext(), {});
  body->setMetadata(LLVMContext::MD_access_group, group);
  return group;
}

}  // namespace

void keep_scalar(BranchInst* back) {
  LLVMContext& c = back->getContext();
  auto flag = [&](const char* name) {
    return MDNode::get(c, {MDString::get(c, name), ConstantAsMetadata::get(ConstantInt::getFalse(c))});
  };
  MDNode* id = MDNode::getDistinct(
      c, {nullptr, flag("llvm.loop.vectorize.enable"), MDNode::get(c, {MDString::get(c, "llvm.loop.unroll.disable")})});
  id->replaceOperandWith(0, id);
  back->setMetadata(LLVMContext::MD_loop, id);
}

CallInst* run_block(IRBuilder<>& b, const BlockPlace& at, Unpacker& unpacker, MutableArrayRef<Value*> of_block) {
  SmallVector<Value*, item_count> items(of_block);
  const Extended& body = at.body;
  const bool in_groups = at.group.count > 1;
  if (at.split.blocks) {
    for (unsigned i = tid_x; i <= tid_z; ++i) items[i] = b.getInt32(0);
    return call_body(b, body, unpacker.arguments(b), items, at.split.blocks, at.scratch,
                     in_groups ? at.count : nullptr);
  }
  Type* i32 = b.getInt32Ty();
  // Without threadIdx.y and .z in the body, rows are just repetitions of the x loop.
  const bool rows_differ = at.store_lane || (body.items & (1u << tid_y | 1u << tid_z));
  Value* row_count = rows_differ ? items[bdim_y]
                                 : IRBuilder<>(at.start->getTerminator()).CreateNUWMul(items[bdim_y], items[bdim_z]);
  Loop z, group;
  if (rows_differ) z = open_loop(b, i32, "thread.z");
  Loop y = open_loop(b, i32, "thread.y");
  if (in_groups) {
    group = open_loop(b, i32, "block");
    items[block_x] = b.CreateAdd(items[block_x], group.index);
    if (at.group.shared_bytes) items[shared_base] = shared_of(b, items[shared_base], group.index, at.group);
  }
  Loop x = open_loop(b, i32, "thread.x");
  items[tid_x] = x.index;
  items[tid_y] = y.index;
  items[tid_z] = rows_differ ? z.index : nullptr;
  if (at.store_lane)
    store_thread_items(b, at.lane, {items[tid_x], items[tid_y], items[tid_z]}, {items[bdim_x], items[bdim_y]});
  CallInst* call = call_body(b, body, unpacker.arguments(b), items);
  BranchInst* back = close_loop(b, x, items[bdim_x]);
  mark_thread_loop(*back, at.store_lane ? nullptr : mark_parallel(call));
  if (in_groups) keep_scalar(close_loop(b, group, at.count));
  keep_scalar(close_loop(b, y, row_count));
  if (rows_differ) keep_scalar(close_loop(b, z, items[bdim_z]));
  return call;
}

}  // namespace mrcc
