// Host code evaluates the arguments of a call from right to left, as it does when nvcc hands it to g++ on x86-64.
//
// C++ leaves the order open; clang goes from left to right. Programs depend on it without knowing: make_point(rand(),
// rand()), or a printf of what two calls return. Device code is left as it is: nvcc's device compiler goes from left to
// right as well.
//
// A call f(a, b, c) whose arguments influence each other is replaced by the expression that first evaluates c, then b,
// then a, and then calls f with the values: clang's PseudoObjectExpr, which is made for such orders and whose code
// generation knows every kind of result. It is done where it can be seen to be the same program but for the order:
//   - the arguments that are moved are scalar values, by themselves or bound to a reference parameter. What is neither
//     (an object made by a call) stays where it is, and so does everything to its left: it then comes last;
//   - what names the function or the object has no effects of its own: C++17 evaluates that first;
//   - operators, braced initialisation and kernel launches have an order that the language gives: they keep it;
//   - constexpr functions are left alone (their calls have no effects that could show an order), and so are system
//     headers.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ASTLambda.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/ADT/DenseSet.h"

namespace {
using namespace clang;

class Rewriter {
 public:
  // `code`: all of the function, before anything of it is rewritten.
  Rewriter(ASTContext& context, const Stmt* code) : context_(context) { find_addressed(code); }

  // Children first, so that what is replaced holds replaced calls.
  Stmt* rewrite(Stmt* s) {
    if (!s || isa<LambdaExpr>(s) || isa<PseudoObjectExpr>(s) || isa<UnaryExprOrTypeTraitExpr>(s)) return s;
    if (auto* declaration = dyn_cast<DeclStmt>(s)) {
      for (Decl* d : declaration->decls())
        if (auto* v = dyn_cast<VarDecl>(d)) initialiser(v);
      return s;
    }
    for (Stmt*& child : s->children())
      if (child) child = rewrite(child);
    auto* call = dyn_cast<Expr>(s);
    return call ? reorder(call) : s;
  }

  void initialiser(VarDecl* v) {
    if (v->isConstexpr() || !v->hasInit() || v->getInit()->isInstantiationDependent()) return;
    Expr* before = v->getInit();
    auto* after = cast<Expr>(rewrite(before));
    if (after != before) v->setInit(after);
  }

  void members(CXXConstructorDecl* constructor) {
    for (auto initialiser = constructor->init_begin(); initialiser != constructor->init_end(); ++initialiser) {
      CXXCtorInitializer* old = *initialiser;
      if (!old->isWritten()) continue;
      auto* init = cast<Expr>(rewrite(old->getInit()));
      if (init == old->getInit() || !old->isMemberInitializer()) continue;
      auto* changed = new (context_) CXXCtorInitializer(context_, old->getMember(), old->getMemberLocation(),
                                                        old->getLParenLoc(), init, old->getRParenLoc());
      changed->setSourceOrder(old->getSourceOrder());
      *initialiser = changed;
    }
  }

 private:
  bool effects(const Expr* e) const { return e->HasSideEffects(context_, /*IncludePossibleEffects=*/true); }

  // Changes a variable by name: the only way to change a local one whose address nobody has.
  static bool assigns(const Stmt* s) {
    if (!s || isa<LambdaExpr>(s)) return false;
    if (const auto* u = dyn_cast<UnaryOperator>(s); u && u->isIncrementDecrementOp()) return true;
    if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isAssignmentOp()) return true;
    return llvm::any_of(s->children(), assigns);
  }

  // Local variables that something else may know by address: used in any way but being read and being assigned to.
  void find_addressed(const Stmt* s) {
    if (!s || isa<UnaryExprOrTypeTraitExpr>(s)) return;
    const auto variable = [](const Expr* e) { return dyn_cast<DeclRefExpr>(e->IgnoreParens()); };
    if (const auto* reference = dyn_cast<DeclRefExpr>(s)) {
      addressed_.insert(reference->getDecl());
      return;
    }
    if (const auto* e = dyn_cast<Expr>(s);
        e && reads(e) && variable(cast<ImplicitCastExpr>(e->IgnoreParens())->getSubExpr()))
      return;
    if (const auto* u = dyn_cast<UnaryOperator>(s); u && u->isIncrementDecrementOp() && variable(u->getSubExpr()))
      return;
    if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isAssignmentOp() && variable(b->getLHS()))
      return find_addressed(b->getRHS());
    for (const Stmt* child : s->children()) find_addressed(child);
  }

  // An argument whose value can't depend on when it is looked at, or which is looked at at the call itself: constants,
  // addresses, and variables by name. (g++ keeps variables whose address nobody has in registers, and takes these at
  // the call; others it reads in the order of the arguments.)
  bool timeless(const Expr* e) const {
    const Expr* outer = e;
    e = e->IgnoreParenImpCasts();
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) {
      const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
      if (!variable) return true;
      const bool in_memory = variable->getType()->isReferenceType() || addressed_.contains(variable) ||
                             reference->refersToEnclosingVariableOrCapture();
      return variable->hasLocalStorage() && !(in_memory && read_inside(outer));
    }
    return isa<CXXThisExpr>(e) || isa<StringLiteral>(e) || isa<LambdaExpr>(e) || e->isEvaluatable(context_);
  }

  // A variable's value, looked at for the call.
  static bool reads(const Expr* e) {
    const auto* cast = dyn_cast<ImplicitCastExpr>(e->IgnoreParens());
    return cast && cast->getCastKind() == CK_LValueToRValue;
  }

  static bool read_inside(const Expr* e) {
    for (; const auto* cast = dyn_cast<ImplicitCastExpr>(e->IgnoreParens()); e = cast->getSubExpr())
      if (reads(cast)) return true;
    return false;
  }

  // The place of the scalar value in an argument that holds one: the argument itself, or what a temporary is made of.
  Expr** value_of(Expr*& argument) const {
    Expr** place = &argument;
    for (;;) {
      Expr* e = *place;
      Stmt** child = nullptr;
      if (isa<MaterializeTemporaryExpr>(e) || (isa<ImplicitCastExpr>(e) && !e->isPRValue())) child = &*e->child_begin();
      if (!child) break;
      place = reinterpret_cast<Expr**>(child);
    }
    Expr* e = *place;
    const QualType type = e->getType();
    return e->isPRValue() && type->isScalarType() && !isa<InitListExpr>(e) ? place : nullptr;
  }

  bool eligible(const Expr* e, llvm::MutableArrayRef<Expr*>& arguments) const {
    if (e->isInstantiationDependent()) return false;
    if (isa<CUDAKernelCallExpr>(e) || isa<UserDefinedLiteral>(e)) return false;
    if (const auto* call = dyn_cast<CallExpr>(e)) {
      // An object that is called: the operator's first argument.
      const auto* written_as_operator = dyn_cast<CXXOperatorCallExpr>(e);
      if (written_as_operator && (written_as_operator->getOperator() != OO_Call || effects(call->getArg(0))))
        return false;
      if (effects(call->getCallee()->IgnoreParenImpCasts())) return false;
      if (const FunctionDecl* f = call->getDirectCallee()) {
        if (f->isConsteval() || (f->getIdentifier() && f->getName().starts_with("__"))) return false;
      }
      auto* mutable_call = const_cast<CallExpr*>(call);
      arguments = {mutable_call->getArgs(), mutable_call->getNumArgs()};
      if (written_as_operator) arguments = arguments.drop_front();
      return true;
    }
    if (const auto* made = dyn_cast<CXXConstructExpr>(e)) {
      if (made->isListInitialization() || made->isStdInitListInitialization() || made->isElidable()) return false;
      if (made->getConstructionKind() != CXXConstructionKind::Complete || made->getConstructor()->isConsteval())
        return false;
      auto* mutable_made = const_cast<CXXConstructExpr*>(made);
      arguments = {mutable_made->getArgs(), mutable_made->getNumArgs()};
      return true;
    }
    return false;
  }

  Expr* reorder(Expr* e) {
    llvm::MutableArrayRef<Expr*> arguments;
    if (!eligible(e, arguments) || arguments.size() < 2) return e;
    // Something has effects, and something to the left or right of it may notice.
    std::size_t last = arguments.size();
    while (last > 0 && !effects(arguments[last - 1])) --last;
    // What is furthest right and has none is looked at before all that has.
    bool noticed = last > 0 && llvm::any_of(arguments.drop_front(last), [&](const Expr* a) { return !timeless(a); });
    bool written = false;
    for (std::size_t i = last; i-- > 0;) {
      noticed |= i + 1 < last && (effects(arguments[i]) || !timeless(arguments[i]) || (written && reads(arguments[i])));
      written |= assigns(arguments[i]);
    }
    if (!noticed) return e;
    llvm::SmallVector<Expr**, 8> moved;
    for (Expr*& argument : arguments) {
      if (timeless(argument) && !effects(argument)) continue;
      Expr** value = value_of(argument);
      if (value)
        moved.push_back(value);
      else if (effects(argument))
        moved.clear();
    }
    if (moved.empty()) return e;
    llvm::SmallVector<Expr*, 8> steps;
    for (Expr** value : llvm::reverse(moved)) {
      auto* named = new (context_)
          OpaqueValueExpr((*value)->getExprLoc(), (*value)->getType(), VK_PRValue, OK_Ordinary, *value);
      *value = named;
      steps.push_back(named);
    }
    steps.push_back(e);
    return PseudoObjectExpr::Create(context_, e, steps, static_cast<unsigned>(steps.size()) - 1);
  }

  ASTContext& context_;
  llvm::DenseSet<const ValueDecl*> addressed_;
};

// Finds the functions with bodies and the variables with initialisers in a declaration, once each.
class Finder : public RecursiveASTVisitor<Finder> {
 public:
  Finder(ASTContext& context, llvm::DenseSet<const Decl*>& done) : context_(context), done_(done) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool TraverseDecl(Decl* d) {
    if (d && !isa<TranslationUnitDecl>(d) && foreign(d)) return true;
    return RecursiveASTVisitor::TraverseDecl(d);
  }
  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->doesThisDeclarationHaveABody() || f->isDependentContext() || foreign(f)) return true;
    // Lambdas are constexpr wherever they can be.
    if (f->isConstexpr() && !isLambdaCallOperator(f)) return true;
    if (!done_.insert(f).second) return true;
    Rewriter rewriter(context_, f->getBody());
    rewriter.rewrite(f->getBody());
    if (auto* constructor = dyn_cast<CXXConstructorDecl>(f)) rewriter.members(constructor);
    return true;
  }
  bool VisitVarDecl(VarDecl* v) {
    if (v->isLocalVarDeclOrParm() || v->getDeclContext()->isDependentContext() || foreign(v)) return true;
    if (done_.insert(v).second) Rewriter(context_, v->getInit()).initialiser(v);
    return true;
  }

 private:
  bool foreign(const Decl* d) const {
    const SourceManager& sources = context_.getSourceManager();
    const SourceLocation place = sources.getExpansionLoc(d->getLocation());
    return d->isFromASTFile() || place.isInvalid() || sources.isInSystemHeader(place);
  }
  ASTContext& context_;
  llvm::DenseSet<const Decl*>& done_;
};

class Consumer : public ASTConsumer {
 public:
  void Initialize(ASTContext& context) override { context_ = &context; }
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) visit(d);
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* f) override { visit(f); }
  void HandleCXXStaticMemberVarInstantiation(VarDecl* v) override { visit(v); }

 private:
  void visit(Decl* d) {
    if (context_->getLangOpts().CUDAIsDevice || context_->getDiagnostics().hasErrorOccurred()) return;
    Finder(*context_, done_).TraverseDecl(d);
  }
  ASTContext* context_ = nullptr;
  llvm::DenseSet<const Decl*> done_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> order("millrace-order",
                                                "evaluates arguments of host calls from right to left");

}  // namespace
