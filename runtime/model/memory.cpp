#include <model/memory.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>
#include <memory/pool.h>
#include <model/code_site.h>
#include <model/context.h>
#include <model/device.h>
#include <model/external.h>
#include <model/function.h>
#include <model/graph_memory.h>
#include <model/host_access.h>
#include <model/memory_array.h>
#include <model/memory_managed.h>
#include <model/memory_pool.h>
#include <model/module.h>
#include <model/reset.h>
#include <model/stream.h>
#include <simt/fault.h>
#include <simt/protect.h>

namespace mr::model {

using memory::Block;
using memory::BlockTag;
using memory::Kind;
using memory::Pointer;
using memory::space;

namespace {

constexpr unsigned host_flags_mask = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;

void enter_variables(int device, const VariableRange& range) {
  // Copies and sets end with the last variable, as recorded.
  for (const auto& run : range.runs)
    space().ranges().insert({reinterpret_cast<std::uintptr_t>(run.begin), reinterpret_cast<std::uintptr_t>(run.end),
                             nullptr, 0, static_cast<std::uint8_t>(Kind::variable), static_cast<std::int16_t>(device)});
  // Host code finds its way there by cudaGetSymbolAddress.
  if (const int key = space().device_key(); key >= 0)
    memory::set_access(range.begin, static_cast<std::size_t>(range.end - range.begin), key);
}

void reset_memory(int device) {
  reset_arrays(device);
  reset_pools(device);
  reset_managed(device);
  for (memory::Heap* heap : {&space().pinned_heap(), &space().managed_heap()}) {
    std::vector<char*> blocks;
    heap->each_live([&](const Block& block) {
      if (memory::device_of_flags(block.flags) == device) blocks.push_back(block.base);
    });
    for (char* block : blocks) heap->free(block);
  }
  space().device_heap(device).reset();
}

std::size_t read_device_bytes() noexcept {
  const char* text = std::getenv("MILLRACE_MEMORY");
  if (!text || !*text) return memory::default_device_bytes();
  if (const auto bytes = memory::parse_size(text)) return *bytes;
  std::fprintf(
      stderr,
      "millrace: MILLRACE_MEMORY=%s is not a size of at least 1M, such as 512M or 16G; each device has %zu MiB\n", text,
      memory::default_device_bytes() >> 20);
  return memory::default_device_bytes();
}

// Waits for all work that the device was given, as calls that free memory do.
void wait_for_device(int device) noexcept {
  if (Context* context = existing_context(device)) context->synchronize();
}

// ---- leaks
// -----------------------------------------------------------------------------------------------------------

struct Leaks {
  std::size_t blocks = 0, bytes = 0;
};

void print_leak(Leaks& leaks, const char* what, const Block& block) {
  if (block.tag == BlockTag::internal) return;
  ++leaks.blocks;
  leaks.bytes += block.size;
  char site[512];
  describe_call_site(site, sizeof site, block.site);
  std::fprintf(stderr, "millrace: %zu bytes of %s memory at %p were never freed; allocated by %s\n", block.size, what,
               static_cast<void*>(block.base), site);
}

}  // namespace

std::size_t device_bytes() noexcept {
  static const std::size_t bytes = read_device_bytes();
  return bytes;
}

void initialise_memory() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    memory::SpaceOptions options;
    options.devices = device_count() > 0 ? device_count() : 1;
    options.device_bytes = device_bytes();
    options.device_key = simt::protect::device_key();
    options.shared_key = simt::protect::shared_key();
    if (!space().initialise(options)) {
      std::fputs("millrace: no address space for device memory could be reserved; raise the limit on virtual memory "
                 "(ulimit -v)\n",
                 stderr);
      std::abort();
    }
    prepare_pools();
    set_variable_range_hook(enter_variables);
    add_reset_hook(reset_memory);
    simt::set_host_access_reporter(report_host_access);
    if (const char* leaks = std::getenv("MILLRACE_LEAKS"); leaks && std::strcmp(leaks, "1") == 0)
      std::atexit(list_leaks);
  });
}

void list_leaks() noexcept {
  if (!space().ready()) return;
  Leaks leaks;
  for (int device = 0; device < space().devices(); ++device)
    space().device_heap(device).each_live(
        [&](const Block& block) { print_leak(leaks, block.tag == BlockTag::array ? "array" : "device", block); });
  space().pinned_heap().each_live([&](const Block& block) { print_leak(leaks, "pinned", block); });
  space().managed_heap().each_live([&](const Block& block) { print_leak(leaks, "managed", block); });
  memory::each_pool(
      [](memory::Pool& pool, void* data) {
        if (pool.imported()) return;
        pool.each_live([&](const Block& block) { print_leak(*static_cast<Leaks*>(data), "stream-ordered", block); });
      },
      &leaks);
  std::fprintf(stderr, "millrace: %zu blocks, %zu bytes in all, were never freed\n", leaks.blocks, leaks.bytes);
}

// ---- allocation
// ------------------------------------------------------------------------------------------------------

cudaError_t allocate_device(void** out, std::size_t bytes, BlockTag tag, std::uint64_t site) noexcept {
  const int device = current_context().ordinal;
  memory::Heap& heap = space().device_heap(device);
  void* pointer = heap.allocate(bytes, tag, 0, site);
  // What pools hold without using it belongs to everybody when nothing else is left.
  if (!pointer && memory::reclaim(device)) pointer = heap.allocate(bytes, tag, 0, site);
  *out = pointer;
  return pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t allocate_host(void** out, std::size_t bytes, unsigned flags, std::uint64_t site) noexcept {
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (flags & ~host_flags_mask) return cudaErrorInvalidValue;
  const std::uint32_t kept = flags | cudaHostAllocMapped;
  const int device = current_context().ordinal;  // before the heap is asked for: the first context makes the space
  *out = space().pinned_heap().allocate(bytes, BlockTag::host, memory::host_flags(kept, device), site);
  return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t allocate_managed(void** out, std::size_t bytes, unsigned flags, std::uint64_t site) noexcept {
  *out = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
  const int device = current_context().ordinal;
  *out = space().managed_heap().allocate(bytes, BlockTag::managed, memory::host_flags(flags, device), site);
  return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t free_memory(void* pointer) noexcept {
  current_context();
  const Pointer found = space().find(pointer);
  if (!found.block.live || found.block.base != pointer) return cudaErrorInvalidValue;
  switch (found.kind) {
  case Kind::device:
    if (found.owner) return free_ordered_now(found, pointer);
    if (found.block.tag != BlockTag::plain && found.block.tag != BlockTag::pitched) return cudaErrorInvalidValue;
    wait_for_device(found.device);
    if (found.block.flags & external_range) return unmap_external(pointer) ? cudaSuccess : cudaErrorInvalidValue;
    return space().device_heap(found.device).free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  case Kind::managed:
    if (found.owner) return free_ordered_now(found, pointer);
    wait_for_device(found.device);
    forget_managed(pointer);
    return space().managed_heap().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
  case Kind::pinned: return found.owner ? free_ordered_now(found, pointer) : cudaErrorInvalidValue;
  default: return cudaErrorInvalidValue;
  }
}

cudaError_t free_host(void* pointer) noexcept {
  const Pointer found = space().find(pointer);
  if (found.kind != Kind::pinned || found.owner || !found.block.live || found.block.base != pointer)
    return cudaErrorInvalidValue;
  wait_for_device(found.device);
  return space().pinned_heap().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- registered memory
// -----------------------------------------------------------------------------------------------

namespace {

// Whether all of [begin, end) is mapped, readable, and writable unless `read_only` says that doesn't matter.
bool usable_by_devices(std::uintptr_t begin, std::uintptr_t end, bool read_only) noexcept {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return true;
  std::uintptr_t reached = begin;
  char line[512];
  while (reached < end && std::fgets(line, sizeof line, maps)) {
    unsigned long from = 0, to = 0;
    char access[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || to <= reached) continue;
    if (from > reached || access[0] != 'r' || (!read_only && access[1] != 'w')) break;
    reached = to;
  }
  std::fclose(maps);
  return reached >= end;
}

// Gives the pages of a range of the program's memory a protection key; what may be done with them stays as it is.
void give_key(std::uintptr_t first, std::uintptr_t last, int key) noexcept {
  struct Part {
    std::uintptr_t begin, end;
    int access;
  };
  std::vector<Part> parts;  // first all of them: changing a part changes the list
  if (std::FILE* maps = std::fopen("/proc/self/maps", "re")) {
    char line[512];
    while (std::fgets(line, sizeof line, maps)) {
      unsigned long from = 0, to = 0;
      char access[5] = {};
      if (std::sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || to <= first || from >= last) continue;
      parts.push_back({std::max<std::uintptr_t>(from, first), std::min<std::uintptr_t>(to, last),
                       (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
                           (access[2] == 'x' ? PROT_EXEC : 0)});
    }
    std::fclose(maps);
  }
  for (const Part& part : parts)
    pkey_mprotect(reinterpret_cast<void*>(part.begin), part.end - part.begin, part.access, key);
}

}  // namespace

cudaError_t register_host(void* pointer, std::size_t bytes, unsigned flags) noexcept {
  constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |
                             cudaHostRegisterReadOnly;
  if (!pointer || bytes == 0 || (flags & ~known)) return cudaErrorInvalidValue;
  const int device = current_context().ordinal;
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (begin + bytes < begin || bytes > space().pinned_heap().budget().total()) return cudaErrorMemoryAllocation;
  const Kind kind = space().kind_of(pointer);
  if (kind == Kind::registered) return cudaErrorHostMemoryAlreadyRegistered;
  if (kind != Kind::pageable) return cudaErrorInvalidValue;
  // No memory here is a device's registers.
  if (flags & cudaHostRegisterIoMemory) return cudaErrorInvalidValue;
  if (const memory::Range next = space().ranges().from(begin); next && next.begin < begin + bytes)
    return static_cast<Kind>(next.kind) == Kind::registered ? cudaErrorHostMemoryAlreadyRegistered
                                                            : cudaErrorInvalidValue;
  if (!usable_by_devices(begin, begin + bytes, flags & cudaHostRegisterReadOnly)) return cudaErrorInvalidValue;
  const std::uint32_t kept = (flags & cudaHostRegisterPortable) | cudaHostAllocMapped;
  if (!space().ranges().insert({begin, begin + bytes, nullptr, memory::host_flags(kept, device),
                                static_cast<std::uint8_t>(Kind::registered), static_cast<std::int16_t>(device)}))
    return cudaErrorHostMemoryAlreadyRegistered;
  if (const int key = space().shared_key(); key >= 0) {
    const std::uintptr_t first = begin / memory::page_bytes * memory::page_bytes;
    const std::uintptr_t last = (begin + bytes + memory::page_bytes - 1) / memory::page_bytes * memory::page_bytes;
    give_key(first, last, key);
  }
  return cudaSuccess;
}

cudaError_t unregister_host(void* pointer) noexcept {
  if (!pointer) return cudaErrorInvalidValue;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const Pointer found = space().find(pointer);
  if (found.kind == Kind::pageable) return cudaErrorHostMemoryNotRegistered;
  if (found.kind != Kind::registered || found.block.base != pointer) return cudaErrorInvalidValue;
  wait_for_device(found.device);
  const memory::Range gone = space().ranges().erase(address);
  if (!gone) return cudaErrorHostMemoryNotRegistered;
  if (space().shared_key() >= 0) {
    // A page that another registration needs as well keeps the key.
    std::uintptr_t first = gone.begin / memory::page_bytes * memory::page_bytes;
    std::uintptr_t last = (gone.end + memory::page_bytes - 1) / memory::page_bytes * memory::page_bytes;
    if (const memory::Range other = space().ranges().from(first); other && other.begin < gone.begin)
      first += memory::page_bytes;
    if (const memory::Range other = space().ranges().from(gone.end); other && other.begin < last)
      last -= memory::page_bytes;
    if (first < last) give_key(first, last, 0);
  }
  return cudaSuccess;
}

cudaError_t host_device_pointer(void** out, void* pointer) noexcept {
  if (!pointer) return cudaErrorInvalidValue;
  *out = nullptr;
  Operand operand;
  if (!look_up(pointer, 1, &operand) || !memory::is_page_locked(operand.kind)) return cudaErrorInvalidValue;
  *out = pointer;
  return cudaSuccess;
}

cudaError_t host_flags_of(unsigned* out, const void* pointer) noexcept {
  const Pointer found = space().find(pointer);
  if (!found.block.live) return cudaErrorInvalidValue;
  if (memory::is_page_locked(found.kind))
    *out = memory::flags_of(found.block.flags) | cudaHostAllocMapped;
  else if (memory::is_managed(found.kind) && !found.owner)
    *out = cudaHostAllocMapped;
  else
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

// ---- questions
// -------------------------------------------------------------------------------------------------------

bool look_up(const void* pointer, std::size_t bytes, Operand* out) noexcept {
  const Pointer found = space().find(pointer);
  out->kind = found.kind;
  out->device = found.device;
  if (found.kind == Kind::pageable) return true;
  // Memory that user code must not name: free, or the insides of an array.
  if (!found.block.live || found.block.tag == BlockTag::array || found.block.tag == BlockTag::internal) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - found.block.base);
  return bytes <= found.block.size - offset && offset <= found.block.size;
}

bool reaches(const Pointer& found, int device) noexcept {
  if (found.kind != Kind::pinned || !found.owner) return true;
  const memory::Pool* pool = space().pool_of(found.block.base);
  return !pool || (pool->access >> device & 1) != 0;
}

bool reaches_device_memory(const Pointer& found, int device) noexcept {
  if (found.device < 0 || found.device == device) return true;
  if (const memory::Pool* pool = space().pool_of(found.block.base)) return (pool->access >> device & 1) != 0;
  return settings(device).peer(found.device);
}

void pointer_attributes(cudaPointerAttributes* out, const void* pointer) noexcept {
  *out = {};
  void* const address = const_cast<void*>(pointer);
  Operand operand;
  bool ours = look_up(pointer, 1, &operand) && operand.kind != Kind::pageable;
  const Pointer found = ours ? space().find(pointer) : Pointer{};
  if (found.block.tag == BlockTag::ordered && !found.owner && ours) ours = graph_memory_live(pointer);
  if (!ours) {
    out->type = cudaMemoryTypeUnregistered;
    out->device = cudaInvalidDeviceId;
    out->hostPointer = address;
    return;
  }
  // Pools in host memory are for the host until devices are given access.
  if (reaches(found, current_device())) out->devicePointer = address;
  out->device = operand.device < 0 ? current_device() : operand.device;
  if (memory::on_device(operand.kind)) {
    out->type = cudaMemoryTypeDevice;
    return;
  }
  out->type = memory::is_managed(operand.kind) ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
  out->hostPointer = address;
}

cudaError_t symbol_address(const void* symbol, char** address, std::size_t* size) noexcept {
  Variable* variable = symbol ? find_variable(symbol) : nullptr;
  if (!variable) return cudaErrorInvalidSymbol;
  cudaError_t error = cudaSuccess;
  void* at = variable_on(*variable, current_context().ordinal, &error);
  if (!at) return error == cudaSuccess ? cudaErrorInvalidSymbol : error;
  *address = static_cast<char*>(at);
  *size = variable->size;
  return cudaSuccess;
}

}  // namespace mr::model
