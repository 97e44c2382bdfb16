// What every API function begins and ends with.
//
// An API function checks its arguments, calls the model, and returns through `result`, which puts an error into the
// calling thread's slot (cudaGetLastError). No logic here beyond that.
#pragma once
#include <cuda_runtime_api.h>
#include <model/context.h>
#include <model/host_function.h>

#define MR_API extern "C" __attribute__((visibility("default"))) cudaError_t

// Defines NAME and its twin for units compiled with per-thread default streams (NAME_ptsz, or _ptds for functions
// without a stream argument). `impl` takes the arguments and, last, whether a null stream means the thread's own.
#define MR_TWINS(name, suffix, impl, parameters, ...)                                                                  \
  MR_API name parameters { return impl(__VA_ARGS__, false); }                                                          \
  MR_API name##suffix parameters { return impl(__VA_ARGS__, true); }

namespace mr::api {

// The calling thread's slot. Not shared, so no ordering is needed.
cudaError_t last_error() noexcept;
cudaError_t take_last_error() noexcept;
cudaError_t set_last_error(cudaError_t error) noexcept;  // returns it

// Ends an API function: remembers a failure.
inline cudaError_t result(cudaError_t error) noexcept {
  if (error == cudaSuccess) [[likely]]
    return cudaSuccess;
  return set_last_error(error);
}

// Why a call that needs a working context can't proceed: cudaSuccess almost always. A forked child
// (cudaErrorInitializationError), the current context's sticky error.
inline cudaError_t broken() noexcept {
  if (!model::slow()) [[likely]]
    return cudaSuccess;
  const std::uint32_t word = model::slow_word.load(std::memory_order_acquire);
  if (word & model::slow_unused)
    model::slow_word.fetch_and(~static_cast<std::uint32_t>(model::slow_unused), std::memory_order_relaxed);
  if (word & model::slow_forked) return cudaErrorInitializationError;
  if (word & model::slow_no_device) return cudaErrorNoDevice;
  if (word & model::slow_sticky) return model::current_context().sticky.load(std::memory_order_acquire);
  return cudaSuccess;
}
// Why work of a context can't have been done: its own sticky error, whichever context is current.
inline cudaError_t failed(const model::Context& context) noexcept {
  return model::slow() ? context.sticky.load(std::memory_order_acquire) : cudaSuccess;
}
// broken() for calls that are not permitted inside host functions.
inline cudaError_t refused() noexcept {
  if (model::in_host_function()) [[unlikely]]
    return cudaErrorNotPermitted;
  return broken();
}

}  // namespace mr::api
