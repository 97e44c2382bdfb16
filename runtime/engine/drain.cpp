#include <engine/drain.h>

#include <algorithm>
#include <utility>

#include <engine/clock.h>
#include <engine/graph_run.h>
#include <engine/graph_runner.h>
#include <engine/scheduler.h>
#include <observe/explorer.h>
#include <observe/subscriber.h>
#include <simt/protect.h>

namespace mr::engine {

// Has access to the queue's hand-over state.
struct Drainer {
  // The front operation waits for op.on. True: satisfied. False: the queue is parked and not the caller's any more.
  static bool wait(Queue& queue, const WaitOp& op, Runner& runner) noexcept;
  // Others may take part in the queue's front operation from here on, those who wait for a kept queue among them: they
  // find the way from that queue to this one if it is parked.
  static void become_asynchronous(Queue& queue, Runner& runner) noexcept {
    if (runner.kept) [[unlikely]]
      let_go(runner);
    queue.state_.store(QueueState::asynchronous, std::memory_order_relaxed);
  }
  static void resume(Queue& queue) noexcept { queue.state_.store(QueueState::running, std::memory_order_relaxed); }
  static void let_go(Runner& runner) noexcept { std::exchange(runner.kept, nullptr)->release(); }
  static void mark_workers_only(Queue& queue) noexcept { queue.workers_only_.store(true, std::memory_order_relaxed); }
};

namespace {

constexpr unsigned max_depth = 12;  // of queues drained inside each other's waits; each level costs some stack

enum class Ran : std::uint8_t { done, workers, gone };

// Whether the owner of `queue` knows that its front operation waits for one of `on` that is still to come.
const WaitOp* front_waits_for(Queue& queue, const Queue& on) noexcept {
  if (queue.has_seen_all(queue.completed())) return nullptr;
  const Op& front = *queue.front();
  if (front.kind != OpKind::wait) return nullptr;
  const auto& wait = static_cast<const WaitOp&>(front);
  return wait.on == &on && on.completed() < wait.sequence ? &wait : nullptr;
}

// The queue's front operation in parts that other threads may take.
Ran spread(Queue& queue, Runner& runner) noexcept {
  Drainer::become_asynchronous(queue, runner);
  if (run_share(*queue.job, runner) == Share::left) return Ran::gone;
  Drainer::resume(queue);
  return Ran::done;
}

std::size_t size_of(const memory::LinearCopy& copy) noexcept { return copy.bytes; }
template <class Box> std::size_t size_of(const Box& box) noexcept { return box.bytes(); }

// Records lie behind each other, a line long at least, and in the enqueuer's cache. Of those that are known to be
// published, none is a line that he is still to write.
constexpr std::uint64_t lines_ahead = 8;
void fetch_ahead(const Op* op) noexcept {
  __builtin_prefetch(reinterpret_cast<const char*>(op) + (lines_ahead - 1) * 64);
}

// Copies and fills that take long are everybody's: one processor can't use all of the memory's bandwidth. Of two, the
// other is another program's often enough, and a part that is put aside there takes longer than a copy of less than
// `between_two` bytes.
constexpr std::size_t between_two = std::size_t{64} << 20;

template <class Bytes> Ran move(Queue& queue, const Op& op, const Bytes& bytes, Runner& runner) noexcept {
  if (const std::uint64_t parts = memory::parts(bytes); parts > 1 && !observe::explorer) [[unlikely]] {
    const unsigned processors = Scheduler::get().target();
    if (processors > 2 || (processors == 2 && size_of(bytes) >= between_two)) {
      queue.job->open(op, parts);
      return spread(queue, runner);
    }
  }
  memory::run(bytes);
  return Ran::done;
}

Ran run_kernel(Queue& queue, KernelOp& op, Runner& runner) noexcept {
  simt::Grid& grid = op.grid;
  if (simt::protect::active()) [[unlikely]] {
    const auto* args = static_cast<const char*>(grid.args);
    const auto* record = reinterpret_cast<const char*>(&op);
    if (args >= record && args < record + std::size_t{op.lines} * 64) grid.flags |= simt::grid_args_readable;
  }
  // Level for level: what other operations at the queue's end asked for doesn't count for this one.
  if (const unsigned own = op.flags >> op_level_shift) [[unlikely]]
    queue.borrow_level(own - 1);
  if (op.flags & op_workers_only) {  // needs residency
    if (!runner.worker) return Ran::workers;
    simt::grid_open(grid);
    Drainer::become_asynchronous(queue, runner);
    queue.job->open(grid, true);
    queue.job->users.store(0, std::memory_order_relaxed);  // this thread joins like any other
    Scheduler::get().publish(*queue.job);
    return Ran::gone;
  }
  if (grid.total_blocks == 1) {
    const ImageScope scope(queue.image());
    const simt::Fault fault = simt::run_blocks(grid, 0, 1);
    if (fault != simt::Fault::none && fault != simt::Fault::interrupted)
      queue.domain()->on_fault(*queue.domain(), fault, grid);
    return Ran::done;
  }
  queue.job->open(grid, false);
  return spread(queue, runner);
}

void run_host(Queue& queue, HostOp& op, Runner& runner) noexcept {
  if (!runner.in_host_function) {
    runner.in_host_function = true;
    Scheduler::get().enter_host_function();
  }
  const bool dead = queue.domain()->dead();
  if (op.with_status) {
    op.with_status(op, dead);
  } else if (!dead) {
    simt::protect::UserScope rights;
    op.function(op.data);
  }
}

void observe_begin(Op& op, bool follows) noexcept {
  observe::Detail d;
  switch (op.kind) {
  case OpKind::kernel: {
    simt::Grid& grid = static_cast<KernelOp&>(op).grid;
    // A graph's step has the tag of its node.
    if ((grid.flags & simt::grid_in_stream) && !(grid.grid_id & simt::grid_id_of_child)) {
      grid.site = op.site;
      // Tags are no two launches', as sequence numbers of different queues may be.
      grid.grid_id = simt::grid_id_of_tag | grid.site;
    }
    d.kind = trace_format::kernel;
    d.name = grid.kernel->name;
    for (int i = 0; i < 3; ++i) {
      d.grid[i] = grid.grid[i];
      d.block[i] = grid.block[i];
    }
    break;
  }
  case OpKind::copy:
    d.kind = trace_format::copy;
    d.bytes = static_cast<const CopyOp&>(op).copy.bytes;
    break;
  case OpKind::copy_box:
    d.kind = trace_format::copy;
    d.bytes = static_cast<const CopyBoxOp&>(op).copy.bytes();
    break;
  case OpKind::fill:
    d.kind = trace_format::fill;
    d.bytes = static_cast<const FillOp&>(op).fill.bytes();
    break;
  case OpKind::host:
    d.kind = trace_format::host;
    if (observe::subscriber) observe::subscriber->host_step(op.site);
    break;
  case OpKind::wait:
    d.kind = trace_format::wait;
    d.on = static_cast<const WaitOp&>(op).on;
    d.sequence = static_cast<const WaitOp&>(op).sequence;
    break;
  case OpKind::stamp: d.kind = trace_format::stamp; break;
  case OpKind::custom: d.kind = GraphRun::trace_kind(static_cast<const CustomOp&>(op)); break;
  case OpKind::jump: break;
  }
  observe::began(op.site, d, follows);
}

bool next_is_prompt(Queue& queue, std::uint64_t done) noexcept {
  if (queue.tail_beyond(done) == done) return false;
  const Op& next = *queue.front();
  return next.kind == OpKind::stamp || (next.flags & op_prompt) != 0;
}

}  // namespace

bool Drainer::wait(Queue& queue, const WaitOp& op, Runner& runner) noexcept {
  Queue& on = *op.on;
  if (on.completed() >= op.sequence) return true;
  // First choice: do what we wait for, unless something more urgent is ready. Holding our queue while draining another
  // can't deadlock, since a wait only ever names operations that were enqueued before it: two threads that hold each
  // other's wish would need a cycle in enqueue order.
  const bool kept = runner.kept == &on;
  if (kept) runner.kept = nullptr;
  if (kept || (runner.depth < max_depth && !(runner.worker && runner.should_yield(on.level())) &&
               on.try_claim(runner.worker))) {
    ++runner.depth;
    const Drain result = drain(on, runner, op.sequence);
    --runner.depth;
    const WaitOp* const next = result == Drain::reached && runner.depth == 0 && !runner.kept && !observe::explorer
                                   ? front_waits_for(on, queue)
                                   : nullptr;
    if (next) {
      runner.kept = &on;
      runner.kept_until = next->sequence;
    } else {
      settle(on, runner, result);
    }
    if (on.completed() >= op.sequence) return true;
  }
  queue.blocked_on_.store(&on, std::memory_order_relaxed);
  queue.blocked_until_.store(op.sequence, std::memory_order_relaxed);
  queue.self_waiter_.sequence = op.sequence;
  queue.state_.store(QueueState::parked, std::memory_order_release);
  MR_DELAY();
  // Once it is listed, the queue is whoever's the waker gives it to: neither it nor `op` may be touched any more.
  if (on.add_waiter(queue.self_waiter_)) return false;
  queue.state_.store(QueueState::running, std::memory_order_relaxed);
  return true;
}

Drain drain(Queue& queue, Runner& runner, std::uint64_t until, std::uint64_t known) noexcept {
  std::uint64_t done = queue.completed();
  const bool outermost = runner.depth == 0;
  const Scheduler& scheduler = Scheduler::get();
  if (outermost && runner.worker) runner.slice_begin = ticks();  // a host thread's drain ends where its wait does
  Drain result;
  for (unsigned count = 1;; ++count) {
    if (done >= until) {
      result = Drain::reached;
      break;
    }
    if (known <= done && queue.has_seen_all(done)) {
      const std::uint64_t left = queue.tail_beyond(done) - done;
      if (left == 0) {
        result = Drain::empty;
        break;
      }
      if (until == everything && outermost && runner.worker && left < Watch::lag && count > Watch::active &&
          ticks() - runner.slice_begin < count * Rest::short_ticks) {
        result = Drain::close;
        break;
      }
    }
    Op* op = queue.front();
    if (std::max(known, queue.seen()) >= done + lines_ahead) fetch_ahead(op);
    if (op->site) [[unlikely]]
      observe_begin(*op, count > 1);
    Ran ran = Ran::done;
    if (op->kind == OpKind::host) {
      if (!runner.worker) {
        result = Drain::workers;
        break;
      }
      if (runner.residents) {
        result = Drain::unpinned;
        break;
      }
      run_host(queue, *static_cast<HostOp*>(op), runner);
    } else {
      if (runner.in_host_function) runner.leave_host_function();
      const bool dead = queue.domain()->dead();
      switch (op->kind) {
      case OpKind::kernel:
        if (!dead) ran = run_kernel(queue, *static_cast<KernelOp*>(op), runner);
        break;
      case OpKind::copy:
        if (!dead) ran = move(queue, *op, static_cast<CopyOp*>(op)->copy, runner);
        break;
      case OpKind::copy_box:
        if (dead)
          memory::abandon(static_cast<CopyBoxOp*>(op)->copy);
        else
          ran = move(queue, *op, static_cast<CopyBoxOp*>(op)->copy, runner);
        break;
      case OpKind::fill:
        if (!dead) ran = move(queue, *op, static_cast<FillOp*>(op)->fill, runner);
        break;
      case OpKind::wait:
        // In a dead context all queues run dry by themselves: waits keep their meaning.
        if (!Drainer::wait(queue, *static_cast<WaitOp*>(op), runner)) ran = Ran::gone;
        break;
      case OpKind::stamp: {
        auto* stamp = static_cast<StampOp*>(op);
        StampSlot& slot = *stamp->slot;
        // Only the newest record counts; an older stamp that arrives late is dropped. The ticket is stored last
        // (release): readers load it first (acquire) and then the time.
        if (slot.ticket.load(std::memory_order_relaxed) == stamp->ticket) {
          slot.time_ns.store(now_ns(), std::memory_order_relaxed);
          slot.done.store(stamp->ticket, std::memory_order_release);
        }
        break;
      }
      case OpKind::custom: {
        auto* custom = static_cast<CustomOp*>(op);
        if ((op->flags & op_workers_only) && !runner.worker) {
          ran = Ran::workers;
          break;
        }
        // An operation that goes on by other means may be finished on another thread before run() returns: from here on
        // the queue is only ours if it says so.
        Drainer::become_asynchronous(queue, runner);
        switch (custom->run(*custom, queue, runner, dead)) {
        case OpResult::done: Drainer::resume(queue); break;
        case OpResult::workers:
          Drainer::resume(queue);
          ran = Ran::workers;
          break;
        case OpResult::asynchronous: ran = Ran::gone; break;
        }
        break;
      }
      case OpKind::jump:
      case OpKind::host: break;
      }
    }
    if (ran == Ran::gone) {
      result = Drain::gone;
      break;
    }
    if (ran == Ran::workers) {
      result = Drain::workers;
      break;
    }
    ++done;
    if (done >= until && !runner.worker && outermost)
      queue.complete_last(op);
    else
      queue.complete_front(op);
    ++runner.operations;
    if (runner.kept && outermost && done >= runner.kept_until) [[unlikely]]
      if (!front_waits_for(queue, *runner.kept)) Drainer::let_go(runner);
    if (runner.worker && ((count & 7u) == 0 || scheduler.has_urgent()) && runner.should_yield(queue.level()) &&
        !next_is_prompt(queue, done)) {
      result = Drain::yielded;
      break;
    }
  }
  if (outermost) {
    if (runner.kept) [[unlikely]]
      Drainer::let_go(runner);
    runner.after_host = runner.in_host_function;
    if (runner.in_host_function) runner.leave_host_function();
  }
  return result;
}

bool run_called(Queue& queue, const HostCall& call, Runner& runner) noexcept {
  if (runner.residents != 0 || queue.completed() + 1 != call.sequence || queue.next_record() != call.record)
    return false;
  HostOp op{{OpKind::host, 0, HostOp::lines_of, 0}, call.function, call.data, call.with_status, {}};
  run_host(queue, op, runner);
  queue.complete_called(call);
  ++runner.operations;
  runner.after_host = true;
  runner.leave_host_function();
  return true;
}

void settle(Queue& queue, Runner& runner, Drain result) noexcept {
  switch (result) {
  case Drain::gone: return;
  case Drain::unpinned: {
    Drainer::mark_workers_only(queue);
    queue.release_for_unpinned();
    return;
  }
  case Drain::workers:
    Drainer::mark_workers_only(queue);
    queue.release();
    if (!runner.worker) Scheduler::get().ring();
    return;
  case Drain::reached:
  case Drain::empty:
  case Drain::close:
  case Drain::yielded: queue.release(); return;
  }
}

}  // namespace mr::engine
