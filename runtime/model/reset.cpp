#include <model/reset.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <model/context.h>
#include <model/device.h>
#include <model/device_heap.h>
#include <model/event.h>
#include <model/module.h>
#include <model/stream.h>
#include <simt/fault.h>
#include <simt/printf.h>

namespace mr::model {
namespace {

std::mutex resetting;
constexpr int most_hooks = 8;
ResetHook hooks[most_hooks];
int hook_count = 0;

void destroy_streams(Context& context) {
  std::vector<Stream*> streams;
  {
    std::scoped_lock hold(context.streams_lock);
    for (Stream* stream : context.streams)
      if (!stream->is_legacy) streams.push_back(stream);
  }
  for (Stream* stream : streams) destroy_stream(*stream);
}

// The slow word says whether any context has a sticky error: look again.
void update_slow_word() noexcept {
  for (int i = 0; i < max_devices; ++i)
    if (Context* context = existing_context(i);
        context && context->sticky.load(std::memory_order_acquire) != cudaSuccess)
      return;
  slow_word.fetch_and(~static_cast<std::uint32_t>(slow_sticky), std::memory_order_release);
}

}  // namespace

void add_reset_hook(ResetHook hook) noexcept {
  std::scoped_lock hold(resetting);
  if (hook_count == most_hooks) {
    std::fputs("millrace: too many reset hooks; raise most_hooks in model/reset.cpp\n", stderr);
    std::abort();
  }
  hooks[hook_count++] = hook;
}

void reset_device(int device) noexcept {
  std::scoped_lock hold(resetting);
  Context* context = existing_context(device);
  if (!context) {
    settings(device).reset();
    return;
  }
  // A GPU waits here for ever for graphs that launch themselves again and again.
  context->domain.launches_left.store(engine::Domain::most_when_closing, std::memory_order_relaxed);
  context->synchronize();
  context->domain.launches_left.store(engine::Domain::unlimited, std::memory_order_relaxed);
  const bool died = context->sticky.load(std::memory_order_acquire) != cudaSuccess;
  destroy_streams(*context);
  destroy_events(*context);
  simt::clear_fault(context->device);
  simt::printf_close(context->device);
  context->device.printf_bytes.store(0, std::memory_order_relaxed);
  close_device_heap(device);
  for (int i = 0; i < hook_count; ++i) hooks[i](device);
  for_each_module([](Module& module, void* data) { module.restore(*static_cast<int*>(data)); }, &device);
  settings(device).reset();
  for (int other = 0; other < max_devices; ++other) settings(other).set_peer(device, false);
  // Release: who sees the new generation sees a device that is ready for it.
  context->generation.fetch_add(1, std::memory_order_release);
  context->sticky.store(died ? cudaErrorDevicesUnavailable : cudaSuccess, std::memory_order_release);
  context->device.dead.store(false, std::memory_order_release);
  update_slow_word();
}

}  // namespace mr::model
