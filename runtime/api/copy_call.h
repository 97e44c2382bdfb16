// How an API function runs a copy: check, capture, enqueue, wait. Private to this room.
#pragma once
#include <api/export.h>
#include <model/capture.h>
#include <model/memory_copy.h>
#include <model/stream.h>

namespace mr::api {

inline model::Stream& default_stream(bool per_thread) noexcept {
  return per_thread ? model::per_thread_stream() : *model::current_context().legacy;
}

// A call without a stream: check(plan), then in the default stream.
template <class Check> cudaError_t run_sync(Check&& check, bool per_thread) noexcept {
  if (const cudaError_t error = refused()) return result(error);
  model::Stream& stream = default_stream(per_thread);
  model::CopyPlan plan;
  if (const cudaError_t error = check(plan)) return result(error);
  if (plan.empty) return cudaSuccess;
  cudaError_t error;
  if (model::slow() && model::capture_refuse(stream, error)) return result(error);
  model::copy_and_wait(stream, plan);
  return result(broken());
}

// A call with a stream. `parameters` is what a captured node shows, or null for a plain copy. A call that isn't
// capturable invalidates a capture.
template <class Check>
cudaError_t run_async(Check&& check, cudaMemcpyKind kind, const cudaMemcpy3DParms* parameters, cudaStream_t handle,
                      bool per_thread, bool capturable = true) noexcept {
  if (const cudaError_t error = refused()) return result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  model::CopyPlan plan;
  if (cudaError_t error = check(plan)) {
    if (error == cudaErrorInvalidValue && model::slow() && stream) (void)model::capture_bars(*stream, error);
    return result(error);
  }
  if (!stream) return result(cudaErrorInvalidResourceHandle);
  if (plan.empty) return cudaSuccess;  // whatever is captured
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (!capturable ? model::capture_refuse(*stream, error)
                    : model::capture_copy(*stream, plan.copy, kind, parameters, error))
      return result(error);
  }
  model::copy_async(*stream, plan);
  return result(broken());
}

}  // namespace mr::api
