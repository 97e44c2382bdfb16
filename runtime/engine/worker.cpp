#include <engine/worker.h>

#include <sched.h>

#include <utility>

#include <engine/clock.h>
#include <engine/drain.h>
#include <engine/explore.h>
#include <engine/futex.h>
#include <engine/graph_run.h>
#include <engine/scheduler.h>
#include <simt/protect.h>

namespace mr::engine {
namespace {

thread_local bool is_worker = false;

// Blocks that live on this worker, and the job each belongs to (a use of the job is held).
struct Entry {
  simt::Resident* resident;
  GridJob* job;
  std::uint64_t blocks;
  std::uint64_t lanes;
  std::uint64_t not_before_ns;
};

// A worker starts further blocks freely up to this many lanes, and this many blocks. Beyond it when all it has are
// stuck, or when none of them has ended for some rounds - a block that meets at its barrier while it waits for other
// blocks gets on, and nowhere -: then up to twice as many as it has.
constexpr std::uint64_t free_lanes = 2048;
constexpr std::size_t free_blocks = 16;
constexpr unsigned patient_rounds = 4;

class Worker {
 public:
  void run() noexcept {
    is_worker = true;
    runner_.worker = true;
    simt::protect::RuntimeScope access;
    Scheduler& scheduler = Scheduler::get();
    scheduler.idle(watch_, 0);
    for (;;) {
      bool progress = work_once(scheduler);
      if (!entries_.empty()) progress |= step_all();
      std::uint64_t rest = 0;
      if (progress) {
        fruitless_ = 0;
        fruitless_since_ = 0;
        if (watch_.queue) rest = rest_.due(runner_.operations);
      }
      if (!progress ? entries_.empty() : rest != 0) {
        const std::uint64_t until = scheduler.idle(watch_, rest);
        if (until) scheduler.pass_on();
        if (until && watch_.comes_with_function()) {
          runner_.in_host_function = true;  // as the search has counted
          run_watched(until);
          rest_.begin(runner_.operations);
        } else {
          rest_.begin(runner_.operations);
          if (until) run_watched(until);
        }
      } else if (!progress) {
        back_off();
      }
    }
  }

 private:
  // One ready queue's slice, or a share of one grid; the more urgent of the two, by turns among equals: a queue that
  // was left in the middle of a grid is among the grids, and as old as others.
  bool work_once(Scheduler& scheduler) noexcept {
    const unsigned urgent = scheduler.most_urgent();
    if (scheduler.jobs_hint() && (urgent != 0 || grids_turn_)) {
      const unsigned most = urgent >= priority_levels ? priority_levels - 1 : grids_turn_ ? urgent : urgent - 1;
      if (GridJob* job = scheduler.join(most, true)) {
        watch_.end();
        grids_turn_ = false;
        if (take_part(*job)) return true;
      }
    }
    Queue* queue = scheduler.pop(priority_levels - 1, runner_.residents != 0);
    if (!queue) return false;
    grids_turn_ = true;
    watch_.end();
    // More than one thing may be ready: pass the word on before starting on this one.
    scheduler.pass_on();
    if (queue->try_claim(true))
      run_queue(*queue);
    else if (entries_.empty())
      watch_.follow(*queue);  // a host thread that waits runs it, it seems
    return true;
  }

  // The queue is this worker's.
  void run_queue(Queue& queue) noexcept {
    const Drain result = drain(queue, runner_, everything);
    if ((result == Drain::empty || result == Drain::close) && entries_.empty())
      watch_.begin(queue, queue.completed());
    else
      settle(queue, runner_, result);
  }
  // The watched queue is this worker's; `until` is what the watch said.
  void run_watched(std::uint64_t until) noexcept {
    Queue& queue = *watch_.queue;
    const bool answers = std::exchange(watch_.answered, false);
    if (answers && watch_.call.sequence != 0 && run_called(queue, watch_.call, runner_)) {
      watch_.hold(queue, until);
      return;
    }
    for (;;) {
      const Drain result = drain(queue, runner_, until, answers ? until : 0);
      if (result != Drain::reached && result != Drain::empty) {
        watch_.queue = nullptr;
        if (result == Drain::gone) {
          // Whoever goes on with it may have left it to this worker already.
          queue.end_watch();
        } else {
          queue.forget_watcher();
          settle(queue, runner_, result);
        }
        return;
      }
      // Who called waits, and will write the tail's line next: it isn't looked at.
      if (answers) {
        if (runner_.after_host)
          watch_.hold(queue, until);
        else
          watch_.begin(queue, until);
        return;
      }
      // Much may have come meanwhile.
      const std::uint64_t tail = queue.tail();
      if (tail <= queue.completed() + 4 * Watch::lag) {
        watch_.begin(queue, tail);
        return;
      }
      until = tail - Watch::lag;
    }
  }

  // Joined a job (a use is held). False when there was nothing for this worker to do in it.
  bool take_part(GridJob& job) noexcept {
    if (!job.resident) {
      Scheduler::get().pass_on_beside(job);
      runner_.slice_begin = ticks();
      if (run_share(job, runner_) == Share::finished) finish(job);
      return true;
    }
    const bool taken = start_residents(job);
    job.leave();
    finish_pending();
    return taken;
  }

  bool start_residents(GridJob& job) noexcept {
    if (entries_.empty()) {
      lanes_wanted_ = free_lanes;
      blocks_wanted_ = free_blocks;
    } else if (fruitless_ >= patient_rounds || rounds_ >= patient_rounds) {
      lanes_wanted_ = 2 * lanes_;
      blocks_wanted_ = 2 * entries_.size();
    }
    if (lanes_ >= lanes_wanted_) return false;
    rounds_ = 0;
    if (runner_.residents == 0) Scheduler::get().pass_on();
    const simt::Grid& grid = *job.grid;
    const std::uint64_t lanes_per_block = std::uint64_t{grid.block[0]} * grid.block[1] * grid.block[2];
    const std::uint64_t unit = grid.cluster ? std::uint64_t{grid.cluster[0]} * grid.cluster[1] * grid.cluster[2] : 1;
    bool taken = false;
    do {
      std::uint64_t first;
      const std::uint64_t count = job.claim(unit, first);
      if (!job.wants_more()) Scheduler::get().withdraw(job);
      if (count == 0) break;
      job.users.fetch_add(1, std::memory_order_relaxed);  // this thread's own use keeps the job alive meanwhile
      taken = true;
      simt::Resident* resident = nullptr;
      if (!job.failed.load(std::memory_order_relaxed)) {
        resident = simt::start(grid, first, count);
        if (!resident) job.record_fault(simt::Fault::stack_error);
      }
      if (!resident) {
        blocks_ended(job, count);
        break;
      }
      entries_.push_back(Entry{resident, &job, count, lanes_per_block * count, 0});
      if ((grid.flags & simt::grid_tells_begin) != 0 &&
          job.begun.fetch_add(count, std::memory_order_relaxed) + count == job.total) {
        Domain& domain = *job.queue.domain();
        if (domain.on_begun) domain.on_begun(domain, grid);
      }
      lanes_ += lanes_per_block * count;
      runner_.residents = static_cast<unsigned>(entries_.size());
    } while (lanes_ < lanes_wanted_ && entries_.size() < blocks_wanted_);
    return taken;
  }

  // `count` blocks ended; gives back the use that their entry held, and finishes the job if they were the last.
  void blocks_ended(GridJob& job, std::uint64_t count) noexcept {
    if (job.ended(count))
      finish(job);
    else
      job.leave();
  }

  // Holding a use, after the last block: completes the grid's operation and lets the queue go on.
  void finish(GridJob& job) noexcept {
    // A worker that has just joined may be between claim and leave; it leaves within a few instructions, unless it is
    // this very thread.
    if (job.resident) {
      finishing_ = &job;
    } else {
      job.close();
      job.queue.finish_asynchronous();
    }
  }

  bool step_all() noexcept {
    bool progress = false;
    ++rounds_;
    const std::uint64_t now = now_ns();
    for (std::size_t i = 0; i < entries_.size();) {
      Entry& entry = entries_[i];
      if (entry.not_before_ns > now && !entry.job->queue.domain()->dead()) {
        ++i;
        continue;
      }
      const simt::StepResult result = [&] {
        const ImageScope scope(entry.job->queue.image());
        return simt::step(entry.resident, entries_.size() == 1);
      }();
      if (result.step == simt::Step::yielded) {
        progress |= result.progress;
        entry.not_before_ns = result.not_before_ns;
        ++i;
        continue;
      }
      progress = true;
      rounds_ = 0;
      if (result.step == simt::Step::faulted) entry.job->record_fault(result.fault);
      const Entry ended = entry;
      entries_[i] = entries_.back();
      entries_.pop_back();
      lanes_ -= ended.lanes;
      runner_.residents = static_cast<unsigned>(entries_.size());
      blocks_ended(*ended.job, ended.blocks);
      finish_pending();
    }
    finish_pending();
    return progress;
  }

  void finish_pending() noexcept {
    GridJob* job = finishing_;
    if (!job) return;
    finishing_ = nullptr;
    job->close();
    simt::grid_close(*job->grid);
    job->queue.finish_asynchronous();
  }

  // All residents wait for something, and nothing is ready. First stay hot, then be polite, then sleep briefly: what
  // they wait for may be a host thread that needs this processor.
  void back_off() noexcept {
    ++fruitless_;
    const std::uint64_t now = ticks();
    if (fruitless_since_ == 0) fruitless_since_ = now;
    const std::uint64_t waited = now - fruitless_since_;
    if (waited < 20 * ticks_per_us) {
      cpu_pause();
    } else if (waited < 1000 * ticks_per_us) {
      sched_yield();
    } else {
      std::atomic<std::uint32_t> nothing{0};
      futex_wait(nothing, 0, 50'000);
    }
  }

  Runner runner_;
  Watch watch_;
  Rest rest_;
  std::vector<Entry> entries_;
  bool grids_turn_ = false;
  std::uint64_t lanes_ = 0;
  std::uint64_t lanes_wanted_ = free_lanes;
  std::size_t blocks_wanted_ = free_blocks;
  unsigned rounds_ = 0;                // since residents began or ended
  unsigned fruitless_ = 0;             // rounds without progress
  std::uint64_t fruitless_since_ = 0;  // ticks
  GridJob* finishing_ = nullptr;
};

}  // namespace

void* worker_main(void*) {
  static thread_local Worker worker;
  worker.run();
  return nullptr;
}

bool on_worker_thread() noexcept { return is_worker; }
void become_worker() noexcept { is_worker = true; }

void Runner::leave_host_function() noexcept {
  in_host_function = false;
  Scheduler::get().leave_host_function();
}

bool Runner::should_yield(unsigned level) noexcept {
  Scheduler& scheduler = Scheduler::get();
  const unsigned urgent = scheduler.most_urgent();
  if (urgent < level) return true;
  if (urgent >= priority_levels && residents == 0) return false;
  // Others of the same urgency are ready, or residents live here: they get their turn after a slice.
  constexpr std::uint64_t slice = 100 * ticks_per_us;
  return (residents != 0 || (urgent == level && scheduler.saturated())) && ticks() - slice_begin > slice;
}

}  // namespace mr::engine
