// The scheduler of fibers: starting and ending lanes, and switching between them.
#include <simt/resident.h>

#include <bit>

#include <simt/protect.h>

namespace mr::simt {
namespace {

// Picks the lane to run after `lane` of `w`: the next higher ready lane of the warp, else its lowest, else the next
// warp with ready lanes, else the next block. False when no lane can run.
inline bool pick(Resident& r, Warp*& w, unsigned& lane) noexcept {
  while (true) {
    if (const std::uint32_t ready = w->ready) {
      const std::uint32_t later = ready & ~1u << lane;
      lane = static_cast<unsigned>(std::countr_zero(later ? later : ready));
      return true;
    }
    if (w->at_activemask && resolve_activemask(*w)) {
      lane = 31;
      continue;
    }
    lane = 31;
    Block& b = *w->block;
    b.ready_warps &= ~(1u << w->index);
    if (const std::uint32_t warps = b.ready_warps) {
      const std::uint32_t later = warps & ~1u << w->index;
      w = &b.warps[std::countr_zero(later ? later : warps)];
      continue;
    }
    std::uint32_t word = b.index / 64;
    r.ready_blocks[word] &= ~(std::uint64_t{1} << b.index % 64);
    std::uint64_t blocks = r.ready_blocks[word] & ~std::uint64_t{1} << b.index % 64;
    for (std::uint32_t tries = 0; !blocks; ++tries) {
      if (tries == r.ready_words) return false;
      word = word + 1 == r.ready_words ? 0 : word + 1;
      blocks = r.ready_blocks[word];
    }
    Block& other = r.blocks[word * 64 + static_cast<unsigned>(std::countr_zero(blocks))];
    if (!other.ready_warps) {  // only when the bit was stale
      r.ready_blocks[word] &= ~(std::uint64_t{1} << other.index % 64);
      w = other.warps;
      continue;
    }
    w = &other.warps[std::countr_zero(other.ready_warps)];
  }
}

// Makes `id` the stack of a lane that begins.
inline void prepare_lane(Warp& w, unsigned lane, StackId id) noexcept {
  MrBlock& abi = *w.block->abi;
  MrLane& m = *StackPool::instance().lane_of(id);
  const std::uint32_t linear = w.index * MR_WARP + lane;
  m.block = &abi;
  m.linear = linear;
  m.poll_count = 0;
  m.last_error = 0;
  m.runtime = &w;
  if (w.block->checked) *mr_site_of(&m) = nullptr;
  if (abi.block_dim[0] == abi.threads) {
    m.tid[0] = linear;
    m.tid[1] = m.tid[2] = 0;
  } else {
    m.tid[0] = linear % abi.block_dim[0];
    const std::uint32_t rows = linear / abi.block_dim[0];
    m.tid[1] = rows % abi.block_dim[1];
    m.tid[2] = rows / abi.block_dim[1];
  }
  w.stack[lane] = id;
  w.started |= 1u << lane;
}

// Switches from the context to be saved in *save (on the stack that `from` describes) to a lane that pick() chose.
MR_SIMT_SWITCHES inline std::uint64_t go_to(Executor* e, std::uint64_t* save, [[maybe_unused]] SanitizedStack* from,
                                            Warp& w, unsigned lane) noexcept {
  w.ready &= ~(1u << lane);
  StackPool& pool = StackPool::instance();
  if (w.started >> lane & 1) {
    sanitizer_leave(*from, pool.sanitized(w.stack[lane]), false);
    return mr_simt_switch(save, w.context[lane], 0);
  }
  const StackId id = e->stacks.take();
  if (id == no_stack) [[unlikely]] {
    w.ready |= 1u << lane;
    e->raw = {Fault::stack_error, 0, 0, nullptr, "The process has no stacks left for device threads."};
    return leave_abandoned;
  }
  prepare_lane(w, lane, id);
  sanitizer_leave(*from, pool.sanitized(id), false);
  return mr_simt_start(save, pool.top_of(id));
}

inline SanitizedStack* sanitized_of([[maybe_unused]] Warp* w, [[maybe_unused]] unsigned lane) noexcept {
#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
  return &StackPool::instance().sanitized(w->stack[lane]);
#else
  return nullptr;
#endif
}

// The part of a lane's end that is rare: somebody may have waited for it.
[[gnu::noinline]] void end_slowly(Resident& r, Block& b, Warp& w, std::uint32_t bit) noexcept {
  if (w.group_count) lane_left_warp(w, bit);
  if (b.arrived) lane_left_block(b);
  if (b.cluster) lane_left_cluster(b, w, bit);
  if (r.grid.shared) lane_left_grid(b);
  if (b.live == 0) --r.live_blocks;
}

}  // namespace

MR_SIMT_SWITCHES std::uint64_t enter(Executor* e, Resident& r) noexcept {
  Warp* w = r.blocks[0].warps;
  unsigned lane = 31;
  if (!pick(r, w, lane)) return leave_idle;
  e->current = &r;
  e->grid = &r.grid;
  e->device.store(r.grid.device, std::memory_order_release);
  const std::uint64_t left = go_to(e, &e->host_context, &e->host_sanitized, *w, lane);
#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
  // Whoever abandons doesn't tell the sanitizers (it may be a signal handler); a start that failed never left.
  if (left != leave_abandoned || e->raw.lane) {
    StackPool& pool = StackPool::instance();
    if (left == leave_abandoned)
      sanitizer_leave(pool.sanitized(pool.id_of(reinterpret_cast<std::uint64_t>(e->raw.lane))), e->host_sanitized,
                      true);
    sanitizer_arrive(e->host_sanitized, nullptr);
  }
#endif
  e->device.store(nullptr, std::memory_order_relaxed);
  e->grid = nullptr;
  e->current = nullptr;
  return left;
}

MR_SIMT_SWITCHES void detail::suspend_slowly(Warp* w, unsigned lane, Warp* from, unsigned after) noexcept {
  Resident& r = *w->block->resident;
  Executor* const e = r.executor;
  Warp* next = from;
  unsigned next_lane = after;
  if (pick(r, next, next_lane)) [[likely]] {
    if (next == w && next_lane == lane) {
      w->ready &= ~(1u << lane);
      return;
    }
    if (go_to(e, &w->context[lane], sanitized_of(w, lane), *next, next_lane) == leave_abandoned) [[unlikely]]
      abandon(e, Fault::stack_error);
  } else {
    sanitizer_leave(*sanitized_of(w, lane), e->host_sanitized, false);
    mr_simt_switch(&w->context[lane], e->host_context, leave_idle);
  }
  sanitizer_arrive(*sanitized_of(w, lane), nullptr);
}

// Ends the lane of this stack. Returns when the next lane is to begin on the same stack.
MR_SIMT_SWITCHES static inline void end_lane(Executor* e, MrLane* m) noexcept {
  Warp* w = static_cast<Warp*>(m->runtime);
  unsigned lane = m->linear % MR_WARP;
  const std::uint32_t bit = 1u << lane;
  Block& b = *w->block;
  Resident& r = *b.resident;
  w->live &= ~bit;
  w->started &= ~bit;
  --b.live;
  r.progress = true;
  if (w->group_count | b.arrived | (b.live == 0) | (b.cluster != nullptr) | (r.grid.shared != nullptr))
    end_slowly(r, b, *w, bit);
  const StackId own = w->stack[lane];
  StackPool& pool = StackPool::instance();
  if (pick(r, w, lane)) {
    w->ready &= ~(1u << lane);
    if (!(w->started >> lane & 1)) {
      prepare_lane(*w, lane, own);
      return;
    }
    e->stacks.give(own);
    sanitizer_leave(pool.sanitized(own), pool.sanitized(w->stack[lane]), true);
    mr_simt_jump(w->context[lane], 0);
  }
  e->stacks.give(own);
  sanitizer_leave(pool.sanitized(own), e->host_sanitized, true);
  mr_simt_jump(e->host_context, leave_idle);
}

}  // namespace mr::simt

extern "C" MR_SIMT_SWITCHES void mr_simt_lane_main() {
  using namespace mr::simt;
  MrLane* const m = current_lane();
  Executor* const e = static_cast<Warp*>(m->runtime)->block->resident->executor;
#ifdef MR_SIMT_ASAN
  SanitizedStack* host = e->host_sanitized.bottom ? nullptr : &e->host_sanitized;
  sanitizer_arrive(StackPool::instance().sanitized(static_cast<Warp*>(m->runtime)->stack[m->linear % MR_WARP]), host);
#endif
  const MrRunLane body = e->grid->kernel->run_lane;
  while (true) {
    if (protect::active()) [[unlikely]]
      protect::call_lane(body, m->block->args);
    else
      body(m->block->args);
    end_lane(e, m);
  }
}
