#include "ptx.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <simt/abi.h>

#include "context.h"

namespace mrcc {
using namespace llvm;

namespace ptx {

Translator::Translator(CallInst* call) : call_(call), module_(*call->getModule()), b_(call) {
  const auto* assembly = cast<InlineAsm>(call->getCalledOperand());
  unsigned argument = 0, number = 0;
  for (const auto& c : assembly->ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber || c.Type == InlineAsm::isLabel) continue;
    const std::string name = "$" + std::to_string(number++);
    if (c.Type == InlineAsm::isOutput) {
      if (c.isIndirect)
        values_[name] = call->getArgOperand(argument++);
      else
        ++outputs_;
      continue;
    }
    Value* value = call->getArgOperand(argument++);
    unsigned tied = 0;
    if (!c.Codes.empty() && !StringRef(c.Codes[0]).getAsInteger(10, tied)) values_["$" + std::to_string(tied)] = value;
    values_[name] = value;
  }
}

bool Translator::fail(const Twine& why) {
  if (!failed_) module_.getContext().emitError(call_, why);
  failed_ = true;
  return false;
}

bool Translator::run(const Program& program) {
  if (!program.error.empty()) return fail("inline PTX: '" + program.error + "' has no translation for CPUs");
  types_["%cc"] = {'p', 1};
  for (const Declaration& d : program.registers) types_[d.name] = d.type;
  keep_in_variables(program);
  for (const Statement& s : program.statements) {
    if (!(!labels_.empty() ? statement_between_labels(s) : s.guard.empty() ? instruction(s) : guarded(s)))
      fail("inline PTX: the instruction '" + s.full + "' has no translation for CPUs");
    if (failed_) break;
  }
  end_branches();
  return !failed_;
}

// The instruction in a block of its own; what it writes is merged with what was there.
bool Translator::guarded(const Statement& s) {
  Operand guard;
  guard.text = s.guard;
  guard.inverted = s.guard_inverted;
  Value* holds = read(guard, {'p', 1});
  const std::map<std::string, Value*> before = values_;
  BasicBlock* from = b_.GetInsertBlock();
  Instruction* then = SplitBlockAndInsertIfThen(holds, call_, /*Unreachable=*/false);
  b_.SetInsertPoint(then);
  const bool done = instruction(s);
  BasicBlock* last = b_.GetInsertBlock();
  BasicBlock* join = call_->getParent();
  IRBuilder<> merge(&join->front());
  for (auto& [name, value] : values_) {
    const auto old = before.find(name);
    if (old != before.end() && old->second == value) continue;
    Value* other = old != before.end() ? old->second : Constant::getNullValue(value->getType());
    if (other->getType() != value->getType()) {
      IRBuilder<> at(from->getTerminator());
      if (other->getType()->isPointerTy()) other = at.CreatePtrToInt(other, at.getInt64Ty());
      Type t{'b', static_cast<unsigned>(value->getType()->getScalarSizeInBits())};
      IRBuilder<>::InsertPointGuard keep(b_);
      b_.SetInsertPoint(from->getTerminator());
      other = convert(other, t);
      if (other->getType() != value->getType()) other = b_.CreateBitCast(other, value->getType());
    }
    PHINode* phi = merge.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, last);
    phi->addIncoming(other, from);
    value = phi;
  }
  b_.SetInsertPoint(call_);
  return done;
}

Value* Translator::result() {
  llvm::Type* type = call_->getType();
  if (type->isVoidTy()) return nullptr;
  const auto output = [&](unsigned n, llvm::Type* t) -> Value* {
    const auto found = values_.find("$" + std::to_string(n));
    if (found == values_.end()) return Constant::getNullValue(t);
    Value* v = found->second;
    if (v->getType() == t) return v;
    if (t->isPointerTy()) return b_.CreateIntToPtr(convert(v, {'b', 64}), t);
    v = convert(v, {'b', static_cast<unsigned>(t->getPrimitiveSizeInBits().getFixedValue())});
    return b_.CreateBitCast(v, t);
  };
  auto* record = dyn_cast<StructType>(type);
  if (!record) return output(0, type);
  Value* all = PoisonValue::get(type);
  for (unsigned i = 0; i < outputs_; ++i) all = b_.CreateInsertValue(all, output(i, record->getElementType(i)), i);
  return all;
}

llvm::Type* Translator::llvm_type(Type t) {
  LLVMContext& c = module_.getContext();
  llvm::Type* one = t.kind == 'h'                   ? llvm::Type::getBFloatTy(c)
                    : t.kind == 'f' && t.bits == 16 ? llvm::Type::getHalfTy(c)
                    : t.kind == 'f' && t.bits == 32 ? llvm::Type::getFloatTy(c)
                    : t.kind == 'f' && t.bits == 64 ? llvm::Type::getDoubleTy(c)
                                                    : static_cast<llvm::Type*>(IntegerType::get(c, t.bits));
  return t.lanes == 1 ? one : FixedVectorType::get(one, t.lanes);
}

// The register's bits as another type: truncated, or extended by zeros.
Value* Translator::convert(Value* v, Type t) {
  llvm::Type* to = llvm_type(t);
  if (v->getType() == to) return v;
  if (v->getType()->isPointerTy()) v = b_.CreatePtrToInt(v, b_.getInt64Ty());
  const unsigned from_bits = v->getType()->getPrimitiveSizeInBits().getFixedValue();
  if (!v->getType()->isIntegerTy()) v = b_.CreateBitCast(v, b_.getIntNTy(from_bits));
  if (t.kind == 'p') return from_bits == 1 ? v : b_.CreateICmpNE(v, ConstantInt::get(v->getType(), 0));
  v = b_.CreateZExtOrTrunc(v, b_.getIntNTy(t.bits * t.lanes));
  return to->isIntegerTy() ? v : b_.CreateBitCast(v, to);
}

Value* Translator::read(const Operand& o, Type t) {
  if (o.kind == Operand::number) {
    if (t.kind == 'p') return b_.getInt1(o.bits != 0);
    if (t.is_float() && t.lanes == 1 && o.literal != 'i') {
      const double d = o.literal == 'f' ? bit_cast<float>(static_cast<std::uint32_t>(o.bits))
                                        : bit_cast<double>(o.bits);
      return ConstantFP::get(llvm_type(t), d);
    }
    if (o.literal == 'f') return convert(b_.getInt32(static_cast<std::uint32_t>(o.bits)), t);
    return convert(ConstantInt::get(b_.getIntNTy(t.bits * t.lanes), o.bits), t);
  }
  if (o.kind == Operand::vector) {
    const unsigned part = t.bits / std::max<std::size_t>(o.parts.size(), 1);
    Value* all = b_.getIntN(t.bits, 0);
    for (std::size_t i = 0; i < o.parts.size(); ++i) {
      Value* v = b_.CreateZExt(read(o.parts[i], {'b', part}), b_.getIntNTy(t.bits));
      all = b_.CreateOr(all, b_.CreateShl(v, part * i));
    }
    return convert(all, t);
  }
  Value* v = nullptr;
  if (const auto variable = variables_.find(o.text); variable != variables_.end()) {
    v = b_.CreateLoad(variable->second->getAllocatedType(), variable->second);
  } else if (const auto found = values_.find(o.text); found != values_.end()) {
    v = found->second;
  } else if (types_.count(o.text) || StringRef(o.text).starts_with("$")) {
    v = Constant::getNullValue(llvm_type(types_.count(o.text) ? types_[o.text] : t));
  } else {
    v = special(o.text);
    if (!v) {
      fail("inline PTX: '" + o.text + "' is neither declared here nor a special register that has a translation");
      return Constant::getNullValue(llvm_type(t));
    }
  }
  v = convert(v, t);
  return o.inverted ? b_.CreateNot(v) : v;
}

void Translator::write_name(const std::string& name, Value* v) {
  if (name == "_" || name.empty()) return;
  const auto variable = variables_.find(name);
  if (variable == variables_.end()) {
    values_[name] = v;
    return;
  }
  const unsigned bits = variable->second->getAllocatedType()->getIntegerBitWidth();
  b_.CreateStore(convert(v, bits == 1 ? Type{'p', 1} : Type{'b', bits}), variable->second);
}

void Translator::write(const Operand& o, Value* v) {
  if (o.kind != Operand::vector) return write_name(o.text, v);
  const unsigned bits = v->getType()->getPrimitiveSizeInBits().getFixedValue();
  const unsigned part = bits / std::max<std::size_t>(o.parts.size(), 1);
  v = convert(v, {'b', bits});
  for (std::size_t i = 0; i < o.parts.size(); ++i)
    write(o.parts[i], b_.CreateTrunc(b_.CreateLShr(v, part * i), b_.getIntNTy(part)));
}

unsigned Translator::width(const Operand& o) {
  if (const auto found = types_.find(o.text); found != types_.end()) return found->second.bits * found->second.lanes;
  unsigned n = 0;
  if (StringRef(o.text).drop_front().getAsInteger(10, n) || n >= outputs_) return 0;
  llvm::Type* t = call_->getType();
  if (auto* record = dyn_cast<StructType>(t)) t = record->getElementType(n);
  return t->isPointerTy() ? 64 : t->getPrimitiveSizeInBits().getFixedValue();
}

Value* Translator::service(StringRef name, llvm::Type* result, ArrayRef<Value*> args) {
  SmallVector<llvm::Type*, 6> types;
  for (Value* v : args) types.push_back(v->getType());
  FunctionCallee f = module_.getOrInsertFunction(name, FunctionType::get(result, types, false));
  CallInst* call = b_.CreateCall(f, args);
  call->setDoesNotThrow();
  call->addFnAttr(Attribute::Convergent);
  return call;
}

Value* Translator::intrinsic(unsigned id, ArrayRef<llvm::Type*> types, ArrayRef<Value*> args) {
  return b_.CreateIntrinsic(static_cast<Intrinsic::ID>(id), types, args);
}

Value* Translator::special(StringRef name) {
  if (!name.consume_front("%")) return nullptr;
  const auto item = [&](Item i) { return placeholder(b_, module_, i); };
  const auto axis = [&](StringRef prefix, Item first) -> Value* {
    StringRef rest = name;
    if (!rest.consume_front(prefix) || rest.size() != 1 || rest[0] < 'x' || rest[0] > 'z') return nullptr;
    return item(static_cast<Item>(first + (rest[0] - 'x')));
  };
  for (auto [prefix, first] : {std::pair{"tid.", tid_x}, {"ntid.", bdim_x}, {"ctaid.", block_x}, {"nctaid.", gdim_x}})
    if (Value* v = axis(prefix, first)) return v;
  const auto rank = [&] {
    return b_.CreateAdd(item(tid_x),
                        b_.CreateMul(item(bdim_x), b_.CreateAdd(item(tid_y), b_.CreateMul(item(bdim_y), item(tid_z)))));
  };
  const auto lane = [&] { return b_.CreateAnd(rank(), i32(31)); };
  const auto threads = [&] { return b_.CreateMul(item(bdim_x), b_.CreateMul(item(bdim_y), item(bdim_z))); };
  const auto field = [&](unsigned offset) {
    return b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), item(block_pointer), offset));
  };
  if (name == "laneid") return lane();
  if (name == "warpid") return b_.CreateLShr(rank(), 5);
  if (name == "nwarpid") return b_.CreateLShr(b_.CreateAdd(threads(), i32(31)), 5);
  if (name == "smid") return b_.CreateURem(item(block_x), i32(132));
  if (name == "nsmid") return i32(132);
  if (name == "gridid")
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), item(block_pointer),
                                                                        offsetof(MrBlock, grid_id)));
  if (name == "clock64") return intrinsic(Intrinsic::readcyclecounter, {}, {});
  if (name == "clock") return b_.CreateTrunc(intrinsic(Intrinsic::readcyclecounter, {}, {}), b_.getInt32Ty());
  if (name == "clock_hi")
    return b_.CreateTrunc(b_.CreateLShr(intrinsic(Intrinsic::readcyclecounter, {}, {}), 32), b_.getInt32Ty());
  if (name.starts_with("globaltimer")) {
    Value* now = service("__mr_globaltimer", b_.getInt64Ty(), {});
    if (name == "globaltimer") return now;
    if (name == "globaltimer_hi") now = b_.CreateLShr(now, 32);
    return b_.CreateTrunc(now, b_.getInt32Ty());
  }
  Value* bit = name.starts_with("lanemask_") ? b_.CreateShl(i32(1), lane()) : nullptr;
  if (name == "lanemask_eq") return bit;
  if (name == "lanemask_lt") return b_.CreateSub(bit, i32(1));
  if (name == "lanemask_le") return b_.CreateOr(b_.CreateSub(bit, i32(1)), bit);
  if (name == "lanemask_ge") return b_.CreateNeg(bit);
  if (name == "lanemask_gt") return b_.CreateXor(b_.CreateNeg(bit), bit);
  // Clusters: a block's place in the grid, by the cluster's extents.
  const auto extent = [&](int i) { return field(offsetof(MrBlock, cluster_dim) + 4 * i); };
  const auto block = [&](int i) { return item(static_cast<Item>(block_x + i)); };
  const auto blocks = [&](int i) { return item(static_cast<Item>(gdim_x + i)); };
  const auto along = [&](StringRef prefix) {
    StringRef rest = name;
    return rest.consume_front(prefix) && rest.size() == 1 && rest[0] >= 'x' && rest[0] <= 'z' ? rest[0] - 'x' : -1;
  };
  if (const int i = along("cluster_ctaid."); i >= 0) return b_.CreateURem(block(i), extent(i));
  if (const int i = along("cluster_nctaid."); i >= 0) return extent(i);
  if (const int i = along("clusterid."); i >= 0) return b_.CreateUDiv(block(i), extent(i));
  if (const int i = along("nclusterid."); i >= 0) return b_.CreateUDiv(blocks(i), extent(i));
  if (name == "cluster_nctarank") return b_.CreateMul(extent(0), b_.CreateMul(extent(1), extent(2)));
  if (name == "cluster_ctarank") {
    const auto in = [&](int i) { return b_.CreateURem(block(i), extent(i)); };
    return b_.CreateAdd(in(0), b_.CreateMul(extent(0), b_.CreateAdd(in(1), b_.CreateMul(extent(1), in(2)))));
  }
  if (name == "dynamic_smem_size") return field(offsetof(MrBlock, dynamic_shared));
  if (name == "total_smem_size")
    return b_.CreateAdd(field(offsetof(MrBlock, dynamic_offset)), field(offsetof(MrBlock, dynamic_shared)));
  return nullptr;
}

}  // namespace ptx

namespace {

// The headers' own assembly is the processor's.
bool of_the_processor(StringRef text) { return text.contains("rsp") || text.contains("mxcsr"); }

}  // namespace

void lower_inline_ptx(Module& module) {
  SmallVector<CallInst*, 16> calls;
  for (Function& f : module)
    for (Instruction& i : instructions(f))
      if (auto* call = dyn_cast<CallInst>(&i); call && call->isInlineAsm()) calls.push_back(call);
  for (CallInst* call : calls) {
    const StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
    if (of_the_processor(text)) continue;
    const ptx::Program program = ptx::parse(text);
    // Nothing but a barrier to the optimiser.
    if (program.error.empty() && program.statements.empty()) continue;
    ptx::Translator translator(call);
    if (translator.run(program))
      if (Value* v = translator.result()) call->replaceAllUsesWith(v);
    if (!call->use_empty()) call->replaceAllUsesWith(PoisonValue::get(call->getType()));
    call->eraseFromParent();
  }
  ptx::lower_exits(module);
}

}  // namespace mrcc
