#include "arithmetic.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace mrcc {
using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

bool never(Value* v, const APInt& value) {
  const APInt* c;
  return match(v, m_APInt(c)) && *c != value;
}

// After the divisor 0 has been replaced by 1, the wrong quotient is replaced by -1; a divisor of -1 under INT_MIN becomes 1 as well, which
// already gives the right quotient and remainder.
void lower_division(BinaryOperator* op) {
  const bool is_signed = op->getOpcode() == Instruction::SDiv || op->getOpcode() == Instruction::SRem;
  Type* type = op->getType();
  Value* a = op->getOperand(0);
  Value* d = op->getOperand(1);
  const unsigned bits = type->getScalarSizeInBits();
  const bool zero_possible = !never(d, APInt::getZero(bits));
  const bool overflow_possible =
      is_signed && !never(d, APInt::getAllOnes(bits)) && !never(a, APInt::getSignedMinValue(bits));
  if (!zero_possible && !overflow_possible) return;
  IRBuilder<> b(op);
  Value* zero = b.CreateICmpEQ(d, Constant::getNullValue(type));
  Value* replace = zero;
  if (overflow_possible) {
    Value* overflow = b.CreateAnd(b.CreateICmpEQ(a, ConstantInt::get(type, APInt::getSignedMinValue(bits))),
                                  b.CreateICmpEQ(d, Constant::getAllOnesValue(type)));
    replace = zero_possible ? b.CreateOr(zero, overflow) : overflow;
  }
  op->setOperand(1, b.CreateSelect(replace, ConstantInt::get(type, 1), d));
  op->dropPoisonGeneratingFlags();
  if (!zero_possible) return;
  b.SetInsertPoint(op->getNextNode());
  Value* result = b.CreateSelect(zero, Constant::getAllOnesValue(type), op);
  op->replaceUsesWithIf(result, [&](Use& use) { return use.getUser() != result; });
}

void lower_shift(BinaryOperator* op) {
  Type* type = op->getType();
  const unsigned bits = type->getScalarSizeInBits();
  Value* count = op->getOperand(1);
  const APInt* constant;
  if (match(count, m_APInt(constant)) && constant->ult(bits)) return;
  IRBuilder<> b(op);
  op->dropPoisonGeneratingFlags();
  if (bits == 64) count = b.CreateZExt(b.CreateTrunc(count, type->getWithNewBitWidth(32)), type);
  Constant* width = ConstantInt::get(type, bits);
  if (op->getOpcode() == Instruction::AShr) {
    Constant* last = ConstantInt::get(type, bits - 1);
    op->setOperand(1, b.CreateBinaryIntrinsic(Intrinsic::umin, count, last));
    return;
  }
  op->setOperand(1, count);
  Value* in_range = b.CreateICmpULT(count, width);
  b.SetInsertPoint(op->getNextNode());
  Value* result = b.CreateSelect(in_range, op, Constant::getNullValue(type));
  op->replaceUsesWithIf(result, [&](Use& use) { return use.getUser() != result; });
}

// Results narrower than 32 bits are the low bits of a 32-bit conversion.
void lower_conversion(CastInst* cast) {
  const bool is_signed = cast->getOpcode() == Instruction::FPToSI;
  Type* type = cast->getType();
  Type* wide = type->getScalarSizeInBits() < 32 ? type->getWithNewBitWidth(32) : type;
  IRBuilder<> b(cast);
  Value* v = b.CreateIntrinsic(is_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat, {wide, cast->getOperand(0)->getType()},
                               {cast->getOperand(0)});
  cast->replaceAllUsesWith(b.CreateTrunc(v, type));
  cast->eraseFromParent();
}

}  // namespace

void lower_arithmetic(Function& function) {
  for (Instruction& i : make_early_inc_range(instructions(function))) {
    switch (i.getOpcode()) {
      case Instruction::SDiv: case Instruction::UDiv: case Instruction::SRem: case Instruction::URem:
        lower_division(cast<BinaryOperator>(&i));
        break;
      case Instruction::Shl: case Instruction::LShr: case Instruction::AShr:
        lower_shift(cast<BinaryOperator>(&i));
        break;
      case Instruction::FPToSI: case Instruction::FPToUI:
        lower_conversion(cast<CastInst>(&i));
        break;
      default:
        break;
    }
  }
}

}  // namespace mrcc
