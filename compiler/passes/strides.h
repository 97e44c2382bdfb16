// By how much values differ from one thread of a row to the next.
#pragma once
#include <cstdint>
#include <optional>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

#include "context.h"
#include "uniformity.h"

namespace mrcc {

class Strides {
 public:
  // `row_index`: a phi that is known to be threadIdx.x and something uniform, or null.
  Strides(const Uniformity& uniformity, llvm::ArrayRef<llvm::Value*> tid, const llvm::DataLayout& layout,
          const llvm::PHINode* row_index = nullptr)
      : uniformity_(uniformity), tid_(tid), layout_(layout), row_index_(row_index) {}

  // What the value grows by from one thread of a row to the next; nothing where it isn't known.
  std::optional<std::int64_t> of(const llvm::Value* v, unsigned depth = 0) const {
    using namespace llvm;
    if (v == tid_[0] || (row_index_ && v == row_index_)) return 1;
    if (v == tid_[1] || v == tid_[2] || uniformity_.uniform(v)) return 0;
    const auto* o = dyn_cast<Operator>(v);
    if (!o || depth > 12) return {};
    const auto operand = [&](unsigned i) { return of(o->getOperand(i), depth + 1); };
    const auto* i = dyn_cast<BinaryOperator>(o);
    if (i && operand(0) == 0 && operand(1) == 0) return 0;  // the same for the threads of a row
    switch (o->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt: return operand(0);
    case Instruction::Or:
      if (!cast<PossiblyDisjointInst>(o)->isDisjoint()) return {};
      [[fallthrough]];
    case Instruction::Add: {
      const auto a = operand(0), b = operand(1);
      return a && b ? std::optional(*a + *b) : std::nullopt;
    }
    case Instruction::Sub: {
      const auto a = operand(0), b = operand(1);
      return a && b ? std::optional(*a - *b) : std::nullopt;
    }
    case Instruction::Mul:
    case Instruction::Shl: {
      const auto a = operand(0);
      const auto* by = dyn_cast<ConstantInt>(o->getOperand(1));
      if (!a || !by || by->getValue().getActiveBits() > 16) return {};
      return *a *
             (o->getOpcode() == Instruction::Shl ? std::int64_t{1} << (by->getZExtValue() & 63) : by->getSExtValue());
    }
    case Instruction::GetElementPtr: {
      const auto* gep = cast<GEPOperator>(o);
      auto sum = of(gep->getPointerOperand(), depth + 1);
      for (auto at = gep_type_begin(gep), end = gep_type_end(gep); at != end && sum; ++at) {
        if (at.isStruct()) continue;
        const auto index = of(at.getOperand(), depth + 1);
        sum = index ? std::optional(*sum + *index * static_cast<std::int64_t>(
                                                        at.getSequentialElementStride(layout_).getFixedValue()))
                    : std::nullopt;
      }
      return sum;
    }
    default: return {};
    }
  }

 private:
  const Uniformity& uniformity_;
  llvm::ArrayRef<llvm::Value*> tid_;
  const llvm::DataLayout& layout_;
  const llvm::PHINode* row_index_;
};

}  // namespace mrcc
