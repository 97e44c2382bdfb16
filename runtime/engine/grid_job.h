// One grid whose blocks are spread over threads, or one large copy or fill whose parts are: the front operation of its
// queue, while it runs. What is said of blocks here holds for parts (memory/copy.h).
#pragma once
#include <atomic>
#include <cstdint>

#include <simt/grid.h>

namespace mr::engine {

class Queue;
struct Op;
struct Runner;

// Lives with its queue and is reused for each of its grids.
//
// Life: the queue's owner calls open() and then either works on it alone or publishes it (Scheduler::publish); any
// thread that joins holds a use. Blocks are claimed in index order from `next`. The thread whose blocks bring `done` to
// `total` finishes the job: it withdraws it, waits for the other users to leave (they hold no blocks any more, so that
// is a matter of instructions) and acts as the owner of the queue from then on.
struct alignas(64) GridJob {
  explicit GridJob(Queue& owner) : queue(owner) {}

  Queue& queue;
  simt::Grid* grid = nullptr;
  const Op* moving = nullptr;  // a copy, copy_box or fill in the place of a grid
  std::uint64_t total = 0;
  bool resident = false;               // blocks live as fibers on workers (simt::start), not run to their end at once
  std::atomic<bool> published{false};  // changed under the scheduler's job lock; a hint without it
  GridJob* next_job = nullptr;         // likewise
  std::uint64_t block_ticks = 0;       // what a block of a finite grid takes, as seen before it was published
  // Next block to claim. Relaxed: which thread runs a block carries no data; the grid itself was published with the
  // job.
  alignas(64) std::atomic<std::uint64_t> next{0};
  // Blocks that have begun to live on a worker, of grids with grid_tells_begin. Relaxed: nothing is published by it.
  std::atomic<std::uint64_t> begun{0};
  // Blocks that ended. acq_rel: the finisher sees all effects of all blocks before it completes the operation.
  std::atomic<std::uint64_t> done{0};
  // Threads (and residents) that may still touch this object. Release on leaving, acquire by the finisher.
  std::atomic<std::uint32_t> users{0};
  std::atomic<bool> failed{false};

  // Whether the blocks that nobody has claimed are worth another thread's coming. By who has joined.
  bool worth_sharing() const noexcept;
  bool wants_more() const noexcept { return next.load(std::memory_order_relaxed) < total; }
  void open(simt::Grid& g, bool as_resident) noexcept;
  void open(const Op& op, std::uint64_t parts) noexcept;
  // Runs claimed blocks of a finite grid, or parts.
  void run(std::uint64_t first, std::uint64_t count) noexcept;
  // Claims up to `count` blocks; returns how many, starting at first.
  std::uint64_t claim(std::uint64_t count, std::uint64_t& first) noexcept;
  // Counts blocks as ended; true for the thread that ended the last.
  bool ended(std::uint64_t count) noexcept { return done.fetch_add(count, std::memory_order_acq_rel) + count == total; }
  void record_fault(simt::Fault fault) noexcept;
  void leave() noexcept { users.fetch_sub(1, std::memory_order_release); }
  // By the finisher, which holds a use: afterwards nobody else touches the job.
  void close() noexcept;

 private:
  void open(std::uint64_t blocks) noexcept;
};

enum class Share : std::uint8_t {
  finished,  // this thread finished the grid: it is the queue's owner now, the front operation is not completed yet
  left,      // nothing more to claim, or the thread has something more urgent to do
};
// Runs blocks of a finite grid on this thread; the caller holds a use, which `left` gives back.
Share run_share(GridJob& job, Runner& runner) noexcept;

}  // namespace mr::engine
