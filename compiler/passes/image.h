// The tables that an image exports (MrImage in simt/abi.h) and the sections of device variables.
#pragma once
#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"

#include "annotations.h"

namespace llvm {
class Function;
class GlobalVariable;
class Module;
}  // namespace llvm

namespace mrcc {

struct KernelEntry {
  std::string name;
  KernelInfo info;
  llvm::Function* run_lane = nullptr;
  llvm::Function* run_blocks = nullptr;  // may be null
  std::uint32_t static_shared = 0;
  std::uint32_t flags = 0;
  std::uint32_t local_bytes = 0;
};

// Gives device, constant and managed variables their page-aligned section and emits `__mr_image` with its tables.
void emit_image(llvm::Module& module, llvm::ArrayRef<KernelEntry> kernels, llvm::StringRef march);

}  // namespace mrcc
