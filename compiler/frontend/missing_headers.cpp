// Headers of GPU toolkits' libraries that Millrace has not: the error says what the header belongs to, and where it is
// to be had if it is. `__has_include` is left alone, so that programs with a substitute find that they need it.
#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorLexer.h"

namespace {
using namespace clang;

struct Library {
  llvm::StringLiteral begin;  // of the header's name
  llvm::StringLiteral says;
};

constexpr Library libraries[] = {
    {"thrust/", "Thrust is in Debian's packages libthrust-dev and libcub-dev"},
    {"cub/", "CUB is in Debian's package libcub-dev"},
    {"cublas", "cuBLAS is no part of Millrace"},
    {"cusparse", "cuSPARSE is no part of Millrace"},
    {"cusolver", "cuSOLVER is no part of Millrace"},
    {"cufft", "cuFFT is no part of Millrace"},
    {"curand", "of cuRAND there is curand_kernel.h alone, its generators for device code"},
    {"cudnn", "cuDNN is no part of Millrace"},
    {"cutensor", "cuTENSOR is no part of Millrace"},
    {"cutlass/", "put the include folder of CUTLASS's sources into the path by -I"},
    {"nccl.h", "NCCL is no part of Millrace"},
    {"nvrtc.h", "NVRTC is no part of Millrace, which compiles device code by mrcc alone"},
    {"nvJitLink.h", "nvJitLink is no part of Millrace, which compiles device code by mrcc alone"},
    {"nvml.h", "NVML is no part of Millrace: there is no GPU to ask about"},
    {"npp", "NPP is no part of Millrace"},
    {"nvjpeg.h", "nvJPEG is no part of Millrace"},
    {"cupti", "CUPTI is no part of Millrace; see `millrace timeline`"},
    {"cuda_gl_interop.h", "graphics interoperability is no part of Millrace"},
    {"cuda_egl_interop.h", "graphics interoperability is no part of Millrace"},
    {"cuda_vdpau_interop.h", "graphics interoperability is no part of Millrace"},
};

class MissingHeaders : public PPCallbacks {
 public:
  explicit MissingHeaders(Preprocessor& preprocessor) : preprocessor_(preprocessor) {}
  bool FileNotFound(StringRef name) override {
    for (const Library& library : libraries) {
      if (!name.starts_with(library.begin)) continue;
      DiagnosticsEngine& diagnostics = preprocessor_.getDiagnostics();
      const unsigned id = diagnostics.getCustomDiagID(DiagnosticsEngine::Fatal, "'%0' file not found: %1");
      PreprocessorLexer* lexer = preprocessor_.getCurrentLexer();
      diagnostics.Report(
          lexer ? static_cast<Lexer*>(lexer)->getSourceLocation().getLocWithOffset(-1) : SourceLocation(), id)
          << name << library.says;
      return true;
    }
    return false;
  }

 private:
  Preprocessor& preprocessor_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<MissingHeaders>(preprocessor));
    return std::make_unique<ASTConsumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};
const FrontendPluginRegistry::Add<Action> headers("millrace-headers", "explains headers that are not there");

}  // namespace
