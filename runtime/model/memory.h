// Memory as the API hands it out: allocation, freeing, registration, what a pointer is (API reference, "Memory
// Management").
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>
#include <memory/space.h>

namespace mr::model {

struct Context;

// Reserves the address space on first use (from context_of). Ends the process with a sentence when the kernel gives
// none.
void initialise_memory() noexcept;
// The size of each device's memory: what MILLRACE_MEMORY says, or the default. Doesn't initialise anything.
std::size_t device_bytes() noexcept;

// All of these are thread-safe and check nothing that the API has not: null results and sizes of zero are the API's
// business. `site` is the return address of the API call, for reports.

cudaError_t allocate_device(void** out, std::size_t bytes, memory::BlockTag tag, std::uint64_t site) noexcept;
cudaError_t allocate_host(void** out, std::size_t bytes, unsigned flags, std::uint64_t site) noexcept;
cudaError_t allocate_managed(void** out, std::size_t bytes, unsigned flags, std::uint64_t site) noexcept;
// cudaFree: device and managed blocks, once all work that the context was given has completed; a stream-ordered block
// at once.
cudaError_t free_memory(void* pointer) noexcept;
cudaError_t free_host(void* pointer) noexcept;

cudaError_t register_host(void* pointer, std::size_t bytes, unsigned flags) noexcept;
cudaError_t unregister_host(void* pointer) noexcept;
cudaError_t host_device_pointer(void** out, void* pointer) noexcept;
cudaError_t host_flags_of(unsigned* out, const void* pointer) noexcept;
void pointer_attributes(cudaPointerAttributes* out, const void* pointer) noexcept;

cudaError_t ipc_export(cudaIpcMemHandle_t* out, void* pointer) noexcept;
cudaError_t ipc_open(void** out, const cudaIpcMemHandle_t& handle) noexcept;
cudaError_t ipc_close(void* pointer) noexcept;

// One side of a copy or a set: `bytes` from `pointer` on.
struct Operand {
  memory::Kind kind = memory::Kind::pageable;
  int device = -1;
};
// What the range is. False when it begins in memory of ours that is free, or leaves its block: cudaErrorInvalidValue.
// Pageable memory is not looked at.
bool look_up(const void* pointer, std::size_t bytes, Operand* out) noexcept;

// Whether a device may touch the memory: false for pools in host memory without access for it.
bool reaches(const memory::Pointer& found, int device) noexcept;
// Whether it may touch device memory: its own, that of pools it was given access to, and of devices whose peer access
// it has enabled.
bool reaches_device_memory(const memory::Pointer& found, int device) noexcept;

// Where a device variable lies on the current device, and how long it is; cudaErrorInvalidSymbol if `symbol` names
// none.
cudaError_t symbol_address(const void* symbol, char** address, std::size_t* size) noexcept;

// Lists what is allocated and never freed on standard error: at exit, when MILLRACE_LEAKS=1 asks for it.
void list_leaks() noexcept;

}  // namespace mr::model
