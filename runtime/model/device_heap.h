// The memory behind malloc in device code (programming guide, "Dynamic Global Memory Allocation and Operations").
#pragma once
#include <cstddef>

#include <simt/grid.h>

namespace mr::model {

// simt's Hooks::heap_region: device memory of cudaLimitMallocHeapSize bytes. Called once per device and generation, by
// the first kernel that allocates. Thread-safe.
void* device_heap_region(simt::DeviceState* device, std::size_t* bytes) noexcept;
// Frees heap and memory (cudaDeviceReset). No kernel of the device runs.
void close_device_heap(int device) noexcept;

}  // namespace mr::model
