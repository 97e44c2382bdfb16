// Kernels as objects (CUDA Runtime API, "Execution Control"): attributes, names, handles, parameters.
#include <algorithm>
#include <iterator>

#include <api/kernel.h>
#include <model/device.h>
#include <model/function.h>
#include <model/module.h>
#include <model/occupancy.h>

using namespace mr;

namespace {

cudaError_t set_attribute(model::Function& function, const MrKernel& kernel, int device, cudaFuncAttribute which,
                          int value) {
  switch (which) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize: {
    const auto most = static_cast<int>(model::shape::shared_per_block_opt_in - kernel.static_shared);
    if (value < 0 || value > most) return cudaErrorInvalidValue;
    function.max_dynamic_shared[device].store(value + 1, std::memory_order_relaxed);
    return cudaSuccess;
  }
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) return cudaErrorInvalidValue;
    function.preferred_carveout.store(value, std::memory_order_relaxed);
    return cudaSuccess;
  case cudaFuncAttributeRequiredClusterWidth:
  case cudaFuncAttributeRequiredClusterHeight:
  case cudaFuncAttributeRequiredClusterDepth:
    // What was fixed when it was compiled can be asked for, nothing else.
    if (kernel.cluster_dim[0]) {
      const auto fixed = static_cast<int>(kernel.cluster_dim[which - cudaFuncAttributeRequiredClusterWidth]);
      return value == fixed ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (value < 0) return cudaErrorInvalidValue;
    function.required_cluster[which - cudaFuncAttributeRequiredClusterWidth].store(value, std::memory_order_relaxed);
    function.wants_cluster.store(
        std::any_of(std::begin(function.required_cluster), std::end(function.required_cluster),
                    [](const std::atomic<int>& extent) { return extent.load(std::memory_order_relaxed) != 0; }),
        std::memory_order_relaxed);
    return cudaSuccess;
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    function.non_portable_cluster.store(value, std::memory_order_relaxed);
    return cudaSuccess;
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    if (value < cudaClusterSchedulingPolicyDefault || value > cudaClusterSchedulingPolicyLoadBalancing)
      return cudaErrorInvalidValue;
    function.cluster_policy.store(value, std::memory_order_relaxed);
    return cudaSuccess;
  case cudaFuncAttributeClusterDimMustBeSet:
  case cudaFuncAttributeMax: break;
  }
  return cudaErrorInvalidValue;
}

// Whether there is such an attribute; asked before anything else.
constexpr bool exists(cudaFuncAttribute which) noexcept {
  return which >= cudaFuncAttributeMaxDynamicSharedMemorySize && which < cudaFuncAttributeMax;
}

// Of all constant variables of the kernel's image.
std::size_t constant_bytes(const model::Function& function) {
  const model::LoadedImage* loaded = function.module ? function.module->loaded(model::current_device()) : nullptr;
  if (!loaded) return 0;
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i < loaded->image->variable_count; ++i)
    if (const MrVariable& variable = loaded->image->variables[i]; variable.kind == MR_VAR_CONSTANT)
      bytes += variable.size;
  return bytes;
}

}  // namespace

MR_API cudaFuncGetAttributes(cudaFuncAttributes* out, const void* func) {
  if (!out) return api::result(cudaErrorInvalidValue);
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  cudaFuncAttributes a{};
  a.sharedSizeBytes = kernel->static_shared;
  a.constSizeBytes = constant_bytes(*function);
  a.localSizeBytes = kernel->local_bytes;
  a.maxThreadsPerBlock = kernel->max_threads ? static_cast<int>(kernel->max_threads)
                                             : model::shape::max_threads_per_block;
  a.numRegs = model::registers_of(*kernel);
  a.ptxVersion = a.binaryVersion = 90;
  a.maxDynamicSharedSizeBytes = static_cast<int>(function->dynamic_shared_limit(*kernel, model::current_device()));
  a.preferredShmemCarveout = function->preferred_carveout.load(std::memory_order_relaxed);
  int* const required[3] = {&a.requiredClusterWidth, &a.requiredClusterHeight, &a.requiredClusterDepth};
  for (int i = 0; i < 3; ++i)
    *required[i] = kernel->cluster_dim[0] ? static_cast<int>(kernel->cluster_dim[i])
                                          : function->required_cluster[i].load(std::memory_order_relaxed);
  a.clusterDimMustBeSet = kernel->cluster_dim[0] != 0;
  a.clusterSchedulingPolicyPreference = function->cluster_policy.load(std::memory_order_relaxed);
  a.nonPortableClusterSizeAllowed = function->non_portable_cluster.load(std::memory_order_relaxed);
  *out = a;
  return cudaSuccess;
}

MR_API cudaFuncSetAttribute(const void* func, cudaFuncAttribute which, int value) {
  if (!exists(which)) return api::result(cudaErrorInvalidValue);
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  if (const cudaError_t error = set_attribute(*function, *kernel, model::current_device(), which, value))
    return api::result(error);
  api::take_last_error();  // recorded: of all calls, this one's success clears the slot
  return cudaSuccess;
}

MR_API cudaKernelSetAttributeForDevice(cudaKernel_t handle, cudaFuncAttribute which, int value, int device) {
  if (!exists(which)) return api::result(cudaErrorInvalidValue);
  if (device < 0 || device >= model::device_count()) return api::result(cudaErrorInvalidDevice);
  model::Function* function = model::find_function(handle);
  if (!function) return api::result(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = api::refused()) return api::result(error);
  cudaError_t error = cudaSuccess;
  const MrKernel* kernel = model::kernel_on(*function, device, &error);
  return api::result(kernel ? set_attribute(*function, *kernel, device, which, value) : error);
}

MR_API cudaFuncSetCacheConfig(const void* func, cudaFuncCache config) {
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return api::result(cudaErrorInvalidValue);
  function->cache_config.store(config, std::memory_order_relaxed);
  return cudaSuccess;
}

MR_API cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config) {
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte)
    return api::result(cudaErrorInvalidValue);
  return cudaSuccess;  // there is one bank size
}

MR_API cudaFuncGetName(const char** name, const void* func) {
  if (!name) return api::result(cudaErrorInvalidValue);
  model::Function* function = model::find_function(func);
  if (!function) return api::result(func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction);
  *name = function->device_name;
  return cudaSuccess;
}

MR_API cudaFuncGetParamInfo(const void* func, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (!offset) return api::result(cudaErrorInvalidValue);
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel_or_handle(func, &function, &kernel)) return api::result(error);
  if (index >= kernel->param_count) return api::result(cudaErrorInvalidValue);
  *offset = kernel->params[index].offset;
  if (size) *size = kernel->params[index].size;
  return cudaSuccess;
}

// Handles are Function*, which launches and look-ups accept in place of the host function.
MR_API cudaGetFuncBySymbol(cudaFunction_t* out, const void* symbol) {
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel(symbol, &function, &kernel)) return api::result(error);
  if (out) *out = reinterpret_cast<cudaFunction_t>(function);
  return cudaSuccess;
}

namespace {

cudaError_t get_kernel(cudaKernel_t* out, const void* func) {
  if (!out) return api::result(cudaErrorInvalidValue);
  model::Function* function;
  const MrKernel* kernel;
  if (const cudaError_t error = api::find_kernel(func, &function, &kernel)) return api::result(error);
  if (func == function) return api::result(cudaErrorInvalidDeviceFunction);  // a handle already
  *out = reinterpret_cast<cudaKernel_t>(function);
  return cudaSuccess;
}

}  // namespace

MR_API cudaGetKernel(cudaKernel_t* out, const void* func) { return get_kernel(out, func); }
// The same for compilers that launch by handle.
MR_API __cudaGetKernel(cudaKernel_t* out, const void* func) { return get_kernel(out, func); }
