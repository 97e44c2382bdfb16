#include "thunks.h"

#include <array>
#include <cstddef>

#include <simt/abi.h>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

#include "annotations.h"
#include "block_groups.h"
#include "block_loops.h"
#include "body_call.h"
#include "names.h"
#include "options.h"
#include "sites.h"

namespace mrcc {
using namespace llvm;

namespace {

Function* new_entry(Function* body, FunctionType* type, const Twine& name, GlobalValue::LinkageTypes linkage) {
  Function* f = Function::Create(type, linkage, name, body->getParent());
  AttrBuilder attributes(body->getContext(), body->getAttributes().getFnAttrs());
  for (auto kind :
       {Attribute::Convergent, Attribute::AlwaysInline, Attribute::InlineHint, Attribute::OptimizeNone,
        Attribute::NoInline, Attribute::Memory, Attribute::WillReturn, Attribute::NoReturn, Attribute::NoRecurse})
    attributes.removeAttribute(kind);
  f->addFnAttrs(attributes);
  f->addFnAttr(Attribute::NoUnwind);
  f->addFnAttr(kEntryAttr);
  // Whatever the generic model of such processors prefers: kernels are long rows of independent elements.
  if (options().march == "x86-64-v4") f->addFnAttr("prefer-vector-width", "512");
  f->removeFnAttr(kAlignAttr);
  f->removeFnAttr(kStaticSharedAttr);
  f->removeFnAttr(kKernelBodyAttr);
  f->setDSOLocal(true);
  return f;
}

// An artificial subprogram, without which calls to a body with debug information may not be inlined.
void describe(Function* f, Function* body) {
  DISubprogram* of = body->getSubprogram();
  if (!of) return;
  auto* type = DISubroutineType::get(f->getContext(), DINode::FlagZero, 0, MDNode::get(f->getContext(), {nullptr}));
  auto* sp = DISubprogram::getDistinct(f->getContext(), of->getFile(), f->getName(), f->getName(), of->getFile(), 0,
                                       type, 0, nullptr, 0, 0, DINode::FlagArtificial,
                                       DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized, of->getUnit());
  f->setSubprogram(sp);
}

}  // namespace

namespace {

void clear_words(IRBuilder<>& b, ArrayRef<Value*> words) {
  for (Value* word : words) b.CreateAlignedStore(b.getInt32(0), word, Align(4));
}

// Reports what alignment checks collected in the words (align_check.h).
void report_misaligned(IRBuilder<>& b, ArrayRef<Value*> words) {
  Module& module = *b.GetInsertBlock()->getModule();
  Value* bits = nullptr;
  for (Value* word : words) {
    Value* loaded = b.CreateAlignedLoad(b.getInt32Ty(), word, Align(4));
    bits = bits ? b.CreateOr(bits, loaded) : loaded;
  }
  Function* f = b.GetInsertBlock()->getParent();
  BasicBlock* bad = BasicBlock::Create(b.getContext(), "misaligned", f);
  BasicBlock* good = BasicBlock::Create(b.getContext(), "aligned", f);
  MDNode* rare = MDBuilder(b.getContext()).createBranchWeights(1, 1u << 20);
  b.CreateCondBr(b.CreateICmpNE(bits, b.getInt32(0)), bad, good, rare);
  b.SetInsertPoint(bad);
  // The address itself isn't known any more: its low bits, and the alignment that the lowest of them violates.
  Value* low = b.CreateAnd(bits, b.CreateNeg(bits));
  FunctionCallee service = module.getOrInsertFunction(
      "__mr_misaligned", FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt32Ty()}, false));
  CallInst* call = b.CreateCall(
      service, {b.CreateIntToPtr(b.CreateZExt(bits, b.getInt64Ty()), b.getPtrTy()), b.CreateShl(low, 1)});
  call->setDoesNotThrow();
  clear_words(b, words);
  b.CreateBr(good);
  b.SetInsertPoint(good);
}

}  // namespace

Function* make_run_lane(Function* kernel, const KernelInfo& info, const Extended& body) {
  LLVMContext& c = kernel->getContext();
  auto* type = FunctionType::get(Type::getVoidTy(c), {PointerType::get(c, 0)}, false);
  Function* f = new_entry(body.body, type, "", GlobalValue::ExternalLinkage);
  f->takeName(kernel);
  // A breakpoint at the kernel's name means the body.
  if (has_sites(*kernel)) f->setName("lane." + f->getName());
  f->setVisibility(GlobalValue::HiddenVisibility);
  kernel->replaceAllUsesWith(f);
  kernel->eraseFromParent();
  describe(f, body.body);
  IRBuilder<> b(BasicBlock::Create(c, "entry", f));
  Value* lane = lane_pointer(b);
  Value* block = load_block_pointer(b, lane);
  Unpacker unpacker(info, body);
  unpacker.enter(b, f->getArg(0), /*buffer_serves=*/true);
  Value* items[item_count] = {};
  for (unsigned i = 0; i < item_count; ++i)
    if (body.items >> i & 1) items[i] = load_item(b, static_cast<Item>(i), lane, block);
  SmallVector<Value*, 3> words;
  if (items[misaligned_bits])
    words = {items[misaligned_bits], items[misaligned_parameters], lane_misaligned_bits(b, lane)};
  clear_words(b, words);
  CallInst* call = call_body(b, body, unpacker.arguments(b), items);
  call->addFnAttr(Attribute::NoInline);
  if (!words.empty()) report_misaligned(b, words);
  b.CreateRetVoid();
  return f;
}

namespace {

Value* field(IRBuilder<>& b, Value* block, std::size_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, offset);
}

}  // namespace

Function* declare_run_blocks(StringRef name, StringRef kernel_attribute, const Extended& body, bool store_lane) {
  LLVMContext& c = body.body->getContext();
  Type* i64 = Type::getInt64Ty(c);
  auto* type = FunctionType::get(Type::getVoidTy(c), {PointerType::get(c, 0), i64, i64}, false);
  const StringRef prefix = has_sites(*body.body) ? "blocks." : "";  // as in make_run_lane
  Function* f = new_entry(body.body, type, prefix + name + ".blocks", GlobalValue::ExternalLinkage);
  f->setVisibility(GlobalValue::HiddenVisibility);
  f->addFnAttr(kKernelAttr, kernel_attribute);
  f->addFnAttr(kBodyAttr, body.body->getName());
  f->addFnAttr(kItemsAttr, std::to_string(body.items));
  f->addFnAttr(kStoreLaneAttr, store_lane ? "1" : "0");
  return f;
}

namespace {

constexpr std::uint32_t short_row = 64;
constexpr unsigned most_of_version = 4000;  // instructions that are worth being there several times

bool calls_functions(Function* body) {
  for (Instruction& i : instructions(body))
    if (auto* call = dyn_cast<CallBase>(&i); call && !call->isInlineAsm())
      if (Function* callee = call->getCalledFunction(); !callee || !callee->isDeclaration()) return true;
  return false;
}

// At the entry: a misaligned pointer parameter sends the whole range to the version that checks each access.
void leave_if_misaligned(IRBuilder<>& b, const Extended& body, Unpacker& unpacker, Function* slow) {
  StringRef list = body.body->getFnAttribute(kAlignAttr).getValueAsString();
  Value* bits = nullptr;
  while (!list.empty()) {
    auto [item, rest] = list.split(',');
    list = rest;
    unsigned index = 0;
    std::uint64_t align = 1;
    item.split(':').first.getAsInteger(10, index);
    item.split(':').second.getAsInteger(10, align);
    if (index >= unpacker.size()) continue;
    Value* low = b.CreateAnd(b.CreatePtrToInt(unpacker.value(index), b.getInt64Ty()), b.getInt64(align - 1));
    bits = bits ? b.CreateOr(bits, low) : low;
  }
  if (!bits) return;
  Function* f = b.GetInsertBlock()->getParent();
  BasicBlock* leave = BasicBlock::Create(b.getContext(), "misaligned.parameter", f);
  BasicBlock* stay = BasicBlock::Create(b.getContext(), "parameters.aligned", f);
  b.CreateCondBr(b.CreateICmpNE(bits, b.getInt64(0)), leave, stay,
                 MDBuilder(b.getContext()).createBranchWeights(1, 1u << 20));
  b.SetInsertPoint(leave);
  CallInst* call = b.CreateCall(slow, {f->getArg(0), f->getArg(1), f->getArg(2)});
  if (DISubprogram* sp = f->getSubprogram()) call->setDebugLoc(DILocation::get(b.getContext(), 0, 0, sp));
  b.CreateRetVoid();
  b.SetInsertPoint(stay);
}

// Versions of a kernel's run_blocks: for any launch and for blocks of given extents; with every check on and the body
// called, not inlined, for ranges whose pointer parameters are misaligned.
struct Version {
  bool slow = false;
  Function* slow_version = nullptr;
  const std::array<std::uint32_t, 3>* extents = nullptr;
  BlockGroup group;   // that is run together where there are so many
  Split group_split;  // of a kernel that is split: what the group's blocks do
  ArrayRef<std::pair<const std::array<std::uint32_t, 3>*, Function*>> fixed;  // that it chooses from
};
CallInst* define(Function* f, const KernelInfo& info, const Extended& body, bool store_lane, const Split& split,
                 const Version& version);

// Decides which blocks of the version's extents run together.
void make_groups(Version& version, const Extended& body, const Split& split) {
  constexpr std::uint64_t most_scratch = 64 * 1024;
  std::uint32_t static_shared = 0;
  body.body->getFnAttribute(kStaticSharedAttr).getValueAsString().getAsInteger(10, static_shared);
  const BlockGroup group = block_group(body, *version.extents, static_shared);
  if (group.count < 2) return;
  if (split.blocks) {
    version.group_split = split_at_barriers(body, /*store_lane=*/false, group);
    if (!version.group_split.blocks) return;
    const auto& e = *version.extents;
    if (std::uint64_t{version.group_split.lane_bytes} * e[0] * e[1] * e[2] * group.count > most_scratch) {
      version.group_split.blocks->eraseFromParent();
      version.group_split = {};
      return;
    }
  }
  version.group = group;
}

Function* declare_version(Function* f, const Extended& body, const Twine& suffix) {
  Function* other = Function::Create(f->getFunctionType(), GlobalValue::InternalLinkage, f->getName() + suffix,
                                     f->getParent());
  other->copyAttributesFrom(f);
  describe(other, body.body);
  return other;
}

// At the entry: blocks whose extents have a version of their own are its.
void leave_for_fixed(IRBuilder<>& b, ArrayRef<Value*> items, const Version& version) {
  for (auto [extents, to] : version.fixed) {
    Function* f = b.GetInsertBlock()->getParent();
    Value* same = b.getTrue();
    for (unsigned i = 0; i < 3; ++i)
      same = b.CreateAnd(same, b.CreateICmpEQ(items[bdim_x + i], b.getInt32((*extents)[i])));
    BasicBlock* leave = BasicBlock::Create(b.getContext(), "fixed", f);
    BasicBlock* stay = BasicBlock::Create(b.getContext(), "other.extents", f);
    b.CreateCondBr(same, leave, stay);
    b.SetInsertPoint(leave);
    CallInst* call = b.CreateCall(to, {f->getArg(0), f->getArg(1), f->getArg(2)});
    call->addFnAttr(Attribute::NoInline);
    if (DISubprogram* sp = f->getSubprogram()) call->setDebugLoc(DILocation::get(b.getContext(), 0, 0, sp));
    b.CreateRetVoid();
    b.SetInsertPoint(stay);
  }
}

}  // namespace

Extended body_of(const Function& f) {
  if (!f.isDeclaration() || !f.hasFnAttribute(kBodyAttr)) return {nullptr, 0};
  Extended body{f.getParent()->getFunction(f.getFnAttribute(kBodyAttr).getValueAsString()), 0};
  f.getFnAttribute(kItemsAttr).getValueAsString().getAsInteger(10, body.items);
  return body;
}

bool has_private_parameters(const Function& f) {
  const KernelInfo info = kernel_info(f);
  const Extended body = body_of(f);
  for (auto [index, p] : enumerate(info.parameters)) {
    Argument* formal = body.body->getArg(index);
    if (formal->getType()->isPointerTy() && !p.pointer && !p.grid_constant && !only_read(formal)) return true;
  }
  return false;
}

SmallVector<CallInst*, 3> define_run_blocks(Function* f, const Split& split, bool versions) {
  if (!f->isDeclaration() || !f->hasFnAttribute(kBodyAttr)) return {};
  const KernelInfo info = kernel_info(*f);
  const Extended body = body_of(*f);
  const bool store_lane = f->getFnAttribute(kStoreLaneAttr).getValueAsString() == "1";
  for (StringRef attribute : {StringRef(kKernelAttr), StringRef(kBodyAttr), StringRef(kItemsAttr),
                              StringRef(kStoreLaneAttr), StringRef(kBlocksAttr)})
    f->removeFnAttr(attribute);
  f->setLinkage(GlobalValue::InternalLinkage);
  f->setVisibility(GlobalValue::DefaultVisibility);
  describe(f, body.body);
  SmallVector<CallInst*, 3> calls;
  Version general;
  if (body.items >> misaligned_bits & 1) {
    general.slow_version = declare_version(f, body, ".checked");
    general.slow_version->addFnAttr(Attribute::Cold);
    Version slow;
    slow.slow = true;
    define(general.slow_version, info, body, store_lane, split, slow)->addFnAttr(Attribute::NoInline);
    general.slow_version->addFnAttr(Attribute::OptimizeForSize);
  }
  SmallVector<std::pair<const std::array<std::uint32_t, 3>*, Function*>, 2> fixed;
  const Function* inlined = split.blocks ? split.blocks : body.body;
  if (versions && !store_lane && inlined->getInstructionCount() <= most_of_version)
    for (const auto& e : info.blocks) {
      // Long rows end in a rest or not, which is all that loops without barriers gain.
      if (!split.blocks && e[0] > short_row) continue;
      Version version = general;
      version.extents = &e;
      make_groups(version, body, split);
      fixed.push_back({&e, declare_version(f, body, ".fixed")});
      calls.push_back(define(fixed.back().second, info, body, store_lane, split, version));
    }
  general.fixed = fixed;
  CallInst* call = define(f, info, body, store_lane, split, general);
  // Blocks that no launch in sight has: what they run is there once, in few instructions.
  if (split.blocks && info.only_these_blocks && fixed.size() == info.blocks.size())
    call->addFnAttr(Attribute::NoInline);
  else
    calls.push_back(call);
  return calls;
}

namespace {

// Memory for values that live across barriers, as long as this entry runs. Not recognisable as private memory of the
// function (parallel_groups.cpp): each thread has elements of its own.
Value* scratch_memory(IRBuilder<>& b, ArrayRef<Value*> items, std::uint32_t lane_bytes) {
  Value* threads = b.CreateMul(items[bdim_x], b.CreateMul(items[bdim_y], items[bdim_z]));
  Value* bytes = b.CreateMul(b.CreateZExt(threads, b.getInt64Ty()), b.getInt64(lane_bytes));
  bytes = b.CreateAdd(bytes, b.getInt64(2 * scratch_margin));
  AllocaInst* memory = b.CreateAlloca(b.getInt8Ty(), bytes, "scratch");
  memory->setAlignment(Align(64));
  AllocaInst* hidden = b.CreateAlloca(b.getPtrTy());
  b.CreateStore(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), memory, scratch_margin), hidden);
  LoadInst* scratch = b.CreateLoad(b.getPtrTy(), hidden, /*isVolatile=*/true, "scratch");
  scratch->setMetadata(kScratchMark, MDNode::get(b.getContext(), {}));
  return scratch;
}

CallInst* define(Function* f, const KernelInfo& info, const Extended& body, bool store_lane, const Split& split,
                 const Version& version) {
  const bool slow = version.slow;
  LLVMContext& c = f->getContext();
  Type* i64 = Type::getInt64Ty(c);
  Type* i32 = Type::getInt32Ty(c);
  Argument* block = f->getArg(0);
  block->addAttr(Attribute::NoAlias);  // kernels have no pointer to it
  block->addAttr(Attribute::NoUndef);
  Value* first = f->getArg(1);
  Value* count = f->getArg(2);

  IRBuilder<> b(BasicBlock::Create(c, "entry", f));
  Value* items[item_count] = {};
  const bool checked = body.items >> misaligned_bits & 1;
  for (unsigned i = bdim_x; i <= block_pointer; ++i) items[i] = load_item(b, static_cast<Item>(i), nullptr, block);
  leave_for_fixed(b, items, version);
  if (version.extents)
    for (unsigned i = 0; i < 3; ++i) items[bdim_x + i] = b.getInt32((*version.extents)[i]);
  Value* args = b.CreateAlignedLoad(b.getPtrTy(), field(b, block, offsetof(MrBlock, args)), Align(8), "args");
  Unpacker unpacker(info, body);
  unpacker.enter(b, args, /*buffer_serves=*/false);
  Value* lane = nullptr;
  if (store_lane) {
    lane = lane_pointer(b);
    b.CreateAlignedStore(block, lane, Align(8));
    static_assert(offsetof(MrLane, block) == 0);
  }
  SmallVector<Value*, 3> words;
  if (checked) {
    Value* in_lane = lane_pointer(b);
    if (slow) {
      words = {load_item(b, misaligned_bits, in_lane, block), load_item(b, misaligned_parameters, in_lane, block)};
      items[misaligned_parameters] = words[1];
    } else {
      words = {b.CreateAlloca(i32, nullptr, "misaligned")};
      items[misaligned_parameters] = ConstantPointerNull::get(b.getPtrTy());
    }
    items[misaligned_bits] = words[0];
    if (slow || calls_functions(body.body)) words.push_back(lane_misaligned_bits(b, in_lane));
    clear_words(b, words);
    if (!slow) leave_if_misaligned(b, body, unpacker, version.slow_version);
  }
  Value* scratch = split.blocks
                       ? scratch_memory(
                             b, items, std::max(split.lane_bytes, version.group_split.lane_bytes * version.group.count))
                       : nullptr;
  BasicBlock* divide = BasicBlock::Create(c, "divide", f);
  BasicBlock* start = BasicBlock::Create(c, "start", f);
  BasicBlock* done = BasicBlock::Create(c, "done", f);
  BasicBlock* check = BasicBlock::Create(c, "check", f);
  b.CreateCondBr(b.CreateICmpEQ(count, ConstantInt::get(i64, 0)), done, check);
  // The first block's index; the common case of a range from the grid's start needs no division.
  b.SetInsertPoint(check);
  b.CreateCondBr(b.CreateICmpULT(first, b.CreateZExt(items[gdim_x], i64)), start, divide);
  b.SetInsertPoint(divide);
  Value* wide_x = b.CreateZExt(items[gdim_x], i64);
  Value* wide_y = b.CreateZExt(items[gdim_y], i64);
  Value* x0 = b.CreateTrunc(b.CreateURem(first, wide_x), i32);
  Value* rows = b.CreateUDiv(first, wide_x);
  Value* y0 = b.CreateTrunc(b.CreateURem(rows, wide_y), i32);
  Value* z0 = b.CreateTrunc(b.CreateUDiv(rows, wide_y), i32);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  auto merge = [&](Value* simple, Value* divided) {
    PHINode* p = b.CreatePHI(i32, 2);
    p->addIncoming(simple, check);
    p->addIncoming(divided, divide);
    return p;
  };
  IRBuilder<> in_check(check->getTerminator());
  Value* simple_x = in_check.CreateTrunc(first, i32);
  Value* begin[3] = {merge(simple_x, x0), merge(ConstantInt::get(i32, 0), y0), merge(ConstantInt::get(i32, 0), z0)};

  BasicBlock* blocks = BasicBlock::Create(c, "blocks", f);
  b.CreateBr(blocks);
  b.SetInsertPoint(blocks);
  PHINode* left = b.CreatePHI(i64, 2, "left");
  left->addIncoming(count, start);
  PHINode* index[3];
  for (unsigned i = 0; i < 3; ++i) {
    index[i] = b.CreatePHI(i32, 2, "block");
    index[i]->addIncoming(begin[i], start);
    items[block_x + i] = index[i];
  }
  // Volatile, because a fault report reads it at any time.
  for (unsigned i = 0; i < 3; ++i)
    b.CreateAlignedStore(index[i], field(b, block, offsetof(MrBlock, block_idx) + 4 * i), Align(4),
                         /*isVolatile=*/true);

  const bool in_groups = version.group.count > 1;
  Value* step = b.getInt32(1);  // blocks that are run
  if (in_groups) {
    Value* most = b.CreateTrunc(b.CreateBinaryIntrinsic(Intrinsic::umin, left, b.getInt64(version.group.count)), i32);
    step = b.CreateBinaryIntrinsic(Intrinsic::umin, most, b.CreateSub(items[gdim_x], index[0]));
    b.CreateAlignedStore(step, field(b, block, offsetof(MrBlock, together)), Align(4), /*isVolatile=*/true);
  }
  CallInst* call = run_block(b,
                             {body, store_lane, in_groups && split.blocks ? version.group_split : split, version.group,
                              start, lane, scratch, step},
                             unpacker, items);

  if (checked) report_misaligned(b, words);

  // The next block, x fastest.
  BasicBlock* latch = b.GetInsertBlock();
  Value* next_x = b.CreateAdd(index[0], step);
  Value* wrap_x = b.CreateICmpEQ(next_x, items[gdim_x]);
  Value* next_y = b.CreateAdd(index[1], b.CreateZExt(wrap_x, i32));
  Value* wrap_y = b.CreateICmpEQ(next_y, items[gdim_y]);
  index[0]->addIncoming(b.CreateSelect(wrap_x, ConstantInt::get(i32, 0), next_x), latch);
  index[1]->addIncoming(b.CreateSelect(wrap_y, ConstantInt::get(i32, 0), next_y), latch);
  index[2]->addIncoming(b.CreateAdd(index[2], b.CreateZExt(wrap_y, i32)), latch);
  Value* rest = b.CreateSub(left, b.CreateZExt(step, i64));
  left->addIncoming(rest, latch);
  keep_scalar(b.CreateCondBr(b.CreateICmpEQ(rest, ConstantInt::get(i64, 0)), done, blocks));
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return call;
}

}  // namespace

}  // namespace mrcc
