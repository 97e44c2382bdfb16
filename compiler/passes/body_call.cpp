#include "body_call.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include "annotations.h"

namespace mrcc {
using namespace llvm;

namespace {

AllocaInst* copy_slot(IRBuilder<>& b, const Parameter& p) {
  AllocaInst* a = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), p.size), nullptr, "parameter");
  a->setAlignment(Align(p.align));
  return a;
}

}  // namespace

bool only_read(Value* pointer, unsigned depth) {
  if (depth > 8) return false;
  if (auto* a = dyn_cast<Argument>(pointer); a && a->onlyReadsMemory() && a->hasNoCaptureAttr()) return true;
  for (Use& use : pointer->uses()) {
    auto* i = dyn_cast<Instruction>(use.getUser());
    if (!i) return false;
    if (isa<LoadInst>(i) || isa<CmpInst>(i)) continue;
    if (isa<GetElementPtrInst>(i) || isa<PHINode>(i) || isa<SelectInst>(i)) {
      if (!only_read(i, depth + 1)) return false;
      continue;
    }
    auto* call = dyn_cast<CallInst>(i);
    if (!call) return false;
    if (call->isLifetimeStartOrEnd()) continue;
    if (auto* copy = dyn_cast<MemTransferInst>(call)) {
      if (&use == &copy->getRawSourceUse() && !copy->isVolatile()) continue;
      return false;
    }
    Function* callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration() || !call->isArgOperand(&use)) return false;
    const unsigned index = call->getArgOperandNo(&use);
    if (index >= callee->arg_size() || !only_read(callee->getArg(index), depth + 4)) return false;
  }
  return true;
}

void Unpacker::enter(IRBuilder<>& b, Value* args, bool buffer_serves) {
  for (auto [index, p] : enumerate(info_.parameters)) {
    Value* address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), args, p.offset);
    Argument* formal = body_.body->getArg(index);
    Type* type = formal->getType();
    Slot slot;
    if (type->isPointerTy() && !p.pointer) {
      slot.shared = p.grid_constant || only_read(formal);
      // A __grid_constant__ parameter has one address for the whole grid.
      if (buffer_serves || p.grid_constant) {
        slot.value = address;
      } else {
        slot.value = copy_slot(b, p);
        b.CreateMemCpy(slot.value, Align(p.align), address, Align(p.align), p.size);
      }
      if (!slot.shared) slot.lane_copy = copy_slot(b, p);
    } else if (type->isIntegerTy(1)) {
      slot.value = b.CreateICmpNE(b.CreateAlignedLoad(b.getInt8Ty(), address, Align(1)), b.getInt8(0));
    } else {
      slot.value = b.CreateAlignedLoad(type, address, Align(p.align));
    }
    slots_.push_back(slot);
  }
}

SmallVector<Value*, 16> Unpacker::arguments(IRBuilder<>& b) {
  SmallVector<Value*, 16> out;
  for (auto [slot, p] : zip(slots_, info_.parameters)) {
    if (slot.lane_copy) b.CreateMemCpy(slot.lane_copy, Align(p.align), slot.value, Align(p.align), p.size);
    out.push_back(slot.lane_copy ? slot.lane_copy : slot.value);
  }
  return out;
}

CallInst* call_body(IRBuilder<>& b, const Extended& body, ArrayRef<Value*> parameters, ArrayRef<Value*> items,
                    Function* split, Value* scratch, Value* blocks) {
  SmallVector<Value*, 24> args(parameters);
  for (unsigned i = 0; i < item_count; ++i)
    if (body.items >> i & 1) args.push_back(items[i]);
  if (split) args.append({scratch, items[bdim_x], items[bdim_y], items[bdim_z]});
  if (split && blocks) args.push_back(blocks);
  CallInst* call = b.CreateCall(split ? split : body.body, args);
  // Extensions (zeroext, signext) are part of the callee's convention.
  AttributeList attributes = body.body->getAttributes();
  call->setAttributes(attributes.removeFnAttributes(b.getContext()));
  if (DISubprogram* sp = b.GetInsertBlock()->getParent()->getSubprogram())
    call->setDebugLoc(DILocation::get(b.getContext(), 0, 0, sp));
  return call;
}

}  // namespace mrcc
