#include <engine/grid_job.h>

#include <engine/clock.h>
#include <engine/graph_run.h>
#include <engine/queue.h>
#include <engine/scheduler.h>
#include <engine/worker.h>
#include <simt/protect.h>

namespace mr::engine {
namespace {
// A slice of blocks is sized to take about this long, so that urgent work is not kept waiting and threads end together.
constexpr std::uint64_t short_slice = 20 * ticks_per_us;
// In programs without urgent work a slice is about what other work of the same level waits for anyway
// (Runner::should_yield). Where a slice begins, caches know nothing of what it reads, and what entries collect (results
// of the whole grid) is added up: some microseconds.
constexpr std::uint64_t long_slice = 106 * ticks_per_us;
}  // namespace

void GridJob::open(std::uint64_t blocks) noexcept {
  total = blocks;
  next.store(0, std::memory_order_relaxed);
  begun.store(0, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  failed.store(false, std::memory_order_relaxed);
  users.store(1, std::memory_order_relaxed);
}

void GridJob::open(simt::Grid& g, bool as_resident) noexcept {
  grid = &g;
  moving = nullptr;
  resident = as_resident;
  open(g.total_blocks);
}

void GridJob::open(const Op& op, std::uint64_t parts) noexcept {
  grid = nullptr;
  moving = &op;
  resident = false;
  open(parts);
}

void GridJob::run(std::uint64_t first, std::uint64_t count) noexcept {
  if (grid) {
    if (!failed.load(std::memory_order_relaxed)) record_fault(simt::run_blocks(*grid, first, count));
    return;
  }
  if (queue.domain()->dead()) return;
  const simt::protect::RuntimeScope access;
  switch (moving->kind) {
  case OpKind::copy: memory::run(static_cast<const CopyOp*>(moving)->copy, first, count); break;
  case OpKind::copy_box: memory::run(static_cast<const CopyBoxOp*>(moving)->copy, first, count); break;
  default: memory::run(static_cast<const FillOp*>(moving)->fill, first, count); break;
  }
}

bool GridJob::worth_sharing() const noexcept {
  const std::uint64_t claimed = next.load(std::memory_order_relaxed);
  return claimed < total && (resident || (total - claimed) * block_ticks > short_slice / 2);
}

std::uint64_t GridJob::claim(std::uint64_t count, std::uint64_t& first) noexcept {
  first = next.fetch_add(count, std::memory_order_relaxed);
  if (first >= total) return 0;
  return count < total - first ? count : total - first;
}

void GridJob::record_fault(simt::Fault fault) noexcept {
  if (fault == simt::Fault::none || failed.exchange(true, std::memory_order_relaxed)) return;
  Domain* domain = queue.domain();
  if (fault != simt::Fault::interrupted && domain->on_fault) domain->on_fault(*domain, fault, *grid);
}

void GridJob::close() noexcept {
  Scheduler::get().withdraw(*this);
  while (users.load(std::memory_order_acquire) != 1) cpu_pause();
}

Share run_share(GridJob& job, Runner& runner) noexcept {
  // What the first blocks cost is no measure of the rest: caches are cold, and the clock itself takes as long as some
  // blocks. Asking others too early makes a grid of microseconds several times longer, the more so the more they are.
  constexpr std::uint64_t trusted_ticks = 2 * ticks_per_us;
  Scheduler& scheduler = Scheduler::get();
  const ImageScope scope(job.queue.image());
  const bool shared = job.published;
  std::uint64_t count = 1, spent_so_far = 0;
  for (;;) {
    std::uint64_t first;
    const std::uint64_t got = job.claim(count, first);
    if (got == 0) break;
    // Nobody else needs to look at it while the last blocks run.
    if (first + got == job.total && job.published) scheduler.withdraw(job);
    const std::uint64_t begin = ticks();
    job.run(first, got);
    const std::uint64_t spent = ticks() - begin + 1;
    spent_so_far += spent;
    if (job.ended(got)) {
      job.close();
      return Share::finished;
    }
    const std::uint64_t left = job.total - (first + got);
    if (left == 0) break;
    std::uint64_t fair = left / (2 * scheduler.target());
    std::uint64_t slice = got * (scheduler.had_urgent() ? short_slice : long_slice) / spent;
    if (slice > count * 16) slice = count * 16;  // the first blocks may be cheaper than the rest
    count = slice < fair ? slice : fair;
    if (count == 0) count = 1;
    if (!shared && !job.published && spent_so_far > trusted_ticks && left * spent / got > short_slice / 2)
      scheduler.publish(job, spent / got);
    if (runner.worker && runner.should_yield(job.queue.level())) {
      if (job.published)
        scheduler.move_back(job);
      else
        scheduler.publish(job, spent / got);
      break;
    }
  }
  job.leave();
  return Share::left;
}

}  // namespace mr::engine
