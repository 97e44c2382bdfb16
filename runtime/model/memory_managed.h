// Managed memory: hints and what can be asked about them. All managed memory is in one place here; the hints are kept,
// so that programs read back what they set (API reference, "Memory Management": cudaMemAdvise, cudaMemPrefetchAsync,
// cudaMemRangeGetAttribute).
#pragma once
#include <cstddef>
#include <cstdint>

#include <driver_types.h>

namespace mr::model {

// Is [pointer, pointer + bytes) inside one managed block or variable?
bool managed_range(const void* pointer, std::size_t bytes) noexcept;

cudaError_t check_prefetch(const void* pointer, std::size_t bytes, const cudaMemLocation& location,
                           unsigned long long flags) noexcept;
// Records where the range was sent last. The memory stays where it is.
// `in_batch`: the attributes show the host's number as it was given.
void prefetched(const void* pointer, std::size_t bytes, const cudaMemLocation& location, bool in_batch) noexcept;
cudaError_t advise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                   const cudaMemLocation& location) noexcept;
// Without `write` only checks.
cudaError_t range_attribute(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute, const void* pointer,
                            std::size_t bytes, bool write) noexcept;
// cudaStreamAttachMemAsync. Nobody can be the one owner in no stream; the legacy stream by its handle is one
// (recorded).
cudaError_t attach(bool no_stream, void* pointer, std::size_t length, unsigned flags) noexcept;

// A block was freed: what was noted for it is forgotten.
void forget_managed(const void* pointer) noexcept;
void reset_managed(int device) noexcept;

}  // namespace mr::model
