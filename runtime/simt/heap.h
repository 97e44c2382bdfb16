// malloc and free of device code.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/grid.h>

namespace mr::simt {

struct Executor;

// A device's heap is made when device code first calls malloc, on the memory that Hooks::heap_region gives.
// Thread-safe.
bool heap_in_use(const DeviceState& device) noexcept;
// Gives `device` a heap on [region, region + bytes), device memory that outlives it, unless it has one. False without
// memory.
bool heap_open(DeviceState& device, void* region, std::size_t bytes) noexcept;
// No kernel of the device runs any more.
void heap_close(DeviceState& device) noexcept;

// Services. 16-byte aligned; null when exhausted or bytes == 0. Thread-safe.
void* device_malloc(Executor& e, std::uint64_t bytes) noexcept;
void device_free(Executor& e, void* pointer) noexcept;

}  // namespace mr::simt
