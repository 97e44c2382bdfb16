// The AST plugin's annotations, moved from llvm.global.annotations to attributes, and read back.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace mrcc {

struct Parameter {
  std::uint32_t offset, size, align;
  bool pointer;        // the value is a pointer in IR
  bool grid_constant;  // __grid_constant__
};

struct KernelInfo {
  llvm::SmallVector<Parameter, 8> parameters;
  std::uint32_t args_size = 0;
  std::uint32_t bounds[3] = {0, 0, 0};
  std::uint32_t cluster[3] = {0, 0, 0};
  std::uint32_t line = 0;
  std::string file;
  llvm::SmallVector<std::array<std::uint32_t, 3>, 2> blocks;  // extents that launches of the unit use
  bool only_these_blocks = false;                             // and nothing of the unit launches it with others
};

// Turns the plugin's annotations into attributes and removes them. Kernels lose their ms_abi calling convention.
void import_annotations(llvm::Module& module);
bool is_kernel(const llvm::Function& function);
KernelInfo kernel_info(const llvm::Function& kernel);

}  // namespace mrcc
