// How many blocks of a kernel fit (API reference, "Occupancy"; programming guide, "Hardware Multithreading"): threads,
// blocks, registers and shared memory of a multiprocessor of compute capability 9.0.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/abi.h>

namespace mr::model {

// Registers per thread that a kernel is said to use: an estimate of the compiler, never so many that a block of legal
// size would not fit.
int registers_of(const MrKernel& kernel) noexcept;
// Resident blocks of one multiprocessor; 0 if such a block can't be launched at all. `threads` > 0. `carveout` is the
// percentage of a multiprocessor's memory that the kernel prefers to have as shared memory, -1 for none in particular.
int blocks_per_multiprocessor(const MrKernel& kernel, int threads, std::size_t dynamic_shared,
                              int carveout = -1) noexcept;
// Dynamic shared memory that each of `blocks` > 0 resident blocks of a multiprocessor can have, in bytes; false if so
// many don't fit. The recorded device doesn't count what it reserves for itself here.
bool dynamic_shared_for(const MrKernel& kernel, int blocks, int threads, std::size_t* bytes,
                        int carveout = -1) noexcept;
// Resident blocks of the whole device: the most that a cooperative launch may have.
std::uint64_t resident_blocks(const MrKernel& kernel, int threads, std::size_t dynamic_shared,
                              int carveout = -1) noexcept;

}  // namespace mr::model
