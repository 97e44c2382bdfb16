// Floating-point contraction, decided once per function: multiplications that feed additions become fused multiply-adds
// as on a GPU, and the permission to contract is withdrawn. Otherwise code generation would decide by what each mode's
// code looks like there, and modes would differ in the last bit.
//
// The rule: the left operand's multiplication is fused first; a multiplication with several uses is fused into each.
#pragma once
namespace llvm {
class Function;
}
namespace mrcc {
void contract(llvm::Function& function);
}
