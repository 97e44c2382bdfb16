#include "check.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

struct Access {
  Instruction* before;
  Value* pointer;  // null: an event
  Value* bytes;
  std::uint32_t kind;
};

// Memory that no other thread, block or operation can reach, or that never changes.
bool private_object(const Value* object) {
  if (isa<AllocaInst>(object)) return true;
  // The block's own.
  if (const auto* a = dyn_cast<Argument>(object))
    return a->getParent()->getAttributes().hasParamAttr(a->getArgNo(), kSharedBaseAttr);
  if (const auto* global = dyn_cast<GlobalVariable>(object))
    return !global->hasAttribute(kVariableAttr) && (global->isConstant() || global->hasPrivateLinkage());
  // The lane's own record, by its stack pointer.
  if (const auto* cast = dyn_cast<IntToPtrInst>(object))
    if (const auto* either = dyn_cast<BinaryOperator>(cast->getOperand(0)))
      for (const Value* side : either->operands())
        if (const auto* masked = dyn_cast<BinaryOperator>(side))
          if (const auto* call = dyn_cast<CallInst>(masked->getOperand(0)); call && call->isInlineAsm()) return true;
  return false;
}
bool private_memory(const Value* pointer) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/12);
  return all_of(objects, private_object);
}

class Instrumenter {
 public:
  explicit Instrumenter(Module& module) : module_(module), context_(module.getContext()) {
    Type* pointer = PointerType::getUnqual(context_);
    Type* i32 = Type::getInt32Ty(context_);
    site_type_ = StructType::get(context_, {pointer, pointer, i32, i32});
    AttributeList attributes;
    attributes = attributes.addFnAttribute(context_, Attribute::NoUnwind);
    attributes = attributes.addFnAttribute(context_, Attribute::WillReturn);
    attributes = attributes.addFnAttribute(
        context_, Attribute::getWithMemoryEffects(context_, MemoryEffects::inaccessibleMemOnly()));
    check_ = module.getOrInsertFunction(
        "__mr_check_access",
        FunctionType::get(Type::getVoidTy(context_), {pointer, Type::getInt64Ty(context_), pointer}, false),
        attributes);
  }

  void run(Function& f) {
    SmallVector<Access, 32> accesses;
    guesses_.clear();
    for (Instruction& i : instructions(f))
      if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&i)) find_guesses(*swap);
    for (Instruction& i : instructions(f)) collect(i, accesses);
    for (const Access& a : accesses) {
      IRBuilder<> b(a.before);
      Value* address = a.pointer ? a.pointer : ConstantPointerNull::get(b.getPtrTy());
      Value* bytes = a.bytes ? b.CreateZExtOrTrunc(a.bytes, b.getInt64Ty()) : b.getInt64(0);
      b.CreateCall(check_, {address, bytes, site(f, *a.before, a.kind)});
    }
    if (accesses.empty() && f.hasFnAttribute(kKernelBodyAttr)) {
      // A kernel that touches nothing says that it would have told.
      Instruction& first = *f.getEntryBlock().getFirstInsertionPt();
      IRBuilder<> b(&first);
      b.CreateCall(check_, {ConstantPointerNull::get(b.getPtrTy()), b.getInt64(0), site(f, first, 0)});
    } else if (accesses.empty()) {
      return;
    }
    changed_ = true;
  }
  bool changed() const { return changed_; }

 private:
  void add(Instruction& i, Value* pointer, Value* bytes, std::uint32_t kind, SmallVectorImpl<Access>& out) {
    if (!private_memory(pointer)) out.push_back({&i, pointer, bytes, kind});
  }
  Value* size_of(Type* type) {
    return ConstantInt::get(Type::getInt64Ty(context_), module_.getDataLayout().getTypeStoreSize(type).getFixedValue());
  }
  // CUDA's own atomic functions (atomicAdd and the like) promise no order, whatever instruction they are made of.
  static bool relaxed_by_name(const Instruction& i) {
    const DILocation* at = i.getDebugLoc().get();
    const DISubprogram* function = at ? at->getScope()->getSubprogram() : nullptr;
    if (!function || !at->getFilename().ends_with("/millrace/device/atomics.h")) return false;
    return function->getName().starts_with("atomic") || function->getName().starts_with("__mr_atomic");
  }
  static std::uint32_t order(const Instruction& i, AtomicOrdering ordering) {
    return MR_CHECK_ATOMIC | (isStrongerThanMonotonic(ordering) && !relaxed_by_name(i) ? MR_CHECK_ORDERED : 0u);
  }

  // Plain loads of the word that a compare-and-swap compares it with, or of its parts: guesses, which it verifies.
  void find_guesses(AtomicCmpXchgInst& swap) {
    const DataLayout& layout = swap.getModule()->getDataLayout();
    const auto place = [&](Value* pointer) {
      APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
      const Value* const base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
      return std::pair(base, offset.getSExtValue());
    };
    const auto [word, from] = place(swap.getPointerOperand());
    const auto until = from + static_cast<std::int64_t>(layout.getTypeStoreSize(swap.getCompareOperand()->getType()));
    SmallVector<Value*, 8> open{swap.getCompareOperand()};
    SmallPtrSet<Value*, 16> known;
    while (!open.empty() && known.size() < 32) {
      Value* value = open.pop_back_val();
      if (!known.insert(value).second) continue;
      if (auto* load = dyn_cast<LoadInst>(value)) {
        const auto [base, at] = place(load->getPointerOperand());
        if (base == word && at >= from && at < until) guesses_.insert(load);
      } else if (auto* phi = dyn_cast<PHINode>(value)) {
        open.append(phi->incoming_values().begin(), phi->incoming_values().end());
      } else if (auto* choice = dyn_cast<SelectInst>(value)) {
        open.push_back(choice->getTrueValue());
        open.push_back(choice->getFalseValue());
      } else if (auto* cast = dyn_cast<CastInst>(value)) {
        open.push_back(cast->getOperand(0));
      } else if (auto* freeze = dyn_cast<FreezeInst>(value)) {
        open.push_back(freeze->getOperand(0));
      } else if (auto* parts = dyn_cast<BinaryOperator>(value);
                 parts && (parts->getOpcode() == Instruction::Or || parts->getOpcode() == Instruction::Shl)) {
        open.append(parts->op_begin(), parts->op_end());
      }
    }
  }

  void collect(Instruction& i, SmallVectorImpl<Access>& out) {
    if (auto* load = dyn_cast<LoadInst>(&i)) {
      std::uint32_t kind = MR_CHECK_READ | (load->isVolatile() ? MR_CHECK_VOLATILE : 0u);
      if (guesses_.contains(load)) kind |= MR_CHECK_ATOMIC;
      if (load->isAtomic()) kind |= order(i, load->getOrdering());
      add(i, load->getPointerOperand(), size_of(load->getType()), kind, out);
    } else if (auto* store = dyn_cast<StoreInst>(&i)) {
      std::uint32_t kind = MR_CHECK_WRITE | (store->isVolatile() ? MR_CHECK_VOLATILE : 0u);
      if (store->isAtomic()) kind |= order(i, store->getOrdering());
      add(i, store->getPointerOperand(), size_of(store->getValueOperand()->getType()), kind, out);
    } else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
      add(i, rmw->getPointerOperand(), size_of(rmw->getType()),
          MR_CHECK_READ | MR_CHECK_WRITE | order(i, rmw->getOrdering()), out);
    } else if (auto* swap = dyn_cast<AtomicCmpXchgInst>(&i)) {
      add(i, swap->getPointerOperand(), size_of(swap->getCompareOperand()->getType()),
          MR_CHECK_READ | MR_CHECK_WRITE | order(i, swap->getSuccessOrdering()), out);
    } else if (isa<FenceInst>(&i)) {
      out.push_back({i.getNextNode(), nullptr, nullptr, MR_CHECK_FENCE});
    } else if (auto* transfer = dyn_cast<MemTransferInst>(&i)) {
      add(i, transfer->getRawSource(), transfer->getLength(), MR_CHECK_READ, out);
      add(i, transfer->getRawDest(), transfer->getLength(), MR_CHECK_WRITE, out);
    } else if (auto* set = dyn_cast<MemSetInst>(&i)) {
      add(i, set->getRawDest(), set->getLength(), MR_CHECK_WRITE, out);
    } else if (auto* call = dyn_cast<CallInst>(&i)) {
      Function* callee = call->getCalledFunction();
      if (!callee) return;
      const StringRef name = callee->getName();
      if (name == "__mr_grid_sync") {
        out.push_back({i.getNextNode(), nullptr, nullptr, MR_CHECK_GRID_SYNC});
      } else if (name == "__mr_cluster_wait") {
        out.push_back({i.getNextNode(), nullptr, nullptr, MR_CHECK_CLUSTER_SYNC});
      } else if (name == "__mr_pdl_wait") {
        out.push_back({i.getNextNode(), nullptr, nullptr, MR_CHECK_PDL_WAIT});
      } else if (name == "__mr_texture_fetch" || name == "__mr_surface_access") {
        // What it touches the runtime says; this is the statement.
        out.push_back({&i, nullptr, nullptr, MR_CHECK_ELEMENT});
      } else if (name == "__mr_pdl_trigger") {
        out.push_back({&i, nullptr, nullptr, MR_CHECK_PDL_TRIGGER});
      }
    }
  }

  Constant* text(StringRef s) {
    Constant*& known = texts_[s];
    if (!known) {
      Constant* data = ConstantDataArray::getString(context_, s);
      auto* global = new GlobalVariable(module_, data->getType(), true, GlobalValue::PrivateLinkage, data, "mr.check");
      global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      known = global;
    }
    return known;
  }

  // Where the programmer wrote it: headers of the device language are looked through.
  Constant* site(Function& f, Instruction& i, std::uint32_t kind) {
    std::string file;
    unsigned line = 0;
    for (const DILocation* at = i.getDebugLoc().get(); at; at = at->getInlinedAt()) {
      SmallString<256> path(at->getFilename());
      if (!sys::path::is_absolute(path)) {
        path = at->getDirectory();
        sys::path::append(path, at->getFilename());
      }
      file = std::string(path);
      line = at->getLine();
      if (!path.str().contains("/include/millrace/")) break;
    }
    auto* i32 = Type::getInt32Ty(context_);
    Constant* fields[] = {text(file), text(f.getName()), ConstantInt::get(i32, line), ConstantInt::get(i32, kind)};
    return new GlobalVariable(module_, site_type_, true, GlobalValue::PrivateLinkage,
                              ConstantStruct::get(site_type_, fields), "mr.check.site");
  }

  Module& module_;
  LLVMContext& context_;
  StructType* site_type_;
  FunctionCallee check_;
  StringMap<Constant*> texts_;
  SmallPtrSet<const Instruction*, 8> guesses_;
  bool changed_ = false;
};

}  // namespace

void insert_access_checks(Module& module) {
  Instrumenter instrumenter(module);
  SmallVector<Function*, 32> functions;
  for (Function& f : module)
    if (!f.isDeclaration() && !f.hasFnAttribute(kEntryAttr)) functions.push_back(&f);
  for (Function* f : functions) instrumenter.run(*f);
  if (!instrumenter.changed()) return;
  // What was inferred before the calls were there.
  for (Function* f : functions) f->removeFnAttr(Attribute::Memory);
}

}  // namespace mrcc
