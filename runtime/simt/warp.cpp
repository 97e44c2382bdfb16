#include <simt/warp.h>

#include <bit>

namespace mr::simt {
namespace {

void compute_shuffle(Warp& w, std::uint32_t lanes) noexcept {
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t detail = w.detail[lane];
    const ShuffleSource source = shuffle_source(lane, detail & 3, w.operand[lane], detail >> 2);
    // A source that takes no part: undefined by the rules. GPUs give 0, and programs add it up: a block's last step of
    // a reduction, whose mask names as many lanes as there are warps, over all five distances.
    w.result[lane] = lanes >> source.lane & 1 ? w.value[source.lane] : 0;
    w.predicate = (w.predicate & ~(1u << lane)) | static_cast<std::uint32_t>(source.in_range) << lane;
  }
}

void compute_match_any(Warp& w, std::uint32_t lanes) noexcept {
  for (std::uint32_t todo = lanes; todo;) {
    const std::uint64_t value = w.value[std::countr_zero(todo)];
    std::uint32_t equal = 0;
    for (std::uint32_t rest = todo; rest; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      equal |= static_cast<std::uint32_t>(w.value[lane] == value) << lane;
    }
    for (std::uint32_t rest = equal; rest; rest &= rest - 1) w.result[std::countr_zero(rest)] = equal;
    todo &= ~equal;
  }
}

std::uint32_t combine(std::uint32_t op, std::uint32_t a, std::uint32_t b) noexcept {
  switch (op) {
  case MR_RED_ADD: return a + b;
  case MR_RED_MIN_U: return b < a ? b : a;
  case MR_RED_MAX_U: return b > a ? b : a;
  case MR_RED_MIN_S: return static_cast<std::int32_t>(b) < static_cast<std::int32_t>(a) ? b : a;
  case MR_RED_MAX_S: return static_cast<std::int32_t>(b) > static_cast<std::int32_t>(a) ? b : a;
  case MR_RED_AND: return a & b;
  case MR_RED_OR: return a | b;
  default: return a ^ b;
  }
}

// All lanes of group `index` that exist have arrived: computes their results, removes the group, and makes them ready.
void complete(Warp& w, std::uint32_t index) noexcept {
  const WarpGroup g = w.groups[index];
  w.groups[index] = w.groups[--w.group_count];
  const std::uint32_t lanes = g.arrived;
  std::uint64_t common = 0;
  switch (g.kind) {
  case warp_sync_op: make_ready(w, lanes); return;
  case warp_shuffle_op:
    compute_shuffle(w, lanes);
    make_ready(w, lanes);
    return;
  case warp_match_any_op:
    compute_match_any(w, lanes);
    make_ready(w, lanes);
    return;
  case warp_ballot_op: common = g.votes; break;
  case warp_match_all_op: {
    const std::uint64_t value = w.value[std::countr_zero(lanes)];
    bool equal = true;
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1) equal &= w.value[std::countr_zero(rest)] == value;
    common = equal ? lanes : 0;
    w.predicate = equal ? w.predicate | lanes : w.predicate & ~lanes;
    break;
  }
  default: {
    std::uint32_t rest = lanes, total = static_cast<std::uint32_t>(w.value[std::countr_zero(rest)]);
    for (rest &= rest - 1; rest; rest &= rest - 1)
      total = combine(g.kind - warp_reduce_op, total, static_cast<std::uint32_t>(w.value[std::countr_zero(rest)]));
    common = total;
  }
  }
  if (lanes == ~0u)
    for (unsigned lane = 0; lane < MR_WARP; ++lane) w.result[lane] = common;
  else
    for (std::uint32_t rest = lanes; rest; rest &= rest - 1) w.result[std::countr_zero(rest)] = common;
  make_ready(w, lanes);
}

// The calling lane arrives at the operation and returns when all others have.
inline void meet(Self s, std::uint32_t mask, std::uint32_t kind, bool vote = false) noexcept {
  Warp& w = *s.warp;
  const std::uint32_t bit = s.bit();
  // A lane that doesn't name itself is an error in the program. Nobody waits for it, so it waits for nobody.
  if (!(mask & bit)) mask = bit;
  std::uint32_t index = 0;
  while (index < w.group_count && (w.groups[index].mask != mask || w.groups[index].kind != kind)) ++index;
  WarpGroup& g = w.groups[index];
  if (index == w.group_count) {
    ++w.group_count;
    g = {mask, kind, 0, 0};
  }
  g.arrived |= bit;
  g.votes |= vote ? bit : 0;
  Resident& r = *w.block->resident;
  r.progress = true;
  if (g.arrived == (mask & w.live)) {
    if (g.arrived == bit) {  // alone: nobody else to run first
      complete(w, index);
      w.ready &= ~bit;
      return;
    }
    complete(w, index);
    return suspend(&w, s.lane, &w, 31);  // the lowest first, as a warp's output appears in the order of its lanes
  }
  suspend(&w, s.lane);
}

}  // namespace

void warp_sync(Self s, std::uint32_t mask) noexcept { meet(s, mask, warp_sync_op); }

std::uint64_t warp_shuffle(Self s, std::uint32_t mask, std::uint32_t mode, std::uint64_t value, std::uint32_t operand,
                           std::uint32_t width, bool& in_range) noexcept {
  Warp& w = *s.warp;
  w.value[s.lane] = value;
  w.operand[s.lane] = operand;
  w.detail[s.lane] = (mode & 3) | width << 2;
  meet(s, mask, warp_shuffle_op);
  in_range = w.predicate >> s.lane & 1;
  return w.result[s.lane];
}

std::uint32_t warp_ballot(Self s, std::uint32_t mask, bool predicate) noexcept {
  meet(s, mask, warp_ballot_op, predicate);
  return static_cast<std::uint32_t>(s.warp->result[s.lane]);
}

std::uint32_t warp_match(Self s, std::uint32_t mask, std::uint32_t op, std::uint64_t value, bool& all_equal) noexcept {
  Warp& w = *s.warp;
  w.value[s.lane] = value;
  meet(s, mask, op == MR_MATCH_ALL ? warp_match_all_op : warp_match_any_op);
  all_equal = op == MR_MATCH_ALL && (w.predicate >> s.lane & 1);
  return static_cast<std::uint32_t>(w.result[s.lane]);
}

std::uint32_t warp_reduce(Self s, std::uint32_t mask, std::uint32_t op, std::uint32_t value) noexcept {
  s.warp->value[s.lane] = value;
  meet(s, mask, warp_reduce_op + op);
  return static_cast<std::uint32_t>(s.warp->result[s.lane]);
}

std::uint32_t warp_activemask(Self s, std::uint64_t site) noexcept {
  Warp& w = *s.warp;
  if (w.live == s.bit()) return s.bit();
  w.value[s.lane] = site;
  w.at_activemask |= s.bit();
  suspend(&w, s.lane);
  return static_cast<std::uint32_t>(w.result[s.lane]);
}

bool resolve_activemask(Warp& w) noexcept {
  const std::uint32_t waiting = w.at_activemask;
  w.at_activemask = 0;
  for (std::uint32_t todo = waiting; todo;) {
    const std::uint64_t site = w.value[std::countr_zero(todo)];
    std::uint32_t here = 0;
    for (std::uint32_t rest = todo; rest; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      here |= static_cast<std::uint32_t>(w.value[lane] == site) << lane;
    }
    for (std::uint32_t rest = here; rest; rest &= rest - 1) w.result[std::countr_zero(rest)] = here;
    todo &= ~here;
  }
  make_ready(w, waiting);
  return waiting != 0;
}

void lane_left_warp(Warp& w, std::uint32_t bit) noexcept {
  for (std::uint32_t i = 0; i < w.group_count;) {
    const WarpGroup& g = w.groups[i];
    if ((g.mask & bit) && g.arrived == (g.mask & w.live))
      complete(w, i);  // another group takes its place
    else
      ++i;
  }
}

}  // namespace mr::simt
