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
  bool rang = false;              // for the watcher of the queue that it waits for
  std::uint64_t slice_begin = 0;  // ticks
  unsigned residents = 0;         // blocks living on this thread

  // At an operation's or block range's end: should this worker leave work of `level` for something else?
  bool should_yield(unsigned level) noexcept;
  void leave_host_function() noexcept;
};

// A worker's promise to look at a queue again that it has left in the state `watched`.
//
// A worker that took operations one by one as they come would cost the enqueuer, and itself, a cache line's way for
// each: for the queue's tail, and for the records, since the processor fetches the lines behind those that it reads,
// which are the ones that the enqueuer is about to write. So it looks rarely, and while the enqueuer is at work it
// stays some operations behind him. Whoever waits for the newest ones claims the queue himself.
struct Watch {
  Queue* queue = nullptr;
  std::uint64_t tail = 0;  // when it was last looked at

  static constexpr std::uint64_t lag = 40;    // operations that it stays behind
  static constexpr std::uint64_t active = 4;  // operations between two looks that make an enqueuer one who is at work

  void begin(Queue& q, std::uint64_t at) noexcept {
    queue = &q;
    tail = at;
    q.watch();
  }
  void end() noexcept {
    if (queue) queue->end_watch();
    queue = nullptr;
  }
  // Up to which operation to run now: 0 is none. `rung`: somebody waits for what is there.
  std::uint64_t look(bool rung) noexcept {
    const std::uint64_t before = tail, done = queue->completed();
    tail = queue->tail();
    if (tail == done) return 0;
    if (rung || tail < before + active) return tail;
    return tail > done + lag ? tail - lag : 0;
  }
};

void* worker_main(void*);

// True on threads of the engine (API rules for host functions ask).
bool on_worker_thread() noexcept;

}  // namespace mr::engine
