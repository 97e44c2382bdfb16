#include <simt/cluster.h>

#include <new>

namespace mr::simt {
namespace {

void complete(Resident& r, Cluster& c) noexcept {
  c.arrived = 0;
  ++c.phase;
  for (std::uint32_t i = c.first_block; i < c.first_block + c.blocks; ++i)
    for (std::uint32_t k = 0; k < r.blocks[i].warp_count; ++k) {
      Warp& w = r.blocks[i].warps[k];
      if (const std::uint32_t lanes = w.at_cluster) {
        w.at_cluster = 0;
        make_ready(w, lanes);
      }
    }
}

// The block of b's cluster whose shared window holds `pointer`; b itself when none does.
Block& holder(Block& b, const void* pointer) noexcept {
  if (!b.cluster) return b;
  for (std::uint32_t i = 0; i < b.cluster->blocks; ++i) {
    Block& other = b.resident->blocks[b.cluster->first_block + i];
    const char* end = other.window->end;
    if (pointer >= end - window_bytes && pointer < end) return other;
  }
  return b;
}

}  // namespace

bool make_clusters(Resident& r) noexcept {
  if (!r.grid.cluster && !(r.grid.kernel->flags & MR_KERNEL_CLUSTER_SYNC)) return true;
  const std::uint32_t* c = r.grid.cluster;
  const std::uint32_t size = c ? c[0] * c[1] * c[2] : 1, count = r.block_count / size;
  delete[] r.clusters;
  r.clusters = new (std::nothrow) Cluster[count];
  if (!r.clusters) return false;
  r.cluster_count = count;
  for (std::uint32_t i = 0; i < count; ++i)
    r.clusters[i] = {size * r.grid.block[0] * r.grid.block[1] * r.grid.block[2], 0, 0, i * size, size};
  for (std::uint32_t i = 0; i < count * size; ++i) {
    r.blocks[i].cluster = &r.clusters[i / size];
    r.blocks[i].cluster_rank = i % size;
  }
  return true;
}

void cluster_arrive(Self s) noexcept {
  Block& b = *s.warp->block;
  if (!b.cluster) return;
  Cluster& c = *b.cluster;
  b.resident->progress = true;
  s.warp->cluster_phase[s.lane] = c.phase;
  s.warp->cluster_arrived |= s.bit();
  if (++c.arrived == c.live) complete(*b.resident, c);
}

void cluster_wait(Self s) noexcept {
  Block& b = *s.warp->block;
  if (!(s.warp->cluster_arrived & s.bit())) return;
  if (b.cluster->phase == s.warp->cluster_phase[s.lane]) {
    give_up_if_dead(*b.resident);
    s.warp->at_cluster |= s.bit();
    suspend(s.warp, s.lane);
  }
  s.warp->cluster_arrived &= ~s.bit();
}

void lane_left_cluster(Block& b, Warp& w, std::uint32_t bit) noexcept {
  Cluster& c = *b.cluster;
  --c.live;
  if ((w.cluster_arrived & bit) && w.cluster_phase[static_cast<unsigned>(__builtin_ctz(bit))] == c.phase) --c.arrived;
  if (c.live && c.arrived == c.live) complete(*b.resident, c);
}

void* cluster_map(Block& b, void* pointer, std::uint32_t rank) noexcept {
  if (!b.cluster || rank >= b.cluster->blocks) return rank == 0 ? pointer : nullptr;
  Block& from = holder(b, pointer);
  Block& to = b.resident->blocks[b.cluster->first_block + rank];
  return to.window->end - (from.window->end - static_cast<char*>(pointer));
}

std::uint32_t cluster_rank_of(Block& b, const void* pointer) noexcept { return holder(b, pointer).cluster_rank; }

}  // namespace mr::simt
