// API calls that are potentially unsafe while a stream is captured (model/capture.h, rule 4).
#pragma once
#include <api/export.h>
#include <model/capture.h>

namespace mr::api {

// refused(), and whether a capture forbids the call.
inline cudaError_t refused_or_unsafe() noexcept {
  if (const cudaError_t error = refused()) return error;
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (model::capture_unsafe(error)) return error;
  }
  return cudaSuccess;
}

}  // namespace mr::api
