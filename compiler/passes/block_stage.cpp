#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "align_check.h"
#include "check.h"
#include "contraction.h"
#include "names.h"
#include "options.h"
#include "stages.h"
#include "thunks.h"

namespace mrcc {
using namespace llvm;

PreservedAnalyses BlockStage::run(Module& module, ModuleAnalysisManager& analyses) {
  for (Function& f : module)
    if (!f.isDeclaration()) contract(f);
  if (options().check) insert_access_checks(module);
  if (options().align_checks) insert_alignment_checks(module);
  for (Function& f : module)
    if (f.hasFnAttribute(kKernelBodyAttr)) {
      f.removeFnAttr(kKernelBodyAttr);
      f.setVisibility(GlobalValue::DefaultVisibility);
      f.setLinkage(GlobalValue::InternalLinkage);
    }
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  for (Function& f : module) functions.invalidate(f, PreservedAnalyses::none());
  SmallVector<Function*, 16> defined;
  for (Function& f : make_early_inc_range(module)) {
    CallInst* call = define_run_blocks(&f);
    if (!call) continue;
    defined.push_back(&f);
    if (!optimise_ || call->getCalledFunction()->hasFnAttribute(Attribute::NoInline)) continue;
    InlineFunctionInfo info;
    InlineFunction(*call, info);
  }
  for (Function* f : defined) tidy_.run(*f, functions);
  return PreservedAnalyses::none();
}

}  // namespace mrcc
