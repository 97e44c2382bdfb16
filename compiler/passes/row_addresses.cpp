#include "row_addresses.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

#include "thread_vectors.h"

namespace mrcc {
using namespace llvm;

std::optional<std::int64_t> RowAddresses::stride(Value* pointer) {
  const auto bytes = stride(se_.getSCEV(pointer));
  return bytes && is_first_known(pointer) ? bytes : std::nullopt;
}

bool RowAddresses::is_same(Value* v) {
  if (loop_.isLoopInvariant(v)) return true;
  if (auto* compare = dyn_cast<ICmpInst>(v)) return is_same(compare->getOperand(0)) && is_same(compare->getOperand(1));
  return se_.isSCEVable(v->getType()) && stride(v) == 0;
}

std::optional<std::int64_t> RowAddresses::stride(const SCEV* s) const {
  if (se_.isLoopInvariant(s, &loop_)) return 0;
  if (const auto* recurrence = dyn_cast<SCEVAddRecExpr>(s)) {
    if (!recurrence->isAffine()) return {};
    const SCEV* step = recurrence->getStepRecurrence(se_);
    // Who goes around an inner loop has gone around it as often as the others who still do.
    if (recurrence->getLoop() != &loop_) return stride(step) == 0 ? stride(recurrence->getStart()) : std::nullopt;
    const auto* number = dyn_cast<SCEVConstant>(step);
    if (!number || number->getAPInt().getSignificantBits() > 32) return {};
    return stride(recurrence->getStart()) == 0 ? std::optional(number->getAPInt().getSExtValue()) : std::nullopt;
  }
  if (isa<SCEVUnknown>(s)) return {};
  std::int64_t sum = 0;
  for (const SCEV* operand : s->operands()) {
    const auto each = stride(operand);
    if (!each || (*each && !isa<SCEVAddExpr>(s))) return {};
    sum += *each;
  }
  return sum;
}

bool RowAddresses::is_first_known(Value* v) {
  if (loop_.isLoopInvariant(v)) return true;
  auto* i = cast<Instruction>(v);
  if (const auto known = first_known_.find(i); known != first_known_.end()) return known->second;
  const auto are_known = [&](auto&& values) { return all_of(values, [&](Value* o) { return is_first_known(o); }); };
  if (auto* phi = dyn_cast<PHINode>(i)) {
    if (phi->getParent() == loop_.getHeader()) return true;
    // A counter of an inner loop.
    const auto* recurrence = se_.isSCEVable(phi->getType()) ? dyn_cast<SCEVAddRecExpr>(se_.getSCEV(phi)) : nullptr;
    if (!recurrence || recurrence->getLoop()->getHeader() != phi->getParent() || !recurrence->isAffine()) return false;
    first_known_[phi] = true;  // if what it becomes is, given that it is
    const bool is = are_known(phi->incoming_values());
    if (!is) first_known_.clear();  // perhaps concluded from it
    return first_known_[phi] = is;
  }
  // Nothing that could be undefined for a thread that doesn't take part, but for flags, which can be dropped.
  const bool sound = isa<GetElementPtrInst, CmpInst, SelectInst>(i) ||
                     (isa<BinaryOperator>(i) && !i->isShift() && !may_trap(*i)) ||
                     (isa<CastInst>(i) && has_vector_form(*i)) || (i->isShift() && isa<ConstantInt>(i->getOperand(1)));
  const bool is = sound && i->getType()->isIntOrPtrTy() && are_known(i->operands());
  return first_known_[i] = is;
}

}  // namespace mrcc
