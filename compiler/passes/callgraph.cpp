#include "callgraph.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

namespace mrcc {
using namespace llvm;

CallGraph::CallGraph(Module& module) {
  DenseMap<FunctionType*, SmallVector<Function*, 4>> taken;
  for (Function& f : module)
    if (!f.isDeclaration() && f.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false, /*IgnoreAssumeLikeCalls=*/true,
                                                /*IgnoreLLVMUsed=*/true))
      taken[f.getFunctionType()].push_back(&f);
  for (Function& f : module) {
    if (f.isDeclaration()) continue;
    SetVector<Function*>& out = callees_[&f];
    for (Instruction& i : instructions(f)) {
      auto* call = dyn_cast<CallBase>(&i);
      if (!call) continue;
      if (auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand())) {
        if (assembly->getAsmString().find("sp") != std::string::npos) lane_assembly_.insert(&f);
      } else if (auto* callee = dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts())) {
        if (!callee->isIntrinsic()) out.insert(callee);
      } else {
        indirect_.insert(&f);
        auto it = taken.find(call->getFunctionType());
        if (it != taken.end()) out.insert(it->second.begin(), it->second.end());
      }
    }
  }
}

const SetVector<Function*>& CallGraph::callees(Function* f) const {
  auto it = callees_.find(f);
  return it == callees_.end() ? none_ : it->second;
}

SetVector<Function*> CallGraph::reachable(Function* root) const {
  SetVector<Function*> seen;
  seen.insert(root);
  for (unsigned i = 0; i < seen.size(); ++i)
    for (Function* callee : callees(seen[i])) seen.insert(callee);
  return seen;
}

bool CallGraph::reads_lane(const SetVector<Function*>& functions) const {
  return any_of(functions, [&](Function* f) { return indirect_.contains(f) || lane_assembly_.contains(f); });
}

bool CallGraph::recursive(Function* f) const {
  SetVector<Function*> seen(callees(f).begin(), callees(f).end());
  for (unsigned i = 0; i < seen.size(); ++i) {
    if (seen[i] == f) return true;
    for (Function* callee : callees(seen[i])) seen.insert(callee);
  }
  return false;
}

namespace {
enum class Kind {
  other,
  barrier,
  warp,
  grid,
  cluster,
  printf,
  pdl,
  pdl_wait,
  sleep,
  launch,
  graph_launch,
  graph_update,
  kernel_launch
};
Kind kind_of(StringRef name) {
  if (!name.consume_front("__mr_")) return Kind::other;
  return StringSwitch<Kind>(name)
      .Cases("barrier", "barrier_reduce", "barrier_named", "barrier_named_arrive", Kind::barrier)
      .Cases("warp_sync", "shuffle", "ballot", "match", "reduce", "activemask", Kind::warp)
      .Case("grid_sync", Kind::grid)
      .StartsWith("cluster_", Kind::cluster)
      .Case("printf", Kind::printf)
      .Case("pdl_trigger", Kind::pdl)
      .Case("pdl_wait", Kind::pdl_wait)
      .Case("nanosleep", Kind::sleep)
      .Cases("last_error", "device_api", Kind::launch)
      .Case("launch", Kind::kernel_launch)
      .Case("graph_launch", Kind::graph_launch)
      .Case("graph_update", Kind::graph_update)
      .Default(Kind::other);
}
}  // namespace

bool is_collective(StringRef name) {
  switch (kind_of(name)) {
  case Kind::barrier:
  case Kind::warp:
  case Kind::grid:
  case Kind::cluster:
  case Kind::pdl_wait: return true;
  default: return false;
  }
}

Services services_of(const SetVector<Function*>& functions) {
  Services s;
  for (Function* f : functions) {
    if (!f->isDeclaration()) continue;
    switch (kind_of(f->getName())) {
    case Kind::barrier: s.barrier = true; break;
    case Kind::warp: s.warp = true; break;
    case Kind::grid: s.grid_sync = true; break;
    case Kind::cluster: s.cluster = true; break;
    case Kind::printf: s.printf = true; break;
    case Kind::pdl: s.pdl = true; break;
    case Kind::pdl_wait: s.pdl = s.pdl_wait = true; break;
    case Kind::sleep: s.sleep = true; break;
    case Kind::launch: s.launch = true; break;
    case Kind::kernel_launch: s.launch = s.kernel_launch = true; break;
    case Kind::graph_launch: s.graph_launch = true; break;
    case Kind::graph_update: s.graph_update = true; break;
    case Kind::other: break;
    }
    if (s.first_collective.empty() && (is_collective(f->getName()) || f->getName() == "__mr_launch"))
      s.first_collective = f->getName().str();
  }
  return s;
}

}  // namespace mrcc
