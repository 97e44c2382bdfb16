// Libraries: device images that the program loads itself (API reference, "Library Management").
//
// A library is not bound to a device: each device loads its own copy of the image when a kernel or variable of it is
// first used there. Its kernels are Functions like any other, so that their handles can be launched.
#pragma once
#include <cstddef>

#include <driver_types.h>
#include <model/function.h>

namespace mr::model {

// All of these are thread-safe. A handle that is no library's gives cudaErrorInvalidResourceHandle, a name that the
// image doesn't have cudaErrorSymbolNotFound.

// `code`: an image as mrcc -cubin and -fatbin write it, or the wrapper by which a program embeds one. `bytes` may be
// read; ~0: as long as it says. The bytes are copied, unless the caller keeps them (`preserved`).
cudaError_t load_library(cudaLibrary_t* out, const void* code, std::size_t bytes, bool preserved) noexcept;
cudaError_t load_library_file(cudaLibrary_t* out, const char* path) noexcept;
// Waits for the devices that have it, then takes its code away: its kernels, variables and handles must not be used any
// more, nor graphs with its kernels.
cudaError_t unload_library(cudaLibrary_t library) noexcept;

cudaError_t library_kernel(cudaLibrary_t library, const char* name, Function** out) noexcept;
// Where a variable lies on the current device; of a managed variable, its one address.
cudaError_t library_variable(cudaLibrary_t library, const char* name, bool managed_only, void** address,
                             std::size_t* bytes) noexcept;
cudaError_t library_kernel_count(cudaLibrary_t library, unsigned* count) noexcept;
// At most `count` kernels, in the order of the image.
cudaError_t library_kernels(cudaLibrary_t library, Function** out, unsigned count) noexcept;
// Is the handle a library's?
bool library_exists(cudaLibrary_t library) noexcept;

}  // namespace mr::model
