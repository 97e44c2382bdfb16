// How host threads wait: they help, then spin briefly, then sleep.
#pragma once
#include <cstdint>

#include <engine/queue.h>

namespace mr::engine {

enum class WaitMode : std::uint8_t {
  automatic,  // spin for some microseconds, then block
  spin,       // never give the processor away (cudaDeviceScheduleSpin)
  yield,      // sched_yield between looks (cudaDeviceScheduleYield)
  block,      // block at once (cudaDeviceScheduleBlockingSync, cudaEventBlockingSync)
};

// The host function that the calling thread has enqueued last and hasn't waited for: who enqueues one without an
// observation's tag says so, behind its publication, and the wait for it is shorter.
struct NewestHostCall {
  Queue* queue = nullptr;
  HostCall call;
  unsigned count = 0;  // how many it has enqueued into `queue`, one after the other

  // Many without a wait: the worker that watches the queue is called for them before somebody waits.
  static constexpr unsigned early = 32;
  void enqueued(Queue& into, const HostCall& what) noexcept {
    count = queue == &into ? count + 1 : 1;
    queue = &into;
    call = what;
    if (count % early == 0) into.call_early(what.sequence);
  }
};
extern constinit thread_local NewestHostCall newest_host_call;

void wait_pending(Queue& queue, std::uint64_t sequence, WaitMode mode) noexcept;

// Returns when queue.completed() >= sequence; what the operations wrote is visible then (acquire). The calling thread
// executes finite operations that this depends on; never a may-spin kernel, never a host function. Safe on any thread,
// including inside a host function.
inline void wait(Queue& queue, std::uint64_t sequence, WaitMode mode = WaitMode::automatic) noexcept {
  if (queue.completed() < sequence) wait_pending(queue, sequence, mode);
}

// The same by the queue's owner (Appender::claim_for), who runs it up to there or until it needs a worker, and gives it
// up.
void wait_as_owner(Queue& queue, std::uint64_t sequence, WaitMode mode) noexcept;

}  // namespace mr::engine
