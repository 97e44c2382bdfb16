// Protection keys (pkeys(7)): host threads may not touch device memory, device code may not touch host memory.
//
// Two keys of our own. The device key: device memory, images, whatever kernels may use and the host may not. The lane key: stacks, shared
// windows and launch frames, which only this room touches. Device code runs with key 0 (everything else) denied. Without
// processor support, or with MILLRACE_PROTECT=0, every function here is a no-op behind one constant test.
#pragma once
#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#include <simt/abi.h>

namespace mr::simt {
struct Executor;
struct Grid;
struct Window;
}  // namespace mr::simt

namespace mr::simt::protect {

// True when keys are in use. Constant from the first call on. Thread-safe.
bool active() noexcept;
// The key for device memory (for pkey_mprotect), or -1 when keys are not in use.
int device_key() noexcept;
// Why keys are not in use, for messages and skipped tests; null when they are.
const char* inactive_reason() noexcept;

// Makes pages readable and writable, with the lane key when keys are in use.
bool make_lane_memory(void* begin, std::size_t bytes) noexcept;

// ---- Inside this room -------------------------------------------------------------------------------------------------

// While one lives, this thread may use host memory and both keys: around all work of this room. Ends with the thread's own rights.
class HostScope {
 public:
  HostScope() noexcept {
    if (active()) [[unlikely]] enter();
  }
  ~HostScope() {
    if (active()) [[unlikely]] leave();
  }
  HostScope(const HostScope&) = delete;
  HostScope& operator=(const HostScope&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;
  std::uint32_t rights_;
};

// mr_simt_call of the thunk, and a lane's body, with the rights of device code. Only when active.
std::uint64_t call_loop(Executor* e, MrRunBlocks thunk, std::uint64_t first, std::uint64_t count) noexcept;
void call_lane(MrRunLane body, const void* args, MrLane* lane) noexcept;

// Signals. A handler begins with the rights that the kernel chose (host memory only) on a stack that device code could reach.
using Handler = void (*)(int, siginfo_t*, void*);
// What to install for `handler`: itself, or an entry that first takes all rights.
Handler handler_entry(Handler handler) noexcept;
// Where an abandoned context goes on; may set up registers for it.
std::uint64_t resume_address(gregset_t& registers) noexcept;
// Memory for an alternate signal stack; null without memory.
void* make_signal_stack(std::size_t bytes) noexcept;

// Copies the launch's arguments to where device code may read them. Only when active.
const void* copy_arguments(Window& window, const Grid& grid) noexcept;
// The services table whose entries give the runtime its rights and take them back. Only when active.
const MrServices* switching_table(const MrServices& direct) noexcept;

}  // namespace mr::simt::protect
