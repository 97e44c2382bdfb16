// Whose pointer is this? All memory that the runtime hands out or knows of, by address.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <memory/budget.h>
#include <memory/heap.h>
#include <memory/range_map.h>
#include <memory/reservation.h>

namespace mr::memory {

class Pool;

// The kinds of memory that cudaPointerGetAttributes tells apart, with the ones that copies must tell apart besides.
enum class Kind : std::uint8_t {
  pageable,    // none of ours: ordinary host memory, or nothing
  device,      // a device's memory: blocks, arrays, pools
  variable,    // a device or constant variable of a loaded image
  pinned,      // cudaMallocHost, cudaHostAlloc, host pools
  registered,  // cudaHostRegister
  managed,     // cudaMallocManaged
  managed_variable,
};
constexpr bool on_device(Kind kind) noexcept { return kind == Kind::device || kind == Kind::variable; }
constexpr bool is_managed(Kind kind) noexcept { return kind == Kind::managed || kind == Kind::managed_variable; }
// Host memory that copies may use while the host goes on.
constexpr bool is_page_locked(Kind kind) noexcept { return kind == Kind::pinned || kind == Kind::registered; }

inline constexpr int max_devices = 32;

struct SpaceOptions {
  int devices = 1;               // 1 .. max_devices
  std::size_t device_bytes = 0;  // 0: default_device_bytes()
  int device_key = -1;           // protection key of device memory, -1: none
  int shared_key = -1;           // of memory that host and device use: pinned, managed, registered
};

// What an H200 has, in bytes.
std::size_t default_device_bytes() noexcept;
// Reads "8G", "512MiB", "1000000": a number of bytes with an optional K, M, G or T (powers of 1024). Nothing for
// anything else, or for less than 1 MiB.
std::optional<std::size_t> parse_size(std::string_view text) noexcept;

// The result of a look-up.
struct Pointer {
  Kind kind = Kind::pageable;
  int device = -1;        // owner; for pinned and managed memory the device that was current at the allocation
  void* owner = nullptr;  // a Pool* for pools' memory, the registrar's for registered and variable ranges, else null
  Block block;            // base is null when the address is in nobody's block
};

// Thread-safe. There is one per process (space()).
//
// One reservation holds pinned memory, managed memory and every device's memory in slots of equal power-of-two size, so
// that kind_of() is a subtraction and a shift for these; a RangeMap holds the rest.
class Space {
 public:
  // Reserves the ranges. Called once, before anything else. False when the kernel gives no address space at all.
  bool initialise(const SpaceOptions& options) noexcept;
  bool ready() const noexcept { return slots_ != 0; }

  Kind kind_of(const void* pointer) const noexcept {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - base_;
    if (offset < extent_) {
      const std::uintptr_t slot = offset >> shift_;
      return slot == 0 ? Kind::pinned : slot == 1 ? Kind::managed : Kind::device;
    }
    return kind_elsewhere(reinterpret_cast<std::uintptr_t>(pointer));
  }
  // -1 unless the memory belongs to one device.
  int device_of(const void* pointer) const noexcept {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - base_;
    if (offset < extent_ && offset >> shift_ >= 2) return static_cast<int>(offset >> shift_) - 2;
    const Range range = ranges_.find(reinterpret_cast<std::uintptr_t>(pointer));
    return range && on_device(static_cast<Kind>(range.kind)) ? range.device : -1;
  }
  Pointer find(const void* pointer) const noexcept;
  // The pool in whose window the address lies, or null.
  Pool* pool_of(const void* pointer) const noexcept;

  Heap& device_heap(int device) noexcept { return *device_heaps_[static_cast<std::size_t>(device)]; }
  Budget& device_budget(int device) noexcept { return *device_budgets_[static_cast<std::size_t>(device)]; }
  Heap& pinned_heap() noexcept { return *pinned_; }
  Heap& managed_heap() noexcept { return *managed_; }
  int devices() const noexcept { return devices_; }

  // cudaMemGetInfo.
  std::size_t total_bytes(int device) noexcept { return device_budget(device).total(); }
  std::size_t free_bytes(int device) noexcept;

  // Ranges outside the reservation. `kind` of the range is a Kind.
  RangeMap& ranges() noexcept { return ranges_; }

  int device_key() const noexcept { return options_.device_key; }
  int shared_key() const noexcept { return options_.shared_key; }

 private:
  Kind kind_elsewhere(std::uintptr_t address) const noexcept {
    const Range range = ranges_.find(address);
    return range ? static_cast<Kind>(range.kind) : Kind::pageable;
  }

  std::uintptr_t base_ = 0, extent_ = 0;
  unsigned shift_ = 0;
  std::array<const RunMap*, (max_devices + 2) * Heap::windows> windows_{};  // of all heaps, in order
  unsigned slots_ = 0;
  int devices_ = 0;
  SpaceOptions options_;
  RangeMap ranges_;
  Reservation all_;
  std::unique_ptr<Heap> pinned_, managed_;
  std::unique_ptr<Budget> pinned_budget_, managed_budget_;
  std::array<std::unique_ptr<Heap>, max_devices> device_heaps_;
  std::array<std::unique_ptr<Budget>, max_devices> device_budgets_;
};

// The process's space. Never destroyed: static destructors of user code may still free memory.
union ImmortalSpace {
  constexpr ImmortalSpace() noexcept : value() {}
  ~ImmortalSpace() {}
  Space value;
};
extern ImmortalSpace the_space;
inline Space& space() noexcept { return the_space.value; }

// Host and device share flags of pinned and managed blocks in one word: the API's flags and the device that was
// current.
constexpr std::uint32_t host_flags(std::uint32_t flags, int device) noexcept {
  return (flags & 0xffffu) | static_cast<std::uint32_t>(device) << 24;
}
constexpr std::uint32_t flags_of(std::uint32_t word) noexcept { return word & 0xffffu; }
constexpr int device_of_flags(std::uint32_t word) noexcept { return static_cast<int>(word >> 24); }

}  // namespace mr::memory
