#include <model/graph_memory.h>

#include <algorithm>
#include <map>
#include <mutex>

#include <memory/space.h>
#include <model/context.h>
#include <model/graph.h>

namespace mr::model {

std::atomic<std::size_t> graph_allocations{0};

struct GraphAllocation {
  char* address;
  std::size_t bytes;
  int device;
  std::uint64_t graph;  // uid of the graph whose node allocates
  std::size_t references = 1;
  bool live = false;                   // launched and not freed
  std::vector<std::uint64_t> freeing;  // uids of graphs that have a free node for it
  // Another graph than its own has, or had, a free node for it; an executable graph allocates it, or did.
  bool left_to_others = false;
};

namespace {

// Physical memory comes and goes in units of this size (as on the real device); small allocations share units.
constexpr std::size_t unit = 32u << 20;

// What some allocations need.
struct Need {
  std::uint64_t small = 0, large = 0;  // bytes; whole units
  void add(const GraphAllocation& a) noexcept { a.bytes < unit ? small += a.bytes : large += whole(a.bytes); }
  void remove(const GraphAllocation& a) noexcept { a.bytes < unit ? small -= a.bytes : large -= whole(a.bytes); }
  std::uint64_t units() const noexcept { return whole(small) + large; }
  static std::uint64_t whole(std::uint64_t bytes) noexcept { return (bytes + unit - 1) / unit * unit; }
};

// What a device has backed for graphs: it grows with what is needed at once, and is kept for later launches until it is
// trimmed to what is live.
struct Usage {
  Need live;
  std::uint64_t used = 0, used_high = 0, reserved_high = 0;
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

void set_live(Table& t, GraphAllocation& a, bool live) noexcept {
  if (a.live == live) return;
  a.live = live;
  Need& need = t.usage[a.device].live;
  live ? need.add(a) : need.remove(a);
}

void grow(Usage& u, std::uint64_t needed) noexcept {
  u.used = std::max(u.used, needed);
  u.used_high = std::max(u.used_high, u.used);
  u.reserved_high = std::max(u.reserved_high, u.used);
}

GraphAllocation* find(Table& t, const void* pointer) noexcept {
  auto at = t.by_address.upper_bound(static_cast<char*>(const_cast<void*>(pointer)));
  if (at == t.by_address.begin()) return nullptr;
  GraphAllocation* a = std::prev(at)->second;
  return static_cast<const char*>(pointer) < a->address + a->bytes ? a : nullptr;
}

// Nobody can reach it any more.
void destroy(Table& t, GraphAllocation* a) noexcept {
  t.by_address.erase(a->address);
  graph_allocations.store(t.by_address.size(), std::memory_order_relaxed);
  memory::space().device_heap(a->device).free(a->address);
  delete a;
}

}  // namespace

cudaError_t check_allocation(const cudaMemAllocNodeParams& params) noexcept {
  if (params.bytesize == 0) return cudaErrorInvalidValue;
  const cudaMemPoolProps& pool = params.poolProps;
  // Managed memory may be asked for: what the node then has is the device's all the same, as recorded.
  const bool managed = pool.allocType == cudaMemAllocationTypeManaged;
  if (!managed && pool.allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
  switch (pool.location.type) {
  case cudaMemLocationTypeDevice: break;
  // Places where a pool can be, but no node's memory.
  case cudaMemLocationTypeHost: return cudaErrorNotSupported;
  case cudaMemLocationTypeHostNuma: return pool.location.id == 0 ? cudaErrorNotSupported : cudaErrorInvalidValue;
  default: return managed ? cudaErrorNotSupported : cudaErrorInvalidValue;
  }
  if (pool.location.id < 0 || pool.location.id >= device_count()) return cudaErrorInvalidValue;
  // Handles that a pool on this system may have are told from those that none has.
  constexpr unsigned possible = cudaMemHandleTypePosixFileDescriptor | cudaMemHandleTypeFabric;
  if (static_cast<unsigned>(pool.handleTypes) & ~possible) return cudaErrorInvalidValue;
  if (pool.handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
  if (params.accessDescCount && !params.accessDescs) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < params.accessDescCount; ++i) {
    const cudaMemAccessDesc& access = params.accessDescs[i];
    switch (access.location.type) {
    case cudaMemLocationTypeDevice:
      if (access.location.id < 0 || access.location.id >= device_count()) return cudaErrorInvalidDevice;
      break;
    case cudaMemLocationTypeHost: break;
    case cudaMemLocationTypeHostNuma:
      if (access.location.id != 0) return cudaErrorInvalidValue;
      break;
    default: return cudaErrorInvalidValue;
    }
    for (std::size_t j = 0; j < i; ++j)  // each place once
      if (params.accessDescs[j].location.type == access.location.type &&
          params.accessDescs[j].location.id == access.location.id)
        return cudaErrorInvalidValue;
    switch (access.flags) {
    case cudaMemAccessFlagsProtReadWrite: break;
    case cudaMemAccessFlagsProtNone:
    case cudaMemAccessFlagsProtRead: return cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
    }
  }
  return cudaSuccess;
}

namespace {

// Memory that `graph` has freed ahead of a node with these dependencies, and not allocated again since: the node gets
// the same address. Looks at the nearest nodes only, so that adding a node stays cheap. Each free node gives its memory
// once: that the graph frees it anew elsewhere says nothing about a node behind the first free alone.
GraphAllocation* freed_before(Graph& graph, const std::vector<GraphNode*>& dependencies, int device,
                              std::size_t bytes) {
  constexpr std::size_t nearest = 64;
  std::vector<GraphNode*> seen(dependencies);
  for (std::size_t i = 0; i < seen.size() && i < nearest; ++i) {
    const GraphNode& node = *seen[i];
    if (node.type == cudaGraphNodeTypeMemFree && !node.free->taken) {
      GraphAllocation& a = *node.free->allocation;
      std::scoped_lock hold(table().mutex);
      const auto at = std::find(a.freeing.begin(), a.freeing.end(), graph.uid);
      if (a.graph == graph.uid && a.device == device && bytes <= a.bytes && at != a.freeing.end()) {
        node.free->taken = true;
        a.freeing.erase(at);
        ++a.references;
        return &a;
      }
    }
    for (const EdgeRef& edge : node.dependencies)
      if (seen.size() < nearest && std::find(seen.begin(), seen.end(), edge.node) == seen.end())
        seen.push_back(edge.node);
  }
  return nullptr;
}

}  // namespace

GraphAllocation* make_allocation(int device, std::size_t bytes, Graph& graph,
                                 const std::vector<GraphNode*>& dependencies) noexcept {
  context_of(device);
  if (graph.memory_nodes)
    if (GraphAllocation* again = freed_before(graph, dependencies, device, bytes)) return again;
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
  graph_allocations.store(t.by_address.size(), std::memory_order_relaxed);
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
  // Its own graph frees it ahead of all others, and ahead of being instantiated, or not at all.
  if (graph.uid == a->graph && a->left_to_others) return nullptr;
  a->left_to_others |= graph.uid != a->graph;
  a->freeing.push_back(graph.uid);
  ++a->references;
  return a;
}

void leave_to_others(GraphAllocation& allocation) noexcept {
  std::scoped_lock hold(table().mutex);
  allocation.left_to_others = true;
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
  for (GraphAllocation* a : effects.allocates) set_live(t, *a, true);
  // Own allocations are needed while the launch runs, and then there for the next one.
  for (std::size_t device = 0; device < max_devices; ++device) {
    Usage& u = t.usage[device];
    Need need = u.live;
    const GraphAllocation* last = nullptr;
    for (const GraphAllocation* a : effects.own) {
      if (a->device != static_cast<int>(device) || a == last) continue;
      need.add(*a);
      last = a;
    }
    grow(u, need.units());
  }
  for (GraphAllocation* a : effects.frees) set_live(t, *a, false);
  return cudaSuccess;
}

bool graph_memory_live(const void* pointer) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  const GraphAllocation* a = find(t, pointer);
  return a && a->live;
}

bool free_graph_memory_slowly(const void* pointer, cudaError_t& result) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  GraphAllocation* a = find(t, pointer);
  if (!a) return false;
  if (a->address != pointer || !a->live) {
    result = cudaErrorInvalidValue;
    return true;
  }
  set_live(t, *a, false);
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
  case cudaGraphMemAttrReservedMemCurrent: *out = u.used; return cudaSuccess;
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
    u.reserved_high = u.used;
  else
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

void trim_graph_memory(int device) noexcept {
  Table& t = table();
  std::scoped_lock hold(t.mutex);
  Usage& u = t.usage[device];
  u.used = u.live.units();
  // What nodes have freed lies in the device's heap.
  if (u.reserved_high) memory::space().device_heap(device).trim();
}

}  // namespace mr::model
