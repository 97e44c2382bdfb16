// Copy nodes from and to CUDA arrays: checked as cudaMemcpy3D checks them.
#include <model/graph.h>
#include <model/memory_copy.h>

namespace mr::model {

cudaError_t make_array_copy(CopyData& out, const cudaMemcpy3DParms& params) noexcept {
  CopyPlan plan;
  if (const cudaError_t error = check_copy_3d(plan, params)) return error;
  if (plan.empty) return cudaErrorInvalidValue;
  CopyData made{};
  made.params = shown_parameters(params);
  made.copy = plan.copy;
  made.one_dimensional = params.extent.height == 1 && params.extent.depth == 1;
  made.source = memory::space().kind_of(plan.copy.src);
  made.target = memory::space().kind_of(plan.copy.dst);
  made.copy.coalesce();
  out = made;
  return cudaSuccess;
}

}  // namespace mr::model
