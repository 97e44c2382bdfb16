// Block-wide barriers of fiber mode. A lane that has ended counts as arrived.
#pragma once
#include <cstdint>

#include <simt/resident.h>

namespace mr::simt {

void block_barrier(Self s) noexcept;
// Counts lanes whose predicate holds (MR_BAR_COUNT), or says whether all (MR_BAR_AND) or any (MR_BAR_OR) of them hold.
int block_barrier_reduce(Self s, std::uint32_t op, bool predicate) noexcept;
// Named barrier `id` (0..15; 16..47 belong to the headers of cooperative groups) for `threads` lanes; 0 = the whole
// block. `wait`: false only arrives.
void named_barrier(Self s, std::uint32_t id, std::uint32_t threads, bool wait) noexcept;

}  // namespace mr::simt
