// run_blocks: blocks of finite grids, run to their end on the calling thread.
#include <algorithm>
#include <cstring>

#include <simt/executor.h>
#include <simt/finite.h>
#include <simt/grid.h>
#include <simt/protect.h>
#include <simt/resident.h>

namespace mr::simt {
namespace {

// Blocks between two looks at DeviceState::dead. Costs one call each.
constexpr std::uint64_t slice = 256;
// Of the loop stack, for values that live across barriers in split mode.
constexpr std::uint64_t most_scratch = 160 * 1024;

inline bool scratch_fits(const Grid& g) noexcept {
  const std::uint32_t bytes = g.kernel->scratch_bytes;
  return bytes == 0 || std::uint64_t{bytes} * g.block[0] * g.block[1] * g.block[2] <= most_scratch;
}

void fill_block(MrBlock& b, const Grid& g, const Window& window) noexcept {
  // Both extents in both, one behind the other.
  static_assert(offsetof(Grid, block) == offsetof(Grid, grid) + sizeof g.grid &&
                offsetof(MrBlock, block_dim) == offsetof(MrBlock, grid_dim) + sizeof b.grid_dim);
  std::memcpy(&b, reinterpret_cast<const char*>(&g) + offsetof(Grid, grid), sizeof g.grid + sizeof g.block);
  static_assert(offsetof(MrBlock, grid_dim) == 0);
  for (int i = 0; i < 3; ++i) b.cluster_dim[i] = 1;
  if (g.cluster) [[unlikely]]
    for (int i = 0; i < 3; ++i) b.cluster_dim[i] = g.cluster[i];
  b.threads = g.block[0] * g.block[1] * g.block[2];
  b.static_shared = g.kernel->static_shared;
  b.dynamic_offset = (g.kernel->static_shared + 15) & ~15u;
  b.dynamic_shared = g.dynamic_shared;
  b.shared = window.shared(std::uint64_t{b.dynamic_offset} + g.dynamic_shared);
  b.grid_id = g.grid_id;
  b.together = 1;
  b.args = g.args;
}

#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
// The sanitizers want to be told on the new stack, so the thunk is called through this.
struct LoopCall {
  Executor* executor;
  MrRunBlocks thunk;
};
MR_SIMT_SWITCHES void sanitized_loop(LoopCall* call, std::uint64_t first, std::uint64_t count) {
  Executor* e = call->executor;
  SanitizedStack& own = StackPool::instance().sanitized(e->loop_stack);
  sanitizer_arrive(own, &e->host_sanitized);
  call->thunk(e->loop_block, first, count);
  sanitizer_leave(own, e->host_sanitized, true);
}
#endif

// Runs the thunk on the loop stack. 0, or leave_abandoned.
MR_SIMT_SWITCHES inline std::uint64_t enter_loop(Executor* e, MrRunBlocks thunk, std::uint64_t first,
                                                 std::uint64_t count) noexcept {
#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
  LoopCall call{e, thunk};
  SanitizedStack& own = StackPool::instance().sanitized(e->loop_stack);
  sanitizer_leave(e->host_sanitized, own, false);
  const std::uint64_t left = mr_simt_call(&e->host_context, e->loop_top, reinterpret_cast<void*>(&sanitized_loop),
                                          &call, first, count);
  if (left) sanitizer_leave(own, e->host_sanitized, true);
  sanitizer_arrive(e->host_sanitized, nullptr);
  if (left) StackPool::instance().reset(e->loop_stack);
  return left;
#else
  if (protect::active()) [[unlikely]]
    return protect::call_loop(e, thunk, first, count);
  return mr_simt_call(&e->host_context, e->loop_top, reinterpret_cast<void*>(thunk), e->loop_block, first, count);
#endif
}

}  // namespace

Fault run_blocks(const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept {
  protect::RuntimeScope access;
  Executor* const e = executor();
  if (!e) [[unlikely]]
    return Fault::stack_error;
  const MrRunBlocks thunk = grid.kernel->run_blocks;
  if (!thunk || !scratch_fits(grid)) return run_finite_on_fibers(e, grid, first, count);

  fill_block(*e->loop_block, grid, *e->loop_window);
  if (protect::active()) [[unlikely]]
    e->loop_block->args = protect::readable_arguments(*e->loop_window, grid);
  e->grid = &grid;
  e->device.store(grid.device, std::memory_order_release);
  Fault fault = Fault::none;
  while (true) {
    if (grid.device->dead.load(std::memory_order_relaxed)) [[unlikely]] {
      fault = Fault::interrupted;
      break;
    }
    const std::uint64_t now = std::min(count, slice);
    if (enter_loop(e, thunk, first, now)) [[unlikely]] {
      fault = note_fault(e, grid);
      break;
    }
    count -= now;
    if (count == 0) break;
    first += now;
  }
  e->device.store(nullptr, std::memory_order_relaxed);
  e->grid = nullptr;
  return fault;
}

bool on_device_stack() noexcept { return StackPool::instance().contains(stack_pointer()); }

}  // namespace mr::simt
