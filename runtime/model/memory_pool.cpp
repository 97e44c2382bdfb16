#include <model/memory_pool.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include <cuda_runtime_api.h>
#include <model/context.h>
#include <model/device.h>
#include <model/memory.h>
#include <model/memory_managed.h>
#include <model/stream.h>

namespace mr::model {

using memory::Kind;
using memory::Pointer;
using memory::Pool;
using memory::space;
using memory::StreamPoint;

namespace {

// The pools that exist without being created, made when they are first asked for.
std::mutex pools_lock;
std::atomic<Pool*> defaults[memory::max_devices];
std::atomic<Pool*> currents[memory::max_devices];
Pool* managed_defaults[memory::max_devices];
Pool* managed_currents[memory::max_devices];
Pool* host_default[2];  // ordinary and managed
Pool* host_current[2];

// Which points a queue's later work waits for, by events: the newest few, per queue.
struct Followed {
  static constexpr unsigned size = 8;
  StreamPoint points[size];
  unsigned next = 0;
};
engine::SpinLock followed_lock;
std::unordered_map<engine::Queue*, Followed>& followed() {
  static auto* const map = new std::unordered_map<engine::Queue*, Followed>;
  return *map;
}

bool point_done(StreamPoint point) {
  return !point.queue || static_cast<engine::Queue*>(point.queue)->completed() >= point.sequence;
}

bool point_before(StreamPoint point, void* queue) {
  const std::scoped_lock hold(followed_lock);
  const auto found = followed().find(static_cast<engine::Queue*>(queue));
  if (found == followed().end()) return false;
  for (const StreamPoint& waited : found->second.points)
    if (waited.queue == point.queue && waited.sequence >= point.sequence) return true;
  return false;
}

// Everything that the stream's order puts before work enqueued from now on, as one point of its queue.
StreamPoint point_of(Stream& stream) noexcept {
  const bool implicit_order = stream.is_legacy ||
                              (stream.blocking && stream.context->legacy_point.load(std::memory_order_acquire) >
                                                      stream.legacy_seen.load(std::memory_order_relaxed));
  if (!implicit_order) [[likely]]
    return {stream.queue, stream.queue->tail()};
  // The order of the default stream becomes a wait in the queue, if there is something to wait for.
  Enqueue enqueue(stream);
  return {stream.queue, enqueue.sequence()};
}

Pool* make_default(int device, bool host, bool managed) noexcept {
  memory::PoolOptions options;
  options.device = host ? -1 : device;
  options.host = host && !managed;
  options.managed = managed;
  options.location = host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  options.is_default = true;
  return Pool::create(options);
}

constexpr bool device_exists(int device) noexcept { return device >= 0 && device < memory::max_devices; }

}  // namespace

void prepare_pools() noexcept { memory::set_order_test({point_done, point_before}); }

void reset_pools(int device) noexcept {
  const std::scoped_lock hold(pools_lock);
  defaults[device].store(nullptr, std::memory_order_release);
  currents[device].store(nullptr, std::memory_order_release);
  managed_defaults[device] = managed_currents[device] = nullptr;
  memory::drop_pools(device);
}

Pool* default_pool(int device) noexcept {
  if (Pool* pool = defaults[device].load(std::memory_order_acquire)) return pool;
  const std::scoped_lock hold(pools_lock);
  Pool* pool = defaults[device].load(std::memory_order_relaxed);
  if (!pool) {
    pool = make_default(device, false, false);
    defaults[device].store(pool, std::memory_order_release);
  }
  return pool;
}

Pool* current_pool(int device) noexcept {
  Pool* pool = currents[device].load(std::memory_order_acquire);
  return pool ? pool : default_pool(device);
}

bool set_current_pool(int device, Pool* pool) noexcept {
  if (pool->options().host || pool->options().device != device || pool->imported()) return false;
  if (pool->options().managed) {  // the one that the device's managed memory comes from
    const std::scoped_lock hold(pools_lock);
    managed_currents[device] = pool;
    return true;
  }
  currents[device].store(pool, std::memory_order_release);
  return true;
}

// ---- creation
// --------------------------------------------------------------------------------------------------------

cudaError_t create_pool(Pool** out, const cudaMemPoolProps& props) noexcept {
  memory::PoolOptions options;
  if (props.allocType != cudaMemAllocationTypePinned && props.allocType != cudaMemAllocationTypeManaged)
    return cudaErrorInvalidValue;
  options.managed = props.allocType == cudaMemAllocationTypeManaged;
  const auto handles = static_cast<unsigned>(props.handleTypes);
  if (handles != cudaMemHandleTypeNone && handles != cudaMemHandleTypePosixFileDescriptor &&
      handles != cudaMemHandleTypeFabric)
    return cudaErrorInvalidValue;
  // Managed pools are nobody else's, have no limit, and may be at home nowhere in particular.
  if (options.managed && (handles != cudaMemHandleTypeNone || props.maxSize || props.usage))
    return cudaErrorInvalidValue;
  switch (props.location.type) {
  case cudaMemLocationTypeInvalid:
  case cudaMemLocationTypeHostNumaCurrent:
    if (!options.managed) return cudaErrorInvalidValue;
    options.device = -1;
    break;
  case cudaMemLocationTypeDevice:
    if (props.location.id < 0 || props.location.id >= device_count()) return cudaErrorInvalidValue;
    options.device = props.location.id;
    break;
  case cudaMemLocationTypeHostNuma:
    if (props.location.id != 0) return cudaErrorInvalidValue;
    options.device = -1;
    options.host = !options.managed;
    break;
  case cudaMemLocationTypeHost:
    // Memory of no node in particular is nobody else's.
    if (handles != cudaMemHandleTypeNone) return cudaErrorInvalidValue;
    options.device = -1;
    options.host = !options.managed;
    break;
  default: return options.managed ? cudaErrorNotSupported : cudaErrorInvalidValue;
  }
  for (const unsigned char byte : props.reserved)
    if (byte) return cudaErrorInvalidValue;
  if (options.device >= 0 && props.maxSize > properties(options.device).totalGlobalMem)
    return cudaErrorMemoryAllocation;
  options.location = options.device >= 0 ? cudaMemLocationTypeDevice : props.location.type;
  options.handle_types = handles;
  options.exportable = handles == cudaMemHandleTypePosixFileDescriptor;
  options.max_size = props.maxSize;
  Pool* pool = Pool::create(options);
  if (!pool) return cudaErrorMemoryAllocation;
  *out = pool;
  return cudaSuccess;
}

cudaError_t destroy_pool(Pool& pool) noexcept {
  if (pool.options().is_default) return cudaErrorInvalidValue;
  {
    // Who destroys the current pool makes the default one current again.
    const std::scoped_lock hold(pools_lock);
    for (int device = 0; device < memory::max_devices; ++device) {
      Pool* expected = &pool;
      currents[device].compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
      if (managed_currents[device] == &pool) managed_currents[device] = nullptr;
    }
    for (Pool*& current : host_current)
      if (current == &pool) current = nullptr;
  }
  pool.destroy();
  return cudaSuccess;
}

// ---- allocation
// ------------------------------------------------------------------------------------------------------

cudaError_t allocate_ordered(void** out, std::size_t bytes, Pool* pool, Stream& stream, std::uint64_t site) noexcept {
  *out = nullptr;
  if (!pool) pool = current_pool(stream.context->ordinal);
  if (!pool) return cudaErrorMemoryAllocation;
  if (pool->imported()) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  Pool::Result result = pool->allocate(bytes, stream.queue, site);
  if (!result.pointer && memory::reclaim(stream.context->ordinal)) result = pool->allocate(bytes, stream.queue, site);
  if (!result.pointer) return cudaErrorMemoryAllocation;
  if (result.wait.queue && result.wait.queue != stream.queue) {
    Enqueue enqueue(stream);
    auto* op = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
    op->on = static_cast<engine::Queue*>(result.wait.queue);
    op->sequence = result.wait.sequence;
  }
  *out = result.pointer;
  return cudaSuccess;
}

namespace {

// A plain block is given back by an operation of the stream.
engine::OpResult free_op(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  space().device_heap(static_cast<int>(reinterpret_cast<std::intptr_t>(op.data[1]))).free(op.data[0]);
  return engine::OpResult::done;
}

}  // namespace

cudaError_t free_ordered(void* pointer, Stream& stream) noexcept {
  if (Pool* pool = space().pool_of(pointer)) {
    if (pool->options().managed) forget_managed(pointer);
    return pool->free(pointer, point_of(stream)) ? cudaSuccess : cudaErrorInvalidValue;
  }
  const Pointer found = space().find(pointer);
  if (!found.block.live || found.block.base != pointer) return cudaErrorInvalidValue;
  if (memory::is_managed(found.kind)) return cudaErrorNotSupported;
  if (found.kind != Kind::device ||
      (found.block.tag != memory::BlockTag::plain && found.block.tag != memory::BlockTag::pitched))
    return cudaErrorInvalidValue;
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead;
  op->run = free_op;
  op->data[0] = pointer;
  op->data[1] = reinterpret_cast<void*>(static_cast<std::intptr_t>(found.device));
  return cudaSuccess;
}

cudaError_t free_ordered_now(const Pointer& found, void* pointer) noexcept {
  auto* pool = static_cast<Pool*>(found.owner);
  if (pool->imported()) return cudaErrorInvalidValue;
  if (pool->options().managed) forget_managed(pointer);
  return pool->free(pointer, {}) ? cudaSuccess : cudaErrorInvalidValue;
}

void note_order(engine::Queue& queue, engine::Queue& on, std::uint64_t sequence) noexcept {
  if (memory::pools_watching.load(std::memory_order_relaxed) == 0) return;
  const std::scoped_lock hold(followed_lock);
  Followed& points = followed()[&queue];
  for (StreamPoint& point : points.points)
    if (point.queue == &on) {
      point.sequence = std::max(point.sequence, sequence);
      return;
    }
  points.points[points.next++ % Followed::size] = {&on, sequence};
}

// ---- pools by location
// -----------------------------------------------------------------------------------------------

Pool* located_pool(const cudaMemLocation& location, cudaMemAllocationType type, bool current) noexcept {
  const bool managed = type == cudaMemAllocationTypeManaged;
  if (!managed && type != cudaMemAllocationTypePinned) return nullptr;
  if (location.type == cudaMemLocationTypeDevice) {
    if (!device_exists(location.id) || location.id >= device_count()) return nullptr;
    if (!managed) return current ? current_pool(location.id) : default_pool(location.id);
    const std::scoped_lock hold(pools_lock);
    if (current && managed_currents[location.id]) return managed_currents[location.id];
    Pool*& pool = managed_defaults[location.id];
    if (!pool) pool = make_default(location.id, false, true);
    return pool;
  }
  const bool nowhere = managed && location.type == cudaMemLocationTypeInvalid;  // managed memory needs no home
  if (location.type != cudaMemLocationTypeHost && !nowhere &&
      !(location.type == cudaMemLocationTypeHostNuma && location.id == 0))
    return nullptr;
  const std::scoped_lock hold(pools_lock);
  if (current && host_current[managed]) return host_current[managed];
  Pool*& pool = host_default[managed];
  if (!pool) pool = make_default(-1, true, managed);
  return pool;
}

cudaError_t set_located_pool(const cudaMemLocation& location, cudaMemAllocationType type, Pool* pool) noexcept {
  if (!located_pool(location, type, false) || pool->imported()) return cudaErrorInvalidValue;
  const bool managed = type == cudaMemAllocationTypeManaged;
  if (pool->options().managed != managed) return cudaErrorInvalidValue;
  if (location.type == cudaMemLocationTypeDevice) {
    if (pool->options().device != location.id) return cudaErrorInvalidValue;
    return set_current_pool(location.id, pool) ? cudaSuccess : cudaErrorInvalidValue;
  }
  if (pool->options().location != static_cast<int>(location.type)) return cudaErrorInvalidValue;
  const std::scoped_lock hold(pools_lock);
  host_current[managed] = pool;
  return cudaSuccess;
}

// ---- attributes
// ------------------------------------------------------------------------------------------------------

cudaError_t pool_attribute(Pool& pool, cudaMemPoolAttr attribute, void* value) noexcept {
  const auto wide = [value](std::uint64_t v) {
    *static_cast<std::uint64_t*>(value) = v;
    return cudaSuccess;
  };
  const auto narrow = [value](int v) {
    *static_cast<int*>(value) = v;
    return cudaSuccess;
  };
  if (attribute == cudaMemPoolReuseFollowEventDependencies) return narrow(pool.reuse_follow);
  if (attribute == cudaMemPoolReuseAllowOpportunistic) return narrow(pool.reuse_opportunistic);
  if (attribute == cudaMemPoolReuseAllowInternalDependencies) return narrow(pool.reuse_internal);
  if (pool.imported()) return cudaErrorInvalidValue;
  const Pool::Usage usage = pool.usage();
  switch (attribute) {
  case cudaMemPoolAttrReleaseThreshold: return wide(pool.release_threshold);
  case cudaMemPoolAttrReservedMemCurrent: return wide(usage.reserved);
  case cudaMemPoolAttrReservedMemHigh: return wide(usage.reserved_high);
  case cudaMemPoolAttrUsedMemCurrent: return wide(usage.used);
  case cudaMemPoolAttrUsedMemHigh: return wide(usage.used_high);
  default: return cudaErrorInvalidValue;
  }
}

cudaError_t set_pool_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value) noexcept {
  if (pool.imported()) return cudaErrorInvalidValue;
  const auto flag = [value] { return *static_cast<const int*>(value) != 0 ? 1 : 0; };
  switch (attribute) {
  case cudaMemPoolReuseFollowEventDependencies: pool.reuse_follow = flag(); return cudaSuccess;
  case cudaMemPoolReuseAllowOpportunistic: pool.reuse_opportunistic = flag(); return cudaSuccess;
  case cudaMemPoolReuseAllowInternalDependencies: pool.reuse_internal = flag(); return cudaSuccess;
  case cudaMemPoolAttrReleaseThreshold:
    pool.release_threshold = *static_cast<const std::uint64_t*>(value);
    return cudaSuccess;
  case cudaMemPoolAttrReservedMemHigh:
    if (*static_cast<const std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    pool.reset_reserved_high();
    return cudaSuccess;
  case cudaMemPoolAttrUsedMemHigh:
    if (*static_cast<const std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    pool.reset_used_high();
    return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

// ---- access
// ----------------------------------------------------------------------------------------------------------

cudaError_t pool_access(Pool& pool, const cudaMemLocation& location, cudaMemAccessFlags* flags) noexcept {
  const memory::PoolOptions& options = pool.options();
  switch (location.type) {
  case cudaMemLocationTypeDevice: {
    if (location.id < 0 || location.id >= device_count()) return cudaErrorInvalidValue;
    const std::uint64_t access = pool.access;
    const bool write = access >> 32 >> location.id & 1, read = access >> location.id & 1;
    // Of managed memory, which all may use, no access is said until it is given.
    *flags = write ? cudaMemAccessFlagsProtReadWrite : read ? cudaMemAccessFlagsProtRead : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  }
  case cudaMemLocationTypeHost:
  case cudaMemLocationTypeHostNuma:
    *flags = options.host ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

// Three questions are asked of every entry, one after the other; the first answer to one of them counts.
cudaError_t set_pool_access(Pool& pool, const cudaMemAccessDesc* list, std::size_t count) noexcept {
  const memory::PoolOptions& options = pool.options();
  const bool homeless = options.host || options.managed;  // hosts may be named
  const auto on_device = [](const cudaMemAccessDesc& wish) { return wish.location.type == cudaMemLocationTypeDevice; };
  const auto flags_of = [](const cudaMemAccessDesc& wish) { return static_cast<int>(wish.flags); };
  const auto first = [&](auto&& answer) {
    for (std::size_t i = 0; i < count; ++i)
      if (const cudaError_t error = answer(list[i])) return error;
    return cudaSuccess;
  };
  cudaError_t error = first([&](const cudaMemAccessDesc& wish) {
    if (flags_of(wish) == cudaMemAccessFlagsProtRead || (!on_device(wish) && !homeless)) return cudaErrorNotSupported;
    const int id = wish.location.id;
    return on_device(wish) && (id < 0 || id >= device_count()) ? cudaErrorInvalidDevice : cudaSuccess;
  });
  if (error) return error;
  error = first([&](const cudaMemAccessDesc& wish) {
    const int flags = flags_of(wish), type = wish.location.type;
    const bool place = on_device(wish) || type == cudaMemLocationTypeHost || type == cudaMemLocationTypeHostNuma;
    const bool wanted = flags == cudaMemAccessFlagsProtNone || flags == cudaMemAccessFlagsProtReadWrite;
    return place && wanted ? cudaSuccess : cudaErrorInvalidValue;
  });
  if (error) return error;
  // Where a pool is at home it can always be used, but for managed memory.
  error = first([&](const cudaMemAccessDesc& wish) {
    if (flags_of(wish) != cudaMemAccessFlagsProtNone || options.managed) return cudaSuccess;
    if (on_device(wish)) return options.device == wish.location.id ? cudaErrorInvalidDevice : cudaSuccess;
    return cudaErrorNotSupported;
  });
  if (error) return error;
  for (std::size_t i = 0; i < count; ++i) {
    if (!on_device(list[i])) continue;
    const std::uint64_t bits = std::uint64_t{0x100000001} << list[i].location.id;
    pool.access = list[i].flags == cudaMemAccessFlagsProtReadWrite ? pool.access | bits : pool.access & ~bits;
  }
  return cudaSuccess;
}

}  // namespace mr::model
