// Finite kernels that loop mode can't run: one block after the other on fibers.
#include <simt/finite.h>

#include <simt/misuse.h>
#include <simt/protect.h>
#include <simt/resident.h>

namespace mr::simt {

Fault run_finite_on_fibers(Executor* e, const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept {
  Resident* r = e->finite;
  if (!r) {
    r = new_resident(e);
    if (!r) return Fault::stack_error;
    e->finite = r;
  }
  if (!shape(*r, grid, 1)) return Fault::stack_error;
  for (std::uint64_t i = first; i < first + count; ++i) {
    r->live_blocks = 1;
    prepare_block(*r, r->blocks[0], i);
    while (true) {
      if (grid.device->dead.load(std::memory_order_relaxed)) {
        reclaim_stacks(e, *r);
        return Fault::interrupted;
      }
      if (enter(e, *r) == leave_abandoned) {
        reclaim_stacks(e, *r);
        return note_fault(e, grid);
      }
      if (r->live_blocks == 0) break;
      // Lanes of a finite kernel poll or sleep when they use services that may wait; a sleep may be as short as it
      // likes.
      if (!wake_pollers(*r, true, 0)) {
        note_deadlock(e, *r, &r->blocks[0]);
        reclaim_stacks(e, *r);
        return note_fault(e, grid);
      }
    }
  }
  return Fault::none;
}

}  // namespace mr::simt
