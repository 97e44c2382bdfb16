#include "contraction.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/Local.h"

namespace mrcc {
using namespace llvm;

namespace {

// A multiplication that may be contracted, possibly under a negation.
struct Product {
  BinaryOperator* multiply = nullptr;
  bool negated = false;
};
Product product_of(Value* v) {
  Product p;
  if (auto* negation = dyn_cast<UnaryOperator>(v); negation && negation->getOpcode() == Instruction::FNeg) {
    p.negated = true;
    v = negation->getOperand(0);
  }
  auto* multiply = dyn_cast<BinaryOperator>(v);
  if (multiply && multiply->getOpcode() == Instruction::FMul && multiply->hasAllowContract()) p.multiply = multiply;
  return p;
}

bool supported(Type* type) {
  Type* scalar = type->getScalarType();
  return scalar->isFloatTy() || scalar->isDoubleTy() || scalar->isHalfTy();
}

bool fuse(BinaryOperator* sum, SmallVectorImpl<Instruction*>& dead) {
  const bool subtract = sum->getOpcode() == Instruction::FSub;
  for (unsigned side = 0; side < 2; ++side) {
    const Product p = product_of(sum->getOperand(side));
    if (!p.multiply) continue;
    IRBuilder<> b(sum);
    b.setFastMathFlags(sum->getFastMathFlags());
    Value* a = p.multiply->getOperand(0);
    Value* addend = sum->getOperand(1 - side);
    // a*b - c = fma(a, b, -c); c - a*b = fma(-a, b, c)
    if (p.negated != (subtract && side == 1)) a = b.CreateFNeg(a);
    if (subtract && side == 0) addend = b.CreateFNeg(addend);
    Value* fused = b.CreateIntrinsic(Intrinsic::fma, {sum->getType()}, {a, p.multiply->getOperand(1), addend});
    fused->takeName(sum);
    sum->replaceAllUsesWith(fused);
    dead.push_back(sum);
    return true;
  }
  return false;
}

}  // namespace

void contract(Function& function) {
  SmallVector<Instruction*, 16> dead;
  for (Instruction& i : instructions(function)) {
    auto* sum = dyn_cast<BinaryOperator>(&i);
    if (sum && (sum->getOpcode() == Instruction::FAdd || sum->getOpcode() == Instruction::FSub) &&
        sum->hasAllowContract() && supported(sum->getType()))
      fuse(sum, dead);
  }
  // Sums first, then what only they used.
  for (Instruction* i : dead) RecursivelyDeleteTriviallyDeadInstructions(i);
  for (Instruction& i : instructions(function))
    if (isa<FPMathOperator>(i) && i.hasAllowContract()) {
      FastMathFlags flags = i.getFastMathFlags();
      flags.setAllowContract(false);
      i.copyFastMathFlags(flags);
    }
}

}  // namespace mrcc
