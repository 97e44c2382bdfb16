// Memory and semaphores that other programs own, by file descriptors (API reference, "External Resource
// Interoperability").
//
// On a GPU they come from graphics APIs. Here they are what a process can share with another on the same machine:
//   memory                 a memory file (memfd_create, shm_open): its bytes
//   binary semaphore       an eventfd made with EFD_SEMAPHORE: a signal adds one, a wait takes one
//   timeline semaphore     a memory file whose first eight bytes are the value: a signal sets it, a wait waits until it
//                          is at least as large; who changes the value may wake waiters with FUTEX_WAKE on the first
//                          four bytes, or let them look every millisecond
// Handles of other kinds (Windows, Direct3D, NvSci) give cudaErrorNotSupported.
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>

namespace mr::model {

struct Context;
struct Stream;

// Mark of such memory's ranges in Space::ranges().
inline constexpr std::uint32_t external_range = 1u << 16;

// All thread-safe. The descriptor belongs to the runtime once an import has succeeded.
cudaError_t import_memory(cudaExternalMemory_t* out, const cudaExternalMemoryHandleDesc& handle) noexcept;
// Device memory of the current device, to be freed with cudaFree, before or after the import is destroyed.
cudaError_t map_external(void** out, cudaExternalMemory_t memory, const cudaExternalMemoryBufferDesc& buffer) noexcept;
cudaError_t destroy_external_memory(cudaExternalMemory_t memory) noexcept;
// cudaFree of what map_external gave: false when `pointer` is none of that.
bool unmap_external(void* pointer) noexcept;

cudaError_t import_semaphore(cudaExternalSemaphore_t* out, const cudaExternalSemaphoreHandleDesc& handle) noexcept;
// Its operations in streams must have completed.
cudaError_t destroy_external_semaphore(cudaExternalSemaphore_t semaphore) noexcept;
cudaError_t signal_external(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params,
                            unsigned count, Stream& stream) noexcept;
cudaError_t wait_external(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params,
                          unsigned count, Stream& stream) noexcept;

// ---- nodes of graphs that signal semaphores, or wait for them ----

class GraphArena;

// What a node has been given: copies of the caller's arrays. One of the two lists of parameters is there.
struct ExternalData {
  cudaExternalSemaphore_t* semaphores;
  const cudaExternalSemaphoreSignalParams* signals;
  const cudaExternalSemaphoreWaitParams* waits;
  unsigned count;
};
// Memory comes from `arena`. `out` has changed only on success.
cudaError_t make_external(ExternalData& out, GraphArena& arena, const cudaExternalSemaphore_t* semaphores,
                          const cudaExternalSemaphoreSignalParams* signals,
                          const cudaExternalSemaphoreWaitParams* waits, unsigned count);
// A function of the host and its data, which does what the node has been given. The semaphores are looked up now, and
// must not be destroyed before it has run for the last time.
struct ExternalWork {
  void (*run)(void*);
  void* data;
};
ExternalWork make_external_work(const ExternalData& data, GraphArena& arena, const Context& context);

}  // namespace mr::model
