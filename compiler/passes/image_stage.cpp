#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <simt/abi.h>

#include "annotations.h"
#include "callgraph.h"
#include "debug_variables.h"
#include "image.h"
#include "launches.h"
#include "lockstep.h"
#include "managed.h"
#include "names.h"
#include "options.h"
#include "shared_layout.h"
#include "sites.h"
#include "spin.h"
#include "stages.h"
#include "thunks.h"
#include "wide_indices.h"

namespace mrcc {
using namespace llvm;

namespace {

// An image exports one symbol.
void internalise(Module& module) {
  // The tables keep the variables from here on.
  if (GlobalVariable* used = module.getGlobalVariable("llvm.compiler.used")) used->eraseFromParent();
  for (Function& f : module) {
    if (f.isDeclaration()) continue;
    f.setComdat(nullptr);
    f.setVisibility(GlobalValue::DefaultVisibility);
    f.setLinkage(GlobalValue::InternalLinkage);
  }
  for (GlobalVariable& gv : module.globals()) {
    if (gv.isDeclaration() || gv.hasAppendingLinkage() || gv.hasPrivateLinkage()) continue;
    gv.setComdat(nullptr);
    gv.setVisibility(GlobalValue::DefaultVisibility);
    gv.setLinkage(GlobalValue::InternalLinkage);
  }
}

// `convergent` is needed only where lanes meet: elsewhere it would keep loops from being unswitched, peeled and
// vectorised.
void limit_convergence(Module& module, const CallGraph& graph) {
  SmallPtrSet<Function*, 16> meet;
  for (bool changed = true; changed;) {
    changed = false;
    for (Function& f : module) {
      if (meet.contains(&f)) continue;
      const bool is = f.isDeclaration()
                          ? is_collective(f.getName()) || f.getName() == "__mr_poll"
                          : any_of(graph.callees(&f), [&](Function* callee) { return meet.contains(callee); });
      if (is) changed |= meet.insert(&f).second;
    }
  }
  for (Function& f : module) {
    if (f.isIntrinsic()) continue;
    if (meet.contains(&f))
      f.addFnAttr(Attribute::Convergent);
    else
      f.removeFnAttr(Attribute::Convergent);
    for (Instruction& i : instructions(f)) {
      auto* call = dyn_cast<CallBase>(&i);
      if (!call || call->isInlineAsm()) {
        if (call) call->removeFnAttr(Attribute::Convergent);
        continue;
      }
      Function* callee = call->getCalledFunction();
      const bool is = callee ? meet.contains(callee) : meet.contains(&f);
      if (is)
        call->addFnAttr(Attribute::Convergent);
      else
        call->removeFnAttr(Attribute::Convergent);
    }
  }
}

struct Verdict {
  std::uint32_t flags = 0;
  bool loop = false;
  bool split = false;  // loops between barriers, if the body allows it (BlockStage)
  bool store_lane = false;
  std::string why;
};

Verdict judge(Function* kernel, const CallGraph& graph, const SpinMap& spinning) {
  Verdict v;
  const SetVector<Function*> reached = graph.reachable(kernel);
  const Services services = services_of(reached);
  if (services.barrier || services.warp) v.flags |= MR_KERNEL_BARRIER;
  if (services.grid_sync) v.flags |= MR_KERNEL_GRID_SYNC;
  if (services.cluster) v.flags |= MR_KERNEL_CLUSTER_SYNC;
  if (services.printf) v.flags |= MR_KERNEL_PRINTF;
  if (services.pdl) v.flags |= MR_KERNEL_PDL;
  if (services.launch) v.flags |= MR_KERNEL_LAUNCHES;
  if (services.graph_launch) v.flags |= MR_KERNEL_GRAPHS;
  if (services.graph_update) v.flags |= MR_KERNEL_UPDATES;
  if (services.kernel_launch) v.flags |= MR_KERNEL_PARENT;
  if (options().check) v.flags |= MR_KERNEL_CHECKED;
  if (services.sleep) {
    v.flags |= MR_KERNEL_MAY_SPIN;
    v.why = "may spin: it calls __nanosleep";
  }
  for (Function* f : reached) {
    auto it = spinning.find(f);
    if (it == spinning.end()) continue;
    v.flags |= MR_KERNEL_MAY_SPIN;
    const Spinning& s = it->second;
    v.why = "may spin: ";
    if (f != kernel) v.why += "in " + f->getName().str() + ", ";
    v.why += s.loops.empty()
                 ? s.recursion
                 : "loop" + (s.loops[0].line ? " at line " + std::to_string(s.loops[0].line) : std::string()) + ": " +
                       s.loops[0].reason;
    break;
  }
  const bool finite = !(v.flags & MR_KERNEL_MAY_SPIN);
  v.loop = finite && !services.lanes_coexist();
  if (finite && !v.loop) v.why = "lanes meet in " + services.first_collective;
  if (v.loop) v.why = "finite, lanes don't meet";
  v.split = finite && (services.barrier || services.warp) && !services.grid_sync && !services.cluster &&
            !services.pdl_wait && !services.launch &&
            none_of(reached, [](Function* f) { return f->getName().starts_with("__mr_barrier_named"); });
  v.store_lane = graph.reads_lane(reached);
  return v;
}

// A body can be split only at barriers of its own.
void inline_barriers(const SetVector<Function*>& functions, const CallGraph& graph) {
  SmallPtrSet<Function*, 8> with;
  for (bool changed = true; changed;) {
    changed = false;
    for (Function* f : functions) {
      if (with.contains(f)) continue;
      const bool has = f->isDeclaration() ? is_collective(f->getName())
                                          : any_of(graph.callees(f), [&](Function* g) { return with.contains(g); });
      if (has) changed |= with.insert(f).second;
    }
  }
  for (Function* f : with) {
    if (f->isDeclaration() || is_kernel(*f) || graph.recursive(f) || f->hasOptNone()) continue;
    f->removeFnAttr(Attribute::NoInline);
    f->addFnAttr(Attribute::AlwaysInline);
  }
}

std::uint32_t local_bytes(const SetVector<Function*>& functions, const DataLayout& layout) {
  std::uint64_t bytes = 0;
  for (Function* f : functions)
    for (Instruction& i : instructions(*f))
      if (auto* a = dyn_cast<AllocaInst>(&i))
        if (auto size = a->getAllocationSize(layout);
            size && !size->isScalable() && a->getAllocatedType()->isAggregateType())
          bytes += *size;
  return std::min<std::uint64_t>(bytes, 1u << 20);
}

}  // namespace

PreservedAnalyses ImageStage::run(Module& module, ModuleAnalysisManager&) {
  const Options o = options();
  internalise(module);
  redirect_managed(module);
  pack_launch_arguments(module);
  const SpinMap spinning = find_spinning(module, /*on_clone=*/!optimise_);
  insert_polls(spinning);
  keep_volatile_stores_in_step(module);
  insert_sites(module);
  const CallGraph graph(module);
  limit_convergence(module, graph);

  SmallVector<Function*, 16> kernels;
  for (Function& f : module)
    if (is_kernel(f) && !f.isDeclaration()) kernels.push_back(&f);
  SmallVector<KernelEntry, 16> entries;
  SmallVector<std::string, 16> attributes;
  SmallVector<Verdict, 16> verdicts;
  for (Function* kernel : kernels) {
    KernelEntry e;
    e.name = kernel->getName().str();
    e.info = kernel_info(*kernel);
    attributes.push_back(kernel->getFnAttribute(kKernelAttr).getValueAsString().str());
    Verdict v = judge(kernel, graph, spinning);
    if (v.loop && o.mode == Mode::fibers) {
      v.loop = false;
      v.why = "-mrcc-mode=fibers";
    }
    if (o.mode == Mode::fibers || o.mode == Mode::loop || !split_) v.split = false;
    if (has_sites(*kernel)) {
      v.flags |= MR_KERNEL_SITES;
      v.split = false;
      v.store_lane = true;
    }
    if (v.split) inline_barriers(graph.reachable(kernel), graph);
    e.flags = v.flags;
    e.local_bytes = local_bytes(graph.reachable(kernel), module.getDataLayout());
    entries.push_back(std::move(e));
    verdicts.push_back(std::move(v));
  }
  const DenseMap<Function*, std::uint32_t> shared = lay_out_shared(module, graph);
  DenseMap<Function*, Extended> bodies = extend_signatures(module, o.align_checks ? kAlignmentItems : 0);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    KernelEntry& e = entries[i];
    const Verdict& v = verdicts[i];
    const Extended body = bodies.lookup(kernels[i]);
    // Until BlockStage a body keeps its signature and the values of all its arguments, used yet or not: the optimiser
    // must not conclude from one to the other.
    body.body->setLinkage(GlobalValue::WeakAnyLinkage);
    body.body->setVisibility(GlobalValue::HiddenVisibility);
    body.body->addFnAttr(kKernelBodyAttr);
    if (o.align_checks) body.body->addFnAttr(kAlignAttr);
    e.static_shared = shared.lookup(kernels[i]);
    body.body->addFnAttr(kStaticSharedAttr, std::to_string(e.static_shared));
    if (v.loop || v.split) e.run_blocks = declare_run_blocks(e.name, attributes[i], body, v.store_lane);
    e.run_lane = make_run_lane(kernels[i], e.info, body);
    const std::string who = "mrcc: " + e.info.file + ':' + std::to_string(e.info.line) + ": kernel " +
                            demangle(e.name) + ", " + std::to_string(e.static_shared) +
                            " bytes of static shared memory: ";
    if (v.split)
      e.run_blocks->addFnAttr(kSplitAttr, o.report ? who : "");
    else if (o.report)
      errs() << who << (v.loop ? "loop" : "fibers") << " (" << v.why << ")\n";
  }
  if (optimise_)
    for (Function& f : module) widen_indices(f);
  emit_image(module, entries, o.march);
  describe_variables(module, module.getGlobalVariable("__mr_image"));
  return PreservedAnalyses::none();
}

}  // namespace mrcc
