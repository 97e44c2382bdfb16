#include "block_groups.h"

#include <algorithm>
#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include "names.h"
#include "splitter.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr std::uint32_t short_row = 32, few_rows = 4;
constexpr std::uint32_t long_row = 128;           // threads of a group's row
constexpr std::uint64_t most_shared = 16 * 1024;  // of a group
constexpr std::size_t most_instructions = 400;
constexpr unsigned deepest = 12;

class Body {
 public:
  Body(const Extended& body, const std::array<std::uint32_t, 3>& extents)
      : body_(body), extents_(extents), layout_(body.body->getParent()->getDataLayout()) {}

  Value* item(Item i) const {
    if (!(body_.items >> i & 1)) return nullptr;
    const Function& f = *body_.body;
    return f.getArg(f.arg_size() - popcount(body_.items) + popcount(body_.items & ((1u << i) - 1)));
  }

  // It loads and stores rows, those of neighbours side by side, and nothing that it does shows the order of blocks.
  // Where it accesses shared memory, it's in the first `shared` bytes.
  bool only_moves_rows(std::uint64_t shared) const {
    Function& f = *body_.body;
    if (f.getInstructionCount() > most_instructions) return false;
    DominatorTree dominators(f);
    if (!LoopInfo(dominators).empty()) return false;
    bool moves = false;
    for (Instruction& i : instructions(f)) {
      if (isa<AllocaInst, IntToPtrInst>(i) || i.isAtomic() || i.isVolatile()) return false;
      if (auto* call = dyn_cast<CallBase>(&i)) {
        const bool meets = splitting::sync_of(i) == splitting::Sync::barrier;
        const bool harmless = isa<IntrinsicInst>(call) && !call->isConvergent() &&
                              (call->doesNotAccessMemory() || isa<DbgInfoIntrinsic>(call) || isa<AssumeInst>(call) ||
                               call->isLifetimeStartOrEnd());
        if (!meets && !harmless) return false;
      } else if (auto* pointer = getLoadStorePointerOperand(&i)) {
        if (auto* store = dyn_cast<StoreInst>(&i); store && store->getValueOperand()->getType()->isPointerTy())
          return false;
        const Places places = places_of(pointer);
        const std::uint64_t size = layout_.getTypeStoreSize(getLoadStoreType(&i));
        if (places.shared && (places.other || size > shared || places.offset.getUnsignedMax().ugt(shared - size)))
          return false;
        if (places.shared) continue;
        const auto by_thread = growth(pointer, tid_x), by_block = growth(pointer, block_x);
        if (!by_thread || !by_block || *by_block != *by_thread * extents_[0]) return false;
        moves |= *by_thread != 0;
      } else if (i.mayReadOrWriteMemory()) {
        return false;
      }
    }
    return moves;
  }

 private:
  // What a pointer may point into, and where in shared memory.
  struct Places {
    bool shared = false, other = false;
    ConstantRange offset = ConstantRange::getEmpty(64);
  };
  Places places_of(const Value* pointer, unsigned depth = 0) const {
    Places out;
    if (pointer == item(shared_base)) {
      out.shared = true;
      out.offset = APInt(64, 0);
    } else if (const auto* gep = dyn_cast<GetElementPtrInst>(pointer); gep && depth < deepest) {
      out = places_of(gep->getPointerOperand(), depth + 1);
      if (out.shared) out.offset = out.offset.add(step(*gep));
    } else if (isa<PHINode, SelectInst>(pointer) && depth < deepest) {
      const auto* user = cast<User>(pointer);
      for (const Value* from : drop_begin(user->operands(), isa<SelectInst>(user) ? 1 : 0)) {
        const Places more = places_of(from, depth + 1);
        out.shared |= more.shared;
        out.other |= more.other;
        out.offset = out.offset.unionWith(more.offset);
      }
    } else {
      // Not yet looked at, it might be anything.
      out.other = true;
      out.shared = !isa<Argument, Constant, LoadInst>(pointer);
    }
    return out;
  }

  ConstantRange step(const GetElementPtrInst& gep) const {
    ConstantRange sum(APInt(64, 0));
    for (auto at = gep_type_begin(gep), end = gep_type_end(gep); at != end; ++at) {
      if (StructType* type = at.getStructTypeOrNull()) {
        const auto field = cast<ConstantInt>(at.getOperand())->getZExtValue();
        sum = sum.add(APInt(64, layout_.getStructLayout(type)->getElementOffset(field).getFixedValue()));
      } else {
        const APInt stride(64, at.getSequentialElementStride(layout_).getFixedValue());
        sum = sum.add(range(at.getOperand()).sextOrTrunc(64).multiply(stride));
      }
    }
    return sum;
  }

  ConstantRange range(const Value* v, unsigned depth = 0) const {
    const unsigned bits = v->getType()->getIntegerBitWidth();
    if (const auto* constant = dyn_cast<ConstantInt>(v)) return constant->getValue();
    for (unsigned axis = 0; axis < 3; ++axis) {
      const APInt extent(32, extents_[axis]);
      if (v == item(static_cast<Item>(tid_x + axis))) return {APInt(32, 0), extent};
      if (v == item(static_cast<Item>(bdim_x + axis))) return extent;
    }
    const auto* i = dyn_cast<Instruction>(v);
    if (!i || depth == deepest) return ConstantRange::getFull(bits);
    const auto operand = [&](unsigned n) { return range(i->getOperand(n), depth + 1); };
    if (const auto* cast = dyn_cast<CastInst>(i); cast && cast->getSrcTy()->isIntegerTy())
      return operand(0).castOp(cast->getOpcode(), bits);
    if (const auto* or_ = dyn_cast<PossiblyDisjointInst>(i); or_ && or_->isDisjoint())
      return operand(0).add(operand(1));
    if (const auto* binary = dyn_cast<BinaryOperator>(i)) return operand(0).binaryOp(binary->getOpcode(), operand(1));
    if (isa<PHINode, SelectInst>(i)) {
      ConstantRange all = ConstantRange::getEmpty(bits);
      for (unsigned n = isa<SelectInst>(i) ? 1 : 0; n < i->getNumOperands(); ++n) all = all.unionWith(operand(n));
      return all;
    }
    return ConstantRange::getFull(bits);
  }

  // What the value grows by when the item grows by one; nothing where it isn't known.
  using Growth = std::optional<std::int64_t>;
  Growth growth(const Value* v, Item with, unsigned depth = 0) const {
    if (v == item(with)) return 1;
    if (isa<Constant, Argument>(v)) return 0;
    if (const auto known = known_.find({v, with}); known != known_.end()) return known->second;
    const Growth found = growth_of(v, with, depth);
    known_[{v, with}] = found;
    return found;
  }
  Growth growth_of(const Value* v, Item with, unsigned depth) const {
    const auto* i = dyn_cast<Instruction>(v);
    if (!i || depth == deepest) return {};
    const auto operand = [&](unsigned n) { return growth(i->getOperand(n), with, depth + 1); };
    const auto factor = [&](unsigned n) -> Growth {
      if (!i->getOperand(n)->getType()->isIntegerTy()) return {};
      const ConstantRange values = range(i->getOperand(n));
      const APInt* single = values.getSingleElement();
      return single && single->getSignificantBits() <= 32 ? std::optional(single->getSExtValue()) : std::nullopt;
    };
    if (const auto* gep = dyn_cast<GetElementPtrInst>(i)) {
      auto sum = operand(0);
      for (auto at = gep_type_begin(gep), end = gep_type_end(gep); at != end && sum; ++at) {
        if (at.isStruct()) continue;
        const auto index = growth(at.getOperand(), with, depth + 1);
        const auto stride = static_cast<std::int64_t>(at.getSequentialElementStride(layout_).getFixedValue());
        sum = index ? std::optional(*sum + *index * stride) : std::nullopt;
      }
      return sum;
    }
    bool none = !isa<LoadInst, CallBase>(i);
    for (unsigned n = 0; n < i->getNumOperands() && none; ++n) none = operand(n) == 0;
    if (none) return 0;
    const auto* disjoint = dyn_cast<PossiblyDisjointInst>(i);
    switch (i->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc: return operand(0);
    case Instruction::Or:
      if (!disjoint || !disjoint->isDisjoint()) return {};
      [[fallthrough]];
    case Instruction::Add:
    case Instruction::Sub: {
      const auto a = operand(0), b = operand(1);
      if (!a || !b) return {};
      return i->getOpcode() == Instruction::Sub ? *a - *b : *a + *b;
    }
    case Instruction::Shl: {
      const auto a = operand(0), by = factor(1);
      return a && by && *by >= 0 && *by < 32 ? std::optional(*a * (std::int64_t{1} << *by)) : std::nullopt;
    }
    case Instruction::Mul:
      for (const unsigned n : {0u, 1u})
        if (const auto a = operand(n), by = factor(1 - n); a && by) return *a * *by;
      return {};
    case Instruction::PHI: {
      const auto first = operand(0);
      for (unsigned n = 1; n < i->getNumOperands(); ++n)
        if (operand(n) != first) return {};
      return first;
    }
    default: return {};
    }
  }

  const Extended& body_;
  const std::array<std::uint32_t, 3>& extents_;
  const DataLayout& layout_;
  mutable DenseMap<std::pair<const Value*, unsigned>, Growth> known_;
};

}  // namespace

BlockGroup block_group(const Extended& extended, const std::array<std::uint32_t, 3>& extents,
                       std::uint32_t static_shared) {
  constexpr ItemSet of_one_block = 1u << dynamic_base | 1u << block_pointer;
  if (extents[0] > short_row || extents[1] * extents[2] < few_rows || extended.items & of_one_block ||
      !(extended.items >> block_x & 1))
    return {};
  const Body body(extended, extents);
  if (!body.only_moves_rows(static_shared)) return {};
  BlockGroup group;
  group.shared_bytes = body.item(shared_base) ? alignTo(static_shared, 64) : 0;
  group.count = long_row / std::max<std::uint32_t>(8, PowerOf2Ceil(extents[0]));
  while (group.count > 1 && group.count * group.shared_bytes > most_shared) group.count /= 2;
  return group;
}

Value* shared_of(IRBuilderBase& b, Value* first, Value* index, const BlockGroup& group) {
  Value* below = b.CreateNeg(b.CreateMul(b.CreateZExt(index, b.getInt64Ty()), b.getInt64(group.shared_bytes)));
  return b.CreateGEP(b.getInt8Ty(), first, below, "shared.of");
}

}  // namespace mrcc
