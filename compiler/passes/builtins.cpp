#include "builtins.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MD5.h"

#include "context.h"
#include "debug_variables.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

// Calls make(builder at the entry of F) for each function that uses `gv` and replaces the uses there. Uses in
// initialisers stay.
template <typename Make> void replace_per_function(GlobalVariable* gv, Make&& make) {
  convertUsersOfConstantsToInstructions({gv});
  DenseMap<Function*, Value*> values;
  for (Use& use : make_early_inc_range(gv->uses())) {
    auto* instruction = dyn_cast<Instruction>(use.getUser());
    if (!instruction) continue;
    Function* f = instruction->getFunction();
    Value*& value = values[f];
    if (!value) {
      IRBuilder<> b(&*f->getEntryBlock().getFirstInsertionPt());
      value = make(b);
    }
    use.set(value);
  }
  if (gv->use_empty()) gv->eraseFromParent();
}

// Names must stay apart when bitcode of several units is linked: internal names get a suffix of their unit.
std::string shared_accessor_name(const GlobalVariable& gv) {
  std::string name = (kSharedPrefix + gv.getName()).str();
  if (gv.hasLocalLinkage()) name += "." + utohexstr(MD5Hash(gv.getParent()->getSourceFileName()));
  return name;
}

}  // namespace

void lower_index_variables(Module& module) {
  const std::pair<StringRef, Item> variables[] = {
      {"threadIdx", tid_x}, {"blockIdx", block_x}, {"blockDim", bdim_x}, {"gridDim", gdim_x}};
  for (auto [name, first] : variables) {
    GlobalVariable* gv = module.getGlobalVariable(name);
    if (!gv) continue;
    // A copy in each function, which also serves references and copies of the whole; it dissolves into plain values.
    replace_per_function(gv, [&](IRBuilder<>& b) {
      auto* type = ArrayType::get(b.getInt32Ty(), 3);
      AllocaInst* copy = b.CreateAlloca(type, nullptr, name);
      copy->setAlignment(Align(4));
      for (unsigned i = 0; i < 3; ++i)
        b.CreateAlignedStore(placeholder(b, module, static_cast<Item>(first + i)),
                             b.CreateConstInBoundsGEP2_32(type, copy, 0, i), Align(4));
      return copy;
    });
  }
}

void lower_shared_variables(Module& module) {
  if (GlobalVariable* dynamic = module.getGlobalVariable(kDynamicSharedName))
    replace_per_function(dynamic, [&](IRBuilder<>& b) { return placeholder(b, module, dynamic_base); });
  if (Function* f = module.getFunction("__mr_dynamic_shared"))
    for (User* u : make_early_inc_range(f->users()))
      if (auto* call = dyn_cast<CallInst>(u)) {
        IRBuilder<> b(call);
        call->replaceAllUsesWith(placeholder(b, module, dynamic_base));
        call->eraseFromParent();
      }
  if (Function* f = module.getFunction("__mr_static_shared"))
    for (User* u : make_early_inc_range(f->users()))
      if (auto* call = dyn_cast<CallInst>(u)) {
        IRBuilder<> b(call);
        call->replaceAllUsesWith(placeholder(b, module, shared_base));
        call->eraseFromParent();
      }
  SmallVector<GlobalVariable*, 8> variables;
  for (GlobalVariable& gv : module.globals())
    if (gv.hasAttribute(kVariableAttr) && gv.getAttribute(kVariableAttr).getValueAsString() == "shared")
      variables.push_back(&gv);
  const DataLayout& layout = module.getDataLayout();
  for (GlobalVariable* gv : variables) {
    const std::uint64_t size = layout.getTypeAllocSize(gv->getValueType());
    const std::uint64_t align = std::max(gv->getAlign().valueOrOne().value(),
                                         layout.getABITypeAlign(gv->getValueType()).value());
    auto* accessor = Function::Create(FunctionType::get(PointerType::get(module.getContext(), 0), false),
                                      GlobalValue::ExternalLinkage, shared_accessor_name(*gv), module);
    accessor->setDoesNotAccessMemory();
    accessor->setDoesNotThrow();
    accessor->setWillReturn();
    accessor->setSpeculatable();
    accessor->addFnAttr(Attribute::NoSync);
    accessor->addFnAttr(Attribute::NoFree);
    accessor->addFnAttr(kSharedSizeAttr, std::to_string(size));
    accessor->addFnAttr(kSharedAlignAttr, std::to_string(align));
    accessor->addRetAttr(Attribute::NonNull);
    accessor->addRetAttr(Attribute::getWithAlignment(module.getContext(), Align(align)));
    keep_description(*gv, *accessor);
    replace_per_function(gv, [&](IRBuilder<>& b) { return b.CreateCall(accessor); });
  }
}

void rename_library_functions(Module& module) {
  const std::pair<StringRef, StringRef> names[] = {
      {"malloc", "__mr_heap_malloc"}, {"free", "__mr_heap_free"},    {"_Znwm", "__mr_heap_malloc"},
      {"_Znam", "__mr_heap_malloc"},  {"_ZdlPv", "__mr_heap_free"},  {"_ZdaPv", "__mr_heap_free"},
      {"_ZdlPvm", "__mr_heap_free"},  {"_ZdaPvm", "__mr_heap_free"}, {"__assert_fail", "__mr_assert_fail"}};
  for (auto [from, to] : names) {
    Function* f = module.getFunction(from);
    if (!f || !f->isDeclaration()) continue;
    for (User* u : make_early_inc_range(f->users())) {
      auto* call = dyn_cast<CallInst>(u);
      if (!call || call->getCalledFunction() != f) continue;
      SmallVector<Value*, 4> args(call->args());
      // Sized delete passes the size too; the heap needs the pointer alone.
      if (to == "__mr_heap_free") args.resize(1);
      SmallVector<Type*, 4> types;
      for (Value* a : args) types.push_back(a->getType());
      auto* type = FunctionType::get(call->getType(), types, false);
      FunctionCallee service = module.getOrInsertFunction(to, type);
      CallInst* replacement = CallInst::Create(service, args, "", call->getIterator());
      replacement->setDebugLoc(call->getDebugLoc());
      if (call->doesNotReturn()) replacement->setDoesNotReturn();
      replacement->setDoesNotThrow();
      call->replaceAllUsesWith(replacement);
      call->eraseFromParent();
    }
    if (f->use_empty()) f->eraseFromParent();
  }
}

}  // namespace mrcc
