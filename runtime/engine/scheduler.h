// Which queues are ready, who is awake, and whom to wake.
//
// Ready queues stand in lists by priority, sharded. Worker threads are started on demand, up to one per hardware thread
// that runs (a worker inside a host function doesn't count: it may block for as long as it likes, and another takes its
// place).
//
// Waking. At most one idle worker searches ("spins") at a time, for a bounded time; further idle ones sleep. Who makes
// work available looks at the counts after a full barrier: with a searcher nothing needs to be done, since the searcher
// looks at all lists once more after it stopped counting as one; without one, a sleeper is woken (or a thread started)
// and counts as the searcher from then on. One futex wake per burst of work, not per operation. tests/protocol/wake.pml
// checks that no work is left with everybody asleep.
#pragma once
#include <atomic>
#include <cstdint>

#include <engine/queue.h>
#include <engine/spinlock.h>

namespace mr::engine {

struct GridJob;
struct Watch;

class Scheduler {
 public:
  // The process's scheduler; never destroyed.
  static Scheduler& get();

  // Puts the queue into the ready list unless it is in one, and sees to it that a worker comes. Any thread.
  void list(Queue& queue) noexcept;
  // The same, for a queue whose next operation is a host function that a worker with resident blocks met: for the
  // others.
  void list_for_unpinned(Queue& queue) noexcept;
  // A ready queue of at most level `max_level` (most urgent first), taken off the list, or null.
  Queue* pop(unsigned max_level, bool pinned) noexcept;
  // Most urgent level that has ready queues; priority_levels if none.
  unsigned most_urgent() const noexcept;

  // Whether queues of another level than the least urgent are listed: a cheap first question before most_urgent(),
  // since most programs have none.
  bool has_urgent() const noexcept { return urgent_.load(std::memory_order_relaxed) != 0; }
  // Whether there have ever been any.
  bool had_urgent() const noexcept { return had_urgent_.load(std::memory_order_relaxed); }

  // Asks the searching worker to look at once instead of at its next poll (a few microseconds later).
  void ring() noexcept {
    bell_.fetch_add(1, std::memory_order_seq_cst);
    wake_if_needed();
  }
  void wake_if_needed() noexcept;
  // A worker that was searching starts on something: others come for what it leaves. What it starts on may keep it from
  // host functions (residents, or another host function), so the list for workers without residents gets a worker of
  // its own, however many run.
  void pass_on() noexcept {
    // Pairs with list_for_unpinned: it lists, then looks for a searcher; a searcher stops counting as one, then looks.
    if (unpinned_.mask.load(std::memory_order_seq_cst))
      wake_slowly(true);
    else if (has_ready())
      wake_if_needed();
  }

  // The same, for a worker that has joined a grid: for other work, or if enough of the grid is left for one more. So
  // the workers come one by one, each brought by the one before.
  void pass_on_beside(const GridJob& job) noexcept;

  // Grids whose blocks may be taken by any worker; finite ones with what a block takes.
  void publish(GridJob& job, std::uint64_t block_ticks = 0) noexcept;
  void withdraw(GridJob& job) noexcept;
  // A thread leaves a published job, which has had its turn, for something else: others of its level come first.
  void move_back(GridJob& job) noexcept;
  // Joins a published job of level <= max_level: its user count is raised. Helpers (not workers) get finite ones only.
  GridJob* join(unsigned max_level, bool worker) noexcept;
  // The same for one particular job, by a helping host thread; null if it isn't published, resident, or has no blocks
  // left.
  GridJob* join_this(GridJob& job) noexcept;
  unsigned jobs_hint() const noexcept { return jobs_.load(std::memory_order_seq_cst); }

  // A worker enters / leaves a host function.
  void enter_host_function() noexcept;
  void leave_host_function() noexcept;

  // ---- worker side ----
  // Waits for work: searches for a bounded time, then sleeps. Looks at the lists in `rest` ticks at the earliest,
  // unless it is rung. Not 0: the watched queue has been claimed for the caller, up to that operation; if the call for
  // it came with its host function, the caller counts as being in one (leave_host_function). 0: there may be some
  // elsewhere; the watch may have been ended.
  std::uint64_t idle(Watch& watch, std::uint64_t rest) noexcept;
  bool has_ready() const noexcept;
  bool has_queues() const noexcept;
  unsigned target() const noexcept { return target_; }
  // True when no worker is searching or asleep: ready work would wait for a running one.
  bool saturated() const noexcept;
  // In a forked child: no thread but the caller exists any more.
  void after_fork() noexcept;

  std::uint32_t threads() const noexcept {
    return static_cast<std::uint32_t>(counts_.load(std::memory_order_relaxed) & 0xffff);
  }

 private:
  void append(GridJob& job) noexcept;  // these two: under jobs_lock_
  void remove(GridJob& job) noexcept;
  Scheduler();
  struct alignas(64) Shard {
    SpinLock lock;
    // Bit L: list L is not empty. Written under the lock (seq_cst: the barrier between listing and looking at the
    // counts).
    std::atomic<std::uint32_t> mask{0};
    Queue* head[priority_levels] = {};
    Queue* tail[priority_levels] = {};
  };
  void push(Shard& shard, Queue& queue) noexcept;
  Queue* pop_from(Shard& shard, unsigned level) noexcept;
  void wake_slowly(bool for_unpinned) noexcept;
  void start_thread() noexcept;

  static constexpr unsigned max_shards = 8;
  static constexpr unsigned max_threads = 4096;
  unsigned shards_ = 1, target_ = 2;
  std::atomic<unsigned> urgent_{
      0};  // listed queues above the least urgent level; a hint, changed under the lists' locks
  std::atomic<bool> had_urgent_{false};  // a hint as well
  Shard shard_[max_shards];
  Shard unpinned_;
  // threads | sleeping << 16 | searching << 32 | in host functions << 48. All changes seq_cst.
  alignas(64) std::atomic<std::uint64_t> counts_{0};
  std::atomic<std::uint32_t> tokens_{0};  // wake-ups given to sleepers and not yet taken
  // Polled by the searching worker only; written by ring().
  alignas(64) std::atomic<std::uint32_t> bell_{0};
  alignas(64) SpinLock jobs_lock_;
  std::atomic<unsigned> jobs_{0};
  // Published jobs, those that have waited longest first.
  GridJob* first_job_ = nullptr;
  GridJob** last_link_ = &first_job_;
};

}  // namespace mr::engine
