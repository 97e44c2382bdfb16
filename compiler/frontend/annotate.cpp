// Clang AST plugin of the device pass: writes down what LLVM IR no longer knows about CUDA declarations.
//
// Per declaration one `annotate` attribute is added, which clang emits into llvm.global.annotations; compiler/passes
// reads them (passes/annotations.cpp) and removes them:
//
//   kernel "mr_kernel;line=L;params=OFFSET:SIZE:ALIGN:KIND,...;bounds=THREADS:BLOCKS:CLUSTER;cluster=X:Y:Z;file=NAME"
//              KIND: p = held as a pointer in IR (pointer, reference), v = any other value; a trailing c marks
//              __grid_constant__. `file` comes last because a name may hold any character.
//   kernel "mr_blocks;X:Y:Z,...", "mr_blocks;only;X:Y:Z,..."   block extents that the unit's launches use
//              (launch_extents.h)
//   variable   "mr_shared", "mr_device", "mr_constant", "mr_managed"
//
// `extern __shared__` arrays are only declared, and annotations of declarations are dropped: they get the assembler
// name
// __mr_dynamic_shared_base instead. Kernels get the ms_abi calling convention, under which every parameter is exactly
// one IR argument - the value itself, an integer of the class's size (1, 2, 4, 8 bytes) or the address of a copy - so
// that the entry thunks need no model of the System V classification. It never reaches machine code: the passes undo
// it. Nor is it visible to semantic analysis: a kernel has it only while clang's code generation works on it
// (Converter).
//
// Macros of the device headers that clang has no (working) attribute for are `annotate` attributes with these names:
//   mr_launch_bounds(threads, blocks, cluster)  mr_cluster_dims(x, y, z)  mr_maxnreg(n)  mr_grid_constant  mr_managed
//   mr_global: __global__ in a unit whose device code launches kernels (device_launches.h). Such a kernel is a host and
//              device function to semantic analysis, and a kernel while code is generated.
#include <string>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

#include "device_launches.h"
#include "inline_ptx.h"
#include "launch_extents.h"

namespace {
using namespace clang;

constexpr const char* kDynamicSharedName = "__mr_dynamic_shared_base";

// The value of a constant expression argument of an attribute; `fallback` if it isn't one.
std::uint64_t constant_value(const Expr* e, const ASTContext& ctx, std::uint64_t fallback) {
  Expr::EvalResult result;
  if (!e || e->isValueDependent() || !e->EvaluateAsInt(result, ctx)) return fallback;
  return result.Val.getInt().getExtValue();
}

const AnnotateAttr* find_annotation(const Decl* d, llvm::StringRef name) {
  for (const auto* a : d->specific_attrs<AnnotateAttr>())
    if (a->getAnnotation() == name) return a;
  return nullptr;
}

// Gives kernels the ms_abi convention for the time of their code generation.
class Converter {
 public:
  void add(FunctionDecl* f) { pending_.push_back({f, f->getType()}); }
  void convert(ASTContext& ctx) {
    for (auto& [f, original] : pending_) {
      const auto* type = original->castAs<FunctionType>();
      f->setType(QualType(ctx.adjustFunctionType(type, type->getExtInfo().withCallingConv(CC_Win64)), 0));
      if (find_annotation(f, "mr_global"))
        for (FunctionDecl* d : f->redecls())
          if (!d->hasAttr<CUDAGlobalAttr>()) d->addAttr(CUDAGlobalAttr::CreateImplicit(ctx));
    }
  }
  void restore() {
    for (auto& [f, original] : pending_) {
      f->setType(original);
      if (find_annotation(f, "mr_global"))
        for (FunctionDecl* d : f->redecls()) d->dropAttr<CUDAGlobalAttr>();
    }
    done_.append(pending_.begin(), pending_.end());
    pending_.clear();
  }
  // What code generation had put off is generated at the end of the translation unit.
  void convert_all(ASTContext& ctx) {
    pending_.append(done_.begin(), done_.end());
    done_.clear();
    convert(ctx);
  }

 private:
  llvm::SmallVector<std::pair<FunctionDecl*, QualType>, 16> pending_, done_;
};
Converter converter;
// The compiler, if device code of the unit launches kernels.
CompilerInstance* launching = nullptr;

class Marker : public RecursiveASTVisitor<Marker> {
 public:
  // `launches`, if given, is shown all launches.
  Marker(ASTContext& ctx, mrcc::LaunchExtents* launches) : ctx_(ctx), launches_(launches) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitLambdaBody() const { return true; }

  bool VisitFunctionDecl(FunctionDecl* f) {
    if (is_kernel(f) && f->doesThisDeclarationHaveABody() && !f->isDependentContext() && !marked(f)) mark_kernel(f);
    return true;
  }

  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr* launch) {
    if (launches_) launches_->see(*launch);
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* mention) {
    if (launches_) launches_->see(*mention);
    return true;
  }

  // A launch in device code: the kernel's own convention, whatever of it has been seen so far.
  bool VisitCallExpr(CallExpr* call) {
    if (launches_) launches_->see(*call);
    FunctionDecl* f = call->getDirectCallee();
    if (!f || !find_annotation(f, "mr_global")) return true;
    // The function that code generation makes for the call is the one that a later definition fills.
    for (FunctionDecl* d : f->redecls()) converter.add(d);
    for (Expr* e = call->getCallee(); e;) {
      QualType type = e->getType();
      const auto* pointer = type->getAs<PointerType>();
      const auto* function = (pointer ? pointer->getPointeeType() : type)->getAs<FunctionType>();
      if (!function) break;
      type = QualType(ctx_.adjustFunctionType(function, function->getExtInfo().withCallingConv(CC_Win64)), 0);
      e->setType(pointer ? ctx_.getPointerType(type) : type);
      if (auto* cast = dyn_cast<CastExpr>(e))
        e = cast->getSubExpr();
      else if (auto* paren = dyn_cast<ParenExpr>(e))
        e = paren->getSubExpr();
      else
        break;
    }
    return true;
  }

  bool VisitVarDecl(VarDecl* v) {
    if (v->getDeclContext()->isDependentContext() || v->getType()->isDependentType() || marked(v)) return true;
    const char* kind = nullptr;
    if (v->hasAttr<CUDASharedAttr>()) {
      if (v->hasExternalStorage()) {
        if (!v->hasAttr<AsmLabelAttr>())
          v->addAttr(AsmLabelAttr::CreateImplicit(ctx_, kDynamicSharedName, /*IsLiteralLabel=*/false));
        return true;
      }
      kind = "mr_shared";
    } else if (find_annotation(v, "mr_managed")) {
      kind = nullptr;  // already says so
    } else if (v->hasAttr<CUDAConstantAttr>()) {
      kind = "mr_constant";
    } else if (v->hasAttr<CUDADeviceAttr>() && v->hasGlobalStorage()) {
      kind = "mr_device";
    }
    if (kind) v->addAttr(AnnotateAttr::CreateImplicit(ctx_, kind, nullptr, 0));
    return true;
  }

 private:
  static bool is_kernel(const FunctionDecl* f) {
    return f->hasAttr<CUDAGlobalAttr>() || find_annotation(f, "mr_global");
  }
  static bool marked(const Decl* d) {
    for (const auto* a : d->specific_attrs<AnnotateAttr>()) {
      const llvm::StringRef s = a->getAnnotation();
      if (s.starts_with("mr_kernel;") || s == "mr_shared" || s == "mr_constant" || s == "mr_device") return true;
    }
    return false;
  }

  std::string parameters(const FunctionDecl* f) {
    std::string text;
    std::uint64_t offset = 0;
    for (const ParmVarDecl* p : f->parameters()) {
      const QualType t = p->getType().getCanonicalType();
      const bool reference = t->isReferenceType();
      const std::uint64_t size = reference ? 8 : ctx_.getTypeSizeInChars(t).getQuantity();
      const std::uint64_t align = reference ? 8 : ctx_.getTypeAlignInChars(t).getQuantity();
      offset = llvm::alignTo(offset, align);
      const bool pointer = reference || t->isPointerType() || t->isNullPtrType() || t->isBlockPointerType();
      if (!text.empty()) text += ',';
      text += std::to_string(offset) + ':' + std::to_string(size) + ':' + std::to_string(align) + ':' +
              (pointer ? 'p' : 'v');
      if (find_annotation(p, "mr_grid_constant")) text += 'c';
      offset += size;
    }
    return text;
  }

  void mark_kernel(FunctionDecl* f) {
    std::uint64_t bounds[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
    if (const auto* a = f->getAttr<CUDALaunchBoundsAttr>()) {
      bounds[0] = constant_value(a->getMaxThreads(), ctx_, 0);
      bounds[1] = constant_value(a->getMinBlocks(), ctx_, 0);
      bounds[2] = constant_value(a->getMaxBlocks(), ctx_, 0);
    }
    auto read = [&](const char* name, std::uint64_t* values, std::uint64_t missing) {
      const AnnotateAttr* a = find_annotation(f, name);
      if (!a) return;
      unsigned i = 0;
      for (const Expr* e : a->args())
        if (i < 3) values[i++] = constant_value(e, ctx_, 0);
      while (i < 3) values[i++] = missing;
    };
    read("mr_launch_bounds", bounds, 0);
    read("mr_cluster_dims", cluster, 1);
    const PresumedLoc loc = ctx_.getSourceManager().getPresumedLoc(
        ctx_.getSourceManager().getExpansionLoc(f->getLocation()));
    auto triple = [](const std::uint64_t* v) {
      return std::to_string(v[0]) + ':' + std::to_string(v[1]) + ':' + std::to_string(v[2]);
    };
    const std::string text = "mr_kernel;line=" + std::to_string(loc.isValid() ? loc.getLine() : 0) +
                             ";params=" + parameters(f) + ";bounds=" + triple(bounds) + ";cluster=" + triple(cluster) +
                             ";file=" + (loc.isValid() ? loc.getFilename() : "");
    f->addAttr(AnnotateAttr::CreateImplicit(ctx_, text, nullptr, 0));
    converter.add(f);
  }

  ASTContext& ctx_;
  mrcc::LaunchExtents* launches_;
};

// Runs before clang's code generation sees a declaration, so that attributes are there when it emits it.
class Consumer : public ASTConsumer {
 public:
  void Initialize(ASTContext& ctx) override {
    ctx_ = &ctx;
    if (launching) redefine_global(*launching);
  }
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) visit(d);
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl* f) override { visit(f); }
  void HandleCXXStaticMemberVarInstantiation(VarDecl* v) override { visit(v); }
  void HandleTagDeclDefinition(TagDecl* t) override {
    if (!t->isDependentContext()) visit(t);
  }
  void HandleTranslationUnit(ASTContext& ctx) override {
    mrcc::LaunchExtents launches(ctx);
    // What comes from a precompiled header was seen when that was made; to look at it would be to load all of it.
    for (Decl* d : ctx.getTranslationUnitDecl()->noload_decls())
      if (!d->isFromASTFile()) visit(d, &launches);
    launches.annotate();  // in time: clang emits functions' annotations when all has been generated
    converter.convert_all(ctx);
  }

 private:
  void visit(Decl* d, mrcc::LaunchExtents* launches = nullptr) {
    if (!ctx_->getLangOpts().CUDAIsDevice) return;
    Marker(*ctx_, launches).TraverseDecl(d);
    converter.convert(*ctx_);
  }
  ASTContext* ctx_ = nullptr;
};

// Runs after clang's code generation.
class Restorer : public ASTConsumer {
 public:
  bool HandleTopLevelDecl(DeclGroupRef) override {
    converter.restore();
    return true;
  }
  void HandleInlineFunctionDefinition(FunctionDecl*) override { converter.restore(); }
  void HandleCXXStaticMemberVarInstantiation(VarDecl*) override { converter.restore(); }
  void HandleTagDeclDefinition(TagDecl*) override { converter.restore(); }
};

template <typename C, PluginASTAction::ActionType Type> class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (!compiler.getLangOpts().CUDA) return std::make_unique<ASTConsumer>();
    if (Type == PluginASTAction::AddBeforeMainAction) {
      const bool launches = rewrite_device_launches(compiler);
      watch_inline_ptx(compiler.getPreprocessor(), compiler.getLangOpts().CUDAIsDevice);
      if (!compiler.getLangOpts().CUDAIsDevice) return std::make_unique<C>();
      if (launches) launching = &compiler;
    }
    return std::make_unique<C>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return Type; }
};

const FrontendPluginRegistry::Add<Action<Consumer, PluginASTAction::AddBeforeMainAction>> before(
    "millrace", "annotates CUDA declarations for Millrace's passes");
const FrontendPluginRegistry::Add<Action<Restorer, PluginASTAction::AddAfterMainAction>> after(
    "millrace-after", "undoes what only code generation should see");
}  // namespace
