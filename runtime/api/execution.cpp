// Execution control (CUDA Runtime API, "Execution Control"; specification 2.5.2.2, 2.5.4, 2.5.5): launches and host
// functions.
#include <api/export.h>
#include <model/capture.h>
#include <model/launch.h>
#include <model/launch_attributes.h>

using namespace mr;

namespace {

// What comes before the checks of a configuration: a known kernel, a context that works, a stream - of any device: the
// kernel runs on that one (recorded) -, and only then the launch's attributes.
cudaError_t launch_on(model::LaunchRequest& request, const void* func, cudaStream_t handle, bool per_thread,
                      const cudaLaunchConfig_t* configured = nullptr) {
  request.function = model::find_function(func);
  if (!request.function) [[unlikely]]  // an address of something else is taken for a bad handle
    return func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
  if (const cudaError_t error = api::refused()) return error;
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (configured && configured->numAttrs) {
    auto purpose = model::Purpose::stream;
    if (model::slow()) [[unlikely]] {
      if (cudaError_t barred; model::capture_bars(*stream, barred)) return barred;
      if (model::capture_records(*stream)) purpose = model::Purpose::node;
    }
    if (purpose == model::Purpose::stream)
      if (const cudaError_t error = model::check_block(request, *stream->context)) return error;
    for (unsigned i = 0; i < configured->numAttrs; ++i)
      if (const cudaError_t error = model::apply_attribute(request, configured->attrs[i], purpose)) return error;
    request.attributes = configured->attrs;
    request.attribute_count = configured->numAttrs;
  }
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_launch(*stream, request, captured)) return captured;
  }
  return model::launch(request, *stream);
}

cudaError_t launch_kernel(const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream,
                          bool per_thread) {
  model::LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.arguments = args;
  return api::result(launch_on(request, func, stream, per_thread));
}

cudaError_t launch_cooperative(const void* func, dim3 grid, dim3 block, void** args, std::size_t shared,
                               cudaStream_t stream, bool per_thread) {
  model::LaunchRequest request;
  request.grid = grid;
  request.block = block;
  request.dynamic_shared = shared;
  request.arguments = args;
  request.cooperative = true;
  return api::result(launch_on(request, func, stream, per_thread));
}

cudaError_t launch_configured(const cudaLaunchConfig_t* config, const void* func, void** args, bool per_thread) {
  if (!config || (config->numAttrs && !config->attrs)) return api::result(cudaErrorInvalidValue);
  model::LaunchRequest request;
  request.grid = config->gridDim;
  request.block = config->blockDim;
  request.dynamic_shared = config->dynamicSmemBytes;
  request.arguments = args;
  return api::result(launch_on(request, func, config->stream, per_thread, config));
}

cudaError_t launch_host(cudaStream_t handle, cudaHostFn_t function, void* data, bool per_thread) {
  if (!function) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_host(*stream, function, data, captured)) return api::result(captured);
  }
  model::enqueue_host_function(*stream, function, data);
  return cudaSuccess;
}

}  // namespace

MR_TWINS(cudaLaunchKernel, _ptsz, launch_kernel,
         (const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream), func, grid,
         block, args, shared, stream)
MR_TWINS(cudaLaunchCooperativeKernel, _ptsz, launch_cooperative,
         (const void* func, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream), func, grid,
         block, args, shared, stream)
MR_TWINS(cudaLaunchKernelExC, _ptsz, launch_configured,
         (const cudaLaunchConfig_t* config, const void* func, void** args), config, func, args)
MR_TWINS(cudaLaunchHostFunc, _ptsz, launch_host, (cudaStream_t stream, cudaHostFn_t fn, void* data), stream, fn, data)
// What newer compilers call for <<<>>>: a launch by handle.
MR_TWINS(__cudaLaunchKernel, _ptsz, launch_kernel,
         (cudaKernel_t kernel, dim3 grid, dim3 block, void** args, std::size_t shared, cudaStream_t stream), kernel,
         grid, block, args, shared, stream)
