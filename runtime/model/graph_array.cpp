// Copy nodes from and to CUDA arrays.
#include <model/graph.h>
#include <model/memory_copy.h>

namespace mr::model {

cudaError_t make_array_copy(CopyData& out, const cudaMemcpy3DParms& params) noexcept {
  CopyPlan plan;
  if (const cudaError_t error = check_copy_3d(plan, params)) return error;
  CopyData made{};
  made.params = params;
  made.copy = plan.copy;
  made.source = plan.src;
  made.target = plan.dst;
  made.one_dimensional = params.extent.height == 1 && params.extent.depth == 1;
  out = made;
  return cudaSuccess;
}

}  // namespace mr::model
