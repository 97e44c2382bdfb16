// What the threads of a thread loop have in common while they go around inner loops together, those that are done
// sitting out: counters of those loops, and with them addresses.
#pragma once
#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class Loop;
class SCEV;
class ScalarEvolution;
class Value;
}  // namespace llvm

namespace mrcc {

class RowAddresses {
 public:
  RowAddresses(const llvm::Loop& loop, llvm::ScalarEvolution& se) : loop_(loop), se_(se) {}

  // By how many bytes the pointer grows from one thread to the next, and the first thread's can be computed: whether
  // it takes part or not. Nothing where that isn't known.
  std::optional<std::int64_t> stride(llvm::Value* pointer);
  // All threads that take part have the same value, which is_first_known() of.
  bool is_same(llvm::Value* v);
  // The first thread's value is arithmetic on its index, counters of loops, and what all have in common.
  bool is_first_known(llvm::Value* v);

 private:
  std::optional<std::int64_t> stride(const llvm::SCEV* s) const;

  const llvm::Loop& loop_;
  llvm::ScalarEvolution& se_;
  llvm::DenseMap<llvm::Value*, bool> first_known_;
};

}  // namespace mrcc
