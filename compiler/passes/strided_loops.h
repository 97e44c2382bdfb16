// Loops that the threads of a block share become loops that all of them go around together.
//
//   for (i = threadIdx.x + a; i < n; i += s)        becomes        for (u = a; u < n; u += s)
//     body(i)                                                        if (threadIdx.x < n - u) body(u + threadIdx.x)
//
// where a, n and s are the same for all threads. Each thread does the same in the same order as before, and the loop
// can change places with the loop over threads (exchange.h), after which neighbours are vectors. A test in front of it,
// the same for all threads, leaves the loop as it was where an index might wrap around.
#pragma once
#include "context.h"

namespace llvm {
class Instruction;
}

namespace mrcc {

// Returns true if anything was changed.
bool go_around_together(const Extended& body);
// Whether the instruction ends an iteration of such a loop.
bool is_gone_around_together(const llvm::Instruction& end);

}  // namespace mrcc
