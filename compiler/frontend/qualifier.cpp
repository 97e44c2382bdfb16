// `__shared__ alignas(16) int s[4];`: after a GNU attribute clang takes no `alignas`, nvcc does. The qualifier macros
// of the device headers end in _Pragma("millrace qualifier"), whose handler turns an `alignas` that follows at once
// into `_Alignas`, which means the same and may stand there.
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

namespace {
using namespace clang;

class Qualifier : public PragmaHandler {
 public:
  Qualifier() : PragmaHandler("millrace") {}
  void HandlePragma(Preprocessor& pp, PragmaIntroducer, Token& first) override {
    Token token;
    do pp.LexUnexpandedToken(token);
    while (token.isNot(tok::eod));
    (void)first;
    // The token after the qualifier: looked at and put back.
    pp.Lex(token);
    if (token.is(tok::kw_alignas)) {
      // Both: a token that is put back gets its kind from its identifier again.
      token.setIdentifierInfo(pp.getIdentifierInfo("_Alignas"));
      token.setKind(tok::kw__Alignas);
    }
    auto copy = std::make_unique<Token[]>(1);
    copy[0] = token;
    pp.EnterTokenStream(std::move(copy), 1, /*DisableMacroExpansion=*/true, /*IsReinject=*/true);
  }
};
const PragmaHandlerRegistry::Add<Qualifier> registration("millrace", "qualifiers before alignas");
}  // namespace
