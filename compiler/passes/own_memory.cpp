#include "own_memory.h"

#include <cstddef>

#include <simt/abi.h>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

// A field of the block's description, as the entry loads it.
bool is_field(const Value& value, const Function& entry, std::size_t field) {
  const auto* load = dyn_cast<LoadInst>(&value);
  if (!load) return false;
  std::int64_t offset = 0;
  const Value* base = GetPointerBaseWithConstantOffset(load->getPointerOperand(), offset, entry.getDataLayout());
  return base == entry.getArg(0) && offset == static_cast<std::int64_t>(field);
}

}  // namespace

bool is_shared_base(const Value& value, const Function& entry) {
  return is_field(value, entry, offsetof(MrBlock, shared));
}

bool is_dynamic_base(const Value& value, const Function& entry) {
  using namespace PatternMatch;
  const auto* gep = dyn_cast<GetElementPtrInst>(&value);
  Value* offset;
  return gep && gep->getNumIndices() == 1 && gep->getSourceElementType()->isIntegerTy(8) &&
         is_shared_base(*gep->getPointerOperand(), entry) && match(gep->getOperand(1), m_ZExt(m_Value(offset))) &&
         is_field(*offset, entry, offsetof(MrBlock, dynamic_offset));
}

bool is_scratch(const Value& value) {
  const auto* load = dyn_cast<LoadInst>(&value);
  return load && load->getMetadata(kScratchMark);
}

bool is_argument(const Value* value, const Function& entry) {
  const auto* load = dyn_cast<LoadInst>(value);
  return load && is_field(*getUnderlyingObject(load->getPointerOperand()), entry, offsetof(MrBlock, args));
}

}  // namespace mrcc
