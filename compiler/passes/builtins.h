// Early lowering of CUDA's built-in variables, shared variables and library functions that the runtime provides.
#pragma once
namespace llvm {
class Module;
}
namespace mrcc {
// threadIdx, blockIdx, blockDim, gridDim -> placeholders (context.h).
void lower_index_variables(llvm::Module& module);
// `__shared__` variables -> calls of accessors `ptr __mr.shared.NAME()`, which lay_out_shared() resolves; dynamic
// shared memory
// -> the dynamic_base placeholder.
void lower_shared_variables(llvm::Module& module);
// printf -> __mr_printf with packed arguments.
void lower_printf(llvm::Module& module);
// malloc, free, operator new and delete, __assert_fail -> services.
void rename_library_functions(llvm::Module& module);
}  // namespace mrcc
