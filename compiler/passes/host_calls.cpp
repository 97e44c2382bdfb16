#include "host_calls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

void trap_host_calls(Module& module) {
  LLVMContext& c = module.getContext();
  for (Function& f : make_early_inc_range(module)) {
    StringRef name = f.getName();
    if (!name.consume_front(kHostOnlyPrefix)) continue;
    const std::string note = "It called " + demangle(name) +
                             ", which is a function for the host alone: declare it __host__ __device__.";
    f.deleteBody();
    f.setComdat(nullptr);
    f.setLinkage(GlobalValue::InternalLinkage);
    f.setVisibility(GlobalValue::DefaultVisibility);
    f.setDSOLocal(true);
    f.removeFnAttr(Attribute::Memory);  // of `pure` and `const` ones
    f.addFnAttr(Attribute::NoReturn);
    f.addFnAttr(Attribute::Cold);
    IRBuilder<> b(BasicBlock::Create(c, "entry", &f));
    FunctionCallee trap = module.getOrInsertFunction("__mr_trap_because", b.getVoidTy(), b.getPtrTy());
    b.CreateCall(trap, {b.CreateGlobalString(note)});
    b.CreateUnreachable();
  }
}

}  // namespace mrcc
