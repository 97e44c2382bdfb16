// Which loops may wait for something that other threads, the host or time bring about.
//
// CUDA guarantees progress to co-resident threads, so a kernel that contains such a loop must not keep a worker to
// itself: it runs on fibers, and the loop polls the runtime. A loop spins when one of its exits depends - by data or
// control, within the loop - on a volatile or atomic access, a clock, a plain load of an unchanging address beside a
// fence, or the result of a call of unknown or such effect; or, through a shared variable that another thread of the
// block stores to, on a volatile or atomic access that only reads; or when it has no exit. Not spinning, although an
// atomic decides: retrying a compare-and-swap whose expected value comes from its own last failure (somebody else made
// progress), and fetching from a counter by a single atomic add of a constant.
#pragma once
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class BasicBlock;
class Function;
class Module;
}  // namespace llvm

namespace mrcc {
class CallGraph;

struct SpinningLoop {
  llvm::SmallVector<llvm::BasicBlock*, 2> latches;
  unsigned line = 0;   // of the loop; 0 without debug information
  std::string reason;  // "exit depends on a volatile access"
};
struct Spinning {
  llvm::SmallVector<SpinningLoop, 2> loops;
  std::string recursion;  // reason why recursion of this function may spin; empty = doesn't
};
using SpinMap = llvm::DenseMap<llvm::Function*, Spinning>;

// Needs promoted locals. With `on_clone` it analyses a copy of the module whose locals it promotes first (-O0).
SpinMap find_spinning(llvm::Module& module, bool on_clone);
// Inserts the poll on every spinning loop's back edges: a counter in the lane, the runtime every 16th time.
void insert_polls(const SpinMap& spinning);

}  // namespace mrcc
