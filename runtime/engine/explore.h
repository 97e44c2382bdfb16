// The engine under `millrace explore` (observe/explorer.h): operations are run one at a time by the explorer's threads.
#pragma once
#include <engine/op.h>

namespace mr::engine {

class GraphImage;

// Runs a grid to its end on the calling thread, in the order of blocks and with the pauses that the explorer wants.
void run_explored(Domain& domain, simt::Grid& grid, bool resident, GraphImage* image) noexcept;

// A queue has work (Scheduler::list). Where device code brought that about - a programmatic launch was triggered -
// others may run before it goes on.
void explored_ready(Queue& queue) noexcept;

// From now on the calling thread counts as a worker (worker.cpp).
void become_worker() noexcept;

}  // namespace mr::engine
