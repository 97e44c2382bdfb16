// A queue: operations that complete in order. The engine's side of a stream.
//
// Roles. Any thread may append (Appender takes the queue's own lock). At any moment at most one thread *owns* the
// queue: it executes the operations at its front (drain.h). Ownership passes between workers, helping host threads, and
// - while an operation waits for another queue or runs asynchronously - belongs to whoever will continue the queue.
//
// Nothing gets lost. After publishing an operation the appender makes sure that the queue is listed for workers, unless
// it is listed already or has an owner; after giving up ownership an owner looks at the tail once more. Both sides put
// a full barrier between their store and their load (tail | state and listed, listed | state, state | tail), so one of
// them sees the other. tests/protocol/queue.pml checks this.
//
// Queues are type-stable: never freed, only reused (queue_pool). Sequence numbers go on across reuse, so a (queue,
// sequence) pair names a point in time for ever; a recycled queue has completed all points that were taken in its
// earlier lives.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <engine/call.h>
#include <engine/chunk.h>
#include <engine/delay.h>
#include <engine/op.h>
#include <engine/spinlock.h>
#include <engine/waiter.h>
#include <observe/trace.h>

namespace mr::engine {

class GraphImage;
struct GridJob;

inline constexpr unsigned priority_levels = 6;  // 0 is the most urgent

enum class QueueState : std::uint32_t {
  idle,          // nobody's; may be claimed
  watched,       // nobody's, may be claimed; a worker looks at it again within microseconds, so it needn't be listed
  held,          // owned by the worker that watches it: it waits to be called, or runs what it has been called for
  running,       // owned by a thread in drain()
  parked,        // its front operation waits for blocked_on/blocked_until
  asynchronous,  // its front operation runs by other means (spread grid, residents, custom) and will finish the queue's
                 // turn
};

class alignas(64) Queue {
 public:
  Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Sequence number of the newest appended operation. Acquire: what the appender wrote before is visible.
  std::uint64_t tail() const noexcept { return tail_.load(std::memory_order_acquire); }
  // All operations up to this number have completed, and their effects are visible to who reads it.
  std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_acquire); }
  bool has_work() const noexcept { return completed() < tail(); }

  // Hints for enqueuers, without a look at the owner's line (relaxed): somebody has the queue, and hasn't run it dry as
  // far as can be seen; the same, and `sequence` is its newest operation, so that it has hardly completed.
  bool is_busy() const noexcept {
    const QueueState now = state();
    return now == QueueState::running || now == QueueState::parked || now == QueueState::asynchronous;
  }
  bool is_busy_with(std::uint64_t sequence) const noexcept {
    return is_busy() && tail_.load(std::memory_order_relaxed) == sequence;
  }

  Domain* domain() const noexcept { return domain_.load(std::memory_order_relaxed); }
  unsigned level() const noexcept { return level_.load(std::memory_order_relaxed); }
  // The graph launch whose branch runs in this queue, if that is what it is used for: kernels in it set that launch's
  // conditional values. Set between reset and the first operation, and published with that.
  GraphImage* image() const noexcept { return image_.load(std::memory_order_relaxed); }
  void set_image(GraphImage* image) noexcept { image_.store(image, std::memory_order_relaxed); }
  // Counts from when the queue is listed next.
  void set_level(unsigned level) noexcept {
    base_level_.store(static_cast<std::uint8_t>(level), std::memory_order_relaxed);
    level_.store(static_cast<std::uint8_t>(level), std::memory_order_relaxed);
  }
  // From when an operation with a level of its own is enqueued into an idle queue, or begins, until it has completed.
  void borrow_level(unsigned level) noexcept {
    level_.store(static_cast<std::uint8_t>(level), std::memory_order_relaxed);
  }
  void return_level() noexcept { level_.store(base_level_.load(std::memory_order_relaxed), std::memory_order_relaxed); }
  // Only while the queue is idle and empty (creation and reuse).
  void reset(Domain* domain, unsigned level) noexcept {
    domain_.store(domain, std::memory_order_relaxed);
    image_.store(nullptr, std::memory_order_relaxed);
    set_level(level);
  }

  // ---- for the engine ----
  bool try_claim(bool worker) noexcept {
    if (!worker && workers_only_.load(std::memory_order_relaxed)) return false;
    QueueState expected = state_.load(std::memory_order_relaxed);
    if (expected != QueueState::idle && expected != QueueState::watched) return false;
    if (!state_.compare_exchange_strong(expected, QueueState::running, std::memory_order_seq_cst,
                                        std::memory_order_relaxed))
      return false;
    if (worker) workers_only_.store(false, std::memory_order_relaxed);
    MR_DELAY();
    return true;
  }
  // The same by the worker that watches the queue and has been called: as a rule nobody else has it, and the state,
  // which the caller has just looked at, needn't come over twice.
  bool try_claim_watched() noexcept {
    QueueState expected = QueueState::watched;
    if (!state_.compare_exchange_strong(expected, QueueState::running, std::memory_order_seq_cst,
                                        std::memory_order_relaxed))
      return false;
    workers_only_.store(false, std::memory_order_relaxed);
    MR_DELAY();
    return true;
  }
  // Gives up ownership. While a worker watches the queue, whoever has run it dry leaves it to him again, so that the
  // next operation needn't list it; else the queue is nobody's, and is listed if operations are left.
  void release() noexcept;
  // Gives up ownership, by a worker that goes on looking at the queue (Watch) until it claims it or ends the watch.
  // Operations may be left. Whoever else claims a watched queue takes it without asking; if it is watched again by
  // another, both will look.
  void watch() noexcept {
    has_watcher_.store(true, std::memory_order_relaxed);
    state_.store(QueueState::watched, std::memory_order_release);
  }
  // The same, but the worker keeps it until then.
  void hold() noexcept {
    if (state() != QueueState::held) state_.store(QueueState::held, std::memory_order_relaxed);
  }
  // For a worker that doesn't own it: whoever does may leave it to him.
  void offer_watch() noexcept { has_watcher_.store(true, std::memory_order_relaxed); }
  // He doesn't look any more. For an owner: what he releases is nobody's from now on.
  void end_watch() noexcept;
  void forget_watcher() noexcept { has_watcher_.store(false, std::memory_order_relaxed); }
  QueueState state() const noexcept { return state_.load(std::memory_order_relaxed); }
  // Differs from before: owners have got on with the queue meanwhile.
  std::uint32_t passes() const noexcept { return passes_.load(std::memory_order_relaxed); }
  // True: who waits for `sequence` had better leave the queue to the worker that watches it, and call him: a host
  // function can't be helped with, and a worker that holds the queue (Watch) runs what comes when he is called.
  // Acquire: whoever appended the operation, it goes on to the worker with the call.
  bool is_for_watcher(std::uint64_t sequence) const noexcept {
    const QueueState now = state();
    return (now == QueueState::held ||
            (now == QueueState::watched && newest_.load(std::memory_order_relaxed) == OpKind::host)) &&
           tail_.load(std::memory_order_acquire) == sequence;
  }
  // Where the worker that watches the queue is asked to run it at once; the operation must have been published. A call
  // may get lost behind another thread's: the watch looks by itself within microseconds.
  CallLine& calls() noexcept { return calls_; }
  // Calls if there is somebody to be called. The operation is published.
  void call_early(std::uint64_t sequence) noexcept {
    const QueueState now = state();
    if (now == QueueState::held || now == QueueState::watched) calls_.call(sequence);
  }
  // Calls with the function, if is_for_watcher().
  bool call(const HostCall& call) noexcept;
  // True when the newest operation, as far as can be seen, is a host function that a worker is likely to be called for:
  // who waits for it asks wait_pending() without looking at `completed`, which the worker is writing.
  bool newest_is_called_for() const noexcept {
    return newest_.load(std::memory_order_relaxed) == OpKind::host && state() == QueueState::held;
  }
  // The same; the front operation is a host function that a worker with resident blocks can't run.
  void release_for_unpinned() noexcept;
  // The front operation, run asynchronously, has completed. The caller acts as owner: completes it and releases the
  // queue.
  void finish_asynchronous() noexcept;
  // Completes the front operation: advances over its record, publishes, wakes who waits.
  void complete_front(Op* op) noexcept;
  // The same by an owner whose next step is release(): that tells who waits, behind its own barrier.
  void complete_last(Op* op) noexcept;
  // The same for the host function that a worker has been called with and has run: its record isn't touched.
  void complete_called(const HostCall& call) noexcept;
  Op* front() noexcept {
    auto* op = reinterpret_cast<Op*>(read_);
    return op->kind == OpKind::jump ? front_behind_jump() : op;
  }
  // For the owner: where the next operation's record will begin, if it isn't in a new chunk.
  const void* next_record() const noexcept { return read_; }
  // For the owner: operations up to there are published, as far as owners have looked.
  std::uint64_t seen() const noexcept { return seen_tail_; }
  bool has_seen_all(std::uint64_t done) const noexcept { return seen_tail_ <= done; }
  // The owner's knowledge of the tail, read anew if `done`, completed(), has reached it.
  std::uint64_t tail_beyond(std::uint64_t done) noexcept {
    if (seen_tail_ <= done) seen_tail_ = tail();
    return seen_tail_;
  }
  // Asks for the line that the next operation will be written to. An owner that was close behind has it, since the
  // processor fetches what lies behind a record that is read.
  void expect_append() const noexcept {
    if (const std::byte* next = write_.load(std::memory_order_relaxed)) fetch_to_write(next);
  }
  // Lists a waiter for waiter.sequence; who completes that tells it, once, and takes it off before. False when there is
  // nothing to wait for any more: then it isn't listed.
  bool add_waiter(Waiter& waiter) noexcept;
  void wake_waiters() noexcept;

 private:
  Op* front_behind_jump() noexcept;  // and gives the chunks back that lie before it
  void advance(Op* op) noexcept;
  void look_again() noexcept;
  void unwatch() noexcept;
  friend class Appender;
  friend class AppendHold;
  friend class Scheduler;
  friend struct Drainer;
  friend struct Explored;
  friend struct GridJob;
  friend class Waiting;

  // -- appenders' line --
  BatchLock append_lock_;
  // Relaxed: set at reuse, published with the first operation; a former owner that is just leaving may still look at
  // it.
  std::atomic<std::uint8_t> level_{priority_levels - 1};
  std::atomic<std::uint8_t> base_level_{priority_levels - 1};  // what level_ goes back to
  // Kind of the newest operation. A hint for threads that wait (relaxed): a host function can't be helped with.
  std::atomic<OpKind> newest_{OpKind::jump};
  // Invariant: records of operations completed+1..tail lie complete in the chunks from read_ on. Store release (in the
  // append lock), load acquire by the owner.
  std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::byte*> write_{nullptr};  // relaxed: guarded by the lock; elsewhere a hint (expect_append)
  std::byte* write_end_ = nullptr;          // room for a jump is kept behind it
  std::atomic<Chunk*> spare_{nullptr};

  // -- owner's line --
  // Written by the owner only. Between its store and the look for waiters there is a full barrier (the store is
  // seq_cst, or it is release()'s exchange that comes next): pairs with add_waiter's store and re-check of completed_.
  alignas(64) std::atomic<std::uint64_t> completed_{0};
  std::byte* read_ = nullptr;
  Chunk* read_chunk_ = nullptr;
  // The tail as owners last read it, maybe behind completed_: the tail itself lies in the appenders' line, whose way an
  // owner saves who knows that there is more.
  std::uint64_t seen_tail_ = 0;
  // Read by the owner for each operation, written at reuse.
  std::atomic<Domain*> domain_{nullptr};
  std::atomic<GraphImage*> image_{nullptr};

  // -- hand-over line --
  alignas(64) std::atomic<QueueState> state_{QueueState::idle};
  // True while the queue is in a ready list (or being put there). Exchange seq_cst on both sides.
  std::atomic<bool> listed_{false};
  // True from watch() or offer_watch() to the end of that worker's watch. Who releases the queue to him stores state_,
  // then looks here; he who leaves stores this, then looks at state_ (all seq_cst): one of them sees the other and
  // makes the queue idle.
  std::atomic<bool> has_watcher_{false};
  // A helping host thread found an operation that only workers may run. A hint that keeps helpers from claiming again.
  std::atomic<bool> workers_only_{false};
  // How often the queue was left to its watcher. Written by the owner (relaxed: a hint); here, since the watcher looks
  // at this line anyway, and takes the appenders' line away from them if he asks the tail instead.
  std::atomic<std::uint32_t> passes_{0};
  Queue* next_ready_ = nullptr;  // guarded by the ready list's lock
  SpinLock waiters_lock_;
  // Head of the list guarded by waiters_lock_; read without it by the owner after it published completed_, and by who
  // has just released the queue.
  std::atomic<Waiter*> waiters_{nullptr};
  // While parked: what for. Written by the owner before state_ becomes parked; helpers read them as hints and re-check.
  std::atomic<Queue*> blocked_on_{nullptr};
  std::atomic<std::uint64_t> blocked_until_{0};
  Waiter self_waiter_;

  CallLine calls_;

 public:
  // The grid that is being spread over threads, if any; allocated with the queue, reused for each grid.
  GridJob* const job;
};

// Appends operations to a queue: holds its append lock from construction to destruction; what was pushed becomes
// visible to owners at publish() or destruction, all at once.
//   Appender a(queue); auto* op = a.push<CopyOp>(OpKind::copy); op->to = ...;
class Appender {
 public:
  explicit Appender(Queue& queue) noexcept : queue_(queue) {
    // Looked at after publishing; it may have to come from a worker.
    __builtin_prefetch(&queue.state_);
    queue.append_lock_.lock();
    sequence_ = queue.tail_.load(std::memory_order_relaxed);
    first_ = sequence_;
  }
  ~Appender();
  // For a caller who is going to wait for what he pushes: if nobody has the queue when that is published, it is not
  // listed for workers but `mine` becomes true and it is the caller's, who goes on with wait_as_owner() (wait.h). Saves
  // waking a worker for what the waiting thread does itself.
  void claim_for(bool& mine) noexcept { mine_ = &mine; }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  // A new record of at least `bytes`; header filled, the rest is the caller's to fill before publishing.
  template <class T> T* push(OpKind kind, std::size_t bytes = sizeof(T)) noexcept {
    const std::size_t length = (bytes + 63) & ~std::size_t{63};
    std::byte* write = queue_.write_.load(std::memory_order_relaxed);
    if (write == nullptr || static_cast<std::size_t>(queue_.write_end_ - write) < length) write = new_chunk(length);
    auto* op = reinterpret_cast<T*>(write);
    queue_.write_.store(write + length, std::memory_order_relaxed);
    fetch_ahead(write + lines_ahead * 64, length);
    op->kind = kind;
    queue_.newest_.store(kind, std::memory_order_relaxed);
    op->flags = 0;
    op->lines = static_cast<std::uint16_t>(length / 64);
    ++sequence_;
    op->site = observe::tracing ? observe::enqueued(&queue_, sequence_) : 0;
    return op;
  }
  // Sequence number of the newest operation, pushed here or before.
  std::uint64_t sequence() const noexcept { return sequence_; }
  Queue& queue() const noexcept { return queue_; }

 private:
  // A chunk that is used again lies in the cache of whoever executed its records. Its lines are asked for, to be
  // written, some records ahead of their use: the locked instructions of every append would wait for each otherwise.
  static constexpr std::size_t lines_ahead = 12;
  static void fetch_ahead(std::byte* from, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += 64) fetch_to_write(from + at);
  }
  std::byte* new_chunk(std::size_t length) noexcept;
  Queue& queue_;
  std::uint64_t sequence_, first_;
  bool* mine_ = nullptr;
};

// Lists the queue for workers (Scheduler::list).
void list_queue(Queue& queue) noexcept;

inline Appender::~Appender() {
  if (sequence_ != first_) {
    queue_.tail_.store(sequence_, std::memory_order_release);
    // The exchange in unlock_fenced is the full barrier between publishing the tail and looking at state_ and listed_.
    queue_.append_lock_.unlock_fenced();
    MR_DELAY();
    if (mine_ && queue_.try_claim(false)) {
      *mine_ = true;
      return;
    }
    // A queue that somebody has needs no listing: he looks at the tail again after he gave it up (release()).
    if (queue_.state_.load(std::memory_order_seq_cst) == QueueState::idle &&
        !queue_.listed_.load(std::memory_order_seq_cst))
      list_queue(queue_);
  } else {
    queue_.append_lock_.unlock();
  }
}

// Holds a queue's append lock without appending: what the owner of that lock alone may read and write stays as it is.
class AppendHold {
 public:
  explicit AppendHold(Queue& queue) noexcept : queue_(queue) { queue.append_lock_.lock(); }
  ~AppendHold() { queue_.append_lock_.unlock(); }
  AppendHold(const AppendHold&) = delete;
  AppendHold& operator=(const AppendHold&) = delete;

 private:
  Queue& queue_;
};

// Takes a queue from the pool (or makes one) / gives it back: it is reused once it has completed all it was given.
Queue* take_queue(Domain* domain, unsigned level);
void give_queue(Queue* queue) noexcept;

}  // namespace mr::engine
