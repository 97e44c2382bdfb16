// The block extents that a unit's launches of a kernel are seen to use, `kernel<<<grid, dim3(16, 16)>>>(...)`, for
// which the passes make versions of their own (passes/thunks.h).
//
// They are hints: which version runs is decided by the extents that a launch brings. So a variable that isn't constant
// counts as what it was initialised with, `dim3 block(16, 16); block.y = 8;` as well.
#pragma once
#include <array>
#include <cstdint>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mrcc {

class LaunchExtents {
 public:
  explicit LaunchExtents(clang::ASTContext& context) : context_(context) {}
  void see(const clang::CUDAKernelCallExpr& launch);
  // cudaLaunchKernel(kernel, grid, block, ...) and its kin.
  void see(const clang::CallExpr& call);
  // Any mention of a function, launches included.
  void see(const clang::DeclRefExpr& mention);
  // Each kernel's definition gets the annotation "mr_blocks;X:Y:Z,...", the extents most often used first; with
  // "only;" before them if the unit does nothing else with the kernel than to launch it with exactly these.
  void annotate();

 private:
  using Extents = std::array<std::uint32_t, 3>;
  struct Kernel {
    llvm::SmallVector<std::pair<Extents, unsigned>, 2> extents;  // and how often
    unsigned mentions = 0, certain = 0;                          // launches whose extents are constant
  };
  void add(const clang::Expr* kernel, const clang::Expr* block);

  clang::ASTContext& context_;
  llvm::MapVector<const clang::FunctionDecl*, Kernel> seen_;
};

}  // namespace mrcc
