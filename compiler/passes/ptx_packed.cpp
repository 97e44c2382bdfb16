// Inline PTX: instructions on parts of a register (video instructions of bytes and half words), and others that have no
// relatives.
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

// vadd4.u32.u32.u32{.sat|.add} d, a, b, c, and vsub, vavrg, vabsdiff, vmin, vmax, for bytes (4), half words (2) and
// whole words: registers without selectors, all types the same.
bool Table::video(StringRef op, unsigned lanes) {
  IRBuilder<>& b = t.b_;
  const Type type = s.type(0);
  if (type.bits != 32 || type.is_float() || s.operands.size() < 3) return false;
  for (unsigned i : {1u, 2u})
    if (s.type(i).kind != type.kind || s.type(i).bits != 32) return false;
  if (any_of(s.operands, [](const Operand& o) { return StringRef(o.text).contains('.'); })) return false;
  const bool is_signed = type.kind == 's', sums_up = s.has("add");
  const unsigned bits = 32 / lanes;
  llvm::Type* wide = b.getInt64Ty();
  const APInt low = is_signed ? APInt::getSignedMinValue(bits).sext(64) : APInt(64, 0);
  const APInt high = is_signed ? APInt::getSignedMaxValue(bits).sext(64) : APInt::getMaxValue(bits).zext(64);
  Value *x = in(1, {'b', 32}), *y = in(2, {'b', 32});
  Value* c = s.operands.size() > 3 ? in(3, {'b', 32}) : t.i32(0);
  Value* all = sums_up ? b.CreateZExt(c, wide) : static_cast<Value*>(b.getInt64(0));
  for (unsigned i = 0; i < lanes; ++i) {
    const auto part = [&](Value* v) {
      v = b.CreateTrunc(b.CreateLShr(v, bits * i), b.getIntNTy(bits));
      return is_signed ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide);
    };
    Value *p = part(x), *q = part(y), *r;
    Value* less = is_signed ? b.CreateICmpSLT(p, q) : b.CreateICmpULT(p, q);
    if (op == "vadd")
      r = b.CreateAdd(p, q);
    else if (op == "vsub")
      r = b.CreateSub(p, q);
    else if (op == "vavrg")
      r = b.CreateAShr(b.CreateAdd(b.CreateAdd(p, q), b.getInt64(1)), 1);
    else if (op == "vabsdiff")
      r = b.CreateSelect(less, b.CreateSub(q, p), b.CreateSub(p, q));
    else if (op == "vmin" || op == "vmax")
      r = b.CreateSelect(less, op == "vmin" ? p : q, op == "vmin" ? q : p);
    else
      return false;
    if (s.has("sat")) {
      r = t.intrinsic(Intrinsic::smax, {wide}, {r, ConstantInt::get(wide, low)});
      r = t.intrinsic(Intrinsic::smin, {wide}, {r, ConstantInt::get(wide, high)});
    }
    if (sums_up)
      all = b.CreateAdd(all, r);
    else
      all = b.CreateOr(all, b.CreateShl(b.CreateZExt(b.CreateTrunc(r, b.getIntNTy(bits)), wide), bits * i));
  }
  return out(b.CreateTrunc(all, b.getInt32Ty()));
}

// fma{.rn}{.sat}{.relu}.f16, f16x2, bf16, bf16x2: in double precision, which holds the product, then rounded.
bool Table::small_fma() {
  IRBuilder<>& b = t.b_;
  const Type type = s.type();
  llvm::Type* wide = b.getDoubleTy();
  if (type.lanes > 1) wide = FixedVectorType::get(wide, type.lanes);
  const auto operand = [&](unsigned n) { return b.CreateFPExt(in(n, type), wide); };
  Value* r = t.intrinsic(Intrinsic::fma, {wide}, {operand(1), operand(2), operand(3)});
  Constant* zero = Constant::getNullValue(wide);
  if (s.has("relu")) r = b.CreateSelect(b.CreateFCmpOLT(r, zero), zero, r);
  if (s.has("sat")) return false;
  return out(b.CreateFPTrunc(r, t.llvm_type(type)));
}

bool Table::packed(bool& known) {
  known = true;
  const StringRef op = s.words[0];
  IRBuilder<>& b = t.b_;
  for (StringRef name : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
    StringRef lanes = op;
    if (!lanes.consume_front(name)) continue;
    if (lanes.empty() || lanes == "2" || lanes == "4") return video(name, lanes.empty() ? 1 : lanes[0] - '0');
  }
  if (op == "fma" && s.type().is_float() && s.type().bits == 16 && !s.has("rz")) return small_fma();
  // To the 10 bits of tf32's mantissa, ties away from zero.
  if (op == "cvt" && s.has("tf32") && s.has("rna") && s.has("f32") && !s.has("satfinite")) {
    Value* x = in(1, {'b', 32});
    Value* exponent = b.CreateAnd(x, t.i32(0x7f800000));
    Value* rounded = b.CreateAnd(b.CreateAdd(x, t.i32(0x1000)), t.i32(0xffffe000));
    return out(b.CreateSelect(b.CreateICmpEQ(exponent, t.i32(0x7f800000)), x, rounded));
  }
  if (op == "slct" && s.operands.size() == 4) {
    const Type by = s.type(1);
    if (!by.known()) return false;
    Value* c = in(3, by);
    Value* holds = by.is_float() ? b.CreateFCmpOGE(c, Constant::getNullValue(c->getType()))
                                 : b.CreateICmpSGE(c, Constant::getNullValue(c->getType()));
    return out(b.CreateSelect(holds, in(1, s.type()), in(2, s.type())));
  }
  // One lane of those in the mask: the lowest.
  if (op == "elect" && s.has("sync") && s.operands.size() == 2) {
    Value* mask = in(1, {'b', 32});
    t.service("__mr_warp_sync", b.getVoidTy(), {mask});
    Value* leader = t.intrinsic(Intrinsic::cttz, {b.getInt32Ty()}, {mask, b.getFalse()});
    t.write_name(s.operands[0].second, b.CreateICmpEQ(leader, t.special("%laneid")));
    t.write_name(s.operands[0].text, leader);
    return true;
  }
  if (op == "createpolicy") return out(b.getInt64(0));  // there is no such cache
  if (op == "setmaxnreg") return true;
  known = false;
  return false;
}

}  // namespace mrcc::ptx
