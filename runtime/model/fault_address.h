// Reports of kernels' faults: what the address has to do with the program's memory.
#pragma once
#include <cstddef>

namespace mr::model {

// For simt::Hooks::describe_address: writes a sentence about `address` to `text`, cut to `bytes`, empty where there is
// nothing to say: the allocation it lies in, or the nearest one and how far away that is (in the same device's memory,
// or managed or pinned memory), or that it is none of a device. Called when the kernel has been left, by the thread
// that ran it. Looks at all allocations under their lock.
void describe_fault_address(const void* address, char* text, std::size_t bytes);

}  // namespace mr::model
