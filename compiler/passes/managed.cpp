#include "managed.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

void redirect(GlobalVariable& variable, GlobalVariable& slot) {
  convertUsersOfConstantsToInstructions({&variable});
  SmallVector<Use*, 16> uses;
  for (Use& use : variable.uses())
    if (isa<Instruction>(use.getUser())) uses.push_back(&use);
  for (Use* use : uses) {
    auto* user = cast<Instruction>(use->getUser());
    // A value that arrives through an edge is made where the edge begins.
    auto* phi = dyn_cast<PHINode>(user);
    IRBuilder<> builder(phi ? phi->getIncomingBlock(*use)->getTerminator() : user);
    auto* address = builder.CreateLoad(slot.getValueType(), &slot, variable.getName());
    address->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(variable.getContext(), {}));
    use->set(address);
  }
}

}  // namespace

void redirect_managed(Module& module) {
  SmallVector<GlobalVariable*, 8> variables;
  for (GlobalVariable& gv : module.globals())
    if (!gv.isDeclaration() && gv.hasAttribute(kVariableAttr) &&
        gv.getAttribute(kVariableAttr).getValueAsString() == "managed")
      variables.push_back(&gv);
  if (variables.empty()) return;
  auto* pointer = PointerType::get(module.getContext(), 0);
  for (GlobalVariable* variable : variables) {
    auto* slot = new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage,
                                    ConstantPointerNull::get(pointer), variable->getName() + kManagedSlotSuffix);
    slot->addAttribute(kVariableAttr, "slot");
    slot->setExternallyInitialized(true);
    redirect(*variable, *slot);
  }
  auto* byte = Type::getInt8Ty(module.getContext());
  auto* mark = new GlobalVariable(module, byte, true, GlobalValue::InternalLinkage, ConstantInt::get(byte, 1),
                                  "__mr_managed_mark");
  mark->setSection(kManagedSection);
  appendToUsed(module, {mark});
}

}  // namespace mrcc
