// Device images that the program loads itself (CUDA Runtime API, "Library Management").
#include <api/export.h>
#include <model/library.h>

using namespace mr;

namespace {

// Options of the compiler of PTX are checked for their form only: nothing is compiled here.
cudaError_t check_options(const cudaJitOption* jit, void** jit_values, unsigned jit_count,
                          const cudaLibraryOption* options, void** values, unsigned count, bool* preserved) {
  if (jit_count && (!jit || !jit_values)) return cudaErrorInvalidValue;
  if (count && (!options || !values)) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) switch (options[i]) {
    case cudaLibraryBinaryIsPreserved: *preserved = values[i] != nullptr; break;
    case cudaLibraryHostUniversalFunctionAndDataTable: break;  // no image asks for host functions
    default: return cudaErrorInvalidValue;
    }
  return cudaSuccess;
}

cudaError_t before_loading() {
  if (const cudaError_t error = api::refused()) return error;
  model::current_context();
  return cudaSuccess;
}

}  // namespace

MR_API cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* jit_options, void** jit_values,
                           unsigned jit_count, cudaLibraryOption* options, void** values, unsigned count) {
  bool preserved = false;
  if (!library || !code) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = check_options(jit_options, jit_values, jit_count, options, values, count, &preserved))
    return api::result(error);
  if (const cudaError_t error = before_loading()) return api::result(error);
  return api::result(model::load_library(library, code, ~std::size_t{0}, preserved));
}

MR_API cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* jit_options, void** jit_values,
                               unsigned jit_count, cudaLibraryOption* options, void** values, unsigned count) {
  bool preserved = false;
  if (!library || !path || !*path) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = check_options(jit_options, jit_values, jit_count, options, values, count, &preserved))
    return api::result(error);
  if (const cudaError_t error = before_loading()) return api::result(error);
  return api::result(model::load_library_file(library, path));
}

MR_API cudaLibraryUnload(cudaLibrary_t library) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::unload_library(library));
}

// Kernels' handles are Function*, as cudaGetKernel gives them.
MR_API cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  if (!kernel || !name) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Function* function = nullptr;
  if (const cudaError_t error = model::library_kernel(library, name, &function)) return api::result(error);
  *kernel = reinterpret_cast<cudaKernel_t>(function);
  return cudaSuccess;
}

namespace {

cudaError_t get_variable(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name, bool managed) {
  if (!name) return cudaErrorInvalidValue;
  if (const cudaError_t error = api::refused()) return error;
  void* at;
  std::size_t size;
  if (const cudaError_t error = model::library_variable(library, name, managed, &at, &size)) return error;
  if (address) *address = at;
  if (bytes) *bytes = size;
  return cudaSuccess;
}

}  // namespace

MR_API cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return api::result(get_variable(address, bytes, library, name, false));
}
MR_API cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library, const char* name) {
  return api::result(get_variable(address, bytes, library, name, true));
}

// Devices of this kind have no unified function pointers (cudaDeviceProp::unifiedFunctionPointers), and then no name is
// found, as the reference has it.
MR_API cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library, const char* symbol) {
  if (!function || !symbol) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::library_exists(library) ? cudaErrorSymbolNotFound : cudaErrorInvalidResourceHandle);
}

MR_API cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  if (!count) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::library_kernel_count(library, count));
}

MR_API cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t library) {
  if (!kernels || count == 0) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::library_kernels(library, reinterpret_cast<model::Function**>(kernels), count));
}
