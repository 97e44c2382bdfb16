// Deduction guides are for host and device alike, as with nvcc: `template <class... F> overloaded(F...) ->
// overloaded<F...>`. To clang one without qualifiers is the host's, and `std::array a{1, 2}` finds none in device code.
// A guide made from a template is seen when it is made, before it takes part in overload resolution; one that is no
// template, when the declaration that it stands in (of a file's or a namespace's) has ended.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTMutationListener.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

namespace {
using namespace clang;

void for_both_sides(const Decl* declaration) {
  const auto* guide = dyn_cast<CXXDeductionGuideDecl>(declaration);
  if (!guide || guide->hasAttr<CUDAHostAttr>() || guide->hasAttr<CUDADeviceAttr>()) return;
  auto* mine = const_cast<CXXDeductionGuideDecl*>(guide);
  ASTContext& context = mine->getASTContext();
  mine->addAttr(CUDAHostAttr::CreateImplicit(context));
  mine->addAttr(CUDADeviceAttr::CreateImplicit(context));
}

class Guides : public ASTConsumer, public ASTMutationListener {
 public:
  ASTMutationListener* GetASTMutationListener() override { return this; }
  using ASTMutationListener::AddedCXXTemplateSpecialization;
  void AddedCXXTemplateSpecialization(const FunctionTemplateDecl*, const FunctionDecl* made) override {
    for_both_sides(made);
  }
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) visit(d);
    return true;
  }

 private:
  static void visit(Decl* d) {
    for_both_sides(d);
    if (isa<NamespaceDecl, LinkageSpecDecl>(d))
      for (Decl* inner : cast<DeclContext>(d)->decls()) visit(inner);
  }
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, StringRef) override {
    if (!compiler.getLangOpts().CUDA) return std::make_unique<ASTConsumer>();
    return std::make_unique<Guides>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};
const FrontendPluginRegistry::Add<Action> guides("millrace-guides", "deduction guides are for host and device");
}  // namespace
