// Finding the kernel that a call is about.
#pragma once
#include <api/export.h>
#include <model/function.h>

namespace mr::api {

// A kernel by its host function or handle, and its code on the current device. The unknown function counts before
// anything else.
inline cudaError_t find_kernel(const void* func, model::Function** function, const MrKernel** kernel) {
  *function = model::find_function(func);
  if (!*function) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = refused()) return error;
  cudaError_t error = cudaSuccess;
  *kernel = model::kernel_on(**function, model::current_device(), &error);
  return *kernel ? cudaSuccess : error;
}

// The same for calls to which a pointer that is no host function is a handle, and one that isn't there.
inline cudaError_t find_kernel_or_handle(const void* func, model::Function** function, const MrKernel** kernel) {
  const cudaError_t error = find_kernel(func, function, kernel);
  return func && error == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidResourceHandle : error;
}

}  // namespace mr::api
