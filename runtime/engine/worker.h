// Threads that execute operations.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <engine/clock.h>
#include <engine/grid_job.h>
#include <engine/queue.h>

namespace mr::engine {

// The thread that is executing: a worker, or a host thread that helps while it waits.
struct Runner {
  bool worker = false;
  bool after_host = false;        // the last operation of the last drain() was a host function
  bool in_host_function = false;  // counted so in the scheduler (kept over consecutive host functions)
  unsigned depth = 0;             // of queues drained inside another's wait
  // A queue that the thread keeps while it drains another one, the outermost: its front operation waits for that one's
  // `kept_until`, so that nobody could get on with it. Streams that wait for each other in turn are run without giving
  // each up for every step of the other.
  Queue* kept = nullptr;
  std::uint64_t kept_until = 0;
  bool called = false;            // the watcher of the queue that it waits for, just now
  std::uint64_t slice_begin = 0;  // ticks
  unsigned residents = 0;         // blocks living on this thread
  std::uint64_t operations = 0;   // completed by it in drain()

  // At an operation's or block range's end: should this worker leave work of `level` for something else?
  bool should_yield(unsigned level) noexcept;
  void leave_host_function() noexcept;
};

// A worker's promise to look at a queue again that it has left in the state `watched`.
//
// A worker that took operations one by one as they come would cost the enqueuer, and itself, a cache line's way for
// each: for the queue's tail, and for the records, since the processor fetches the lines behind those that it reads,
// which are the ones that the enqueuer is about to write. So it looks rarely, and while the enqueuer is at work more
// and more rarely (each look costs both of them several lines' ways, whatever it finds), and it stays some operations
// behind him. Whoever waits for the newest ones claims the queue himself.
struct Watch {
  Queue* queue = nullptr;
  std::uint64_t tail = 0;      // when it was last looked at
  const void* next = nullptr;  // where the operation that comes next will lie, as far as is known
  unsigned active_looks = 0;   // the last ones in a row that met an enqueuer at work
  bool moved = false;          // the last look saw new operations, or owners at work
  std::uint32_t passes = 0;    // Queue::passes() when it was last looked at
  std::uint64_t heard = 0;     // CallLine::called_for() when it was last looked at
  bool held = false;           // the queue is still this worker's: it only waits to be called, until the next look
  bool answered = false;       // a host thread's call, just now
  HostCall call;               // what it came with

  static constexpr std::uint64_t lag = 40;    // operations that it stays behind
  static constexpr std::uint64_t active = 4;  // operations in first_us that make an enqueuer one who is at work
  static constexpr std::uint64_t first_us = 3;
  static constexpr unsigned doublings = 3;  // 24 us: what an operation that nobody waits for may lie there

  // Ticks from one look to the next.
  std::uint64_t interval() const noexcept { return (first_us * ticks_per_us) << active_looks; }
  void begin(Queue& q, std::uint64_t at) noexcept {
    if (queue != &q) heard = q.calls().called_for();
    queue = &q;
    tail = at;
    next = q.next_record();
    held = false;
    q.watch();
  }
  // The same, but keeps the queue: another host function is likely to follow, and needn't be claimed then.
  void hold(Queue& q, std::uint64_t at) noexcept {
    queue = &q;
    tail = at;
    next = q.next_record();
    held = true;
    q.hold();
  }
  // What has come meanwhile is seen at the next look, or by end_watch.
  void let_go() noexcept {
    if (std::exchange(held, false)) queue->watch();
  }
  // Somebody else has the queue.
  void follow(Queue& q) noexcept {
    queue = &q;
    tail = q.tail();
    heard = q.calls().called_for();
    next = nullptr;
    q.offer_watch();
  }
  void end() noexcept {
    if (queue) {
      let_go();
      queue->end_watch();
    }
    queue = nullptr;
  }
  bool comes_with_function() const noexcept { return answered && call.sequence != 0; }
  bool called() const noexcept { return queue->calls().called_for() != heard; }
  // Claims the queue for who has called: up to which operation to run. 0: none, or another has it.
  std::uint64_t answer() noexcept {
    heard = queue->calls().called_for();
    queue->calls().take(heard, call);
    // The record's way and the claim's at once. Only a guess: others may have run it, and some more.
    if (call.sequence == 0) __builtin_prefetch(next);
    if (!std::exchange(held, false) && !queue->try_claim_watched()) return 0;
    moved = answered = true;
    active_looks = 0;
    return heard;
  }
  // Instead of look() while another has the queue.
  void look_from_afar() noexcept { moved = std::exchange(passes, queue->passes()) != passes; }
  // Up to which operation to run now: 0 is none. `rung`: somebody waits for what is there.
  std::uint64_t look(bool rung) noexcept {
    const std::uint64_t before = tail, done = queue->completed();
    tail = queue->tail();
    moved = tail != before;
    if (rung || tail < before + (active << active_looks)) {
      active_looks = 0;
      return tail == done ? 0 : tail;
    }
    active_looks = std::min(active_looks + 1, doublings);
    return tail > done + lag ? tail - lag : 0;
  }
};

// When a worker had better rest before it takes up what is listed: operations so short that it catches up with the
// enqueuer again and again, in one queue or another, cost both of them more in cache lines' ways than they take to run.
// Listed queues cost the enqueuer nothing further; whoever waits runs them himself, or rings.
class Rest {
 public:
  static constexpr std::uint64_t short_ticks = ticks_per_us / 2;  // an operation, all its ways included

  // The worker begins to work, having completed so many operations in its life.
  void begin(std::uint64_t operations) noexcept {
    since_ = ticks();
    before_ = operations;
  }
  // A queue has run dry: for how many ticks to rest now, or 0.
  std::uint64_t due(std::uint64_t operations) noexcept {
    const std::uint64_t busy = ticks() - since_, count = operations - before_;
    if (busy < Watch::first_us * ticks_per_us) return 0;
    begin(operations);
    if (count < (Watch::active << doubled_) || busy > count * short_ticks) {
      doubled_ = 0;
      return 0;
    }
    doubled_ = std::min(doubled_ + 1, Watch::doublings);
    return (Watch::first_us * ticks_per_us) << doubled_;
  }

 private:
  std::uint64_t since_ = 0, before_ = 0;
  unsigned doubled_ = 0;  // the last rests in a row
};

void* worker_main(void*);

// True on threads of the engine (API rules for host functions ask).
bool on_worker_thread() noexcept;

}  // namespace mr::engine
