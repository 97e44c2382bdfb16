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

// There is no driver API to have functions of: no name is found, which the status says. The call itself succeeds.
cudaError_t find_driver_function(const char* symbol, void** function, unsigned long long flags,
                                 cudaDriverEntryPointQueryResult* status) {
  constexpr unsigned long long known = cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream;
  if (!symbol || !function || (flags & ~known)) return api::result(cudaErrorInvalidValue);
  *function = nullptr;
  if (status) *status = cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t entry_point(const char* symbol, void** function, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* status, bool) {
  return find_driver_function(symbol, function, flags, status);
}
cudaError_t entry_point_by_version(const char* symbol, void** function, unsigned version, unsigned long long flags,
                                   cudaDriverEntryPointQueryResult* status, bool) {
  if (version > CUDART_VERSION) return api::result(cudaErrorInvalidValue);
  return find_driver_function(symbol, function, flags, status);
}

}  // namespace

MR_API cudaRuntimeGetVersion(int* version) { return give_version(version); }
MR_API cudaDriverGetVersion(int* version) { return give_version(version); }

MR_TWINS(cudaGetDriverEntryPoint, _ptsz, entry_point,
         (const char* symbol, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status),
         symbol, function, flags, status)
MR_TWINS(cudaGetDriverEntryPointByVersion, _ptsz, entry_point_by_version,
         (const char* symbol, void** function, unsigned version, unsigned long long flags,
          cudaDriverEntryPointQueryResult* status),
         symbol, function, version, flags, status)
