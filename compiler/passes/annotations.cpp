#include "annotations.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include "names.h"
#include "options.h"

namespace mrcc {
using namespace llvm;

namespace {

StringRef string_of(Value* v) {
  auto* gv = dyn_cast<GlobalVariable>(v->stripPointerCasts());
  if (!gv || !gv->hasInitializer()) return {};
  auto* data = dyn_cast<ConstantDataSequential>(gv->getInitializer());
  return data && data->isCString() ? data->getAsCString() : StringRef();
}

// True when the annotation was ours (and is now an attribute).
bool import_one(GlobalObject* object, StringRef text) {
  if (auto* f = dyn_cast<Function>(object)) {
    if (!text.starts_with("mr_")) return false;
    if (text.starts_with("mr_kernel;")) {
      f->addFnAttr(kKernelAttr, text.drop_front(StringRef("mr_kernel;").size()));
      if (f->getCallingConv() != CallingConv::Win64)
        report_fatal_error("millrace: a kernel was generated without its calling convention");
      f->setCallingConv(CallingConv::C);
    }
    if (text.consume_front("mr_blocks;")) {
      if (options().stage == Stage::unit) text.consume_front("only;");  // other units may launch it too
      f->addFnAttr(kBlocksAttr, text);
    }
    return true;
  }
  auto* gv = dyn_cast<GlobalVariable>(object);
  if (!gv) return false;
  for (StringRef kind : {"device", "constant", "managed", "shared"}) {
    if (text != ("mr_" + kind).str()) continue;
    // A managed variable is a device variable too: managed wins whatever the order.
    if (!gv->hasAttribute(kVariableAttr) || kind == "managed") gv->addAttribute(kVariableAttr, kind);
    return true;
  }
  return false;
}

void drop_parameter_annotations(Module& module) {
  for (Function& f : module) {
    if (!f.getName().starts_with("llvm.var.annotation")) continue;
    for (User* u : make_early_inc_range(f.users())) {
      auto* call = dyn_cast<CallInst>(u);
      if (call && string_of(call->getArgOperand(1)).starts_with("mr_")) call->eraseFromParent();
    }
  }
}

template <typename Callback> void split(StringRef text, char separator, Callback&& callback) {
  while (!text.empty()) {
    auto [head, tail] = text.split(separator);
    callback(head);
    text = tail;
  }
}

void three_numbers(StringRef text, std::uint32_t* out) {
  unsigned i = 0;
  split(text, ':', [&](StringRef s) {
    if (i < 3) s.getAsInteger(10, out[i++]);
  });
}

}  // namespace

void import_annotations(Module& module) {
  drop_parameter_annotations(module);
  GlobalVariable* table = module.getGlobalVariable("llvm.global.annotations");
  if (!table || !table->hasInitializer()) return;
  auto* entries = cast<ConstantArray>(table->getInitializer());
  SmallVector<Constant*, 16> kept;
  for (Use& use : entries->operands()) {
    auto* entry = cast<ConstantStruct>(use.get());
    auto* object = dyn_cast<GlobalObject>(entry->getOperand(0)->stripPointerCasts());
    if (!object || !import_one(object, string_of(entry->getOperand(1)))) kept.push_back(entry);
  }
  Type* element = entries->getType()->getElementType();
  table->eraseFromParent();
  if (kept.empty()) return;
  auto* type = ArrayType::get(element, kept.size());
  auto* rest = new GlobalVariable(module, type, false, GlobalValue::AppendingLinkage, ConstantArray::get(type, kept),
                                  "llvm.global.annotations");
  rest->setSection("llvm.metadata");
}

bool is_kernel(const Function& function) { return function.hasFnAttribute(kKernelAttr); }

KernelInfo kernel_info(const Function& kernel) {
  KernelInfo info;
  StringRef text = kernel.getFnAttribute(kKernelAttr).getValueAsString();
  auto [fields, file] = text.split(";file=");
  info.file = file.str();
  StringRef blocks = kernel.getFnAttribute(kBlocksAttr).getValueAsString();
  info.only_these_blocks = blocks.consume_front("only;");
  split(blocks, ',', [&](StringRef block) { three_numbers(block, info.blocks.emplace_back().data()); });
  split(fields, ';', [&](StringRef field) {
    auto [key, value] = field.split('=');
    if (key == "line") value.getAsInteger(10, info.line);
    if (key == "bounds") three_numbers(value, info.bounds);
    if (key == "cluster") three_numbers(value, info.cluster);
    if (key != "params") return;
    split(value, ',', [&](StringRef item) {
      std::uint32_t numbers[3] = {};
      StringRef rest = item;
      for (std::uint32_t& n : numbers) {
        auto [head, tail] = rest.split(':');
        head.getAsInteger(10, n);
        rest = tail;
      }
      info.parameters.push_back({numbers[0], numbers[1], numbers[2], rest.contains('p'), rest.contains('c')});
      info.args_size = numbers[0] + numbers[1];
    });
  });
  return info;
}

}  // namespace mrcc
