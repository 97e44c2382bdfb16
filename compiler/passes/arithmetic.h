// Operations that LLVM leaves undefined and a GPU defines. Must run before anything that exploits the undefinedness.
//
//   integer x / 0 and x % 0      all ones; INT_MIN / -1 = INT_MIN, INT_MIN % -1 = 0
//   shifts by at least the width  0, or the sign for signed right shifts; 64-bit shifts look at the low 32 bits of the count
//   floating point to integer     saturates, NaN becomes 0
#pragma once
namespace llvm {
class Function;
}
namespace mrcc {
void lower_arithmetic(llvm::Function& function);
}
