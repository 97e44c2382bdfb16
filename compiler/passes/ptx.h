// Inline PTX: the text of an `asm` statement in device code, as statements (ptx_parser.cpp), and their translation into
// IR (ptx.cpp, ptx_branches.cpp, and the table: ptx_table.h). Anything without a translation is a compile error that
// names the instruction.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace mrcc {

void lower_inline_ptx(llvm::Module& module);

namespace ptx {

// A fundamental type: .u32 is {'u', 32}; kinds u s b f, 'p' for .pred, 'h' for .bf16; lanes 2 for the packed .f16x2.
struct Type {
  char kind = 0;
  unsigned bits = 0, lanes = 1;
  bool known() const { return kind != 0; }
  bool is_float() const { return kind == 'f' || kind == 'h'; }
};
Type parse_type(llvm::StringRef suffix);

struct Operand {
  enum Kind { name, number, memory, vector } kind = name;
  std::string text;            // name: "$0" for an operand of the statement, "%laneid", a declared register
  std::string second;          // the q of a destination p|q
  bool inverted = false;       // !p
  std::uint64_t bits = 0;      // number
  char literal = 'i';          // number: i integer, f single, d double precision
  std::int64_t offset = 0;     // memory
  std::vector<Operand> parts;  // vector; memory: its base
};

struct Statement {
  std::string label;  // not empty: nothing but a label
  std::string guard;  // register; empty: none
  bool guard_inverted = false;
  std::string full;                // "add.s32"
  std::vector<std::string> words;  // "add", "s32"
  std::vector<Operand> operands;
  bool has(llvm::StringRef word) const;
  // The nth type among the words; unknown if there are fewer.
  Type type(unsigned n = 0) const;
};
struct Declaration {
  std::string name;
  Type type;
};
struct Program {
  std::vector<Declaration> registers;
  std::vector<Statement> statements;
  std::string error;  // not empty: what can't be read
};
// `text` as it stands in IR.
Program parse(llvm::StringRef text);

// ptx_exit.cpp: the calls of __mr_lane_exit, which stand for `exit`, become returns of kernels.
void lower_exits(llvm::Module& module);

// Translates the statements of one `asm`. Registers are values; where there are labels they are variables, which become
// values when locals are promoted.
class Translator {
 public:
  explicit Translator(llvm::CallInst* call);
  // False: reported.
  bool run(const Program& program);
  llvm::Value* result();

 private:
  friend struct Table;
  bool guarded(const Statement& s);
  // ptx_branches.cpp
  void keep_in_variables(const Program& program);
  bool statement_between_labels(const Statement& s);
  void place_label(const std::string& name);
  bool branch(const Statement& s);
  bool skipped(const Statement& s);
  llvm::BasicBlock* cut(const llvm::Twine& name);
  void end_branches();
  // ptx_instructions.cpp: false when there is no translation.
  bool instruction(const Statement& s);

  llvm::Type* llvm_type(Type t);
  llvm::Value* convert(llvm::Value* v, Type t);
  llvm::Value* read(const Operand& o, Type t);
  void write(const Operand& o, llvm::Value* v);
  void write_name(const std::string& name, llvm::Value* v);
  unsigned width(const Operand& o);  // of the register, in bits; 0 unknown
  llvm::Value* special(llvm::StringRef name);
  llvm::Value* address(const Operand& o, const Statement& s);
  llvm::Value* service(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* intrinsic(unsigned id, llvm::ArrayRef<llvm::Type*> types, llvm::ArrayRef<llvm::Value*> args);
  llvm::Value* i32(std::uint32_t v) { return b_.getInt32(v); }
  bool fail(const llvm::Twine& why);

  llvm::CallInst* call_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  std::map<std::string, llvm::Value*> values_;
  std::map<std::string, Type> types_;  // of declared registers
  // Registers of programs with labels; empty for others.
  std::map<std::string, llvm::AllocaInst*> variables_;
  std::map<std::string, llvm::BasicBlock*> labels_;  // without a terminator: not placed yet
  unsigned outputs_ = 0;
  bool failed_ = false;
};

}  // namespace ptx
}  // namespace mrcc
