// Which functions a kernel may reach. An image is a closed world: an indirect call may reach every function of its type
// whose address is taken (virtual functions: by their vtables).
#pragma once
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace llvm {
class CallBase;
class Function;
class FunctionType;
class Module;
}  // namespace llvm

namespace mrcc {

class CallGraph {
 public:
  explicit CallGraph(llvm::Module& module);
  // Functions called (defined and declared, no intrinsics), targets of indirect calls included.
  const llvm::SetVector<llvm::Function*>& callees(llvm::Function* f) const;
  // Functions that may run when `root` does, `root` included.
  llvm::SetVector<llvm::Function*> reachable(llvm::Function* root) const;
  // Some function in the set reads MrLane (indirect calls land in shims that do; inline assembly may). `reachable`
  // results only.
  bool reads_lane(const llvm::SetVector<llvm::Function*>& functions) const;
  bool has_indirect_call(llvm::Function* f) const { return indirect_.contains(f); }
  // True when f can call itself, directly or not.
  bool recursive(llvm::Function* f) const;

 private:
  llvm::DenseMap<llvm::Function*, llvm::SetVector<llvm::Function*>> callees_;
  llvm::SmallPtrSet<llvm::Function*, 8> indirect_, lane_assembly_;
  llvm::SetVector<llvm::Function*> none_;
};

// What a set of functions calls of the runtime.
struct Services {
  bool barrier = false, grid_sync = false, cluster = false, printf = false, pdl = false, pdl_wait = false,
       sleep = false, warp = false,
       launch = false,           // launches kernels or uses the device-side runtime API: each lane has a last error
      graph_launch = false,      // launches graphs
      graph_update = false,      // changes nodes of graphs
      kernel_launch = false;     // launches kernels
  std::string first_collective;  // the name of one that forces lanes to coexist
  bool lanes_coexist() const { return barrier || warp || grid_sync || cluster || pdl_wait || launch; }
};
Services services_of(const llvm::SetVector<llvm::Function*>& functions);
// True for services that all lanes of a block, warp, grid or cluster call together, and for those that wait for others.
bool is_collective(llvm::StringRef name);

}  // namespace mrcc
