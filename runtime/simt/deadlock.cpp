// Lanes that can never go on: found when their resident is idle, and reported with what each of two of them waits for.
#include <simt/misuse.h>

#include <cstdio>

namespace mr::simt {
namespace {

// Lanes that something outside their block may wake, or that are about to run.
std::uint32_t may_go_on(const Warp& w) noexcept {
  return w.ready | w.polled | w.sleeping | w.at_activemask | w.at_cluster;
}

// A warp operation waits for lanes of which one waits, at a barrier or in another operation, for a lane of the first.
bool in_a_circle(const Warp& w) noexcept {
  for (std::uint32_t i = 0; i < w.group_count; ++i) {
    const std::uint32_t missing = w.groups[i].mask & w.live & ~w.groups[i].arrived;
    if (missing & (w.at_barrier | w.at_grid)) return true;
    for (std::uint32_t k = 0; k < i; ++k) {
      const std::uint32_t others = w.groups[k].mask & w.live & ~w.groups[k].arrived;
      if ((missing & w.groups[k].arrived) && (others & w.groups[i].arrived)) return true;
    }
  }
  return false;
}

bool is_stuck(const Block& b) noexcept {
  if (!b.live || b.grid_arrived == b.live) return false;
  std::uint32_t hope = 0;
  for (std::uint32_t i = 0; i < b.warp_count; ++i) {
    if (b.warps[i].group_count && in_a_circle(b.warps[i])) return true;
    hope |= may_go_on(b.warps[i]);
  }
  return hope == 0;
}

struct Place {
  const MrLane* lane = nullptr;
  const char* what = "";
};

Place place_of(const Warp& w, unsigned lane) noexcept {
  const std::uint32_t bit = 1u << lane;
  Place p{StackPool::instance().lane_of(w.stack[lane]),
          "in a warp operation whose mask names threads that are elsewhere"};
  if (w.at_barrier & bit)
    p.what = "at a barrier of its block";
  else if (w.at_named & bit)
    p.what = "at a named barrier that too few threads reach";
  else if (w.at_cluster & bit)
    p.what = "at a barrier of its cluster";
  else if (w.at_grid & bit)
    p.what = "at a barrier of the grid";
  else if (may_go_on(w) & bit)
    p.what = "for a change in memory";
  return p;
}

}  // namespace

const Block* stuck_block(const Resident& r) noexcept {
  for (std::uint32_t i = 0; i < r.block_count; ++i)
    if (is_stuck(r.blocks[i])) return &r.blocks[i];
  return nullptr;
}

void note_deadlock(Executor* e, const Resident& r, const Block* stuck) noexcept {
  // The first lane that waits, and the first that waits for something else.
  Place first, second;
  for (std::uint32_t i = 0; i < r.block_count && !second.lane; ++i) {
    const Block& b = r.blocks[i];
    if (stuck && &b != stuck) continue;
    for (std::uint32_t k = 0; k < b.warp_count && !second.lane; ++k)
      for (std::uint32_t lanes = b.warps[k].started; lanes && !second.lane; lanes &= lanes - 1) {
        const Place p = place_of(b.warps[k], static_cast<unsigned>(__builtin_ctz(lanes)));
        if (!first.lane)
          first = p;
        else if (p.what != first.what)
          second = p;
      }
    if (!stuck && first.lane) break;
  }
  e->raw = {Fault::bad_synchronization, 0, 0, first.lane, e->note};
  if (!second.lane) {
    std::snprintf(e->note, sizeof e->note, "The thread waits %s, and no thread can go on.", first.what);
    return;
  }
  char where[192];
  const std::uint32_t* t = second.lane->tid;
  std::snprintf(e->note, sizeof e->note, "The thread waits %s, but thread (%u,%u,%u)%s waits %s.", first.what, t[0],
                t[1], t[2], describe_site(r.grid, second.lane, where, sizeof where), second.what);
}

}  // namespace mr::simt
