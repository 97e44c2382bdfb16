// Which values of a kernel's body are the same for all threads of a block at one point of their execution.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace mrcc {

// Everything is uniform but what comes from the `sources` (threadIdx), from memory that threads may write, from calls
// with effects, or merges control flow that such a value decides. Barriers' results are uniform.
class Uniformity {
 public:
  Uniformity(llvm::Function& f, llvm::ArrayRef<llvm::Value*> sources);
  bool uniform(const llvm::Value* v) const { return !divergent_.contains(v); }

 private:
  llvm::SmallPtrSet<const llvm::Value*, 32> divergent_;
};

}  // namespace mrcc
