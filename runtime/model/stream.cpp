#include <model/stream.h>

#include <cstdio>
#include <mutex>

#include <memory/pool.h>
#include <model/capture.h>
#include <model/object_pool.h>
#include <observe/trace.h>

namespace mr::model {
namespace {

ObjectPool<Stream>& pool() {
  static ObjectPool<Stream>* const instance = new ObjectPool<Stream>(1u << 22);
  return *instance;
}

std::atomic<std::uint64_t> next_id{1};

// For traces.
void name_stream(const Stream& stream, const char* kind) noexcept {
  if (!observe::tracing) return;
  char text[96];
  std::snprintf(text, sizeof text, "%s %llu, device %d", kind, static_cast<unsigned long long>(stream.id),
                stream.context->ordinal);
  observe::name_queue(stream.queue, text);
}

Stream* make_stream(Context& context, unsigned flags, int priority) noexcept {
  Stream* stream = pool().take();
  if (!stream) return nullptr;
  stream->flags = flags;
  stream->blocking = !(flags & cudaStreamNonBlocking);
  stream->is_legacy = stream->is_per_thread = false;
  stream->priority.store(priority, std::memory_order_relaxed);
  stream->context = &context;
  stream->legacy_seen.store(0, std::memory_order_relaxed);
  stream->generation = context.generation.load(std::memory_order_relaxed);
  stream->id = next_id.fetch_add(1, std::memory_order_relaxed);
  stream->capture.store(nullptr, std::memory_order_relaxed);
  reset_attributes(*stream);
  stream->queue = engine::take_queue(&context.domain, level_of(priority));
  {
    std::scoped_lock hold(context.streams_lock);
    stream->list_index = context.streams.size();
    context.streams.push_back(stream);
  }
  stream->live.store(true, std::memory_order_release);
  name_stream(*stream, stream->blocking ? "stream" : "non-blocking stream");
  return stream;
}

// Takes a destroyed and drained stream out of the context's lists and gives its slot and queue back.
void retire(Stream& stream) noexcept {
  Context& context = *stream.context;
  {
    std::scoped_lock hold(context.dirty_lock);
    if (stream.dirty.load(std::memory_order_relaxed)) {
      for (Stream*& s : context.dirty)
        if (s == &stream) {
          s = context.dirty.back();
          context.dirty.pop_back();
          break;
        }
      stream.dirty.store(false, std::memory_order_relaxed);
    }
  }
  {
    std::scoped_lock hold(context.streams_lock);
    Stream* last = context.streams.back();
    context.streams[stream.list_index] = last;
    last->list_index = stream.list_index;
    context.streams.pop_back();
  }
  engine::give_queue(stream.queue);
  pool().release(&stream);
}

// The last operation of a destroyed stream that still had work: retires it. It is the queue's last, so nothing follows
// it.
engine::OpResult retire_op(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  retire(*static_cast<Stream*>(op.data[0]));
  return engine::OpResult::done;
}

// The calling thread's default streams, one per device, destroyed with the thread.
struct PerThread {
  struct Entry {
    Context* context;
    std::uint32_t generation;
    Stream* stream;
  };
  std::vector<Entry> entries;
  ~PerThread() {
    // In a forked child locks may be held for ever by threads that don't exist.
    if (slow_word.load(std::memory_order_relaxed) & slow_forked) return;
    for (const Entry& entry : entries)
      if (entry.stream->generation == entry.context->generation.load(std::memory_order_relaxed))
        destroy_stream(*entry.stream);
  }
};
thread_local PerThread per_thread;
// Trivially destructible copy of the newest entry: also answers while the thread's destructors run.
thread_local PerThread::Entry per_thread_cache{nullptr, 0, nullptr};

}  // namespace

Stream* make_legacy_stream(Context& context) {
  Stream* stream = make_stream(context, cudaStreamDefault, 0);
  stream->is_legacy = true;
  name_stream(*stream, "legacy default stream");
  return stream;
}

Stream& per_thread_stream() noexcept {
  Context& context = current_context();
  const std::uint32_t generation = context.generation.load(std::memory_order_relaxed);
  if (per_thread_cache.context == &context && per_thread_cache.generation == generation)
    return *per_thread_cache.stream;
  for (PerThread::Entry& entry : per_thread.entries) {
    if (entry.context != &context) continue;
    if (entry.generation != generation) {
      entry.stream = make_stream(context, cudaStreamDefault, 0);
      entry.stream->is_per_thread = true;
      entry.generation = generation;
    }
    per_thread_cache = entry;
    return *entry.stream;
  }
  Stream* stream = make_stream(context, cudaStreamDefault, 0);
  stream->is_per_thread = true;
  name_stream(*stream, "per-thread default stream");
  per_thread.entries.push_back({&context, generation, stream});
  per_thread_cache = per_thread.entries.back();
  return *stream;
}

Stream* resolve_default(cudaStream_t handle, bool per_thread_default) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  const bool thread = value == 2 || (value == 0 && per_thread_default);
  return thread ? &per_thread_stream() : current_context().legacy;
}

cudaError_t create_stream(cudaStream_t* out, unsigned flags, int priority) noexcept {
  if (priority > 0) priority = 0;
  if (priority < greatest_priority) priority = greatest_priority;
  Stream* stream = make_stream(current_context(), flags, priority);
  if (!stream) return cudaErrorMemoryAllocation;
  *out = reinterpret_cast<cudaStream_t>(stream);
  return cudaSuccess;
}

cudaError_t destroy_stream(Stream& stream) noexcept {
  bool expected = true;
  if (!stream.live.compare_exchange_strong(expected, false, std::memory_order_acq_rel))
    return cudaErrorInvalidResourceHandle;
  capture_stream_destroyed(stream);
  if (!stream.queue->has_work()) {
    retire(stream);
    return cudaSuccess;
  }
  // Not through Enqueue: bookkeeping is not work that the default stream has to wait for, and the stream may be gone
  // once it is published.
  engine::Appender appender(*stream.queue);
  auto* op = appender.push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead;
  op->run = retire_op;
  op->data[0] = &stream;
  return cudaSuccess;
}

void Enqueue::mark_dirty(Stream& stream) noexcept {
  Context& context = *stream.context;
  std::scoped_lock hold(context.dirty_lock);
  if (stream.dirty.exchange(true, std::memory_order_seq_cst)) return;
  context.dirty.push_back(&stream);
}

void Enqueue::wait_for_blocking() noexcept {
  Context& context = *stream_.context;
  std::scoped_lock hold(context.dirty_lock);
  for (Stream* stream : context.dirty) {
    // Cleared before the tail is read: a stream that publishes work later marks itself again (Outer, which publishes
    // first).
    stream->dirty.exchange(false, std::memory_order_seq_cst);
    engine::Queue& queue = *stream->queue;
    const std::uint64_t tail = queue.tail();
    if (queue.completed() >= tail) continue;
    auto* wait = appender_.push<engine::WaitOp>(engine::OpKind::wait);
    wait->on = &queue;
    wait->sequence = tail;
  }
  context.dirty.clear();
}

void Enqueue::wait_for_legacy() noexcept {
  Context& context = *stream_.context;
  const std::uint64_t point = context.legacy_point.load(std::memory_order_acquire);
  stream_.legacy_seen.store(point, std::memory_order_relaxed);
  engine::Queue& queue = *context.legacy->queue;
  if (queue.completed() >= point) return;
  auto* wait = appender_.push<engine::WaitOp>(engine::OpKind::wait);
  wait->on = &queue;
  wait->sequence = point;
}

namespace {
// What the legacy stream is about is in two places: its queue, and the dirty streams, which its next operation will
// wait for. An enqueuer moves it from the second to the first, holding legacy_lock from before it clears the list until
// its operation is published: who looks at both must hold it too, or finds it in neither.
[[gnu::noinline]] bool legacy_idle(Stream& stream) noexcept {
  Context& context = *stream.context;
  std::scoped_lock hold(context.legacy_lock, context.dirty_lock);
  if (stream.queue->has_work()) return false;
  for (Stream* other : context.dirty)
    if (other->queue->has_work()) return false;
  return true;
}
}  // namespace

bool stream_idle(Stream& stream) noexcept {
  if (stream.queue->has_work()) return false;
  return !stream.is_legacy || legacy_idle(stream);
}

void stream_wait(Stream& stream) noexcept {
  std::uint64_t tail = stream.queue->tail();
  if (stream.is_legacy) [[unlikely]] {
    Context& context = *stream.context;
    const engine::WaitMode mode = wait_mode(stream);
    // One at a time: the list may change while we wait, and what is added meanwhile is not ours to wait for.
    struct Point {
      engine::Queue* queue;
      std::uint64_t sequence;
    };
    thread_local std::vector<Point> points;
    points.clear();
    {
      std::scoped_lock hold(context.legacy_lock, context.dirty_lock);  // as in legacy_idle
      tail = stream.queue->tail();
      for (Stream* other : context.dirty)
        if (other->queue->has_work()) points.push_back({other->queue, other->queue->tail()});
    }
    for (const Point& point : points) engine::wait(*point.queue, point.sequence, mode);
  }
  if (stream.queue->newest_is_called_for() || stream.queue->completed() < tail)
    engine::wait_pending(*stream.queue, tail, wait_mode(stream));
  // For what is enqueued next: long work that this thread has run has driven it out of the first cache.
  __builtin_prefetch(&stream);
  // Blocking streams have been waited for as well: any pool may have something to give back.
  memory::synchronized(stream.context->ordinal, stream.is_legacy ? nullptr : stream.queue);
}

}  // namespace mr::model
