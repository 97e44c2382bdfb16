// What a kernel's entry (run_blocks) knows of pointers: which are the start of memory that belongs to the block that it
// runs, and which come from outside.
#pragma once

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace mrcc {

// MrBlock::shared, as the entry loads it.
bool is_shared_base(const llvm::Value& value, const llvm::Function& entry);
// Where dynamic shared memory begins.
bool is_dynamic_base(const llvm::Value& value, const llvm::Function& entry);
// Its memory for values that live across barriers (mark_scratch).
bool is_scratch(const llvm::Value& value);
// The start of memory, disjoint from the other ones, that no other thread looks at while the entry runs.
inline bool is_own_memory(const llvm::Value& value, const llvm::Function& entry) {
  return is_shared_base(value, entry) || is_dynamic_base(value, entry) || is_scratch(value);
}
// A pointer among the kernel's arguments: the host knows neither kind of memory.
bool is_argument(const llvm::Value* value, const llvm::Function& entry);

}  // namespace mrcc
