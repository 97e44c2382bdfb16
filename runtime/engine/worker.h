// Threads that execute operations.
#pragma once
#include <cstdint>
#include <vector>

#include <engine/grid_job.h>
#include <engine/queue.h>

namespace mr::engine {

// The thread that is executing: a worker, or a host thread that helps while it waits.
struct Runner {
  bool worker = false;
  bool in_host_function = false;  // counted so in the scheduler (kept over consecutive host functions)
  unsigned depth = 0;             // of queues drained inside another's wait
  std::uint64_t slice_begin = 0;  // ticks
  unsigned residents = 0;         // blocks living on this thread

  // At an operation's or block range's end: should this worker leave work of `level` for something else?
  bool should_yield(unsigned level) noexcept;
  void leave_host_function() noexcept;
};

void* worker_main(void*);

// True on threads of the engine (API rules for host functions ask).
bool on_worker_thread() noexcept;

}  // namespace mr::engine
