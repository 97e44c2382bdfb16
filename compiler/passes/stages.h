// The plugin's passes. See plugin.cpp for their places.
#pragma once
#include "llvm/IR/PassManager.h"

namespace mrcc {

// Per translation unit, before any optimisation: annotations become attributes, CUDA's built-in variables and shared
// variables become calls of placeholders, operations that a GPU defines and LLVM doesn't are made defined, loops may be
// infinite.
class EarlyStage : public llvm::PassInfoMixin<EarlyStage> {
 public:
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

// Per image: classification of kernels, polls, shared layout, entries and tables.
class ImageStage : public llvm::PassInfoMixin<ImageStage> {
 public:
  ImageStage(bool optimise, bool split) : optimise_(optimise), split_(split) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  bool optimise_;
  bool split_;  // kernels with barriers may be split at them
};

// After the simplification of every function by itself: decides floating-point contraction, so that it is the same in
// every mode; splits bodies with barriers; defines the run_blocks entries around the simplified bodies and simplifies
// them with `tidy`.
class BlockStage : public llvm::PassInfoMixin<BlockStage> {
 public:
  BlockStage(bool optimise, llvm::FunctionPassManager tidy) : optimise_(optimise), tidy_(std::move(tidy)) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }

 private:
  bool optimise_;
  llvm::FunctionPassManager tidy_;
};

// Takes accesses that lanes don't make independently out of the thread loops' access groups: volatile and atomic ones,
// and those of private variables that stayed in memory, which all iterations share.
class ParallelGroups : public llvm::PassInfoMixin<ParallelGroups> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

// Hides from the vectoriser that an index goes on in strides of 3, 5, 6 or 7 elements where it wraps around in a type
// of fewer than 32 bits, as in `s[(t * 3) % 64]`. LLVM 19 loads such rows as groups of neighbours, and its test that
// nothing wraps around lets some loops through in which it does: they read the wrong elements.
class WrappingStrides : public llvm::PassInfoMixin<WrappingStrides> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

// In host code instrumented by -fsanitize=thread, in front of that: an element or member of a local variable hides
// which variable it is a part of. LLVM 19 leaves out what it takes for unknown to other threads, and looks only at
// whether the part's own address is given away, not the variable's: of a structure that a host function is given, all
// members but the first.
class LocalMembers : public llvm::PassInfoMixin<LocalMembers> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
  static bool isRequired() { return true; }  // not optimised code, too
};

}  // namespace mrcc
