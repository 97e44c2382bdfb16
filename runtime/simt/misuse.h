// What a program does wrong with barriers and warp operations: found when no lane can go on (all kernels), or at the
// operation itself (kernels compiled with -G, whose lanes note where they are). Always Fault::bad_synchronization, with
// a sentence in the executor's note. On the thread that runs the blocks.
#pragma once
#include <cstddef>
#include <cstdint>

#include <simt/resident.h>

namespace mr::simt {

// A live block of an idle resident of which no lane can ever go on, or in which some lanes wait for each other in a
// circle, whatever other blocks and the host do; null when there is none.
const Block* stuck_block(const Resident& r) noexcept;
// Notes that no lane of `stuck` (null: of the resident) can ever go on, as a fault to be reported by note_fault.
void note_deadlock(Executor* e, const Resident& r, const Block* stuck) noexcept;

// ---- Called by lanes of kernels with MR_KERNEL_SITES; they leave the device code when something is wrong.
// The lane is about to arrive at its block's barrier. The live threads of a block have to meet at one line of the
// source; those that have ended don't count.
void check_barrier(Self s, const MrLane& lane) noexcept;
// The lane is about to take part in a warp operation with `mask`, which has to name it.
void check_mask(Self s, std::uint32_t mask) noexcept;
// ... which is a shuffle: the lane that it reads has to be named by the mask.
void check_shuffle(Self s, std::uint32_t mask, std::uint32_t mode, std::uint32_t operand, std::uint32_t width) noexcept;

// " at FILE:LINE" in `text`, or "" when the kernel's lanes don't note where they are. Returns text.
const char* describe_site(const Grid& grid, const MrLane* lane, char* text, std::size_t bytes) noexcept;

}  // namespace mr::simt
