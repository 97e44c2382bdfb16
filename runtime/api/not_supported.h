// Exports of libcudart that are not implemented: they fail, and say so. The list of them is made by the build
// (scripts/api-coverage): a function that is implemented in some file of this room is not on it.
#pragma once
#include <driver_types.h>

namespace mr::api {

cudaError_t set_last_error(
    cudaError_t error) noexcept;  // export.h, which would declare the functions with their parameters

}  // namespace mr::api

// Parameters don't matter to the calling convention: none is looked at.
#define MR_NOT_SUPPORTED(name)                                                                                         \
  extern "C" __attribute__((visibility("default"))) cudaError_t name();                                                \
  extern "C" cudaError_t name() { return mr::api::set_last_error(cudaErrorNotSupported); }
