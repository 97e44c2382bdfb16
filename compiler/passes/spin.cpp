#include "spin.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include "callgraph.h"
#include "debug_variables.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

// Why an instruction's result may change without the loop's doing; empty = it can't.
class Sources {
 public:
  Sources(Module& module, const CallGraph& graph) : graph_(graph) {
    // Functions whose results may depend on others: those that contain a source or call one that does.
    for (bool changed = true; changed;) {
      changed = false;
      for (Function& f : module) {
        if (f.isDeclaration() || tainted_functions_.contains(&f)) continue;
        for (Instruction& i : instructions(f))
          if (!of(i).empty()) {
            changed |= tainted_functions_.insert(&f).second;
            break;
          }
      }
    }
  }

  StringRef of(const Instruction& i) const {
    if (i.isVolatile()) return is_own(i) ? "" : "a volatile access";
    if (i.isAtomic() && !isa<FenceInst>(i)) return "an atomic access";
    const auto* call = dyn_cast<CallBase>(&i);
    if (!call || is_debugger_mark(i)) return {};
    if (const auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
      return assembly->hasSideEffects() ? "inline assembly" : "";
    const auto* callee = dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts());
    if (!callee) {
      for (Function* target : graph_.callees(const_cast<Function*>(call->getFunction())))
        if (tainted_functions_.contains(target)) return "a call through a pointer";
      return {};
    }
    switch (callee->getIntrinsicID()) {
    case Intrinsic::x86_rdtsc:
    case Intrinsic::x86_rdtscp:
    case Intrinsic::readcyclecounter:
    case Intrinsic::readsteadycounter: return "a clock";
    default: break;
    }
    if (callee->getName() == "__mr_globaltimer") return "a clock";
    if (tainted_functions_.contains(callee)) return "a function that reads volatile or atomic variables or a clock";
    return {};
  }

 private:
  // Of a variable of the thread's that nobody else knows: a volatile counter delays, and waits for nothing.
  static bool is_own(const Instruction& i) {
    const Value* pointer = getLoadStorePointerOperand(&i);
    const auto* variable = pointer ? dyn_cast<AllocaInst>(getUnderlyingObject(pointer)) : nullptr;
    return variable && is_only_accessed(*variable);
  }
  // (LLVM's capture tracking takes volatile accesses themselves for captures.)
  static bool is_only_accessed(const Value& pointer) {
    return all_of(pointer.uses(), [](const Use& use) {
      const User* user = use.getUser();
      if (isa<LoadInst>(user)) return true;
      if (isa<StoreInst>(user)) return use.getOperandNo() == StoreInst::getPointerOperandIndex();
      if (isa<GetElementPtrInst, BitCastInst, AddrSpaceCastInst>(user)) return is_only_accessed(*user);
      const auto* call = dyn_cast<IntrinsicInst>(user);
      return call && call->isLifetimeStartOrEnd();
    });
  }

  const CallGraph& graph_;
  SmallPtrSet<const Function*, 16> tainted_functions_;
};

// One loop's exits, traced back.
class LoopTrace {
 public:
  LoopTrace(const Loop& loop, const Sources& sources, const PostDominatorTree& post)
      : loop_(loop), sources_(sources), post_(post) {}

  // The reason why the loop may spin, or empty.
  std::string run() {
    SmallVector<std::pair<BasicBlock*, BasicBlock*>, 4> exits;
    loop_.getExitEdges(exits);
    if (exits.empty()) return "it has no exit";
    // Blocks often wait together: one thread looks, and the others learn it through shared memory. Far more loops hand
    // results of atomic operations on in this way than wait for them, so only what merely looks counts there.
    for (const bool shared : {false, true}) {
      through_shared_ = shared;
      seed();
      propagate();
      for (auto [from, to] : exits) {
        Instruction* branch = from->getTerminator();
        if (tainted_.contains(branch) || influenced_.contains(from))
          return ("its exit depends on " + first_source_ + (shared ? ", through shared memory" : "")).str();
      }
      tainted_.clear();
      influenced_.clear();
      first_source_ = {};
    }
    return {};
  }

 private:
  void taint(const Instruction* i) {
    if (loop_.contains(i) && tainted_.insert(i).second) work_.push_back(i);
  }

  bool fence_inside() const {
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& i : *block) {
        if (isa<FenceInst>(i)) return true;
        auto* call = dyn_cast<CallInst>(&i);
        if (call && call->isInlineAsm() && cast<InlineAsm>(call->getCalledOperand())->hasSideEffects() &&
            !call->onlyReadsMemory())
          return true;
      }
    return false;
  }

  void seed() {
    const bool fenced = fence_inside();
    const Instruction* only_counter = single_counter();
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& i : *block) {
        StringRef why = sources_.of(i);
        if (through_shared_ && !looks_elsewhere(i)) continue;
        if (&i == only_counter || advances_by_failure(i)) continue;
        if (why.empty() && fenced && isa<LoadInst>(i) && loop_.isLoopInvariant(i.getOperand(0)) &&
            !isa<AllocaInst>(getUnderlyingObject(i.getOperand(0))))
          why = "a load beside a fence";
        if (why.empty()) continue;
        if (first_source_.empty()) first_source_ = why;
        taint(&i);
      }
  }

  // The name of the `__shared__` variable that a pointer belongs to; empty = none.
  static StringRef shared_variable(const Value* pointer) {
    const auto* call = dyn_cast<CallInst>(getUnderlyingObject(pointer));
    const Function* accessor = call ? call->getCalledFunction() : nullptr;
    return accessor && accessor->getName().starts_with(kSharedPrefix) ? accessor->getName() : StringRef();
  }

  // A volatile or atomic access that changes nothing, outside the block's own memory.
  static bool looks_elsewhere(const Instruction& i) {
    const Value* pointer = nullptr;
    if (auto* load = dyn_cast<LoadInst>(&i)) {
      if (load->isVolatile() || load->isAtomic()) pointer = load->getPointerOperand();
    } else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
      auto* operand = dyn_cast<ConstantInt>(rmw->getValOperand());
      const AtomicRMWInst::BinOp op = rmw->getOperation();
      if (operand && operand->isZero() &&
          (op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub || op == AtomicRMWInst::Or || op == AtomicRMWInst::Xor))
        pointer = rmw->getPointerOperand();
    } else if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&i)) {
      if (swap->getCompareOperand() == swap->getNewValOperand()) pointer = swap->getPointerOperand();
    }
    return pointer && shared_variable(pointer).empty() && !isa<AllocaInst>(getUnderlyingObject(pointer));
  }

  // An atomic add or subtraction of a constant that is the loop's only source: each iteration takes its own number.
  const Instruction* single_counter() const {
    const Instruction* found = nullptr;
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& i : *block) {
        if (sources_.of(i).empty()) continue;
        auto* rmw = dyn_cast<AtomicRMWInst>(&i);
        if (found || !rmw || (rmw->getOperation() != AtomicRMWInst::Add && rmw->getOperation() != AtomicRMWInst::Sub))
          return nullptr;
        auto* step = dyn_cast<ConstantInt>(rmw->getValOperand());
        if (!step || step->isZero()) return nullptr;
        found = &i;
      }
    return found;
  }

  // A compare-and-swap that expects what its own last failure returned.
  bool advances_by_failure(const Instruction& i) const {
    auto* swap = dyn_cast<AtomicCmpXchgInst>(const_cast<Instruction*>(&i));
    if (!swap || swap->isVolatile()) return false;
    auto* expected = dyn_cast<PHINode>(strip(swap->getCompareOperand()));
    if (!expected || expected->getParent() != loop_.getHeader()) return false;
    for (unsigned k = 0; k < expected->getNumIncomingValues(); ++k)
      if (loop_.contains(expected->getIncomingBlock(k)) &&
          !comes_from_failure(expected->getIncomingValue(k), swap, expected, 0))
        return false;
    return true;
  }
  // `v` is what the swap returned, or on paths where it succeeded still what it expected.
  static bool comes_from_failure(Value* v, AtomicCmpXchgInst* swap, PHINode* expected, unsigned depth) {
    v = strip(v);
    if (auto* result = dyn_cast<ExtractValueInst>(v)) return result->getAggregateOperand() == swap;
    if (v == expected || depth > 4) return false;
    SmallVector<Value*, 4> merged;
    if (auto* select = dyn_cast<SelectInst>(v)) merged = {select->getTrueValue(), select->getFalseValue()};
    if (auto* phi = dyn_cast<PHINode>(v)) merged.assign(phi->op_begin(), phi->op_end());
    bool any = false;
    for (Value* in : merged) {
      if (strip(in) == expected) continue;
      if (!comes_from_failure(in, swap, expected, depth + 1)) return false;
      any = true;
    }
    return any;
  }
  static Value* strip(Value* v) {
    while (auto* cast = dyn_cast<CastInst>(v)) v = cast->getOperand(0);
    return v;
  }

  void propagate() {
    while (!work_.empty()) {
      const Instruction* i = work_.pop_back_val();
      for (const User* u : i->users())
        if (auto* user = dyn_cast<Instruction>(u)) taint(user);
      if (auto* store = dyn_cast<StoreInst>(i)) taint_loads_of(store->getPointerOperand());
      if (auto* call = dyn_cast<CallBase>(i))
        for (const Value* argument : call->args())
          if (argument->getType()->isPointerTy()) taint_loads_of(argument);
      if (i->isTerminator() && i->getNumSuccessors() > 1) influence(i->getParent());
    }
  }

  // Loads of a local or shared variable that a tainted store or call may have written.
  void taint_loads_of(const Value* pointer) {
    const Value* object = getUnderlyingObject(pointer);
    const StringRef shared = through_shared_ ? shared_variable(pointer) : StringRef();
    if (!isa<AllocaInst>(object) && shared.empty()) return;
    for (BasicBlock* block : loop_.blocks())
      for (Instruction& i : *block) {
        auto* load = dyn_cast<LoadInst>(&i);
        if (!load) continue;
        const Value* from = load->getPointerOperand();
        if (shared.empty() ? getUnderlyingObject(from) == object : shared_variable(from) == shared) taint(load);
      }
  }

  // Control dependence: blocks between the branch and its post-dominator run or not by its outcome, and phis there and
  // at the post-dominator carry it.
  void influence(const BasicBlock* branch) {
    const auto* node = post_.getNode(const_cast<BasicBlock*>(branch));
    const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    SmallVector<const BasicBlock*, 8> stack(successors(branch));
    SmallPtrSet<const BasicBlock*, 16> seen;
    while (!stack.empty()) {
      const BasicBlock* block = stack.pop_back_val();
      if (!loop_.contains(block) || !seen.insert(block).second) continue;
      for (const PHINode& phi : block->phis())
        if (!phi.hasConstantOrUndefValue()) taint(&phi);
      if (block == join || block == branch || block == loop_.getHeader()) continue;
      influenced_.insert(block);
      for (const Instruction& i : *block)
        if (auto* store = dyn_cast<StoreInst>(&i)) taint_loads_of(store->getPointerOperand());
      stack.append(succ_begin(block), succ_end(block));
    }
  }

  const Loop& loop_;
  const Sources& sources_;
  const PostDominatorTree& post_;
  SmallPtrSet<const Instruction*, 32> tainted_;
  SmallPtrSet<const BasicBlock*, 16> influenced_;
  SmallVector<const Instruction*, 32> work_;
  StringRef first_source_;
  bool through_shared_ = false;
};

void trace_function(Function& f, const Sources& sources, const CallGraph& graph, SpinMap& out) {
  DominatorTree dominators(f);
  LoopInfo loops(dominators);
  PostDominatorTree post(f);
  for (Loop* loop : loops.getLoopsInPreorder()) {
    std::string reason = LoopTrace(*loop, sources, post).run();
    if (reason.empty()) continue;
    SpinningLoop entry;
    loop->getLoopLatches(entry.latches);
    if (DebugLoc start = loop->getStartLoc()) entry.line = start.getLine();
    entry.reason = std::move(reason);
    out[&f].loops.push_back(std::move(entry));
  }
  if (!graph.recursive(&f)) return;
  for (Instruction& i : instructions(f)) {
    auto* call = dyn_cast<CallBase>(&i);
    // Its own recursion makes every recursive call opaque; only other sources count.
    if (call && call->getCalledFunction() == &f) continue;
    const StringRef why = sources.of(i);
    if (why.empty() || (isa<AtomicRMWInst>(i) && i.use_empty())) continue;
    out[&f].recursion = ("its recursion may depend on " + why).str();
    break;
  }
}

void promote_locals(Function& f) {
  DominatorTree dominators(f);
  SmallVector<AllocaInst*, 16> allocas;
  for (Instruction& i : f.getEntryBlock())
    if (auto* a = dyn_cast<AllocaInst>(&i); a && isAllocaPromotable(a)) allocas.push_back(a);
  if (!allocas.empty()) PromoteMemToReg(allocas, dominators);
}

}  // namespace

SpinMap find_spinning(Module& module, bool on_clone) {
  SpinMap result;
  if (!on_clone) {
    const CallGraph graph(module);
    const Sources sources(module, graph);
    for (Function& f : module)
      if (!f.isDeclaration()) trace_function(f, sources, graph, result);
    return result;
  }
  ValueToValueMapTy map;
  std::unique_ptr<Module> copy = CloneModule(module, map);
  for (Function& f : *copy)
    if (!f.isDeclaration()) promote_locals(f);
  const SpinMap found = find_spinning(*copy, false);
  for (Function& f : module) {
    auto it = found.find(cast_or_null<Function>(map.lookup(&f)));
    if (f.isDeclaration() || it == found.end()) continue;
    DenseMap<BasicBlock*, BasicBlock*> original;
    for (BasicBlock& block : f) original[cast<BasicBlock>(map.lookup(&block))] = &block;
    Spinning spinning = it->second;
    for (SpinningLoop& loop : spinning.loops)
      for (BasicBlock*& latch : loop.latches) latch = original.lookup(latch);
    result[&f] = std::move(spinning);
  }
  return result;
}

}  // namespace mrcc
