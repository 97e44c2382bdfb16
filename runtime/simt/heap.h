// malloc and free of device code.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/grid.h>

namespace mr::simt {

struct Executor;

// Gives `device` a heap on [region, region + bytes), device memory that outlives it. Before its first kernel. False without memory.
bool heap_open(DeviceState& device, void* region, std::size_t bytes) noexcept;
// No kernel of the device runs any more.
void heap_close(DeviceState& device) noexcept;

// Services. 16-byte aligned; null when exhausted or bytes == 0. Thread-safe.
void* device_malloc(Executor& e, std::uint64_t bytes) noexcept;
void device_free(Executor& e, void* pointer) noexcept;

}  // namespace mr::simt
