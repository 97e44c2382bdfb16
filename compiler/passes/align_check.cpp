#include "align_check.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#include "context.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

struct Access {
  Instruction* instruction;
  Value* pointer;
  std::uint64_t align;
};

// The address that decides: constant and variable offsets by multiples of the alignment don't.
Value* deciding_base(Value* pointer, std::uint64_t align, const DataLayout& layout) {
  for (;;) {
    auto* gep = dyn_cast<GEPOperator>(pointer);
    if (!gep) return pointer;
    const unsigned bits = layout.getIndexTypeSizeInBits(gep->getType());
    MapVector<Value*, APInt> variable;
    APInt constant(bits, 0);
    if (!gep->collectOffset(layout, bits, variable, constant)) return pointer;
    if (constant.urem(align) != 0) return pointer;
    for (auto& [index, scale] : variable) {
      const unsigned zeros = scale.countr_zero() + computeKnownBits(index, layout).countMinTrailingZeros();
      if (zeros < Log2_64(align)) return pointer;
    }
    pointer = gep->getPointerOperand();
  }
}

// Private and module variables are aligned by construction.
bool known(Value* base) {
  Value* object = getUnderlyingObject(base);
  return isa<AllocaInst>(object) || isa<GlobalValue>(object);
}

void collect(Function& f, SmallVectorImpl<Access>& out) {
  const DataLayout& layout = f.getParent()->getDataLayout();
  auto add = [&](Instruction& i, Value* pointer, Align claimed, std::uint64_t size) {
    std::uint64_t align = std::min<std::uint64_t>({claimed.value(), size, 16});
    align = align ? std::uint64_t{1} << Log2_64(align) : 1;
    if (align < 2) return;
    Value* base = deciding_base(pointer, align, layout);
    if (known(base) || getKnownAlignment(base, layout, &i).value() >= align) return;
    out.push_back({&i, base, align});
  };
  for (Instruction& i : instructions(f)) {
    if (auto* load = dyn_cast<LoadInst>(&i))
      add(i, load->getPointerOperand(), load->getAlign(), layout.getTypeStoreSize(load->getType()));
    else if (auto* store = dyn_cast<StoreInst>(&i))
      add(i, store->getPointerOperand(), store->getAlign(),
          layout.getTypeStoreSize(store->getValueOperand()->getType()));
    else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i))
      add(i, rmw->getPointerOperand(), rmw->getAlign(), layout.getTypeStoreSize(rmw->getType()));
    else if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&i))
      add(i, swap->getPointerOperand(), swap->getAlign(),
          layout.getTypeStoreSize(swap->getCompareOperand()->getType()));
    else if (auto* copy = dyn_cast<MemTransferInst>(&i); copy && isa<ConstantInt>(copy->getLength())) {
      add(i, copy->getRawDest(), copy->getDestAlign().valueOrOne(), 16);
      add(i, copy->getRawSource(), copy->getSourceAlign().valueOrOne(), 16);
    }
  }
}

// x86 has moves that do fault, as an illegal address, for 16 bytes and more.
void soften(Instruction* i) {
  const Align most(8);
  if (auto* load = dyn_cast<LoadInst>(i); load && !load->isAtomic())
    load->setAlignment(std::min(load->getAlign(), most));
  if (auto* store = dyn_cast<StoreInst>(i); store && !store->isAtomic())
    store->setAlignment(std::min(store->getAlign(), most));
  if (auto* copy = dyn_cast<MemTransferInst>(i)) {
    copy->setDestAlignment(std::min(copy->getDestAlign().valueOrOne(), most));
    copy->setSourceAlignment(std::min(copy->getSourceAlign().valueOrOne(), most));
  }
}

}  // namespace

namespace {

void collect_bits(IRBuilder<>& b, Value* sink, const Access& a) {
  Value* bits = b.CreateAnd(b.CreateTrunc(b.CreatePtrToInt(a.pointer, b.getInt64Ty()), b.getInt32Ty()),
                            b.getInt32(a.align - 1));
  b.CreateAlignedStore(b.CreateOr(b.CreateAlignedLoad(b.getInt32Ty(), sink, Align(4)), bits), sink, Align(4));
}

void check_function(Function& f) {
  SmallVector<Access, 32> accesses;
  collect(f, accesses);
  if (accesses.empty()) return;
  // The widest alignment asked of a base in a block serves all accesses by it there.
  DenseMap<std::pair<Value*, BasicBlock*>, unsigned> first;
  SmallVector<Access, 32> checks;
  for (const Access& a : accesses) {
    if (a.align > 8) soften(a.instruction);
    auto [it, inserted] = first.try_emplace({a.pointer, a.instruction->getParent()}, checks.size());
    if (inserted)
      checks.push_back(a);
    else
      checks[it->second].align = std::max(checks[it->second].align, a.align);
  }
  IRBuilder<> entry(&*f.getEntryBlock().getFirstInsertionPt());
  Value* always;
  Value* parameters = nullptr;
  Value* checking = nullptr;
  if (f.hasFnAttribute(kAlignAttr)) {
    always = f.getArg(f.arg_size() - 2);
    parameters = f.getArg(f.arg_size() - 1);
    checking = entry.CreateIsNotNull(parameters);
  } else {
    always = lane_misaligned_bits(entry, lane_pointer(entry));
  }
  MapVector<unsigned, std::uint64_t> parameter_align;
  for (const Access& a : checks) {
    IRBuilder<> b(a.instruction);
    auto* argument = dyn_cast<Argument>(a.pointer);
    if (!parameters || !argument) {
      collect_bits(b, always, a);
      continue;
    }
    std::uint64_t& align = parameter_align[argument->getArgNo()];
    align = std::max(align, a.align);
    IRBuilder<> then(SplitBlockAndInsertIfThen(checking, a.instruction, /*Unreachable=*/false));
    collect_bits(then, parameters, a);
  }
  if (!parameters) return;
  std::string text;
  for (auto [index, align] : parameter_align)
    text += (text.empty() ? "" : ",") + std::to_string(index) + ":" + std::to_string(align);
  f.addFnAttr(kAlignAttr, text);
}

}  // namespace

void insert_alignment_checks(Module& module) {
  for (Function& f : module) {
    if (f.isDeclaration() || f.hasFnAttribute(kEntryAttr)) continue;
    check_function(f);
    // What was inferred before the words were written.
    f.removeFnAttr(Attribute::Memory);
    if (!f.hasFnAttribute(kAlignAttr)) continue;
    for (Argument* a : {f.getArg(f.arg_size() - 2), f.getArg(f.arg_size() - 1)})
      for (auto kind : {Attribute::ReadNone, Attribute::ReadOnly, Attribute::WriteOnly}) a->removeAttr(kind);
  }
}

}  // namespace mrcc
