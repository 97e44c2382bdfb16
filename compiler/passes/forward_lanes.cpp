#include "forward_lanes.h"

#include <map>
#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"

#include "check.h"
#include "names.h"
#include "own_memory.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr unsigned most_sources = 4;  // vectors that a load's lanes come from
constexpr unsigned cheap_lanes = 2;

// Masked accesses of a single lane, as what one thread does besides becomes, are accesses of a scalar.
bool make_scalar(Function& f) {
  SmallVector<std::pair<IntrinsicInst*, unsigned>, 8> single;  // and the lane
  for (Instruction& i : instructions(f)) {
    auto* call = dyn_cast<IntrinsicInst>(&i);
    const Intrinsic::ID id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
    const bool loads = id == Intrinsic::masked_gather || id == Intrinsic::masked_load;
    if (!loads && id != Intrinsic::masked_scatter && id != Intrinsic::masked_store) continue;
    auto* mask = dyn_cast<Constant>(call->getArgOperand(loads ? 2 : 3));
    auto* type = dyn_cast<FixedVectorType>(loads ? call->getType() : call->getArgOperand(0)->getType());
    if (!mask || !type) continue;
    SmallVector<unsigned, 2> on;
    for (unsigned k = 0; k < type->getNumElements() && on.size() < 2; ++k)
      if (Constant* bit = mask->getAggregateElement(k); !bit || !bit->isNullValue()) on.push_back(k);
    if (on.size() == 1 && mask->getAggregateElement(on[0]) && mask->getAggregateElement(on[0])->isOneValue())
      single.push_back({call, on[0]});
  }
  for (auto [call, lane] : single) {
    IRBuilder<> b(call);
    const Intrinsic::ID id = call->getIntrinsicID();
    const bool loads = id == Intrinsic::masked_gather || id == Intrinsic::masked_load;
    Value* pointer = call->getArgOperand(loads ? 0 : 1);
    Type* element = (loads ? call->getType() : call->getArgOperand(0)->getType())->getScalarType();
    const Align align(cast<ConstantInt>(call->getArgOperand(loads ? 1 : 2))->getZExtValue());
    const bool vector = pointer->getType()->isVectorTy();
    if (vector)
      pointer = b.CreateExtractElement(pointer, lane);
    else if (lane)
      pointer = b.CreateConstGEP1_64(element, pointer, lane);
    const Align one = vector || !lane ? align
                                      : commonAlignment(align, lane * f.getDataLayout().getTypeStoreSize(element));
    if (loads)
      call->replaceAllUsesWith(
          b.CreateInsertElement(call->getArgOperand(3), b.CreateAlignedLoad(element, pointer, one), lane));
    else
      b.CreateAlignedStore(b.CreateExtractElement(call->getArgOperand(0), lane), pointer, one);
    call->eraseFromParent();
  }
  return !single.empty();
}

// A load or store of lanes at a constant offset of a block's own memory.
struct Access {
  Value* base = nullptr;
  std::int64_t offset = 0;
  Type* element = nullptr;
  unsigned lanes = 1, bytes = 0;  // bytes of a lane
  Value* stored = nullptr;        // null: a load
  Constant* mask = nullptr;       // of a masked access
  Value* otherwise = nullptr;     // what a masked load gives elsewhere
  bool on(unsigned lane) const {
    auto* bit = mask ? mask->getAggregateElement(lane) : nullptr;
    return !mask || (bit && !bit->isNullValue());
  }
};

// The lane of a vector (or a scalar) that was stored last to an address.
struct Lane {
  Value* value = nullptr;
  unsigned lane = 0, bytes = 0;
};

class Forwarder {
 public:
  explicit Forwarder(Function& f) : f_(f), layout_(f.getDataLayout()) {}

  bool run() {
    for (Instruction& i : instructions(f_))
      if (is_own_memory(i, f_)) bases_.insert(&i);
    if (bases_.empty()) return false;
    bool changed = false;
    for (BasicBlock& block : f_) changed |= forward_in(block);
    return changed && (remove_unread(), true);
  }

 private:
  std::optional<Access> access_of(Instruction& i) const {
    Access a;
    Value* pointer = nullptr;
    Type* type = nullptr;
    if (auto* load = dyn_cast<LoadInst>(&i); load && load->isSimple()) {
      pointer = load->getPointerOperand();
      type = load->getType();
    } else if (auto* store = dyn_cast<StoreInst>(&i); store && store->isSimple()) {
      pointer = store->getPointerOperand();
      a.stored = store->getValueOperand();
      type = a.stored->getType();
    } else if (auto* call = dyn_cast<IntrinsicInst>(&i)) {
      if (call->getIntrinsicID() == Intrinsic::masked_load) {
        pointer = call->getArgOperand(0);
        a.mask = dyn_cast<Constant>(call->getArgOperand(2));
        a.otherwise = call->getArgOperand(3);
        type = call->getType();
      } else if (call->getIntrinsicID() == Intrinsic::masked_store) {
        a.stored = call->getArgOperand(0);
        pointer = call->getArgOperand(1);
        a.mask = dyn_cast<Constant>(call->getArgOperand(3));
        type = a.stored->getType();
      }
      if (!a.mask) return {};
    }
    if (!pointer) return {};
    APInt offset(64, 0);
    a.base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    if (!bases_.contains(a.base) || offset.getSignificantBits() > 40) return {};
    a.offset = offset.getSExtValue();
    auto* vector = dyn_cast<FixedVectorType>(type);
    if (isa<ScalableVectorType>(type)) return {};
    a.element = type->getScalarType();
    a.lanes = vector ? vector->getNumElements() : 1;
    if (!a.element->isIntegerTy() && !a.element->isFloatingPointTy()) return {};
    const unsigned bits = a.element->getPrimitiveSizeInBits();
    if (bits % 8 || bits > 64 || bits != layout_.getTypeAllocSizeInBits(a.element)) return {};
    a.bytes = bits / 8;
    return a;
  }

  // Lanes of a load that anything is made of.
  static SmallBitVector demanded(Instruction& load, unsigned lanes) {
    using namespace PatternMatch;
    SmallBitVector all(lanes, true), some(lanes, false);
    for (User* user : load.users()) {
      Constant* mask;
      Value *a, *b;
      if (match(user, m_Select(m_Constant(mask), m_Value(a), m_Value(b))) && mask->getType()->isVectorTy()) {
        for (unsigned i = 0; i < lanes; ++i) {
          Constant* bit = mask->getAggregateElement(i);
          const bool left = !bit || !bit->isNullValue(), right = !bit || !bit->isOneValue();
          if ((left && a == &load) || (right && b == &load)) some.set(i);
        }
      } else if (auto* shuffle = dyn_cast<ShuffleVectorInst>(user)) {
        const int width = cast<FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements();
        for (int m : shuffle->getShuffleMask())
          if (m >= 0 && shuffle->getOperand(m / width) == &load) some.set(m % width);
      } else {
        return all;
      }
    }
    return some;
  }

  using Memory = std::map<std::int64_t, Lane>;  // by offset

  static void forget(Memory& memory, std::int64_t from, std::int64_t to) {
    auto at = memory.lower_bound(from);
    if (at != memory.begin()) {
      auto before = std::prev(at);
      if (before->first + before->second.bytes > from) at = before;
    }
    while (at != memory.end() && at->first < to) at = memory.erase(at);
  }

  // The value that the load gives, if it is known.
  Value* value_of(Instruction& load, const Access& a, const Memory& memory) const {
    const SmallBitVector needed = a.lanes > 1 ? demanded(load, a.lanes) : SmallBitVector(1, true);
    SmallVector<const Lane*, 16> from(a.lanes);
    MapVector<Value*, unsigned> sources;  // and how many lanes come from each
    for (unsigned i = 0; i < a.lanes; ++i) {
      if (!needed[i] || !a.on(i)) continue;
      auto found = memory.find(a.offset + std::int64_t{a.bytes} * i);
      if (found == memory.end() || found->second.bytes != a.bytes) return nullptr;
      from[i] = &found->second;
      ++sources[found->second.value];
    }
    if (sources.empty() || sources.size() > most_sources) return nullptr;
    IRBuilder<> b(&load);
    if (a.lanes == 1) {
      // To load it costs less than to take it out of a vector, but for the first ones.
      if (from[0]->value->getType()->isVectorTy() && from[0]->lane >= cheap_lanes) return nullptr;
      Value* v = from[0]->value;
      if (v->getType()->isVectorTy()) v = b.CreateExtractElement(v, from[0]->lane);
      return b.CreateBitCast(v, a.element);
    }
    auto* type = FixedVectorType::get(a.element, a.lanes);
    Value* result = a.otherwise ? a.otherwise : PoisonValue::get(type);
    if (!a.mask) result = PoisonValue::get(type);
    for (auto& [source, count] : sources) {
      auto* vector = dyn_cast<FixedVectorType>(source->getType());
      if (!vector) {
        Value* scalar = b.CreateBitCast(source, a.element);
        for (unsigned i = 0; i < a.lanes; ++i)
          if (from[i] && from[i]->value == source) result = b.CreateInsertElement(result, scalar, i);
        continue;
      }
      Value* v = b.CreateBitCast(source, FixedVectorType::get(a.element, vector->getNumElements()));
      SmallVector<int, 16> pick(a.lanes, -1), blend(a.lanes);
      for (unsigned i = 0; i < a.lanes; ++i) {
        const bool mine = from[i] && from[i]->value == source;
        if (mine) pick[i] = from[i]->lane;
        blend[i] = mine ? a.lanes + i : i;
      }
      v = b.CreateShuffleVector(v, pick);
      result = isa<PoisonValue>(result) ? v : b.CreateShuffleVector(result, v, blend);
    }
    return result;
  }

  bool forward_in(BasicBlock& block) {
    MapVector<Value*, Memory> memories;
    bool changed = false;
    for (Instruction& i : make_early_inc_range(block)) {
      if (!i.mayReadOrWriteMemory()) continue;
      if (auto a = access_of(i)) {
        Memory& memory = memories[a->base];
        if (!a->stored) {
          Value* v = value_of(i, *a, memory);
          if (!v) continue;
          i.replaceAllUsesWith(v);
          i.eraseFromParent();
          changed = true;
          continue;
        }
        for (unsigned k = 0; k < a->lanes; ++k) {
          if (!a->on(k)) continue;
          const std::int64_t at = a->offset + std::int64_t{a->bytes} * k;
          forget(memory, at, at + a->bytes);
          memory[at] = {a->stored, k, a->bytes};
        }
        continue;
      }
      if (!i.mayWriteToMemory() || is_access_check(i)) continue;
      // Kernels' arguments don't point there. What else does isn't known.
      if (auto* store = dyn_cast<StoreInst>(&i);
          store && is_argument(getUnderlyingObject(store->getPointerOperand()), f_))
        continue;
      if (auto* call = dyn_cast<IntrinsicInst>(&i)) {
        const Intrinsic::ID id = call->getIntrinsicID();
        if (call->isLifetimeStartOrEnd() || isa<AssumeInst>(call)) continue;
        if ((id == Intrinsic::masked_store || id == Intrinsic::masked_scatter) &&
            is_argument(getUnderlyingObject(call->getArgOperand(1)), f_))
          continue;
      }
      memories.clear();
    }
    return changed;
  }

  // Stores that no load of the function can read, where all accesses are known.
  void remove_unread() {
    // Functions that know the block by themselves.
    for (const Instruction& i : instructions(f_)) {
      const auto* call = dyn_cast<CallBase>(&i);
      const Function* callee = call ? call->getCalledFunction() : nullptr;
      if (call && (!callee || (!callee->isDeclaration() && !callee->hasFnAttribute(kEntryAttr)))) return;
    }
    for (Value* base : bases_) {
      SmallVector<Instruction*, 32> stores;
      SmallVector<std::pair<std::int64_t, std::int64_t>, 32> read;
      if (!only_accessed(base, base, stores, read)) continue;
      for (Instruction* store : stores) {
        const Access a = *access_of(*store);
        const std::int64_t end = a.offset + std::int64_t{a.bytes} * a.lanes;
        if (none_of(read, [&](auto& r) { return r.first < end && a.offset < r.second; })) store->eraseFromParent();
      }
    }
  }
  bool only_accessed(Value* base, Value* pointer, SmallVectorImpl<Instruction*>& stores,
                     SmallVectorImpl<std::pair<std::int64_t, std::int64_t>>& read) const {
    for (User* user : pointer->users()) {
      auto* i = cast<Instruction>(user);
      if (bases_.contains(i)) continue;  // other memory
      if (isa<GetElementPtrInst>(i)) {
        if (i->getType()->isVectorTy() || !only_accessed(base, i, stores, read)) return false;
        continue;
      }
      auto a = access_of(*i);
      if (!a || a->base != base || a->stored == pointer) return false;
      if (a->stored)
        stores.push_back(i);
      else
        read.push_back({a->offset, a->offset + std::int64_t{a->bytes} * a->lanes});
    }
    return true;
  }

  Function& f_;
  const DataLayout& layout_;
  SmallSetVector<Value*, 4> bases_;
};

}  // namespace

PreservedAnalyses ForwardLanes::run(Function& function, FunctionAnalysisManager& analyses) {
  if (!function.hasFnAttribute(kEntryAttr) || function.hasFnAttribute(Attribute::Cold)) return PreservedAnalyses::all();
  const auto tidy = [&] {
    analyses.invalidate(function, PreservedAnalyses::none());
    analyses.invalidate(function, InstCombinePass().run(function, analyses));
  };
  const bool scalar = make_scalar(function);
  if (scalar) tidy();
  if (!Forwarder(function).run()) return scalar ? PreservedAnalyses::none() : PreservedAnalyses::all();
  tidy();
  analyses.invalidate(function, ADCEPass().run(function, analyses));
  return PreservedAnalyses::none();
}

}  // namespace mrcc
