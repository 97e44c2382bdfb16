// Execution control (CUDA Runtime API, "Execution Control"): launches and host functions.
#include <api/export.h>
#include <model/launch.h>

using namespace mr;

namespace {

cudaError_t launch_on(const void* func, const model::LaunchRequest& request, cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return error;
  if (!func) return cudaErrorInvalidDeviceFunction;
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream || stream->context != &model::current_context()) return cudaErrorInvalidResourceHandle;
  return model::launch(request, *stream);
}

cudaError_t launch_kernel(const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream, bool per_thread) {
  model::LaunchRequest request;
  request.function = model::find_function(func);
  if (!request.function) [[unlikely]] return api::result(cudaErrorInvalidDeviceFunction);
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.arguments = args;
  return api::result(launch_on(func, request, stream, per_thread));
}

cudaError_t launch_cooperative(const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream, bool per_thread) {
  model::LaunchRequest request;
  request.function = model::find_function(func);
  if (!request.function) return api::result(cudaErrorInvalidDeviceFunction);
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.arguments = args;
  request.cooperative = true;
  return api::result(launch_on(func, request, stream, per_thread));
}

cudaError_t launch_host(cudaStream_t handle, cudaHostFn_t function, void* data, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!function) return api::result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  model::enqueue_host_function(*stream, function, data);
  return cudaSuccess;
}

}  // namespace

MR_TWINS(cudaLaunchKernel, _ptsz, launch_kernel, (const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream),
         func, grid, block, args, shared, stream)
MR_TWINS(cudaLaunchCooperativeKernel, _ptsz, launch_cooperative,
         (const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream), func, grid, block, args, shared, stream)
MR_TWINS(cudaLaunchHostFunc, _ptsz, launch_host, (cudaStream_t stream, cudaHostFn_t fn, void* data), stream, fn, data)
