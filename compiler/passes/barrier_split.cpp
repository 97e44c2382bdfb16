#include "barrier_split.h"

#include <simt/abi.h>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

#include "callgraph.h"
#include "names.h"
#include "thread_loops.h"
#include "uniformity.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr unsigned max_cloned = 30000;  // instructions
constexpr unsigned max_recomputed = 16;

enum class Sync { none, barrier, barrier_reduce, warp, shuffle, ballot, reduce };

// What threads do together by this call.
Sync sync_of(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->isDeclaration()) return Sync::none;
  return StringSwitch<Sync>(callee->getName())
      .Case("__mr_barrier", Sync::barrier)
      .Case("__mr_barrier_reduce", Sync::barrier_reduce)
      .Case("__mr_warp_sync", Sync::warp)
      .Case("__mr_shuffle", Sync::shuffle)
      .Case("__mr_ballot", Sync::ballot)
      .Case("__mr_reduce", Sync::reduce)
      .Default(Sync::none);
}
bool of_warp(Sync s) { return s >= Sync::warp; }

struct Region {
  BasicBlock* entry = nullptr;
  CallInst* barrier = nullptr;    // that it begins after; null: the kernel's entry
  SetVector<BasicBlock*> blocks;  // without the barriers' own
  SetVector<CallInst*> next;      // barriers that end it
  bool returns = false;
  BasicBlock* before = nullptr;  // in the new function: where it starts
};

// A value that lives across barriers.
struct Slot {
  bool uniform = false;
  AllocaInst* now = nullptr;   // uniform: at the region's start
  AllocaInst* next = nullptr;  // uniform: at its end
  std::uint64_t offset = 0;    // else: times the number of threads, in scratch
  std::uint64_t size = 0;
};

// A barrier with a result: what the threads have brought so far, and what the last completed one gave. Of a warp
// operation both are arrays in scratch: one element per thread brought; per thread (shuffle) or warp given.
struct Reduction {
  AllocaInst* sum = nullptr;
  AllocaInst* result = nullptr;
  Slot brought, given;
};

class Splitter {
 public:
  Splitter(const Extended& body, bool store_lane)
      : extended_(body), body_(*body.body), store_lane_(store_lane), layout_(body.body->getParent()->getDataLayout()) {}

  Split run() {
    for (unsigned i = 0; i < item_count; ++i) items_[i] = body_item(static_cast<Item>(i));
    isolate_barriers();
    if (!check_calls()) return refuse();
    find_regions();
    Uniformity uniformity(body_, {items_[tid_x], items_[tid_y], items_[tid_z]});
    uniformity_ = &uniformity;
    if (!check_exits()) return refuse();
    find_slots();
    build();
    Split split;
    split.blocks = out_;
    split.lane_bytes = static_cast<std::uint32_t>(lane_bytes_);
    return split;
  }

 private:
  Split refuse() {
    Split split;
    split.why = why_;
    return split;
  }
  Value* body_item(Item item) {
    if (!(extended_.items >> item & 1)) return nullptr;
    const unsigned before = popcount(extended_.items & ((1u << item) - 1));
    return body_.getArg(body_.arg_size() - popcount(extended_.items) + before);
  }

  // Every barrier alone in a block of its own.
  void isolate_barriers() {
    SmallVector<CallInst*, 8> calls;
    for (Instruction& i : instructions(body_))
      if (sync_of(i) != Sync::none) calls.push_back(cast<CallInst>(&i));
    for (CallInst* call : calls) {
      SplitBlock(call->getParent(), call->getIterator());
      SplitBlock(call->getParent(), std::next(call->getIterator()));
    }
    barriers_.insert(calls.begin(), calls.end());
    // Noted now: while regions are cloned, the clones' branches lead here too.
    for (CallInst* call : calls) before_[call->getParent()] = call->getParent()->getSinglePredecessor();
  }
  CallInst* barrier_of(BasicBlock* block) const {
    auto* call = dyn_cast<CallInst>(&block->front());
    return call && barriers_.contains(call) ? call : nullptr;
  }

  bool check_calls() {
    if (barriers_.empty()) return refuse_for("what lanes do together is in a function that is not inlined");
    for (Instruction& i : instructions(body_)) {
      auto* call = dyn_cast<CallBase>(&i);
      if (call && sync_of(i) == Sync::none && call->isConvergent() && !call->isInlineAsm())
        return refuse_for(call->getCalledFunction() && is_collective(call->getCalledFunction()->getName())
                              ? "it calls a warp operation that is not split"
                              : "a barrier is in a function that is not inlined");
      if (of_warp(sync_of(i))) {
        // All lanes that are still there reach it together, so a mask names all of them, or a part that does the same
        // beside others (tiles): only a reduction depends on which.
        if (sync_of(i) == Sync::reduce && !all_lanes(call))
          return refuse_for("a warp reduction is for some lanes only");
        if (sync_of(i) == Sync::shuffle && !isa<ConstantInt>(call->getArgOperand(1)))
          return refuse_for("a shuffle's kind is not constant");
        if (sync_of(i) == Sync::reduce && !isa<ConstantInt>(call->getArgOperand(1)))
          return refuse_for("a warp reduction's kind is not constant");
      }
      if (auto* a = dyn_cast<AllocaInst>(&i); a && !a->isStaticAlloca())
        return refuse_for("a private variable has no constant size");
      if (isa<InvokeInst>(i) || isa<IndirectBrInst>(i) || isa<CallBrInst>(i)) return refuse_for("unusual control flow");
    }
    return true;
  }
  bool refuse_for(const char* why) {
    why_ = why;
    return false;
  }

  static bool all_lanes(const CallBase* call) {
    auto* mask = dyn_cast<ConstantInt>(call->getArgOperand(0));
    return mask && mask->isMinusOne();
  }

  void find_regions() {
    regions_.push_back(make_region(&body_.getEntryBlock(), nullptr));
    for (CallInst* barrier : barriers_)
      regions_.push_back(make_region(barrier->getParent()->getSingleSuccessor(), barrier));
  }
  Region make_region(BasicBlock* entry, CallInst* barrier) {
    Region r;
    r.entry = entry;
    r.barrier = barrier;
    SmallVector<BasicBlock*, 16> stack{entry};
    while (!stack.empty()) {
      BasicBlock* block = stack.pop_back_val();
      if (CallInst* next = barrier_of(block)) {
        r.next.insert(next);
        continue;
      }
      if (!r.blocks.insert(block)) continue;
      if (isa<ReturnInst>(block->getTerminator())) r.returns = true;
      // In the order of a walk in depth, so that definitions mostly come before uses.
      SmallVector<BasicBlock*, 4> after(successors(block));
      stack.append(after.rbegin(), after.rend());
    }
    return r;
  }
  const Region& region_of(CallInst* barrier) const {
    for (const Region& r : regions_)
      if (r.barrier == barrier) return r;
    return regions_[0];
  }

  // Where a region can end at several barriers, a uniform branch must decide. Some threads may return and the others
  // go on: they are noted as gone.
  bool check_exits() {
    unsigned cloned = 0;
    for (const Region& r : regions_) {
      for (BasicBlock* block : r.blocks) cloned += block->size();
      if (r.next.size() + r.returns < 2) continue;
      // The ends that each block leads to: barriers, and null for return.
      DenseMap<BasicBlock*, SmallPtrSet<void*, 4>> ends;
      for (bool changed = true; changed;) {
        changed = false;
        for (BasicBlock* block : reverse(r.blocks)) {
          SmallPtrSet<void*, 4>& mine = ends[block];
          const std::size_t before = mine.size();
          if (isa<ReturnInst>(block->getTerminator())) mine.insert(nullptr);
          for (BasicBlock* next : successors(block)) {
            if (CallInst* barrier = barrier_of(next)) {
              mine.insert(barrier);
            } else {
              const SmallPtrSet<void*, 4> theirs = ends[next];
              ends[block].insert(theirs.begin(), theirs.end());
            }
          }
          changed |= ends[block].size() != before;
        }
      }
      for (BasicBlock* block : r.blocks) {
        Instruction* end = block->getTerminator();
        if (end->getNumSuccessors() < 2 || ends[block].size() < 2 || uniformity_->uniform(end)) continue;
        if (ends[block].size() == 2 && ends[block].contains(nullptr)) {
          leaves_early_ = true;
          continue;
        }
        return refuse_for("not all threads reach the same barrier");
      }
    }
    return cloned <= max_cloned || refuse_for("it has too many barriers");
  }

  // Blocks of the region that its entry reaches without passing `def`.
  SmallPtrSet<BasicBlock*, 16> reached_around(const Region& r, BasicBlock* def) const {
    SmallPtrSet<BasicBlock*, 16> seen;
    SmallVector<BasicBlock*, 16> stack{r.entry};
    while (!stack.empty()) {
      BasicBlock* block = stack.pop_back_val();
      if (block == def || !r.blocks.contains(block) || !seen.insert(block).second) continue;
      stack.append(succ_begin(block), succ_end(block));
    }
    return seen;
  }

  // The value is needed from before the region.
  bool crosses_into(const Region& r, Instruction& v) {
    BasicBlock* def = v.getParent();
    SmallVector<BasicBlock*, 8> uses;
    for (Use& use : v.uses()) {
      auto* user = cast<Instruction>(use.getUser());
      BasicBlock* at = user->getParent();
      // Where a shuffle reads is looked at when the next region begins, and so are masks.
      if (user == r.barrier && sync_of(*user) == Sync::shuffle && use.getOperandNo() >= 3) return true;
      if (user == r.barrier && of_warp(sync_of(*user)) && use.getOperandNo() == 0) return true;
      if (auto* phi = dyn_cast<PHINode>(user))
        at = phi->getIncomingBlock(use);
      else if (at == def && !barriers_.contains(dyn_cast<CallInst>(user)))
        continue;
      // A barrier's operand is evaluated at the end of the regions before it.
      if (barrier_of(at)) at = before_.lookup(at);
      if (at && at != def && r.blocks.contains(at)) uses.push_back(at);
    }
    if (uses.empty()) return false;
    if (!r.blocks.contains(def)) return true;
    const SmallPtrSet<BasicBlock*, 16> around = reached_around(r, def);
    return any_of(uses, [&](BasicBlock* b) { return around.contains(b); });
  }

  bool cheap(Value* v, unsigned& cost) {
    auto* i = dyn_cast<Instruction>(v);
    if (!i) return true;
    if (isa<AllocaInst>(i)) return true;
    if (isa<PHINode>(i) || ++cost > max_recomputed || i->mayReadOrWriteMemory() || i->mayHaveSideEffects() ||
        isa<CallBase>(i) || i->isTerminator() || isa<FreezeInst>(i))
      return false;
    // Divisions and the like cost more than a load.
    switch (i->getOpcode()) {
    case Instruction::SDiv:
    case Instruction::UDiv:
    case Instruction::SRem:
    case Instruction::URem:
    case Instruction::FDiv:
    case Instruction::FRem: return false;
    default: break;
    }
    return all_of(i->operands(), [&](Value* o) { return cheap(o, cost); });
  }

  void find_slots() {
    std::vector<std::pair<Value*, std::uint64_t>> arrays;
    for (Instruction& i : instructions(body_)) {
      if (auto* a = dyn_cast<AllocaInst>(&i)) {
        const std::uint64_t align = std::max<std::uint64_t>(a->getAlign().value(), 1);
        const std::uint64_t size = alignTo(*a->getAllocationSize(layout_), align);
        arrays.push_back({a, size});
        slots_[a] = {false, nullptr, nullptr, 0, size};
        continue;
      }
      if (i.getType()->isVoidTy() || barriers_.contains(dyn_cast<CallInst>(&i))) continue;
      if (none_of(regions_, [&](const Region& r) { return crosses_into(r, i); })) continue;
      unsigned cost = 0;
      if (cheap(&i, cost)) {
        recomputed_.insert(&i);
        continue;
      }
      Slot slot;
      slot.uniform = uniformity_->uniform(&i);
      slot.size = layout_.getTypeAllocSize(i.getType());
      if (!slot.uniform) arrays.push_back({&i, slot.size});
      slots_[&i] = slot;
    }
    for (CallInst* call : barriers_) {
      const Sync sync = sync_of(*call);
      if (!of_warp(sync) || sync == Sync::warp) continue;
      Reduction& red = reductions_[call];
      red.brought.size = red.given.size = sync == Sync::shuffle ? 8 : 4;
      for (Slot* slot : {&red.brought, &red.given}) {
        slot->offset = lane_bytes_;
        lane_bytes_ += slot->size;
      }
    }
    if (lane_bytes_) lane_bytes_ = alignTo(lane_bytes_, 64);  // whatever follows is aligned
    // Larger alignments first: a multiple of the number of threads keeps it.
    sort(arrays, [&](const auto& a, const auto& b) { return (a.second & -a.second) > (b.second & -b.second); });
    for (auto& [value, size] : arrays) {
      slots_[value].offset = lane_bytes_;
      lane_bytes_ += size;
    }
    if (leaves_early_) {
      here_ = {false, nullptr, nullptr, lane_bytes_, 1};
      lane_bytes_ += 1;
    }
    lane_bytes_ = alignTo(lane_bytes_, 64);
  }

  // ---- the new function

  void build() {
    LLVMContext& c = body_.getContext();
    SmallVector<Type*, 16> types(body_.getFunctionType()->params());
    types.push_back(PointerType::get(c, 0));
    types.append(3, Type::getInt32Ty(c));
    out_ = Function::Create(FunctionType::get(Type::getVoidTy(c), types, false), GlobalValue::InternalLinkage,
                            body_.getName() + ".split", body_.getParent());
    AttrBuilder attributes(c, body_.getAttributes().getFnAttrs());
    for (auto kind : {Attribute::Convergent, Attribute::NoInline, Attribute::Memory, Attribute::WillReturn})
      attributes.removeAttribute(kind);
    out_->addFnAttrs(attributes);
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      out_->getArg(i)->setName(body_.getArg(i)->getName());
      out_->addParamAttrs(i, AttrBuilder(c, body_.getAttributes().getParamAttrs(i)));
    }
    if (DISubprogram* sp = body_.getSubprogram()) {
      auto* type = DISubroutineType::get(c, DINode::FlagZero, 0, MDNode::get(c, {nullptr}));
      subprogram_ = DISubprogram::getDistinct(c, sp->getFile(), out_->getName(), out_->getName(), sp->getFile(),
                                              sp->getLine(), type, sp->getLine(), nullptr, 0, 0, DINode::FlagArtificial,
                                              DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized,
                                              sp->getUnit());
      out_->setSubprogram(subprogram_);
    }
    scratch_ = out_->getArg(body_.arg_size());
    IRBuilder<> b(BasicBlock::Create(c, "entry", out_));
    for (auto& [value, slot] : slots_)
      if (slot.uniform) {
        slot.now = b.CreateAlloca(value->getType(), nullptr, "uniform");
        slot.next = b.CreateAlloca(value->getType(), nullptr, "uniform.next");
      }
    next_ = b.CreateAlloca(b.getInt32Ty(), nullptr, "next");
    for (CallInst* barrier : barriers_)
      if (sync_of(*barrier) == Sync::barrier_reduce) {
        reductions_[barrier].sum = b.CreateAlloca(b.getInt32Ty(), nullptr, "reduction");
        reductions_[barrier].result = b.CreateAlloca(b.getInt32Ty(), nullptr, "reduced");
      }
    for (unsigned i = 0; i < 3; ++i) extent_[i] = out_->getArg(body_.arg_size() + 1 + i);
    threads_ = b.CreateZExt(b.CreateMul(extent_[0], b.CreateMul(extent_[1], extent_[2])), b.getInt64Ty(), "threads");
    if (leaves_early_) {
      left_ = b.CreateAlloca(b.getInt32Ty(), nullptr, "left");
      b.CreateStore(b.getInt32(0), left_);
      b.CreateMemSet(element(b, here_, b.getInt64(0)), b.getInt8(1), threads_, Align(1));
    }
    done_ = BasicBlock::Create(c, "done", out_);
    ReturnInst::Create(c, done_);
    for (Region& r : regions_) r.before = BasicBlock::Create(c, "region", out_, done_);
    b.CreateBr(regions_[0].before);
    for (Region& r : regions_) build_region(r);
  }

  std::uint32_t number_of(CallInst* barrier) const {
    for (std::uint32_t i = 0; i < regions_.size(); ++i)
      if (regions_[i].barrier == barrier) return i;
    return 0;
  }
  static constexpr std::uint32_t returned = ~0u;

  struct Loop {
    BasicBlock* header;
    PHINode* index;
  };
  Loop open(IRBuilder<>& b, const char* name) {
    BasicBlock* before = b.GetInsertBlock();
    BasicBlock* header = BasicBlock::Create(b.getContext(), name, out_, done_);
    b.CreateBr(header);
    b.SetInsertPoint(header);
    PHINode* index = b.CreatePHI(b.getInt32Ty(), 2, name);
    index->addIncoming(b.getInt32(0), before);
    return {header, index};
  }
  BranchInst* close(IRBuilder<>& b, const Loop& loop, Value* limit) {
    Value* next = b.CreateAdd(loop.index, b.getInt32(1), "", true, true);
    loop.index->addIncoming(next, b.GetInsertBlock());
    BasicBlock* after = BasicBlock::Create(b.getContext(), "after", out_, done_);
    BranchInst* back = b.CreateCondBr(b.CreateICmpULT(next, limit), loop.header, after);
    b.SetInsertPoint(after);
    return back;
  }
  void no_vectors(BranchInst* back) {
    LLVMContext& c = back->getContext();
    auto* off = MDNode::get(
        c, {MDString::get(c, "llvm.loop.vectorize.enable"), ConstantAsMetadata::get(ConstantInt::getFalse(c))});
    MDNode* id = MDNode::getDistinct(c, {nullptr, off, MDNode::get(c, {MDString::get(c, "llvm.loop.unroll.disable")})});
    id->replaceOperandWith(0, id);
    back->setMetadata(LLVMContext::MD_loop, id);
  }

  Value* element(IRBuilder<>& b, const Slot& slot, Value* thread) {
    Value* base = b.CreateMul(threads_, b.getInt64(slot.offset), "", true, true);
    Value* array = b.CreateInBoundsGEP(b.getInt8Ty(), scratch_, base);
    return b.CreateInBoundsGEP(ArrayType::get(b.getInt8Ty(), slot.size), array, thread);
  }

  // What a value was when the region began, for the current thread.
  Value* at_start(IRBuilder<>& outside, IRBuilder<>& b, Value* v, ValueToValueMapTy& map, Value* thread) {
    if (isa<Constant>(v) || isa<MetadataAsValue>(v)) return v;
    if (isa<Argument>(v)) return map.lookup(v);
    auto* i = cast<Instruction>(v);
    if (Value* known = start_values_.lookup(i)) return known;
    Value* result = nullptr;
    if (auto* call = dyn_cast<CallInst>(i); call && barriers_.contains(call)) {
      result = of_warp(sync_of(*call)) ? given_by_warp(outside, b, call, map, thread)
                                       : outside.CreateLoad(outside.getInt32Ty(), reductions_[call].result);
    } else if (auto found = slots_.find(i); found != slots_.end()) {
      const Slot& slot = found->second;
      if (slot.uniform)
        result = outside.CreateLoad(i->getType(), slot.now);
      else if (isa<AllocaInst>(i))
        result = element(b, slot, thread);
      else
        result = load(b, i->getType(), element(b, slot, thread));
    } else {
      Instruction* copy = i->clone();
      for (Use& o : copy->operands()) o.set(at_start(outside, b, o.get(), map, thread));
      copy->setDebugLoc({});
      b.Insert(copy);
      result = copy;
    }
    start_values_[i] = result;
    return result;
  }
  static Value* load(IRBuilder<>& b, Type* type, Value* address) {
    if (!type->isIntegerTy(1)) return b.CreateLoad(type, address);
    return b.CreateTrunc(b.CreateLoad(b.getInt8Ty(), address), type);
  }
  static void store(IRBuilder<>& b, Value* v, Value* address) {
    if (v->getType()->isIntegerTy(1)) v = b.CreateZExt(v, b.getInt8Ty());
    b.CreateStore(v, address);
  }

  void build_region(Region& r);
  void go(IRBuilder<>& b, Value* thread, MDNode* group);
  void reduce(IRBuilder<>& b, CallInst* barrier, Value* predicate);
  void bring(IRBuilder<>& b, CallInst* call, Value* v, Value* thread, MDNode* group);
  void complete_in_warps(IRBuilder<>& b, CallInst* call);
  Value* given_by_warp(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map, Value* thread);

  const Extended& extended_;
  Function& body_;
  const bool store_lane_;
  const DataLayout& layout_;
  Value* items_[item_count] = {};
  SetVector<CallInst*> barriers_;
  DenseMap<BasicBlock*, BasicBlock*> before_;  // of each barrier's block, the block that ends there
  std::vector<Region> regions_;
  const Uniformity* uniformity_ = nullptr;
  MapVector<Value*, Slot> slots_;
  SmallPtrSet<Instruction*, 32> recomputed_;
  std::uint64_t lane_bytes_ = 0;
  std::string why_;

  Function* out_ = nullptr;
  DISubprogram* subprogram_ = nullptr;
  Value* scratch_ = nullptr;
  Value* threads_ = nullptr;
  Value* extent_[3] = {};
  AllocaInst* next_ = nullptr;
  bool leaves_early_ = false;   // some threads return before others reach a barrier
  Slot here_;                   // then: which have not returned, a byte each
  AllocaInst* left_ = nullptr;  // and whether any has
  BasicBlock* done_ = nullptr;
  DenseMap<CallInst*, Reduction> reductions_;
  DenseMap<Instruction*, Value*> start_values_;
};

void Splitter::build_region(Region& r) {
  LLVMContext& c = body_.getContext();
  start_values_.clear();
  IRBuilder<> b(r.before);
  if (r.barrier && sync_of(*r.barrier) == Sync::barrier_reduce) {
    const Reduction& red = reductions_[r.barrier];
    b.CreateStore(b.CreateLoad(b.getInt32Ty(), red.sum), red.result);
  }
  if (r.barrier && of_warp(sync_of(*r.barrier))) complete_in_warps(b, r.barrier);
  for (CallInst* barrier : r.next)
    if (sync_of(*barrier) == Sync::barrier_reduce) {
      auto* op = dyn_cast<ConstantInt>(barrier->getArgOperand(0));
      b.CreateStore(b.getInt32(op && op->getZExtValue() == MR_BAR_AND), reductions_[barrier].sum);
    }
  SmallVector<std::pair<Instruction*, Slot*>, 16> defined;
  for (auto& [value, slot] : slots_) {
    auto* i = cast<Instruction>(value);
    if (isa<AllocaInst>(i) || !r.blocks.contains(i->getParent())) continue;
    defined.push_back({i, &slot});
    if (slot.uniform) b.CreateStore(b.CreateLoad(i->getType(), slot.now), slot.next);
  }

  const bool several = r.next.size() + r.returns > 1;
  if (several && leaves_early_) b.CreateStore(b.getInt32(returned), next_);
  Value* all_here = leaves_early_ && r.barrier ? b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), left_), b.getInt32(0))
                                               : nullptr;

  // The loops over threads.
  const bool rows_differ = store_lane_ || items_[tid_y] || items_[tid_z];
  Value* rows = rows_differ ? extent_[1] : b.CreateNUWMul(extent_[1], extent_[2]);
  Loop z{};
  if (rows_differ) z = open(b, "thread.z");
  Loop y = open(b, "thread.y");
  Value* row = rows_differ ? b.CreateAdd(y.index, b.CreateMul(z.index, extent_[1])) : static_cast<Value*>(y.index);
  Value* first = b.CreateZExt(b.CreateNUWMul(row, extent_[0]), b.getInt64Ty());
  Loop x = open(b, "thread.x");
  Value* thread = b.CreateAdd(first, b.CreateZExt(x.index, b.getInt64Ty()), "thread", true, true);
  IRBuilder<> outside(r.before->getTerminator());
  BasicBlock* latch = BasicBlock::Create(c, "latch", out_, done_);
  MDNode* group = MDNode::getDistinct(c, {});
  if (all_here) {
    LoadInst* is_here = b.CreateLoad(b.getInt8Ty(), element(b, here_, thread));
    if (!store_lane_) is_here->setMetadata(LLVMContext::MD_access_group, group);
    BasicBlock* go_on = BasicBlock::Create(c, "here", out_, latch);
    b.CreateCondBr(b.CreateOr(all_here, b.CreateICmpNE(is_here, b.getInt8(0))), go_on, latch);
    b.SetInsertPoint(go_on);
  }
  BasicBlock* start = b.GetInsertBlock();

  ValueToValueMapTy map;
  for (unsigned i = 0; i < body_.arg_size(); ++i) map[body_.getArg(i)] = out_->getArg(i);
  Value* tid[3] = {x.index, y.index, rows_differ ? static_cast<Value*>(z.index) : b.getInt32(0)};
  for (unsigned i = 0; i < 3; ++i)
    if (items_[tid_x + i]) map[items_[tid_x + i]] = tid[i];
  if (store_lane_) store_thread_items(b, lane_pointer(b), tid, {extent_[0], extent_[1]});

  // The blocks.
  SmallVector<BasicBlock*, 16> clones;
  for (BasicBlock* block : r.blocks) {
    BasicBlock* clone = CloneBasicBlock(block, map, "", out_);
    clone->moveBefore(latch);
    map[block] = clone;
    clones.push_back(clone);
  }
  SmallVector<Instruction*, 16> merged;
  for (Instruction& i : instructions(body_)) {
    if (i.getType()->isVoidTy()) continue;
    const bool inside = r.blocks.contains(i.getParent());
    if (isa<AllocaInst>(i)) {
      const bool used = any_of(i.users(), [&](User* u) {
        return r.blocks.contains(cast<Instruction>(u)->getParent()) || recomputed_.contains(cast<Instruction>(u));
      });
      auto* clone = inside ? cast<Instruction>(&*map[&i]) : nullptr;
      if (used || inside) map[&i] = at_start(outside, b, &i, map, thread);
      if (clone) {
        clone->replaceAllUsesWith(map[&i]);
        clone->eraseFromParent();
      }
      continue;
    }
    if (!crosses_into(r, i)) continue;
    Value* before = at_start(outside, b, &i, map, thread);
    if (inside)
      merged.push_back(&i);
    else
      map[&i] = before;
  }
  const auto leave = [&](IRBuilder<>& at, std::uint32_t next) {
    if (several) at.CreateStore(at.getInt32(next), next_);
    at.CreateBr(latch);
  };
  for (CallInst* barrier : r.next) {
    BasicBlock* exit = BasicBlock::Create(c, "exit", out_, latch);
    map[barrier->getParent()] = exit;
    IRBuilder<> at(exit);
    const auto operand = [&](unsigned n) {
      Value* p = barrier->getArgOperand(n);
      return isa<Constant>(p) ? p : static_cast<Value*>(map.lookup(p));
    };
    switch (sync_of(*barrier)) {
    case Sync::barrier_reduce: reduce(at, barrier, operand(1)); break;
    case Sync::shuffle:
    case Sync::reduce: bring(at, barrier, operand(2), thread, group); break;
    case Sync::ballot:
      bring(at, barrier, at.CreateZExt(at.CreateICmpNE(operand(1), at.getInt32(0)), at.getInt32Ty()), thread, group);
      break;
    default: break;
    }
    leave(at, number_of(barrier));
  }
  DenseMap<const MDNode*, MDNode*> cache;
  DILocation* here = subprogram_ ? DILocation::get(c, subprogram_->getLine(), 0, subprogram_) : nullptr;
  for (BasicBlock* clone : clones)
    for (Instruction& i : make_early_inc_range(*clone)) {
      i.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(i) || i.isLifetimeStartOrEnd()) {
        i.eraseFromParent();
        continue;
      }
      if (auto* phi = dyn_cast<PHINode>(&i))
        for (unsigned k = phi->getNumIncomingValues(); k-- > 0;)
          if (!r.blocks.contains(phi->getIncomingBlock(k))) phi->removeIncomingValue(k, /*DeletePHIIfEmpty=*/false);
      RemapInstruction(&i, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      if (i.getDebugLoc())
        i.setDebugLoc(here ? DebugLoc::appendInlinedAt(i.getDebugLoc(), here, c, cache) : DebugLoc());
      if (i.mayReadOrWriteMemory() && !store_lane_) i.setMetadata(LLVMContext::MD_access_group, group);
      if (isa<ReturnInst>(i)) {
        IRBuilder<> at(&i);
        if (leaves_early_ && several) {
          go(at, thread, group);
          at.CreateBr(latch);
        } else {
          leave(at, returned);
        }
        i.eraseFromParent();
      }
    }
  for (auto [v, slot] : defined) {
    auto* clone = cast<Instruction>(&*map[v]);
    IRBuilder<> at(clone->getParent(),
                   isa<PHINode>(clone) ? clone->getParent()->getFirstInsertionPt() : std::next(clone->getIterator()));
    at.SetCurrentDebugLocation({});
    if (slot->uniform) {
      at.CreateStore(clone, slot->next);
    } else {
      store(at, clone, element(at, *slot, thread));
    }
  }
  b.CreateBr(cast<BasicBlock>(&*map[r.entry]));
  for (Instruction* v : merged) {
    auto* clone = cast<Instruction>(&*map[v]);
    SSAUpdater ssa;
    ssa.Initialize(clone->getType(), clone->getName());
    ssa.AddAvailableValue(start, start_values_[v]);
    ssa.AddAvailableValue(clone->getParent(), clone);
    SmallVector<Use*, 8> uses;
    for (Use& use : clone->uses()) {
      auto* user = cast<Instruction>(use.getUser());
      if (user->getParent() != clone->getParent() || isa<PHINode>(user)) uses.push_back(&use);
    }
    for (Use* use : uses) ssa.RewriteUse(*use);
  }

  // The loops' ends, and what follows.
  b.SetInsertPoint(latch);
  BranchInst* back = close(b, x, extent_[0]);
  mark_thread_loop(*back, store_lane_ ? nullptr : group);
  no_vectors(close(b, y, rows));
  if (rows_differ) no_vectors(close(b, z, extent_[2]));
  for (auto [v, slot] : defined)
    if (slot->uniform) b.CreateStore(b.CreateLoad(v->getType(), slot->next), slot->now);
  if (!several) {
    b.CreateBr(r.next.empty() ? done_ : regions_[number_of(r.next[0])].before);
    return;
  }
  SwitchInst* choose = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), next_), done_, r.next.size());
  for (CallInst* barrier : r.next) choose->addCase(b.getInt32(number_of(barrier)), regions_[number_of(barrier)].before);
}

// The thread returns, others may go on: it brings nothing to warp operations any more.
void Splitter::go(IRBuilder<>& b, Value* thread, MDNode* group) {
  SmallVector<StoreInst*, 4> stores = {b.CreateStore(b.getInt8(0), element(b, here_, thread))};
  for (CallInst* call : barriers_) {
    const Sync sync = sync_of(*call);
    if (!of_warp(sync) || sync == Sync::warp) continue;
    Value* nothing = sync == Sync::shuffle ? b.getInt64(0) : static_cast<Value*>(b.getInt32(0));
    if (sync == Sync::reduce) switch (cast<ConstantInt>(call->getArgOperand(1))->getZExtValue()) {
      case MR_RED_MIN_U:
      case MR_RED_AND: nothing = b.getInt32(~0u); break;
      case MR_RED_MIN_S: nothing = b.getInt32(0x7fffffffu); break;
      case MR_RED_MAX_S: nothing = b.getInt32(0x80000000u); break;
      default: break;
      }
    stores.push_back(b.CreateStore(nothing, element(b, reductions_[call].brought, thread)));
  }
  if (!store_lane_)
    for (StoreInst* store : stores) store->setMetadata(LLVMContext::MD_access_group, group);
  b.CreateStore(b.getInt32(1), left_);
}

// ---- warp operations

void Splitter::bring(IRBuilder<>& b, CallInst* call, Value* v, Value* thread, MDNode* group) {
  StoreInst* store = b.CreateStore(v, element(b, reductions_[call].brought, thread));
  if (!store_lane_) store->setMetadata(LLVMContext::MD_access_group, group);
}

// All threads have brought theirs: what they get, before the next region writes again.
void Splitter::complete_in_warps(IRBuilder<>& b, CallInst* call) {
  const Sync sync = sync_of(*call);
  if (sync == Sync::warp) return;
  const Reduction& red = reductions_[call];
  Value* from = element(b, red.brought, b.getInt64(0));
  Value* to = element(b, red.given, b.getInt64(0));
  if (sync == Sync::shuffle) {
    b.CreateMemCpy(to, Align(8), from, Align(8), b.CreateMul(threads_, b.getInt64(8)));
    return;
  }
  Module& module = *body_.getParent();
  Value* op = sync == Sync::ballot ? b.getInt32(~0u) : call->getArgOperand(1);
  FunctionCallee f = module.getOrInsertFunction(
      "__mr_reduce_warps",
      FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt32Ty()}, false));
  CallInst* done = b.CreateCall(f, {from, to, threads_, op});
  done->setDoesNotThrow();
  if (subprogram_) done->setDebugLoc(DILocation::get(b.getContext(), 0, 0, subprogram_));
}

// What the current thread gets; the shuffle's source as runtime/simt/warp.h (shuffle_source) has it.
Value* Splitter::given_by_warp(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map,
                               Value* thread) {
  const Reduction& red = reductions_[call];
  const auto operand = [&](unsigned n) { return at_start(outside, b, call->getArgOperand(n), map, thread); };
  if (sync_of(*call) != Sync::shuffle) {
    Value* given = b.CreateLoad(b.getInt32Ty(), element(b, red.given, b.CreateLShr(thread, 5)));
    return sync_of(*call) == Sync::ballot && !all_lanes(call) ? b.CreateAnd(given, operand(0)) : given;
  }
  const auto i32 = [&](std::uint32_t v) { return b.getInt32(v); };
  Value* lane = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), i32(31));
  Value* width = operand(4);
  Value* segment = b.CreateSelect(b.CreateICmpUGE(width, i32(32)), i32(0), b.CreateSub(i32(32), width));
  Value* inner = b.CreateAnd(i32(31), b.CreateNot(segment));
  Value* first = b.CreateAnd(lane, segment);
  Value* last = b.CreateOr(first, inner);
  Value* step = b.CreateAnd(operand(3), i32(31));
  Value* source = nullptr;
  Value* inside = b.getTrue();
  switch (cast<ConstantInt>(call->getArgOperand(1))->getZExtValue()) {
  case MR_SHFL_UP:
    source = b.CreateSub(lane, step);
    inside = b.CreateICmpSGE(source, first);
    break;
  case MR_SHFL_DOWN:
    source = b.CreateAdd(lane, step);
    inside = b.CreateICmpULE(source, last);
    break;
  case MR_SHFL_XOR:
    source = b.CreateXor(lane, step);
    inside = b.CreateICmpULE(source, last);
    break;
  default: source = b.CreateOr(first, b.CreateAnd(step, b.CreateNot(segment))); break;
  }
  source = b.CreateSelect(inside, source, lane);
  Value* at = b.CreateAdd(b.CreateAnd(thread, b.getInt64(~std::uint64_t{31})), b.CreateZExt(source, b.getInt64Ty()));
  // A lane that the block doesn't have gives 0.
  Value* there = b.CreateICmpULT(at, threads_);
  if (!all_lanes(call))  // nor does one that the mask doesn't name
    there = b.CreateAnd(there, b.CreateTrunc(b.CreateLShr(operand(0), source), b.getInt1Ty()));
  Value* v = b.CreateLoad(b.getInt64Ty(), element(b, red.given, b.CreateSelect(there, at, thread)));
  if (Value* out = call->getArgOperand(5); !isa<ConstantPointerNull>(out))
    b.CreateStore(b.CreateZExt(inside, b.getInt32Ty()), operand(5));
  return b.CreateSelect(there, v, b.getInt64(0));
}

void Splitter::reduce(IRBuilder<>& b, CallInst* barrier, Value* predicate) {
  AllocaInst* sum = reductions_[barrier].sum;
  Value* old = b.CreateLoad(b.getInt32Ty(), sum);
  Value* holds = b.CreateZExt(b.CreateICmpNE(predicate, ConstantInt::get(predicate->getType(), 0)), b.getInt32Ty());
  auto* op = dyn_cast<ConstantInt>(barrier->getArgOperand(0));
  const std::uint64_t kind = op ? op->getZExtValue() : MR_BAR_COUNT;
  b.CreateStore(kind == MR_BAR_COUNT ? b.CreateAdd(old, holds)
                : kind == MR_BAR_AND ? b.CreateAnd(old, holds)
                                     : b.CreateOr(old, holds),
                sum);
}

}  // namespace

Split split_at_barriers(const Extended& body, bool store_lane) { return Splitter(body, store_lane).run(); }

}  // namespace mrcc
