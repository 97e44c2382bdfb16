#include "inline_ptx.h"

#include <cstring>
#include <memory>
#include <string>

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"

namespace {
using namespace clang;

// PTX's special registers, up to where the rest of the name begins. None is a register of the processor.
constexpr llvm::StringLiteral special_registers[] = {
    "tid.",   "ntid.",    "ctaid.",      "nctaid.", "laneid",  "warpid",      "nwarpid",      "smid",       "nsmid",
    "gridid", "lanemask", "globaltimer", "clock",   "cluster", "nclusterid.", "dynamic_smem", "total_smem",
};

// Follows one asm statement from its keyword to the parenthesis that closes it.
class Watcher {
 public:
  Watcher(Preprocessor& preprocessor, bool device) : preprocessor_(preprocessor), device_(device) {}

  void operator()(const Token& token) {
    if (token.is(tok::kw_asm)) {
      active_ = true;
      depth_ = 0;
      constraints_ = false;
      return;
    }
    if (!active_) return;
    if (token.is(tok::l_paren)) {
      ++depth_;
    } else if (token.is(tok::r_paren)) {
      active_ = --depth_ > 0;
    } else if (depth_ == 0 && (token.is(tok::semi) || token.is(tok::l_brace))) {
      active_ = false;
    } else if (depth_ == 1 && (token.is(tok::colon) || token.is(tok::coloncolon))) {
      constraints_ = true;
    } else if (depth_ == 1 && token.is(tok::string_literal)) {
      if (!constraints_)
        escape(const_cast<Token&>(token));
      else if (device_)
        replace(const_cast<Token&>(token));
    }
  }

 private:
  // The token is about to be handed out: a constraint such as "=l" gets a letter that clang accepts for the operand.
  void replace(Token& token) {
    if (token.getLength() < 3 || token.getLength() > 5) return;
    char text[8] = {};
    std::memcpy(text, token.getLiteralData(), token.getLength());
    char& letter = text[token.getLength() - 2];
    if (letter == 'h' || letter == 'l')
      letter = 'r';
    else if (letter == 'f' || letter == 'd')
      letter = 'x';
    else
      return;
    char* kept = static_cast<char*>(preprocessor_.getPreprocessorAllocator().Allocate(8, 1));
    std::memcpy(kept, text, 8);
    token.setLiteralData(kept);
  }

  // nvcc takes "%laneid" for "%%laneid"; clang calls it an invalid escape.
  void escape(Token& token) {
    const StringRef text(token.getLiteralData(), token.getLength());
    std::string escaped;
    for (std::size_t i = 0; i < text.size(); ++i) {
      escaped += text[i];
      if (text[i] != '%') continue;
      const StringRef rest = text.substr(i + 1);
      if (rest.starts_with("%"))
        escaped += text[++i];
      else if (llvm::any_of(special_registers, [&](StringRef name) { return rest.starts_with(name); }))
        escaped += '%';
    }
    if (escaped.size() == text.size()) return;
    char* kept = static_cast<char*>(preprocessor_.getPreprocessorAllocator().Allocate(escaped.size(), 1));
    std::memcpy(kept, escaped.data(), escaped.size());
    token.setLiteralData(kept);
    token.setLength(static_cast<unsigned>(escaped.size()));
  }

  Preprocessor& preprocessor_;
  bool device_;
  bool active_ = false, constraints_ = false;
  int depth_ = 0;
};
}  // namespace

void watch_inline_ptx(Preprocessor& preprocessor, bool device) {
  preprocessor.setTokenWatcher(Watcher(preprocessor, device));
}
