// Loops of a kernel's body are exchanged with the loop over its threads where that lets threads be vectorised.
//
//   for each thread: for k: sum += f(k)      becomes      for k: for each thread: sum[thread] += f(k)
//
// A sum of floating-point values has its order, so the loop over k can't become vectors; the one over threads can. It
// is done by meeting points at the loop's head and behind it, at which split mode (barrier_split.h) divides the body as
// at barriers: what is carried around the loop then lives in arrays, one element per thread.
//
// A loop counts when all threads go around it together (its end depends on nothing that differs among them), it holds
// no other loop, writes nothing but sums of shared counters, and reads neighbouring elements for neighbouring threads,
// or the same for all. Whether all threads reach it is for split mode to find out, which then does without.
#pragma once
#include "llvm/ADT/SmallVector.h"

#include "context.h"

namespace llvm {
class CallInst;
}

namespace mrcc {

// Inserts the meeting points, calls of __mr_barrier, and returns them. They must be erased again: they mean nothing to
// fibers.
llvm::SmallVector<llvm::CallInst*, 4> mark_exchanges(const Extended& body);

}  // namespace mrcc
