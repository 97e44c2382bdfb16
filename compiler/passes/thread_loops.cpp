#include "thread_loops.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr const char* marker = "mrcc.thread";
constexpr const char* unroll_disable = "llvm.loop.unroll.disable";
constexpr unsigned max_divisions = 24;    // of a function
constexpr std::size_t max_copied = 6000;  // instructions
constexpr std::size_t max_loop_size = 600;
constexpr unsigned max_cases = 6;

// A marked loop in the form that mark_thread_loop() asks for.
struct ThreadLoop {
  Loop* loop = nullptr;
  BasicBlock* before = nullptr;  // the only one that enters
  BasicBlock* after = nullptr;
  PHINode* index = nullptr;
  ICmpInst* more = nullptr;  // index + 1 < limit
  Value* begin = nullptr;
  Value* limit = nullptr;
  std::size_t size = 0;
};

bool is_called(const MDOperand& property, StringRef name) {
  auto* node = dyn_cast<MDNode>(property);
  auto* text = node && node->getNumOperands() ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
  return text && text->getString() == name;
}

MDNode* marked(const Instruction* end) {
  return end && is_thread_loop(*end) ? end->getMetadata(LLVMContext::MD_loop) : nullptr;
}

bool recognise(Loop* loop, ThreadLoop& out) {
  BasicBlock* latch = loop->getLoopLatch();
  auto* back = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  if (!back || !back->isConditional() || !marked(back) || loop->getExitingBlock() != latch) return false;
  if (loop_has(*back, whole_marker)) return false;
  out.loop = loop;
  out.before = loop->getLoopPredecessor();
  out.after = loop->getExitBlock();
  out.more = dyn_cast<ICmpInst>(back->getCondition());
  if (!out.before || !out.after || !out.more || out.more->getPredicate() != ICmpInst::ICMP_ULT) return false;
  if (back->getSuccessor(0) != loop->getHeader() || !out.after->phis().empty()) return false;
  if (out.before->getTerminator()->getNumSuccessors() != 1) return false;
  auto phis = loop->getHeader()->phis();
  if (std::distance(phis.begin(), phis.end()) != 1) return false;
  out.index = &*phis.begin();
  auto* next = dyn_cast<BinaryOperator>(out.more->getOperand(0));
  if (!out.index->getType()->isIntegerTy(32) || !next || next != out.index->getIncomingValueForBlock(latch))
    return false;
  out.begin = out.index->getIncomingValueForBlock(out.before);
  out.limit = out.more->getOperand(1);
  if (auto* i = dyn_cast<Instruction>(out.limit); i && loop->contains(i)) return false;
  out.size = 0;
  for (BasicBlock* block : loop->blocks()) {
    out.size += block->size();
    for (Instruction& i : *block)
      for (User* user : i.users())
        if (!loop->contains(cast<Instruction>(user))) return false;
  }
  return out.size <= max_loop_size;
}

// The comparisons that a condition is made of.
void leaves(Value* condition, SmallVectorImpl<Value*>& out, unsigned depth = 0) {
  using namespace PatternMatch;
  Value *a, *b;
  if (depth < 6 && (match(condition, m_LogicalAnd(m_Value(a), m_Value(b))) ||
                    match(condition, m_LogicalOr(m_Value(a), m_Value(b))))) {
    leaves(a, out, depth + 1);
    leaves(b, out, depth + 1);
  } else if (depth < 6 && match(condition, m_Not(m_Value(a)))) {
    leaves(a, out, depth + 1);
  } else if (!isa<Constant>(condition)) {
    out.push_back(condition);
  }
}

// What decides for a thread: `affine` (the index plus something) compared with `other`; or, without `affine`, something
// that is the same for all.
struct Guard {
  Instruction* condition = nullptr;  // in the loop
  Value* affine_value = nullptr;
  const SCEVAddRecExpr* affine = nullptr;
  const SCEV* other = nullptr;
  const SCEV* left = nullptr;  // invariant: both sides
  CmpInst::Predicate predicate = CmpInst::BAD_ICMP_PREDICATE;
  bool wraps = false;  // perhaps
};

// What some threads of a short row do besides is better masked: the row stays whole vectors, and where extents are
// constants the masks are, too, which makes an access of one thread a scalar one (forward_lanes.h).
bool better_masked(const ThreadLoop& t) {
  constexpr std::uint64_t short_row = 32, half_vector = 8;
  constexpr std::size_t few_instructions = 120;
  const auto* begin = dyn_cast<ConstantInt>(t.begin);
  const auto* limit = dyn_cast<ConstantInt>(t.limit);
  if (!begin || !limit || !t.loop->isInnermost() || t.size > few_instructions) return false;
  const std::uint64_t length = limit->getZExtValue() - begin->getZExtValue();
  return length <= short_row && length % half_vector == 0;
}

// The numbers that such a row's threads are compared with are hidden until there are vectors: simplification would find
// out that the last thread's part is where the loop ends, and a loop with several ways out doesn't become vectors.
void hide_constants(const ThreadLoop& t, ScalarEvolution& se) {
  Module& module = *t.before->getModule();
  for (BasicBlock* block : t.loop->blocks())
    for (Instruction& i : *block) {
      auto* compare = dyn_cast<ICmpInst>(&i);
      auto* number = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
      if (!number || compare == t.more || number->getBitWidth() > 64) continue;
      const auto* affine = dyn_cast<SCEVAddRecExpr>(se.getSCEV(compare->getOperand(0)));
      if (!affine || affine->getLoop() != t.loop) continue;
      Type* type = number->getType();
      FunctionCallee hidden = module.getOrInsertFunction((kHiddenPrefix + Twine(number->getBitWidth())).str(), type,
                                                         type);
      auto* f = cast<Function>(hidden.getCallee());
      f->setDoesNotAccessMemory();
      f->setDoesNotThrow();
      f->setWillReturn();
      f->addFnAttr(Attribute::Speculatable);
      IRBuilder<> b(t.before->getTerminator());
      b.SetCurrentDebugLocation({});
      compare->setOperand(1, b.CreateCall(hidden, {number}));
    }
}

bool find_guard(const ThreadLoop& t, ScalarEvolution& se, Guard& g) {
  SCEVExpander expander(se, t.before->getModule()->getDataLayout(), "guard");
  Instruction* end = t.before->getTerminator();
  const auto usable = [&](const SCEV* s) {
    return se.isLoopInvariant(s, t.loop) && expander.isSafeToExpandAt(s, end) && se.dominates(s, t.before);
  };
  for (BasicBlock* block : t.loop->blocks()) {
    auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional() || branch->getCondition() == t.more) continue;
    SmallVector<Value*, 8> conditions;
    leaves(branch->getCondition(), conditions);
    for (Value* v : conditions) {
      auto* compare = dyn_cast<ICmpInst>(v);
      if (!compare || !t.loop->contains(compare) || !compare->getOperand(0)->getType()->isIntegerTy()) continue;
      const unsigned bits = compare->getOperand(0)->getType()->getIntegerBitWidth();
      if (bits != 32 && bits != 64) continue;
      const SCEV* sides[2] = {se.getSCEV(compare->getOperand(0)), se.getSCEV(compare->getOperand(1))};
      g = {};
      g.condition = compare;
      g.predicate = compare->getPredicate();
      if (usable(sides[0]) && usable(sides[1])) {
        if (!t.loop->isInnermost()) continue;
        g.left = sides[0];
        g.other = sides[1];
        return true;
      }
      for (unsigned side : {0u, 1u}) {
        auto* affine = dyn_cast<SCEVAddRecExpr>(sides[side]);
        if (!affine || affine->getLoop() != t.loop || !affine->isAffine() || !affine->getStepRecurrence(se)->isOne() ||
            !usable(affine->getStart()) || !usable(sides[1 - side]))
          continue;
        if (better_masked(t)) continue;
        g.affine = affine;
        g.affine_value = compare->getOperand(side);
        g.other = sides[1 - side];
        if (side == 1) g.predicate = CmpInst::getSwappedPredicate(g.predicate);
        g.wraps = !CmpInst::isEquality(g.predicate) &&
                  !(CmpInst::isSigned(g.predicate) ? affine->hasNoSignedWrap() : affine->hasNoUnsignedWrap());
        return true;
      }
    }
  }
  return false;
}

// A copy of the loop for the indices begin .. end-1, in front of `t.after`; returns the block in which it starts.
struct Copy {
  BasicBlock* enter;
  ValueToValueMapTy map;
};
void copy_loop(const ThreadLoop& t, Value* begin, Value* end, bool single, BasicBlock* then, Copy& copy) {
  Function* f = t.before->getParent();
  LLVMContext& c = f->getContext();
  copy.enter = BasicBlock::Create(c, "threads", f, t.after);
  SmallVector<BasicBlock*, 16> blocks;
  for (BasicBlock* block : t.loop->blocks()) {
    BasicBlock* clone = CloneBasicBlock(block, copy.map, "", f);
    clone->moveBefore(t.after);
    copy.map[block] = clone;
    blocks.push_back(clone);
  }
  copy.map[t.before] = copy.enter;
  copy.map[t.after] = then;
  remapInstructionsInBlocks(blocks, copy.map);
  cast<PHINode>(&*copy.map[t.index])->setIncomingValueForBlock(copy.enter, begin);
  cast<Instruction>(&*copy.map[t.more])->setOperand(1, end);
  auto* back = cast<BranchInst>(cast<BasicBlock>(&*copy.map[t.loop->getLoopLatch()])->getTerminator());
  if (single) {
    BranchInst::Create(then, back);
    back->eraseFromParent();
    cast<BasicBlock>(&*copy.map[t.loop->getHeader()])
        ->removePredecessor(cast<BasicBlock>(&*copy.map[t.loop->getLoopLatch()]), /*KeepOneInputPHIs=*/true);
  } else {
    SmallVector<Metadata*, 4> operands(marked(back)->operands());
    operands[0] = nullptr;
    MDNode* id = MDNode::getDistinct(c, operands);
    id->replaceOperandWith(0, id);
    back->setMetadata(LLVMContext::MD_loop, id);
  }
  BranchInst::Create(cast<BasicBlock>(&*copy.map[t.loop->getHeader()]), copy.enter);
}

void divide(const ThreadLoop& t, const Guard& g, ScalarEvolution& se) {
  Function* f = t.before->getParent();
  LLVMContext& c = f->getContext();
  Instruction* end = t.before->getTerminator();
  SCEVExpander expander(se, f->getParent()->getDataLayout(), "guard");
  const auto expand = [&](const SCEV* s) { return expander.expandCodeFor(s, s->getType(), end->getIterator()); };
  IRBuilder<> b(end);
  b.SetCurrentDebugLocation({});
  // Frozen: the program may look at the comparison only where the values are sound.
  Value* other = b.CreateFreeze(expand(g.other));
  Value* first = b.CreateFreeze(expand(g.affine ? g.affine->getStart() : g.left));  // left side, for the first thread
  Value* length = b.CreateSub(t.limit, t.begin, "", /*HasNUW=*/true);
  Value* wide = b.CreateZExt(length, first->getType());

  // The threads begin .. cuts[0]-1 have the condition values[0], and so on.
  SmallVector<Value*, 3> cuts;
  SmallVector<bool, 3> values;
  std::size_t single = ~std::size_t{0};  // which of them is one thread
  const auto index_after = [&](Value* count) {
    return b.CreateAdd(t.begin, b.CreateTrunc(count, b.getInt32Ty()), "cut", /*HasNUW=*/true);
  };
  const auto zero = ConstantInt::get(first->getType(), 0), one = ConstantInt::get(first->getType(), 1);
  Value* distance = b.CreateSub(other, first);
  CmpInst::Predicate p = g.predicate;
  if (!g.affine) {
    // All threads or none.
    BasicBlock* ways[2];
    for (const bool value : {false, true}) {
      Copy copy;
      copy_loop(t, t.begin, t.limit, /*single=*/false, t.after, copy);
      auto* condition = cast<Instruction>(&*copy.map[g.condition]);
      condition->replaceAllUsesWith(ConstantInt::get(condition->getType(), value));
      ways[value] = copy.enter;
    }
    b.CreateCondBr(b.CreateICmp(p, first, other), ways[true], ways[false]);
    end->eraseFromParent();
    return;
  }
  if (CmpInst::isEquality(p) && g.affine->getStart() == g.other) {
    // The first thread is the one, as in `if (threadIdx.x == 0)`.
    cuts = {b.CreateAdd(t.begin, b.getInt32(1)), t.limit};
    values = {p == CmpInst::ICMP_EQ, p == CmpInst::ICMP_NE};
    single = 0;
  } else if (CmpInst::isEquality(p)) {
    single = 1;
    Value* hit = b.CreateICmpULT(distance, wide);
    Value* at = index_after(b.CreateSelect(hit, distance, wide));
    cuts = {at, b.CreateAdd(at, b.CreateZExt(hit, b.getInt32Ty())), t.limit};
    values = {p == CmpInst::ICMP_NE, p == CmpInst::ICMP_EQ, p == CmpInst::ICMP_NE};
  } else {
    // As "less" or "less or equal", which holds for the first threads, or its contrary.
    const bool contrary = ICmpInst::isGT(p) || ICmpInst::isGE(p);
    if (contrary) p = CmpInst::getInversePredicate(p);
    Value* some = b.CreateICmp(p, first, other);
    Value* count;
    if (ICmpInst::isLE(p)) {
      Value* most = b.CreateSub(wide, one);
      count = b.CreateAdd(b.CreateSelect(b.CreateICmpULT(distance, most), distance, most), one);
    } else {
      count = b.CreateSelect(b.CreateICmpULT(distance, wide), distance, wide);
    }
    cuts = {index_after(b.CreateSelect(some, count, zero)), t.limit};
    values = {!contrary, contrary};
  }
  Value* last = nullptr;
  if (g.wraps) last = b.CreateAdd(first, b.CreateSub(wide, one));

  // The copies, the last one first.
  BasicBlock* then = t.after;
  for (std::size_t i = cuts.size(); i-- > 0;) {
    Value* begin = i ? cuts[i - 1] : t.begin;
    Copy copy;
    copy_loop(t, begin, cuts[i], i == single, then, copy);
    auto* condition = cast<Instruction>(&*copy.map[g.condition]);
    if (g.wraps && !isa<PHINode>(g.affine_value)) {
      // It doesn't wrap in these rows.
      auto* affine = cast<Instruction>(&*copy.map[g.affine_value]);
      IRBuilder<> at(affine);
      auto* index = cast<Instruction>(&*copy.map[t.index]);
      Value* k = at.CreateZExt(at.CreateSub(index, t.begin, "", /*HasNUW=*/true, /*HasNSW=*/true), first->getType());
      Value* sum = at.CreateAdd(first, k, "", CmpInst::isUnsigned(g.predicate), CmpInst::isSigned(g.predicate));
      affine->replaceAllUsesWith(sum);
    }
    condition->replaceAllUsesWith(ConstantInt::get(condition->getType(), values[i]));
    BasicBlock* choose = BasicBlock::Create(c, "threads.any", f, copy.enter);
    BranchInst::Create(copy.enter, then, new ICmpInst(choose, CmpInst::ICMP_ULT, begin, cuts[i]), choose);
    then = choose;
  }
  if (!g.wraps) {
    end->setSuccessor(0, then);  // the original is dead
    return;
  }
  Value* straight = b.CreateICmp(CmpInst::isSigned(g.predicate) ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE, first, last);
  BasicBlock* original = BasicBlock::Create(c, "threads.wrap", f, t.loop->getHeader());
  BranchInst::Create(t.loop->getHeader(), original);
  t.index->replaceIncomingBlockWith(t.before, original);
  b.CreateCondBr(straight, then, original, MDBuilder(c).createBranchWeights(1u << 20, 1));
  end->eraseFromParent();
  Instruction* back = t.loop->getLoopLatch()->getTerminator();
  const auto off = [&](const char* name, bool value) {
    return MDNode::get(c,
                       {MDString::get(c, name), ConstantAsMetadata::get(ConstantInt::get(Type::getInt1Ty(c), value))});
  };
  MDNode* id = MDNode::getDistinct(c, {nullptr, off("llvm.loop.vectorize.enable", false),
                                       MDNode::get(c, {MDString::get(c, "llvm.loop.unroll.disable")})});
  id->replaceOperandWith(0, id);
  back->setMetadata(LLVMContext::MD_loop, id);
}

// A switch over a few values of the thread's index or of what threads have in common, as chains of `if (threadIdx.x ==
// 0)` become, is a chain again.
bool undo_switches(Function& function, LoopInfo& loops, ScalarEvolution& se) {
  SmallVector<SwitchInst*, 4> found;
  for (BasicBlock& block : function) {
    auto* choose = dyn_cast<SwitchInst>(block.getTerminator());
    if (!choose || choose->getNumCases() > max_cases || !se.isSCEVable(choose->getCondition()->getType())) continue;
    const Loop* loop = loops.getLoopFor(&block);
    while (loop && !(loop->getLoopLatch() && marked(loop->getLoopLatch()->getTerminator())))
      loop = loop->getParentLoop();
    const SCEV* condition = se.getSCEV(choose->getCondition());
    auto* affine = dyn_cast<SCEVAddRecExpr>(condition);
    if (loop && (affine ? affine->getLoop() == loop || se.isLoopInvariant(condition, loop)
                        : loop->isInnermost() && se.isLoopInvariant(condition, loop)))
      found.push_back(choose);
  }
  for (SwitchInst* choose : found) {
    BasicBlock* block = choose->getParent();
    Value* condition = choose->getCondition();
    struct Edge {
      ConstantInt* value;
      BasicBlock* to;
    };
    SmallVector<Edge, 8> edges;
    for (auto& one : choose->cases()) edges.push_back({one.getCaseValue(), one.getCaseSuccessor()});
    BasicBlock* otherwise = choose->getDefaultDest();
    // What each successor's phis get from here, once for each edge.
    SmallSetVector<BasicBlock*, 8> targets(succ_begin(block), succ_end(block));
    DenseMap<PHINode*, Value*> given;
    for (BasicBlock* target : targets)
      for (PHINode& phi : target->phis()) {
        given[&phi] = phi.getIncomingValueForBlock(block);
        phi.removeIncomingValueIf([&](unsigned i) { return phi.getIncomingBlock(i) == block; },
                                  /*DeletePHIIfEmpty=*/false);
      }
    const auto lead = [&](BasicBlock* from, BasicBlock* to) {
      for (PHINode& phi : to->phis()) phi.addIncoming(given.lookup(&phi), from);
    };
    choose->eraseFromParent();
    BasicBlock* at = block;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const bool final = i + 1 == edges.size();
      BasicBlock* next = final ? otherwise
                               : BasicBlock::Create(function.getContext(), "case", &function, at->getNextNode());
      auto* equal = new ICmpInst(at, CmpInst::ICMP_EQ, condition, edges[i].value);
      BranchInst::Create(edges[i].to, next, equal, at);
      lead(at, edges[i].to);
      if (final) lead(at, otherwise);
      at = next;
    }
  }
  return !found.empty();
}

}  // namespace

void mark_thread_loop(BranchInst& back, MDNode* access_group) {
  LLVMContext& c = back.getContext();
  // Blocks have 16 threads in a row, or 256: a vector at a time, so that short rows don't end in the scalar rest.
  auto* one = MDNode::get(c, {MDString::get(c, "llvm.loop.interleave.count"),
                              ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(c), 1))});
  // Nor unrolled before they are vectors (and then only short ones, allow_unrolling()).
  SmallVector<Metadata*, 5> operands = {nullptr, MDNode::get(c, {MDString::get(c, marker)}), one,
                                        MDNode::get(c, {MDString::get(c, unroll_disable)})};
  if (access_group) operands.push_back(MDNode::get(c, {MDString::get(c, "llvm.loop.parallel_accesses"), access_group}));
  MDNode* id = MDNode::getDistinct(c, operands);
  id->replaceOperandWith(0, id);
  back.setMetadata(LLVMContext::MD_loop, id);
}

void allow_unrolling(Loop& loop, ScalarEvolution& se) {
  constexpr unsigned short_row = 64;
  constexpr std::size_t few_instructions = 20;
  Instruction* end = loop.getLoopLatch() ? loop.getLoopLatch()->getTerminator() : nullptr;
  MDNode* id = marked(end);
  if (!id) return;
  const unsigned count = se.getSmallConstantTripCount(&loop);
  if (count && count <= short_row) {
    add_to_loop(*end, nullptr, unroll_disable);
  } else if (loop.getNumBlocks() == 1 && loop.getHeader()->size() <= few_instructions) {
    // A few instructions that don't become vectors (an atomic operation for each thread) are half a loop's expense.
    LLVMContext& c = end->getContext();
    MDNode* disable = MDNode::get(c, {MDString::get(c, unroll_disable)});
    add_to_loop(*end, nullptr, unroll_disable);
    for (const char* what : {"llvm.loop.vectorize.followup_vectorized", "llvm.loop.vectorize.followup_epilogue"})
      if (!loop_has(*end, what)) add_to_loop(*end, MDNode::get(c, {MDString::get(c, what), disable}));
  }
}

bool is_thread_loop(const Instruction& end) { return loop_has(end, marker); }

bool loop_has(const Instruction& end, StringRef property) {
  MDNode* id = end.getMetadata(LLVMContext::MD_loop);
  return id && any_of(drop_begin(id->operands()), [&](const MDOperand& o) { return is_called(o, property); });
}

void add_to_loop(Instruction& end, MDNode* property, StringRef without) {
  SmallVector<Metadata*, 6> properties = {nullptr};
  if (MDNode* id = end.getMetadata(LLVMContext::MD_loop))
    for (const MDOperand& operand : drop_begin(id->operands()))
      if (without.empty() || !is_called(operand, without)) properties.push_back(operand);
  if (property) properties.push_back(property);
  MDNode* fresh = MDNode::getDistinct(end.getContext(), properties);
  fresh->replaceOperandWith(0, fresh);
  end.setMetadata(LLVMContext::MD_loop, fresh);
}

void keep_small(Function& function) {
  function.addFnAttr(Attribute::Cold);
  function.addFnAttr(Attribute::OptimizeForSize);
  LLVMContext& c = function.getContext();
  auto* scalar = MDNode::get(
      c, {MDString::get(c, "llvm.loop.vectorize.enable"), ConstantAsMetadata::get(ConstantInt::getFalse(c))});
  for (BasicBlock& block : function) {
    Instruction* end = block.getTerminator();
    if (!marked(end)) continue;
    MDNode* id = MDNode::getDistinct(c, {nullptr, scalar, MDNode::get(c, {MDString::get(c, unroll_disable)})});
    id->replaceOperandWith(0, id);
    end->setMetadata(LLVMContext::MD_loop, id);
  }
}

bool divide_thread_loops(Function& function, FunctionAnalysisManager& analyses) {
  unsigned divisions = 0;
  std::size_t copied = 0;
  bool switches = undo_switches(function, analyses.getResult<LoopAnalysis>(function),
                                analyses.getResult<ScalarEvolutionAnalysis>(function));
  if (switches) analyses.invalidate(function, PreservedAnalyses::none());
  for (bool changed = true; changed && divisions < max_divisions;) {
    changed = false;
    auto& loops = analyses.getResult<LoopAnalysis>(function);
    auto& se = analyses.getResult<ScalarEvolutionAnalysis>(function);
    for (Loop* loop : loops.getLoopsInPreorder()) {
      ThreadLoop t;
      Guard g;
      if (!recognise(loop, t) || copied + 2 * t.size > max_copied || !find_guard(t, se, g)) continue;
      copied += 2 * t.size;
      divide(t, g, se);
      EliminateUnreachableBlocks(function);
      ++divisions;
      changed = true;
      analyses.invalidate(function, PreservedAnalyses::none());
      break;
    }
  }
  auto& se = analyses.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (ThreadLoop t; recognise(loop, t) && better_masked(t)) hide_constants(t, se);
  return true;
}

bool reveal_constants(Function& function) {
  bool changed = false;
  for (Instruction& i : make_early_inc_range(instructions(function))) {
    auto* call = dyn_cast<CallInst>(&i);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || !callee->getName().starts_with(kHiddenPrefix)) continue;
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
    changed = true;
  }
  return changed;
}

}  // namespace mrcc
