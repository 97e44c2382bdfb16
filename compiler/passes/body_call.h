// A call of a kernel's body: its parameters from the packed argument buffer, then the items (context.h).
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include "context.h"

namespace llvm {
class AllocaInst;
class CallInst;
}  // namespace llvm

namespace mrcc {
struct KernelInfo;
struct Parameter;

// True when nothing writes through the pointer argument and it doesn't escape: all lanes may share one copy.
bool only_read(llvm::Value* pointer, unsigned depth = 0);

// The kernel's parameters as IR arguments, from the packed buffer.
class Unpacker {
 public:
  Unpacker(const KernelInfo& info, const Extended& body) : info_(info), body_(body) {}

  // At the entry: loads values; of parameters passed by address a first copy, unless the buffer itself serves.
  void enter(llvm::IRBuilder<>& b, llvm::Value* args, bool buffer_serves);
  // Once per lane: a private copy of what the body may write.
  llvm::SmallVector<llvm::Value*, 16> arguments(llvm::IRBuilder<>& b);

  llvm::Value* value(unsigned index) const { return slots_[index].value; }
  unsigned size() const { return slots_.size(); }

 private:
  struct Slot {
    llvm::Value* value = nullptr;
    llvm::Value* lane_copy = nullptr;
    bool shared = false;
  };
  const KernelInfo& info_;
  const Extended& body_;
  llvm::SmallVector<Slot, 8> slots_;
};

// The body, or what it was split into, which takes its scratch memory and the block's extents behind the items, and of
// a group how many blocks there are.
llvm::CallInst* call_body(llvm::IRBuilder<>& b, const Extended& body, llvm::ArrayRef<llvm::Value*> parameters,
                          llvm::ArrayRef<llvm::Value*> items, llvm::Function* split = nullptr,
                          llvm::Value* scratch = nullptr, llvm::Value* blocks = nullptr);

}  // namespace mrcc
