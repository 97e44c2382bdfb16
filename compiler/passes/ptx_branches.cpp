// Inline PTX with labels. The block that holds the statement is cut at each label and behind each branch; the statement
// itself is always first in the last piece, and what is translated next comes in front of it.
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "ptx.h"

namespace mrcc::ptx {
using namespace llvm;

// Registers, and the statement's outputs, become variables if there are labels.
void Translator::keep_in_variables(const Program& program) {
  LLVMContext& c = module_.getContext();
  for (const Statement& s : program.statements)
    if (!s.label.empty()) labels_[s.label] = BasicBlock::Create(c, "ptx." + s.label, call_->getFunction());
  if (labels_.empty()) return;
  IRBuilder<> entry(&*call_->getFunction()->getEntryBlock().getFirstInsertionPt());
  const auto variable = [&](const std::string& name, unsigned bits) {
    AllocaInst* place = entry.CreateAlloca(IntegerType::get(c, bits));
    const auto known = values_.find(name);
    Value* first = known == values_.end() ? ConstantInt::get(place->getAllocatedType(), 0)
                                          : convert(known->second, {'b', bits});
    b_.CreateStore(first, place);
    variables_[name] = place;
  };
  for (const auto& [name, type] : types_) variable(name, type.bits * type.lanes);
  for (unsigned i = 0; i < outputs_; ++i) {
    const std::string name = "$" + std::to_string(i);
    Operand output;
    output.text = name;
    if (const unsigned bits = width(output)) variable(name, bits);
  }
}

BasicBlock* Translator::cut(const Twine& name) {
  BasicBlock* behind = SplitBlock(call_->getParent(), call_->getIterator());
  behind->setName(name);
  b_.SetInsertPoint(call_);
  return behind;
}

void Translator::place_label(const std::string& name) {
  BasicBlock* stand_in = labels_[name];
  BasicBlock* here = cut("ptx." + name);
  stand_in->replaceAllUsesWith(here);
  stand_in->eraseFromParent();
  labels_[name] = here;
}

bool Translator::branch(const Statement& s) {
  if (s.operands.size() != 1) return false;
  const auto target = labels_.find(s.operands[0].text);
  if (target == labels_.end())
    return fail("inline PTX: there is no label '" + s.operands[0].text + "' in the statement");
  Operand guard;
  guard.text = s.guard;
  guard.inverted = s.guard_inverted;
  Value* holds = s.guard.empty() ? nullptr : read(guard, {'p', 1});
  BasicBlock* from = call_->getParent();
  BasicBlock* next = cut("ptx.next");
  from->getTerminator()->eraseFromParent();
  if (holds)
    BranchInst::Create(target->second, next, holds, from);
  else
    BranchInst::Create(target->second, from);
  return true;
}

// A guarded instruction.
bool Translator::skipped(const Statement& s) {
  Operand guard;
  guard.text = s.guard;
  guard.inverted = s.guard_inverted;
  Value* holds = read(guard, {'p', 1});
  BasicBlock* from = call_->getParent();
  BasicBlock* then = cut("ptx.then");
  const bool done = instruction(s);
  BasicBlock* next = cut("ptx.next");
  from->getTerminator()->eraseFromParent();
  BranchInst::Create(then, next, holds, from);
  return done;
}

bool Translator::statement_between_labels(const Statement& s) {
  if (!s.label.empty()) {
    place_label(s.label);
    return true;
  }
  if (s.words[0] == "bra") return branch(s);
  return s.guard.empty() ? instruction(s) : skipped(s);
}

// The outputs' values where the statement ends; and nothing is left unplaced by a statement that was refused.
void Translator::end_branches() {
  if (failed_)
    for (auto& [name, block] : labels_)
      if (block->empty()) new UnreachableInst(module_.getContext(), block);
  for (auto& [name, place] : variables_) values_[name] = b_.CreateLoad(place->getAllocatedType(), place);
}

}  // namespace mrcc::ptx
