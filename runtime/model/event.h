// Events (specification 2.5.3): a record is a snapshot (queue, sequence number), not an operation, unless it has to
// take the time.
#pragma once
#include <atomic>
#include <cstdint>

#include <driver_types.h>
#include <engine/op.h>
#include <engine/queue.h>
#include <engine/spinlock.h>
#include <model/context.h>
#include <model/object_pool.h>

namespace mr::model {

struct Stream;
class Capture;

// What an event's newest record refers to. queue == null: never recorded, which counts as complete.
struct RecordPoint {
  engine::Queue* queue = nullptr;
  std::uint64_t sequence = 0;
  bool complete() const noexcept { return !queue || queue->completed() >= sequence; }
};

// cudaEvent_t points to one. Type-stable (ObjectPool): a pending stamp may hit a destroyed event's slot; its ticket is
// out of date then.
struct Event {
  std::atomic<bool> live{false};
  unsigned flags = 0;
  Context* context = nullptr;
  std::uint32_t generation = 0;
  engine::StampSlot stamp;

  // The newest record, readable without a lock: a sequence lock (odd while it is written; writers exclude each other by
  // `write_lock`).
  engine::SpinLock write_lock;
  std::atomic<std::uint32_t> version{0};
  std::atomic<engine::Queue*> queue{nullptr};
  std::atomic<std::uint64_t> sequence{0};

  // Set while the newest record was made in a capture (capture.cpp): what it stands for there, and that capture's id.
  std::atomic<Capture*> capture{nullptr};
  std::uint64_t capture_id = 0;
  void* capture_nodes = nullptr;  // capture.cpp's own
  void* ipc = nullptr;            // inter-process state of cudaEventInterprocess events
  // Programmatic events (programmatic.h): the point that a launch recorded, and where its kernel ends. Says something
  // about the newest record only if that is the same point. `programmatic` is set for good by the first such record;
  // the rest is guarded by write_lock.
  std::atomic<bool> programmatic{false};
  RecordPoint programmatic_point, programmatic_end;
  Event* next_free = nullptr;

  bool timed() const noexcept { return !(flags & cudaEventDisableTiming); }
  RecordPoint point() const noexcept {
    for (;;) {
      const std::uint32_t before = version.load(std::memory_order_acquire);
      RecordPoint p{queue.load(std::memory_order_relaxed), sequence.load(std::memory_order_relaxed)};
      std::atomic_thread_fence(std::memory_order_acquire);
      if (!(before & 1) && version.load(std::memory_order_relaxed) == before) return p;
    }
  }
  void set_point(engine::Queue* q, std::uint64_t s) noexcept;
};

inline bool valid_event(const Event* event) noexcept { return ObjectPool<Event>::valid(event); }
cudaError_t create_event(cudaEvent_t* out, unsigned flags) noexcept;
void destroy_event(Event& event) noexcept;
// All events of a context (cudaDeviceReset).
void destroy_events(Context& context) noexcept;
// Neither looks at captures: the API does first.
void record_event(Event& event, Stream& stream) noexcept;
void stream_wait_event(Stream& stream, Event& event) noexcept;
// An untimed record of a given point. `end`: of a programmatic event, where the kernel that records it ends.
void record_point(Event& event, const RecordPoint& point, const RecordPoint& end) noexcept;
// Milliseconds between two complete timed records.
cudaError_t elapsed_time(float* ms, Event& start, Event& end) noexcept;

}  // namespace mr::model
