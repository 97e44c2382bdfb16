#include <engine/queue.h>

#include <mutex>
#include <new>
#include <vector>

#include <engine/futex.h>
#include <engine/graph_run.h>
#include <engine/grid_job.h>
#include <engine/scheduler.h>

namespace mr::engine {

Queue::Queue() : job(new GridJob(*this)) { self_waiter_.queue = this; }

void list_queue(Queue& queue) noexcept { Scheduler::get().list(queue); }

// After a full barrier behind giving up ownership: pairs with Appender (tail | state and listed) and Scheduler::pop
// (listed | state).
void Queue::look_again() noexcept {
  MR_DELAY();
  if (tail_.load(std::memory_order_seq_cst) != completed_.load(std::memory_order_relaxed) &&
      !listed_.load(std::memory_order_seq_cst))
    Scheduler::get().list(*this);
}

void Queue::release() noexcept {
  const bool more = seen_tail_ > completed_.load(std::memory_order_relaxed);
  const bool watched = !more && has_watcher_.load(std::memory_order_relaxed);
  if (watched) passes_.store(passes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  state_.exchange(watched ? QueueState::watched : QueueState::idle, std::memory_order_seq_cst);
  MR_DELAY();
  // From here on the queue may be another's: he and this thread may both tell those who wait, each of them once.
  if (waiters_.load(std::memory_order_seq_cst)) [[unlikely]]
    wake_waiters();
  if (watched) {
    MR_DELAY();
    if (!has_watcher_.load(std::memory_order_seq_cst)) unwatch();
    return;
  }
  if (!more) return look_again();
  MR_DELAY();
  if (!listed_.load(std::memory_order_seq_cst)) Scheduler::get().list(*this);
}

void Queue::end_watch() noexcept {
  MR_DELAY();
  has_watcher_.exchange(false, std::memory_order_seq_cst);
  MR_DELAY();
  unwatch();
}

void Queue::unwatch() noexcept {
  QueueState expected = QueueState::watched;
  if (state_.compare_exchange_strong(expected, QueueState::idle, std::memory_order_seq_cst, std::memory_order_relaxed))
    look_again();
}

void Queue::release_for_unpinned() noexcept {
  state_.exchange(QueueState::idle, std::memory_order_seq_cst);
  Scheduler::get().list_for_unpinned(*this);
}

Op* Queue::front_behind_jump() noexcept {
  auto* op = reinterpret_cast<Op*>(read_);
  while (op->kind == OpKind::jump) {
    auto* next = static_cast<JumpOp*>(op)->next;
    Chunk* old = read_chunk_;
    read_chunk_ = reinterpret_cast<Chunk*>(reinterpret_cast<std::byte*>(next) - 64);
    read_ = reinterpret_cast<std::byte*>(next);
    if (old->bytes == chunk_bytes) old = spare_.exchange(old, std::memory_order_acq_rel);
    if (old) give_chunk(old);
    op = next;
  }
  return op;
}

void Queue::advance(Op* op) noexcept {
  if (op->site) [[unlikely]]
    observe::ended(op->site);
  read_ = reinterpret_cast<std::byte*>(op) + std::size_t{op->lines} * 64;
  if (op->flags >> op_level_shift) [[unlikely]]
    return_level();
  MR_DELAY();
}

void Queue::complete_last(Op* op) noexcept {
  advance(op);
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void Queue::complete_front(Op* op) noexcept {
  advance(op);
  // seq_cst: between publishing and looking for waiters (they add themselves, then look at completed_ again).
  completed_.store(completed_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
  MR_DELAY();
  if (waiters_.load(std::memory_order_seq_cst)) wake_waiters();
}

bool Queue::call(const HostCall& call) noexcept {
  if (!is_for_watcher(call.sequence)) return false;
  AppendHold hold(*this);
  calls_.call(call);
  return true;
}

void Queue::complete_called(const HostCall& call) noexcept {
  read_ += std::size_t{HostOp::lines_of} * 64;
  MR_DELAY();
  // As in complete_front. The owner's line is this worker's, as long as who waits looks for the answer instead.
  completed_.store(call.sequence, std::memory_order_seq_cst);
  calls_.answer(call.sequence);
  MR_DELAY();
  if (waiters_.load(std::memory_order_seq_cst)) wake_waiters();
}

void Queue::finish_asynchronous() noexcept {
  complete_last(front());
  release();
}

bool Queue::add_waiter(Waiter& waiter) noexcept {
  std::scoped_lock hold(waiters_lock_);
  MR_DELAY();
  Waiter* const others = waiters_.load(std::memory_order_relaxed);
  waiter.next = others;
  waiters_.store(&waiter, std::memory_order_seq_cst);
  MR_DELAY();
  // Between adding it and looking again: the completer stores completed_, then looks for waiters (both seq_cst). While
  // the lock is held nobody takes the waiter off: once it is gone, a queue that it stands for may be anybody's, may run
  // on, and may even be back in this list for a later operation.
  if (completed_.load(std::memory_order_seq_cst) < waiter.sequence) return true;
  waiters_.store(others, std::memory_order_relaxed);
  return false;
}

void Queue::wake_waiters() noexcept {
  Waiter* due = nullptr;
  {
    std::scoped_lock hold(waiters_lock_);
    // Acquire: behind a release the newest operations may be the next owner's, and who is told goes on behind them.
    const std::uint64_t done = completed();
    Waiter* kept = nullptr;
    for (Waiter* w = waiters_.load(std::memory_order_relaxed); w;) {
      Waiter* next = w->next;
      Waiter*& list = w->sequence <= done ? due : kept;
      w->next = list;
      list = w;
      w = next;
    }
    waiters_.store(kept, std::memory_order_relaxed);
  }
  while (due) {
    Waiter* w = due;
    due = w->next;  // read before the wake: the waiter may be reused at once
    MR_DELAY();
    if (w->queue) {
      w->queue->release();
    } else if (w->image) {
      w->image->release();
    } else {
      std::atomic<std::uint32_t>* word = w->word;
      word->store(1, std::memory_order_release);
      futex_wake(*word);  // harmless if the thread is gone by now
    }
  }
}

std::byte* Appender::new_chunk(std::size_t length) noexcept {
  Chunk* chunk = nullptr;
  if (64 + length + 64 <= chunk_bytes) chunk = queue_.spare_.exchange(nullptr, std::memory_order_acquire);
  if (!chunk) chunk = take_chunk(length);
  auto* first = reinterpret_cast<Op*>(chunk->begin());
  if (std::byte* write = queue_.write_.load(std::memory_order_relaxed)) {
    // Seen by the owner only after it saw a tail that was published later.
    auto* jump = reinterpret_cast<JumpOp*>(write);
    jump->kind = OpKind::jump;
    jump->next = first;
  } else {
    queue_.read_ = chunk->begin();
    queue_.read_chunk_ = chunk;
  }
  queue_.write_.store(chunk->begin(), std::memory_order_relaxed);
  queue_.write_end_ = chunk->end() - 64;
  fetch_ahead(chunk->begin(), lines_ahead * 64);
  return chunk->begin();
}

namespace {
struct QueuePool {
  SpinLock lock;
  std::vector<Queue*> free;  // candidates; one that still has work is left for later
};
QueuePool& queue_pool() {
  static QueuePool* const instance = new QueuePool;
  return *instance;
}
}  // namespace

Queue* take_queue(Domain* domain, unsigned level) {
  QueuePool& pool = queue_pool();
  Queue* queue = nullptr;
  {
    std::scoped_lock hold(pool.lock);
    // A destroyed stream's queue may be busy for long; look at a few from the back, then make a new one.
    const std::size_t count = pool.free.size();
    for (std::size_t i = 0; i < count && i < 8; ++i) {
      Queue* candidate = pool.free[count - 1 - i];
      if (candidate->has_work()) continue;
      std::swap(pool.free[count - 1 - i], pool.free.back());
      pool.free.pop_back();
      queue = candidate;
      break;
    }
    if (!queue && count > 64) {
      for (std::size_t i = 0; i < count; ++i) {
        if (pool.free[i]->has_work()) continue;
        queue = pool.free[i];
        std::swap(pool.free[i], pool.free.back());
        pool.free.pop_back();
        break;
      }
    }
  }
  if (!queue) queue = new Queue;
  queue->reset(domain, level);
  return queue;
}

void give_queue(Queue* queue) noexcept {
  QueuePool& pool = queue_pool();
  std::scoped_lock hold(pool.lock);
  pool.free.push_back(queue);
}

}  // namespace mr::engine
