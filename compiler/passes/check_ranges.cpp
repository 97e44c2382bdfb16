#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "check.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr unsigned max_merged = 96;  // calls of a basic block that are compared with each other

// One call: rows of bytes.
struct Check {
  CallInst* call = nullptr;
  Value* pointer = nullptr;
  Value* bytes = nullptr;
  Value* stride = nullptr;  // null: one row
  Value* count = nullptr;
  GlobalVariable* site = nullptr;
};

std::uint32_t kind_of(const GlobalVariable& site) {
  auto* fields = dyn_cast<ConstantStruct>(site.getInitializer());
  auto* kind = fields ? dyn_cast<ConstantInt>(fields->getOperand(3)) : nullptr;
  return kind ? static_cast<std::uint32_t>(kind->getZExtValue()) : ~0u;
}

bool is_check(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && (callee->getName() == "__mr_check_access" || callee->getName() == "__mr_check_range");
}

// Null `call` when the instruction is none, or one that must stay where it is.
Check check_of(Instruction& i) {
  Check c;
  if (!is_check(i)) return c;
  auto* call = cast<CallInst>(&i);
  c.site = dyn_cast<GlobalVariable>(call->getArgOperand(call->arg_size() - 1));
  if (!c.site || !c.site->hasInitializer() || (kind_of(*c.site) & ~(MR_CHECK_READ | MR_CHECK_WRITE))) return {};
  c.call = call;
  c.pointer = call->getArgOperand(0);
  c.bytes = call->getArgOperand(1);
  if (call->arg_size() == 5) {
    c.stride = call->getArgOperand(2);
    c.count = call->getArgOperand(3);
  }
  return c;
}

// What a check may not be moved over: events, atomic and volatile accesses, and calls of functions in which some may
// be.
bool is_event(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  if (!call || call->isInlineAsm() || isa<IntrinsicInst>(call)) return false;
  if (is_check(i)) {
    auto* site = dyn_cast<GlobalVariable>(call->getArgOperand(call->arg_size() - 1));
    return !site || !site->hasInitializer() || (kind_of(*site) & ~(MR_CHECK_READ | MR_CHECK_WRITE));
  }
  const Function* callee = call->getCalledFunction();
  return !callee || !callee->isDeclaration() || callee->getName().starts_with("__mr_");
}

bool same_statement(const GlobalVariable* a, const GlobalVariable* b) {
  return a == b || a->getInitializer() == b->getInitializer();
}

class Merger {
 public:
  Merger(Function& f, FunctionAnalysisManager& analyses)
      : f_(f), module_(*f.getParent()), loops_(analyses.getResult<LoopAnalysis>(f)),
        se_(analyses.getResult<ScalarEvolutionAnalysis>(f)), dt_(analyses.getResult<DominatorTreeAnalysis>(f)) {}

  bool run() {
    SmallVector<Loop*, 16> order(loops_.getLoopsInPreorder());
    for (Loop* loop : reverse(order)) {  // the innermost first
      for (BasicBlock* block : loop->blocks())
        if (loops_.getLoopFor(block) == loop) merge_block(*block);
      move_out(*loop);
    }
    for (BasicBlock& block : f_)
      if (!loops_.getLoopFor(&block)) merge_block(block);
    return changed_;
  }

 private:
  FunctionCallee range_function() {
    Type* i64 = Type::getInt64Ty(f_.getContext());
    Type* pointer = PointerType::getUnqual(f_.getContext());
    AttributeList attributes;
    attributes = attributes.addFnAttribute(f_.getContext(), Attribute::NoUnwind);
    attributes = attributes.addFnAttribute(f_.getContext(), Attribute::WillReturn);
    attributes = attributes.addFnAttribute(
        f_.getContext(), Attribute::getWithMemoryEffects(f_.getContext(), MemoryEffects::inaccessibleMemOnly()));
    return module_.getOrInsertFunction(
        "__mr_check_range",
        FunctionType::get(Type::getVoidTy(f_.getContext()), {pointer, i64, i64, i64, pointer}, false), attributes);
  }
  void emit(IRBuilder<>& b, Value* pointer, Value* bytes, Value* stride, Value* count, const Check& like) {
    CallInst* call = stride ? b.CreateCall(range_function(), {pointer, bytes, stride, count, like.site})
                            : b.CreateCall(module_.getFunction("__mr_check_access"), {pointer, bytes, like.site});
    call->setDebugLoc(like.call->getDebugLoc());
    changed_ = true;
  }

  // Calls of one statement and neighbouring bytes become one, where the last of them is.
  void merge_block(BasicBlock& block) {
    SmallVector<Check, 16> open;
    for (Instruction& i : make_early_inc_range(block)) {
      if (is_event(i)) {
        open.clear();
        continue;
      }
      Check c = check_of(i);
      if (!c.call || !isa<ConstantInt>(c.bytes)) continue;
      for (std::size_t k = open.size(); k-- > 0;) {
        Check& other = open[k];
        if (other.stride != c.stride || other.count != c.count || !same_statement(other.site, c.site)) continue;
        const auto distance = se_.computeConstantDifference(se_.getSCEV(c.pointer), se_.getSCEV(other.pointer));
        if (!distance || distance->getSignificantBits() > 32) continue;
        const std::int64_t apart = distance->getSExtValue();
        const auto mine = cast<ConstantInt>(c.bytes)->getSExtValue();
        const auto theirs = cast<ConstantInt>(other.bytes)->getSExtValue();
        if (apart > theirs || -apart > mine) continue;
        Value* first = apart > 0 ? other.pointer : c.pointer;
        const std::int64_t end = std::max(apart + mine, theirs), begin = std::min<std::int64_t>(apart, 0);
        c.pointer = first;
        c.bytes = ConstantInt::get(c.bytes->getType(), end - begin);
        c.call->setArgOperand(0, c.pointer);
        c.call->setArgOperand(1, c.bytes);
        other.call->eraseFromParent();
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
        changed_ = true;
      }
      if (open.size() == max_merged) open.erase(open.begin());
      open.push_back(c);
    }
  }

  void move_out(Loop& loop) {
    BasicBlock* latch = loop.getLoopLatch();
    if (!latch || loop.getExitingBlock() != latch) return;
    for (BasicBlock* block : loop.blocks())
      for (Instruction& i : *block)
        if (is_event(i)) return;
    const SCEV* trips = se_.getBackedgeTakenCount(&loop);
    if (isa<SCEVCouldNotCompute>(trips)) return;
    BasicBlock* before = loop.getLoopPreheader();
    if (!before) before = InsertPreheaderForLoop(&loop, &dt_, &loops_, nullptr, /*PreserveLCSSA=*/false);
    if (!before) return;
    // In the program's order.
    SmallVector<Check, 16> checks;
    for (BasicBlock* block : loop.blocks()) {
      if (loops_.getLoopFor(block) != &loop || !dt_.dominates(block, latch)) continue;
      for (Instruction& i : *block)
        if (Check c = check_of(i); c.call) checks.push_back(c);
    }
    llvm::sort(checks, [&](const Check& a, const Check& b) {
      BasicBlock *of_a = a.call->getParent(), *of_b = b.call->getParent();
      return of_a == of_b ? a.call->comesBefore(b.call) : dt_.dominates(of_a, of_b);
    });
    for (const Check& c : checks) move(loop, *before, trips, c);
  }

  void move(Loop& loop, BasicBlock& before, const SCEV* trips, const Check& c) {
    Instruction* end = before.getTerminator();
    SCEVExpander expander(se_, module_.getDataLayout(), "check");
    const auto usable = [&](const SCEV* s) {
      return !isa<SCEVCouldNotCompute>(s) && se_.isLoopInvariant(s, &loop) && se_.dominates(s, &before) &&
             expander.isSafeToExpandAt(s, end);
    };
    const SCEV* pointer = se_.getSCEV(c.pointer);
    const SCEV* bytes = se_.getSCEV(c.bytes);
    const SCEV* stride = c.stride ? se_.getSCEV(c.stride) : nullptr;
    const SCEV* count = c.count ? se_.getSCEV(c.count) : nullptr;
    if (!usable(trips) || !usable(bytes) || (stride && (!usable(stride) || !usable(count)))) return;
    Type* i64 = Type::getInt64Ty(f_.getContext());
    const SCEV* wide = se_.getTruncateOrZeroExtend(trips, i64);
    const SCEV* step = se_.getZero(i64);
    const SCEV* exact_last = nullptr;  // the address in the last iteration, where it may wrap around before
    if (!se_.isLoopInvariant(pointer, &loop)) {
      auto* affine = dyn_cast<SCEVAddRecExpr>(pointer);
      if (!affine || affine->getLoop() != &loop) {
        SmallPtrSet<const SCEVPredicate*, 4> ignored;
        affine = se_.convertSCEVToAddRecWithPredicates(pointer, &loop, ignored);
        if (!affine) return;
        LoopToScevMapT last;
        last[&loop] = trips;
        exact_last = SCEVLoopAddRecRewriter::rewrite(pointer, last, se_);
        if (!usable(exact_last)) return;
      }
      if (affine->getLoop() != &loop || !affine->isAffine()) return;
      pointer = affine->getStart();
      step = affine->getStepRecurrence(se_);
      if (step->getType() != i64 || !usable(step)) return;
    }
    if (!usable(pointer)) return;
    const SCEV* first = pointer;
    const SCEV* first_bytes = bytes;
    const SCEV* advance = se_.getMulExpr(wide, step);
    if (auto* constant = dyn_cast<SCEVConstant>(step);
        constant && (constant->isZero() || (isa<SCEVConstant>(bytes) &&
                                            constant->getAPInt().abs().ule(cast<SCEVConstant>(bytes)->getAPInt())))) {
      // Rows become longer.
      if (constant->getAPInt().isNegative()) {
        pointer = se_.getAddExpr(pointer, advance);
        bytes = se_.getAddExpr(bytes, se_.getNegativeSCEV(advance));
      } else {
        bytes = se_.getAddExpr(bytes, advance);
      }
    } else if (!stride) {
      stride = step;
      count = se_.getAddExpr(wide, se_.getOne(i64));
    } else {
      return;  // rows of rows
    }
    if (!usable(pointer) || !usable(bytes) || (stride && !usable(count))) return;

    const auto expand = [&](const SCEV* s) { return expander.expandCodeFor(s, s->getType(), end->getIterator()); };
    Value* p = expand(pointer);
    Value* n = expand(bytes);
    Value* s = stride ? expand(stride) : nullptr;
    Value* k = stride ? expand(count) : nullptr;
    IRBuilder<> b(end);
    if (exact_last) {
      // An index that wraps around: the first iteration's bytes are all that is known.
      Value* start = expand(first);
      Value* straight = b.CreateICmpEQ(b.CreatePtrToInt(expand(exact_last), i64),
                                       b.CreateAdd(b.CreatePtrToInt(start, i64), expand(advance)));
      p = b.CreateSelect(straight, p, start);
      n = b.CreateSelect(straight, n, expand(first_bytes));
      if (k) k = b.CreateSelect(straight, k, b.getInt64(1));
    }
    emit(b, p, n, s, k, c);
    c.call->eraseFromParent();
  }

  Function& f_;
  Module& module_;
  LoopInfo& loops_;
  ScalarEvolution& se_;
  DominatorTree& dt_;
  bool changed_ = false;
};

}  // namespace

bool merge_access_checks(Function& function, FunctionAnalysisManager& analyses) {
  const bool any = llvm::any_of(instructions(function), [](const Instruction& i) { return is_check(i); });
  return any && Merger(function, analyses).run();
}

}  // namespace mrcc
