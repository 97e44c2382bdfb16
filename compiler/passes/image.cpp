#include "image.h"

#include <simt/abi.h>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr const char* kSection = "mr_data";
// The name's beginning makes it a section that takes no room in the file.
constexpr const char* kZeroSection = ".bss.mr_zero";

class Builder {
 public:
  explicit Builder(Module& module) : module_(module), c_(module.getContext()) {}

  Constant* i32(std::uint32_t v) { return ConstantInt::get(Type::getInt32Ty(c_), v); }
  Constant* i64(std::uint64_t v) { return ConstantInt::get(Type::getInt64Ty(c_), v); }
  Constant* null() { return ConstantPointerNull::get(PointerType::get(c_, 0)); }
  Constant* string(StringRef s) {
    Constant* data = ConstantDataArray::getString(c_, s);
    return table_of(data, ".mr.string");
  }
  // A constant of the image; null for an empty array.
  Constant* array(ArrayRef<Constant*> elements, const Twine& name) {
    if (elements.empty()) return null();
    return table_of(ConstantArray::get(ArrayType::get(elements[0]->getType(), elements.size()), elements), name);
  }
  Constant* record(ArrayRef<Constant*> fields, std::uint64_t size) {
    Constant* value = ConstantStruct::getAnon(fields);
    if (module_.getDataLayout().getTypeAllocSize(value->getType()) != size)
      report_fatal_error("millrace: table layout differs from simt/abi.h");
    return value;
  }
  GlobalVariable* table_of(Constant* value, const Twine& name) {
    return new GlobalVariable(module_, value->getType(), /*isConstant=*/true, GlobalValue::PrivateLinkage, value, name);
  }

 private:
  Module& module_;
  LLVMContext& c_;
};

std::uint32_t kind_number(StringRef kind) {
  return kind == "constant" ? MR_VAR_CONSTANT : kind == "managed" || kind == "slot" ? MR_VAR_MANAGED : MR_VAR_DEVICE;
}

// Constant memory can't change while a kernel runs, whatever the kernel writes.
void mark_constant_loads(GlobalVariable* gv) {
  SmallVector<User*, 16> work(gv->users());
  while (!work.empty()) {
    User* u = work.pop_back_val();
    if (auto* load = dyn_cast<LoadInst>(u)) {
      if (load->isSimple()) load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(load->getContext(), {}));
    } else if (isa<GEPOperator>(u)) {
      work.append(u->user_begin(), u->user_end());
    }
  }
}

// The variables, those with initial values and those that begin as zeros, each in a section of their own.
struct Variables {
  SmallVector<GlobalVariable*, 16> all;
  bool any_data = false, any_zero = false;
};

Variables place_variables(Module& module) {
  Variables variables;
  for (GlobalVariable& gv : module.globals()) {
    if (gv.isDeclaration() || !gv.hasAttribute(kVariableAttr)) continue;
    gv.setConstant(false);
    gv.setComdat(nullptr);
    gv.setLinkage(GlobalValue::InternalLinkage);
    gv.setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    gv.setExternallyInitialized(true);
    const StringRef kind = gv.getAttribute(kVariableAttr).getValueAsString();
    // A slot is set once, and a reset must not undo that.
    const bool zero = gv.getInitializer()->isNullValue() && kind != "slot";
    gv.setSection(zero ? kZeroSection : kSection);
    (zero ? variables.any_zero : variables.any_data) = true;
    if (kind == "constant") mark_constant_loads(&gv);
    variables.all.push_back(&gv);
  }
  return variables;
}

// A page-aligned marker in the variables' section. Emission follows the module's order: the first is put before all
// variables.
GlobalVariable* marker(Module& module, const char* section, const char* name, std::uint64_t size,
                       GlobalVariable* before) {
  auto* type = ArrayType::get(Type::getInt8Ty(module.getContext()), size);
  auto* gv = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, ConstantAggregateZero::get(type),
                                name, before);
  gv->setSection(section);
  gv->setAlignment(Align(kPage));
  return gv;
}

Constant* kernel_record(Builder& b, const KernelEntry& k) {
  SmallVector<Constant*, 8> params;
  for (const Parameter& p : k.info.parameters)
    params.push_back(b.record({b.i32(p.offset), b.i32(p.size), b.i32(p.align)}, sizeof(MrParam)));
  return b.record({b.string(k.name), k.run_blocks ? static_cast<Constant*>(k.run_blocks) : b.null(), k.run_lane,
                   b.array(params, ".mr.params"), b.i32(k.info.parameters.size()), b.i32(k.info.args_size),
                   b.i32(k.static_shared), b.i32(k.flags), b.i32(k.info.bounds[0]), b.i32(k.info.bounds[1]),
                   b.i32(k.info.bounds[2]), b.i32(k.info.cluster[0]), b.i32(k.info.cluster[1]),
                   b.i32(k.info.cluster[2]), k.info.file.empty() ? b.null() : b.string(k.info.file), b.i32(k.info.line),
                   // A plausible count for cudaFuncGetAttributes; nothing is allocated by it.
                   b.i32(16 + 2 * k.info.parameters.size()), b.i32(k.local_bytes), b.i32(0)},
                  sizeof(MrKernel));
}

std::uint32_t cpu_level(StringRef march) {
  if (march == "x86-64-v3") return 3;
  if (march == "x86-64-v4") return 4;
  return 0xffff;
}

}  // namespace

void emit_image(Module& module, ArrayRef<KernelEntry> kernels, StringRef march) {
  Builder b(module);
  const Variables variables = place_variables(module);
  Constant *begin = b.null(), *end = b.null(), *zero_begin = b.null(), *zero_end = b.null();
  if (variables.any_data) {
    begin = marker(module, kSection, ".mr.data.begin", kPage, &*module.global_begin());
    end = marker(module, kSection, ".mr.data.end", kPage, nullptr);
  }
  if (variables.any_zero) {
    zero_begin = marker(module, kZeroSection, ".mr.zero.begin", kPage, &*module.global_begin());
    zero_end = marker(module, kZeroSection, ".mr.zero.end", kPage, nullptr);
  }
  SmallVector<Constant*, 16> kernel_records, variable_records;
  for (const KernelEntry& k : kernels) kernel_records.push_back(kernel_record(b, k));
  for (GlobalVariable* gv : variables.all) {
    const StringRef kind = gv->getAttribute(kVariableAttr).getValueAsString();
    StringRef name = gv->getName();
    const bool slot = kind == "slot";
    if (slot) name.consume_back(kManagedSlotSuffix);
    variable_records.push_back(
        b.record({b.string(name), gv, b.i64(module.getDataLayout().getTypeAllocSize(gv->getValueType())),
                  b.i32(kind_number(kind)), b.i32(slot ? MR_VAR_IS_SLOT : 0)},
                 sizeof(MrVariable)));
  }
  // Set by the runtime; read by the trampolines of the device runtime archive.
  auto* services = new GlobalVariable(module, PointerType::get(module.getContext(), 0), false,
                                      GlobalValue::ExternalLinkage, b.null(), "__mr_services");
  services->setVisibility(GlobalValue::HiddenVisibility);
  services->setDSOLocal(true);
  Constant* image = b.record({b.i32(MR_ABI_VERSION), b.i32(cpu_level(march)), b.string(march),
                              b.array(kernel_records, ".mr.kernels"), b.i64(kernels.size()),
                              b.array(variable_records, ".mr.variables"), b.i64(variables.all.size()), begin, end,
                              zero_begin, zero_end, services},
                             sizeof(MrImage));
  new GlobalVariable(module, image->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, image, "__mr_image");
}

}  // namespace mrcc
