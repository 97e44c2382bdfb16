#include <simt/resident.h>

namespace mr::simt {

void note_deadlock(Executor* e, Resident& r) noexcept {
  // The first lane that waits stands for all.
  const MrLane* lane = nullptr;
  const char* note = "Its threads wait for each other and none can go on.";
  for (std::uint32_t i = 0; i < r.block_count && !lane; ++i)
    for (std::uint32_t k = 0; k < r.blocks[i].warp_count && !lane; ++k) {
      const Warp& w = r.blocks[i].warps[k];
      if (!w.started) continue;
      const unsigned first = static_cast<unsigned>(__builtin_ctz(w.started));
      lane = StackPool::instance().lane_of(w.stack[first]);
      const std::uint32_t bit = 1u << first;
      if (w.at_barrier & bit)
        note = "The thread waits at __syncthreads() for threads of its block that wait elsewhere.";
      else if (w.at_named & bit)
        note = "The thread waits at a named barrier that too few threads reach.";
      else if (w.at_cluster & bit)
        note = "The thread waits at a cluster barrier that not all threads of the cluster reach.";
      else if (w.at_grid & bit)
        note = "The thread waits at a grid barrier that not all threads of the grid reach.";
      else
        note = "The thread waits in a warp operation whose mask names threads that don't take part.";
    }
  e->raw = {Fault::trap, 0, 0, lane, note};
}

}  // namespace mr::simt
