#include <model/external.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <memory/space.h>
#include <model/context.h>
#include <model/graph_arena.h>
#include <model/host_function.h>
#include <model/stream.h>

namespace mr::model {

using memory::Kind;
using memory::space;

namespace {

struct ExternalMemory {
  int file = -1;
  std::size_t bytes = 0;
};

struct Semaphore {
  bool timeline = false;
  int file = -1;
  // Of a timeline, in memory that other processes share. A signal's release pairs with a wait's acquire, in whatever
  // process: what was done before the signal is seen after the wait.
  std::atomic<std::uint64_t>* value = nullptr;
};

struct Mapping {
  void* begin;
  std::size_t bytes;
};

std::mutex external_mutex;
template <class T> std::vector<std::unique_ptr<T>>& all() {
  static auto* const instance = new std::vector<std::unique_ptr<T>>;
  return *instance;
}
// What user code was given, and the pages it lies in.
std::map<void*, Mapping>& mappings() {
  static auto* const instance = new std::map<void*, Mapping>;
  return *instance;
}

// The mutex must be held. Null when the handle is none.
template <class T, class Handle> T* find(Handle handle) noexcept {
  for (const auto& object : all<T>())
    if (reinterpret_cast<Handle>(object.get()) == handle) return object.get();
  return nullptr;
}
template <class T, class Handle> std::unique_ptr<T> take(Handle handle) noexcept {
  for (auto& object : all<T>())
    if (reinterpret_cast<Handle>(object.get()) == handle) {
      std::unique_ptr<T> taken = std::move(object);
      std::erase(all<T>(), nullptr);
      return taken;
    }
  return nullptr;
}

bool is_eventfd(int file) noexcept {
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  char target[64] = {};
  return readlink(path.c_str(), target, sizeof target - 1) > 0 && std::string(target) == "anon_inode:[eventfd]";
}

// ---- what streams do with a semaphore, on runtime threads
// ----------------------------------------------------------------------------------------------------------------

struct Step {
  Semaphore semaphore;
  std::uint64_t value;
};
// What a graph's node does, launch by launch. In the memory of the executable graph.
struct NodeWork {
  const Context* context;
  bool waits;
  unsigned count;
  Step* steps;
};
using Steps = std::vector<Step>;

void signal(const Step& step) noexcept {
  if (!step.semaphore.timeline) {
    const std::uint64_t one = 1;
    while (write(step.semaphore.file, &one, sizeof one) < 0 && errno == EINTR) {}
    return;
  }
  step.semaphore.value->store(step.value, std::memory_order_release);
  syscall(SYS_futex, step.semaphore.value, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// Looks up every millisecond, since whoever signals may not know how to wake, and a dying context must be noticed.
void wait(const Step& step, const Context& context) noexcept {
  const auto dead = [&] { return context.device.dead.load(std::memory_order_acquire); };
  if (!step.semaphore.timeline) {
    for (std::uint64_t taken; !dead();) {
      pollfd ready{step.semaphore.file, POLLIN, 0};
      // Another waiter may be faster; the descriptor may block then, until the next signal.
      if (poll(&ready, 1, 1) == 1 && read(step.semaphore.file, &taken, sizeof taken) == sizeof taken) return;
    }
    return;
  }
  for (std::uint64_t seen; (seen = step.semaphore.value->load(std::memory_order_acquire)) < step.value && !dead();) {
    const timespec soon{0, 1'000'000};
    syscall(SYS_futex, step.semaphore.value, FUTEX_WAIT, static_cast<std::uint32_t>(seen), &soon, nullptr, 0);
  }
}

struct Work {
  Steps steps;
  const Context* context;
};
void run_signals(void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  for (const Step& step : work->steps) signal(step);
}
void run_waits(void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  for (const Step& step : work->steps) wait(step, *work->context);
}

template <class Params>
cudaError_t enqueue(const cudaExternalSemaphore_t* semaphores, const Params* params, unsigned count, Stream& stream,
                    void (*run)(void*)) noexcept {
  auto work = std::make_unique<Work>();
  work->context = stream.context;
  {
    const std::scoped_lock hold(external_mutex);
    for (unsigned i = 0; i < count; ++i) {
      const Semaphore* semaphore = find<Semaphore>(semaphores[i]);
      if (!semaphore) return cudaErrorInvalidResourceHandle;
      if (params[i].flags) return cudaErrorInvalidValue;  // they are about NvSci
      work->steps.push_back({*semaphore, params[i].params.fence.value});
    }
  }
  enqueue_host_function(stream, run, work.release());
  return cudaSuccess;
}

}  // namespace

cudaError_t import_memory(cudaExternalMemory_t* out, const cudaExternalMemoryHandleDesc& handle) noexcept {
  if (handle.type < cudaExternalMemoryHandleTypeOpaqueFd || handle.type > cudaExternalMemoryHandleTypeNvSciBuf ||
      handle.size == 0 || (handle.flags & ~static_cast<unsigned>(cudaExternalMemoryDedicated)))
    return cudaErrorInvalidValue;
  if (handle.type != cudaExternalMemoryHandleTypeOpaqueFd) return cudaErrorNotSupported;
  struct stat status;
  if (fstat(handle.handle.fd, &status) != 0 || !S_ISREG(status.st_mode)) return cudaErrorUnknown;
  if (static_cast<unsigned long long>(status.st_size) < handle.size) return cudaErrorInvalidValue;
  const std::scoped_lock hold(external_mutex);
  all<ExternalMemory>().push_back(std::make_unique<ExternalMemory>(ExternalMemory{handle.handle.fd, handle.size}));
  *out = reinterpret_cast<cudaExternalMemory_t>(all<ExternalMemory>().back().get());
  return cudaSuccess;
}

cudaError_t map_external(void** out, cudaExternalMemory_t handle, const cudaExternalMemoryBufferDesc& buffer) noexcept {
  const std::scoped_lock hold(external_mutex);
  const ExternalMemory* external = find<ExternalMemory>(handle);
  if (!external) return cudaErrorInvalidResourceHandle;
  if (buffer.flags || buffer.size == 0 || buffer.offset > external->bytes ||
      buffer.size > external->bytes - buffer.offset)
    return cudaErrorInvalidValue;
  const std::size_t first = buffer.offset / memory::page_bytes * memory::page_bytes;
  const std::size_t bytes = buffer.offset + buffer.size - first;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, external->file, static_cast<off_t>(first));
  if (at == MAP_FAILED) return cudaErrorOperatingSystem;
  if (space().device_key() >= 0) memory::set_access(at, bytes, space().device_key());
  char* const begin = static_cast<char*>(at) + (buffer.offset - first);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  if (!space().ranges().insert({address, address + buffer.size, nullptr, external_range,
                                static_cast<std::uint8_t>(Kind::device),
                                static_cast<std::int16_t>(current_context().ordinal)})) {
    munmap(at, bytes);
    return cudaErrorMemoryAllocation;
  }
  mappings()[begin] = {at, bytes};
  *out = begin;
  return cudaSuccess;
}

bool unmap_external(void* pointer) noexcept {
  const std::scoped_lock hold(external_mutex);
  const auto found = mappings().find(pointer);
  if (found == mappings().end()) return false;
  space().ranges().erase(reinterpret_cast<std::uintptr_t>(pointer));
  munmap(found->second.begin, found->second.bytes);
  mappings().erase(found);
  return true;
}

cudaError_t destroy_external_memory(cudaExternalMemory_t handle) noexcept {
  const std::scoped_lock hold(external_mutex);
  const std::unique_ptr<ExternalMemory> external = take<ExternalMemory>(handle);
  if (!external) return cudaErrorInvalidResourceHandle;
  close(external->file);  // what is mapped stays
  return cudaSuccess;
}

cudaError_t import_semaphore(cudaExternalSemaphore_t* out, const cudaExternalSemaphoreHandleDesc& handle) noexcept {
  if (handle.type < cudaExternalSemaphoreHandleTypeOpaqueFd ||
      handle.type > cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 || handle.flags)
    return cudaErrorInvalidValue;
  Semaphore semaphore;
  semaphore.file = handle.handle.fd;
  if (handle.type == cudaExternalSemaphoreHandleTypeOpaqueFd) {
    if (!is_eventfd(handle.handle.fd)) return cudaErrorInvalidResourceHandle;
  } else if (handle.type == cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd) {
    struct stat status;
    if (fstat(handle.handle.fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 8)
      return cudaErrorInvalidResourceHandle;
    void* const at = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, handle.handle.fd, 0);
    if (at == MAP_FAILED) return cudaErrorOperatingSystem;
    semaphore.timeline = true;
    semaphore.value = static_cast<std::atomic<std::uint64_t>*>(at);
  } else {
    return cudaErrorNotSupported;
  }
  const std::scoped_lock hold(external_mutex);
  all<Semaphore>().push_back(std::make_unique<Semaphore>(semaphore));
  *out = reinterpret_cast<cudaExternalSemaphore_t>(all<Semaphore>().back().get());
  return cudaSuccess;
}

cudaError_t destroy_external_semaphore(cudaExternalSemaphore_t handle) noexcept {
  const std::scoped_lock hold(external_mutex);
  const std::unique_ptr<Semaphore> semaphore = take<Semaphore>(handle);
  if (!semaphore) return cudaErrorInvalidResourceHandle;
  if (semaphore->value) munmap(static_cast<void*>(semaphore->value), sizeof(std::uint64_t));
  close(semaphore->file);
  return cudaSuccess;
}

cudaError_t signal_external(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params,
                            unsigned count, Stream& stream) noexcept {
  return enqueue(semaphores, params, count, stream, run_signals);
}

cudaError_t wait_external(const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params,
                          unsigned count, Stream& stream) noexcept {
  return enqueue(semaphores, params, count, stream, run_waits);
}

namespace {

void run_node(void* data) {
  const auto& work = *static_cast<const NodeWork*>(data);
  for (unsigned i = 0; i < work.count; ++i)
    if (work.waits)
      wait(work.steps[i], *work.context);
    else
      signal(work.steps[i]);
}

template <class T> T* copy_of(GraphArena& arena, const T* from, unsigned count) {
  if (!from || count == 0) return nullptr;
  const std::span<const T> all(from, count);
  auto* to = static_cast<T*>(arena.allocate(all.size_bytes()));
  std::ranges::uninitialized_copy(all, std::span(to, count));
  return to;
}

}  // namespace

cudaError_t make_external(ExternalData& out, GraphArena& arena, const cudaExternalSemaphore_t* semaphores,
                          const cudaExternalSemaphoreSignalParams* signals,
                          const cudaExternalSemaphoreWaitParams* waits, unsigned count) {
  if (count && (!semaphores || (!signals && !waits))) return cudaErrorInvalidValue;
  {
    const std::scoped_lock hold(external_mutex);
    for (unsigned i = 0; i < count; ++i) {
      if (!find<Semaphore>(semaphores[i])) return cudaErrorInvalidResourceHandle;
      if (signals ? signals[i].flags : waits[i].flags) return cudaErrorInvalidValue;  // they are about NvSci
    }
  }
  out = {copy_of(arena, semaphores, count), copy_of(arena, signals, count), copy_of(arena, waits, count), count};
  return cudaSuccess;
}

ExternalWork make_external_work(const ExternalData& data, GraphArena& arena, const Context& context) {
  auto* work = static_cast<NodeWork*>(arena.allocate(sizeof(NodeWork)));
  *work = {&context, data.waits != nullptr, 0, nullptr};
  if (data.count) work->steps = static_cast<Step*>(arena.allocate(data.count * sizeof(Step)));
  const std::scoped_lock hold(external_mutex);
  for (unsigned i = 0; i < data.count; ++i)
    if (const Semaphore* semaphore = find<Semaphore>(data.semaphores[i]))
      work->steps[work->count++] = {*semaphore,
                                    data.waits ? data.waits[i].params.fence.value : data.signals[i].params.fence.value};
  return {run_node, work};
}

}  // namespace mr::model
