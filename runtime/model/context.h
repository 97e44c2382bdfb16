// A device's primary context: its error state, default streams, and what all of its streams share.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <driver_types.h>
#include <engine/op.h>
#include <engine/spinlock.h>
#include <engine/wait.h>
#include <simt/grid.h>

namespace mr::model {

struct Stream;

// Why an API call can't take the short way. One word for the process, read relaxed by launch, record and query: zero
// almost always.
enum Slow : std::uint32_t {
  slow_sticky = 1u << 0,     // some context has a sticky error
  slow_capture = 1u << 1,    // some stream is capturing, or a thread is in a capture that forbids calls
  slow_observe = 1u << 2,    // a tool wants to see every call
  slow_forked = 1u << 3,     // this is a forked child: every call fails with cudaErrorInitializationError
  slow_no_device = 1u << 4,  // MILLRACE_DEVICES=0: every call that needs a device fails with cudaErrorNoDevice
  slow_unused = 1u << 5,     // a context is there for managed variables alone: a child that is forked now may be used
};
extern std::atomic<std::uint32_t> slow_word;
inline bool slow() noexcept { return slow_word.load(std::memory_order_relaxed) != 0; }

// Thread-safe unless said otherwise. Contexts are made on first use and never freed; cudaDeviceReset starts a new
// generation in place.
struct Context {
  engine::Domain domain;
  simt::DeviceState device;
  int ordinal = 0;

  // The error that killed this context (cudaSuccess while it lives). Set once per generation, then device.dead; read by
  // every call.
  std::atomic<cudaError_t> sticky{cudaSuccess};
  // Raised by cudaDeviceReset: handles of older generations are invalid.
  std::atomic<std::uint32_t> generation{1};

  // ---- the legacy default stream (specification 2.5.6.1) ----
  // Work given to it waits for all work that blocking streams were given before; work that blocking streams are given
  // later waits for it.
  Stream* legacy = nullptr;
  // Serialises enqueueing into the legacy stream. Taken before any queue's append lock.
  engine::SpinLock legacy_lock;
  // Sequence number of the legacy queue that later work of blocking streams has to wait for. Release under legacy_lock,
  // acquire by enqueuers; monotonic.
  std::atomic<std::uint64_t> legacy_point{0};
  // Blocking streams that were given work since the legacy stream last waited for all of them. Guarded by dirty_lock.
  engine::SpinLock dirty_lock;
  std::vector<Stream*> dirty;

  // All streams of this context that may have work (alive, or destroyed and not yet drained). Guarded by streams_lock.
  engine::SpinLock streams_lock;
  std::vector<Stream*> streams;

  engine::WaitMode wait_mode() const noexcept;
  // Waits for everything that any thread has enqueued so far in any stream of this context.
  void synchronize() noexcept;
  // The context dies of `error` (the first one counts).
  void die(cudaError_t error) noexcept;
};

// The context whose part `device` is.
inline Context& context_of(simt::DeviceState& device) noexcept {
  return *reinterpret_cast<Context*>(reinterpret_cast<char*>(&device) - offsetof(Context, device));
}

// The calling thread's current device (cudaSetDevice), and its context, made if need be.
int current_device() noexcept;
void set_current_device(int device) noexcept;
Context& current_context();
// The context of a device if it has been made, else null.
Context* existing_context(int device) noexcept;
Context& context_of(int device);
int device_count() noexcept;  // MILLRACE_DEVICES, default 1

}  // namespace mr::model
