#include "collect_atomics.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "names.h"
#include "options.h"
#include "own_memory.h"
#include "thread_loops.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr unsigned most_elements = 1024;

// An operation, and where it goes in each block: `count` neighbouring elements from `start`.
struct Collected {
  AtomicRMWInst* atomic = nullptr;
  const Loop* loop = nullptr;  // over the elements; null: one
  const SCEV* start = nullptr;
  unsigned count = 1;
};

Constant* identity(AtomicRMWInst::BinOp op, Type* type) {
  const unsigned bits = type->getIntegerBitWidth();
  switch (op) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub:
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
  case AtomicRMWInst::UMax: return ConstantInt::get(type, 0);
  case AtomicRMWInst::And:
  case AtomicRMWInst::UMin: return ConstantInt::get(type, APInt::getAllOnes(bits));
  case AtomicRMWInst::Max: return ConstantInt::get(type, APInt::getSignedMinValue(bits));
  case AtomicRMWInst::Min: return ConstantInt::get(type, APInt::getSignedMaxValue(bits));
  default: return nullptr;
  }
}

Value* combined(IRBuilder<>& b, AtomicRMWInst::BinOp op, Value* old, Value* v) {
  switch (op) {
  case AtomicRMWInst::Add:
  case AtomicRMWInst::Sub: return b.CreateAdd(old, v);
  case AtomicRMWInst::Or: return b.CreateOr(old, v);
  case AtomicRMWInst::Xor: return b.CreateXor(old, v);
  case AtomicRMWInst::And: return b.CreateAnd(old, v);
  case AtomicRMWInst::UMax: return b.CreateBinaryIntrinsic(Intrinsic::umax, old, v);
  case AtomicRMWInst::UMin: return b.CreateBinaryIntrinsic(Intrinsic::umin, old, v);
  case AtomicRMWInst::Max: return b.CreateBinaryIntrinsic(Intrinsic::smax, old, v);
  default: return b.CreateBinaryIntrinsic(Intrinsic::smin, old, v);
  }
}

// What nobody else looks at, or nothing changes.
bool is_private(const Value* pointer, const Function& f) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return all_of(objects, [&](const Value* o) {
    return isa<AllocaInst>(o) || o == f.getArg(0) || is_own_memory(*o, f) ||
           (isa<GlobalVariable>(o) && cast<GlobalVariable>(o)->isConstant());
  });
}

bool observes(const Instruction& i, const Function& f) {
  if (const Value* pointer = getLoadStorePointerOperand(&i)) return i.isAtomic() || !is_private(pointer, f);
  if (!i.mayReadOrWriteMemory() || isa<AtomicRMWInst>(i)) return false;  // those are looked at by themselves
  const auto* call = dyn_cast<CallBase>(&i);
  if (!call || !call->getCalledFunction()) return true;
  if (call->isLifetimeStartOrEnd() || isa<AssumeInst>(call)) return false;
  if (const auto* memory = dyn_cast<MemIntrinsic>(call))
    return !is_private(memory->getRawDest(), f) ||
           (isa<MemTransferInst>(memory) && !is_private(cast<MemTransferInst>(memory)->getRawSource(), f));
  return call->getCalledFunction()->getName() != "__mr_misaligned";
}

// Something that the block does behind the operation could tell.
bool seen_behind(const Collected& c, const Loop& blocks, const Function& f) {
  const BasicBlock* stop = nullptr;  // what other threads do isn't behind it
  if (c.loop && c.loop->getLoopLatch() && is_thread_loop(*c.loop->getLoopLatch()->getTerminator()))
    stop = c.loop->getHeader();
  for (const Instruction* i = c.atomic->getNextNode(); i; i = i->getNextNode())
    if (observes(*i, f)) return true;
  SmallVector<const BasicBlock*, 16> stack(successors(c.atomic->getParent()));
  SmallPtrSet<const BasicBlock*, 16> reached;
  while (!stack.empty()) {
    const BasicBlock* block = stack.pop_back_val();
    if (block == blocks.getHeader() || block == stop || !blocks.contains(block) || !reached.insert(block).second)
      continue;
    if (any_of(*block, [&](const Instruction& i) { return observes(i, f); })) return true;
    stack.append(succ_begin(block), succ_end(block));
  }
  return false;
}

class Collector {
 public:
  Collector(Function& f, Loop& blocks, ScalarEvolution& se)
      : f_(f), blocks_(blocks), se_(se), expander_(se, f.getDataLayout(), "collected") {}

  bool run() {
    if (!blocks_.getLoopPreheader() || !blocks_.getExitingBlock() || !blocks_.getExitBlock() || !find()) return false;
    BasicBlock* behind = SplitEdge(blocks_.getExitingBlock(), blocks_.getExitBlock());
    for (const Collected& c : found_) collect(c, behind->getTerminator());
    return true;
  }

 private:
  // All atomic operations of the blocks, or none.
  bool find() {
    for (BasicBlock* block : blocks_.blocks())
      for (Instruction& i : *block) {
        if (isa<FenceInst, AtomicCmpXchgInst>(i) || (i.isAtomic() && !isa<AtomicRMWInst>(i))) return false;
        auto* atomic = dyn_cast<AtomicRMWInst>(&i);
        if (!atomic) continue;
        Collected c;
        if (!fits(*atomic, c) || seen_behind(c, blocks_, f_)) return false;
        if (!found_.empty() && found_[0].atomic->getOperation() != atomic->getOperation()) return false;
        found_.push_back(c);
      }
    return !found_.empty();
  }

  bool fits(AtomicRMWInst& atomic, Collected& c) {
    if (atomic.isVolatile() || !atomic.use_empty() || atomic.getOrdering() == AtomicOrdering::SequentiallyConsistent ||
        !atomic.getType()->isIntegerTy() || !identity(atomic.getOperation(), atomic.getType()) ||
        !is_argument(getUnderlyingObject(atomic.getPointerOperand()), f_))
      return false;
    c.atomic = &atomic;
    const SCEV* at = se_.getSCEV(atomic.getPointerOperand());
    if (const auto* row = dyn_cast<SCEVAddRecExpr>(at); row && row->getLoop() != &blocks_) {
      c.loop = row->getLoop();
      c.count = se_.getSmallConstantTripCount(c.loop);
      const auto* step = dyn_cast<SCEVConstant>(row->getStepRecurrence(se_));
      if (!row->isAffine() || !c.count || c.count > most_elements || !step ||
          step->getAPInt() != f_.getDataLayout().getTypeStoreSize(atomic.getType()))
        return false;
      at = row->getStart();
    }
    c.start = at;
    return se_.isLoopInvariant(at, &blocks_) &&
           expander_.isSafeToExpandAt(at, blocks_.getLoopPreheader()->getTerminator());
  }

  void collect(const Collected& c, Instruction* behind) {
    Type* type = c.atomic->getType();
    const AtomicRMWInst::BinOp op = c.atomic->getOperation();
    IRBuilder<> b(blocks_.getLoopPreheader()->getTerminator());
    Value* start = expander_.expandCodeFor(c.start, b.getPtrTy(), b.GetInsertPoint());
    b.SetInsertPoint(&f_.getEntryBlock(), f_.getEntryBlock().begin());
    auto* sums = b.CreateAlloca(ArrayType::get(type, c.count), nullptr, "collected");
    sums->setAlignment(Align(64));
    b.SetInsertPoint(blocks_.getLoopPreheader()->getTerminator());
    fill(b, sums, identity(op, type), c.count);

    b.SetInsertPoint(c.atomic);
    Value* element = sums;
    if (c.loop) {
      const SCEV* zero = se_.getZero(b.getInt64Ty());
      const SCEV* index = se_.getAddRecExpr(zero, se_.getOne(b.getInt64Ty()), c.loop, SCEV::FlagNUW);
      element = b.CreateInBoundsGEP(type, sums, expander_.expandCodeFor(index, b.getInt64Ty(), b.GetInsertPoint()));
    }
    b.CreateStore(combined(b, op, b.CreateLoad(type, element), c.atomic->getValOperand()), element);

    // for (i ...) if (sums[i] != identity) *(start + i) op= sums[i];
    BasicBlock* before = behind->getParent();
    BasicBlock* after = SplitBlock(before, behind->getIterator());
    LLVMContext& context = f_.getContext();
    BasicBlock* header = BasicBlock::Create(context, "each", &f_, after);
    BasicBlock* some = BasicBlock::Create(context, "some", &f_, after);
    BasicBlock* next = BasicBlock::Create(context, "next", &f_, after);
    before->getTerminator()->setSuccessor(0, header);
    b.SetInsertPoint(header);
    b.SetCurrentDebugLocation({});
    PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(b.getInt64(0), before);
    Value* sum = b.CreateLoad(type, b.CreateInBoundsGEP(type, sums, i));
    b.CreateCondBr(b.CreateICmpNE(sum, identity(op, type)), some, next);
    b.SetInsertPoint(some);
    b.CreateAtomicRMW(op, b.CreateGEP(type, start, i), sum, c.atomic->getAlign(), c.atomic->getOrdering(),
                      c.atomic->getSyncScopeID());
    b.CreateBr(next);
    b.SetInsertPoint(next);
    Value* up = b.CreateAdd(i, b.getInt64(1), "", true, true);
    i->addIncoming(up, next);
    b.CreateCondBr(b.CreateICmpULT(up, b.getInt64(c.count)), header, after);
    c.atomic->eraseFromParent();
  }

  static void fill(IRBuilder<>& b, AllocaInst* sums, Constant* with, unsigned count) {
    if (with->isNullValue()) {
      b.CreateMemSet(sums, b.getInt8(0), b.GetInsertBlock()->getDataLayout().getTypeStoreSize(sums->getAllocatedType()),
                     sums->getAlign());
      return;
    }
    for (unsigned i = 0; i < count; ++i) b.CreateStore(with, b.CreateConstInBoundsGEP1_64(with->getType(), sums, i));
  }

  Function& f_;
  Loop& blocks_;
  ScalarEvolution& se_;
  SCEVExpander expander_;
  SmallVector<Collected, 4> found_;
};

}  // namespace

PreservedAnalyses CollectAtomics::run(Function& function, FunctionAnalysisManager& analyses) {
  if (!function.hasFnAttribute(kEntryAttr) || function.hasFnAttribute(Attribute::Cold) || options().check ||
      function.arg_size() != 3)
    return PreservedAnalyses::all();
  auto& loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.getTopLevelLoops().size() != 1) return PreservedAnalyses::all();
  Loop& blocks = **loops.begin();
  Collector collector(function, blocks, analyses.getResult<ScalarEvolutionAnalysis>(function));
  return collector.run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

}  // namespace mrcc
