#include "lockstep.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include "annotations.h"
#include "context.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

bool may_be_shared(const Value* pointer, Function& f, unsigned depth);

// Unoptimised code (-G) keeps pointers in local variables: what is stored there?
bool may_hold_shared(const AllocaInst& variable, Function& f, unsigned depth) {
  return depth < 8 && any_of(
                          variable.users(),
                          [&](const User* user) {
                            const auto* store = dyn_cast<StoreInst>(user);
                            return store && store->getPointerOperand() == &variable &&
                                   may_be_shared(store->getValueOperand(), f, depth + 1);
                          });
}

// What a pointer may point into. A pointer that a device function was given may be shared memory's; a kernel's can't.
bool may_be_shared(const Value* pointer, Function& f, unsigned depth) {
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects);
  return any_of(objects, [&](const Value* object) {
    if (isa<Argument>(object)) return !is_kernel(f);
    if (const auto* load = dyn_cast<LoadInst>(object)) {
      const auto* variable = dyn_cast<AllocaInst>(load->getPointerOperand());
      return variable && may_hold_shared(*variable, f, depth);
    }
    const auto* call = dyn_cast<CallBase>(object);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee) return false;
    const Item item = placeholder_item(*callee);
    return callee->hasFnAttribute(kSharedSizeAttr) || item == shared_base || item == dynamic_base;
  });
}

}  // namespace

void keep_volatile_stores_in_step(Module& module) {
  SmallVector<StoreInst*, 16> stores;
  for (Function& f : module)
    for (Instruction& i : instructions(f)) {
      auto* store = dyn_cast<StoreInst>(&i);
      if (store && store->isVolatile() && may_be_shared(store->getPointerOperand(), f, 0)) stores.push_back(store);
    }
  if (stores.empty()) return;
  IRBuilder<> b(module.getContext());
  // Waits until no other lane of the warp can run, then lets those that called it from one place go on in turn.
  FunctionCallee meet = module.getOrInsertFunction("__mr_activemask", FunctionType::get(b.getInt32Ty(), false));
  const auto meet_before = [&](Instruction* position) {
    b.SetInsertPoint(position);
    CallInst* call = b.CreateCall(meet);
    call->setDoesNotThrow();
    call->addFnAttr(Attribute::Convergent);
  };
  for (StoreInst* store : stores) {
    meet_before(store);  // until all have loaded what they are about to overwrite
    meet_before(store->getNextNode());
  }
}

}  // namespace mrcc
