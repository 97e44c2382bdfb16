// Inside split mode (barrier_split.h): the class that does it. Which regions there are and what lives across them is
// decided in barrier_split.cpp, a region becomes loops in split_regions.cpp, warp operations in split_warps.cpp.
#pragma once
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

#include "barrier_split.h"
#include "block_groups.h"
#include "callgraph.h"
#include "uniformity.h"
#include "whole_blocks.h"

namespace mrcc::splitting {
using namespace llvm;
inline constexpr unsigned max_cloned = 30000;  // instructions
// Bytes of a thread: where threads part, each region begins and ends with all of it, and kernels that keep more than
// this (sorts and merges whose tiles lie in registers) took minutes to compile.
inline constexpr std::uint64_t most_of_parting = 512;
inline constexpr unsigned max_recomputed = 16;

enum class Sync { none, barrier, barrier_reduce, warp, shuffle, ballot, reduce, match, active };

// What threads do together by this call.
inline Sync sync_of(const Instruction& i) {
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
      .Case("__mr_match", Sync::match)
      .Case("__mr_activemask", Sync::active)
      .Default(Sync::none);
}
inline bool of_warp(Sync s) { return s >= Sync::warp; }
// A warp operation with a second result.
inline bool gives_by_pointer(const CallInst* call) {
  const Sync sync = sync_of(*call);
  const unsigned operand = sync == Sync::shuffle ? 5 : 3;
  return (sync == Sync::shuffle || sync == Sync::match) && !isa<ConstantPointerNull>(call->getArgOperand(operand));
}

struct Region {
  BasicBlock* entry = nullptr;
  CallInst* barrier = nullptr;    // that it begins after; null: the kernel's entry
  SetVector<BasicBlock*> blocks;  // without the barriers' own
  SetVector<CallInst*> next;      // barriers that end it
  bool returns = false;
  bool parts = false;                 // its threads may leave it by different barriers
  bool by_blocks = true;              // it is run for all threads of the block
  bool by_warps = false;              // it is run for single warps
  BasicBlock* before = nullptr;       // in the new function: where it starts
  BasicBlock* warp_before = nullptr;  // where it starts for a warp
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
  bool direct = false;    // a shuffle whose threads read what the others brought where it lies
  bool per_lane = false;  // each thread is given a result of its own (__mr_complete_block, __mr_next_of_warp)
};
// Shuffles by a step read that far before and behind their arrays.
static_assert(scratch_margin >= 31 * sizeof(std::uint64_t));

class Splitter {
 public:
  // `may_part`: threads may go to different barriers and warp operations.
  Splitter(const Extended& body, bool store_lane, const BlockGroup& group, bool may_part)
      : extended_(body), body_(*body.body), store_lane_(store_lane), may_part_(may_part), group_(group),
        layout_(body.body->getParent()->getDataLayout()) {}

  Split run() {
    for (unsigned i = 0; i < item_count; ++i) items_[i] = body_item(static_cast<Item>(i));
    isolate_barriers();
    if (!check_calls()) return refuse();
    find_regions();
    SmallVector<Value*, 5> sources = {items_[tid_x], items_[tid_y], items_[tid_z]};
    if (in_groups()) sources.append({items_[block_x], items_[shared_base]});
    Uniformity uniformity(body_, sources);
    uniformity_ = &uniformity;
    if (!check_exits()) return refuse();
    if (parts_ && !find_warp_regions()) return refuse();
    find_slots();
    if (parts_ && lane_bytes_ > most_of_parting) {
      refuse_for("its threads part, and too much lives across what they do together");
      return refuse();
    }
    build();
    Split split;
    split.blocks = out_;
    split.by_warps = parts_;
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

  bool in_groups() const { return group_.count > 1; }

  // Every barrier alone in a block of its own.
  void isolate_barriers();
  CallInst* barrier_of(BasicBlock* block) const {
    auto* call = dyn_cast<CallInst>(&block->front());
    return call && barriers_.contains(call) ? call : nullptr;
  }

  bool check_calls();
  bool refuse_for(const char* why) {
    why_ = why;
    return false;
  }

  static bool all_lanes(const CallBase* call) {
    auto* mask = call->arg_size() ? dyn_cast<ConstantInt>(call->getArgOperand(0)) : nullptr;
    return mask && mask->isMinusOne();
  }

  void find_regions() {
    regions_.push_back(make_region(&body_.getEntryBlock(), nullptr));
    for (CallInst* barrier : barriers_)
      regions_.push_back(make_region(barrier->getParent()->getSingleSuccessor(), barrier));
  }
  Region make_region(BasicBlock* entry, CallInst* barrier);
  const Region& region_of(CallInst* barrier) const {
    for (const Region& r : regions_)
      if (r.barrier == barrier) return r;
    return regions_[0];
  }

  // Where a region can end at several barriers, a uniform branch must decide. Some threads may return and the others
  // go on: they are noted as gone.
  bool check_exits();
  // Where threads part: which regions are run for blocks, and which for single warps.
  bool find_warp_regions();

  // Blocks of the region that its entry reaches without passing `def`.
  SmallPtrSet<BasicBlock*, 16> reached_around(const Region& r, BasicBlock* def) const;

  // The value is needed from before the region.
  bool crosses_into(const Region& r, Instruction& v);

  bool cheap(Value* v, unsigned& cost);

  void find_slots();

  // ---- the new function

  void build() {
    LLVMContext& c = body_.getContext();
    SmallVector<Type*, 16> types(body_.getFunctionType()->params());
    types.push_back(PointerType::get(c, 0));
    types.append(3, Type::getInt32Ty(c));
    if (in_groups()) types.push_back(Type::getInt32Ty(c));
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
        if (parts_) start_sum(b, barrier);
      }
    for (unsigned i = 0; i < 3; ++i) extent_[i] = out_->getArg(body_.arg_size() + 1 + i);
    Value* of_block = b.CreateMul(extent_[0], b.CreateMul(extent_[1], extent_[2]));
    threads_ = b.CreateZExt(b.CreateMul(of_block, b.getInt32(group_.count)), b.getInt64Ty(), "threads");
    if (leaves_early_) {
      left_ = b.CreateAlloca(b.getInt32Ty(), nullptr, "left");
      b.CreateStore(b.getInt32(0), left_);
      b.CreateMemSet(element(b, here_, b.getInt64(0)), b.getInt8(1), threads_, Align(1));
    }
    done_ = BasicBlock::Create(c, "done", out_);
    ReturnInst::Create(c, done_);
    for (Region& r : regions_) {
      if (r.by_blocks) r.before = BasicBlock::Create(c, "region", out_, done_);
      if (r.by_warps) r.warp_before = BasicBlock::Create(c, "warp.region", out_, done_);
    }
    if (parts_) begin_phase(b);
    b.CreateBr(regions_[0].before);
    for (const bool by_warps : {false, true})
      for (Region& r : regions_)
        if (by_warps ? r.by_warps : r.by_blocks) build_region(r, by_warps);
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
  Loop open(IRBuilder<>& b, const char* name, Value* from = nullptr) {
    BasicBlock* before = b.GetInsertBlock();
    BasicBlock* header = BasicBlock::Create(b.getContext(), name, out_, done_);
    b.CreateBr(header);
    b.SetInsertPoint(header);
    PHINode* index = b.CreatePHI(b.getInt32Ty(), 2, name);
    index->addIncoming(from ? from : b.getInt32(0), before);
    return {header, index};
  }
  BranchInst* close(IRBuilder<>& b, const Loop& loop, Value* limit, Value* step = nullptr) {
    Value* next = b.CreateAdd(loop.index, step ? step : b.getInt32(1), "", true, true);
    loop.index->addIncoming(next, b.GetInsertBlock());
    BasicBlock* after = BasicBlock::Create(b.getContext(), "after", out_, done_);
    BranchInst* back = b.CreateCondBr(b.CreateICmpULT(next, limit), loop.header, after);
    b.SetInsertPoint(after);
    return back;
  }
  void no_vectors(BranchInst* back, bool rows = true) {
    LLVMContext& c = back->getContext();
    auto* off = MDNode::get(
        c, {MDString::get(c, "llvm.loop.vectorize.enable"), ConstantAsMetadata::get(ConstantInt::getFalse(c))});
    MDNode* id = MDNode::getDistinct(c, {nullptr, off, MDNode::get(c, {MDString::get(c, "llvm.loop.unroll.disable")})});
    id->replaceOperandWith(0, id);
    back->setMetadata(LLVMContext::MD_loop, id);
    if (rows) mark_row_loop(*back);
  }

  Value* element(IRBuilder<>& b, const Slot& slot, Value* thread) {
    Value* base = b.CreateMul(threads_, b.getInt64(slot.offset), "", true, true);
    Value* array = b.CreateInBoundsGEP(b.getInt8Ty(), scratch_, base);
    return b.CreateInBoundsGEP(ArrayType::get(b.getInt8Ty(), slot.size), array, thread);
  }

  // An access of the current thread's own, or to what other threads have brought before.
  template <class Access> Access* independent(Access* access) const {
    if (!store_lane_) access->setMetadata(LLVMContext::MD_access_group, access_group_);
    return access;
  }

  // What a value was when the region began, for the current thread.
  Value* at_start(IRBuilder<>& outside, IRBuilder<>& b, Value* v, ValueToValueMapTy& map, Value* thread) {
    if (isa<Constant>(v) || isa<MetadataAsValue>(v)) return v;
    if (isa<Argument>(v)) return map.lookup(v);
    auto* i = cast<Instruction>(v);
    if (Value* known = start_values_.lookup(i)) return known;
    Value* result = nullptr;
    auto* call = dyn_cast<CallInst>(i);
    if (call && barriers_.contains(call) && (call == current_ || !slots_.contains(i))) {
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
  Value* load(IRBuilder<>& b, Type* type, Value* address) const {
    if (!type->isIntegerTy(1)) return independent(b.CreateLoad(type, address));
    return b.CreateTrunc(independent(b.CreateLoad(b.getInt8Ty(), address)), type);
  }
  void store(IRBuilder<>& b, Value* v, Value* address) const {
    if (v->getType()->isIntegerTy(1)) v = b.CreateZExt(v, b.getInt8Ty());
    independent(b.CreateStore(v, address));
  }

  // The loops over the threads of the block, or of the warp that runs.
  struct Threads {
    Loop x{}, y{}, z{}, block{};
    Value* end[3] = {};       // of the loops
    Value* step = nullptr;    // of y, if it isn't 1
    Value* thread = nullptr;  // the linear index
    Value* tid[3] = {};
    Value* all = nullptr;   // all threads are here, or
    Value* here = nullptr;  // this one is
  };
  Threads open_block(IRBuilder<>& b, const Region& r, ValueToValueMapTy& map);
  Threads open_warp(IRBuilder<>& b);
  void close_threads(IRBuilder<>& b, const Threads& t, bool by_warps);
  bool rows_differ() const { return store_lane_ || items_[tid_y] || items_[tid_z]; }

  void build_region(Region& r, bool by_warps);
  void be_block(IRBuilder<>& b, Value* index, ValueToValueMapTy& map);
  void start_sum(IRBuilder<>& b, CallInst* barrier);
  // Warps that run by themselves (split_phases.cpp).
  void begin_phase(IRBuilder<>& entry);
  void go_on_by_warps(IRBuilder<>& b, const Region& r);
  Constant* split_table();
  void waits_at(IRBuilder<>& b, std::uint32_t number, Value* thread);
  void bring_mask(IRBuilder<>& b, CallInst* call, Value* mask, Value* thread);
  void go(IRBuilder<>& b, Value* thread);
  void reduce(IRBuilder<>& b, CallInst* barrier, Value* predicate);
  void bring(IRBuilder<>& b, CallInst* call, Value* v, Value* thread);
  void complete_in_warps(IRBuilder<>& b, CallInst* call, bool by_warps);
  bool may_read_directly(CallInst* shuffle);
  Value* shuffled(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map, Value* thread);
  Value* given_by_warp(IRBuilder<>& outside, IRBuilder<>& b, CallInst* call, ValueToValueMapTy& map, Value* thread);

  const Extended& extended_;
  Function& body_;
  const bool store_lane_, may_part_;
  const BlockGroup& group_;
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
  // Where threads part (split_phases.cpp).
  bool parts_ = false;
  Slot at_;     // which region each thread begins next, two bytes
  Slot masks_;  // and, of warp operations, its mask, then the lanes that meet in it
  bool keeps_masks_ = false;
  Constant* split_table_ = nullptr;
  BasicBlock* phase_ = nullptr;   // all warps begin
  BasicBlock* resume_ = nullptr;  // the warp chooses what it runs
  BasicBlock* next_warp_ = nullptr;
  PHINode* warp_first_ = nullptr;     // the warp's first thread
  AllocaInst* active_ = nullptr;      // lanes that run
  AllocaInst* everything_ = nullptr;  // they are all of the warp that have not returned
  Value* active_now_ = nullptr;       // in the region that is being built for a warp
  Value* everything_now_ = nullptr;
  CallInst* current_ = nullptr;     // that the region which is being built begins after
  MDNode* access_group_ = nullptr;  // of the loop that is being built: its accesses that are independent of each other
  DenseMap<CallInst*, Reduction> reductions_;
  DenseMap<Instruction*, Value*> start_values_;
};

}  // namespace mrcc::splitting
