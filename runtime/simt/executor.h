// What one host thread needs to run device code: its loop stack, its shared window, its spare lane stacks, and where to
// return to when the device code has to be abandoned.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include <simt/context.h>
#include <simt/grid.h>
#include <simt/stacks.h>
#include <simt/windows.h>

namespace mr::simt {

class Resident;

// What the fault handler noted; turned into a report after the device code was left.
struct RawFault {
  Fault fault;
  std::uint64_t address;  // that was accessed, where known
  std::uint64_t pc;
  const MrLane* lane;  // whose stack faulted
  const char* note;    // a sentence that says more, constant or the executor's; or null
  bool shown = false;  // on stderr, whether reports are asked for or not
};

struct Executor {
  // The suspended host context while device code runs; mr_simt_call and mr_simt_switch write it.
  std::uint64_t host_context = 0;
  // The grid whose blocks run, null outside. Read by the fault handler of this thread.
  const Grid* grid = nullptr;
  // Its device. Written by this thread; read by interrupt_all (acquire/release: who sees it sees a constructed
  // executor).
  std::atomic<DeviceState*> device{nullptr};
  // Above 0 while a service holds a lock: an interruption must wait. Written and read by this thread and its signal
  // handler.
  volatile std::uint32_t uninterruptible = 0;
  RawFault raw{};
  char note[448];  // see RawFault::note

  // Loop mode.
  StackId loop_stack = no_stack;
  std::uint64_t loop_top = 0;
  MrLane* loop_lane = nullptr;
  MrBlock* loop_block = nullptr;
  Window* loop_window = nullptr;
  std::uint64_t pdl_triggered_grid = 0, pdl_triggered_block = 0;  // the last block of loop mode that triggered

  // Fiber mode.
  Resident* finite = nullptr;   // runs the blocks of run_blocks
  Resident* current = nullptr;  // whose lanes run now, null in loop mode
  Resident* spare = nullptr;    // finished residents, to be used again
  std::uint32_t spare_count = 0;
  StackCache stacks;
  [[no_unique_address]] SanitizedStack host_sanitized;

  // The list of all executors, under its lock.
  pthread_t thread{};
  Executor* previous = nullptr;
  Executor* next = nullptr;
  void* signal_stack = nullptr;  // ours, or null when the thread had one
};

// The calling thread's executor; made on first use. Null when memory is exhausted.
namespace detail {
extern constinit thread_local Executor* executor_of_thread __attribute__((tls_model("initial-exec")));
Executor* make_executor() noexcept;
}  // namespace detail
inline Executor* executor() noexcept {
  Executor* e = detail::executor_of_thread;
  return e ? e : detail::make_executor();
}
inline Executor* existing_executor() noexcept { return detail::executor_of_thread; }

// Calls `visit(executor)` for each, under the list's lock.
void for_each_executor(void (*visit)(Executor&, void*), void* argument) noexcept;

// Leaves the device code of the calling thread (on a device stack) for the host context, with e->raw.fault = fault.
[[noreturn]] void abandon(Executor* e, Fault fault, std::uint64_t address = 0) noexcept;

// Builds the report from e->raw, records it for the device, and returns the fault. On the host stack, after the
// abandoned device code was left.
Fault note_fault(Executor* e, const Grid& grid) noexcept;

}  // namespace mr::simt
