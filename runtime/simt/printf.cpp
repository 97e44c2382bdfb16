#include <simt/printf.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <simt/executor.h>
#include <simt/format.h>
#include <simt/lock.h>

namespace mr::simt {
namespace {

// The device's output since the last flush: formatted texts, one record for each call, in a ring of `capacity` bytes.
// When a record doesn't fit, the oldest ones make room, as the reference says of the real buffer.
struct Fifo {
  Lock lock;
  std::mutex flushing;  // keeps the texts of two flushes in order; held while writing to stdout
  std::atomic<bool> filled{
      false};  // relaxed: a hint that saves flushes of an empty buffer; the lock publishes the records
  char* bytes = nullptr;
  std::size_t capacity = 0, begin = 0, used = 0;

  bool reset(std::size_t size) noexcept {
    std::free(bytes);
    bytes = size ? static_cast<char*>(std::malloc(size)) : nullptr;
    capacity = bytes ? size : 0;
    begin = used = 0;
    return bytes || !size;
  }
  void copy_in(const void* from, std::size_t n) noexcept {
    const std::size_t at = (begin + used) % capacity, first = n < capacity - at ? n : capacity - at;
    std::memcpy(bytes + at, from, first);
    std::memcpy(bytes, static_cast<const char*>(from) + first, n - first);
    used += n;
  }
  void copy_out(void* to, std::size_t n) noexcept {
    const std::size_t first = n < capacity - begin ? n : capacity - begin;
    std::memcpy(to, bytes + begin, first);
    std::memcpy(static_cast<char*>(to) + first, bytes, n - first);
    begin = (begin + n) % capacity;
    used -= n;
  }
  // False when the record can never fit.
  bool push(const char* text, std::size_t size) noexcept {
    const auto length = static_cast<std::uint32_t>(size);
    if (size + sizeof length > capacity) return false;
    while (used + size + sizeof length > capacity) {
      std::uint32_t oldest;
      copy_out(&oldest, sizeof oldest);
      begin = (begin + oldest) % capacity;
      used -= oldest;
    }
    copy_in(&length, sizeof length);
    copy_in(text, size);
    filled.store(true, std::memory_order_relaxed);
    return true;
  }
};

Lock create_lock;

// The device's buffer; made on first use. DeviceState::printf_buffer is written once (release), under create_lock.
Fifo* fifo_of(DeviceState& device, bool create) noexcept {
  std::atomic_ref<void*> slot(device.printf_buffer);
  if (void* fifo = slot.load(std::memory_order_acquire)) return static_cast<Fifo*>(fifo);
  if (!create) return nullptr;
  std::lock_guard guard(create_lock);
  if (void* fifo = slot.load(std::memory_order_relaxed)) return static_cast<Fifo*>(fifo);
  Fifo* fifo = new (std::nothrow) Fifo;
  if (!fifo) return nullptr;
  const std::size_t bytes = device.printf_bytes.load(std::memory_order_relaxed);
  if (!fifo->reset(bytes ? bytes : default_printf_bytes)) {
    delete fifo;
    return nullptr;
  }
  slot.store(fifo, std::memory_order_release);
  return fifo;
}

// Holds off interruptions of the calling thread's device code.
class Uninterruptible {
 public:
  explicit Uninterruptible(Executor& e) noexcept : e_(e) { e_.uninterruptible = e_.uninterruptible + 1; }
  ~Uninterruptible() { e_.uninterruptible = e_.uninterruptible - 1; }

 private:
  Executor& e_;
};

}  // namespace

bool printf_resize(DeviceState& device, std::size_t bytes) noexcept {
  printf_flush(device);
  Fifo* fifo = fifo_of(device, true);
  if (!fifo) return false;
  std::lock_guard guard(fifo->lock);
  return fifo->reset(bytes);
}

bool printf_in_use(const DeviceState& device) noexcept {
  // A const atomic_ref is C++26; nothing is written.
  return std::atomic_ref<void*>(const_cast<DeviceState&>(device).printf_buffer).load(std::memory_order_relaxed);
}

void printf_flush_buffer(DeviceState& device) noexcept {
  Fifo* fifo = fifo_of(device, false);
  if (!fifo || !fifo->filled.load(std::memory_order_relaxed)) return;
  std::lock_guard writer(fifo->flushing);
  char* text = nullptr;
  std::size_t size = 0;
  {
    std::lock_guard guard(fifo->lock);
    text = static_cast<char*>(std::malloc(fifo->used + 1));
    if (!text) return;
    while (fifo->used) {
      std::uint32_t length;
      fifo->copy_out(&length, sizeof length);
      fifo->copy_out(text + size, length);
      size += length;
    }
    fifo->filled.store(false, std::memory_order_relaxed);
  }
  std::fwrite(text, 1, size, stdout);
  std::free(text);
}

void printf_close(DeviceState& device) noexcept {
  printf_flush(device);
  Fifo* fifo = static_cast<Fifo*>(device.printf_buffer);
  device.printf_buffer = nullptr;
  if (!fifo) return;
  fifo->reset(0);
  delete fifo;
}

int device_printf(Executor& e, const char* format, const MrPrintfArg* arguments, std::uint32_t count) noexcept {
  if (!format) return -1;
  const Uninterruptible held(e);
  // The kernel's memory is read here, before any lock is taken.
  Text text;
  format_device_text(text, format, arguments, count);
  Fifo* fifo = fifo_of(*e.grid->device, true);
  if (!fifo || text.failed()) return -2;
  std::lock_guard guard(fifo->lock);
  if (!fifo->push(text.data(), text.size())) return -2;
  return static_cast<int>(count < most_printf_arguments ? count : most_printf_arguments);
}

void report_assertion(Executor& e, const MrLane& lane, const char* expression, const char* file, std::uint32_t line,
                      const char* function) noexcept {
  {
    const Uninterruptible held(e);
    const MrBlock& b = *lane.block;
    char message[2048];
    const int n = std::snprintf(message, sizeof message,
                                "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                                function, b.block_idx[0], b.block_idx[1], b.block_idx[2], lane.tid[0], lane.tid[1],
                                lane.tid[2], expression);
    const auto size = n < static_cast<int>(sizeof message) ? static_cast<std::size_t>(n) : sizeof message - 1;
    std::fwrite(message, 1, size, stderr);
  }
  abandon(&e, Fault::assert_failed);
}

}  // namespace mr::simt
