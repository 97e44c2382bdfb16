#include "arithmetic.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace mrcc {
using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// The same value, seen through unoptimised code's loads of a variable.
bool same(Value* x, Value* y) {
  if (x == y) return true;
  auto* a = dyn_cast<LoadInst>(x);
  auto* b = dyn_cast<LoadInst>(y);
  return a && b && a->isSimple() && b->isSimple() && a->getPointerOperand() == b->getPointerOperand() &&
         isa<AllocaInst>(a->getPointerOperand()) && a->getParent() == b->getParent();
}

bool never(Value* v, const APInt& value) {
  const APInt* c;
  return match(v, m_APInt(c)) && *c != value;
}

// What a GPU returns for x / 0, and for x % 0 when no quotient of the same operands is at hand: all ones, of 32 bits
// when both operands fit there (its short division serves them).
Value* by_zero(IRBuilder<>& b, Value* a) {
  Type* type = a->getType();
  if (type->getScalarSizeInBits() != 64) return Constant::getAllOnesValue(type);
  Value* small = b.CreateICmpULE(a, ConstantInt::get(type, 0xffffffffu));
  return b.CreateSelect(small, ConstantInt::get(type, 0xffffffffu), Constant::getAllOnesValue(type));
}

// A remainder is computed from the quotient of the same operands if there is one before or after it in the block.
bool has_quotient(BinaryOperator* op, bool is_signed) {
  for (Instruction& i : *op->getParent()) {
    auto* other = dyn_cast<BinaryOperator>(&i);
    if (other && other->getOpcode() == (is_signed ? Instruction::SDiv : Instruction::UDiv) &&
        same(other->getOperand(0), op->getOperand(0)) && same(other->getOperand(1), op->getOperand(1)))
      return true;
  }
  return false;
}

// After the divisor 0 has been replaced by 1, the wrong result is replaced; a divisor of -1 under INT_MIN becomes 1 as
// well, which already gives the right quotient and remainder.
void lower_division(BinaryOperator* op, bool quotient_known) {
  const bool is_signed = op->getOpcode() == Instruction::SDiv || op->getOpcode() == Instruction::SRem;
  Type* type = op->getType();
  Value* a = op->getOperand(0);
  Value* d = op->getOperand(1);
  const unsigned bits = type->getScalarSizeInBits();
  const bool zero_possible = !never(d, APInt::getZero(bits));
  const bool overflow_possible = is_signed && !never(d, APInt::getAllOnes(bits)) &&
                                 !never(a, APInt::getSignedMinValue(bits));
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
  Value* result = b.CreateSelect(zero, quotient_known ? a : by_zero(b, a), op);
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

// Results narrower than 32 bits are the low bits of a 32-bit conversion. NaN becomes 0 from float to 32 bits, else the
// lowest integer.
void lower_conversion(CastInst* cast) {
  const bool is_signed = cast->getOpcode() == Instruction::FPToSI;
  Type* type = cast->getType();
  Value* from = cast->getOperand(0);
  Type* wide = type->getScalarSizeInBits() < 32 ? type->getWithNewBitWidth(32) : type;
  IRBuilder<> b(cast);
  Value* v = b.CreateIntrinsic(is_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat, {wide, from->getType()},
                               {from});
  if (from->getType()->getScalarSizeInBits() > 32 || wide->getScalarSizeInBits() > 32) {
    Value* nan = b.CreateFCmpUNO(from, from);
    v = b.CreateSelect(nan, ConstantInt::get(wide, APInt::getSignedMinValue(wide->getScalarSizeInBits())), v);
  }
  cast->replaceAllUsesWith(b.CreateTrunc(v, type));
  cast->eraseFromParent();
}

}  // namespace

void lower_arithmetic(Function& function) {
  SmallPtrSet<Instruction*, 8> with_quotient;
  for (Instruction& i : instructions(function)) {
    const bool is_signed = i.getOpcode() == Instruction::SRem;
    if ((is_signed || i.getOpcode() == Instruction::URem) && has_quotient(cast<BinaryOperator>(&i), is_signed))
      with_quotient.insert(&i);
  }
  for (Instruction& i : make_early_inc_range(instructions(function))) {
    switch (i.getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem: lower_division(cast<BinaryOperator>(&i), with_quotient.contains(&i)); break;
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr: lower_shift(cast<BinaryOperator>(&i)); break;
    case Instruction::FPToSI:
    case Instruction::FPToUI: lower_conversion(cast<CastInst>(&i)); break;
    default: break;
    }
  }
}

}  // namespace mrcc
