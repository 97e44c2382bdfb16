// Protection keys (pkeys(7)): host threads may not touch device memory, device code may not touch host memory.
//
// Three keys beside key 0, which all other memory has:
//   device  device memory and variables, lanes' stacks, shared windows, launch frames: for device code and the runtime
//   shared  pinned, managed and registered memory, the images' code and constants: for everybody
//   launch  operation records with the kernels' arguments: everybody's, but device code may only read
// A thread has the rights of one of three parties at a time: a host thread (all but the device key), device code (these
// three keys only), the runtime (everything). Without processor support, with MILLRACE_PROTECT=0 or under a sanitizer,
// keys are not in use, and every function here is a no-op behind one test of a constant.
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

namespace detail {
// Set once, when the library is loaded, before any of its other functions run.
[[gnu::visibility("hidden")]] extern bool in_use;
}  // namespace detail

// True when keys are in use. Constant.
inline bool active() noexcept { return detail::in_use; }
// The keys, for pkey_mprotect; -1 when keys are not in use.
int device_key() noexcept;
int shared_key() noexcept;
// Why keys are not in use, for messages and skipped tests; null when they are.
const char* inactive_reason() noexcept;

// Memory from the system, in whole pages, that device code may read: for operation records. Null without memory. Only
// when active. Never given back.
void* map_launch_memory(std::size_t bytes) noexcept;

// Gives the memory of the loaded object (image) that contains `address` the shared key, so that device code can read
// its constants and tables. Device variables get their own key afterwards. False when the kernel refuses.
bool share_object(const void* address) noexcept;

// While one lives, this thread has the runtime's rights: around work that touches device memory (copies, sets, running
// blocks). Worker threads keep one for good. Scopes nest; one inside another costs a few instructions.
class RuntimeScope {
 public:
  RuntimeScope() noexcept {
    if (active()) [[unlikely]]
      enter();
  }
  ~RuntimeScope() {
    if (active()) [[unlikely]]
      leave();
  }
  RuntimeScope(const RuntimeScope&) = delete;
  RuntimeScope& operator=(const RuntimeScope&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;
  std::uint32_t previous_;
};

// The opposite: while one lives, this thread has a host thread's rights. Around users' host functions on runtime
// threads.
class UserScope {
 public:
  UserScope() noexcept {
    if (active()) [[unlikely]]
      enter();
  }
  ~UserScope() {
    if (active()) [[unlikely]]
      leave();
  }
  UserScope(const UserScope&) = delete;
  UserScope& operator=(const UserScope&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;
  std::uint32_t previous_;
};

// ---- Inside this room
// -------------------------------------------------------------------------------------------------

// Makes pages readable and writable, with the device key when keys are in use.
bool make_lane_memory(void* begin, std::size_t bytes) noexcept;

// mr_simt_call of the thunk, and a lane's body, with the rights of device code. Only when active.
std::uint64_t call_loop(Executor* e, MrRunBlocks thunk, std::uint64_t first, std::uint64_t count) noexcept;
void call_lane(MrRunLane body, const void* args) noexcept;
// Where device code reads the launch's arguments: where they are (grid_args_readable), else in a copy that is this
// executor's own. Only when active.
const void* readable_arguments(Window& window, const Grid& grid) noexcept;
// Before the calling thread runs device code for the first time. Only when active.
void prepare_thread() noexcept;
// In a service: where in device code the calling lane called it.
std::uint64_t service_call_site(const MrLane& lane, const void* return_address) noexcept;
// The services table whose entries give the runtime its rights and take them back. Only when active.
const MrServices* switching_table(const MrServices& direct) noexcept;
// The same for the function that instrumented device code calls at each access.
using AccessEntry = void (*)(const MrBlock*, const void*, std::uint64_t, const void*, std::uint64_t, std::uint64_t);
AccessEntry switching_access_entry(AccessEntry direct) noexcept;

// Signals. A handler begins with the kernel's initial rights, on a stack that these don't reach.
using Handler = void (*)(int, siginfo_t*, void*);
// What to install for `handler`: itself, or an entry that first takes all rights.
Handler fault_entry(Handler handler) noexcept;
Handler interrupt_entry(Handler handler) noexcept;
// Where an abandoned context goes on.
std::uint64_t resume_address() noexcept;
// Memory for an alternate signal stack; null without memory.
void* make_signal_stack(std::size_t bytes) noexcept;
// A handler of the user's interrupted device code, or runs on a stack of ours, with the kernel's initial rights: gives
// the interrupted context what it lacks. True when that was the reason of the fault.
bool grant_after_fault(const siginfo_t& info, ucontext_t& context, bool on_device_stack) noexcept;

// For tests on processors without keys: pretends that they are there; `emulated` executes RDPKRU and WRPKRU by a
// handler of the test.
void pretend_for_test(bool emulated) noexcept;

}  // namespace mr::simt::protect
