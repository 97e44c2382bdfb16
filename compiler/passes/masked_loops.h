// Thread loops that hold loops which end at different times for different threads become vectors with masks.
//
//   for x: a = f(x); while (p(a)) a = g(a); out[x] = a;
//
// becomes, for as many threads at a time as a vector has lanes,
//
//   a = f(x...); m = p(a); while (any of m) { a = m ? g(a) : a; m &= p(a); } out[x...] = a;
//
// LLVM's vectoriser takes innermost loops only, and such a loop's next iteration needs the last one's result. Each
// thread computes what it computed before, in the same order.
//
// A thread loop counts when its accesses are independent of each other (parallel_groups.cpp), all that it does has a
// form for vectors (thread_vectors.h), and what the inner loops touch is the same for all threads or in rows
// (row_addresses.h). What it does in front of them and behind them may be loads and stores of any kind.
#pragma once
#include "llvm/IR/PassManager.h"

namespace mrcc {

class MaskedLoops : public llvm::PassInfoMixin<MaskedLoops> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&);
};

}  // namespace mrcc
