// The table of translated instructions: rounding to zero, down and up (.rz, .rm, .rp). As the headers' intrinsics have
// it (millrace/device/rounding.h): MXCSR is set around one instruction, in one statement.
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

// d = mnemonic{ss,sd} args, all of the type float or double (or one 64-bit integer).
bool Table::directed(StringRef mnemonic, ArrayRef<Value*> args) {
  const Type type = s.type(0);
  if (type.kind != 'f' || type.bits < 32) return false;
  IRBuilder<>& b = t.b_;
  IRBuilder<> entry(&*t.call_->getFunction()->getEntryBlock().getFirstInsertionPt());
  AllocaInst* saved = entry.CreateAlloca(b.getInt32Ty());
  AllocaInst* control = entry.CreateAlloca(b.getInt32Ty());
  // All exceptions masked, and the direction.
  b.CreateStore(t.i32(s.has("rm") ? 0x3f80 : s.has("rp") ? 0x5f80 : 0x7f80), control);
  const std::string name = (mnemonic + (type.bits == 32 ? "ss" : "sd")).str();
  const bool integer = args[0]->getType()->isIntegerTy();
  const std::string work = integer            ? "vxorps $0, $0, $0\n\t" + name + "q $3, $0, $0"
                           : args.size() == 1 ? name + " $3, $3, $0"
                           : args.size() == 2 ? name + " $4, $3, $0"
                                              : "vmovaps $5, $0\n\t" + name + " $4, $3, $0";
  std::string constraints = "=&x,=*m,*m";
  SmallVector<Value*, 5> values{saved, control};
  SmallVector<llvm::Type*, 5> types{saved->getType(), control->getType()};
  for (Value* v : args) {
    constraints += integer ? ",r" : ",x";
    values.push_back(v);
    types.push_back(v->getType());
  }
  constraints += ",~{dirflag},~{fpsr},~{flags}";
  auto* function = FunctionType::get(t.llvm_type(type), types, false);
  CallInst* call = b.CreateCall(function,
                                InlineAsm::get(function, "stmxcsr $1\n\tldmxcsr $2\n\t" + work + "\n\tldmxcsr $1",
                                               constraints, /*hasSideEffects=*/false),
                                values);
  for (unsigned i : {0u, 1u})
    call->addParamAttr(i, Attribute::get(t.module_.getContext(), Attribute::ElementType, b.getInt32Ty()));
  call->setDoesNotThrow();
  return out(saturate(call));
}

Value* Table::directed_half(Value* single) {
  IRBuilder<>& b = t.b_;
  Value* four = b.CreateInsertElement(ConstantAggregateZero::get(FixedVectorType::get(b.getFloatTy(), 4)), single,
                                      b.getInt32(0));
  Value* mode = t.i32(s.has("rm") ? 1 : s.has("rp") ? 2 : 3);
  Value* halves = b.CreateIntrinsic(Intrinsic::x86_vcvtps2ph_128, {}, {four, mode});
  return b.CreateBitCast(b.CreateExtractElement(halves, b.getInt32(0)), b.getHalfTy());
}

}  // namespace mrcc::ptx
