// Polls of spinning loops.
#include <cstddef>

#include <simt/abi.h>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "context.h"
#include "spin.h"

namespace mrcc {
using namespace llvm;

namespace {

// Iterations between entries into the runtime: few, because a spinning loop has nothing better to do, yet enough to
// make the common "almost ready" wait cheap.
constexpr std::uint32_t kPollInterval = 16;

void insert_poll(Instruction* before) {
  Module& module = *before->getModule();
  IRBuilder<> b(before);
  Value* address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane_pointer(b), offsetof(MrLane, poll_count));
  Value* count = b.CreateAdd(b.CreateAlignedLoad(b.getInt32Ty(), address, Align(4)), b.getInt32(1));
  b.CreateAlignedStore(count, address, Align(4));
  Value* due = b.CreateICmpEQ(b.CreateAnd(count, b.getInt32(kPollInterval - 1)), b.getInt32(0));
  MDNode* rare = MDBuilder(module.getContext()).createBranchWeights(1, kPollInterval - 1);
  Instruction* then = SplitBlockAndInsertIfThen(due, before, /*Unreachable=*/false, rare);
  b.SetInsertPoint(then);
  FunctionCallee poll = module.getOrInsertFunction("__mr_poll", FunctionType::get(b.getVoidTy(), false));
  b.CreateCall(poll)->setDoesNotThrow();
}

}  // namespace

void insert_polls(const SpinMap& spinning) {
  SmallPtrSet<BasicBlock*, 16> done;
  for (const auto& [function, what] : spinning) {
    for (const SpinningLoop& loop : what.loops)
      for (BasicBlock* latch : loop.latches)
        if (latch && done.insert(latch).second) insert_poll(latch->getTerminator());
    if (!what.recursion.empty()) insert_poll(&*function->getEntryBlock().getFirstInsertionPt());
  }
}

}  // namespace mrcc
