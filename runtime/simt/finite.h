// Fiber mode's entry for run_blocks.
#pragma once
#include <cstdint>

#include <simt/executor.h>
#include <simt/grid.h>

namespace mr::simt {

// Runs blocks [first, first + count) one after the other on fibers of `e`, to their end or the first fault.
Fault run_finite_on_fibers(Executor* e, const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept;

}  // namespace mr::simt
