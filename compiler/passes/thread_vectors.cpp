#include "thread_vectors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "row_addresses.h"
#include "thread_loops.h"

namespace mrcc {
using namespace llvm;

namespace {

bool is_lane_type(const Type* type) {
  if (const auto* integer = dyn_cast<IntegerType>(type))
    return integer->getBitWidth() == 1 || (integer->getBitWidth() <= 64 && isPowerOf2_32(integer->getBitWidth()));
  return type->isFloatTy() || type->isDoubleTy() || (type->isPointerTy() && type->getPointerAddressSpace() == 0);
}

// Vectors of these become the instructions that scalars become; others, calls of a library or nothing in common.
bool is_lane_wise(const IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::fabs:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::sqrt:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::roundeven:
  case Intrinsic::copysign:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::abs:
  case Intrinsic::ctpop:
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
  case Intrinsic::bswap:
  case Intrinsic::bitreverse:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::fptosi_sat:
  case Intrinsic::fptoui_sat: return all_of(call.args(), [](const Use& u) { return is_lane_type(u->getType()); });
  default: return false;
  }
}

// Says nothing about what threads do.
bool is_remark(const Instruction& i) {
  const auto* call = dyn_cast<IntrinsicInst>(&i);
  return call && (call->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(call));
}

class Vectoriser {
 public:
  Vectoriser(Loop& loop, unsigned lanes, LoopInfo& loops, ScalarEvolution& se)
      : loop_(loop), lanes_(lanes), loops_(loops), se_(se), before_(loop.getLoopPreheader()),
        ahead_(before_->getTerminator()), b_(ahead_), addresses_(loop, se),
        expander_(se, se.getDataLayout(), "threads") {}

  void run() {
    Function* f = before_->getParent();
    LLVMContext& c = f->getContext();
    b_.SetCurrentDebugLocation(ahead_->getDebugLoc());
    const SCEV* taken = se_.getBackedgeTakenCount(&loop_);
    Value* count = expander_.expandCodeFor(taken, taken->getType(), ahead_->getIterator());
    count = b_.CreateAdd(b_.CreateZExtOrTrunc(count, b_.getInt64Ty()), b_.getInt64(1), "threads");
    SmallVector<std::pair<PHINode*, Value*>, 2> steps;
    for (PHINode& phi : loop_.getHeader()->phis()) {
      const SCEV* step = cast<SCEVAddRecExpr>(se_.getSCEV(&phi))->getStepRecurrence(se_);
      steps.push_back({&phi, expander_.expandCodeFor(step, step->getType(), ahead_->getIterator())});
    }

    BasicBlock* first = start_block("threads");
    base_ = b_.CreatePHI(b_.getInt64Ty(), 2, "base");
    base_->addIncoming(b_.getInt64(0), before_);
    Value* left = b_.CreateBinaryIntrinsic(Intrinsic::umin, b_.CreateSub(count, base_), b_.getInt64(lanes_));
    Value* number = b_.CreateStepVector(FixedVectorType::get(b_.getInt32Ty(), lanes_));
    Value* mask = b_.CreateICmpULT(number, b_.CreateVectorSplat(lanes_, b_.CreateTrunc(left, b_.getInt32Ty())), "mask");
    not_empty_.insert(mask);
    for (auto [phi, step] : steps) {
      Type* type = step->getType();
      Value* at = b_.CreateAdd(b_.CreateVectorSplat(lanes_, b_.CreateZExtOrTrunc(base_, type)),
                               b_.CreateStepVector(FixedVectorType::get(type, lanes_)));
      at = b_.CreateMul(at, b_.CreateVectorSplat(lanes_, step));
      Value* start = phi->getIncomingValueForBlock(before_);
      Value* so_far = b_.CreateMul(b_.CreateZExtOrTrunc(base_, type), step);
      const bool pointer = phi->getType()->isPointerTy();
      map_[phi] = pointer ? b_.CreateGEP(b_.getInt8Ty(), start, at) : b_.CreateAdd(vector(start), at);
      firsts_[phi] = pointer ? b_.CreateGEP(b_.getInt8Ty(), start, so_far) : b_.CreateAdd(start, so_far);
    }
    emit(loop_, mask);

    BasicBlock* latch = loop_.getLoopLatch();
    BasicBlock* after = loop_.getExitBlock();
    BasicBlock* last = b_.GetInsertBlock();
    Value* next = b_.CreateAdd(base_, b_.getInt64(lanes_), "", /*HasNUW=*/true, /*HasNSW=*/true);
    base_->addIncoming(next, last);
    BranchInst* back = b_.CreateCondBr(b_.CreateICmpULT(next, count), first, after);
    add_to_loop(*back, MDNode::get(c, {MDString::get(c, "llvm.loop.unroll.disable")}));
    after->replacePhiUsesWith(latch, last);
    // The loop as it was has no way in any more.
    BasicBlock* header = loop_.getHeader();
    ahead_->setSuccessor(0, first);
    header->removePredecessor(before_, /*KeepOneInputPHIs=*/true);
    BranchInst::Create(header, latch->getTerminator()->getIterator());
    latch->getTerminator()->eraseFromParent();
  }

 private:
  using Edge = std::pair<const BasicBlock*, const BasicBlock*>;

  BasicBlock* start_block(const Twine& name) {
    BasicBlock* block = BasicBlock::Create(b_.getContext(), name, before_->getParent(), loop_.getExitBlock());
    b_.SetInsertPoint(block);
    return block;
  }
  // The vector type of a scalar one.
  Type* wide(Type* type) const { return FixedVectorType::get(type, lanes_); }
  Value* edge(const BasicBlock* from, const BasicBlock* to) const { return edges_.lookup({from, to}); }
  // The value for each of the lanes.
  Value* vector(Value* v) {
    if (auto* constant = dyn_cast<Constant>(v))
      return ConstantVector::getSplat(ElementCount::getFixed(lanes_), constant);
    if (Value* known = map_.lookup(v)) return known;
    if (!same_for_all(v)) return b_.CreateVectorSplat(lanes_, first(v));  // of those that take part
    return map_[v] = IRBuilder<>(ahead_).CreateVectorSplat(lanes_, v);
  }
  bool same_for_all(Value* v) const { return loop_.isLoopInvariant(v); }

  // What a loop directly holds, loops being one thing each, such that everything follows what leads to it.
  struct Unit {
    BasicBlock* block = nullptr;
    Loop* loop = nullptr;
  };
  SmallVector<Unit, 16> order(Loop& around) {
    const auto unit_of = [&](BasicBlock* block) -> BasicBlock* {  // its block, or its inner loop's header
      Loop* inner = loops_.getLoopFor(block);
      if (inner == &around) return block;
      while (inner->getParentLoop() != &around) inner = inner->getParentLoop();
      return inner->getHeader();
    };
    MapVector<BasicBlock*, SmallVector<BasicBlock*, 2>> next;
    DenseMap<BasicBlock*, unsigned> waits_for;
    for (BasicBlock* block : around.blocks()) {
      BasicBlock* from = unit_of(block);
      auto& targets = next[from];
      for (BasicBlock* to : successors(block)) {
        if (!around.contains(to) || to == around.getHeader() || unit_of(to) == from) continue;
        targets.push_back(unit_of(to));
        ++waits_for[unit_of(to)];
      }
    }
    SmallVector<Unit, 16> out;
    SmallVector<BasicBlock*, 8> ready{around.getHeader()};
    while (!ready.empty()) {
      BasicBlock* at = ready.pop_back_val();
      Loop* inner = loops_.getLoopFor(at);
      out.push_back({at, inner == &around ? nullptr : inner});
      for (BasicBlock* to : next[at])
        if (--waits_for[to] == 0) ready.push_back(to);
    }
    return out;
  }

  // The loop's body once, for the lanes of the mask.
  void emit(Loop& around, Value* mask) {
    for (const Unit& unit : order(around)) {
      if (unit.loop)
        emit_loop(*unit.loop);
      else
        emit_block(*unit.block, unit.block == around.getHeader() ? mask : nullptr);
    }
  }

  void emit_block(BasicBlock& block, Value* mask) {
    const bool is_header = mask;
    for (BasicBlock* from : predecessors(&block)) {
      if (is_header) break;
      Value* way = edge(from, &block);
      mask = !mask || mask == way ? way : b_.CreateOr(mask, way);
    }
    masks_[&block] = mask;
    for (PHINode& phi : block.phis())
      if (!is_header) map_[&phi] = blend(phi);
    if (not_empty_.contains(mask) || !is_dear(block)) return emit_instructions(block, mask);
    // Gone by if nobody takes part.
    BasicBlock* from = b_.GetInsertBlock();
    BasicBlock* some = BasicBlock::Create(b_.getContext(), "some", from->getParent(), loop_.getExitBlock());
    BasicBlock* on = BasicBlock::Create(b_.getContext(), "on", from->getParent(), loop_.getExitBlock());
    b_.CreateCondBr(any(mask), some, on);
    b_.SetInsertPoint(some);
    not_empty_.insert(mask);
    const DenseMap<Value*, Value*> outside = firsts_;
    emit_instructions(block, mask);
    firsts_ = outside;
    not_empty_.erase(mask);
    BasicBlock* last = b_.GetInsertBlock();
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
    for (Instruction& i : block)
      if (!isa<PHINode>(i) && map_.contains(&i)) map_[&i] = behind(map_[&i], last, from);
    for (BasicBlock* to : successors(&block))
      if (Value*& way = edges_[{&block, to}]) way = behind(way, last, from);
  }
  // Better not done for nobody. (What all threads read together has to be read by somebody.)
  bool is_dear(const BasicBlock& block) {
    constexpr std::size_t many_instructions = 16;
    return block.size() >= many_instructions || any_of(block, [&](const Instruction& i) {
             const auto* call = dyn_cast<IntrinsicInst>(&i);
             return i.getOpcode() == Instruction::FDiv || (call && call->getIntrinsicID() == Intrinsic::sqrt) ||
                    isa<LoadInst, StoreInst>(i);
           });
  }

  void emit_instructions(BasicBlock& block, Value* mask) {
    for (Instruction& i : block) {
      if (i.isTerminator() || isa<PHINode>(i) || is_remark(i)) continue;
      b_.SetCurrentDebugLocation(i.getDebugLoc());
      if (auto* load = dyn_cast<LoadInst>(&i))
        map_[load] = emit_load(*load, mask);
      else if (auto* store = dyn_cast<StoreInst>(&i))
        emit_store(*store, mask);
      else if (!addresses_.is_same(&i))
        map_[&i] = may_trap(i) ? emit_division(i, mask) : emit_value(i);
    }
    auto* end = cast<BranchInst>(block.getTerminator());
    if (loop_.getLoopLatch() == &block) return;
    b_.SetCurrentDebugLocation(end->getDebugLoc());
    if (end->isUnconditional()) {
      edges_[{&block, end->getSuccessor(0)}] = mask;
      return;
    }
    // Lanes that don't take part may have no sound value of the condition.
    Value* condition = vector(end->getCondition());
    Value* none = Constant::getNullValue(mask->getType());
    edges_[{&block, end->getSuccessor(0)}] = b_.CreateSelect(mask, condition, none);
    edges_[{&block, end->getSuccessor(1)}] = b_.CreateSelect(mask, b_.CreateNot(condition), none);
  }

  Value* blend(PHINode& phi) {
    Value* out = nullptr;
    for (unsigned n = 0; n < phi.getNumIncomingValues(); ++n) {
      BasicBlock* from = phi.getIncomingBlock(n);
      Value* last = leaving_.lookup({&phi, from});
      Value* v = last ? last : vector(phi.getIncomingValue(n));
      out = !out || out == v ? v : b_.CreateSelect(edge(from, phi.getParent()), v, out);
    }
    return out;
  }

  // Goes around until no lane is left; what lanes bring out of it is kept when they leave.
  void emit_loop(Loop& inner) {
    BasicBlock *enter = inner.getLoopPreheader(), *header = inner.getHeader(), *latch = inner.getLoopLatch();
    Value* entering = edge(enter, header);
    struct Carried {
      PHINode* phi;
      Value* initial;  // null: the same for all
      Value* first;    // the first lane's, where it is known
    };
    SmallVector<Carried, 4> carried;
    for (PHINode& phi : header->phis()) {
      Value* initial = phi.getIncomingValueForBlock(enter);
      carried.push_back({&phi, addresses_.is_same(&phi) ? nullptr : vector(initial),
                         addresses_.is_first_known(&phi) ? first(initial) : nullptr});
    }
    BasicBlock* from = b_.GetInsertBlock();
    BasicBlock* again = BasicBlock::Create(b_.getContext(), "lanes", from->getParent(), loop_.getExitBlock());
    BasicBlock* done = BasicBlock::Create(b_.getContext(), "lanes.done", from->getParent(), loop_.getExitBlock());
    const bool perhaps_none = !not_empty_.contains(entering);
    if (perhaps_none)
      b_.CreateCondBr(any(entering), again, done);
    else
      b_.CreateBr(again);
    b_.SetInsertPoint(again);
    PHINode* active = b_.CreatePHI(entering->getType(), 2, "active");
    active->addIncoming(entering, from);
    not_empty_.insert(active);
    const auto carry = [&](Value* initial) {
      PHINode* fresh = b_.CreatePHI(initial->getType(), 2);
      fresh->addIncoming(initial, from);
      return fresh;
    };
    const DenseMap<Value*, Value*> outside = firsts_;
    for (const Carried& each : carried) {
      if (each.first) firsts_[each.phi] = carry(each.first);
      if (each.initial) map_[each.phi] = carry(each.initial);
    }
    SmallVector<Loop::Edge, 4> exits;
    inner.getExitEdges(exits);
    const bool one_way_out = exits.size() == 1;
    SmallVector<PHINode*, 4> left;
    SmallVector<std::pair<PHINode*, BasicBlock*>, 4> values;
    SmallVector<PHINode*, 4> kept;
    for (auto [way, out] : exits) {
      if (!one_way_out) left.push_back(carry(Constant::getNullValue(entering->getType())));
      for (PHINode& phi : out->phis()) {
        values.push_back({&phi, way});
        kept.push_back(carry(PoisonValue::get(wide(phi.getType()))));
      }
    }

    emit(inner, active);

    BasicBlock* last = b_.GetInsertBlock();
    for (const Carried& each : carried) {
      Value* now = each.phi->getIncomingValueForBlock(latch);
      if (each.initial) cast<PHINode>(map_[each.phi])->addIncoming(vector(now), last);
      if (each.first) cast<PHINode>(firsts_[each.phi])->addIncoming(first(now), last);
    }
    SmallVector<Value*, 4> left_now;
    for (auto [n, exit] : enumerate(exits))
      if (!one_way_out) left_now.push_back(b_.CreateOr(left[n], edge(exit.first, exit.second)));
    for (auto [n, value] : enumerate(values)) {
      auto [phi, way] = value;
      // Who comes by and doesn't leave comes by again.
      Value* when = one_way_out ? masks_.lookup(way) : edge(way, phi->getParent());
      Value* now = b_.CreateSelect(when, vector(phi->getIncomingValueForBlock(way)), kept[n]);
      kept[n]->addIncoming(now, last);
      leaving_[{phi, way}] = now;
    }
    for (auto [n, phi] : enumerate(left)) phi->addIncoming(left_now[n], last);
    Value* next = edge(latch, header);
    active->addIncoming(next, last);
    b_.CreateCondBr(any(next), again, done);
    firsts_ = outside;
    b_.SetInsertPoint(done);
    const auto afterwards = [&](Value* v) { return perhaps_none ? behind(v, last, from) : v; };
    for (auto [n, exit] : enumerate(exits))
      edges_[{exit.first, exit.second}] = one_way_out ? entering : afterwards(left_now[n]);
    for (auto [phi, way] : values) leaving_[{phi, way}] = afterwards(leaving_[{phi, way}]);
  }
  // What came of something that was done, or wasn't: masks are empty then, and values aren't looked at.
  Value* behind(Value* v, BasicBlock* done, BasicBlock* not_done) {
    PHINode* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, done);
    const bool is_mask = v->getType()->getScalarType()->isIntegerTy(1);
    phi->addIncoming(is_mask ? Constant::getNullValue(v->getType()) : PoisonValue::get(v->getType()), not_done);
    return phi;
  }

  // The first lane's value, whether it takes part or not (row_addresses.h). What comes later may use it, too: blocks
  // follow each other, each loop's behind those in front of it.
  Value* first(Value* v) {
    if (same_for_all(v)) return v;
    if (Value* known = firsts_.lookup(v)) return known;
    auto* i = cast<Instruction>(v);
    SmallVector<Value*, 4> operands;
    for (Value* operand : i->operands()) operands.push_back(first(operand));
    Instruction* copy = i->clone();
    for (auto [n, operand] : enumerate(operands)) copy->setOperand(n, operand);
    copy->dropPoisonGeneratingFlags();
    return firsts_[v] = b_.Insert(copy);
  }
  // Neighbours have neighbouring elements.
  bool is_row(Value* pointer, Type* type) {
    return addresses_.stride(pointer) == static_cast<std::int64_t>(se_.getDataLayout().getTypeStoreSize(type));
  }

  Value* emit_load(LoadInst& load, Value* mask) {
    Type* type = load.getType();
    Value* pointer = load.getPointerOperand();
    if (is_row(pointer, type)) return b_.CreateMaskedLoad(wide(type), first(pointer), load.getAlign(), mask);
    if (addresses_.stride(pointer) != 0)
      return b_.CreateMaskedGather(wide(type), vector(pointer), load.getAlign(), mask);
    return b_.CreateVectorSplat(lanes_, b_.CreateAlignedLoad(type, first(pointer), load.getAlign()));  // see is_dear()
  }
  void emit_store(StoreInst& store, Value* mask) {
    Value* v = vector(store.getValueOperand());
    Value* pointer = store.getPointerOperand();
    if (is_row(pointer, store.getValueOperand()->getType()))
      b_.CreateMaskedStore(v, first(pointer), store.getAlign(), mask);
    else
      b_.CreateMaskedScatter(v, vector(pointer), store.getAlign(), mask);
  }
  Value* any(Value* mask) {
    Type* bits = b_.getIntNTy(lanes_);
    return b_.CreateICmpNE(b_.CreateBitCast(mask, bits), ConstantInt::get(bits, 0));
  }
  // Who doesn't take part divides by one.
  Value* emit_division(Instruction& i, Value* mask) {
    Value* by = b_.CreateSelect(mask, vector(i.getOperand(1)), vector(ConstantInt::get(i.getType(), 1)));
    return b_.CreateBinOp(static_cast<Instruction::BinaryOps>(i.getOpcode()), vector(i.getOperand(0)), by);
  }
  Value* emit_value(Instruction& i) {
    const auto operand = [&](unsigned n) { return vector(i.getOperand(n)); };
    Value* out;
    if (auto* gep = dyn_cast<GetElementPtrInst>(&i)) {
      // What is the same for all stays one; fields of structures have to.
      const auto part = [&](Value* v) { return same_for_all(v) ? v : vector(v); };
      SmallVector<Value*, 4> indices;
      for (Value* v : gep->indices()) indices.push_back(part(v));
      Value* pointer = part(gep->getPointerOperand());
      if (!pointer->getType()->isVectorTy() && none_of(indices, [](Value* v) { return v->getType()->isVectorTy(); }))
        pointer = vector(gep->getPointerOperand());
      return b_.CreateGEP(gep->getSourceElementType(), pointer,
                          indices);  // perhaps for lanes that it isn't in bounds for
    }
    if (auto* call = dyn_cast<IntrinsicInst>(&i)) {
      const Intrinsic::ID id = call->getIntrinsicID();
      SmallVector<Type*, 2> types;
      SmallVector<Value*, 3> arguments;
      if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(wide(call->getType()));
      for (unsigned n = 0; n < call->arg_size(); ++n) {
        const bool scalar = isVectorIntrinsicWithScalarOpAtArg(id, n);
        arguments.push_back(scalar ? call->getArgOperand(n) : vector(call->getArgOperand(n)));
        if (isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(n)))
          types.push_back(arguments.back()->getType());
      }
      out = b_.CreateIntrinsic(id, types, arguments);
    } else if (isa<BinaryOperator>(i)) {
      out = b_.CreateBinOp(static_cast<Instruction::BinaryOps>(i.getOpcode()), operand(0), operand(1));
    } else if (isa<UnaryOperator>(i)) {
      out = b_.CreateUnOp(static_cast<Instruction::UnaryOps>(i.getOpcode()), operand(0));
    } else if (isa<CastInst>(i)) {
      out = b_.CreateCast(static_cast<Instruction::CastOps>(i.getOpcode()), operand(0), wide(i.getType()));
    } else if (auto* compare = dyn_cast<CmpInst>(&i)) {
      out = b_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
    } else if (isa<SelectInst>(i)) {
      out = b_.CreateSelect(operand(0), operand(1), operand(2));
    } else {
      out = b_.CreateFreeze(operand(0));
    }
    if (auto* made = dyn_cast<Instruction>(out); made && made->getOpcode() == i.getOpcode()) made->copyIRFlags(&i);
    return out;
  }

  Loop& loop_;
  unsigned lanes_;
  LoopInfo& loops_;
  ScalarEvolution& se_;
  BasicBlock* before_;
  Instruction* ahead_;  // in front of the loop: what all threads have in common is computed there
  IRBuilder<> b_;
  RowAddresses addresses_;
  SCEVExpander expander_;
  SmallPtrSet<const Value*, 8> not_empty_;  // masks
  PHINode* base_ = nullptr;                 // the first lane's thread, counted from 0
  DenseMap<Value*, Value*> map_;
  DenseMap<Value*, Value*> firsts_;            // the first lane's values, as far as they are needed
  DenseMap<const BasicBlock*, Value*> masks_;  // who executes the block
  DenseMap<Edge, Value*> edges_;               // who goes that way; out of a loop, all that ever did
  DenseMap<std::pair<const PHINode*, const BasicBlock*>, Value*> leaving_;  // values that lanes left a loop with
};

}  // namespace

bool has_vector_form(const Instruction& i) {
  if (is_remark(i)) return true;
  if (const auto* end = dyn_cast<BranchInst>(&i))
    return end->isUnconditional() || end->getSuccessor(0) != end->getSuccessor(1);
  if (isa<StoreInst>(i)) {
    const auto& store = cast<StoreInst>(i);
    return store.isSimple() && is_lane_type(store.getValueOperand()->getType()) &&
           !store.getValueOperand()->getType()->isIntegerTy(1) && store.getPointerAddressSpace() == 0;
  }
  if (!is_lane_type(i.getType())) return false;
  if (const auto* load = dyn_cast<LoadInst>(&i))
    return load->isSimple() && !load->getType()->isIntegerTy(1) && load->getPointerAddressSpace() == 0;
  if (const auto* call = dyn_cast<CallBase>(&i)) {
    const auto* intrinsic = dyn_cast<IntrinsicInst>(call);
    return intrinsic && is_lane_wise(*intrinsic);
  }
  switch (i.getOpcode()) {
  case Instruction::FRem: return false;  // a call
  default: break;
  }
  return isa<PHINode, BinaryOperator, UnaryOperator, CmpInst, SelectInst, FreezeInst, GetElementPtrInst>(i) ||
         (isa<CastInst>(i) && is_lane_type(i.getOperand(0)->getType()));
}

bool may_trap(const Instruction& i) {
  if (!i.isIntDivRem()) return false;
  const auto* by = dyn_cast<ConstantInt>(i.getOperand(1));
  return !by || by->isZero() || by->isMinusOne();
}

void make_vectors(Loop& loop, unsigned lanes, LoopInfo& loops, ScalarEvolution& se) {
  Vectoriser(loop, lanes, loops, se).run();
}

}  // namespace mrcc
