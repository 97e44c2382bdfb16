#include "launches.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include "annotations.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr const char* kGo = "__mr_launch_go";
constexpr const char* kLaunch = "__mr_launch";
constexpr const char* kPack = "__mr.launch.pack";

// { kernel, pointers to its arguments }: a function's launch in preparation.
AllocaInst* pending_of(Function& f) {
  IRBuilder<> entry(&*f.getEntryBlock().getFirstInsertionPt());
  AllocaInst* slot = entry.CreateAlloca(ArrayType::get(entry.getPtrTy(), 2), nullptr, "launch");
  slot->setAlignment(Align(16));
  return slot;
}

}  // namespace

void lower_launches(Module& module) {
  LLVMContext& c = module.getContext();
  Type* pointer = PointerType::get(c, 0);
  Type* nothing = Type::getVoidTy(c);
  for (Function& f : module) {
    AllocaInst* pending = nullptr;
    for (Instruction& i : make_early_inc_range(instructions(f))) {
      auto* call = dyn_cast<CallInst>(&i);
      if (!call) continue;
      auto* callee = dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts());
      const bool go = callee && callee->getName() == kGo;
      // No other function has this convention in device code (frontend/annotate.cpp).
      const bool kernel = callee && call->getCallingConv() == CallingConv::Win64;
      if (!go && !kernel) continue;
      if (!pending) pending = pending_of(f);
      IRBuilder<> b(call);
      SmallVector<Value*, 16> args{pending};
      FunctionCallee target;
      if (go) {
        target = module.getOrInsertFunction(kLaunch, FunctionType::get(nothing, {pointer, pointer}, false));
      } else {
        target = module.getOrInsertFunction(kPack, FunctionType::get(nothing, {pointer, pointer}, true));
        args.push_back(callee);
      }
      args.append(call->arg_begin(), call->arg_end());
      b.CreateCall(target, args)->setDoesNotThrow();
      call->eraseFromParent();
    }
  }
  if (Function* go = module.getFunction(kGo); go && go->use_empty()) go->eraseFromParent();
}

void pack_launch_arguments(Module& module) {
  Function* pack = module.getFunction(kPack);
  if (!pack) return;
  for (User* u : make_early_inc_range(pack->users())) {
    auto* call = cast<CallInst>(u);
    auto* kernel = dyn_cast<Function>(call->getArgOperand(1)->stripPointerCasts());
    if (!kernel || !is_kernel(*kernel) || kernel->isDeclaration()) {
      // The linker names what is missing; what has no definition can't be launched.
      IRBuilder<>(call).CreateStore(call->getArgOperand(1), call->getArgOperand(0));
      call->eraseFromParent();
      continue;
    }
    const KernelInfo info = kernel_info(*kernel);
    IRBuilder<> entry(&*call->getFunction()->getEntryBlock().getFirstInsertionPt());
    IRBuilder<> b(call);
    const unsigned count = call->arg_size() - 2;
    auto* type = ArrayType::get(b.getPtrTy(), std::max(count, 1u));
    AllocaInst* array = entry.CreateAlloca(type, nullptr, "launch.arguments");
    for (unsigned i = 0; i < count; ++i) {
      Value* value = call->getArgOperand(2 + i);
      if (!value->getType()->isPointerTy() || (i < info.parameters.size() && info.parameters[i].pointer)) {
        if (value->getType()->isIntegerTy(1)) value = b.CreateZExt(value, b.getInt8Ty());
        AllocaInst* slot = entry.CreateAlloca(value->getType(), nullptr, "launch.argument");
        b.CreateStore(value, slot);
        value = slot;
      }
      b.CreateStore(value, b.CreateConstInBoundsGEP2_32(type, array, 0, i));
    }
    Value* pending = call->getArgOperand(0);
    b.CreateStore(kernel, pending);
    b.CreateStore(array, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), pending, 1));
    call->eraseFromParent();
  }
  if (pack->use_empty()) pack->eraseFromParent();
}

}  // namespace mrcc
