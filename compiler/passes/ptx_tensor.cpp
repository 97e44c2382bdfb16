// Inline PTX: what a warp's lanes do together on small matrices, each holding a part of them (PTX ISA, "Warp Level
// Matrix Instructions"). The lanes exchange their registers by shuffles and each computes its own elements: products
// and sums in the type of the result, one rounding for each, in the order of k.
#include <simt/abi.h>

#include "llvm/IR/Module.h"

#include "context.h"
#include "ptx_table.h"

namespace mrcc::ptx {
using namespace llvm;

namespace {

// mma.sync: the shapes, and how many 32-bit registers of A and B a lane holds. Register r of A is of row lane / 4, or 8
// rows further down where r is odd and there are 16, and of the block r / 2 of k; register r of B of column lane / 4
// and block r. Lane % 4 says which part of the block.
struct Shape {
  StringLiteral name, types;  // types of A
  unsigned rows, a, b;
};
constexpr Shape shapes[] = {
    {"m16n8k16", "f16 bf16", 16, 4, 2}, {"m16n8k8", "f16 bf16", 16, 2, 1}, {"m16n8k8", "tf32", 16, 4, 2},
    {"m16n8k4", "tf32", 16, 2, 1},      {"m16n8k32", "s8 u8", 16, 4, 2},   {"m16n8k16", "s8 u8", 16, 2, 1},
    {"m8n8k16", "s8 u8", 8, 1, 1},
};

const Shape* shape_of(StringRef name, StringRef type) {
  for (const Shape& shape : shapes) {
    SmallVector<StringRef, 2> types;
    shape.types.split(types, ' ');
    if (shape.name == name && is_contained(types, type)) return &shape;
  }
  return nullptr;
}

// The elements that a 32-bit register holds, as values of the type in which they are multiplied.
SmallVector<Value*, 4> elements(IRBuilder<>& b, Value* word, StringRef type) {
  SmallVector<Value*, 4> out;
  if (type == "tf32") {
    out.push_back(b.CreateBitCast(b.CreateAnd(word, b.getInt32(0xffffe000)), b.getFloatTy()));
  } else if (type == "f16" || type == "bf16") {
    llvm::Type* part = type == "f16" ? b.getHalfTy() : b.getBFloatTy();
    for (unsigned i : {0u, 1u})
      out.push_back(b.CreateFPExt(b.CreateBitCast(b.CreateTrunc(b.CreateLShr(word, 16 * i), b.getInt16Ty()), part),
                                  b.getFloatTy()));
  } else {
    for (unsigned i = 0; i < 4; ++i) {
      Value* byte = b.CreateTrunc(b.CreateLShr(word, 8 * i), b.getInt8Ty());
      out.push_back(type == "s8" ? b.CreateSExt(byte, b.getInt32Ty()) : b.CreateZExt(byte, b.getInt32Ty()));
    }
  }
  return out;
}

}  // namespace

// What another lane holds in up to two registers.
std::pair<Value*, Value*> Table::of_lane(Value* low, Value* high, Value* lane) {
  IRBuilder<>& b = t.b_;
  Value* both = b.CreateZExt(low, b.getInt64Ty());
  if (high) both = b.CreateOr(both, b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  Constant* nowhere = ConstantPointerNull::get(b.getPtrTy());
  Value* r = t.service("__mr_shuffle", b.getInt64Ty(),
                       {t.i32(~0u), t.i32(MR_SHFL_IDX), both, lane, t.i32(32), nowhere});
  return {b.CreateTrunc(r, b.getInt32Ty()), high ? b.CreateTrunc(b.CreateLShr(r, 32), b.getInt32Ty()) : nullptr};
}

// mma.sync.aligned.SHAPE.row.col.DTYPE.ATYPE.BTYPE.CTYPE d, a, b, c
bool Table::multiply_matrices() {
  const std::size_t words = s.words.size();
  if (words != 10 || s.operands.size() != 4 || s.words[4] != "row" || s.words[5] != "col") return false;
  const StringRef d_type = s.words[6], a_type = s.words[7], b_type = s.words[8];
  const Shape* shape = shape_of(s.words[3], a_type);
  const bool integers = d_type == "s32", halves = d_type == "f16";
  const bool bytes = a_type == "s8" || a_type == "u8";
  if (!shape || s.words[9] != d_type || integers != bytes || (!integers && !halves && d_type != "f32")) return false;
  if (bytes ? b_type != "s8" && b_type != "u8" : b_type != a_type) return false;
  const unsigned results = shape->rows / 4;  // elements of a lane, two of them side by side
  const auto parts = [&](unsigned n) { return s.operands[n].kind == Operand::vector ? s.operands[n].parts.size() : 1; };
  if (parts(0) != (halves ? results / 2 : results) || parts(1) != shape->a || parts(2) != shape->b ||
      parts(3) != parts(0))
    return false;
  IRBuilder<>& b = t.b_;
  const auto part = [&](unsigned n, unsigned i) {
    const Operand& o = s.operands[n];
    return t.read(o.kind == Operand::vector ? o.parts[i] : o, {'b', 32});
  };
  Value* lane = t.special("%laneid");
  Value* row = b.CreateAnd(lane, t.i32(28));
  Value* column = b.CreateShl(b.CreateAnd(lane, t.i32(3)),
                              3);  // the first lane of those with B's column 2 * (lane % 4)
  Value* a[4][4];                  // by the part of the block, by register
  Value* other[4][2][2];           // B: and by column before that
  for (unsigned k = 0; k < 4; ++k) {
    for (unsigned r = 0; r < shape->a; r += 2)
      std::tie(a[k][r], a[k][r + 1]) = of_lane(part(1, r), r + 1 < shape->a ? part(1, r + 1) : nullptr,
                                               b.CreateOr(row, t.i32(k)));
    for (unsigned j : {0u, 1u})
      std::tie(other[k][j][0], other[k][j][1]) = of_lane(part(2, 0), shape->b > 1 ? part(2, 1) : nullptr,
                                                         b.CreateOr(column, t.i32(4 * j + k)));
  }
  Value* sums[4];
  for (unsigned i = 0; i < results; ++i) {
    Value* c = part(3, halves ? i / 2 : i);
    if (halves)
      c = elements(b, c, "f16")[i % 2];
    else if (!integers)
      c = b.CreateBitCast(c, b.getFloatTy());
    sums[i] = c;
  }
  for (unsigned block = 0; block < shape->b; ++block)
    for (unsigned k = 0; k < 4; ++k)
      for (unsigned i = 0; i < results; ++i) {
        const auto x = elements(b, a[k][shape->rows == 16 ? 2 * block + i / 2 : block], a_type);
        const auto y = elements(b, other[k][i % 2][block], b_type);
        for (std::size_t e = 0; e < x.size(); ++e)
          sums[i] = integers ? b.CreateAdd(sums[i], b.CreateMul(x[e], y[e]))
                             : b.CreateFAdd(sums[i], b.CreateFMul(x[e], y[e]));
      }
  for (unsigned i = 0; i < results; i += halves ? 2 : 1) {
    Value* v = sums[i];
    if (halves) {
      v = PoisonValue::get(FixedVectorType::get(b.getHalfTy(), 2));
      for (unsigned e : {0u, 1u})
        v = b.CreateInsertElement(v, b.CreateFPTrunc(sums[i + e], b.getHalfTy()), std::uint64_t{e});
    }
    t.write(s.operands[0].parts[halves ? i / 2 : i], v);
  }
  return true;
}

// ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16 r, [address]: lane 8 * m + i knows where row i of matrix m lies.
bool Table::load_matrices() {
  if (!s.has("m8n8") || !s.has("b16") || s.operands.size() != 2 || s.operands[1].kind != Operand::memory) return false;
  IRBuilder<>& b = t.b_;
  const bool transposed = s.has("trans");
  const unsigned count = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
  const Operand& to = s.operands[0];
  if (to.kind == Operand::vector ? to.parts.size() != count : count != 1) return false;
  Value* address = b.CreateAdd(t.read(s.operands[1].parts[0], {'b', 32}), t.i32(s.operands[1].offset));
  Value* lane = t.special("%laneid");
  Value *group = b.CreateLShr(lane, 2), *in_group = b.CreateAnd(lane, t.i32(3));
  Value* base = placeholder(b, t.module_, shared_base);
  const auto load = [&](Value* row, Value* at, llvm::Type* type) {
    Value* offset = b.CreateZExt(b.CreateAdd(of_lane(address, nullptr, row).first, at), b.getInt64Ty());
    return b.CreateAlignedLoad(type, b.CreateGEP(b.getInt8Ty(), base, offset), Align(2));
  };
  for (unsigned m = 0; m < count; ++m) {
    Value* v;
    if (transposed) {
      Value* halves[2];
      for (unsigned e : {0u, 1u})
        halves[e] = b.CreateZExt(
            load(b.CreateAdd(b.CreateShl(in_group, 1), t.i32(8 * m + e)), b.CreateShl(group, 1), b.getInt16Ty()),
            b.getInt32Ty());
      v = b.CreateOr(halves[0], b.CreateShl(halves[1], 16));
    } else {
      v = load(b.CreateAdd(group, t.i32(8 * m)), b.CreateShl(in_group, 2), b.getInt32Ty());
    }
    t.write(to.kind == Operand::vector ? to.parts[m] : to, v);
  }
  return t.service("__mr_warp_sync", b.getVoidTy(), {t.i32(~0u)});  // nobody writes before all have read
}

bool Table::matrices(bool& known) {
  known = true;
  if (s.words[0] == "mma" && s.has("sync")) return multiply_matrices();
  if (s.words[0] == "ldmatrix" && s.has("sync")) return load_matrices();
  known = false;
  return false;
}

}  // namespace mrcc::ptx
