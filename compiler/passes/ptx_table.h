// One instruction's translation: which operands, which IR. Every function answers false when the form has none.
#pragma once
#include "ptx.h"

namespace mrcc::ptx {

struct Table {
  Translator& t;
  const Statement& s;

  llvm::Value* in(unsigned n, Type type) {
    if (n < s.operands.size()) return t.read(s.operands[n], type);
    t.fail("inline PTX: the instruction '" + s.full + "' lacks an operand");
    return llvm::Constant::getNullValue(t.llvm_type(type));
  }
  bool out(llvm::Value* v) {
    if (!s.operands.empty()) t.write(s.operands[0], v);
    return !s.operands.empty();
  }

  bool understood() const;  // ptx_words.cpp: no word of the instruction's is one that the table doesn't look at

  // `known`: the instruction belongs to this part of the table.
  bool arithmetic(bool& known);  // ptx_arithmetic.cpp
  bool memory(bool& known);      // ptx_memory.cpp
  bool together(bool& known);    // ptx_memory.cpp: barriers, votes, shuffles

  bool matrices(bool& known);  // ptx_tensor.cpp
  bool packed(bool& known);    // ptx_packed.cpp
  bool phases(bool& known);    // ptx_mbarrier.cpp

  // ptx_rounding.cpp: the instruction's rounding .rz, .rm or .rp.
  bool directed(llvm::StringRef mnemonic, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* directed_half(llvm::Value* single);

  llvm::Value* carry();
  llvm::Value* with_carry(bool add, llvm::Value* a, llvm::Value* b, llvm::Value* in);
  llvm::Value* saturate(llvm::Value* v);
  llvm::Value* product(Type type);
  llvm::Value* compare(Type type, llvm::Value* x, llvm::Value* y);
  llvm::Value* widened(llvm::Value* v, Type type);
  bool add_or_subtract(bool add, bool carry_in);
  bool multiply(bool accumulate, bool carry_in);
  bool multiply_24(bool accumulate);
  bool divide(bool remainder);
  bool unary();
  bool shift();
  bool funnel_shift();
  bool lop3();
  bool permute_bytes();
  bool extract_bits();
  bool insert_bits();
  bool min_or_max(bool max);
  bool set(bool predicate);
  bool convert();
  bool logic();
  bool dot_product();
  bool pack();

  llvm::Value* pointer(const Operand& o);
  llvm::Value* pointer(const Operand& o, bool shared);  // an offset in the window, or a generic address
  bool load_or_store(bool load);
  bool in_space();
  bool atomic(bool returns);
  llvm::Value* atomic_of(llvm::Value* at, Type type, const Operand& operand);
  bool shuffle();
  bool vote();
  bool barrier();

  bool video(llvm::StringRef op, unsigned lanes);
  bool small_fma();

  std::pair<llvm::Value*, llvm::Value*> of_lane(llvm::Value* low, llvm::Value* high, llvm::Value* lane);
  bool multiply_matrices();
  bool load_matrices();
};

}  // namespace mrcc::ptx
