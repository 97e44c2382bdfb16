// Libraries that know two compilers of CUDA, nvcc and clang, and count on what nvcc alone lets pass (names that are not
// there in templates, functions of the wrong side in overload resolution) see the one that is at work: while their file
// that looks for compilers is read, __NVCC__ isn't defined.
#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"

namespace {
using namespace clang;

constexpr llvm::StringLiteral files[] = {"/Eigen/src/Core/util/Macros.h"};

class LibraryCompilers : public PPCallbacks {
 public:
  explicit LibraryCompilers(Preprocessor& preprocessor) : preprocessor_(preprocessor) {}
  void FileChanged(SourceLocation at, FileChangeReason reason, SrcMgr::CharacteristicKind, FileID left) override {
    SourceManager& sources = preprocessor_.getSourceManager();
    if (reason == EnterFile && !hidden_ && looks_for_compilers(sources.getFilename(at))) {
      name_ = preprocessor_.getIdentifierInfo("__NVCC__");
      hidden_ = preprocessor_.getMacroInfo(name_);
      inside_ = sources.getFileID(at);
      if (hidden_)
        preprocessor_.appendMacroDirective(name_,
                                           new (preprocessor_.getPreprocessorAllocator()) UndefMacroDirective(at));
    } else if (reason == ExitFile && hidden_ && left == inside_) {
      preprocessor_.appendDefMacroDirective(name_, hidden_);
      hidden_ = nullptr;
    }
  }

 private:
  static bool looks_for_compilers(StringRef file) {
    return llvm::any_of(files, [&](StringRef end) { return file.ends_with(end); });
  }
  Preprocessor& preprocessor_;
  IdentifierInfo* name_ = nullptr;
  MacroInfo* hidden_ = nullptr;
  FileID inside_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<LibraryCompilers>(preprocessor));
    return std::make_unique<ASTConsumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};
const FrontendPluginRegistry::Add<Action> compilers("millrace-compilers", "shows libraries the compiler at work");

}  // namespace
