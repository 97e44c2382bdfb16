#include <simt/misuse.h>

#include <cstdio>
#include <cstring>

#include <simt/warp.h>

namespace mr::simt {
namespace {

bool same_line(const MrSite* a, const MrSite* b) noexcept {
  return a == b || (a && b && a->line == b->line && std::strcmp(a->file, b->file) == 0);
}

[[noreturn]] void misuse(Self s) noexcept {
  Executor* e = s.warp->block->resident->executor;
  e->raw.note = e->note;
  abandon(e, Fault::bad_synchronization);
}

}  // namespace

const char* describe_site(const Grid& grid, const MrLane* lane, char* text, std::size_t bytes) noexcept {
  text[0] = 0;
  if (lane && (grid.kernel->flags & MR_KERNEL_SITES))
    if (const MrSite* site = *mr_site_of(lane)) std::snprintf(text, bytes, " at %s:%u", site->file, site->line);
  return text;
}

void check_barrier(Self s, const MrLane& lane) noexcept {
  Block& b = *s.warp->block;
  const MrSite* site = *mr_site_of(&lane);
  if (b.arrived == 0) {
    b.barrier_site = site;
    b.barrier_thread = lane.linear;
    return;
  }
  if (same_line(site, b.barrier_site)) return;
  const std::uint32_t x = b.abi->block_dim[0], y = b.abi->block_dim[1], first = b.barrier_thread;
  Executor* e = b.resident->executor;
  std::snprintf(
      e->note, sizeof e->note,
      "It is at a barrier that other threads of its block don't reach: thread (%u,%u,%u) waits at the barrier "
      "at %s:%u.",
      first % x, first / x % y, first / x / y, b.barrier_site ? b.barrier_site->file : "?",
      b.barrier_site ? b.barrier_site->line : 0);
  misuse(s);
}

void check_mask(Self s, std::uint32_t mask) noexcept {
  if (mask & s.bit()) return;
  Executor* e = s.warp->block->resident->executor;
  std::snprintf(e->note, sizeof e->note,
                "It calls a warp operation with mask 0x%08x, which doesn't name the calling thread (lane %u).", mask,
                s.lane);
  misuse(s);
}

void check_shuffle(Self s, std::uint32_t mask, std::uint32_t mode, std::uint32_t operand,
                   std::uint32_t width) noexcept {
  check_mask(s, mask);
  const ShuffleSource source = shuffle_source(s.lane, mode, operand, width);
  if (!source.in_range || (mask >> source.lane & 1)) return;
  Executor* e = s.warp->block->resident->executor;
  std::snprintf(e->note, sizeof e->note, "Its shuffle reads lane %u, which the mask 0x%08x doesn't name.", source.lane,
                mask);
  misuse(s);
}

}  // namespace mr::simt
