// The table of translated instructions: memory, atomics, fences, and what lanes do together.
#include <simt/abi.h>

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

#include "context.h"
#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

bool Translator::instruction(const Statement& s) {
  Table table{*this, s};
  if (!table.understood()) return false;
  bool known = false;
  for (auto part :
       {&Table::packed, &Table::phases, &Table::arithmetic, &Table::memory, &Table::together, &Table::matrices}) {
    const bool done = (table.*part)(known);
    if (known) return done;
  }
  return false;
}

// Shared addresses are offsets in the block's window, as __cvta_generic_to_shared makes them.
Value* Table::pointer(const Operand& o) {
  return s.has("shared::cluster") ? nullptr : pointer(o, s.has("shared") || s.has("shared::cta"));
}
Value* Table::pointer(const Operand& o, bool shared) {
  IRBuilder<>& b = t.b_;
  if (o.kind != Operand::memory || o.parts.empty()) return nullptr;
  Value* a = t.read(o.parts[0], {'b', 64});
  if (o.offset) a = b.CreateAdd(a, b.getInt64(o.offset));
  if (!shared) return b.CreateIntToPtr(a, b.getPtrTy());
  return b.CreateGEP(b.getInt8Ty(), placeholder(b, t.module_, shared_base), a);
}

namespace {
AtomicOrdering ordering(const Statement& s, AtomicOrdering otherwise) {
  if (s.has("relaxed")) return AtomicOrdering::Monotonic;
  if (s.has("acquire")) return AtomicOrdering::Acquire;
  if (s.has("release")) return AtomicOrdering::Release;
  if (s.has("acq_rel")) return AtomicOrdering::AcquireRelease;
  return otherwise;
}
}  // namespace

bool Table::load_or_store(bool load) {
  const Type type = s.type();
  if (!type.known() || s.has("param") || s.operands.size() < 2) return false;
  IRBuilder<>& b = t.b_;
  Value* at = pointer(s.operands[load ? 1 : 0]);
  if (!at) return false;
  const Operand& data = s.operands[load ? 0 : 1];
  const unsigned lanes = s.has("v2") ? 2 : s.has("v4") ? 4 : 1;
  const AtomicOrdering order = ordering(s, AtomicOrdering::NotAtomic);
  const bool is_volatile = s.has("volatile") || s.has("mmio") || s.has("cv") || s.has("wt");
  llvm::Type* ty = t.llvm_type(type);
  const unsigned bytes = type.bits * type.lanes / 8;
  for (unsigned i = 0; i < lanes; ++i) {
    Operand o = data;
    if (data.kind == Operand::vector) {
      if (i >= data.parts.size()) return false;
      o = data.parts[i];
    }
    Value* p = i ? b.CreateConstGEP1_64(b.getInt8Ty(), at, i * bytes) : at;
    if (load) {
      llvm::Type* as = order == AtomicOrdering::NotAtomic ? ty : static_cast<llvm::Type*>(b.getIntNTy(8 * bytes));
      LoadInst* v = b.CreateAlignedLoad(as, p, Align(bytes), is_volatile);
      if (order != AtomicOrdering::NotAtomic) v->setAtomic(order);
      Value* value = v;
      const unsigned width = t.width(o);
      if (width > type.bits && v->getType()->isIntegerTy())
        value = type.kind == 's' ? b.CreateSExt(v, b.getIntNTy(width)) : b.CreateZExt(v, b.getIntNTy(width));
      t.write(o, value);
    } else {
      Value* v = t.read(o, order == AtomicOrdering::NotAtomic ? type : Type{'b', 8 * bytes});
      StoreInst* store = b.CreateAlignedStore(v, p, Align(bytes), is_volatile);
      if (order != AtomicOrdering::NotAtomic) store->setAtomic(order);
    }
  }
  return true;
}

// atom.op.type d, [a], b{, c}; red.op.type [a], b. Of vectors, and of packed types, each element is an atomic operation
// by itself, as the PTX manual has it.
bool Table::atomic(bool returns) {
  const Type type = s.type();
  const unsigned at = returns ? 1 : 0;
  if (!type.known() || type.bits < 16 || s.operands.size() < at + 2) return false;
  Value* p = pointer(s.operands[at]);
  if (!p) return false;
  const Operand& data = s.operands[at + 1];
  const bool vector = data.kind == Operand::vector && (s.has("v2") || s.has("v4") || s.has("v8"));
  if (!vector) {
    Value* old = atomic_of(p, type, data);
    if (old && returns) t.write(s.operands[0], old);
    return old;
  }
  for (std::size_t i = 0; i < data.parts.size(); ++i) {
    Value* old = atomic_of(t.b_.CreateConstGEP1_64(t.b_.getInt8Ty(), p, i * type.bits * type.lanes / 8), type,
                           data.parts[i]);
    if (!old || (returns && s.operands[0].parts.size() != data.parts.size())) return false;
    if (returns) t.write(s.operands[0].parts[i], old);
  }
  return true;
}

// What was at the place; null where there is no translation.
Value* Table::atomic_of(Value* p, Type type, const Operand& operand) {
  IRBuilder<>& b = t.b_;
  const AtomicOrdering order = ordering(s, AtomicOrdering::Monotonic);
  Value* x = t.read(operand, type);
  if (type.lanes == 2) {
    if (!s.has("add")) return nullptr;
    Value* old = PoisonValue::get(x->getType());
    for (unsigned i : {0u, 1u}) {
      Value* half = b.CreateAtomicRMW(AtomicRMWInst::FAdd, b.CreateConstGEP1_64(b.getInt8Ty(), p, 2 * i),
                                      b.CreateExtractElement(x, b.getInt32(i)), Align(2), order);
      old = b.CreateInsertElement(old, half, b.getInt32(i));
    }
    return old;
  }
  Value* old = nullptr;
  if (s.has("cas")) {
    const Type bits{'b', type.bits};
    const unsigned last = s.operands.size() - 1;
    AtomicCmpXchgInst* swap = b.CreateAtomicCmpXchg(p, in(last - 1, bits), in(last, bits), Align(type.bits / 8), order,
                                                    AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    old = b.CreateExtractValue(swap, 0);
  } else if (s.has("inc") || s.has("dec")) {
    old = t.service(s.has("inc") ? "__mr_atomic_inc" : "__mr_atomic_dec", b.getInt32Ty(), {p, x});
  } else {
    const bool is_signed = type.kind == 's';
    AtomicRMWInst::BinOp op;
    if (s.has("add"))
      op = type.is_float() ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
    else if (s.has("exch"))
      op = AtomicRMWInst::Xchg;
    else if (s.has("and"))
      op = AtomicRMWInst::And;
    else if (s.has("or"))
      op = AtomicRMWInst::Or;
    else if (s.has("xor"))
      op = AtomicRMWInst::Xor;
    else if (s.has("min") && !type.is_float())
      op = is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin;
    else if (s.has("max") && !type.is_float())
      op = is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax;
    else
      return nullptr;
    old = b.CreateAtomicRMW(op, p, x, Align(type.bits / 8), order);
  }
  return old;
}

// isspacep.SPACE p, a: as __isShared and its kin decide (millrace/device/memory.h); 4 GiB from a
// window's begin on are its own (runtime/simt/windows.h).
bool Table::in_space() {
  IRBuilder<>& b = t.b_;
  const bool shared = s.has("shared") || s.has("shared::cta"), global = s.has("global");
  if (s.operands.size() < 2 || !(shared || global || s.has("local"))) return false;
  Value* a = in(1, {'b', 64});
  Value* offset = b.CreateSub(a, b.CreatePtrToInt(placeholder(b, t.module_, shared_base), b.getInt64Ty()));
  Value* in_window = b.CreateICmpULT(offset, b.getInt64(1ull << 32));
  if (shared) return out(in_window);
  auto* type = FunctionType::get(b.getInt64Ty(), false);
  Value* stack = b.CreateCall(type, InlineAsm::get(type, "movq %rsp, $0", "=r", false));
  Value* local = b.CreateICmpEQ(b.CreateLShr(b.CreateXor(a, stack), 18), b.getInt64(0));
  return out(global ? b.CreateNot(b.CreateOr(in_window, local)) : local);
}

bool Table::memory(bool& known) {
  known = true;
  const StringRef op = s.words[0];
  IRBuilder<>& b = t.b_;
  if (op == "ld" || op == "ldu") return load_or_store(true);
  if (op == "st") return load_or_store(false);
  if (op == "atom" || op == "red") return atomic(op == "atom");
  if (op == "cvta") {
    const Type type = s.type();
    const bool shared = s.has("shared") || s.has("shared::cta");
    Value* a = in(1, {'b', 64});
    if (shared) {
      Value* base = b.CreatePtrToInt(placeholder(b, t.module_, shared_base), b.getInt64Ty());
      a = s.has("to") ? b.CreateSub(a, base) : b.CreateAdd(a, base);
    }
    return out(t.convert(a, {'b', type.bits}));
  }
  if (op == "isspacep") return in_space();
  if (op == "membar" || op == "fence") {
    const bool block = s.has("cta");
    b.CreateFence(block ? AtomicOrdering::AcquireRelease : AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  // Copies are made at once (millrace/device/memory.h): waiting for them needs nothing.
  if (op == "cp" && s.has("async")) {
    if (s.has("commit_group") || s.has("wait_group") || s.has("wait_all")) return true;
    if (s.has("bulk") || !(s.has("ca") || s.has("cg")) || s.operands.size() < 3) return false;
    Value* to = b.CreateGEP(b.getInt8Ty(), placeholder(b, t.module_, shared_base),
                            t.read(s.operands[0].parts[0], {'b', 64}));
    if (s.operands[0].offset) to = b.CreateConstGEP1_64(b.getInt8Ty(), to, s.operands[0].offset);
    Value* from = b.CreateIntToPtr(t.read(s.operands[1].parts[0], {'b', 64}), b.getPtrTy());
    if (s.operands[1].offset) from = b.CreateConstGEP1_64(b.getInt8Ty(), from, s.operands[1].offset);
    Value* bytes = in(2, {'u', 64});
    if (s.operands.size() > 3) {
      b.CreateMemSet(to, b.getInt8(0), bytes, MaybeAlign());
      bytes = in(3, {'u', 64});
    }
    b.CreateMemCpy(to, MaybeAlign(), from, MaybeAlign(), bytes);
    return true;
  }
  if (op == "prefetch" || op == "prefetchu" || op == "discard" || op == "applypriority" || op == "pmevent") return true;
  known = false;
  return false;
}

bool Table::shuffle() {
  if (!s.has("sync") || s.operands.size() != 5) return false;
  IRBuilder<>& b = t.b_;
  const unsigned mode = s.has("idx")    ? MR_SHFL_IDX
                        : s.has("up")   ? MR_SHFL_UP
                        : s.has("down") ? MR_SHFL_DOWN
                                        : MR_SHFL_XOR;
  const Type word{'b', 32};
  // c holds the clamp and, in bits 8..12, the segment mask: 32 - width.
  Value* width = b.CreateSub(t.i32(32), b.CreateAnd(b.CreateLShr(in(3, word), 8), t.i32(31)));
  IRBuilder<> entry(&*t.call_->getFunction()->getEntryBlock().getFirstInsertionPt());
  AllocaInst* inside = entry.CreateAlloca(b.getInt32Ty());
  Value* value = b.CreateZExt(in(1, word), b.getInt64Ty());
  Value* r = t.service("__mr_shuffle", b.getInt64Ty(), {in(4, word), t.i32(mode), value, in(2, word), width, inside});
  t.write_name(s.operands[0].second, b.CreateICmpNE(b.CreateLoad(b.getInt32Ty(), inside), t.i32(0)));
  t.write_name(s.operands[0].text, b.CreateTrunc(r, b.getInt32Ty()));
  return true;
}

bool Table::vote() {
  if (!s.has("sync") || s.operands.size() != 3) return false;
  IRBuilder<>& b = t.b_;
  Value* mask = in(2, {'b', 32});
  Value* holds = in(1, {'p', 1});
  const auto ballot = [&](Value* v) {
    return t.service("__mr_ballot", b.getInt32Ty(), {mask, b.CreateZExt(v, b.getInt32Ty())});
  };
  if (s.has("ballot")) return out(ballot(holds));
  if (s.has("any")) return out(b.CreateICmpNE(ballot(holds), t.i32(0)));
  if (s.has("all")) return out(b.CreateICmpEQ(ballot(b.CreateNot(holds)), t.i32(0)));
  if (!s.has("uni")) return false;
  Value* some = b.CreateICmpNE(ballot(holds), t.i32(0));
  Value* not_all = b.CreateICmpNE(ballot(b.CreateNot(holds)), t.i32(0));
  return out(b.CreateNot(b.CreateAnd(some, not_all)));
}

bool Table::barrier() {
  IRBuilder<>& b = t.b_;
  llvm::Type* nothing = b.getVoidTy();
  if (s.has("warp")) return t.service("__mr_warp_sync", nothing, {in(0, {'b', 32})});
  if (s.has("cluster")) {
    if (!s.has("arrive") && !s.has("wait")) return false;
    return t.service(s.has("arrive") ? "__mr_cluster_arrive" : "__mr_cluster_wait", nothing, {});
  }
  if (s.has("red")) {  // d, a{, threads}, p
    const bool count = s.has("popc");
    if (s.operands.size() != 3 || s.operands[1].kind != Operand::number || s.operands[1].bits != 0) return false;
    Operand p = s.operands[2];
    Value* holds = b.CreateZExt(t.read(p, {'p', 1}), b.getInt32Ty());
    const unsigned op = count ? MR_BAR_COUNT : s.has("and") ? MR_BAR_AND : MR_BAR_OR;
    Value* r = t.service("__mr_barrier_reduce", b.getInt32Ty(), {t.i32(op), holds});
    return out(count ? r : b.CreateICmpNE(r, t.i32(0)));
  }
  if (s.operands.empty()) return false;
  const bool arrive = s.has("arrive");
  const Operand& id = s.operands[0];
  if (s.operands.size() == 1 && !arrive && id.kind == Operand::number && id.bits == 0)
    return t.service("__mr_barrier", nothing, {});
  Value* threads = s.operands.size() > 1 ? in(1, {'u', 32}) : nullptr;
  if (!threads) {
    const auto extent = [&](Item i) { return placeholder(b, t.module_, i); };
    threads = b.CreateMul(extent(bdim_x), b.CreateMul(extent(bdim_y), extent(bdim_z)));
  }
  return t.service(arrive ? "__mr_barrier_named_arrive" : "__mr_barrier_named", nothing, {in(0, {'u', 32}), threads});
}

bool Table::together(bool& known) {
  known = true;
  const StringRef op = s.words[0];
  IRBuilder<>& b = t.b_;
  const Type word{'b', 32};
  if (op == "bar" || op == "barrier") return barrier();
  if (op == "vote") return vote();
  if (op == "shfl") return shuffle();
  if (op == "activemask") return out(t.service("__mr_activemask", b.getInt32Ty(), {}));
  if (op == "match" && s.has("sync") && s.operands.size() == 3) {
    IRBuilder<> entry(&*t.call_->getFunction()->getEntryBlock().getFirstInsertionPt());
    AllocaInst* equal = entry.CreateAlloca(b.getInt32Ty());
    Value* value = b.CreateZExt(in(1, {'b', s.type().bits}), b.getInt64Ty());
    const unsigned kind = s.has("all") ? MR_MATCH_ALL : MR_MATCH_ANY;
    Value* r = t.service("__mr_match", b.getInt32Ty(), {in(2, word), t.i32(kind), value, equal});
    t.write_name(s.operands[0].second, b.CreateICmpNE(b.CreateLoad(b.getInt32Ty(), equal), t.i32(0)));
    t.write_name(s.operands[0].text, r);
    return true;
  }
  if (op == "redux" && s.has("sync") && s.operands.size() == 3) {
    const bool is_signed = s.type().kind == 's';
    const unsigned kind = s.has("add")   ? MR_RED_ADD
                          : s.has("min") ? (is_signed ? MR_RED_MIN_S : MR_RED_MIN_U)
                          : s.has("max") ? (is_signed ? MR_RED_MAX_S : MR_RED_MAX_U)
                          : s.has("and") ? MR_RED_AND
                          : s.has("or")  ? MR_RED_OR
                                         : MR_RED_XOR;
    if (s.type().is_float()) return false;
    return out(t.service("__mr_reduce", b.getInt32Ty(), {in(2, word), t.i32(kind), in(1, word)}));
  }
  if (op == "griddepcontrol") return t.service(s.has("wait") ? "__mr_pdl_wait" : "__mr_pdl_trigger", b.getVoidTy(), {});
  if (op == "nanosleep") return t.service("__mr_nanosleep", b.getVoidTy(), {in(0, {'u', 32})});
  if (op == "elect" && s.has("sync") && s.operands.size() == 2) {  // d|p, mask: the mask's first lane
    Value* leader = t.intrinsic(Intrinsic::cttz, {b.getInt32Ty()}, {in(1, word), b.getFalse()});
    t.service("__mr_warp_sync", b.getVoidTy(), {in(1, word)});
    t.write_name(s.operands[0].second, b.CreateICmpEQ(t.special("%laneid"), leader));
    t.write_name(s.operands[0].text, leader);
    return true;
  }
  if (op == "setmaxnreg") return true;
  if (op == "trap" || op == "brkpt") return t.service("__mr_trap", b.getVoidTy(), {});
  if (op == "exit" && s.words.size() == 1) return t.service("__mr_lane_exit", b.getVoidTy(), {});
  known = false;
  return false;
}

}  // namespace mrcc::ptx
