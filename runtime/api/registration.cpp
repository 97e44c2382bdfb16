// What compiled host code calls before main and at each <<<>>>: the entry points that clang's CUDA code generation
// emits.
#include <api/export.h>
#include <model/module.h>

#define MR_HIDDEN_API extern "C" __attribute__((visibility("default")))

namespace {

// What -fcuda-include-gpubinary wraps an image in.
struct Wrapper {
  int magic, version;
  const void* image;
  void* unused;
};

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  void* stream;
};
// A launch's arguments may contain launches, so this is a stack; deeper nesting than any source has.
thread_local Configuration configurations[4];
thread_local unsigned depth = 0;

}  // namespace

MR_HIDDEN_API void** __cudaRegisterFatBinary(void* wrapper) {
  auto* module = new mr::model::Module(static_cast<Wrapper*>(wrapper)->image);
  mr::model::add_module(module);
  return reinterpret_cast<void**>(module);
}
MR_HIDDEN_API void __cudaRegisterFatBinaryEnd(void** handle) {
  reinterpret_cast<mr::model::Module*>(handle)->prepare();
}
MR_HIDDEN_API void __cudaUnregisterFatBinary(void** handle) {
  // At the end of a forked child there is nobody to unregister from.
  if (mr::model::slow_word.load(std::memory_order_relaxed) & mr::model::slow_forked) return;
  reinterpret_cast<mr::model::Module*>(handle)->retire();
}

MR_HIDDEN_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* device_name, int, uint3*,
                                          uint3*, dim3*, dim3*, int*) {
  auto* module = reinterpret_cast<mr::model::Module*>(handle);
  auto* function = new mr::model::Function;
  function->host = host;
  function->device_name = device_name;
  function->module = module;
  module->add(function);
}
MR_HIDDEN_API void __cudaRegisterVar(void** handle, char* host, char*, const char* device_name, int, std::size_t size,
                                     int constant, int) {
  auto* module = reinterpret_cast<mr::model::Module*>(handle);
  auto* variable = new mr::model::Variable;
  variable->host = host;
  variable->device_name = device_name;
  variable->module = module;
  variable->size = size;
  variable->constant = constant != 0;
  module->add(variable);
}

MR_HIDDEN_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                                   struct CUstream_st* stream) {
  if (depth == 4) return 1;
  configurations[depth++] = {grid, block, shared, stream};
  return 0;
}
MR_HIDDEN_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (depth == 0) return cudaErrorMissingConfiguration;
  const Configuration& c = configurations[--depth];
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return cudaSuccess;
}
