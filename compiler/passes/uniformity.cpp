#include "uniformity.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace mrcc {
using namespace llvm;

namespace {

bool is_source(const Instruction& i) {
  if (auto* load = dyn_cast<LoadInst>(&i)) return !load->hasMetadata(LLVMContext::MD_invariant_load);
  if (auto* call = dyn_cast<CallBase>(&i)) {
    const Function* callee = call->getCalledFunction();
    if (callee && callee->getName().starts_with("__mr_barrier")) return false;
    return !call->doesNotAccessMemory() || call->isInlineAsm();
  }
  return isa<AllocaInst>(i) || isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || isa<FreezeInst>(i);
}

}  // namespace

Uniformity::Uniformity(Function& f, ArrayRef<Value*> sources) {
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  PostDominatorTree post(f);
  SmallVector<const Value*, 64> work;
  const auto mark = [&](const Value* v) {
    if (divergent_.insert(v).second) work.push_back(v);
  };
  // Threads part at the branch that ends `branch` and meet again at its post-dominator.
  const auto part = [&](const BasicBlock* branch) {
    const auto* node = post.getNode(const_cast<BasicBlock*>(branch));
    const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    // Where threads that went different ways may come together, values that depend on the way differ. (Those that
    // return don't come together with the others any more.)
    DenseMap<const BasicBlock*, unsigned> reached;
    SmallPtrSet<const BasicBlock*, 16> seen;
    SmallPtrSet<const BasicBlock*, 4> ways(succ_begin(branch), succ_end(branch));
    for (const BasicBlock* way : ways) {
      SmallVector<const BasicBlock*, 8> stack{way};
      SmallPtrSet<const BasicBlock*, 16> here;
      while (!stack.empty()) {
        const BasicBlock* block = stack.pop_back_val();
        if (!here.insert(block).second) continue;
        ++reached[block];
        seen.insert(block);
        if (block != join) stack.append(succ_begin(block), succ_end(block));
      }
    }
    for (const BasicBlock* block : seen) {
      if (reached[block] < 2) continue;
      for (const PHINode& phi : block->phis())
        if (!phi.hasConstantOrUndefValue()) mark(&phi);
    }
    // Threads that leave a loop in different iterations bring different values out of it.
    for (const Loop* loop = loops.getLoopFor(branch); loop; loop = loop->getParentLoop()) {
      bool leaves = false;
      for (const BasicBlock* block : seen) leaves |= !loop->contains(block);
      if (!leaves) break;
      for (const BasicBlock* block : loop->blocks())
        for (const Instruction& i : *block)
          for (const User* u : i.users())
            if (auto* user = dyn_cast<Instruction>(u); user && !loop->contains(user)) mark(user);
    }
  };
  for (Value* v : sources)
    if (v) mark(v);
  for (const Instruction& i : instructions(f))
    if (is_source(i)) mark(&i);
  while (!work.empty()) {
    const Value* v = work.pop_back_val();
    for (const User* u : v->users()) {
      const auto* user = dyn_cast<Instruction>(u);
      if (!user) continue;
      if (user->isTerminator()) {
        if (user->getNumSuccessors() > 1 && divergent_.insert(user).second) part(user->getParent());
        continue;
      }
      if (auto* call = dyn_cast<CallBase>(user);
          call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("__mr_barrier"))
        continue;
      mark(user);
    }
  }
}

}  // namespace mrcc
