#include <model/library.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <model/context.h>
#include <model/image_file.h>
#include <model/module.h>

namespace mr::model {
namespace {

struct Library {
  std::string bytes;  // empty when the caller keeps them
  std::unique_ptr<Module> module;
};

// Guards the list; held during look-ups, which are not the hot path: a kernel's handle is looked up once.
std::mutex libraries_mutex;
std::vector<std::unique_ptr<Library>>& libraries() {
  static auto* const instance = new std::vector<std::unique_ptr<Library>>;
  return *instance;
}

// The mutex must be held.
Library* find(cudaLibrary_t handle) noexcept {
  for (const auto& library : libraries())
    if (reinterpret_cast<cudaLibrary_t>(library.get()) == handle) return library.get();
  return nullptr;
}

// How compiled programs embed an image (the same record as in api/registration.cpp).
struct Wrapper {
  std::uint32_t magic, version;
  const void* image;
};
constexpr std::uint32_t wrapper_magic = 0x466243b1;

cudaError_t error_of(ImageKind kind) noexcept {
  switch (kind) {
  case ImageKind::ours: return cudaSuccess;
  case ImageKind::foreign: return cudaErrorNoKernelImageForDevice;
  case ImageKind::text: return cudaErrorJitCompilerNotFound;  // there is no compiler in the runtime
  case ImageKind::none: return cudaErrorInvalidKernelImage;
  }
  return cudaErrorInvalidKernelImage;
}

}  // namespace

cudaError_t load_library(cudaLibrary_t* out, const void* code, std::size_t bytes, bool preserved) noexcept {
  if (bytes >= sizeof(Wrapper)) {
    std::uint32_t magic;
    std::memcpy(&magic, code, sizeof magic);
    if (magic == wrapper_magic) {
      Wrapper wrapper;
      std::memcpy(&wrapper, code, sizeof wrapper);
      if (!wrapper.image) return cudaErrorInvalidKernelImage;
      code = wrapper.image;
      bytes = ~std::size_t{0};
    }
  }
  if (const cudaError_t error = error_of(kind_of_image(code, bytes))) return error;
  auto library = std::make_unique<Library>();
  if (!preserved) {
    library->bytes.assign(static_cast<const char*>(code), image_extent(code, bytes));
    code = library->bytes.data();
  }
  library->module = std::make_unique<Module>(code, Module::Names::of_image);
  // Now, so that an image that can't be used is refused here, and so that its names are known.
  cudaError_t error = cudaSuccess;
  if (!library->module->load(current_context().ordinal, &error)) return error;
  add_module(library->module.get());
  const std::scoped_lock hold(libraries_mutex);
  *out = reinterpret_cast<cudaLibrary_t>(library.get());
  libraries().push_back(std::move(library));
  return cudaSuccess;
}

cudaError_t load_library_file(cudaLibrary_t* out, const char* path) noexcept {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return cudaErrorFileNotFound;
  std::string bytes;
  struct stat status;
  const bool regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  if (regular) {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  }
  std::fclose(file);
  if (!regular) return cudaErrorFileNotFound;
  return load_library(out, bytes.data(), bytes.size(), false);
}

cudaError_t unload_library(cudaLibrary_t handle) noexcept {
  std::unique_ptr<Library> library;
  {
    const std::scoped_lock hold(libraries_mutex);
    auto& all = libraries();
    const auto at = std::find_if(all.begin(), all.end(), [&](const std::unique_ptr<Library>& l) {
      return reinterpret_cast<cudaLibrary_t>(l.get()) == handle;
    });
    if (at == all.end()) return cudaErrorInvalidResourceHandle;
    library = std::move(*at);
    all.erase(at);
  }
  for (int device = 0; device < device_count(); ++device)
    if (Context* context = existing_context(device); context && library->module->loaded(device)) context->synchronize();
  remove_module(library->module.get());
  library->module->unload();
  return cudaSuccess;
}

cudaError_t library_kernel(cudaLibrary_t handle, const char* name, Function** out) noexcept {
  const std::scoped_lock hold(libraries_mutex);
  const Library* library = find(handle);
  if (!library) return cudaErrorInvalidResourceHandle;
  for (Function* function : library->module->functions())
    if (std::strcmp(function->device_name, name) == 0) {
      *out = function;
      return cudaSuccess;
    }
  return cudaErrorSymbolNotFound;
}

cudaError_t library_variable(cudaLibrary_t handle, const char* name, bool managed_only, void** address,
                             std::size_t* bytes) noexcept {
  const std::scoped_lock hold(libraries_mutex);
  const Library* library = find(handle);
  if (!library) return cudaErrorInvalidResourceHandle;
  for (Variable* variable : library->module->variables()) {
    if (std::strcmp(variable->device_name, name) != 0 || (managed_only && !variable->managed)) continue;
    cudaError_t error = cudaSuccess;
    void* const at = variable_on(*variable, current_context().ordinal, &error);
    if (!at) return error;
    *address = at;
    *bytes = variable->size;
    return cudaSuccess;
  }
  return cudaErrorSymbolNotFound;
}

cudaError_t library_kernel_count(cudaLibrary_t handle, unsigned* count) noexcept {
  const std::scoped_lock hold(libraries_mutex);
  const Library* library = find(handle);
  if (!library) return cudaErrorInvalidResourceHandle;
  *count = static_cast<unsigned>(library->module->functions().size());
  return cudaSuccess;
}

cudaError_t library_kernels(cudaLibrary_t handle, Function** out, unsigned count) noexcept {
  const std::scoped_lock hold(libraries_mutex);
  const Library* library = find(handle);
  if (!library) return cudaErrorInvalidResourceHandle;
  const std::vector<Function*>& functions = library->module->functions();
  std::copy_n(functions.begin(), std::min<std::size_t>(count, functions.size()), out);
  return cudaSuccess;
}

bool library_exists(cudaLibrary_t handle) noexcept {
  const std::scoped_lock hold(libraries_mutex);
  return find(handle) != nullptr;
}

}  // namespace mr::model
