// Entry of the pass plugin: which stage runs where in clang's pipeline.
//
// Device pass of mrcc (clang -fpass-plugin=libmrpasses.so, and -fplugin=libmrpasses.so so that -mllvm knows the
// options):
//
//   pipeline start   EarlyStage (what must precede optimisation)                    -mrcc-stage=all, unit
//                    always_inline, promotion of locals (not at -O0)                -mrcc-stage=all, image
//                    ImageStage (contexts, thunks, tables)                          -mrcc-stage=all, image
//   before late optimisation  BlockStage (contraction, run_blocks)                  -mrcc-stage=all, image
//   before vectorisation  CollectAtomics (results of the whole grid, once for several blocks)
//                         ParallelGroups (which accesses of a thread loop are independent)
//                         MaskedLoops (threads whose loops end at different times, as vectors)
//                         WrappingStrides (indices that LLVM's vectoriser gets wrong)
//   at the end       ForwardLanes (vectors from store to load)                      -mrcc-stage=all, image
//
// In the host pass (-mrcc-stage=host) WrappingStrides alone, as the vectoriser is the same, and with -mrcc-check
// LocalMembers in front of clang's instrumentation (plugins' passes come first).
//
// With -rdc, units are compiled to bitcode with -mrcc-stage=unit, linked with llvm-link, and the result is compiled
// with `clang -x ir -O2 -mllvm -mrcc-stage=image`.
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include "collect_atomics.h"
#include "forward_lanes.h"
#include "masked_loops.h"
#include "options.h"
#include "stages.h"

namespace {
using namespace llvm;

void at_start(ModulePassManager& passes, OptimizationLevel level) {
  const mrcc::Stage stage = mrcc::options().stage;
  const bool optimise = level != OptimizationLevel::O0;
  if (stage == mrcc::Stage::host) return;
  if (stage != mrcc::Stage::image) passes.addPass(mrcc::EarlyStage());
  if (stage == mrcc::Stage::unit) return;
  if (optimise) {
    passes.addPass(AlwaysInlinerPass());
    FunctionPassManager tidy;
    tidy.addPass(SROAPass(SROAOptions::PreserveCFG));
    tidy.addPass(EarlyCSEPass());
    tidy.addPass(SimplifyCFGPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(tidy)));
  }
  // Not for debuggers (-G: O1), which want a thread to be somewhere.
  passes.addPass(mrcc::ImageStage(optimise, level.getSpeedupLevel() > 1));
}

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "millrace", "1", [](PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(at_start);
            builder.registerOptimizerEarlyEPCallback([&builder](ModulePassManager& passes, OptimizationLevel level) {
              const mrcc::Stage stage = mrcc::options().stage;
              if (stage == mrcc::Stage::unit || stage == mrcc::Stage::host) return;
              const bool optimise = level != OptimizationLevel::O0;
              FunctionPassManager tidy;
              if (optimise) tidy = builder.buildFunctionSimplificationPipeline(level, ThinOrFullLTOPhase::None);
              passes.addPass(mrcc::BlockStage(optimise, std::move(tidy)));
            });
            builder.registerOptimizerLastEPCallback([](ModulePassManager& passes, OptimizationLevel level) {
              const mrcc::Stage stage = mrcc::options().stage;
              if (stage == mrcc::Stage::host) passes.addPass(createModuleToFunctionPassAdaptor(mrcc::LocalMembers()));
              if (level == OptimizationLevel::O0 || stage == mrcc::Stage::unit || stage == mrcc::Stage::host) return;
              passes.addPass(createModuleToFunctionPassAdaptor(mrcc::ForwardLanes()));
            });
            builder.registerVectorizerStartEPCallback([](FunctionPassManager& passes, OptimizationLevel level) {
              if (mrcc::options().stage != mrcc::Stage::host) {
                passes.addPass(mrcc::CollectAtomics());
                passes.addPass(mrcc::ParallelGroups());
                if (level.getSpeedupLevel() > 1) passes.addPass(mrcc::MaskedLoops());
              }
              passes.addPass(mrcc::WrappingStrides());
            });
          }};
}
