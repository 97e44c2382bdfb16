#include <model/graph_memory.h>

#include <algorithm>
#include <map>
#include <mutex>

#include <memory/space.h>
#include <model/context.h>
#include <model/graph.h>

namespace mr::model {

struct GraphAllocation {
  char* address;
  std::size_t bytes;
  int device;
  std::uint64_t graph;  // uid of the graph whose node allocates
  std::size_t references = 1;
  bool live = false;                   // launched and not freed
  bool backed = false;                 // counts as used: launched and not trimmed since
  std::vector<std::uint64_t> freeing;  // uids of graphs that have a free node for it
};

namespace {

// Physical memory comes and goes in units of this size (as on the real device).
constexpr std::size_t unit = 32u << 20;

struct Usage {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  std::uint64_t orphaned = 0;  // of allocations that are gone, until the next trim
};

struct Table {
  std::mutex mutex;
  std::map<char*, GraphAllocation*> by_address;
  Usage usage[max_devices];
};
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

std::uint64_t backing(const GraphAllocation& a) noexcept { return (a.bytes + unit - 1) / unit * unit; }

void back(Table& t, GraphAllocation& a) noexcept {
  if (a.backed) return;
  a.backed = true;
  Usage& u = t.usage[a.device];
  u.used += backing(a);
  u.reserved += backing(a);
  u.used_high = std::max(u.used_high, u.used);
  u.reserved_high = std::max(u.reserved_high, u.reserved);
}

GraphAllocation* find(Table& t, const void* pointer) noexcept {
  auto at = t.by_address.upper_bound(static_cast<char*>(const_cast<void*>(pointer)));
  if (at == t.by_address.begin()) return nullptr;
  GraphAllocation* a = std::prev(at)->second;
  return static_cast<const char*>(pointer) < a->address + a->bytes ? a : nullptr;
}

// Nobody can reach it any more.
void destroy(Table& t, GraphAllocation* a) noexcept {
  if (a->backed) t.usage[a->device].orphaned += backing(*a);
  t.by_address.erase(a->address);
  memory::space().device_heap(a->device).free(a->address);
  delete a;
}

}  // namespace

cudaError_t check_allocation(const cudaMemAllocNodeParams& params) noexcept {
  if (params.bytesize == 0) return cudaErrorInvalidValue;
  const cudaMemPoolProps& pool = params.poolProps;
  if (pool.allocType != cudaMemAllocationTypePinned || pool.location.type != cudaMemLocationTypeDevice)
    return cudaErrorInvalidValue;
  if (pool.location.id < 0 || pool.location.id >= device_count()) return cudaErrorInvalidValue;
  if (pool.handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
  if (params.accessDescCount && !params.accessDescs) return cudaErrorInvalidValue;
  return cudaSuccess;
}

GraphAllocation* make_allocation(int device, std::size_t bytes, const Graph& graph) noexcept {
  context_of(device);
  void* address = memory::space().device_heap(device).allocate(bytes, memory::BlockTag::ordered);
  if (!address) return nullptr;
  auto* a = new GraphAllocation{};
  a->address = static_cast<char*>(address);
  a->bytes = bytes;
  a->device = device;
  a->graph = graph.uid;
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  t.by_address.emplace(a->address, a);
  return a;
}

void* address_of(const GraphAllocation& allocation) noexcept { return allocation.address; }

void retain_allocation(GraphAllocation& allocation) noexcept {
  std::scoped_lock hold(table().mutex);
  ++allocation.references;
}

void release_allocation(GraphAllocation& allocation) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  // A live allocation stays until it is freed, though no graph knows of it.
  if (--allocation.references == 0 && !allocation.live) destroy(t, &allocation);
}

GraphAllocation* add_free(const void* pointer, const Graph& graph) noexcept {
  if (!pointer) return nullptr;
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  GraphAllocation* a = find(t, pointer);
  if (!a || a->address != pointer || a->references == 0) return nullptr;
  for (std::uint64_t uid : a->freeing)
    if (uid == graph.uid || uid == a->graph) return nullptr;  // freed there already
  a->freeing.push_back(graph.uid);
  ++a->references;
  return a;
}

void node_free_removed(GraphAllocation& allocation, const Graph& graph) noexcept {
  std::scoped_lock hold(table().mutex);
  std::erase(allocation.freeing, graph.uid);
}

cudaError_t launch_memory(const MemoryEffects& effects, bool auto_free) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  if (!auto_free)
    for (GraphAllocation* a : effects.allocates)
      if (a->live) return cudaErrorInvalidValue;
  for (GraphAllocation* a : effects.frees)
    if (!a->live) return cudaErrorInvalidValue;
  for (GraphAllocation* a : effects.frees) a->live = false;
  for (GraphAllocation* a : effects.own) back(t, *a);
  for (GraphAllocation* a : effects.allocates) {
    a->live = true;
    back(t, *a);
  }
  return cudaSuccess;
}

bool free_graph_memory(const void* pointer, cudaError_t& result) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  if (t.by_address.empty()) return false;
  GraphAllocation* a = find(t, pointer);
  if (!a) return false;
  if (a->address != pointer || !a->live) {
    result = cudaErrorInvalidValue;
    return true;
  }
  a->live = false;
  if (a->references == 0) destroy(t, a);
  result = cudaSuccess;
  return true;
}

cudaError_t graph_memory_attribute(int device, cudaGraphMemAttributeType attribute, unsigned long long* out) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  const Usage& u = t.usage[device];
  switch (attribute) {
  case cudaGraphMemAttrUsedMemCurrent: *out = u.used; return cudaSuccess;
  case cudaGraphMemAttrUsedMemHigh: *out = u.used_high; return cudaSuccess;
  case cudaGraphMemAttrReservedMemCurrent: *out = u.reserved; return cudaSuccess;
  case cudaGraphMemAttrReservedMemHigh: *out = u.reserved_high; return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t reset_graph_memory_attribute(int device, cudaGraphMemAttributeType attribute,
                                         unsigned long long value) noexcept {
  if (value != 0) return cudaErrorInvalidValue;
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  Usage& u = t.usage[device];
  // The high mark begins anew from what is in use.
  if (attribute == cudaGraphMemAttrUsedMemHigh)
    u.used_high = u.used;
  else if (attribute == cudaGraphMemAttrReservedMemHigh)
    u.reserved_high = u.reserved;
  else
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

void trim_graph_memory(int device) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  Usage& u = t.usage[device];
  std::uint64_t gone = u.orphaned;
  u.orphaned = 0;
  for (auto& [address, a] : t.by_address) {
    if (a->device != device || a->live || !a->backed) continue;
    a->backed = false;
    gone += backing(*a);
  }
  u.used -= gone;
  u.reserved -= gone;
}

}  // namespace mr::model
