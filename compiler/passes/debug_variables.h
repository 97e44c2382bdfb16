// What code compiled with -G does for debuggers.
//
// Users' variables stay in memory, with the values of the line that is about to run, though the code is optimised:
// where a line begins, an empty assembly statement reads them all.
//
// threadIdx, blockIdx, blockDim and gridDim have no storage, so they are described as global variables at a place that
// is computed from the stack pointer (mr_lane_of in simt/abi.h). So are __shared__ variables, which lie in the block's
// window.
#pragma once
#include <cstdint>

namespace llvm {
class Function;
class GlobalVariable;
class Instruction;
class Module;
}  // namespace llvm
namespace mrcc {
// In marked functions (sites.h) of users, before any optimisation.
void keep_variables_in_memory(llvm::Module& module);
// Whether it is one of these statements: it does nothing.
bool is_debugger_mark(const llvm::Instruction& instruction);
// The description of a shared variable goes on with its accessor; then the variable's place in the window is known.
void keep_description(const llvm::GlobalVariable& shared, llvm::Function& accessor);
void note_place(const llvm::Function& accessor, std::uint64_t offset);
// Adds all of them to the units of marked functions (sites.h) that have debug information. LLVM describes only globals
// that have storage: `carrier`, which stays in the image, stands for that.
void describe_variables(llvm::Module& module, llvm::GlobalVariable* carrier);
}  // namespace mrcc
