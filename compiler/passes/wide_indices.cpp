#include "wide_indices.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr unsigned deepest = 8;

// A sum of multiples of arguments, indices and constants: neighbouring threads' differ by the same.
bool is_linear(const Value* v, unsigned depth = 0) {
  if (isa<Constant, Argument, PHINode>(v)) return true;
  const auto* i = dyn_cast<Instruction>(v);
  if (!i || depth == deepest) return false;
  switch (i->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
  case Instruction::ZExt:
  case Instruction::SExt:
  case Instruction::Trunc: return all_of(i->operands(), [&](const Value* o) { return is_linear(o, depth + 1); });
  default: return false;
  }
}

bool splits(const Value* v) {
  const auto* o = dyn_cast<OverflowingBinaryOperator>(v);
  return o && isa<Instruction>(v) && o->hasNoSignedWrap() &&
         (o->getOpcode() != Instruction::Shl || isa<ConstantInt>(o->getOperand(1)));
}

Value* widened(IRBuilder<>& b, Value* v, Type* wide, unsigned depth = 0) {
  if (depth == deepest || !splits(v)) return b.CreateSExt(v, wide);
  auto* o = cast<BinaryOperator>(v);
  Value* left = widened(b, o->getOperand(0), wide, depth + 1);
  Value* right = widened(b, o->getOperand(1), wide, depth + 1);
  auto* out = b.CreateBinOp(o->getOpcode(), left, right);
  if (auto* i = dyn_cast<BinaryOperator>(out)) i->setHasNoSignedWrap();
  return out;
}

}  // namespace

void widen_indices(Function& function) {
  SmallVector<SExtInst*, 16> found;
  for (Instruction& i : instructions(function)) {
    auto* extend = dyn_cast<SExtInst>(&i);
    if (extend && extend->getSrcTy()->isIntegerTy(32) && extend->getDestTy()->isIntegerTy(64) &&
        splits(extend->getOperand(0)) && is_linear(extend->getOperand(0)) &&
        all_of(extend->users(), [](const User* user) { return isa<GetElementPtrInst>(user); }))
      found.push_back(extend);
  }
  for (SExtInst* extend : found) {
    IRBuilder<> b(extend);
    extend->replaceAllUsesWith(widened(b, extend->getOperand(0), extend->getType()));
    extend->eraseFromParent();
  }
}

}  // namespace mrcc
