// The table of translated instructions: arithmetic, logic, comparisons and conversions. Memory and the operations that
// lanes do together are in ptx_memory.cpp.
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

namespace {

bool rounds_otherwise(const Statement& s) { return s.has("rz") || s.has("rm") || s.has("rp"); }

}  // namespace

Value* Table::carry() {
  Operand flag;
  flag.text = "%cc";
  return t.read(flag, {'p', 1});
}

// a + b + carry or a - b - carry, with carry out where the instruction has .cc.
Value* Table::with_carry(bool add, Value* a, Value* b, Value* in) {
  IRBuilder<>& i = t.b_;
  const unsigned bits = a->getType()->getIntegerBitWidth();
  llvm::Type* wide = i.getIntNTy(bits + 2);
  Value* x = i.CreateZExt(a, wide);
  Value* y = i.CreateAdd(i.CreateZExt(b, wide), i.CreateZExt(in, wide));
  Value* r = add ? i.CreateAdd(x, y) : i.CreateSub(x, y);
  if (s.has("cc")) t.write_name("%cc", i.CreateTrunc(i.CreateLShr(r, bits), i.getInt1Ty()));
  return i.CreateTrunc(r, a->getType());
}

Value* Table::saturate(Value* v) {
  if (!s.has("sat") || !v->getType()->isFloatingPointTy()) return v;
  IRBuilder<>& b = t.b_;
  Constant* zero = ConstantFP::get(v->getType(), 0.0);
  Constant* one = ConstantFP::get(v->getType(), 1.0);
  v = b.CreateSelect(b.CreateFCmpOGT(v, zero), v, zero);  // a NaN becomes 0
  return b.CreateSelect(b.CreateFCmpOLT(v, one), v, one);
}

bool Table::add_or_subtract(bool add, bool carry_in) {
  const Type type = s.type();
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  Value *x = in(1, type), *y = in(2, type);
  if (rounds_otherwise(s)) return directed(add ? "vadd" : "vsub", {x, y});
  if (type.is_float()) return out(saturate(add ? b.CreateFAdd(x, y) : b.CreateFSub(x, y)));
  if (carry_in || s.has("cc")) return out(with_carry(add, x, y, carry_in ? carry() : b.getFalse()));
  if (s.has("sat")) return out(t.intrinsic(add ? Intrinsic::sadd_sat : Intrinsic::ssub_sat, {x->getType()}, {x, y}));
  return out(add ? b.CreateAdd(x, y) : b.CreateSub(x, y));
}

Value* Table::product(Type type) {
  IRBuilder<>& b = t.b_;
  Value *x = in(1, type), *y = in(2, type);
  if (s.has("lo")) return b.CreateMul(x, y);
  llvm::Type* wide = b.getIntNTy(type.bits * 2);
  const bool is_signed = type.kind == 's';
  x = is_signed ? b.CreateSExt(x, wide) : b.CreateZExt(x, wide);
  y = is_signed ? b.CreateSExt(y, wide) : b.CreateZExt(y, wide);
  Value* p = b.CreateMul(x, y);
  return s.has("wide") ? p : b.CreateTrunc(b.CreateLShr(p, type.bits), t.llvm_type(type));
}

bool Table::multiply(bool accumulate, bool carry_in) {
  const Type type = s.type();
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  if (type.is_float()) {
    Value *x = in(1, type), *y = in(2, type);
    if (rounds_otherwise(s)) return accumulate ? directed("vfmadd231", {x, y, in(3, type)}) : directed("vmul", {x, y});
    if (!accumulate) return out(saturate(b.CreateFMul(x, y)));
    if (type.bits < 32) return false;
    return out(saturate(t.intrinsic(Intrinsic::fma, {x->getType()}, {x, y, in(3, type)})));
  }
  if (!s.has("lo") && !s.has("hi") && !s.has("wide")) return false;
  Value* p = product(type);
  if (!accumulate) return out(p);
  Type sum = type;
  if (s.has("wide")) sum.bits *= 2;
  Value* c = in(3, sum);
  if (carry_in || s.has("cc")) return out(with_carry(true, p, c, carry_in ? carry() : b.getFalse()));
  if (s.has("sat")) return out(t.intrinsic(Intrinsic::sadd_sat, {p->getType()}, {p, c}));
  return out(b.CreateAdd(p, c));
}

bool Table::multiply_24(bool accumulate) {
  const Type type = s.type();
  if (type.bits != 32) return false;
  IRBuilder<>& b = t.b_;
  const auto low = [&](Value* v) {
    v = b.CreateShl(v, 8);
    v = type.kind == 's' ? b.CreateAShr(v, 8) : b.CreateLShr(v, 8);
    return type.kind == 's' ? b.CreateSExt(v, b.getInt64Ty()) : b.CreateZExt(v, b.getInt64Ty());
  };
  Value* p = b.CreateMul(low(in(1, type)), low(in(2, type)));
  Value* r = b.CreateTrunc(s.has("hi") ? b.CreateLShr(p, 16) : p, b.getInt32Ty());
  return out(accumulate ? b.CreateAdd(r, in(3, type)) : r);
}

bool Table::divide(bool remainder) {
  const Type type = s.type();
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  Value *x = in(1, type), *y = in(2, type);
  if (rounds_otherwise(s)) return directed("vdiv", {x, y});
  if (type.is_float()) return !remainder && out(b.CreateFDiv(x, y));
  if (type.kind == 's') return out(remainder ? b.CreateSRem(x, y) : b.CreateSDiv(x, y));
  return out(remainder ? b.CreateURem(x, y) : b.CreateUDiv(x, y));
}

// One operand of a floating-point or integer type.
bool Table::unary() {
  const Type type = s.type();
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  const StringRef op = s.words[0];
  Value* x = in(1, type);
  llvm::Type* ty = x->getType();
  if (type.is_float()) {
    Constant* one = ConstantFP::get(ty, 1.0);
    if (rounds_otherwise(s)) {
      if (op == "rcp") return directed("vdiv", {one, x});
      return op == "sqrt" && directed("vsqrt", {x});
    }
    if (op == "neg") return out(b.CreateFNeg(x));
    if (op == "abs") return out(t.intrinsic(Intrinsic::fabs, {ty}, {x}));
    if (type.lanes != 1) return false;
    if (op == "rcp") return out(b.CreateFDiv(one, x));
    if (op == "sqrt") return out(t.intrinsic(Intrinsic::sqrt, {ty}, {x}));
    if (op == "rsqrt") return out(b.CreateFDiv(one, t.intrinsic(Intrinsic::sqrt, {ty}, {x})));
    const StringRef function = op == "sin"    ? "sinf"
                               : op == "cos"  ? "cosf"
                               : op == "ex2"  ? "exp2f"
                               : op == "lg2"  ? "log2f"
                               : op == "tanh" ? "tanhf"
                                              : "";
    if (function.empty() || type.bits != 32) return false;
    return out(t.service(function, ty, {x}));
  }
  if (op == "neg") return out(b.CreateNeg(x));
  if (op == "abs") return out(t.intrinsic(Intrinsic::abs, {ty}, {x, b.getFalse()}));
  if (op == "not") return out(b.CreateNot(x));
  if (op == "cnot") return out(b.CreateZExt(b.CreateICmpEQ(x, ConstantInt::get(ty, 0)), ty));
  const auto to_32 = [&](Value* v) { return b.CreateZExtOrTrunc(v, b.getInt32Ty()); };
  if (op == "popc") return out(to_32(t.intrinsic(Intrinsic::ctpop, {ty}, {x})));
  if (op == "clz") return out(to_32(t.intrinsic(Intrinsic::ctlz, {ty}, {x, b.getFalse()})));
  if (op == "brev") return out(t.intrinsic(Intrinsic::bitreverse, {ty}, {x}));
  if (op == "bfind") {
    if (type.kind == 's') x = b.CreateXor(x, b.CreateAShr(x, type.bits - 1));
    Value* zeros = to_32(t.intrinsic(Intrinsic::ctlz, {ty}, {x, b.getFalse()}));
    Value* found = s.has("shiftamt") ? zeros : b.CreateSub(t.i32(type.bits - 1), zeros);
    return out(b.CreateSelect(b.CreateICmpEQ(x, ConstantInt::get(ty, 0)), t.i32(~0u), found));
  }
  return false;
}

bool Table::shift() {
  const Type type = s.type();
  if (!type.known() || type.is_float()) return false;
  IRBuilder<>& b = t.b_;
  Value* x = in(1, type);
  Value* amount = in(2, {'u', 32});
  Value* most = t.i32(type.bits - 1);
  Value* over = b.CreateICmpUGT(amount, most);
  Value* n = b.CreateZExtOrTrunc(b.CreateSelect(over, most, amount), x->getType());
  if (s.words[0] == "shr" && type.kind == 's') return out(b.CreateAShr(x, n));
  Value* r = s.words[0] == "shl" ? b.CreateShl(x, n) : b.CreateLShr(x, n);
  return out(b.CreateSelect(over, ConstantInt::get(x->getType(), 0), r));
}

bool Table::funnel_shift() {
  IRBuilder<>& b = t.b_;
  const Type word{'b', 32};
  Value *low = in(1, word), *high = in(2, word), *n = in(3, {'u', 32});
  const bool left = s.has("l");
  Value* r = t.intrinsic(left ? Intrinsic::fshl : Intrinsic::fshr, {b.getInt32Ty()}, {high, low, n});
  if (s.has("clamp")) r = b.CreateSelect(b.CreateICmpUGE(n, t.i32(32)), left ? low : high, r);
  return out(r);
}

bool Table::lop3() {
  if (s.operands.size() != 5 || s.operands[4].kind != Operand::number || s.has("or") || s.has("and")) return false;
  IRBuilder<>& b = t.b_;
  const Type word{'b', 32};
  Value* v[3] = {in(1, word), in(2, word), in(3, word)};
  Value* all = t.i32(0);
  for (unsigned term = 0; term < 8; ++term) {
    if (!(s.operands[4].bits >> term & 1)) continue;
    Value* both = t.i32(~0u);
    for (unsigned k = 0; k < 3; ++k) both = b.CreateAnd(both, term >> (2 - k) & 1 ? v[k] : b.CreateNot(v[k]));
    all = b.CreateOr(all, both);
  }
  return out(all);
}

bool Table::permute_bytes() {
  IRBuilder<>& b = t.b_;
  const Type word{'b', 32};
  llvm::Type* wide = b.getInt64Ty();
  Value* both = b.CreateOr(b.CreateZExt(in(1, word), wide), b.CreateShl(b.CreateZExt(in(2, word), wide), 32));
  Value* selector = in(3, word);
  // A mode has four selectors, each for a value of the operand's lowest two bits.
  struct Mode {
    StringRef name;
    unsigned selectors[4];
  };
  for (const Mode& m : {Mode{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, Mode{"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                        Mode{"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, Mode{"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                        Mode{"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, Mode{"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}})
    if (s.has(m.name)) {
      Value* n = b.CreateAnd(selector, t.i32(3));
      selector = t.i32(m.selectors[0]);
      for (unsigned i = 1; i < 4; ++i)
        selector = b.CreateSelect(b.CreateICmpEQ(n, t.i32(i)), t.i32(m.selectors[i]), selector);
      break;
    }
  Value* all = t.i32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value* pick = b.CreateLShr(selector, 4 * i);
    Value* at = b.CreateZExt(b.CreateShl(b.CreateAnd(pick, t.i32(7)), 3), wide);
    Value* byte = b.CreateTrunc(b.CreateLShr(both, at), b.getInt8Ty());
    Value* sign = b.CreateICmpNE(b.CreateAnd(pick, t.i32(8)), t.i32(0));
    byte = b.CreateSelect(sign, b.CreateAShr(byte, 7), byte);
    all = b.CreateOr(all, b.CreateShl(b.CreateZExt(byte, b.getInt32Ty()), 8 * i));
  }
  return out(all);
}

bool Table::extract_bits() {
  const Type type = s.type();
  if (type.bits < 32) return false;
  IRBuilder<>& b = t.b_;
  llvm::Type* wide = b.getIntNTy(type.bits * 2);
  const bool is_signed = type.kind == 's';
  Value* x = is_signed ? b.CreateSExt(in(1, type), wide) : b.CreateZExt(in(1, type), wide);
  const auto byte = [&](unsigned k) { return b.CreateZExt(b.CreateAnd(in(k, {'u', 32}), t.i32(255)), wide); };
  const auto at_most = [&](Value* v, unsigned n) {
    return b.CreateSelect(b.CreateICmpUGT(v, ConstantInt::get(wide, n)), ConstantInt::get(wide, n), v);
  };
  Value* from = at_most(byte(2), type.bits);
  Value* length = at_most(byte(3), type.bits);
  Value* up = b.CreateSub(ConstantInt::get(wide, 2 * type.bits - 1), length);  // one less: length may be 0
  x = is_signed ? b.CreateAShr(x, from) : b.CreateLShr(x, from);
  x = b.CreateShl(b.CreateShl(x, up), 1);
  x = is_signed ? b.CreateAShr(b.CreateAShr(x, up), 1) : b.CreateLShr(b.CreateLShr(x, up), 1);
  return out(b.CreateTrunc(x, t.llvm_type(type)));
}

bool Table::insert_bits() {
  const Type type = s.type();
  if (type.bits < 32) return false;
  IRBuilder<>& b = t.b_;
  llvm::Type* wide = b.getIntNTy(type.bits * 8);  // positions and lengths up to 255
  const auto byte = [&](unsigned k) { return b.CreateZExt(b.CreateAnd(in(k, {'u', 32}), t.i32(255)), wide); };
  Value *from = byte(3), *length = byte(4);
  Constant* one = ConstantInt::get(wide, 1);
  Value* mask = b.CreateShl(b.CreateSub(b.CreateShl(one, length), one), from);
  Value* field = b.CreateAnd(b.CreateShl(b.CreateZExt(in(1, type), wide), from), mask);
  Value* rest = b.CreateAnd(b.CreateZExt(in(2, type), wide), b.CreateNot(mask));
  return out(b.CreateTrunc(b.CreateOr(field, rest), t.llvm_type(type)));
}

bool Table::min_or_max(bool max) {
  const Type type = s.type();
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  Value *x = in(1, type), *y = in(2, type);
  llvm::Type* ty = x->getType();
  if (type.is_float()) {
    if (s.has("NaN")) return out(t.intrinsic(max ? Intrinsic::maximum : Intrinsic::minimum, {ty}, {x, y}));
    return out(t.intrinsic(max ? Intrinsic::maxnum : Intrinsic::minnum, {ty}, {x, y}));
  }
  const bool is_signed = type.kind == 's';
  const auto id = max ? (is_signed ? Intrinsic::smax : Intrinsic::umax)
                      : (is_signed ? Intrinsic::smin : Intrinsic::umin);
  (void)b;
  return out(t.intrinsic(id, {ty}, {x, y}));
}

Value* Table::compare(Type type, Value* x, Value* y) {
  const StringRef c = s.words[1];
  IRBuilder<>& b = t.b_;
  if (type.is_float()) {
    const CmpInst::Predicate p = c == "eq"    ? CmpInst::FCMP_OEQ
                                 : c == "ne"  ? CmpInst::FCMP_ONE
                                 : c == "lt"  ? CmpInst::FCMP_OLT
                                 : c == "le"  ? CmpInst::FCMP_OLE
                                 : c == "gt"  ? CmpInst::FCMP_OGT
                                 : c == "ge"  ? CmpInst::FCMP_OGE
                                 : c == "equ" ? CmpInst::FCMP_UEQ
                                 : c == "neu" ? CmpInst::FCMP_UNE
                                 : c == "ltu" ? CmpInst::FCMP_ULT
                                 : c == "leu" ? CmpInst::FCMP_ULE
                                 : c == "gtu" ? CmpInst::FCMP_UGT
                                 : c == "geu" ? CmpInst::FCMP_UGE
                                 : c == "num" ? CmpInst::FCMP_ORD
                                 : c == "nan" ? CmpInst::FCMP_UNO
                                              : CmpInst::FCMP_FALSE;
    return p == CmpInst::FCMP_FALSE ? nullptr : b.CreateFCmp(p, x, y);
  }
  const bool is_signed = type.kind == 's';
  if (c == "eq") return b.CreateICmpEQ(x, y);
  if (c == "ne") return b.CreateICmpNE(x, y);
  if (c == "lt" || c == "lo") return is_signed && c == "lt" ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
  if (c == "le" || c == "ls") return is_signed && c == "le" ? b.CreateICmpSLE(x, y) : b.CreateICmpULE(x, y);
  if (c == "gt" || c == "hi") return is_signed && c == "gt" ? b.CreateICmpSGT(x, y) : b.CreateICmpUGT(x, y);
  if (c == "ge" || c == "hs") return is_signed && c == "ge" ? b.CreateICmpSGE(x, y) : b.CreateICmpUGE(x, y);
  return nullptr;
}

// setp.CMP{.BOOL}.type p|q, a, b{, c} and set.CMP{.BOOL}.dtype.stype d, a, b{, c}
bool Table::set(bool predicate) {
  if (s.words.size() < 3) return false;
  const Type type = s.type(predicate ? 0 : 1);
  if (!type.known()) return false;
  IRBuilder<>& b = t.b_;
  Value* holds = compare(type, in(1, type), in(2, type));
  if (!holds) return false;
  Value* fails = b.CreateNot(holds);
  if (s.operands.size() > 3) {
    Value* c = in(3, {'p', 1});
    const auto join = [&](Value* v) -> Value* {
      return s.has("and") ? b.CreateAnd(v, c) : s.has("or") ? b.CreateOr(v, c) : b.CreateXor(v, c);
    };
    holds = join(holds);
    fails = join(fails);
  }
  if (predicate) {
    t.write_name(s.operands[0].second, fails);
    return out(holds);
  }
  if (s.type(0).is_float()) return out(b.CreateUIToFP(holds, t.llvm_type(s.type(0))));
  return out(b.CreateSExt(holds, t.llvm_type(s.type(0))));
}

// cvt.pack.sat.to.from{.b32} d, a, b{, c}: c moved up for both, a above b
bool Table::pack() {
  IRBuilder<>& b = t.b_;
  const Type to = s.type(0), from = s.type(1);
  if (!to.known() || !from.known() || to.is_float() || from.is_float() || from.bits != 32 || to.bits > 16) return false;
  if (s.operands.size() != (to.bits == 16 ? 3u : 4u)) return false;
  llvm::Type* wide = b.getInt64Ty();
  const APInt low = to.kind == 's' ? APInt::getSignedMinValue(to.bits).sext(64) : APInt(64, 0);
  const APInt high = to.kind == 's' ? APInt::getSignedMaxValue(to.bits).sext(64) : APInt::getMaxValue(to.bits).zext(64);
  const auto part = [&](unsigned n) {
    Value* v = in(n, from);
    v = from.kind == 's' ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
    v = t.intrinsic(Intrinsic::smax, {wide}, {v, ConstantInt::get(wide, low)});
    v = t.intrinsic(Intrinsic::smin, {wide}, {v, ConstantInt::get(wide, high)});
    return b.CreateZExt(b.CreateTrunc(v, b.getIntNTy(to.bits)), b.getInt32Ty());
  };
  Value* all = b.CreateOr(b.CreateShl(part(1), to.bits), part(2));
  if (s.operands.size() == 4) all = b.CreateOr(all, b.CreateShl(in(3, {'b', 32}), 2 * to.bits));
  return out(all);
}

// cvt{.rounding}{.sat}.to.from d, a{, b}
bool Table::convert() {
  if (s.has("pack")) return pack();
  const Type to = s.type(0), from = s.type(1);
  if (!to.known() || !from.known()) return false;
  IRBuilder<>& b = t.b_;
  llvm::Type* target = t.llvm_type(to);
  if (to.lanes == 2) {  // packs two: the first operand is the upper half
    if (from.bits != 32 || (rounds_otherwise(s) && to.kind == 'h')) return false;
    const auto half = [&](unsigned n) {
      return rounds_otherwise(s) ? directed_half(in(n, from)) : b.CreateFPTrunc(in(n, from), target->getScalarType());
    };
    Value* v = PoisonValue::get(target);
    v = b.CreateInsertElement(v, half(2), b.getInt32(0));
    return out(b.CreateInsertElement(v, half(1), b.getInt32(1)));
  }
  Value* x = in(1, from);
  const auto to_integral = [&]() -> unsigned {
    if (s.has("rni")) return Intrinsic::roundeven;
    if (s.has("rzi")) return Intrinsic::trunc;
    if (s.has("rmi")) return Intrinsic::floor;
    if (s.has("rpi")) return Intrinsic::ceil;
    return 0;
  };
  if (from.is_float()) {
    const unsigned rounding = to_integral();
    if (!to.is_float()) {
      if (!rounding) return false;
      if (from.bits < 32) x = b.CreateFPExt(x, b.getFloatTy());
      x = t.intrinsic(rounding, {x->getType()}, {x});
      x = t.intrinsic(to.kind == 's' ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat, {target, x->getType()}, {x});
      return out(widened(x, to));
    }
    if (rounding) x = t.intrinsic(rounding, {x->getType()}, {x});
    if (rounds_otherwise(s) && to.bits < from.bits) {
      if (to.kind == 'f' && to.bits == 16 && from.bits == 32) return out(saturate(directed_half(x)));
      return to.bits == 32 && directed("vcvtsd2", {x});
    }
    return out(saturate(b.CreateFPCast(x, target)));
  }
  if (to.is_float()) {
    if (rounds_otherwise(s)) {
      if (to.bits < 32 || (from.kind != 's' && from.bits == 64)) return false;
      return directed("vcvtsi2",
                      {from.kind == 's' ? b.CreateSExt(x, b.getInt64Ty()) : b.CreateZExt(x, b.getInt64Ty())});
    }
    return out(saturate(from.kind == 's' ? b.CreateSIToFP(x, target) : b.CreateUIToFP(x, target)));
  }
  const bool from_signed = from.kind == 's';
  if (s.has("sat")) {
    llvm::Type* wide = b.getIntNTy(65);
    x = from_signed ? b.CreateSExt(x, wide) : b.CreateZExt(x, wide);
    const APInt low = to.kind == 's' ? APInt::getSignedMinValue(to.bits).sext(65) : APInt(65, 0);
    const APInt high = to.kind == 's' ? APInt::getSignedMaxValue(to.bits).sext(65)
                                      : APInt::getMaxValue(to.bits).zext(65);
    x = t.intrinsic(Intrinsic::smax, {wide}, {x, ConstantInt::get(wide, low)});
    x = t.intrinsic(Intrinsic::smin, {wide}, {x, ConstantInt::get(wide, high)});
    return out(widened(b.CreateTrunc(x, target), to));
  }
  x = from_signed ? b.CreateSExtOrTrunc(x, target) : b.CreateZExtOrTrunc(x, target);
  return out(widened(x, to));
}

// A register wider than the instruction's type is filled by the type's sign.
Value* Table::widened(Value* v, Type type) {
  const unsigned bits = t.width(s.operands[0]);
  if (bits <= type.bits || !v->getType()->isIntegerTy()) return v;
  llvm::Type* wide = t.b_.getIntNTy(bits);
  return type.kind == 's' ? t.b_.CreateSExt(v, wide) : t.b_.CreateZExt(v, wide);
}

bool Table::logic() {
  const Type type = s.type();
  if (!type.known() || type.is_float()) return false;
  Value *x = in(1, type), *y = in(2, type);
  IRBuilder<>& b = t.b_;
  const StringRef op = s.words[0];
  return out(op == "and" ? b.CreateAnd(x, y) : op == "or" ? b.CreateOr(x, y) : b.CreateXor(x, y));
}

// dp4a.atype.btype d, a, b, c; dp2a.lo.atype.btype: the half words of a by two bytes of b
bool Table::dot_product() {
  IRBuilder<>& b = t.b_;
  const Type word{'b', 32};
  Value* sum = in(3, word);
  if (s.words[0] == "dp2a") {
    if (s.has("lo") == s.has("hi")) return false;
    const auto part = [&](Value* v, unsigned from, unsigned bits, Type type) {
      v = b.CreateTrunc(b.CreateLShr(v, from), b.getIntNTy(bits));
      return type.kind == 's' ? b.CreateSExt(v, b.getInt32Ty()) : b.CreateZExt(v, b.getInt32Ty());
    };
    Value *x = in(1, word), *y = in(2, word);
    for (unsigned i = 0; i < 2; ++i)
      sum = b.CreateAdd(
          sum, b.CreateMul(part(x, 16 * i, 16, s.type(0)), part(y, 8 * i + (s.has("hi") ? 16 : 0), 8, s.type(1))));
    return out(sum);
  }
  const auto byte = [&](Value* v, unsigned i, Type type) {
    v = b.CreateTrunc(b.CreateLShr(v, 8 * i), b.getInt8Ty());
    return type.kind == 's' ? b.CreateSExt(v, b.getInt32Ty()) : b.CreateZExt(v, b.getInt32Ty());
  };
  Value *x = in(1, word), *y = in(2, word);
  for (unsigned i = 0; i < 4; ++i) sum = b.CreateAdd(sum, b.CreateMul(byte(x, i, s.type(0)), byte(y, i, s.type(1))));
  return out(sum);
}

bool Table::arithmetic(bool& known) {
  known = true;
  const StringRef op = s.words[0];
  IRBuilder<>& b = t.b_;
  if (op == "mov") return out(in(1, s.type()));
  if (op == "add" || op == "addc") return add_or_subtract(true, op == "addc");
  if (op == "sub" || op == "subc") return add_or_subtract(false, op == "subc");
  if (op == "mul") return multiply(false, false);
  if (op == "mad" || op == "fma" || op == "madc") return multiply(true, op == "madc");
  if (op == "mul24" || op == "mad24") return multiply_24(op == "mad24");
  if (op == "div" || op == "rem") return divide(op == "rem");
  if (op == "and" || op == "or" || op == "xor") return logic();
  if (op == "shl" || op == "shr") return shift();
  if (op == "shf") return funnel_shift();
  if (op == "lop3") return lop3();
  if (op == "prmt") return permute_bytes();
  if (op == "bfe") return extract_bits();
  if (op == "bfi") return insert_bits();
  if (op == "min" || op == "max") return min_or_max(op == "max");
  if (op == "setp" || op == "set") return set(op == "setp");
  if (op == "selp") return out(b.CreateSelect(in(3, {'p', 1}), in(1, s.type()), in(2, s.type())));
  if (op == "cvt") return convert();
  if (op == "dp4a" || op == "dp2a") return dot_product();
  if (op == "copysign")
    return out(t.intrinsic(Intrinsic::copysign, {t.llvm_type(s.type())}, {in(2, s.type()), in(1, s.type())}));
  if (op == "sad") {
    Value *x = in(1, s.type()), *y = in(2, s.type());
    Value* less = s.type().kind == 's' ? b.CreateICmpSLT(x, y) : b.CreateICmpULT(x, y);
    return out(b.CreateAdd(in(3, s.type()), b.CreateSelect(less, b.CreateSub(y, x), b.CreateSub(x, y))));
  }
  for (const char* name : {"neg", "abs", "not", "cnot", "popc", "clz", "brev", "bfind", "rcp", "sqrt", "rsqrt", "sin",
                           "cos", "ex2", "lg2", "tanh"})
    if (op == name) return unary();
  known = false;
  return false;
}

}  // namespace mrcc::ptx
