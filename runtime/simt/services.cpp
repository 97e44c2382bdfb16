// The services table: what device code asks of the runtime, dispatched to the file that knows the answer.
//
// In fiber mode the calling lane's `runtime` is its Warp; in loop mode it is null, and operations that need other lanes
// to coexist are errors of the compiler (a kernel that reaches them has no run_blocks), answered with a trap.
#include <time.h>

#include <simt/barrier.h>
#include <simt/check_site.h>
#include <simt/clock.h>
#include <simt/cluster.h>
#include <simt/executor.h>
#include <simt/grid_shared.h>
#include <simt/heap.h>
#include <simt/hooks.h>
#include <simt/misuse.h>
#include <simt/printf.h>
#include <simt/protect.h>
#include <simt/resident.h>
#include <simt/warp.h>

namespace mr::simt {
namespace {

Hooks the_hooks{};

constexpr std::uint32_t longest_sleep_ns = 1'000'000;
constexpr int not_supported = 801;  // cudaErrorNotSupported

[[noreturn]] void cannot(const char* note) noexcept {
  Executor* e = existing_executor();
  e->raw.note = note;
  abandon(e, Fault::trap);
}

// The calling lane, which must be a fiber.
inline Self lane() noexcept {
  MrLane* m = current_lane();
  if (!m->runtime) [[unlikely]]
    cannot("A kernel compiled for loop mode called an operation that needs its threads side by side.");
  return self(m);
}

inline Executor* running() noexcept { return existing_executor(); }

// Kernels compiled with -G are told what they do wrong.
inline bool checked(Self s) noexcept { return s.warp->block->checked; }

void serve_barrier() {
  const Self s = lane();
  if (checked(s)) [[unlikely]]
    check_barrier(s, *current_lane());
  block_barrier(s);
}
int serve_barrier_reduce(std::uint32_t op, int predicate) {
  const Self s = lane();
  if (checked(s)) [[unlikely]]
    check_barrier(s, *current_lane());
  return block_barrier_reduce(s, op, predicate != 0);
}
void serve_barrier_named(std::uint32_t id, std::uint32_t threads) { named_barrier(lane(), id, threads, true); }
void serve_barrier_named_arrive(std::uint32_t id, std::uint32_t threads) { named_barrier(lane(), id, threads, false); }

inline Self lane_of_mask(std::uint32_t mask) noexcept {
  const Self s = lane();
  if (checked(s)) [[unlikely]]
    check_mask(s, mask);
  return s;
}
void serve_warp_sync(std::uint32_t mask) { warp_sync(lane_of_mask(mask), mask); }
std::uint64_t serve_shuffle(std::uint32_t mask, std::uint32_t mode, std::uint64_t value, std::uint32_t operand,
                            std::uint32_t width, int* in_range) {
  bool inside;
  const Self s = lane();
  if (checked(s)) [[unlikely]]
    check_shuffle(s, mask, mode, operand, width);
  const std::uint64_t result = warp_shuffle(s, mask, mode, value, operand, width, inside);
  if (in_range) *in_range = inside;
  return result;
}
std::uint32_t serve_ballot(std::uint32_t mask, int predicate) {
  return warp_ballot(lane_of_mask(mask), mask, predicate != 0);
}
std::uint32_t serve_match(std::uint32_t mask, std::uint32_t op, std::uint64_t value, int* all_equal) {
  bool equal;
  const std::uint32_t result = warp_match(lane_of_mask(mask), mask, op, value, equal);
  if (all_equal) *all_equal = equal;
  return result;
}
std::uint32_t serve_reduce(std::uint32_t mask, std::uint32_t op, std::uint32_t value) {
  return warp_reduce(lane_of_mask(mask), mask, op, value);
}
std::uint32_t serve_activemask() {
  MrLane* m = current_lane();
  if (m->runtime) return warp_activemask(self(m), protect::service_call_site(*m, __builtin_return_address(0)));
  const std::uint32_t left = m->block->threads - m->linear / MR_WARP * MR_WARP;
  return left >= MR_WARP ? ~0u : (1u << left) - 1;
}

// Gives up the turn of the calling lane until every other lane of the resident had one.
void give_turn(Self s) {
  give_up_if_dead(*s.warp->block->resident);
  s.warp->polled |= s.bit();
  suspend(s.warp, s.lane);
}
void serve_poll() {
  MrLane* m = current_lane();
  if (m->runtime) return give_turn(self(m));
  Executor* e = running();
  if (e->grid->device->dead.load(std::memory_order_relaxed)) abandon(e, Fault::interrupted);
}
void serve_nanosleep(std::uint32_t nanoseconds) {
  MrLane* m = current_lane();
  if (!m->runtime) return serve_poll();
  const Self s = self(m);
  Resident& r = *s.warp->block->resident;
  if (r.finite || nanoseconds == 0) return give_turn(s);
  give_up_if_dead(r);
  s.warp->value[s.lane] = now_ns() + (nanoseconds < longest_sleep_ns ? nanoseconds : longest_sleep_ns);
  s.warp->sleeping |= s.bit();
  ++r.sleepers;
  suspend(s.warp, s.lane);
}
std::uint64_t serve_globaltimer() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

int serve_printf(const char* format, const MrPrintfArg* arguments, std::uint32_t count) {
  return device_printf(*running(), format, arguments, count);
}
void serve_assert_fail(const char* expression, const char* file, std::uint32_t line, const char* function) {
  report_assertion(*running(), *current_lane(), expression, file, line, function);
}
void serve_trap() { abandon(running(), Fault::trap); }
void serve_trap_because(const char* sentence) {
  Executor* e = running();
  e->raw.note = sentence;
  e->raw.shown = true;
  abandon(e, Fault::trap);
}
void serve_misaligned(const void* address, std::uint32_t) {
  abandon(running(), Fault::misaligned_address, reinterpret_cast<std::uint64_t>(address));
}

// Others' code that may take locks: an interruption has to wait.
template <class Call> inline auto locked_call(Call call) {
  Executor* e = running();
  e->uninterruptible = e->uninterruptible + 1;
  if constexpr (requires { static_cast<int>(call()); }) {
    const auto result = call();
    e->uninterruptible = e->uninterruptible - 1;
    return result;
  } else {
    call();
    e->uninterruptible = e->uninterruptible - 1;
  }
}

void* serve_heap_malloc(std::uint64_t bytes) { return device_malloc(*running(), bytes); }
void serve_heap_free(void* pointer) { device_free(*running(), pointer); }

void serve_grid_sync() {
  const Self s = lane();
  if (!s.warp->block->resident->grid.shared)
    cannot("A grid-wide barrier was reached in a kernel that was not launched with cudaLaunchCooperativeKernel.");
  grid_barrier(s);
}
std::uint32_t serve_grid_is_cooperative() {
  return (running()->grid->flags & (grid_cooperative | grid_in_stream)) != 0;
}
void serve_cluster_arrive() {
  if (current_lane()->runtime) cluster_arrive(lane());
}
void serve_cluster_wait() {
  if (current_lane()->runtime) cluster_wait(lane());
}
void* serve_cluster_map_shared(void* pointer, std::uint32_t rank) {
  MrLane* m = current_lane();
  if (!m->runtime) return rank == 0 ? pointer : nullptr;
  return cluster_map(*self(m).warp->block, pointer, rank);
}
std::uint32_t serve_cluster_rank_of_shared(const void* pointer) {
  MrLane* m = current_lane();
  return m->runtime ? cluster_rank_of(*self(m).warp->block, pointer) : 0;
}

void serve_pdl_trigger() {
  // Once a block, whoever is first: further calls change nothing.
  Executor* e = running();
  MrLane* m = current_lane();
  const MrBlock& b = *m->block;
  const std::uint64_t linear = b.block_idx[0] + std::uint64_t{b.grid_dim[0]} *
                                                    (b.block_idx[1] + std::uint64_t{b.grid_dim[1]} * b.block_idx[2]);
  if (m->runtime) {
    bool& triggered = self(m).warp->block->pdl_triggered;
    if (triggered) return;
    triggered = true;
  } else {
    if (e->pdl_triggered_grid == b.grid_id && e->pdl_triggered_block == linear) return;
    e->pdl_triggered_grid = b.grid_id;
    e->pdl_triggered_block = linear;
  }
  if (the_hooks.pdl_trigger) locked_call([&] { the_hooks.pdl_trigger(e->grid->launch, linear); });
}
void serve_pdl_wait() {
  if (!the_hooks.pdl_ready) return;
  Executor* e = running();
  while (!the_hooks.pdl_ready(e->grid->launch)) {
    MrLane* m = current_lane();
    if (!m->runtime) cannot("cudaGridDependencySynchronize was reached in loop mode before the grid it waits for.");
    give_turn(self(m));
  }
}

void serve_graph_set_conditional(std::uint64_t handle, std::uint32_t value) {
  if (!the_hooks.graph_set_conditional) cannot("cudaGraphSetConditional is not supported here.");
  if (running()->grid->flags & grid_in_stream) abandon(running(), Fault::illegal_address, handle);  // there is no graph
  bool found = false;
  locked_call([&] { found = the_hooks.graph_set_conditional(handle, value); });
  if (!found) abandon(running(), Fault::illegal_address, handle);
}
void serve_texture_fetch(std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer,
                         float level, void* result) {
  if (!the_hooks.texture_fetch) cannot("Texture fetches are not supported here.");
  the_hooks.texture_fetch(texture, dimensions, coordinates, layer, level, result);
}
void serve_surface_access(std::uint64_t surface, std::uint32_t is_store, int x_bytes, int y, int z, void* value,
                          std::uint32_t bytes, std::uint32_t boundary_mode) {
  if (!the_hooks.surface_access) cannot("Surface accesses are not supported here.");
  the_hooks.surface_access(surface, is_store != 0, x_bytes, y, z, value, bytes, boundary_mode);
}
int serve_device_launch(const void* kernel, const std::uint32_t* grid_block, void* const* arguments,
                        std::uint64_t shared_bytes, std::uint64_t stream) {
  if (!the_hooks.device_launch) return not_supported;
  const Grid& grid = *running()->grid;
  return locked_call(
      [&] { return the_hooks.device_launch(grid, kernel, grid_block, arguments, shared_bytes, stream); });
}
int serve_device_api(std::uint32_t function, const std::uint64_t* arguments) {
  if (!the_hooks.device_api) return not_supported;
  const Grid& grid = *running()->grid;
  return locked_call([&] { return the_hooks.device_api(grid, function, arguments); });
}

constexpr MrServices direct_table = {MR_ABI_VERSION, 0,
#define MR_SERVICE_ENTRY(result, name, parameters, arguments) serve_##name,
                                     MR_SERVICES(MR_SERVICE_ENTRY)
#undef MR_SERVICE_ENTRY
};

}  // namespace

namespace {
AccessHook the_access_hook = nullptr;
void serve_access(const MrBlock* block, const void* address, std::uint64_t bytes, const void* site, std::uint64_t pitch,
                  std::uint64_t rows) {
  locked_call([&] { the_access_hook(existing_executor()->grid->site, *block, address, bytes, site, pitch, rows); });
}
}  // namespace
void set_access_hook(AccessHook hook) noexcept { the_access_hook = hook; }
void note_element(const void* address, std::size_t bytes, bool store) {
  static constexpr MrCheckSite read{"", "", 0, MR_CHECK_READ}, write{"", "", 0, MR_CHECK_WRITE};
  serve_access(current_lane()->block, address, bytes, store ? &write : &read, 0, 1);
}
AccessEntry access_entry() noexcept {
  if (!the_access_hook) return nullptr;
  return protect::active() ? protect::switching_access_entry(serve_access) : serve_access;
}

const Hooks& hooks() noexcept { return the_hooks; }
void set_hooks(const Hooks& hooks) noexcept { the_hooks = hooks; }

const MrServices* services() noexcept {
  return protect::active() ? protect::switching_table(direct_table) : &direct_table;
}

}  // namespace mr::simt
