#include "debug_variables.h"

#include <cstddef>
#include <string>

#include <simt/abi.h>

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include "sites.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr char mark_text[] = "# debugger";
constexpr char description_kind[] = "mr-description";  // of accessors: the variable's DIGlobalVariableExpression
constexpr char places_name[] = "mr.places";            // the same with the places, until there is a carrier

bool is_of_headers(const DIFile& file) {
  return file.getFilename().contains("/include/millrace/") || file.getFilename().starts_with("/usr/");
}

constexpr std::uint64_t stack_pointer = 7;  // DWARF's number of rsp

// The address of the MrLane of the code whose stack pointer it is. LLVM puts the address of the global that carries the
// description in front: it is masked away.
SmallVector<std::uint64_t, 32> lane_address() {
  using namespace dwarf;
  return {DW_OP_lit0,
          DW_OP_and,
          DW_OP_bregx,
          stack_pointer,
          0,
          DW_OP_dup,
          DW_OP_constu,
          ~(MR_STACK_BYTES - 1),
          DW_OP_and,
          DW_OP_swap,
          DW_OP_constu,
          MR_STACK_BITS,
          DW_OP_shr,
          DW_OP_constu,
          63,
          DW_OP_and,
          DW_OP_constu,
          6,
          DW_OP_shl,
          DW_OP_plus,
          DW_OP_plus};
}

void describe(Module& module, DICompileUnit* unit, GlobalVariable* carrier) {
  DIBuilder builder(module, /*AllowUnresolved=*/true, unit);
  DIFile* file = unit->getFile();
  DIType* number = builder.createBasicType("unsigned int", 32, dwarf::DW_ATE_unsigned);
  const auto three = [&](StringRef name) {
    SmallVector<Metadata*, 3> members;
    for (unsigned i = 0; i < 3; ++i)
      members.push_back(builder.createMemberType(unit, StringRef("xyz").substr(i, 1), file, 0, 32, 32, 32 * i,
                                                 DINode::FlagZero, number));
    return builder.createStructType(unit, name, file, 0, 96, 32, DINode::FlagZero, nullptr,
                                    builder.getOrCreateArray(members));
  };
  DIType* const index = three("uint3");
  DIType* const extent = three("dim3");
  // In the lane, or in the block that the lane points to.
  const auto variable = [&](StringRef name, DIType* type, bool of_block, std::uint64_t offset) {
    SmallVector<std::uint64_t, 32> place = lane_address();
    if (of_block) place.append({dwarf::DW_OP_plus_uconst, offsetof(MrLane, block), dwarf::DW_OP_deref});
    place.append({dwarf::DW_OP_plus_uconst, offset});
    carrier->addDebugInfo(builder.createGlobalVariableExpression(unit, name, name, file, 0, type,
                                                                 /*IsLocalToUnit=*/false, /*isDefined=*/true,
                                                                 builder.createExpression(place)));
  };
  variable("threadIdx", index, false, offsetof(MrLane, tid));
  variable("blockIdx", index, true, offsetof(MrBlock, block_idx));
  variable("blockDim", extent, true, offsetof(MrBlock, block_dim));
  variable("gridDim", extent, true, offsetof(MrBlock, grid_dim));
  builder.finalize();
}

}  // namespace

void keep_variables_in_memory(Module& module) {
  for (Function& f : module) {
    const DISubprogram* s = f.getSubprogram();
    if (f.isDeclaration() || !has_sites(f) || !s || s->getUnit()->getEmissionKind() != DICompileUnit::FullDebug ||
        is_of_headers(*s->getFile()))
      continue;
    SmallVector<Value*, 16> variables;
    for (Instruction& i : f.getEntryBlock())
      if (isa<AllocaInst>(i) && (!findDbgDeclares(&i).empty() || !findDVRDeclares(&i).empty())) variables.push_back(&i);
    if (variables.empty()) continue;
    std::string constraints;
    for (std::size_t i = 0; i < variables.size(); ++i) constraints += i ? ",*m" : "*m";
    SmallVector<Type*, 16> types(variables.size(), PointerType::get(f.getContext(), 0));
    InlineAsm* mark = InlineAsm::get(FunctionType::get(Type::getVoidTy(f.getContext()), types, false), mark_text,
                                     constraints, /*hasSideEffects=*/true);
    for (BasicBlock& block : f) {
      unsigned line = 0;
      for (Instruction& i : make_early_inc_range(block)) {
        if (isa<AllocaInst>(i) || isa<PHINode>(i) || isa<IntrinsicInst>(i) || i.isEHPad()) continue;
        const DebugLoc& at = i.getDebugLoc();
        if (!at || at.getLine() == 0 || at.getLine() == line) continue;
        line = at.getLine();
        CallInst* call = CallInst::Create(mark->getFunctionType(), mark, variables, "", i.getIterator());
        call->setDebugLoc(at);
        call->setDoesNotThrow();
        call->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Ref));
        for (auto [n, variable] : enumerate(variables)) {
          call->addParamAttr(n, Attribute::get(f.getContext(), Attribute::ElementType,
                                               cast<AllocaInst>(variable)->getAllocatedType()));
          call->addParamAttr(n, Attribute::NoCapture);
        }
      }
    }
  }
}

bool is_debugger_mark(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const auto* assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && assembly->getAsmString() == mark_text;
}

void keep_description(const GlobalVariable& shared, Function& accessor) {
  SmallVector<DIGlobalVariableExpression*, 1> descriptions;
  shared.getDebugInfo(descriptions);
  if (!descriptions.empty())
    accessor.setMetadata(description_kind, MDNode::get(shared.getContext(), {descriptions[0]}));
}

void note_place(const Function& accessor, std::uint64_t offset) {
  const MDNode* description = accessor.getMetadata(description_kind);
  if (!description) return;
  LLVMContext& c = accessor.getContext();
  const auto place = [&] {
    SmallVector<std::uint64_t, 32> place = lane_address();
    place.append({dwarf::DW_OP_plus_uconst, offsetof(MrLane, block), dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst,
                  offsetof(MrBlock, shared), dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, offset});
    return DIExpression::get(c, place);
  };
  auto* variable = cast<DIGlobalVariableExpression>(description->getOperand(0))->getVariable();
  const_cast<Module*>(accessor.getParent())
      ->getOrInsertNamedMetadata(places_name)
      ->addOperand(MDNode::get(c, {DIGlobalVariableExpression::get(c, variable, place())}));
}

void describe_variables(Module& module, GlobalVariable* carrier) {
  SetVector<DICompileUnit*> units;
  for (const Function& f : module)
    if (const DISubprogram* s = f.getSubprogram(); s && has_sites(f) && s->getUnit()) units.insert(s->getUnit());
  bool any = false;
  for (DICompileUnit* unit : units) {
    if (unit->getEmissionKind() != DICompileUnit::FullDebug) continue;
    describe(module, unit, carrier);
    any = true;
  }
  NamedMDNode* places = module.getNamedMetadata(places_name);
  if (!places) return;
  if (any)
    for (const MDNode* place : places->operands())
      carrier->addDebugInfo(cast<DIGlobalVariableExpression>(place->getOperand(0)));
  places->eraseFromParent();
}

}  // namespace mrcc
