// Versions (CUDA Runtime API, "Version Management" and "Driver Entry Point Access").
#include <api/export.h>

using namespace mr;

namespace {

// 1000 * major + 10 * minor. There is no driver apart from the runtime.
cudaError_t give_version(int* out) {
  if (!out) return api::result(cudaErrorInvalidValue);
  *out = CUDART_VERSION;
  return cudaSuccess;
}

}  // namespace

MR_API cudaRuntimeGetVersion(int* version) { return give_version(version); }
MR_API cudaDriverGetVersion(int* version) { return give_version(version); }
