// printf: variadic arguments become an array of MrPrintfArg, because the runtime must copy them out before it formats.
#include <cstddef>

#include <simt/abi.h>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include "builtins.h"

namespace mrcc {
using namespace llvm;

namespace {

// C's default promotions happened in the front end; what a variadic function could not take there (half, long double)
// is made a double here.
Value* bits_of(IRBuilder<>& b, Value* v, bool& is_double) {
  Type* t = v->getType();
  is_double = t->isFloatingPointTy();
  if (is_double) return b.CreateBitCast(b.CreateFPCast(v, b.getDoubleTy()), b.getInt64Ty());
  if (t->isPointerTy()) return b.CreatePtrToInt(v, b.getInt64Ty());
  if (t->isIntegerTy()) return b.CreateSExtOrTrunc(v, b.getInt64Ty());
  return b.getInt64(0);
}

void lower_call(CallInst* call, Module& module) {
  IRBuilder<> entry(&*call->getFunction()->getEntryBlock().getFirstInsertionPt());
  IRBuilder<> b(call);
  const unsigned count = call->arg_size() - 1;
  Value* array = ConstantPointerNull::get(b.getPtrTy());
  if (count) {
    auto* type = ArrayType::get(b.getInt64Ty(), 2 * count);
    AllocaInst* slot = entry.CreateAlloca(type, nullptr, "printf.arguments");
    slot->setAlignment(Align(8));
    array = slot;
    static_assert(sizeof(MrPrintfArg) == 16 && offsetof(MrPrintfArg, is_double) == 8);
    for (unsigned i = 0; i < count; ++i) {
      bool is_double = false;
      Value* bits = bits_of(b, call->getArgOperand(1 + i), is_double);
      b.CreateStore(bits, b.CreateConstInBoundsGEP2_32(type, slot, 0, 2 * i));
      b.CreateStore(b.getInt64(is_double), b.CreateConstInBoundsGEP2_32(type, slot, 0, 2 * i + 1));
    }
  }
  FunctionCallee service = module.getOrInsertFunction(
      "__mr_printf", FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getInt32Ty()}, false));
  CallInst* replacement = b.CreateCall(service, {call->getArgOperand(0), array, b.getInt32(count)});
  replacement->setDoesNotThrow();
  call->replaceAllUsesWith(replacement);
  call->eraseFromParent();
}

}  // namespace

void lower_printf(Module& module) {
  Function* f = module.getFunction("printf");
  if (!f || !f->isDeclaration()) return;
  for (User* u : make_early_inc_range(f->users()))
    if (auto* call = dyn_cast<CallInst>(u); call && call->getCalledFunction() == f) lower_call(call, module);
  if (f->use_empty()) f->eraseFromParent();
}

}  // namespace mrcc
