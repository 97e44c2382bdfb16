#include "launch_extents.h"

#include <optional>
#include <string>

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"

namespace mrcc {
using namespace clang;

namespace {

constexpr std::size_t most_versions = 2;  // of a kernel
constexpr unsigned deepest = 8;           // variables that are initialised with variables ...
constexpr std::uint64_t most_threads = 1024;

// What a variable was initialised with; `certain` is cleared if it isn't constant.
const Expr* initialiser(const Expr* e, bool& certain) {
  const auto* reference = dyn_cast<DeclRefExpr>(e);
  const auto* variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
  if (variable && !variable->getType().isConstQualified()) certain = false;
  return variable ? variable->getAnyInitializer() : nullptr;
}

// `certain` is cleared where the value may be another one when the launch is reached.
std::optional<std::uint32_t> number(const Expr* e, const ASTContext& context, bool& certain, unsigned depth = 0) {
  if (depth > deepest || e->isValueDependent() || e->isTypeDependent()) return {};
  Expr::EvalResult result;
  if (e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(result, context)) {
    const llvm::APSInt value = result.Val.getInt();
    return value.isNonNegative() && value.getActiveBits() <= 31 ? std::optional(value.getZExtValue()) : std::nullopt;
  }
  const Expr* value = e->IgnoreImplicit()->IgnoreParenCasts();
  const Expr* init = initialiser(value, certain);
  return init ? number(init, context, certain, depth + 1) : std::nullopt;
}

bool extents(const Expr* e, const ASTContext& context, std::array<std::uint32_t, 3>& out, bool& certain,
             unsigned depth = 0) {
  if (depth > deepest || e->isValueDependent() || e->isTypeDependent()) return false;
  e = e->IgnoreImplicit()->IgnoreParenCasts();
  if (e->getType()->isIntegralOrEnumerationType()) {
    const auto x = number(e, context, certain, depth + 1);
    if (x) out = {*x, 1, 1};
    return x.has_value();
  }
  if (const Expr* init = initialiser(e, certain)) return extents(init, context, out, certain, depth + 1);
  out = {1, 1, 1};
  unsigned i = 0;
  const auto next = [&](const Expr* argument) {
    if (isa<CXXDefaultArgExpr>(argument)) return true;
    const auto n = number(argument, context, certain, depth + 1);
    if (n && i < 3) out[i++] = *n;
    return n.has_value();
  };
  if (const auto* construct = dyn_cast<CXXConstructExpr>(e)) {
    if (construct->getNumArgs() == 1 && !construct->getArg(0)->getType()->isIntegralOrEnumerationType())
      return extents(construct->getArg(0), context, out, certain, depth + 1);
    return llvm::all_of(construct->arguments(), next);
  }
  if (const auto* list = dyn_cast<InitListExpr>(e)) return llvm::all_of(list->inits(), next);
  return false;
}

const FunctionDecl* function_of(const Expr* e) {
  e = e->IgnoreImplicit()->IgnoreParenCasts();
  if (const auto* address = dyn_cast<UnaryOperator>(e); address && address->getOpcode() == UO_AddrOf)
    e = address->getSubExpr()->IgnoreImplicit()->IgnoreParenCasts();
  const auto* reference = dyn_cast<DeclRefExpr>(e);
  return reference ? dyn_cast<FunctionDecl>(reference->getDecl()) : nullptr;
}

}  // namespace

void LaunchExtents::see(const CUDAKernelCallExpr& launch) {
  const CallExpr* configuration = launch.getConfig();
  if (configuration && configuration->getNumArgs() > 1) add(launch.getCallee(), configuration->getArg(1));
}

void LaunchExtents::see(const CallExpr& call) {
  const FunctionDecl* f = call.getDirectCallee();
  if (!f || !f->getIdentifier() || call.getNumArgs() < 3) return;
  if (f->getName() == "cudaLaunchKernel" || f->getName() == "cudaLaunchCooperativeKernel")
    add(call.getArg(0), call.getArg(2));
}

void LaunchExtents::see(const DeclRefExpr& mention) {
  if (const auto* f = dyn_cast<FunctionDecl>(mention.getDecl()); f && f->hasAttr<CUDAGlobalAttr>())
    ++seen_[f->getCanonicalDecl()].mentions;
}

void LaunchExtents::add(const Expr* kernel, const Expr* block) {
  const FunctionDecl* f = function_of(kernel);
  Extents e;
  bool certain = true;
  if (!f || f->isDependentContext() || !extents(block, context_, e, certain)) return;
  std::uint64_t threads = 1;
  for (std::uint32_t n : e) threads *= n && n <= most_threads ? n : most_threads + 1;
  if (threads < 2 || threads > most_threads) return;
  Kernel& k = seen_[f->getCanonicalDecl()];
  k.certain += certain;
  for (auto& [known, times] : k.extents)
    if (known == e) {
      ++times;
      return;
    }
  k.extents.push_back({e, 1});
}

void LaunchExtents::annotate() {
  for (auto& [kernel, k] : seen_) {
    auto& list = k.extents;
    const FunctionDecl* definition = nullptr;
    if (list.empty() || !kernel->hasBody(definition)) continue;
    const bool only = k.certain == k.mentions && list.size() <= most_versions;
    llvm::sort(
        list, [](const auto& a, const auto& b) { return std::pair(b.second, a.first) < std::pair(a.second, b.first); });
    if (list.size() > most_versions) list.resize(most_versions);
    std::string text = only ? "mr_blocks;only;" : "mr_blocks;";
    for (auto& [e, times] : list) {
      if (text.back() != ';') text += ',';
      text += std::to_string(e[0]) + ':' + std::to_string(e[1]) + ':' + std::to_string(e[2]);
    }
    const_cast<FunctionDecl*>(definition)->addAttr(AnnotateAttr::CreateImplicit(context_, text, nullptr, 0));
  }
  seen_.clear();
}

}  // namespace mrcc
