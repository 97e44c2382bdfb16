#include <engine/wait.h>

#include <sched.h>

#include <algorithm>
#include <utility>

#include <engine/clock.h>
#include <engine/drain.h>
#include <engine/futex.h>
#include <engine/scheduler.h>
#include <observe/explorer.h>
#include <simt/protect.h>

namespace mr::engine {

namespace {

void run_owned(Queue& queue, std::uint64_t until, Runner& runner) noexcept {
  simt::protect::RuntimeScope access;
  const Drain result = drain(queue, runner, until);
  if (result != Drain::gone) settle(queue, runner, result);
}

}  // namespace

class Waiting {
 public:
  // Does something for (queue, sequence) if it can. True if it executed anything.
  static bool help(Queue& queue, std::uint64_t sequence, Runner& runner) noexcept {
    Queue* q = &queue;
    std::uint64_t until = sequence;
    for (int steps = 0; steps < 64; ++steps) {
      if (q->is_for_watcher(until)) {
        q->calls().call(until);
        runner.called = true;
        return false;
      }
      if (q->try_claim(false)) {
        const std::uint64_t before = q->completed();
        run_owned(*q, until, runner);
        return q->completed() != before;
      }
      switch (q->state_.load(std::memory_order_acquire)) {
      case QueueState::parked: {
        // Hints: the queue may have moved on; helping something that is enqueued anyway is harmless.
        Queue* on = q->blocked_on_.load(std::memory_order_relaxed);
        const std::uint64_t sequence_on = q->blocked_until_.load(std::memory_order_relaxed);
        if (!on || on->completed() >= sequence_on) return false;
        q = on;
        until = sequence_on;
        continue;
      }
      case QueueState::asynchronous: return share(*q, runner);
      default: return false;
      }
    }
    return false;
  }

 private:
  // Joins the finite grid that is spread over threads at the queue's front, if there is one.
  static bool share(Queue& queue, Runner& runner) noexcept {
    Scheduler& scheduler = Scheduler::get();
    if (scheduler.jobs_hint() == 0) return false;
    GridJob* job = scheduler.join_this(*queue.job);
    if (!job) return false;
    if (run_share(*job, runner) == Share::finished) job->queue.finish_asynchronous();
    return true;
  }
};

namespace {

constexpr std::uint64_t spin_us = 10;                                // without anything happening
constexpr std::uint64_t spin_all_us = 100;                           // while a worker gets on with the queue
constexpr std::uint64_t ticks_an_operation = 32, most_ticks = 1600;  // between two looks, at least
constexpr unsigned answer_looks = 64;                                // at `completed` alone, after a call

// Looking takes the line of `completed` away from the worker that counts there: the less often, the more is left to do.
void pause_for(std::uint64_t left) noexcept {
  cpu_pause();
  if (left > 1) CallLine::pause_until(ticks() + std::min(left * ticks_an_operation, most_ticks));
}

// True when the operation has completed.
bool call_with_function(Queue& queue, const HostCall& call) noexcept {
  if (!queue.call(call)) return false;
  CallLine::pause_until(ticks() + CallLine::answer_ticks);
  for (unsigned i = 0; i < answer_looks; ++i) {
    if (queue.calls().answered() >= call.sequence) return true;
    cpu_pause();
  }
  return false;
}

std::atomic<std::uint32_t>& thread_word() noexcept {
  thread_local std::atomic<std::uint32_t> word{0};
  return word;
}

}  // namespace

constinit thread_local NewestHostCall newest_host_call;

void wait_pending(Queue& queue, std::uint64_t sequence, WaitMode mode) noexcept {
  if (observe::explorer) [[unlikely]]
    return observe::explorer->wait(&queue, sequence);
  if (newest_host_call.queue == &queue && newest_host_call.call.sequence == sequence) {
    const NewestHostCall newest = std::exchange(newest_host_call, {});
    if (newest.count == 1 && call_with_function(queue, newest.call)) return;
  }
  Runner runner;
  std::uint64_t idle_since = 0, begin = 0, seen = 0;
  for (;;) {
    if (queue.completed() >= sequence) return;
    if (Waiting::help(queue, sequence, runner)) {
      idle_since = begin = 0;
      continue;
    }
    // The worker takes the line that the call went through, and writes there again at the end.
    if (std::exchange(runner.called, false)) {
      for (unsigned i = 0; i < answer_looks; ++i) {
        const std::uint64_t done = queue.completed();
        if (done >= sequence) break;
        pause_for(sequence - done);
      }
      queue.expect_append();
    }
    const std::uint64_t done = queue.completed();
    if (done >= sequence) return;
    const std::uint64_t now = ticks();
    if (begin == 0) begin = now;
    if (idle_since == 0 || done != seen) {
      idle_since = now;
      seen = done;
    }
    if (mode == WaitMode::spin || (mode != WaitMode::block && now - idle_since < spin_us * ticks_per_us &&
                                   now - begin < spin_all_us * ticks_per_us)) {
      pause_for(sequence - done);
      continue;
    }
    if (mode == WaitMode::yield) {
      sched_yield();
      continue;
    }
    std::atomic<std::uint32_t>& word = thread_word();
    word.store(0, std::memory_order_relaxed);
    Waiter waiter;
    waiter.sequence = sequence;
    waiter.word = &word;
    if (!queue.add_waiter(waiter)) return;
    // Work that appears meanwhile is the workers' (they were rung or woken when it was listed).
    while (word.load(std::memory_order_acquire) == 0) futex_wait(word, 0);
    return;
  }
}

void wait_as_owner(Queue& queue, std::uint64_t sequence, WaitMode mode) noexcept {
  Runner runner;
  run_owned(queue, sequence, runner);
  wait(queue, sequence, mode);
}

}  // namespace mr::engine
