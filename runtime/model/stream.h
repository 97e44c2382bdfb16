// Streams: what the runtime adds to a queue. Handles, default streams, and the order between the legacy stream and
// blocking streams.
#pragma once
#include <atomic>
#include <cstdint>

#include <driver_types.h>
#include <engine/queue.h>
#include <model/context.h>
#include <model/object_pool.h>
#include <observe/explorer.h>

namespace mr::model {

class Capture;
struct Programmatic;

// What cudaStreamSetAttribute sets, apart from the priority. Set and read under a lock; sync_policy is also read by
// waits.
struct StreamAttributes {
  cudaAccessPolicyWindow access_policy{};
  // cudaSynchronizationPolicy; -1, which no value of the enumeration is, until one is set: the device's schedule flags
  // count then.
  std::atomic<int> sync_policy{-1};
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
  cudaLaunchMemSyncDomainMap domain_map{0, 1};
  std::atomic<bool> hinted{false};  // one of those that captured launches take over has been set
};

// What captured launches take over of a stream's attributes.
struct StreamHints {
  cudaAccessPolicyWindow window{};
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
  cudaLaunchMemSyncDomainMap domain_map{0, 1};
};

// cudaStream_t points to one. Type-stable (ObjectPool). What calls that enqueue look at is one line, the first.
struct alignas(64) Stream {
  std::atomic<bool> live{false};
  bool blocking = true;  // with respect to the legacy stream
  bool is_legacy = false;
  bool is_per_thread = false;
  // True while the stream is in context->dirty. seq_cst: set after publishing work; cleared before looking at the tail.
  std::atomic<bool> dirty{false};
  engine::Queue* queue = nullptr;
  Context* context = nullptr;
  // Of the legacy queue: what this stream waits for already. Written under the queue's append lock; relaxed: a record
  // that reads a value from before a concurrent enqueue is ordered before that enqueue.
  std::atomic<std::uint64_t> legacy_seen{0};
  unsigned flags = 0;            // as given to cudaStreamCreateWithFlags
  std::atomic<int> priority{0};  // CUDA's scale: 0 least urgent, -5 most
  std::uint64_t id = 0;          // cudaStreamGetId: unique in the process
  std::uint32_t generation = 0;  // context generation it belongs to
  // The capture that this stream takes part in, or null. Written by capture.cpp; read by every call that enqueues
  // (through slow()).
  std::atomic<Capture*> capture{nullptr};
  StreamAttributes attributes;
  std::size_t list_index = 0;  // in context->streams, guarded by its lock
  // Programmatic dependent launches (programmatic.h); made when first needed, stays with the slot.
  std::atomic<Programmatic*> programmatic{nullptr};
  Stream* next_free = nullptr;
};

inline constexpr int greatest_priority = -5;  // cudaDeviceGetStreamPriorityRange: least 0, greatest -5
inline unsigned level_of(int priority) noexcept { return static_cast<unsigned>(priority - greatest_priority); }

// The stream that a handle names for the calling thread: null and the two special handles included. `per_thread` says
// what null means (the _ptsz entry points). Returns null for an invalid handle. Makes the context and the default
// streams on first use.
Stream* resolve_default(cudaStream_t handle, bool per_thread) noexcept;
inline Stream* resolve(cudaStream_t handle, bool per_thread) noexcept {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) [[unlikely]]
    return resolve_default(handle, per_thread);
  auto* stream = reinterpret_cast<Stream*>(handle);
  return ObjectPool<Stream>::valid(stream) ? stream : nullptr;
}
cudaError_t create_stream(cudaStream_t* out, unsigned flags, int priority) noexcept;
cudaError_t destroy_stream(Stream& stream) noexcept;
// Attributes and their copying. cudaErrorInvalidValue: not an attribute of streams, or not a value that it can have.
// Thread-safe.
cudaError_t get_attribute(Stream& stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* out) noexcept;
cudaError_t set_attribute(Stream& stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) noexcept;
void copy_attributes(Stream& to, Stream& from) noexcept;
void reset_attributes(Stream& stream) noexcept;
StreamHints hints_of(Stream& stream) noexcept;
// How host threads wait for this stream.
engine::WaitMode wait_mode(const Stream& stream) noexcept;
Stream* make_legacy_stream(Context& context);
// The calling thread's default stream on the current device.
Stream& per_thread_stream() noexcept;

// Enqueues operations into a stream, with the implicit order of the default stream in place:
//   Enqueue e(stream); auto* op = e.push<engine::CopyOp>(engine::OpKind::copy); ...; e.sequence()
// The destructor publishes. For the legacy stream it first waits for the blocking streams that have work, O(those). Not
// to be nested.
class Enqueue {
 public:
  explicit Enqueue(Stream& stream) noexcept : before_(stream), appender_(*stream.queue), stream_(stream) {
    if (stream.is_legacy)
      wait_for_blocking();
    else if (stream.blocking && stream.context->legacy_point.load(std::memory_order_acquire) >
                                    stream.legacy_seen.load(std::memory_order_relaxed))
      wait_for_legacy();
  }
  ~Enqueue() noexcept {
    // Published by the append lock's release, after which enqueuers into blocking streams may see it.
    if (stream_.is_legacy) stream_.context->legacy_point.store(appender_.sequence(), std::memory_order_release);
  }
  Enqueue(const Enqueue&) = delete;
  Enqueue& operator=(const Enqueue&) = delete;

  template <class T> T* push(engine::OpKind kind, std::size_t bytes = sizeof(T)) noexcept {
    return appender_.push<T>(kind, bytes);
  }
  // Of the newest operation in the stream, pushed here or before: "everything so far".
  std::uint64_t sequence() const noexcept { return appender_.sequence(); }
  engine::Queue& queue() const noexcept { return appender_.queue(); }
  // See Appender::claim_for. Nothing for the explorer, who decides what runs.
  void claim_for(bool& mine) noexcept {
    if (!observe::explorer) appender_.claim_for(mine);
  }
  engine::Appender& appender() noexcept { return appender_; }

 private:
  // Outermost: takes the legacy lock before and marks the stream after the append lock is held.
  struct Outer {
    explicit Outer(Stream& s) noexcept : stream(s) {
      if (s.is_legacy) s.context->legacy_lock.lock();
    }
    ~Outer() noexcept {
      if (stream.is_legacy)
        stream.context->legacy_lock.unlock();
      else if (stream.blocking && !stream.dirty.load(std::memory_order_seq_cst))
        mark_dirty(stream);
    }
    Stream& stream;
  };
  static void mark_dirty(Stream& stream) noexcept;
  void wait_for_blocking() noexcept;
  void wait_for_legacy() noexcept;

  Outer before_;
  engine::Appender appender_;
  Stream& stream_;
};

// cudaStreamQuery and cudaStreamSynchronize without error handling: for the legacy stream they look at the blocking
// streams too.
bool stream_idle(Stream& stream) noexcept;
void stream_wait(Stream& stream) noexcept;

}  // namespace mr::model
