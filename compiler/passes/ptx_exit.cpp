// Inline PTX's `exit` ends the thread. In a kernel that is its return, so the functions around an `exit` are inlined
// into their callers until each stands in a kernel. What cannot be inlined, calls by pointer and from other units,
// traps there.
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "names.h"
#include "ptx.h"

namespace mrcc::ptx {
using namespace llvm;

namespace {

constexpr unsigned most_inlined = 100'000;

// A call of `leave` in a function that is no kernel; null when there is none.
CallInst* outside_of_kernels(Function& leave) {
  for (User* user : leave.users())
    if (auto* call = dyn_cast<CallInst>(user); call && !call->getFunction()->hasFnAttribute(kKernelAttr)) return call;
  return nullptr;
}

void end_kernel(CallInst* leave) {
  BasicBlock* block = leave->getParent();
  block->splitBasicBlock(leave->getIterator());
  block->getTerminator()->eraseFromParent();
  ReturnInst::Create(block->getContext(), block);
}

}  // namespace

void lower_exits(Module& module) {
  Function* leave = module.getFunction("__mr_lane_exit");
  if (!leave) return;
  const FunctionCallee trap = module.getOrInsertFunction("__mr_trap", llvm::Type::getVoidTy(module.getContext()));
  unsigned inlined = 0;
  while (CallInst* call = outside_of_kernels(*leave)) {
    Function* around = call->getFunction();
    SmallVector<CallBase*, 8> callers;
    for (User* user : around->users())
      if (auto* c = dyn_cast<CallBase>(user); c && c->getCalledFunction() == around) callers.push_back(c);
    for (CallBase* caller : callers) {
      InlineFunctionInfo info;
      const bool recursive = caller->getFunction() == around || ++inlined == most_inlined;
      if (recursive || !InlineFunction(*caller, info).isSuccess())
        return module.getContext().emitError(call, "inline PTX: 'exit' in a recursive function has no translation");
    }
    SmallVector<CallInst*, 4> left;
    for (User* user : leave->users())
      if (auto* c = dyn_cast<CallInst>(user); c && c->getFunction() == around) left.push_back(c);
    for (CallInst* c : left) {
      CallInst::Create(trap, {}, "", c->getIterator())->setDebugLoc(c->getDebugLoc());
      c->eraseFromParent();
    }
  }
  SmallVector<CallInst*, 8> calls;
  SmallPtrSet<Function*, 4> kernels;
  for (User* user : leave->users()) calls.push_back(cast<CallInst>(user));
  for (CallInst* call : calls) {
    kernels.insert(call->getFunction());
    end_kernel(call);
  }
  for (Function* kernel : kernels) EliminateUnreachableBlocks(*kernel);
  if (leave->use_empty()) leave->eraseFromParent();
}

}  // namespace mrcc::ptx
