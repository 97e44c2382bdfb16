#include "context.h"

#include <cstddef>

#include <simt/abi.h>

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include "annotations.h"
#include "names.h"

namespace mrcc {
using namespace llvm;

namespace {

constexpr const char* kItemNames[item_count] = {"tid.x",
                                                "tid.y",
                                                "tid.z",
                                                "block.x",
                                                "block.y",
                                                "block.z",
                                                "bdim.x",
                                                "bdim.y",
                                                "bdim.z",
                                                "gdim.x",
                                                "gdim.y",
                                                "gdim.z",
                                                "shared",
                                                "dynamic",
                                                "block",
                                                "misaligned",
                                                "misaligned.parameters"};

Value* load_at(IRBuilderBase& b, Value* base, std::size_t offset, Type* type, const Twine& name) {
  Value* address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
  return b.CreateAlignedLoad(type, address, Align(type->isPointerTy() ? 8 : 4), name);
}

void set_range(Value* value, std::uint32_t low, std::uint32_t high) {
  auto* load = cast<LoadInst>(value);
  auto* type = Type::getInt32Ty(load->getContext());
  Metadata* bounds[] = {ConstantAsMetadata::get(ConstantInt::get(type, low)),
                        ConstantAsMetadata::get(ConstantInt::get(type, high))};
  load->setMetadata(LLVMContext::MD_range, MDNode::get(load->getContext(), bounds));
}

}  // namespace

Type* item_type(LLVMContext& context, Item item) {
  return item >= shared_base ? static_cast<Type*>(PointerType::get(context, 0)) : Type::getInt32Ty(context);
}

Value* placeholder(IRBuilderBase& builder, Module& module, Item item) {
  LLVMContext& c = module.getContext();
  const std::string name = (kContextPrefix + kItemNames[item]).str();
  Function* f = module.getFunction(name);
  if (!f) {
    f = Function::Create(FunctionType::get(item_type(c, item), false), GlobalValue::ExternalLinkage, name, module);
    f->setDoesNotAccessMemory();
    f->setDoesNotThrow();
    f->setWillReturn();
    f->setSpeculatable();
    f->addFnAttr(Attribute::NoSync);
    f->addFnAttr(Attribute::NoFree);
    f->addRetAttr(Attribute::NoUndef);
    if (item == shared_base || item == dynamic_base) f->addRetAttr(Attribute::getWithAlignment(c, Align(16)));
  }
  return builder.CreateCall(f, {}, kItemNames[item]);
}

Item placeholder_item(const Function& function) {
  StringRef name = function.getName();
  if (!name.consume_front(kContextPrefix)) return item_count;
  for (unsigned i = 0; i < item_count; ++i)
    if (name == kItemNames[i]) return static_cast<Item>(i);
  return item_count;
}

Value* lane_pointer(IRBuilderBase& b) {
  auto* type = FunctionType::get(b.getInt64Ty(), false);
  CallInst* sp = b.CreateCall(
      type, InlineAsm::get(type, "mov %rsp, $0", "=r,~{dirflag},~{fpsr},~{flags}", /*hasSideEffects=*/false));
  sp->setDoesNotAccessMemory();
  sp->setDoesNotThrow();
  sp->addFnAttr(Attribute::WillReturn);
  Value* base = b.CreateAnd(sp, b.getInt64(~(MR_STACK_BYTES - 1)));
  Value* line = b.CreateShl(b.CreateAnd(b.CreateLShr(sp, MR_STACK_BITS), b.getInt64(63)), 6);
  return b.CreateIntToPtr(b.CreateOr(base, line), b.getPtrTy(), "lane");
}

Value* load_block_pointer(IRBuilderBase& b, Value* lane) {
  return load_at(b, lane, offsetof(MrLane, block), b.getPtrTy(), "block");
}

Value* load_item(IRBuilderBase& b, Item item, Value* lane, Value* block) {
  Type* i32 = b.getInt32Ty();
  const unsigned axis = item % 3;
  switch (item) {
  case tid_x:
  case tid_y:
  case tid_z: {
    Value* v = load_at(b, lane, offsetof(MrLane, tid) + 4 * axis, i32, kItemNames[item]);
    set_range(v, 0, axis == 2 ? 64 : 1024);
    return v;
  }
  case block_x:
  case block_y:
  case block_z: return load_at(b, block, offsetof(MrBlock, block_idx) + 4 * axis, i32, kItemNames[item]);
  case bdim_x:
  case bdim_y:
  case bdim_z: {
    Value* v = load_at(b, block, offsetof(MrBlock, block_dim) + 4 * axis, i32, kItemNames[item]);
    set_range(v, 1, axis == 2 ? 65 : 1025);
    return v;
  }
  case gdim_x:
  case gdim_y:
  case gdim_z: {
    Value* v = load_at(b, block, offsetof(MrBlock, grid_dim) + 4 * axis, i32, kItemNames[item]);
    set_range(v, 1, axis == 0 ? 0x80000000u : 65536);
    return v;
  }
  case shared_base: return load_at(b, block, offsetof(MrBlock, shared), b.getPtrTy(), "shared");
  case dynamic_base: {
    Value* base = load_at(b, block, offsetof(MrBlock, shared), b.getPtrTy(), "shared");
    Value* offset = load_at(b, block, offsetof(MrBlock, dynamic_offset), i32, "dynamic.offset");
    return b.CreateInBoundsGEP(b.getInt8Ty(), base, b.CreateZExt(offset, b.getInt64Ty()), "dynamic");
  }
  case misaligned_bits:
  case misaligned_parameters:
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane, offsetof(MrLane, spare) + 4 * (item - misaligned_bits),
                                        kItemNames[item]);
  default: return block;
  }
}

Value* lane_misaligned_bits(IRBuilderBase& b, Value* lane) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane, offsetof(MrLane, spare) + 8, "misaligned.in.functions");
}

void store_thread_items(IRBuilderBase& b, Value* lane, ArrayRef<Value*> tid, ArrayRef<Value*> block_dim) {
  auto store = [&](Value* v, std::size_t offset) {
    b.CreateAlignedStore(v, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), lane, offset), Align(4));
  };
  for (unsigned i = 0; i < 3; ++i) store(tid[i], offsetof(MrLane, tid) + 4 * i);
  Value* row = b.CreateAdd(tid[1], b.CreateMul(tid[2], block_dim[1]));
  store(b.CreateAdd(tid[0], b.CreateMul(row, block_dim[0])), offsetof(MrLane, linear));
}

namespace {

// Services whose runtime side reads MrLane::tid: in loop mode the lane holds it only if stored before the call.
void store_thread_before_services(Module& module) {
  for (StringRef name : {"__mr_assert_fail", "__mr_trap", "__mr_trap_because", "__mr_misaligned", "__mr_activemask"}) {
    Function* service = module.getFunction(name);
    if (!service) continue;
    for (User* u : service->users()) {
      auto* call = dyn_cast<CallInst>(u);
      if (!call || call->getCalledFunction() != service) continue;
      IRBuilder<> b(call);
      Value* tid[3];
      Value* dim[2];
      for (unsigned i = 0; i < 3; ++i) tid[i] = placeholder(b, module, static_cast<Item>(tid_x + i));
      for (unsigned i = 0; i < 2; ++i) dim[i] = placeholder(b, module, static_cast<Item>(bdim_x + i));
      store_thread_items(b, lane_pointer(b), tid, dim);
    }
  }
}

DenseMap<Function*, ItemSet> needed_items(Module& module) {
  DenseMap<Function*, ItemSet> need;
  SmallVector<Function*, 32> work;
  auto add = [&](Function* f, ItemSet items) {
    ItemSet& known = need[f];
    if ((known | items) == known) return;
    known |= items;
    work.push_back(f);
  };
  for (Function& f : module) {
    const Item item = placeholder_item(f);
    if (item == item_count) continue;
    for (User* u : f.users()) add(cast<CallInst>(u)->getFunction(), 1u << item);
  }
  while (!work.empty()) {
    Function* callee = work.pop_back_val();
    const ItemSet items = need[callee];
    for (User* u : callee->users())
      if (auto* call = dyn_cast<CallBase>(u); call && call->getCalledFunction() == callee)
        add(call->getFunction(), items);
  }
  return need;
}

Extended extend(Function* f, ItemSet items) {
  SmallVector<Type*, 16> types(f->getFunctionType()->params());
  for (unsigned i = 0; i < item_count; ++i)
    if (items >> i & 1) types.push_back(item_type(f->getContext(), static_cast<Item>(i)));
  auto* body = Function::Create(FunctionType::get(f->getReturnType(), types, false), GlobalValue::InternalLinkage,
                                f->getName() + ".body");
  f->getParent()->getFunctionList().insert(f->getIterator(), body);
  body->copyAttributesFrom(f);
  body->setLinkage(GlobalValue::InternalLinkage);
  body->setVisibility(GlobalValue::DefaultVisibility);
  body->setDSOLocal(true);
  body->setComdat(nullptr);
  body->removeFnAttr(kKernelAttr);
  body->setSubprogram(f->getSubprogram());
  f->setSubprogram(nullptr);
  body->splice(body->begin(), f);
  for (auto [from, to] : zip(f->args(), body->args())) {
    from.replaceAllUsesWith(&to);
    to.takeName(&from);
  }
  unsigned index = f->arg_size();
  for (unsigned i = 0; i < item_count; ++i) {
    if (!(items >> i & 1)) continue;
    Argument* a = body->getArg(index++);
    a->setName(kItemNames[i]);
    a->addAttr(Attribute::NoUndef);
    if (i == misaligned_bits || i == misaligned_parameters)
      a->addAttr(Attribute::NoAlias);  // device code has no other way to it
    // Windows and dynamic memory start at multiples of 16.
    if (i == shared_base || i == dynamic_base) {
      a->addAttr(Attribute::getWithAlignment(body->getContext(), Align(16)));
      body->addParamAttr(a->getArgNo(), Attribute::get(body->getContext(), kSharedBaseAttr));
    }
  }
  return {body, items};
}

Value* item_argument(const Extended& e, Item item) {
  const unsigned before = popcount(e.items & ((1u << item) - 1));
  return e.body->getArg(e.body->arg_size() - popcount(e.items) + before);
}

void rewrite_calls(Function* callee, const Extended& target, const DenseMap<Function*, Extended>& by_body) {
  for (User* u : make_early_inc_range(callee->users())) {
    auto* call = dyn_cast<CallInst>(u);
    if (!call || call->getCalledFunction() != callee || call->getFunctionType() != callee->getFunctionType()) continue;
    SmallVector<Value*, 16> args(call->args());
    const Extended caller = by_body.lookup(call->getFunction());
    for (unsigned i = 0; i < item_count; ++i)
      if (target.items >> i & 1) args.push_back(item_argument(caller, static_cast<Item>(i)));
    SmallVector<OperandBundleDef, 1> bundles;
    call->getOperandBundlesAsDefs(bundles);
    CallInst* replacement = CallInst::Create(target.body, args, bundles, "", call->getIterator());
    replacement->copyMetadata(*call);
    replacement->setDebugLoc(call->getDebugLoc());
    replacement->setAttributes(call->getAttributes());
    replacement->setTailCallKind(call->getTailCallKind());
    replacement->setCallingConv(target.body->getCallingConv());  // units of -rdc are optimised already: fastcc
    replacement->copyIRFlags(call);
    call->replaceAllUsesWith(replacement);
    replacement->takeName(call);
    call->eraseFromParent();
  }
}

void build_shim(Function* f, const Extended& e) {
  IRBuilder<> b(BasicBlock::Create(f->getContext(), "entry", f));
  f->setComdat(nullptr);
  f->setLinkage(GlobalValue::InternalLinkage);
  Value* lane = lane_pointer(b);
  Value* block = load_block_pointer(b, lane);
  SmallVector<Value*, 16> args;
  for (Argument& a : f->args()) args.push_back(&a);
  for (unsigned i = 0; i < item_count; ++i)
    if (e.items >> i & 1) args.push_back(load_item(b, static_cast<Item>(i), lane, block));
  CallInst* call = b.CreateCall(e.body, args);
  call->setCallingConv(e.body->getCallingConv());
  call->setAttributes(f->getAttributes().removeFnAttributes(f->getContext()));
  if (f->getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(call);
}

}  // namespace

DenseMap<Function*, Extended> extend_signatures(Module& module, ItemSet for_kernels) {
  store_thread_before_services(module);
  const DenseMap<Function*, ItemSet> need = needed_items(module);
  SmallVector<Function*, 32> order;
  for (Function& f : module)
    if (!f.isDeclaration() && (need.count(&f) || is_kernel(f))) order.push_back(&f);
  DenseMap<Function*, Extended> extended, by_body;
  for (Function* f : order) {
    const Extended e = extend(f, need.lookup(f) | (is_kernel(*f) ? for_kernels : 0));
    extended[f] = e;
    by_body[e.body] = e;
  }
  for (Function* f : order) rewrite_calls(f, extended[f], by_body);
  for (Function* f : order) {
    const Extended& e = extended[f];
    for (BasicBlock& block : *e.body)
      for (Instruction& i : make_early_inc_range(block)) {
        auto* call = dyn_cast<CallInst>(&i);
        if (!call || !call->getCalledFunction()) continue;
        const Item item = placeholder_item(*call->getCalledFunction());
        if (item == item_count) continue;
        call->replaceAllUsesWith(item_argument(e, item));
        call->eraseFromParent();
      }
  }
  DenseMap<Function*, Extended> kernels;
  for (Function* f : order) {
    if (is_kernel(*f)) {
      kernels[f] = extended[f];
    } else if (f->use_empty()) {
      f->eraseFromParent();
    } else {
      build_shim(f, extended[f]);
    }
  }
  for (Function& f : make_early_inc_range(module))
    if (placeholder_item(f) != item_count && f.use_empty()) f.eraseFromParent();
  return kernels;
}

}  // namespace mrcc
