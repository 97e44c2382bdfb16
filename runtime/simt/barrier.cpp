#include <simt/barrier.h>

#include <bit>

namespace mr::simt {
namespace {

void complete(Block& b) noexcept {
  b.arrived = 0;
  b.last_count = b.count;
  b.last_all = b.all;
  b.last_any = b.any;
  b.count = b.any = 0;
  b.all = 1;
  for (std::uint32_t i = 0; i < b.warp_count; ++i) {
    Warp& w = b.warps[i];
    if (const std::uint32_t lanes = w.at_barrier) {
      w.at_barrier = 0;
      w.ready |= lanes;
      b.ready_warps |= 1u << i;
    }
  }
  b.resident->ready_blocks[b.index / 64] |= std::uint64_t{1} << b.index % 64;
}

inline void meet(Self s) noexcept {
  Warp& w = *s.warp;
  Block& b = *w.block;
  b.resident->progress = true;
  w.at_barrier |= s.bit();
  if (++b.arrived == b.live) {
    give_up_if_dead(*b.resident);
    complete(b);
    return suspend(&w, s.lane, b.warps, 31);  // the block's first lane first
  }
  suspend(&w, s.lane);
}

}  // namespace

void block_barrier(Self s) noexcept { meet(s); }

int block_barrier_reduce(Self s, std::uint32_t op, bool predicate) noexcept {
  Block& b = *s.warp->block;
  b.count += predicate;
  b.all &= predicate;
  b.any |= predicate;
  meet(s);
  // Stable until all lanes have read it: the next barrier completes only after each of them has arrived there.
  switch (op) {
  case MR_BAR_COUNT: return static_cast<int>(b.last_count);
  case MR_BAR_AND: return b.last_all != 0;
  default: return b.last_any != 0;
  }
}

void lane_left_block(Block& b) noexcept {
  if (b.live && b.arrived == b.live) complete(b);
}

void named_barrier(Self s, std::uint32_t id, std::uint32_t threads, bool wait) noexcept {
  Warp& w = *s.warp;
  Block& b = *w.block;
  if (id == 0 && wait && (threads == 0 || threads == b.abi->threads)) return meet(s);
  if (threads == 0) threads = b.live;
  id = id < 48 ? id : id % 16;
  NamedBarrier& n = b.named[id];
  b.resident->progress = true;
  if (wait) {
    w.at_named |= s.bit();
    w.operand[s.lane] = id;
  }
  if (++n.arrived < threads) {
    if (wait) suspend(&w, s.lane);
    return;
  }
  n.arrived = 0;
  for (std::uint32_t i = 0; i < b.warp_count; ++i) {
    Warp& other = b.warps[i];
    std::uint32_t lanes = 0;
    for (std::uint32_t rest = other.at_named; rest; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      if (other.operand[lane] == id) lanes |= 1u << lane;
    }
    if (!lanes) continue;
    other.at_named &= ~lanes;
    make_ready(other, lanes);
  }
  if (wait) suspend(&w, s.lane);
}

}  // namespace mr::simt
