// Operations that LLVM leaves undefined and a GPU defines. Must run before anything that exploits the undefinedness.
//
//   integer x / 0 and x % 0      all ones (64 bits: of 32 bits for an x below 2^32); but x % 0 = x beside x / 0;
//                                INT_MIN / -1 = INT_MIN, INT_MIN % -1 = 0
//   shifts by at least the width  0, or the sign for signed right shifts; 64-bit shifts look at the low 32 bits of the
//   count floating point to integer     saturates; NaN becomes 0 from float to 32 bits and less, else the lowest
//   integer of 32 or 64 bits
#pragma once
namespace llvm {
class Function;
}
namespace mrcc {
void lower_arithmetic(llvm::Function& function);
}
