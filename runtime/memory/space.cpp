#include <memory/space.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include <memory/pool.h>

namespace mr::memory {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20, gib = std::size_t{1} << 30;

std::size_t machine_bytes() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::size_t>(pages) * page_bytes : gib;
}

// Valgrind keeps tables for every reserved page: reserve little there.
bool under_valgrind() noexcept {
  const char* preload = std::getenv("LD_PRELOAD");
  return preload && std::strstr(preload, "vgpreload");
}

}  // namespace

std::size_t default_device_bytes() noexcept { return 150'109'880'320; }

std::optional<std::size_t> parse_size(std::string_view text) noexcept {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned shift = 0;
  if (!unit.empty()) {
    switch (unit.front()) {
    case 'k':
    case 'K': shift = 10; break;
    case 'm':
    case 'M': shift = 20; break;
    case 'g':
    case 'G': shift = 30; break;
    case 't':
    case 'T': shift = 40; break;
    default: return {};
    }
    unit.remove_prefix(1);
    if (unit != "" && unit != "B" && unit != "iB") return {};
  }
  if (value > (~std::size_t{0} >> 17 >> shift)) return {};  // beyond what the processor can address
  value <<= shift;
  if (value < mib) return {};
  return value / page_bytes * page_bytes;
}

bool Space::initialise(const SpaceOptions& options) noexcept {
  options_ = options;
  const std::size_t bytes = options.device_bytes ? options.device_bytes : default_device_bytes();
  // Room above the device's size lets a fragmented device still serve what fits its budget, as a GPU's page tables do.
  std::size_t largest = std::max(std::bit_ceil(bytes + bytes / 4), gib);
  if (under_valgrind()) largest = std::min(largest, gib);
  const auto slots = static_cast<unsigned>(options.devices) + 2;
  while (!all_.reserve(largest * Heap::windows * slots, {})) {
    largest /= 2;
    if (largest < 16 * mib) return false;
  }
  const std::size_t stride = largest * Heap::windows;
  base_ = reinterpret_cast<std::uintptr_t>(all_.base());
  shift_ = static_cast<unsigned>(std::countr_zero(stride));
  const auto make_heap = [&](unsigned slot, int key, Budget* budget) {
    std::unique_ptr<Heap> heap(new (std::nothrow) Heap);
    if (heap && !heap->initialise(all_.base() + stride * slot, stride, {.key = key, .huge_pages = true}, budget))
      heap.reset();
    for (unsigned i = 0; heap && i < Heap::windows; ++i) windows_[slot * Heap::windows + i] = heap->window(i);
    return heap;
  };
  pinned_budget_ = std::make_unique<Budget>(std::min(largest, machine_bytes()));
  managed_budget_ = std::make_unique<Budget>(largest);
  pinned_ = make_heap(0, options.shared_key, pinned_budget_.get());
  managed_ = make_heap(1, options.shared_key, managed_budget_.get());
  if (!pinned_ || !managed_) return false;
  for (int device = 0; device < options.devices; ++device) {
    const auto at = static_cast<std::size_t>(device);
    device_budgets_[at] = std::make_unique<Budget>(bytes);
    device_heaps_[at] = make_heap(static_cast<unsigned>(device) + 2, options.device_key, device_budgets_[at].get());
    if (!device_heaps_[at]) return false;
  }
  devices_ = options.devices;
  slots_ = slots;
  extent_ = stride * slots;
  return true;
}

std::size_t Space::free_bytes(int device) noexcept {
  const Heap& heap = device_heap(device);
  const auto [large, large_pages] = heap.large();
  const std::size_t used = device_budget(device).used(), others = large + heap.resting();
  const std::size_t small = used > others ? used - others : 0;
  const std::size_t taken = large_pages + (small + Heap::device_page - 1) / Heap::device_page * Heap::device_page;
  return total_bytes(device) > taken ? total_bytes(device) - taken : 0;
}

Pointer Space::find(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t offset = address - base_;
  // The blocks are made where they are returned: a copy of what was just written in parts costs as much as the search.
  if (offset < extent_) [[likely]] {
    const std::uintptr_t slot = offset >> shift_;
    const unsigned window_shift = shift_ - static_cast<unsigned>(std::countr_zero(Heap::windows));
    const RunMap* const window = windows_[offset >> window_shift];
    const std::size_t inside = offset & ((std::size_t{1} << window_shift) - 1);
    if (slot >= 2) [[likely]]
      return {Kind::device, static_cast<int>(slot) - 2, nullptr, Heap::find(window, inside)};
    Pointer result{slot == 0 ? Kind::pinned : Kind::managed, -1, nullptr, Heap::find(window, inside)};
    result.device = device_of_flags(result.block.flags);
    return result;
  }
  const Range range = ranges_.find(address);
  if (!range) return {};
  if (range.flags == pool_window)
    return {static_cast<Kind>(range.kind), range.device, range.owner,
            static_cast<const Pool*>(range.owner)->find(pointer)};
  Pointer result{static_cast<Kind>(range.kind), range.device, range.owner, {}};
  result.block.base = reinterpret_cast<char*>(range.begin);
  result.block.size = result.block.extent = range.end - range.begin;
  result.block.flags = range.flags;
  result.block.live = true;
  return result;
}

Pool* Space::pool_of(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address - base_ < extent_) return nullptr;
  const Range range = ranges_.find(address);
  return range.flags == pool_window && range ? static_cast<Pool*>(range.owner) : nullptr;
}

constinit ImmortalSpace the_space;

}  // namespace mr::memory
