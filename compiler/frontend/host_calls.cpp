// Functions for the host alone that `__host__ __device__` functions (templates, inline or static ones) call, where
// device code uses these: a warning, as with nvcc, since the call may be one that a device never comes to. Where it
// does, it traps and says why (passes/host_calls.h). In functions for devices alone such a call is the error that it is
// to clang.
//
// clang has the one diagnostic for both, an error, which is made a warning (with -w a remark, as warnings that are
// ignored aren't made at all). What is an error after all is shown and counted as one, and another one that nobody sees
// tells the rest of the compiler. The function that is called gets an assembler name by which the passes know it.
#include <memory>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Sema/Sema.h"

namespace {
using namespace clang;

constexpr llvm::StringLiteral kHostOnlyPrefix = "__mr_host_only.";  // passes/names.h

class HostCalls : public DiagnosticConsumer {
 public:
  HostCalls(CompilerInstance& compiler, std::unique_ptr<DiagnosticConsumer> shown)
      : compiler_(compiler), shown_(std::move(shown)),
        unseen_error_(
            compiler.getDiagnostics().getCustomDiagID(DiagnosticsEngine::Error, "host function used on a device")) {
    // An error stays one where a warning is asked for; what is ignored doesn't.
    const bool unseen = compiler.getDiagnostics().getIgnoreAllWarnings();
    for (const diag::Severity severity :
         {diag::Severity::Ignored, unseen ? diag::Severity::Remark : diag::Severity::Warning})
      compiler.getDiagnostics().setSeverity(diag::err_ref_bad_target, severity, SourceLocation());
  }
  void BeginSourceFile(const LangOptions& language, const Preprocessor* preprocessor) override {
    shown_->BeginSourceFile(language, preprocessor);
  }
  void EndSourceFile() override { shown_->EndSourceFile(); }
  void finish() override { shown_->finish(); }
  void clear() override {
    DiagnosticConsumer::clear();
    shown_->clear();
  }
  bool IncludeInDiagnosticCounts() const override { return shown_->IncludeInDiagnosticCounts(); }

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& d) override {
    if (d.getID() == unseen_error_) return;
    if (level == DiagnosticsEngine::Note && of_unseen_) return;
    of_unseen_ = false;
    if (d.getID() == diag::err_ref_bad_target && level < DiagnosticsEngine::Error) {
      if (FunctionDecl* called = at_the_end() ? host_function(d) : nullptr) {
        mark(*called);
        of_unseen_ = level == DiagnosticsEngine::Remark;
        if (of_unseen_) return;
        const std::string text = "call of __host__ function '" + called->getNameAsString() +
                                 "' in a __host__ __device__ function: a trap where a device comes to it";
        count_and_show(level, Diagnostic(d.getDiags(), text));
        return;
      }
      level = DiagnosticsEngine::Error;
      compiler_.getDiagnostics().SetDelayedDiagnostic(unseen_error_);
    }
    count_and_show(level, d);
  }

 private:
  void count_and_show(DiagnosticsEngine::Level level, const Diagnostic& d) {
    DiagnosticConsumer::HandleDiagnostic(level, d);
    shown_->HandleDiagnostic(level, d);
  }
  // Functions that are compiled in any case, neither templates nor inline nor static, are told of in their midst, and
  // clang makes nothing of the call. Of all others it tells behind the last line, once it knows who uses them.
  bool at_the_end() const { return compiler_.hasSema() && compiler_.getSema().CurContext->isTranslationUnit(); }
  // What a host and device function calls; null where it isn't that.
  static FunctionDecl* host_function(const Diagnostic& d) {
    enum { device, global, host, both };  // in the diagnostic's text
    if (d.getNumArgs() < 4 || d.getArgKind(0) == DiagnosticsEngine::ak_std_string || d.getRawArg(0) != host ||
        d.getRawArg(3) != both || d.getArgKind(2) != DiagnosticsEngine::ak_nameddecl)
      return nullptr;
    return dyn_cast<FunctionDecl>(reinterpret_cast<NamedDecl*>(d.getRawArg(2)));
  }
  static void mark(FunctionDecl& f) {
    const auto* name = f.getAttr<AsmLabelAttr>();
    if (name && name->getLabel().starts_with(kHostOnlyPrefix)) return;
    ASTContext& context = f.getASTContext();
    const std::string label = (kHostOnlyPrefix + ASTNameGenerator(context).getName(&f)).str();
    for (FunctionDecl* each : f.redecls()) {
      each->dropAttr<AsmLabelAttr>();
      each->addAttr(AsmLabelAttr::CreateImplicit(context, label, /*IsLiteralLabel=*/false));
    }
  }

  CompilerInstance& compiler_;
  std::unique_ptr<DiagnosticConsumer> shown_;
  const unsigned unseen_error_;
  bool of_unseen_ = false;  // the notes that follow belong to a diagnostic that isn't shown
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    DiagnosticsEngine& diagnostics = compiler.getDiagnostics();
    if (compiler.getLangOpts().CUDA && compiler.getLangOpts().CUDAIsDevice && diagnostics.ownsClient())
      diagnostics.setClient(new HostCalls(compiler, diagnostics.takeClient()));
    return std::make_unique<ASTConsumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};
const FrontendPluginRegistry::Add<Action> calls("millrace-host-calls", "warns of host functions called on devices");

}  // namespace
