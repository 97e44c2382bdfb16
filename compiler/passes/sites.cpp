#include "sites.h"

#include <simt/abi.h>

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"

#include "context.h"
#include "debug_variables.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

bool may_fault_or_wait(const Instruction& i) {
  const Value* pointer = nullptr;
  if (const auto* load = dyn_cast<LoadInst>(&i))
    pointer = load->getPointerOperand();
  else if (const auto* store = dyn_cast<StoreInst>(&i))
    pointer = store->getPointerOperand();
  else if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || isa<MemIntrinsic>(i))
    return true;
  else if (const auto* call = dyn_cast<CallInst>(&i))
    return (!isa<IntrinsicInst>(call) || call->getIntrinsicID() == Intrinsic::trap) && !is_debugger_mark(i);
  return pointer && !isa<AllocaInst>(getUnderlyingObject(pointer));
}

class Noter {
 public:
  explicit Noter(Module& module)
      : module_(module), context_(module.getContext()),
        type_(StructType::get(PointerType::get(context_, 0), Type::getInt32Ty(context_), Type::getInt32Ty(context_))) {}

  void run(Function& f) {
    for (BasicBlock& block : f) {
      const Constant* last = nullptr;
      for (Instruction& i : make_early_inc_range(block)) {
        if (!may_fault_or_wait(i)) continue;
        Constant* now = site(i);
        if (now && now != last) note(i, now);
        if (now) last = now;
        if (isa<CallInst>(i)) last = nullptr;  // what was called has been elsewhere
      }
    }
  }

 private:
  void note(Instruction& before, Constant* where) {
    IRBuilder<> b(&before);
    Value* address = b.CreateXor(b.CreatePtrToInt(lane_pointer(b), b.getInt64Ty()), b.getInt64(MR_SITE_DISTANCE));
    // Volatile, because a fault report reads it at any time.
    b.CreateAlignedStore(where, b.CreateIntToPtr(address, b.getPtrTy()), Align(8), /*isVolatile=*/true);
  }

  Constant* text(StringRef s) {
    Constant*& known = texts_[s];
    if (!known) {
      Constant* data = ConstantDataArray::getString(context_, s);
      auto* global = new GlobalVariable(module_, data->getType(), true, GlobalValue::PrivateLinkage, data, "mr.site");
      global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
      known = global;
    }
    return known;
  }

  // Null in functions of headers that were not inlined: their caller's place stands.
  Constant* site(const Instruction& i) {
    for (const DILocation* at = i.getDebugLoc().get(); at; at = at->getInlinedAt()) {
      SmallString<256> path(at->getFilename());
      if (!sys::path::is_absolute(path)) {
        path = at->getDirectory();
        sys::path::append(path, at->getFilename());
      }
      if (at->getLine() == 0 || path.str().contains("/include/millrace/") || path.starts_with("/usr/")) continue;
      sys::path::remove_dots(path, /*remove_dot_dot=*/false);
      GlobalVariable*& known = sites_[(path + ":" + Twine(at->getLine())).str()];
      if (!known) {
        auto* i32 = Type::getInt32Ty(context_);
        Constant* fields[] = {text(path), ConstantInt::get(i32, at->getLine()), ConstantInt::get(i32, at->getColumn())};
        known = new GlobalVariable(module_, type_, true, GlobalValue::PrivateLinkage,
                                   ConstantStruct::get(type_, fields), "mr.site");
      }
      return known;
    }
    return nullptr;
  }

  Module& module_;
  LLVMContext& context_;
  StructType* type_;
  StringMap<Constant*> texts_;
  StringMap<GlobalVariable*> sites_;  // one a line, so that two columns are one place
};

}  // namespace

void mark_for_sites(Module& module) {
  for (Function& f : module)
    if (!f.isDeclaration()) f.addFnAttr(kSitesAttr);
}

bool has_sites(const Function& f) { return f.hasFnAttribute(kSitesAttr); }

void insert_sites(Module& module) {
  Noter noter(module);
  for (Function& f : module) {
    if (f.isDeclaration() || !has_sites(f)) continue;
    noter.run(f);
    f.removeFnAttr(Attribute::Memory);
  }
}

}  // namespace mrcc
