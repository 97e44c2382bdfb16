#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "align_check.h"
#include "barrier_split.h"
#include "check.h"
#include "contraction.h"
#include "names.h"
#include "options.h"
#include "shared_atomics.h"
#include "stages.h"
#include "thread_loops.h"
#include "thunks.h"
#include "whole_blocks.h"

namespace mrcc {
using namespace llvm;

namespace {

// MrKernel::scratch_bytes of the kernel whose entry `run_blocks` is.
void set_scratch(Module& module, const Function& run_blocks, std::uint32_t bytes) {
  constexpr unsigned entry_field = 1;
  for (GlobalVariable& table : module.globals()) {
    auto* records = table.hasInitializer() ? dyn_cast<ConstantArray>(table.getInitializer()) : nullptr;
    if (!records) continue;
    SmallVector<Constant*, 16> all;
    bool found = false;
    for (Use& use : records->operands()) {
      auto* record = cast<Constant>(use.get());
      auto* fields = dyn_cast<ConstantStruct>(record);
      if (fields && fields->getNumOperands() > entry_field && fields->getOperand(entry_field) == &run_blocks) {
        SmallVector<Constant*, 24> values;
        for (Use& field : fields->operands()) values.push_back(cast<Constant>(field.get()));
        values.back() = ConstantInt::get(values.back()->getType(), bytes);  // the last field
        record = ConstantStruct::get(fields->getType(), values);
        found = true;
      }
      all.push_back(record);
    }
    if (found) table.setInitializer(ConstantArray::get(records->getType(), all));
  }
}

}  // namespace

PreservedAnalyses BlockStage::run(Module& module, ModuleAnalysisManager& analyses) {
  for (Function& f : module)
    if (!f.isDeclaration()) contract(f);
  if (options().check) {
    insert_access_checks(module);
    auto& each = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    for (Function& f : module) {
      if (f.isDeclaration()) continue;
      each.invalidate(f, PreservedAnalyses::none());
      if (optimise_ && merge_access_checks(f, each)) each.invalidate(f, PreservedAnalyses::none());
    }
  }
  if (options().align_checks) insert_alignment_checks(module);
  for (Function& f : module)
    if (f.hasFnAttribute(kKernelBodyAttr)) {
      f.removeFnAttr(kKernelBodyAttr);
      f.setVisibility(GlobalValue::DefaultVisibility);
      f.setLinkage(GlobalValue::InternalLinkage);
    }
  auto& functions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
  for (Function& f : module) functions.invalidate(f, PreservedAnalyses::none());
  SetVector<Function*> defined;
  for (Function& f : make_early_inc_range(module)) {
    const Extended body = body_of(f);
    if (!body.body) continue;
    Split split;
    if (f.hasFnAttribute(kSplitAttr)) {
      const std::string who = f.getFnAttribute(kSplitAttr).getValueAsString().str();
      f.removeFnAttr(kSplitAttr);
      if (has_private_parameters(f))
        split.why = "a parameter that is a class may be written";
      else
        split = split_at_barriers(body, f.getFnAttribute(kStoreLaneAttr).getValueAsString() == "1");
      if (!who.empty())
        errs() << who
               << (split.blocks
                       ? "split (loops between barriers" +
                             std::string(split.by_warps ? ", and of single warps where they part" : "") + "), " +
                             std::to_string(split.lane_bytes) + " bytes for each thread live across them"
                       : "fibers (" + split.why + ")")
               << "\n";
      if (!split.blocks) {
        f.replaceAllUsesWith(ConstantPointerNull::get(f.getType()));
        f.eraseFromParent();
        continue;
      }
      set_scratch(module, f, split.lane_bytes);
    } else if (optimise_ && options().mode == Mode::automatic && !options().check && !options().sites &&
               f.getFnAttribute(kStoreLaneAttr).getValueAsString() != "1" && !has_private_parameters(f)) {
      split = split_at_exchanges(body);
      if (split.blocks) set_scratch(module, f, split.lane_bytes);
    }
    bool copied = optimise_;
    SmallSetVector<Function*, 4> called;
    for (CallInst* call : define_run_blocks(&f, split, optimise_ && !options().sites)) {
      defined.insert(call->getFunction());
      called.insert(call->getCalledFunction());
      copied &= !call->getCalledFunction()->hasFnAttribute(Attribute::NoInline);
      if (!copied) continue;
      InlineFunctionInfo info;
      InlineFunction(*call, info);
    }
    if (!copied) continue;
    keep_small(*body.body);
    if (split.blocks) called.insert(split.blocks);
    for (Function* callee : called) {
      if (callee == body.body) continue;
      if (callee->use_empty())
        callee->eraseFromParent();
      else
        keep_small(*callee);
    }
  }
  for (Function* f : defined) {
    lower_shared_atomics(*f);
    // Before loops are divided, so that what all parts touch is one range; and before short rows are unrolled.
    const bool checks = optimise_ && options().check;
    if (checks && merge_access_checks(*f, functions)) functions.invalidate(*f, PreservedAnalyses::none());
    if (optimise_) mark_chains(*f, functions.getResult<LoopAnalysis>(*f));
    if (optimise_ && divide_thread_loops(*f, functions)) functions.invalidate(*f, PreservedAnalyses::none());
    if (checks && merge_access_checks(*f, functions)) functions.invalidate(*f, PreservedAnalyses::none());
    tidy_.run(*f, functions);
    if (checks && merge_access_checks(*f, functions)) functions.invalidate(*f, PreservedAnalyses::none());
  }
  return PreservedAnalyses::none();
}

}  // namespace mrcc
