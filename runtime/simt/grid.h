// Running the blocks of one kernel launch on the calling thread. The engine decides who runs which blocks; this room
// knows how.
//
// Any thread may call these functions; the first call on a thread prepares it (executor stack, alternate signal stack).
// simt never blocks: what has to wait (a spinning lane, a grid barrier) yields to the caller as Step::yielded.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <simt/abi.h>

namespace mr::simt {

// What a kernel did wrong; the model maps it to the cudaError that the real runtime reports.
enum class Fault : std::uint32_t {
  none = 0,
  illegal_address,      // cudaErrorIllegalAddress
  misaligned_address,   // cudaErrorMisalignedAddress
  assert_failed,        // cudaErrorAssert
  trap,                 // cudaErrorLaunchFailure (__trap)
  illegal_instruction,  // cudaErrorIllegalInstruction
  invalid_pc,           // cudaErrorInvalidPc
  stack_error,          // cudaErrorHardwareStackError
  bad_synchronization,  // cudaErrorLaunchFailure (barriers or warp operations that threads don't reach together)
  interrupted,          // the context died (DeviceState::dead) while the blocks ran
};

// Per virtual device and context generation: what running kernels share. Owned by the model; outlives its grids.
struct DeviceState {
  // Set (relaxed) when the context died; pollers and block loops read it (relaxed) and give up. Nothing is published by
  // it.
  std::atomic<bool> dead{false};
  int ordinal = 0;
  void* printf_buffer = nullptr;  // simt's own, see printf.h
  void* heap = nullptr;           // simt's own, see heap.h
  // Size of the printf buffer, once a kernel needs it; 0 = the default. Nothing is published by it.
  std::atomic<std::size_t> printf_bytes{0};
};

// State that all threads running blocks of one may-spin or cooperative grid share (grid barrier, clusters). Created by
// grid_open for kernels that need it.
struct GridShared;

// One launch. Plain data inside the engine's operation record; constant while blocks run.
struct Grid {
  const MrKernel* kernel;
  const void* args;  // packed argument buffer
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t dynamic_shared;
  std::uint32_t flags;  // GridFlags
  std::uint64_t total_blocks;
  std::uint64_t grid_id;
  DeviceState* device;
  const std::uint32_t* cluster;  // three extents, or null for 1,1,1
  GridShared* shared;            // null unless needs_residency()
  std::uint32_t site;            // observation tag; meaningful only while a tool is attached
  void* launch;                  // opaque to simt: passed to the hooks below (programmatic launch, device launches)
};
// While a tool is attached, launches into streams have this bit and their tag for an id, and grids that device code
// launches the other one and a number.
inline constexpr std::uint64_t grid_id_of_tag = std::uint64_t{1} << 63, grid_id_of_child = std::uint64_t{1} << 62;
enum GridFlags : std::uint32_t {
  grid_cooperative = 1u << 0,
  // Launched into a stream, not as a graph's node. Recorded: grid_group::is_valid says yes to those without the
  // cooperative attribute too.
  grid_in_stream = 1u << 1,
  // The arguments lie in an operation's record: device code may read them there, at one address for the whole grid.
  grid_args_readable = 1u << 2,
  // For the engine: it calls Domain::on_begun when all blocks have begun, if they are resident.
  grid_tells_begin = 1u << 3,
};

// True when blocks of this grid may have to wait for something (may-spin kernel, grid or cluster barrier, programmatic
// wait): they run through Resident, not run_blocks.
bool needs_residency(const Grid& grid) noexcept;

// Prepares / releases `shared` for a grid that needs residency. May allocate.
void grid_open(Grid& grid);
void grid_close(Grid& grid) noexcept;

// Runs blocks [first, first+count) of a finite grid to their end, in index order, in loop mode if the kernel has it,
// else on fibers. Returns the first fault; remaining blocks are then abandoned. No allocation in loop mode.
Fault run_blocks(const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept;

enum class Step : std::uint32_t {
  finished,  // all lanes of all blocks ended; the object has been given back
  yielded,   // every live lane polled, slept or waits at a grid barrier: call again later. `progress` says whether any
             // lane ran to a new barrier or ended since the last call
  faulted,   // see Resident fault; abandoned and given back
};

// Blocks of a grid that live on this thread as fibers until they end. A fiber never changes thread: step() only on the
// thread that called start().
class Resident;
// Blocks [first, first+count) must be whole clusters when the launch has clusters; a cooperative grid starts all of its
// blocks, on one or several threads, before any step is relied on for progress. Returns null only when memory for
// stacks is exhausted.
Resident* start(const Grid& grid, std::uint64_t first, std::uint64_t count) noexcept;
struct StepResult {
  Step step;
  Fault fault;
  bool progress;
  std::uint64_t
      not_before_ns;  // steady-clock time before which stepping is pointless (all lanes in __nanosleep); 0 = none
};
// `alone`: nobody waits for this call to return, so lanes that wait for each other get a few turns in it.
StepResult step(Resident* resident, bool alone = true) noexcept;

// The most blocks of this shape that may be resident at once on one virtual multiprocessor, from stack and
// shared-memory limits (occupancy API, cooperative launch limit). At least 1 for any legal shape.
std::uint32_t resident_limit(const MrKernel& kernel, std::uint32_t threads_per_block,
                             std::uint64_t dynamic_shared) noexcept;

// What device code can ask that this room can't answer alone. Set once by the model before the first kernel runs.
struct Hooks {
  // Programmatic dependent launch: a block called cudaTriggerProgrammaticLaunchCompletion / may it pass
  // GridDependencySynchronize?
  void (*pdl_trigger)(void* launch, std::uint64_t block_linear);
  bool (*pdl_ready)(void* launch);
  bool (*graph_set_conditional)(std::uint64_t handle, std::uint32_t value);
  int (*device_launch)(const Grid& parent, const void* kernel, const std::uint32_t* grid_block, void* const* arguments,
                       std::uint64_t shared_bytes, std::uint64_t stream);
  int (*device_api)(const Grid& caller, std::uint32_t function, const std::uint64_t* arguments);
  void (*texture_fetch)(std::uint64_t texture, std::uint32_t dimensions, const float* coordinates, int layer,
                        float level, void* result);
  void (*surface_access)(std::uint64_t surface, bool store, int x_bytes, int y, int z, void* value, std::uint32_t bytes,
                         std::uint32_t boundary_mode);
  // Device memory for the device's malloc heap, at its first use (heap.h). Null when there is none left.
  void* (*heap_region)(DeviceState* device, std::size_t* bytes);
  // A sentence about an address that a kernel faulted at, for reports; empty if there is none.
  void (*describe_address)(const void* address, char* text, std::size_t bytes);
};
void set_hooks(const Hooks& hooks) noexcept;

// The table that every loaded image's services pointer gets.
const MrServices* services() noexcept;

// What instrumented device code calls (compiler/passes/check.h), for images that are loaded from now on: `tag` is the
// grid's site. Null when no tool is attached.
using AccessHook = void (*)(std::uint32_t tag, const MrBlock& block, const void* address, std::uint64_t bytes,
                            const void* site, std::uint64_t pitch, std::uint64_t rows);
void set_access_hook(AccessHook hook) noexcept;
// The block that the calling thread runs touches memory through a texture or surface; needs an access hook.
void note_element(const void* address, std::size_t bytes, bool store);
// The function to store in an image's __mr_check_hook.
using AccessEntry = void (*)(const MrBlock* block, const void* address, std::uint64_t bytes, const void* site,
                             std::uint64_t pitch, std::uint64_t rows);
AccessEntry access_entry() noexcept;

// True while the calling thread executes device code (used by fault reports and by host access checks).
bool on_device_stack() noexcept;

}  // namespace mr::simt
