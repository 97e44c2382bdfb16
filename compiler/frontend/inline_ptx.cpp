#include "inline_ptx.h"

#include <cstring>
#include <memory>

#include "clang/Lex/Preprocessor.h"

namespace {
using namespace clang;

// Follows one asm statement from its keyword to the parenthesis that closes it.
class Watcher {
 public:
  explicit Watcher(Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

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
    } else if (depth_ == 1 && constraints_ && token.is(tok::string_literal)) {
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

  Preprocessor& preprocessor_;
  bool active_ = false, constraints_ = false;
  int depth_ = 0;
};
}  // namespace

void watch_inline_ptx(Preprocessor& preprocessor) { preprocessor.setTokenWatcher(Watcher(preprocessor)); }
