#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include "annotations.h"
#include "arithmetic.h"
#include "builtins.h"
#include "debug_variables.h"
#include "host_calls.h"
#include "launches.h"
#include "names.h"
#include "options.h"
#include "ptx.h"
#include "sites.h"
#include "stages.h"

namespace mrcc {
using namespace llvm;

namespace {

// A GPU doesn't assume that loops end.
void allow_infinite_loops(Function& f) {
  f.removeFnAttr(Attribute::MustProgress);
  for (BasicBlock& block : f) {
    Instruction* end = block.getTerminator();
    MDNode* loop = end ? end->getMetadata(LLVMContext::MD_loop) : nullptr;
    if (!loop) continue;
    SmallVector<Metadata*, 4> kept = {nullptr};
    for (const MDOperand& operand : drop_begin(loop->operands())) {
      auto* node = dyn_cast<MDNode>(operand);
      auto* name = node && node->getNumOperands() ? dyn_cast<MDString>(node->getOperand(0)) : nullptr;
      if (!name || name->getString() != "llvm.loop.mustprogress") kept.push_back(operand);
    }
    MDNode* replacement = MDNode::getDistinct(f.getContext(), kept);
    replacement->replaceOperandWith(0, replacement);
    end->setMetadata(LLVMContext::MD_loop, replacement);
  }
}

// The host may read and write every variable of the device, whatever its linkage.
void keep_variables(Module& module) {
  if (GlobalVariable* used = module.getGlobalVariable("llvm.compiler.used")) used->eraseFromParent();
  SmallVector<GlobalValue*, 16> kept;
  for (GlobalVariable& gv : module.globals()) {
    if (gv.isDeclaration() || !gv.hasAttribute(kVariableAttr) ||
        gv.getAttribute(kVariableAttr).getValueAsString() == "shared")
      continue;
    gv.setExternallyInitialized(true);
    kept.push_back(&gv);
  }
  appendToCompilerUsed(module, kept);
}

// With -rdc, clang gives a variable of internal linkage that the host refers to a name of the unit's own. Code that was
// generated before it saw the host do so still has the plain name, which nobody defines.
void join_static_variables(Module& module) {
  for (GlobalVariable& gv : module.globals()) {
    const auto [plain, unit] = gv.getName().rsplit("__static__");
    if (gv.isDeclaration() || unit.empty()) continue;
    GlobalVariable* const before = module.getGlobalVariable(plain, true);
    if (before && before->isDeclaration()) before->replaceAllUsesWith(&gv);
  }
}

// Calls of aliases (constructors) become direct calls.
void resolve_aliases(Module& module) {
  for (GlobalAlias& alias : make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    auto* f = dyn_cast<Function>(alias.getAliasee());
    // Other units call it by the alias's name.
    if (f && !alias.hasLocalLinkage() && f->hasLocalLinkage()) f->setLinkage(alias.getLinkage());
    alias.eraseFromParent();
  }
}

}  // namespace

PreservedAnalyses EarlyStage::run(Module& module, ModuleAnalysisManager&) {
  join_static_variables(module);
  trap_host_calls(module);
  lower_launches(module);
  import_annotations(module);
  keep_variables(module);
  resolve_aliases(module);
  lower_inline_ptx(module);
  lower_index_variables(module);
  lower_shared_variables(module);
  rename_library_functions(module);
  lower_printf(module);
  if (options().sites) {
    mark_for_sites(module);
    keep_variables_in_memory(module);
  }
  for (Function& f : module) {
    if (f.isDeclaration()) continue;
    allow_infinite_loops(f);
    lower_arithmetic(f);
  }
  return PreservedAnalyses::none();
}

}  // namespace mrcc
