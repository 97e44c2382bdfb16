#include <simt/grid_shared.h>

#include <new>

#include <simt/resident.h>

namespace mr::simt {
namespace {

// All live lanes of the block wait at the grid's barrier.
void block_arrives(Block& b) noexcept {
  Resident& r = *b.resident;
  r.grid_generation = r.grid.shared->arrive();
  ++r.grid_waiting;
  poll_grid_barrier(r);  // it may have been the last
}

}  // namespace

void grid_open(Grid& grid) {
  grid.shared = nullptr;
  if (!(grid.flags & grid_cooperative) || !(grid.kernel->flags & MR_KERNEL_GRID_SYNC)) return;
  grid.shared = new GridShared;
  grid.shared->state.store(grid.total_blocks << 24, std::memory_order_relaxed);
}

void grid_close(Grid& grid) noexcept {
  delete grid.shared;
  grid.shared = nullptr;
}

void grid_barrier(Self s) noexcept {
  Block& b = *s.warp->block;
  give_up_if_dead(*b.resident);
  b.resident->progress = true;
  s.warp->at_grid |= s.bit();
  if (++b.grid_arrived == b.live) block_arrives(b);
  suspend(s.warp, s.lane);
}

void lane_left_grid(Block& b) noexcept {
  if (b.live == 0)
    b.resident->grid.shared->drop();
  else if (b.grid_arrived == b.live)
    block_arrives(b);
}

void poll_grid_barrier(Resident& r) noexcept {
  // All waiting blocks of a resident wait in one generation: it can't end before each live block has arrived in it.
  if (r.grid.shared->now() == r.grid_generation) return;
  r.grid_waiting = 0;
  r.progress = true;
  for (std::uint32_t i = 0; i < r.block_count; ++i) {
    Block& b = r.blocks[i];
    if (!b.grid_arrived) continue;
    b.grid_arrived = 0;
    for (std::uint32_t k = 0; k < b.warp_count; ++k)
      if (const std::uint32_t lanes = b.warps[k].at_grid) {
        b.warps[k].at_grid = 0;
        make_ready(b.warps[k], lanes);
      }
  }
}

}  // namespace mr::simt
