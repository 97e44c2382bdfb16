#include "shared_layout.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Alignment.h"

#include "annotations.h"
#include "callgraph.h"
#include "context.h"
#include "debug_variables.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {
struct Variable {
  Function* accessor;
  std::uint64_t size = 0, align = 1, offset = 0;
  BitVector kernels;  // that reach it
  std::size_t order = 0;
};

// The lowest aligned offset at which `v` overlaps no placed variable that shares a kernel with it.
std::uint64_t first_fit(const Variable& v, ArrayRef<Variable> placed) {
  std::uint64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Variable& p : placed) {
      if (!p.kernels.anyCommon(v.kernels) || offset + v.size <= p.offset || p.offset + p.size <= offset) continue;
      offset = alignTo(p.offset + p.size, v.align);
      moved = true;
    }
  }
  return offset;
}
}  // namespace

DenseMap<Function*, std::uint32_t> lay_out_shared(Module& module, const CallGraph& graph) {
  SmallVector<Function*, 16> kernels;
  for (Function& f : module)
    if (is_kernel(f) && !f.isDeclaration()) kernels.push_back(&f);
  SmallVector<Variable, 16> variables;
  for (Function& f : module) {
    if (!f.hasFnAttribute(kSharedSizeAttr)) continue;
    Variable v;
    v.accessor = &f;
    f.getFnAttribute(kSharedSizeAttr).getValueAsString().getAsInteger(10, v.size);
    f.getFnAttribute(kSharedAlignAttr).getValueAsString().getAsInteger(10, v.align);
    v.kernels.resize(kernels.size());
    v.order = variables.size();
    variables.push_back(v);
  }
  for (auto [index, kernel] : enumerate(kernels)) {
    const SetVector<Function*> reached = graph.reachable(kernel);
    for (Variable& v : variables)
      if (reached.contains(v.accessor)) v.kernels.set(index);
  }
  // Shared ones first, so that a kernel's own variables fill up behind them; then in order of declaration.
  sort(variables, [](const Variable& a, const Variable& b) {
    return std::pair(b.kernels.count(), a.order) < std::pair(a.kernels.count(), b.order);
  });
  for (std::size_t i = 0; i < variables.size(); ++i)
    variables[i].offset = first_fit(variables[i], ArrayRef(variables).take_front(i));

  DenseMap<Function*, std::uint32_t> sizes;
  for (auto [index, kernel] : enumerate(kernels)) {
    std::uint64_t end = 0;
    for (const Variable& v : variables)
      if (v.kernels.test(index)) end = std::max(end, v.offset + v.size);
    sizes[kernel] = end;
  }
  for (Variable& v : variables) {
    for (User* u : make_early_inc_range(v.accessor->users())) {
      auto* call = cast<CallInst>(u);
      IRBuilder<> b(call);
      Value* base = placeholder(b, module, shared_base);
      call->replaceAllUsesWith(b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, v.offset, call->getName()));
      call->eraseFromParent();
    }
    note_place(*v.accessor, v.offset);
    v.accessor->eraseFromParent();
  }
  return sizes;
}

}  // namespace mrcc
