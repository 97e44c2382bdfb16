#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "check.h"

namespace mrcc {
using namespace llvm;

bool is_access_check(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with("__mr_check_");
}

namespace {

constexpr unsigned max_merged = 96;  // calls of a basic block that are compared with each other

// One call: rows of bytes.
struct Check {
  CallInst* call = nullptr;
  Value* pointer = nullptr;
  Value* bytes = nullptr;
  Value* stride = nullptr;  // null: one row
  Value* count = nullptr;
  Value* expected = nullptr;  // address in the last iteration, and what it would be if no index wrapped around
  Value* exact = nullptr;
  GlobalVariable* site = nullptr;
};

std::uint32_t kind_of(const GlobalVariable& site) {
  auto* fields = dyn_cast<ConstantStruct>(site.getInitializer());
  auto* kind = fields ? dyn_cast<ConstantInt>(fields->getOperand(3)) : nullptr;
  return kind ? static_cast<std::uint32_t>(kind->getZExtValue()) : ~0u;
}

// Null `call` when the instruction is none, or one that must stay where it is.
Check check_of(Instruction& i) {
  Check c;
  if (!is_access_check(i)) return c;
  auto* call = cast<CallInst>(&i);
  if (call->getCalledFunction()->getName() == "__mr_check_gather") return c;
  c.site = dyn_cast<GlobalVariable>(call->getArgOperand(call->arg_size() - 1));
  if (!c.site || !c.site->hasInitializer() || (kind_of(*c.site) & ~(MR_CHECK_READ | MR_CHECK_WRITE))) return {};
  c.call = call;
  c.pointer = call->getArgOperand(0);
  c.bytes = call->getArgOperand(1);
  if (call->arg_size() == 7) {
    c.stride = call->getArgOperand(2);
    c.count = call->getArgOperand(3);
    c.expected = call->getArgOperand(4);
    c.exact = call->getArgOperand(5);
  }
  return c;
}

// What a check may not be moved over: events, atomic and volatile accesses, calls of functions in which some may be,
// and where the next block begins, which is whose access it is: the entry stores the block's index.
bool is_event(const Instruction& i) {
  if (const auto* store = dyn_cast<StoreInst>(&i))
    return store->isVolatile() && !isa<IntToPtrInst>(store->getPointerOperand());  // those are lines reached (sites.h)
  const auto* call = dyn_cast<CallBase>(&i);
  if (!call || call->isInlineAsm() || isa<IntrinsicInst>(call)) return false;
  if (is_access_check(i)) {
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
        FunctionType::get(Type::getVoidTy(f_.getContext()), {pointer, i64, i64, i64, pointer, pointer, pointer}, false),
        attributes);
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
      if (!c.call || !isa<ConstantInt>(c.bytes) || (c.exact && !isa<Constant>(c.exact))) continue;
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

  // The block is entered if the value is as said: a truth value, or what a switch branches on.
  struct Condition {
    Value* value;
    bool is;
    ConstantInt* equals = nullptr;
  };
  // The one iteration in which the condition holds, if that is how it is made (`if (threadIdx.x == c)`): a number,
  // which may be beyond the last one.
  const SCEV* only_iteration(const Loop& loop, const Condition& condition) const {
    Value *a = condition.value, *b = condition.equals;
    if (!b) {
      const auto* compare = dyn_cast<ICmpInst>(condition.value);
      if (!compare || compare->getPredicate() != (condition.is ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE)) return nullptr;
      a = compare->getOperand(0);
      b = compare->getOperand(1);
      if (!a->getType()->isIntegerTy()) return nullptr;
    }
    const auto* distance = dyn_cast<SCEVAddRecExpr>(se_.getMinusSCEV(se_.getSCEV(a), se_.getSCEV(b)));
    if (!distance || distance->getLoop() != &loop || !distance->isAffine() ||
        !distance->getStepRecurrence(se_)->isOne())
      return nullptr;
    return se_.getNegativeSCEV(distance->getStart());
  }
  // What decides whether an iteration comes by the block: conditions that are the same for all, and `only`, the one
  // iteration that may. False when iterations differ otherwise, or it isn't known.
  bool conditions_of(const Loop& loop, BasicBlock* block, SmallVectorImpl<Condition>& out, const SCEV*& only) const {
    only = nullptr;
    while (!dt_.dominates(block, loop.getLoopLatch())) {
      BasicBlock* before = block->getSinglePredecessor();
      if (!before || !loop.contains(before) || loops_.getLoopFor(before) != &loop) return false;
      Condition condition = {};
      if (auto* branch = dyn_cast<BranchInst>(before->getTerminator())) {
        if (branch->isConditional()) condition = {branch->getCondition(), branch->getSuccessor(0) == block};
      } else if (auto* choice = dyn_cast<SwitchInst>(before->getTerminator())) {
        condition = {choice->getCondition(), true, choice->findCaseDest(block)};
        if (!condition.equals) return false;
      } else {
        return false;
      }
      if (condition.value && loop.isLoopInvariant(condition.value))
        out.push_back(condition);
      else if (condition.value && (only || !(only = only_iteration(loop, condition))))
        return false;
      block = before;
    }
    return true;
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
    // What decides in each iteration alike may still be worked out in each.
    for (BasicBlock* block : loop.blocks())
      if (auto* branch = dyn_cast<BranchInst>(block->getTerminator()); branch && branch->isConditional())
        loop.makeLoopInvariant(branch->getCondition(), changed_, before->getTerminator());
      else if (auto* choice = dyn_cast<SwitchInst>(block->getTerminator()))
        loop.makeLoopInvariant(choice->getCondition(), changed_, before->getTerminator());
    // In the program's order.
    SmallVector<Check, 16> checks;
    for (BasicBlock* block : loop.blocks()) {
      SmallVector<Condition, 4> ignored;
      const SCEV* only;
      if (loops_.getLoopFor(block) != &loop || !conditions_of(loop, block, ignored, only)) continue;
      for (Instruction& i : *block)
        if (Check c = check_of(i); c.call) checks.push_back(c);
    }
    llvm::sort(checks, [&](const Check& a, const Check& b) {
      BasicBlock *of_a = a.call->getParent(), *of_b = b.call->getParent();
      return of_a == of_b ? a.call->comesBefore(b.call) : order_[of_a] < order_[of_b];
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
    if (!usable(trips)) return;
    Type* i64 = Type::getInt64Ty(f_.getContext());
    const SCEV* wide = se_.getTruncateOrZeroExtend(trips, i64);
    // The address in the first iteration and its step; `wraps`: if no index wraps around.
    struct Affine {
      const SCEV *first = nullptr, *step = nullptr;
      bool wraps = false;
    };
    const auto affine_of = [&](const SCEV* s) {
      Affine a;
      if (se_.isLoopInvariant(s, &loop)) {
        a.first = s;
        a.step = se_.getZero(i64);
      } else {
        auto* recurrence = dyn_cast<SCEVAddRecExpr>(s);
        if (!recurrence || recurrence->getLoop() != &loop) {
          SmallPtrSet<const SCEVPredicate*, 4> assumed;
          recurrence = se_.convertSCEVToAddRecWithPredicates(s, &loop, assumed);
          a.wraps = true;
        }
        if (!recurrence || recurrence->getLoop() != &loop || !recurrence->isAffine()) return Affine();
        a.first = recurrence->getStart();
        a.step = recurrence->getStepRecurrence(se_);
      }
      return usable(a.first) && usable(a.step) && a.step->getType() == i64 ? a : Affine();
    };
    SmallVector<Condition, 4> conditions;
    const SCEV* only;
    conditions_of(loop, c.call->getParent(), conditions, only);
    if (only) return move_one(loop, end, trips, only, conditions, usable, expander, c);
    const auto at_last = [&](const Affine& a) { return se_.getAddExpr(a.first, se_.getMulExpr(wide, a.step)); };
    const auto exactly = [&](const SCEV* s) {
      LoopToScevMapT last;
      last[&loop] = trips;
      return SCEVLoopAddRecRewriter::rewrite(s, last, se_);
    };
    const SCEV* address = se_.getSCEV(c.pointer);
    const Affine a = affine_of(address);
    if (!a.first) {
      if (conditions.empty() && !c.stride) gather(loop, end, wide, address, usable, expander, c);
      return;
    }
    const SCEV* pointer = a.first;
    const SCEV* bytes = se_.getSCEV(c.bytes);
    const SCEV *stride = nullptr, *count = nullptr, *expected = nullptr, *exact = nullptr;
    const SCEV* guard = nullptr;  // one row, or none (when())
    if (c.stride && PatternMatch::match(c.stride, PatternMatch::m_Zero())) {
      guard = se_.getSCEV(c.count);
    } else if (c.stride && !(isa<ConstantInt>(c.count) && cast<ConstantInt>(c.count)->isOne())) {
      stride = se_.getSCEV(c.stride);
      count = se_.getSCEV(c.count);
    }
    if (c.exact && !isa<Constant>(c.exact)) {
      const Affine e = affine_of(se_.getSCEV(c.expected));
      if (!e.first) return;
      expected = at_last(e);
      exact = exactly(se_.getSCEV(c.exact));
    } else if (a.wraps) {
      expected = at_last(a);
      exact = exactly(address);
    }
    const SCEV* advance = se_.getMulExpr(wide, a.step);
    auto* step = dyn_cast<SCEVConstant>(a.step);
    auto* width = dyn_cast<SCEVConstant>(bytes);
    if (step && (step->isZero() || (width && step->getAPInt().abs().ule(width->getAPInt())))) {
      // Rows become longer.
      if (step->getAPInt().isNegative()) {
        pointer = se_.getAddExpr(pointer, advance);
        bytes = se_.getAddExpr(bytes, se_.getNegativeSCEV(advance));
      } else {
        bytes = se_.getAddExpr(bytes, advance);
      }
    } else if (!stride) {
      stride = a.step;
      count = se_.getAddExpr(wide, se_.getOne(i64));
      if (guard) count = se_.getMulExpr(count, guard);
    } else {
      return;  // rows of rows
    }
    if (guard && !stride && !guard->isOne()) {
      stride = se_.getZero(i64);
      count = guard;
    }
    for (const SCEV* s : {pointer, bytes, stride, count, expected, exact})
      if (s && !usable(s)) return;
    if (count && count->isZero()) {
      c.call->eraseFromParent();
      changed_ = true;
      return;
    }

    const auto expand = [&](const SCEV* s) { return expander.expandCodeFor(s, s->getType(), end->getIterator()); };
    IRBuilder<> b(end);
    CallInst* call;
    if (!stride && !exact && conditions.empty()) {
      call = b.CreateCall(module_.getFunction("__mr_check_access"), {expand(pointer), expand(bytes), c.site});
    } else {
      Value* null = ConstantPointerNull::get(b.getPtrTy());
      Value* const rows = when(b, conditions, stride ? expand(count) : b.getInt64(1));
      Value* args[] = {expand(pointer),
                       expand(bytes),
                       stride ? expand(stride) : b.getInt64(0),
                       rows,
                       expected ? expand(expected) : null,
                       exact ? expand(exact) : null,
                       c.site};
      call = b.CreateCall(range_function(), args);
    }
    call->setDebugLoc(c.call->getDebugLoc());
    c.call->eraseFromParent();
    changed_ = true;
  }

  // No rows at all if no iteration comes by. A product, which the next loop can be seen through.
  static Value* when(IRBuilder<>& b, ArrayRef<Condition> conditions, Value* rows) {
    for (const Condition& k : conditions) {
      Value* holds = k.equals ? b.CreateICmpEQ(k.value, k.equals) : k.is ? k.value : b.CreateNot(k.value);
      rows = b.CreateMul(rows, b.CreateZExt(holds, rows->getType()));
    }
    return rows;
  }

  // The read goes through a row of indices, `x[index[k]]`, in every iteration: one call that goes through the row ahead
  // of the loop. Nothing in the loop may write an index, unless its iterations are threads.
  template <class Usable>
  void gather(Loop& loop, Instruction* end, const SCEV* trips, const SCEV* address, const Usable& usable,
              SCEVExpander& expander, const Check& c) {
    auto* bytes = dyn_cast<ConstantInt>(c.bytes);
    if (!bytes || bytes->getZExtValue() > 16 || kind_of(*c.site) != MR_CHECK_READ) return;
    const Gather g = gather_of(loop, address);
    if (!g.index || !usable(g.base) || !usable(trips)) return;
    auto* row = dyn_cast<SCEVAddRecExpr>(se_.getSCEV(g.index->getPointerOperand()));
    if (!row || row->getLoop() != &loop || !row->isAffine() ||
        !dt_.dominates(g.index->getParent(), loop.getLoopLatch()))
      return;
    const SCEV *first = row->getStart(), *step = row->getStepRecurrence(se_);
    if (!usable(first) || !usable(step) || !step->getType()->isIntegerTy(64)) return;
    if (!loop.isAnnotatedParallel())
      for (BasicBlock* block : loop.blocks())
        for (const Instruction& i : *block)
          if (i.mayWriteToMemory() && !is_access_check(i) && !i.isLifetimeStartOrEnd()) return;
    const auto expand = [&](const SCEV* s) { return expander.expandCodeFor(s, s->getType(), end->getIterator()); };
    IRBuilder<> b(end);
    const std::uint64_t width = g.index->getType()->getIntegerBitWidth() / 8;
    Type* i64 = b.getInt64Ty();
    AttributeList attributes;
    attributes = attributes.addFnAttribute(f_.getContext(), Attribute::NoUnwind);
    attributes = attributes.addFnAttribute(f_.getContext(), Attribute::WillReturn);
    const FunctionCallee callee = module_.getOrInsertFunction(
        "__mr_check_gather",
        FunctionType::get(b.getVoidTy(), {b.getPtrTy(), i64, b.getPtrTy(), i64, i64, i64, i64, b.getPtrTy()}, false),
        attributes);
    CallInst* call = b.CreateCall(callee, {expand(g.base), b.getInt64(g.scale), expand(first), expand(step),
                                           expand(se_.getAddExpr(trips, se_.getOne(i64))),
                                           b.getInt64(width | (g.is_signed ? 16 : 0)), bytes, c.site});
    call->setDebugLoc(c.call->getDebugLoc());
    c.call->eraseFromParent();
    changed_ = true;
  }

  // base + scale * index, where the index is loaded in the loop and all else stays the same.
  struct Gather {
    const SCEV* base = nullptr;
    std::int64_t scale = 1;
    LoadInst* index = nullptr;  // null: it isn't of this form
    bool is_signed = true;
  };
  Gather gather_of(const Loop& loop, const SCEV* address) const {
    Gather g;
    const auto* sum = dyn_cast<SCEVAddExpr>(address);
    if (!sum) return g;
    const SCEV* varying = nullptr;
    SmallVector<const SCEV*, 4> fixed;
    for (const SCEV* part : sum->operands()) {
      if (se_.isLoopInvariant(part, &loop))
        fixed.push_back(part);
      else if (std::exchange(varying, part))
        return g;
    }
    if (!varying || fixed.empty()) return g;
    if (const auto* product = dyn_cast<SCEVMulExpr>(varying)) {
      const auto* scale = dyn_cast<SCEVConstant>(product->getOperand(0));
      if (!scale || product->getNumOperands() != 2) return g;
      g.scale = scale->getAPInt().getSExtValue();
      varying = product->getOperand(1);
    }
    if (const auto* wide = dyn_cast<SCEVIntegralCastExpr>(varying)) {
      if (!isa<SCEVSignExtendExpr, SCEVZeroExtendExpr>(wide)) return g;
      g.is_signed = isa<SCEVSignExtendExpr>(wide);
      varying = wide->getOperand();
    }
    const auto* unknown = dyn_cast<SCEVUnknown>(varying);
    auto* load = unknown ? dyn_cast<LoadInst>(unknown->getValue()) : nullptr;
    if (!load || !load->isSimple() || !load->getType()->isIntegerTy() || loops_.getLoopFor(load->getParent()) != &loop)
      return g;
    const unsigned bits = load->getType()->getIntegerBitWidth();
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return g;
    g.base = se_.getAddExpr(fixed);
    if (g.base->getType()->isPointerTy()) g.index = load;
    return g;
  }

  // A call that only the iteration `only` makes, if there is one.
  template <class Usable>
  void move_one(const Loop& loop, Instruction* end, const SCEV* trips, const SCEV* only,
                SmallVectorImpl<Condition>& conditions, const Usable& usable, SCEVExpander& expander, const Check& c) {
    if (c.exact && !isa<Constant>(c.exact)) return;
    if (only->getType() != trips->getType()) return;
    LoopToScevMapT at;
    at[&loop] = only;
    const SCEV* parts[] = {SCEVLoopAddRecRewriter::rewrite(se_.getSCEV(c.pointer), at, se_), se_.getSCEV(c.bytes),
                           c.stride ? se_.getSCEV(c.stride) : nullptr, c.count ? se_.getSCEV(c.count) : nullptr};
    if (!usable(only) || !all_of(parts, [&](const SCEV* s) { return !s || usable(s); })) return;
    const auto expand = [&](const SCEV* s) { return expander.expandCodeFor(s, s->getType(), end->getIterator()); };
    IRBuilder<> b(end);
    conditions.push_back({b.CreateICmpULE(expand(only), expand(trips)), true});
    Value* null = ConstantPointerNull::get(b.getPtrTy());
    Value* pointer = expand(parts[0]);
    Value* bytes = expand(parts[1]);
    Value* stride = parts[2] ? expand(parts[2]) : b.getInt64(0);
    Value* rows = when(b, conditions, parts[3] ? expand(parts[3]) : b.getInt64(1));
    CallInst* call = b.CreateCall(range_function(), {pointer, bytes, stride, rows, null, null, c.site});
    call->setDebugLoc(c.call->getDebugLoc());
    c.call->eraseFromParent();
    changed_ = true;
  }

  Function& f_;
  Module& module_;
  LoopInfo& loops_;
  ScalarEvolution& se_;
  DominatorTree& dt_;
  DenseMap<const BasicBlock*, unsigned> order_;
  bool changed_ = false;
};

}  // namespace

bool merge_access_checks(Function& function, FunctionAnalysisManager& analyses) {
  const bool any = llvm::any_of(instructions(function), [](const Instruction& i) { return is_access_check(i); });
  return any && Merger(function, analyses).run();
}

}  // namespace mrcc
