#include <model/context.h>

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include <memory/pool.h>
#include <model/device.h>
#include <model/device_hooks.h>
#include <model/device_launch.h>
#include <model/function.h>
#include <model/log.h>
#include <model/memory.h>
#include <model/programmatic.h>
#include <model/stream.h>
#include <observe/trace.h>
#include <simt/fault.h>
#include <simt/grid.h>

namespace mr::model {

std::atomic<std::uint32_t> slow_word{0};

namespace {

// Made on first use, never freed. Acquire/release: the pointer publishes the object.
std::atomic<Context*> contexts[max_devices];
std::mutex making;
thread_local int this_device = 0;

cudaError_t error_of(simt::Fault fault) noexcept {
  switch (fault) {
  case simt::Fault::none: return cudaSuccess;
  case simt::Fault::illegal_address: return cudaErrorIllegalAddress;
  case simt::Fault::misaligned_address: return cudaErrorMisalignedAddress;
  case simt::Fault::assert_failed: return cudaErrorAssert;
  case simt::Fault::trap: return cudaErrorLaunchFailure;
  case simt::Fault::bad_synchronization: return cudaErrorLaunchFailure;
  case simt::Fault::illegal_instruction: return cudaErrorIllegalInstruction;
  case simt::Fault::invalid_pc: return cudaErrorInvalidPc;
  case simt::Fault::stack_error: return cudaErrorIllegalAddress;  // as recorded
  case simt::Fault::interrupted: return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

void on_fault(engine::Domain& domain, simt::Fault fault, const simt::Grid&) {
  auto* context = static_cast<Context*>(domain.context);
  if (context->sticky.load(std::memory_order_relaxed) == cudaSuccess)  // else it is the echo of the first fault
    if (const simt::FaultReport report = simt::last_fault(context->device); report.message[0])
      log_message(cudaLogLevelError, report.message);
  context->die(error_of(fault));
}

}  // namespace

int current_device() noexcept { return this_device; }
void set_current_device(int device) noexcept { this_device = device; }

int device_count() noexcept {
  static const int count = [] {
    const char* text = std::getenv("MILLRACE_DEVICES");
    if (!text || !*text) return 1;
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (*end == 0 && n >= 0 && n <= max_devices) return static_cast<int>(n);
    std::fprintf(stderr, "millrace: MILLRACE_DEVICES=%s is not a number from 0 to %d; there is 1 device\n", text,
                 max_devices);
    return 1;
  }();
  return count;
}

namespace {

// Known before the first call, so that calls need no test of their own for it.
[[gnu::constructor]] void look_for_devices() noexcept {
  if (device_count() == 0) slow_word.fetch_or(slow_no_device, std::memory_order_relaxed);
}

}  // namespace

Context* existing_context(int device) noexcept { return contexts[device].load(std::memory_order_acquire); }

Context& context_of(int device) {
  if (Context* context = existing_context(device)) return *context;
  std::scoped_lock hold(making);
  if (Context* context = contexts[device].load(std::memory_order_relaxed)) return *context;
  static const bool hooks_installed = (install_device_hooks(), true);
  (void)hooks_installed;
  initialise_memory();
  // A child of this process would have none of its threads: its calls fail from now on (a fork before the first use is
  // fine).
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (!(slow_word.load(std::memory_order_relaxed) & slow_unused))
      slow_word.fetch_or(slow_forked, std::memory_order_relaxed);
  });
  (void)registered;
  observe::start_if_asked();
  auto* context = new Context;
  context->ordinal = device;
  context->device.ordinal = device;
  context->domain.device = &context->device;
  context->domain.context = context;
  context->domain.on_fault = on_fault;
  context->domain.on_begun = programmatic_begun;
  context->domain.on_launching = launch_family_of_node;
  context->legacy = make_legacy_stream(*context);
  contexts[device].store(context, std::memory_order_release);
  return *context;
}

Context& current_context() { return context_of(this_device); }

engine::WaitMode Context::wait_mode() const noexcept {
  switch (settings(ordinal).flags() & cudaDeviceScheduleMask) {
  case cudaDeviceScheduleSpin: return engine::WaitMode::spin;
  case cudaDeviceScheduleYield: return engine::WaitMode::yield;
  case cudaDeviceScheduleBlockingSync: return engine::WaitMode::block;
  default: return engine::WaitMode::automatic;
  }
}

void Context::die(cudaError_t error) noexcept {
  cudaError_t alive = cudaSuccess;
  // Release: who sees the error also sees what led to it; the flag is what running kernels poll.
  if (!sticky.compare_exchange_strong(alive, error, std::memory_order_acq_rel)) return;
  slow_word.fetch_or(slow_sticky, std::memory_order_release);
  device.dead.store(true, std::memory_order_release);
  // What polls notices by itself; this is for the others. A thread that just enters device code looks at `dead` first.
  simt::interrupt_all(&device);
}

void Context::synchronize() noexcept {
  struct Point {
    Stream* stream;  // type-stable; what follows is used if it is destroyed meanwhile
    engine::Queue* queue;
    std::uint64_t sequence;
  };
  // Kept per thread: its capacity stays, so that the call allocates only when there are more streams than ever before.
  thread_local std::vector<Point> points;
  points.clear();
  {
    std::scoped_lock hold(streams_lock);
    for (std::size_t i = 0; i < streams.size();) {
      Stream* stream = streams[i];
      const std::uint64_t tail = stream->queue->tail();
      if (stream->queue->completed() < tail) {
        points.push_back({stream, stream->queue, tail});
        ++i;
        continue;
      }
      ++i;
    }
  }
  const engine::WaitMode mode = wait_mode();
  for (const Point& point : points) {
    engine::wait(*point.queue, point.sequence, mode);
    __builtin_prefetch(point.stream);  // as stream_wait
  }
  memory::synchronized(ordinal, nullptr);
}

}  // namespace mr::model
