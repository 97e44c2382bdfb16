#include <model/event.h>

#include <mutex>

#include <model/capture.h>
#include <model/event_ipc.h>
#include <model/memory_pool.h>
#include <model/object_pool.h>
#include <model/programmatic.h>
#include <model/stream.h>

namespace mr::model {
namespace {

ObjectPool<Event>& pool() {
  static ObjectPool<Event>* const instance = new ObjectPool<Event>(1u << 24);
  return *instance;
}

}  // namespace

void Event::set_point(engine::Queue* q, std::uint64_t s) noexcept {
  // Sequence lock, writer's side: odd, values, even. The fence keeps the values behind the odd version.
  const std::uint32_t v = version.load(std::memory_order_relaxed);
  version.store(v + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  queue.store(q, std::memory_order_relaxed);
  sequence.store(s, std::memory_order_relaxed);
  version.store(v + 2, std::memory_order_release);
}

cudaError_t create_event(cudaEvent_t* out, unsigned flags) noexcept {
  Context& context = current_context();
  Event* event = pool().take();
  if (!event) return cudaErrorMemoryAllocation;
  event->flags = flags;
  event->context = &context;
  event->generation = context.generation.load(std::memory_order_relaxed);
  event->capture.store(nullptr, std::memory_order_relaxed);
  event->capture_nodes = event->ipc = nullptr;
  event->programmatic.store(false, std::memory_order_relaxed);
  if (flags & cudaEventInterprocess) [[unlikely]]
    if (const cudaError_t error = make_shared(*event)) {
      pool().release(event);
      return error;
    }
  event->live.store(true, std::memory_order_release);
  *out = reinterpret_cast<cudaEvent_t>(event);
  return cudaSuccess;
}

void destroy_event(Event& event) noexcept {
  event.live.store(false, std::memory_order_relaxed);
  {
    std::scoped_lock hold(event.write_lock);
    if (event.capture.load(std::memory_order_relaxed)) [[unlikely]]
      capture_event_released(event);
    // A pending stamp finds a newer ticket and leaves the slot alone. Tickets change under the lock only.
    event.stamp.ticket.store(event.stamp.ticket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    event.set_point(nullptr, 0);
    if (event.ipc) release_shared(event);
  }
  pool().release(&event);
}

void destroy_events(Context& context) noexcept {
  pool().for_each_live([&](Event& event) {
    if (event.context == &context) destroy_event(event);
  });
}

void record_event(Event& event, Stream& stream) noexcept {
  if (event.ipc) [[unlikely]]
    return record_shared(event, stream);
  const bool implicit_order = stream.is_legacy ||
                              (stream.blocking && stream.context->legacy_point.load(std::memory_order_acquire) >
                                                      stream.legacy_seen.load(std::memory_order_relaxed));
  if (!event.timed() && !implicit_order) [[likely]] {
    std::scoped_lock hold(event.write_lock);
    if (event.capture.load(std::memory_order_relaxed)) [[unlikely]]
      capture_event_released(event);
    event.set_point(stream.queue, stream.queue->tail());
    return;
  }
  std::scoped_lock hold(event.write_lock);
  if (event.capture.load(std::memory_order_relaxed)) [[unlikely]]
    capture_event_released(event);
  std::uint64_t sequence;
  {
    Enqueue enqueue(stream);
    if (event.timed()) {
      auto* op = enqueue.push<engine::StampOp>(engine::OpKind::stamp);
      op->slot = &event.stamp;
      op->ticket = event.stamp.ticket.load(std::memory_order_relaxed) + 1;
      event.stamp.ticket.store(op->ticket, std::memory_order_relaxed);
    }
    sequence = enqueue.sequence();
    event.set_point(stream.queue, sequence);
  }
}

void record_point(Event& event, const RecordPoint& point, const RecordPoint& end) noexcept {
  std::scoped_lock hold(event.write_lock);
  if (event.capture.load(std::memory_order_relaxed)) [[unlikely]]
    capture_event_released(event);
  if (end.queue) {
    event.programmatic_point = point;
    event.programmatic_end = end;
    event.programmatic.store(true, std::memory_order_relaxed);
  }
  event.set_point(point.queue, point.sequence);
}

namespace {

// Where the kernel ends whose launch recorded this point; never for other records.
RecordPoint programmatic_end(Event& event, const RecordPoint& point) noexcept {
  std::scoped_lock hold(event.write_lock);
  const RecordPoint& recorded = event.programmatic_point;
  if (recorded.queue != point.queue || recorded.sequence != point.sequence) return {};
  return event.programmatic_end;
}

}  // namespace

void stream_wait_event(Stream& stream, Event& event) noexcept {
  if (event.ipc) [[unlikely]]
    return stream_wait_shared(stream, event);
  const RecordPoint point = event.point();
  if (event.programmatic.load(std::memory_order_relaxed)) [[unlikely]]
    if (const RecordPoint end = programmatic_end(event, point); !end.complete()) {
      if (!point.complete()) {
        Enqueue enqueue(stream);
        auto* op = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
        op->on = point.queue;
        op->sequence = point.sequence;
      }
      return wait_for_programmatic(stream, end);
    }
  if (!point.queue || point.queue == stream.queue) return;
  // Streams that hop to and fro: whether the point is complete stands in a line that its queue's owner is writing.
  if (!(stream.queue->is_busy() && point.queue->is_busy_with(point.sequence)) && point.complete()) return;
  note_order(*stream.queue, *point.queue, point.sequence);
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
  op->on = point.queue;
  op->sequence = point.sequence;
}

cudaError_t elapsed_time(float* ms, Event& start, Event& end) noexcept {
  if (!start.timed() || !end.timed()) return cudaErrorInvalidResourceHandle;
  const RecordPoint from = start.point(), to = end.point();
  if (!from.queue || !to.queue) return cudaErrorInvalidResourceHandle;
  if (!from.complete() || !to.complete()) return cudaErrorNotReady;
  const std::uint64_t time[2] = {start.stamp.time_ns.load(std::memory_order_acquire),
                                 end.stamp.time_ns.load(std::memory_order_acquire)};
  *ms = static_cast<float>((static_cast<double>(time[1]) - static_cast<double>(time[0])) * 1e-6);
  return cudaSuccess;
}

}  // namespace mr::model
