// Residents: blocks made ready, stepped, and taken down.
#include <simt/resident.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <new>

#include <simt/clock.h>
#include <simt/misuse.h>
#include <simt/protect.h>

namespace mr::simt {

void prepare_block(Resident& r, Block& b, std::uint64_t linear) noexcept {
  const Grid& g = r.grid;
  MrBlock& a = *b.abi;
  b.linear = linear;
  if (g.grid[1] == 1 && g.grid[2] == 1) {
    a.block_idx[0] = static_cast<std::uint32_t>(linear);
    a.block_idx[1] = a.block_idx[2] = 0;
  } else {
    a.block_idx[0] = static_cast<std::uint32_t>(linear % g.grid[0]);
    const std::uint64_t rows = linear / g.grid[0];
    a.block_idx[1] = static_cast<std::uint32_t>(rows % g.grid[1]);
    a.block_idx[2] = static_cast<std::uint32_t>(rows / g.grid[1]);
  }
  const std::uint32_t threads = a.threads;
  b.live = threads;
  b.arrived = 0;
  b.count = b.any = 0;
  b.all = 1;
  b.grid_arrived = 0;
  b.pdl_triggered = false;
  for (NamedBarrier& n : b.named) n = {};
  for (std::uint32_t i = 0; i < b.warp_count; ++i) {
    Warp& w = b.warps[i];
    const std::uint32_t lanes = threads - i * MR_WARP >= MR_WARP ? ~0u : (1u << (threads - i * MR_WARP)) - 1;
    std::memset(static_cast<void*>(&w), 0, offsetof(Warp, context));
    w.ready = w.live = lanes;
    w.index = i;
    w.block = &b;
  }
  b.ready_warps = b.warp_count == 32 ? ~0u : (1u << b.warp_count) - 1;
  r.ready_blocks[b.index / 64] |= std::uint64_t{1} << b.index % 64;
}

bool shape(Resident& r, const Grid& g, std::uint32_t count) noexcept {
  r.grid = g;
  const std::uint32_t threads = g.block[0] * g.block[1] * g.block[2], warps = (threads + MR_WARP - 1) / MR_WARP;
  if (count > r.block_capacity) {
    Block* blocks = new (std::nothrow) Block[count]{};
    std::uint64_t* words = new (std::nothrow) std::uint64_t[(count + 63) / 64]{};
    if (!blocks || !words) {
      delete[] blocks;
      delete[] words;
      return false;
    }
    for (std::uint32_t i = 0; i < r.block_capacity; ++i) blocks[i] = r.blocks[i];
    delete[] r.blocks;
    delete[] r.ready_blocks;
    r.blocks = blocks;
    r.ready_blocks = words;
    r.block_capacity = count;
  }
  r.block_count = count;
  r.ready_words = (count + 63) / 64;
  for (std::uint32_t i = 0; i < r.ready_words; ++i) r.ready_blocks[i] = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Block& b = r.blocks[i];
    if (warps > b.warp_capacity) {
      ::operator delete(b.warps, std::align_val_t{alignof(Warp)});
      b.warp_capacity = 0;
      b.warps = static_cast<Warp*>(::operator new(warps * sizeof(Warp), std::align_val_t{alignof(Warp)}, std::nothrow));
      if (!b.warps) return false;
      b.warp_capacity = warps;
    }
    if (!b.window && !(b.window = take_window())) return false;
    b.index = i;
    b.warp_count = warps;
    b.resident = &r;
    b.cluster = nullptr;
    b.cluster_rank = 0;
    b.checked = (g.kernel->flags & MR_KERNEL_SITES) != 0;
    b.abi = b.window->block();
    MrBlock& a = *b.abi;
    a = MrBlock{};
    for (int d = 0; d < 3; ++d) {
      a.grid_dim[d] = g.grid[d];
      a.block_dim[d] = g.block[d];
      a.cluster_dim[d] = g.cluster ? g.cluster[d] : 1;
    }
    a.threads = threads;
    a.static_shared = g.kernel->static_shared;
    a.dynamic_offset = (g.kernel->static_shared + 15) & ~15u;
    a.dynamic_shared = g.dynamic_shared;
    a.shared = b.window->shared(std::uint64_t{a.dynamic_offset} + g.dynamic_shared);
    a.grid_id = g.grid_id;
    a.together = 1;
    a.args = protect::active() ? protect::readable_arguments(*b.window, g) : g.args;
    a.runtime = &b;
  }
  r.live_blocks = count;
  r.sleepers = r.grid_waiting = 0;
  r.cluster_count = 0;
  r.progress = false;
  return true;
}

void reclaim_stacks(Executor* e, Resident& r) noexcept {
  for (std::uint32_t i = 0; i < r.block_count; ++i)
    for (std::uint32_t k = 0; k < r.blocks[i].warp_count; ++k) {
      Warp& w = r.blocks[i].warps[k];
      for (std::uint32_t lanes = w.started; lanes; lanes &= lanes - 1) {
        const StackId id = w.stack[std::countr_zero(lanes)];
        StackPool::instance().reset(id);
        e->stacks.give(id);
      }
      w.started = 0;
    }
}

Resident* new_resident(Executor* e) noexcept {
  Resident* r = new (std::nothrow) Resident;
  if (r) r->executor = e;
  return r;
}

bool wake_pollers(Resident& r, bool all_sleepers, std::uint64_t now) noexcept {
  std::uint32_t any = 0;
  for (std::uint32_t i = 0; i < r.block_count; ++i) {
    Block& b = r.blocks[i];
    if (!b.live) continue;
    for (std::uint32_t k = 0; k < b.warp_count; ++k) {
      Warp& w = b.warps[k];
      std::uint32_t lanes = w.polled;
      w.polled = 0;
      for (std::uint32_t s = w.sleeping; s; s &= s - 1) {
        const unsigned lane = static_cast<unsigned>(std::countr_zero(s));
        if (!all_sleepers && w.value[lane] > now) continue;
        w.sleeping &= ~(1u << lane);
        --r.sleepers;
        lanes |= 1u << lane;
      }
      if (lanes) make_ready(w, lanes);
      any |= lanes;
    }
  }
  return any != 0;
}

void destroy(Resident* r) noexcept {
  for (std::uint32_t i = 0; i < r->block_capacity; ++i) {
    if (r->blocks[i].window) give_window(r->blocks[i].window);
    ::operator delete(r->blocks[i].warps, std::align_val_t{alignof(Warp)});
  }
  delete[] r->blocks;
  delete[] r->ready_blocks;
  delete[] r->clusters;
  delete r;
}

namespace {

// What keeps the lanes of an idle resident.
struct Waiting {
  bool polls = false;
  std::uint64_t first_wake = ~std::uint64_t{0};  // of the sleepers
};

Waiting waiting(const Resident& r) noexcept {
  Waiting result;
  for (std::uint32_t i = 0; i < r.block_count; ++i)
    for (std::uint32_t k = 0; k < r.blocks[i].warp_count; ++k) {
      const Warp& w = r.blocks[i].warps[k];
      result.polls |= w.polled != 0;
      for (std::uint32_t s = w.sleeping; s; s &= s - 1)
        result.first_wake = std::min(result.first_wake, w.value[std::countr_zero(s)]);
    }
  return result;
}

// Blocks of a launch with clusters are counted cluster by cluster (x fastest, both between and inside clusters).
std::uint64_t linear_of(const Grid& g, std::uint64_t index) noexcept {
  if (!g.cluster) return index;
  const std::uint32_t* c = g.cluster;
  const std::uint64_t size = std::uint64_t{c[0]} * c[1] * c[2], cluster = index / size, rank = index % size;
  const std::uint64_t across[2] = {g.grid[0] / c[0], g.grid[1] / c[1]};
  const std::uint64_t x = cluster % across[0] * c[0] + rank % c[0];
  const std::uint64_t y = cluster / across[0] % across[1] * c[1] + rank / c[0] % c[1];
  const std::uint64_t z = cluster / across[0] / across[1] * c[2] + rank / c[0] / c[1];
  return x + g.grid[0] * (y + g.grid[1] * z);
}

void release(Resident* r) noexcept {
  Executor* const e = r->executor;
  StackPool::instance().unreserve(r->reserved_stacks);
  r->reserved_stacks = 0;
  e->stacks.trim(most_cached_stacks);
  for (std::uint32_t i = 1; i < r->block_capacity; ++i)
    if (Window*& window = r->blocks[i].window) {
      give_window(window);
      window = nullptr;
    }
  r->grid.shared = nullptr;
  if (e->spare_count < most_spare_residents) {
    r->next = e->spare;
    e->spare = r;
    ++e->spare_count;
  } else {
    destroy(r);
  }
}

StepResult give_up(Resident* r, Fault fault) noexcept {
  reclaim_stacks(r->executor, *r);
  release(r);
  return {Step::faulted, fault, true, 0};
}

}  // namespace

bool needs_residency(const Grid& grid) noexcept {
  constexpr std::uint32_t flags = MR_KERNEL_MAY_SPIN | MR_KERNEL_GRID_SYNC | MR_KERNEL_CLUSTER_SYNC | MR_KERNEL_PDL;
  return (grid.kernel->flags & flags) != 0;
}

Resident* start(const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept {
  protect::RuntimeScope access;
  Executor* const e = executor();
  if (!e) return nullptr;
  const std::uint64_t stacks = count * grid.block[0] * grid.block[1] * grid.block[2];
  if (stacks > StackPool::instance().capacity() || !StackPool::instance().reserve(static_cast<std::uint32_t>(stacks)))
    return nullptr;
  Resident* r = e->spare;
  if (r) {
    e->spare = r->next;
    --e->spare_count;
  } else if (!(r = new_resident(e))) {
    StackPool::instance().unreserve(static_cast<std::uint32_t>(stacks));
    return nullptr;
  }
  r->reserved_stacks = static_cast<std::uint32_t>(stacks);
  if (!shape(*r, grid, static_cast<std::uint32_t>(count)) || !make_clusters(*r)) {
    r->live_blocks = 0;
    release(r);
    return nullptr;
  }
  for (std::uint32_t i = 0; i < count; ++i) prepare_block(*r, r->blocks[i], linear_of(grid, first + i));
  return r;
}

StepResult step(Resident* r, bool alone) noexcept {
  Executor* const e = r->executor;
  protect::RuntimeScope access;
  r->progress = false;
  // Rounds while lanes come forward, so that lanes which wait for each other don't need the caller in between.
  const int most = alone ? most_rounds : 0;
  for (int rounds = 0;; ++rounds) {
    if (r->grid.device->dead.load(std::memory_order_relaxed)) return give_up(r, Fault::interrupted);
    wake_pollers(*r, false, r->sleepers ? now_ns() : 0);
    if (r->grid_waiting) poll_grid_barrier(*r);
    const bool before = r->progress;
    r->progress = false;
    if (enter(e, *r) == leave_abandoned) return give_up(r, note_fault(e, r->grid));
    if (r->live_blocks == 0) {
      release(r);
      return {Step::finished, Fault::none, true, 0};
    }
    const bool now = r->progress;
    r->progress |= before;
    if (!now || rounds == most) break;
  }
  if (!r->progress)
    if (const Block* stuck = stuck_block(*r)) {
      note_deadlock(e, *r, stuck);
      return give_up(r, note_fault(e, r->grid));
    }
  StepResult result{Step::yielded, Fault::none, r->progress, 0};
  const Waiting w = waiting(*r);
  if (w.polls) return result;
  if (r->sleepers) {
    if (!r->grid_waiting) result.not_before_ns = w.first_wake;
  } else if (!r->grid_waiting) {
    note_deadlock(e, *r, nullptr);
    return give_up(r, note_fault(e, r->grid));
  }
  return result;
}

}  // namespace mr::simt
