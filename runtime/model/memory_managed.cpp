#include <model/memory_managed.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>
#include <memory/pool.h>
#include <memory/space.h>
#include <model/context.h>
#include <model/memory.h>
#include <model/stream.h>

namespace mr::model {

using memory::Pointer;
using memory::space;

namespace {

// A location as the attributes show it.
struct Place {
  int type = cudaMemLocationTypeInvalid;
  int id = cudaInvalidDeviceId;
  bool operator==(const Place&) const = default;
};

// The hints of some whole pages of a block.
struct Hints {
  bool read_mostly = false;
  Place preferred, prefetched;
  std::uint64_t devices = 0;  // that access it, one bit each
  bool host = false;          // accesses it
  bool operator==(const Hints&) const = default;
};

// Of one block: where each run of equal hints begins, in bytes from the block's start. Before the first entry there are
// none.
struct BlockHints {
  std::uint32_t generation = 0;
  std::map<std::size_t, Hints> runs;
};

std::mutex hints_lock;
std::map<const char*, BlockHints>& all_hints() {
  static auto* const map = new std::map<const char*, BlockHints>;
  return *map;
}

constexpr bool device_ok(int id) noexcept { return id >= 0; }

bool known_type(const cudaMemLocation& location) noexcept {
  return location.type >= cudaMemLocationTypeDevice && location.type <= cudaMemLocationTypeHostNumaCurrent;
}
bool existing_device(const cudaMemLocation& location) noexcept {
  return device_ok(location.id) && location.id < device_count();
}

// A machine has one host memory here, NUMA node 0.
cudaError_t check_place(const cudaMemLocation& location, cudaError_t no_device) noexcept {
  switch (location.type) {
  case cudaMemLocationTypeDevice: return existing_device(location) ? cudaSuccess : no_device;
  case cudaMemLocationTypeHost:
  case cudaMemLocationTypeHostNumaCurrent: return cudaSuccess;
  case cudaMemLocationTypeHostNuma: return location.id == 0 ? cudaSuccess : cudaErrorInvalidValue;
  default: return cudaErrorInvalidValue;
  }
}

// Advice about a NUMA node, other than who uses the memory, is taken of any memory and changes nothing (as recorded).
bool says_nothing(cudaMemoryAdvise advice, const cudaMemLocation& location) noexcept {
  const bool node = location.type == cudaMemLocationTypeHostNuma,
             current = location.type == cudaMemLocationTypeHostNumaCurrent;
  switch (advice) {
  case cudaMemAdviseSetReadMostly:
  case cudaMemAdviseUnsetReadMostly:
  case cudaMemAdviseUnsetPreferredLocation: return node || current;
  case cudaMemAdviseSetPreferredLocation: return (node && location.id == 0) || current;
  default: return false;
  }
}

// The hints of a block that is there; made if need be.
BlockHints& hints_of(const Pointer& found) {
  BlockHints& hints = all_hints()[found.block.base];
  if (hints.generation != found.block.generation) {
    hints.runs.clear();
    hints.generation = found.block.generation;
  }
  return hints;
}

// Applies `change` to the hints of all pages that the range touches.
template <class Change> void change_range(const void* pointer, std::size_t bytes, Change change) {
  const Pointer found = space().find(pointer);
  if (!found.block.live) return;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - found.block.base);
  const std::size_t begin = offset / memory::page_bytes * memory::page_bytes;
  const std::size_t end = (offset + bytes + memory::page_bytes - 1) / memory::page_bytes * memory::page_bytes;
  const std::scoped_lock hold(hints_lock);
  auto& runs = hints_of(found).runs;
  // Split at both ends, then change what lies between.
  for (const std::size_t edge : {begin, end}) {
    auto after = runs.upper_bound(edge);
    runs.emplace(edge, after == runs.begin() ? Hints{} : std::prev(after)->second);
  }
  for (auto run = runs.find(begin); run->first != end; ++run) change(run->second);
}

// Calls visit(const Hints&) for each run in the range.
template <class Visit> void visit_range(const void* pointer, std::size_t bytes, Visit visit) {
  const Pointer found = space().find(pointer);
  const auto begin = static_cast<std::size_t>(static_cast<const char*>(pointer) - found.block.base);
  const std::scoped_lock hold(hints_lock);
  const auto& runs = hints_of(found).runs;
  auto run = runs.upper_bound(begin);
  visit(run == runs.begin() ? Hints{} : std::prev(run)->second);
  for (; run != runs.end() && run->first < begin + bytes; ++run) visit(run->second);
}

}  // namespace

bool managed_range(const void* pointer, std::size_t bytes) noexcept {
  Operand operand;
  return pointer && bytes != 0 && look_up(pointer, bytes, &operand) && memory::is_managed(operand.kind);
}

cudaError_t check_prefetch(const void* pointer, std::size_t bytes, const cudaMemLocation& location,
                           unsigned long long flags) noexcept {
  if (flags != 0 || !pointer || bytes == 0) return cudaErrorInvalidValue;
  // A device that isn't there is seen before the range is.
  if (location.type == cudaMemLocationTypeDevice && !existing_device(location)) return cudaErrorInvalidDevice;
  if (!managed_range(pointer, bytes)) return cudaErrorInvalidValue;
  return check_place(location, cudaErrorInvalidDevice);
}

void prefetched(const void* pointer, std::size_t bytes, const cudaMemLocation& location, bool in_batch) noexcept {
  Place place{location.type, location.id};
  if (location.type == cudaMemLocationTypeHost && !in_batch) place.id = cudaCpuDeviceId;
  if (location.type == cudaMemLocationTypeHostNumaCurrent) place.id = 0;
  change_range(pointer, bytes, [&](Hints& hints) { hints.prefetched = place; });
}

cudaError_t advise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                   const cudaMemLocation& location) noexcept {
  if (says_nothing(advice, location)) return cudaSuccess;
  if (!managed_range(pointer, bytes)) return cudaErrorInvalidValue;
  // A pool's memory stays where the pool is at home.
  if (space().find(pointer).owner) return cudaErrorNotSupported;
  switch (advice) {
  case cudaMemAdviseSetReadMostly:
  case cudaMemAdviseUnsetReadMostly:
    // The location says nothing here, but must be of a kind that exists.
    if (!known_type(location)) return cudaErrorInvalidValue;
    change_range(pointer, bytes, [&](Hints& hints) { hints.read_mostly = advice == cudaMemAdviseSetReadMostly; });
    return cudaSuccess;
  case cudaMemAdviseSetPreferredLocation: {
    if (const cudaError_t error = check_place(location, cudaErrorInvalidValue)) return error;
    Place place{cudaMemLocationTypeHost, cudaCpuDeviceId};  // whichever node of it
    if (location.type == cudaMemLocationTypeDevice) place = {location.type, location.id};
    change_range(pointer, bytes, [&](Hints& hints) { hints.preferred = place; });
    return cudaSuccess;
  }
  case cudaMemAdviseUnsetPreferredLocation:
    if (!known_type(location)) return cudaErrorInvalidValue;
    change_range(pointer, bytes, [](Hints& hints) { hints.preferred = {}; });
    return cudaSuccess;
  case cudaMemAdviseSetAccessedBy:
  case cudaMemAdviseUnsetAccessedBy: {
    const bool set = advice == cudaMemAdviseSetAccessedBy;
    if (location.type == cudaMemLocationTypeHost) {
      change_range(pointer, bytes, [&](Hints& hints) { hints.host = set; });
      return cudaSuccess;
    }
    if (location.type != cudaMemLocationTypeDevice || !existing_device(location)) return cudaErrorInvalidValue;
    const std::uint64_t bit = std::uint64_t{1} << location.id;
    change_range(pointer, bytes,
                 [&](Hints& hints) { hints.devices = set ? hints.devices | bit : hints.devices & ~bit; });
    return cudaSuccess;
  }
  }
  return cudaErrorInvalidValue;
}

cudaError_t range_attribute(void* data, std::size_t data_bytes, cudaMemRangeAttribute attribute, const void* pointer,
                            std::size_t bytes, bool write) noexcept {
  if (!data || !managed_range(pointer, bytes)) return cudaErrorInvalidValue;
  if (attribute < cudaMemRangeAttributeReadMostly || attribute > cudaMemRangeAttributeLastPrefetchLocationId)
    return cudaErrorInvalidValue;
  const bool list = attribute == cudaMemRangeAttributeAccessedBy;
  if (list ? data_bytes == 0 || data_bytes % sizeof(int) : data_bytes != sizeof(int)) return cudaErrorInvalidValue;
  if (!write) return cudaSuccess;
  // What holds for the range is what holds for all of its pages.
  Hints common;
  bool first = true;
  visit_range(pointer, bytes, [&](const Hints& hints) {
    if (first) {
      common = hints;
      first = false;
      return;
    }
    common.read_mostly &= hints.read_mostly;
    common.devices &= hints.devices;
    common.host &= hints.host;
    if (!(common.preferred == hints.preferred)) common.preferred = {};
    if (!(common.prefetched == hints.prefetched)) common.prefetched = {};
  });
  // That of a pool's memory is where the pool is at home.
  if (const memory::Pool* pool = space().pool_of(pointer); pool && pool->options().location)
    common.preferred = {pool->options().location, std::max(pool->options().device, 0)};
  auto* values = static_cast<int*>(data);
  // The old attributes know devices and the host only.
  const auto number = [](const Place& place) {
    return place.type == cudaMemLocationTypeInvalid  ? cudaInvalidDeviceId
           : place.type == cudaMemLocationTypeDevice ? place.id
                                                     : cudaCpuDeviceId;
  };
  switch (attribute) {
  case cudaMemRangeAttributeReadMostly: *values = common.read_mostly; break;
  case cudaMemRangeAttributePreferredLocation: *values = number(common.preferred); break;
  case cudaMemRangeAttributeLastPrefetchLocation: *values = number(common.prefetched); break;
  case cudaMemRangeAttributePreferredLocationType: *values = common.preferred.type; break;
  case cudaMemRangeAttributePreferredLocationId: *values = common.preferred.id; break;
  case cudaMemRangeAttributeLastPrefetchLocationType: *values = common.prefetched.type; break;
  case cudaMemRangeAttributeLastPrefetchLocationId: *values = common.prefetched.id; break;
  case cudaMemRangeAttributeAccessedBy: {
    const std::size_t count = data_bytes / sizeof(int);
    std::size_t used = 0;
    for (int device = 0; device < memory::max_devices && used < count; ++device)
      if (common.devices >> device & 1) values[used++] = device;
    if (common.host && used < count) values[used++] = cudaCpuDeviceId;
    std::fill(values + used, values + count, cudaInvalidDeviceId);
    break;
  }
  }
  return cudaSuccess;
}

cudaError_t attach(bool no_stream, void* pointer, std::size_t length, unsigned flags) noexcept {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
    return cudaErrorInvalidValue;
  if (flags == cudaMemAttachSingle && no_stream) return cudaErrorInvalidValue;
  const Pointer found = space().find(pointer);
  // All of a block or variable, named by its start.
  if (!memory::is_managed(found.kind) || !found.block.live || found.owner) return cudaErrorInvalidValue;
  if (found.kind == memory::Kind::managed &&
      (found.block.base != pointer || (length != 0 && length != found.block.size)))
    return cudaErrorInvalidValue;
  // Host and devices may use managed memory at the same time here: an attachment takes nothing away, and gives nothing
  // that wasn't there.
  return cudaSuccess;
}

void forget_managed(const void* pointer) noexcept {
  const std::scoped_lock hold(hints_lock);
  all_hints().erase(static_cast<const char*>(pointer));
}

void reset_managed(int) noexcept {
  const std::scoped_lock hold(hints_lock);
  all_hints().clear();
}

}  // namespace mr::model
