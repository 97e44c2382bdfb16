#include <engine/scheduler.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include <engine/chunk.h>
#include <engine/clock.h>
#include <engine/explore.h>
#include <engine/futex.h>
#include <engine/grid_job.h>
#include <engine/worker.h>
#include <observe/explorer.h>

namespace mr::engine {
namespace {

constexpr std::uint64_t one_thread = 1, one_sleeping = 1ull << 16, one_searching = 1ull << 32, one_in_host = 1ull << 48;
constexpr unsigned threads_of(std::uint64_t c) { return c & 0xffff; }
constexpr unsigned sleeping_of(std::uint64_t c) { return c >> 16 & 0xffff; }
constexpr unsigned searching_of(std::uint64_t c) { return c >> 32 & 0xffff; }
constexpr unsigned in_host_of(std::uint64_t c) { return c >> 48; }
// Workers that are awake and not inside a host function.
constexpr int running_of(std::uint64_t c) {
  return static_cast<int>(threads_of(c)) - static_cast<int>(sleeping_of(c)) - static_cast<int>(in_host_of(c));
}

constexpr std::uint64_t search_us = 60;  // how long an idle worker searches before it sleeps
constexpr std::uint64_t poll_us = 2;     // how often it looks at the lists meanwhile (the bell it sees at once)

unsigned hardware_threads() {
  if (const char* text = std::getenv("MILLRACE_WORKERS")) {
    const long n = std::strtol(text, nullptr, 10);
    if (n >= 1 && n <= 1024) return static_cast<unsigned>(n);
    std::fprintf(
        stderr, "millrace: MILLRACE_WORKERS=%s is not a number from 1 to 1024; using one worker per processor\n", text);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    const int n = CPU_COUNT(&set);
    if (n > 0) return static_cast<unsigned>(n);
  }
  return 2;
}

}  // namespace

Scheduler& Scheduler::get() {
  static Scheduler* const instance = new Scheduler;
  return *instance;
}

Scheduler::Scheduler() {
  target_ = hardware_threads();
  shards_ = std::bit_ceil(target_ < max_shards ? target_ : max_shards);
}

void Scheduler::push(Shard& shard, Queue& queue) noexcept {
  const unsigned level = queue.level();
  shard.lock.lock();
  queue.next_ready_ = nullptr;
  if (shard.tail[level])
    shard.tail[level]->next_ready_ = &queue;
  else
    shard.head[level] = &queue;
  shard.tail[level] = &queue;
  if (level < priority_levels - 1) [[unlikely]] {
    urgent_.fetch_add(1, std::memory_order_relaxed);
    had_urgent_.store(true, std::memory_order_relaxed);
  }
  // seq_cst: listing before looking at the counts (wake_if_needed) and before a sleeper's last look.
  shard.mask.fetch_or(1u << level, std::memory_order_seq_cst);
  shard.lock.unlock();
}

Queue* Scheduler::pop_from(Shard& shard, unsigned level) noexcept {
  std::scoped_lock hold(shard.lock);
  Queue* queue = shard.head[level];
  if (!queue) return nullptr;
  shard.head[level] = queue->next_ready_;
  if (level < priority_levels - 1) [[unlikely]]
    urgent_.fetch_sub(1, std::memory_order_relaxed);
  if (!shard.head[level]) {
    shard.tail[level] = nullptr;
    shard.mask.fetch_and(~(1u << level), std::memory_order_relaxed);
  }
  // seq_cst: between taking it off the list and claiming it / looking at its tail.
  queue->listed_.exchange(false, std::memory_order_seq_cst);
  MR_DELAY();
  return queue;
}

void Scheduler::list(Queue& queue) noexcept {
  if (queue.listed_.exchange(true, std::memory_order_seq_cst)) return;
  if (observe::explorer) [[unlikely]]
    return explored_ready(queue);
  MR_DELAY();
  push(shard_[(reinterpret_cast<std::uintptr_t>(&queue) >> 9) & (shards_ - 1)], queue);
  wake_if_needed();
}

void Scheduler::list_for_unpinned(Queue& queue) noexcept {
  if (queue.listed_.exchange(true, std::memory_order_seq_cst)) return;
  push(unpinned_, queue);
  wake_slowly(true);
}

unsigned Scheduler::most_urgent() const noexcept {
  std::uint32_t all = 0;
  for (unsigned i = 0; i < shards_; ++i) all |= shard_[i].mask.load(std::memory_order_relaxed);
  return all ? static_cast<unsigned>(std::countr_zero(all)) : priority_levels;
}

Queue* Scheduler::pop(unsigned max_level, bool pinned) noexcept {
  if (!pinned && unpinned_.mask.load(std::memory_order_relaxed)) {
    for (unsigned level = 0; level < priority_levels; ++level)
      if (Queue* queue = pop_from(unpinned_, level)) return queue;
  }
  thread_local unsigned start = 0;
  for (;;) {
    const unsigned level = most_urgent();
    if (level > max_level || level >= priority_levels) return nullptr;
    bool found_bit = false;
    for (unsigned i = 0; i < shards_; ++i) {
      Shard& shard = shard_[(start + i) & (shards_ - 1)];
      if (!(shard.mask.load(std::memory_order_relaxed) & 1u << level)) continue;
      found_bit = true;
      if (Queue* queue = pop_from(shard, level)) {
        ++start;
        return queue;
      }
    }
    if (!found_bit) return nullptr;
  }
}

bool Scheduler::has_queues() const noexcept {
  if (unpinned_.mask.load(std::memory_order_seq_cst)) return true;
  for (unsigned i = 0; i < shards_; ++i)
    if (shard_[i].mask.load(std::memory_order_seq_cst)) return true;
  return false;
}

bool Scheduler::has_ready() const noexcept { return has_queues() || jobs_.load(std::memory_order_seq_cst) != 0; }

void Scheduler::pass_on_beside(const GridJob& job) noexcept {
  if (has_queues() || jobs_hint() > 1 || job.worth_sharing()) pass_on();
}

bool Scheduler::saturated() const noexcept {
  const std::uint64_t c = counts_.load(std::memory_order_relaxed);
  return searching_of(c) == 0 && running_of(c) >= static_cast<int>(target_);
}

void Scheduler::wake_if_needed() noexcept {
  MR_DELAY();
  const std::uint64_t c = counts_.load(std::memory_order_seq_cst);
  if (searching_of(c) != 0 || running_of(c) >= static_cast<int>(target_)) return;
  wake_slowly(false);
}

void Scheduler::wake_slowly(bool for_unpinned) noexcept {
  std::uint64_t c = counts_.load(std::memory_order_seq_cst);
  for (;;) {
    if (searching_of(c) != 0) return;
    if (!for_unpinned && running_of(c) >= static_cast<int>(target_)) return;
    if (sleeping_of(c)) {
      if (counts_.compare_exchange_weak(c, c - one_sleeping + one_searching, std::memory_order_seq_cst)) {
        tokens_.fetch_add(1, std::memory_order_release);
        futex_wake(tokens_);
        return;
      }
    } else {
      if (threads_of(c) >= max_threads) return;
      if (counts_.compare_exchange_weak(c, c + one_thread + one_searching, std::memory_order_seq_cst)) {
        start_thread();
        return;
      }
    }
  }
}

void Scheduler::start_thread() noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The program's signals are for the program's threads; faults of kernels are synchronous and can't be blocked, and
  // one of the others here interrupts kernels (simt/fault.cpp).
  sigset_t all, before;
  sigfillset(&all);
  for (int needed : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG}) sigdelset(&all, needed);
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) sigdelset(&all, number);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, worker_main, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error) {
    counts_.fetch_sub(one_thread + one_searching, std::memory_order_seq_cst);
    if (threads() == 0) {
      std::fprintf(stderr,
                   "millrace: no worker thread could be started (error %d); raise the limit on threads (ulimit -u)\n",
                   error);
      std::abort();
    }
  }
}

void Scheduler::enter_host_function() noexcept {
  counts_.fetch_add(one_in_host, std::memory_order_seq_cst);
  if (has_ready()) wake_if_needed();
}
void Scheduler::leave_host_function() noexcept { counts_.fetch_sub(one_in_host, std::memory_order_seq_cst); }

namespace {
// Work that is left in the watched queue: when somebody has just given it up, or it is time to look at its end.
std::uint64_t claim_watched(Watch& watch, bool rung) noexcept {
  Queue& queue = *watch.queue;
  if (watch.called())
    if (const std::uint64_t until = watch.answer()) return until;
  watch.let_go();
  const QueueState state = queue.state();
  // While the state's line is on its way, a processor that guesses `watched` reads the tail for look(), and thereby
  // takes its line away from the enqueuer, whoever has the queue: it is not to guess.
  _mm_lfence();
  switch (state) {
  case QueueState::watched:
    if (const std::uint64_t until = watch.look(rung); until != 0 && queue.try_claim(true)) return until;
    return 0;
  case QueueState::idle:
    if (queue.has_work() && queue.try_claim(true)) return queue.tail();
    return 0;
  default: watch.look_from_afar(); return 0;
  }
}
}  // namespace

// The calling worker counts as searching when it is called the first time (its starter counted it).
std::uint64_t Scheduler::idle(Watch& watch, std::uint64_t rest) noexcept {
  thread_local bool searching = true;
  // What this worker last saw of the bell. Kept while it works: who rang since then may have found a queue that this
  // worker had already seen the end of, and is waiting.
  thread_local std::uint32_t bell = bell_.load(std::memory_order_relaxed);
  if (!searching) {
    std::uint64_t c = counts_.load(std::memory_order_seq_cst);
    while (searching_of(c) == 0 && running_of(c) <= static_cast<int>(target_)) {
      if (counts_.compare_exchange_weak(c, c + one_searching, std::memory_order_seq_cst)) {
        searching = true;
        break;
      }
    }
  }
  for (;;) {
    std::uint64_t begin = ticks();
    std::uint64_t next_watch = begin + watch.interval();
    if (watch.held) CallLine::pause_until(begin + CallLine::next_call_ticks);
    if (!searching && watch.queue) {
      // Another worker searches; the bell may be for this one all the same.
      bool rung;
      do {
        cpu_pause();
        const std::uint32_t now = bell_.load(std::memory_order_acquire);
        rung = std::exchange(bell, now) != now;
      } while (!rung && !watch.called() && ticks() < next_watch);
      if (const std::uint64_t until = claim_watched(watch, rung)) {
        if (watch.comes_with_function()) counts_.fetch_add(one_in_host, std::memory_order_seq_cst);
        return until;
      }
    }
    if (searching) {
      bool found = false;
      const bool resting = rest != 0;  // from what is listed, not from grids that others have spread
      std::uint64_t next_poll = begin + std::exchange(rest, 0);
      // Out of the search, and into the host function that it has been called with, if so.
      const auto found_watched = [&](std::uint64_t until) {
        searching = false;
        counts_.fetch_add((watch.comes_with_function() ? one_in_host : 0) - one_searching, std::memory_order_seq_cst);
        return until;
      };
      for (;;) {
        // Who has called waits: before anything else.
        if (watch.queue && watch.called())
          if (const std::uint64_t until = claim_watched(watch, false)) return found_watched(until);
        const std::uint64_t now = ticks();
        const std::uint32_t newest = bell_.load(std::memory_order_acquire);
        const bool rung = std::exchange(bell, newest) != newest;
        if (watch.queue && (now >= next_watch || rung)) {
          if (const std::uint64_t until = claim_watched(watch, rung)) return found_watched(until);
          next_watch = now + watch.interval();
          // Host threads are at work, which may run all themselves and have the queue whenever it is looked at. Falling
          // asleep beside them costs the next one a wake (10 us of the enqueuer's time).
          if (watch.moved) begin = now;
        }
        if (now >= next_poll || rung || (resting && jobs_hint())) {
          if (has_ready()) {
            found = true;
            break;
          }
          if (now - begin > search_us * ticks_per_us) break;
          next_poll = now + poll_us * ticks_per_us;
        }
        for (int i = 0; i < 4 && !(watch.queue && watch.called()); ++i) cpu_pause();
      }
      if (found) {
        searching = false;
        counts_.fetch_sub(one_searching, std::memory_order_seq_cst);
        return 0;  // the worker calls wake_if_needed when more than one thing was ready
      }
      watch.end();
      counts_.fetch_add(one_sleeping - one_searching, std::memory_order_seq_cst);
      searching = false;
    } else {
      watch.end();
      counts_.fetch_add(one_sleeping, std::memory_order_seq_cst);
    }
    MR_DELAY();
    // Counted as asleep. A last look: who listed work before it saw us asleep relied on us (or on another searcher). As
    // for wakers, what is listed for workers without residents counts however many run: all of them may have some.
    if (has_ready()) {
      const bool for_unpinned = unpinned_.mask.load(std::memory_order_seq_cst) != 0;
      std::uint64_t c = counts_.load(std::memory_order_seq_cst);
      bool back = false;
      while (sleeping_of(c) != 0 && searching_of(c) == 0 &&
             (for_unpinned || running_of(c) < static_cast<int>(target_))) {
        if (counts_.compare_exchange_weak(c, c - one_sleeping + one_searching, std::memory_order_seq_cst)) {
          back = true;
          break;
        }
      }
      if (back) {
        searching = true;
        continue;
      }
    }
    for (;;) {
      std::uint32_t tokens = tokens_.load(std::memory_order_relaxed);
      if (tokens == 0) {
        if (!trim_chunks()) futex_wait(tokens_, 0);
      } else if (tokens_.compare_exchange_weak(tokens, tokens - 1, std::memory_order_acquire)) {
        break;
      }
    }
    searching = true;  // the waker counted us as searching
  }
}

void Scheduler::publish(GridJob& job, std::uint64_t block_ticks) noexcept {
  {
    std::scoped_lock hold(jobs_lock_);
    // Somebody else may have published it meanwhile, and others may have taken the rest, finished and withdrawn it: a
    // job that is published without blocks would stay so, and be opened again while it is. Blocks that nobody has
    // claimed keep it from being finished.
    if (job.published || !job.wants_more()) return;
    job.block_ticks = block_ticks;
    append(job);
    job.published = true;
    jobs_.fetch_add(1, std::memory_order_seq_cst);
  }
  ring();
}

void Scheduler::append(GridJob& job) noexcept {
  job.next_job = nullptr;
  *last_link_ = &job;
  last_link_ = &job.next_job;
}

void Scheduler::remove(GridJob& job) noexcept {
  for (GridJob** link = &first_job_; *link; link = &(*link)->next_job) {
    if (*link != &job) continue;
    *link = job.next_job;
    if (last_link_ == &job.next_job) last_link_ = link;
    break;
  }
}

void Scheduler::move_back(GridJob& job) noexcept {
  std::scoped_lock hold(jobs_lock_);
  if (!job.published || last_link_ == &job.next_job) return;
  remove(job);
  append(job);
}

void Scheduler::withdraw(GridJob& job) noexcept {
  std::scoped_lock hold(jobs_lock_);
  if (!job.published) return;
  remove(job);
  job.published = false;
  jobs_.fetch_sub(1, std::memory_order_seq_cst);
}

GridJob* Scheduler::join(unsigned max_level, bool worker) noexcept {
  if (jobs_.load(std::memory_order_relaxed) == 0) return nullptr;
  std::scoped_lock hold(jobs_lock_);
  GridJob* best = nullptr;
  for (GridJob* job = first_job_; job; job = job->next_job) {
    if (job->resident && !worker) continue;
    if (!job->wants_more()) continue;
    const unsigned level = job->queue.level();
    if (level > max_level) continue;
    if (!best || level < best->queue.level()) best = job;
  }
  if (best) best->users.fetch_add(1, std::memory_order_relaxed);
  return best;
}

GridJob* Scheduler::join_this(GridJob& job) noexcept {
  std::scoped_lock hold(jobs_lock_);
  if (!job.published || job.resident || !job.wants_more()) return nullptr;
  job.users.fetch_add(1, std::memory_order_relaxed);
  return &job;
}

void Scheduler::after_fork() noexcept {
  counts_.store(0, std::memory_order_relaxed);
  tokens_.store(0, std::memory_order_relaxed);
}

}  // namespace mr::engine
