// Index arithmetic in the width of addresses.
//
//   a[y * pitch + x], all int:  sext(y * pitch + x)      becomes      sext(y) * sext(pitch) + sext(x)
//
// The program's sums don't overflow (nsw), which the optimiser forgets as soon as it reorders them; a vector of
// threads then costs a test, and a scalar copy of the loop, for the case that the index wraps around. Only sums of
// multiples of arguments, indices and constants: wide indices that differ in any other way cost vectors of half the
// length.
#pragma once

namespace llvm {
class Function;
}

namespace mrcc {

void widen_indices(llvm::Function& function);

}  // namespace mrcc
