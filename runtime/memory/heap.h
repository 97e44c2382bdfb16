// The allocator of device, pinned and managed memory.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <memory/budget.h>
#include <memory/lock.h>
#include <memory/reservation.h>
#include <memory/run_map.h>

namespace mr::memory {

// What the owner of a heap uses a block for; look-ups give it back.
enum class BlockTag : std::uint8_t { plain, pitched, array, ordered, host, managed, internal };

// A block as a look-up sees it.
struct Block {
  char* base = nullptr;
  std::size_t size = 0;    // bytes asked for
  std::size_t extent = 0;  // bytes set aside
  std::uint64_t site = 0;  // return address of the allocating call, 0 unless sites are recorded
  std::uint32_t generation = 0;
  std::uint32_t flags = 0;  // as given to allocate
  BlockTag tag = BlockTag::plain;
  bool live = false;  // false: freed, or never allocated (base and extent are then those of the free span)
  explicit operator bool() const noexcept { return base != nullptr; }
};

// Memory blocks out of one address range. Thread-safe. Blocks are aligned to 512 bytes, the device's texture alignment.
//
// Blocks of very different sizes lie in windows of their own, each a RunMap whose granules fit them (512 bytes up to
// 32 KiB, eight times as much for every eight times the size), so that what is kept of a block is some 60 bytes
// whatever its size. A window has room for all of the budget: it is addresses that are divided, not memory.
//
// A freed block rests in its thread's shard (one of a few, chosen per thread), where the next request of the same size
// finds it without meeting another thread; shards are bounded, and emptied when memory runs out. Everything else is
// under one lock: O(log n). Memory is given back to the machine when free spans may hold more than a fixed share of it.
class Heap {
 public:
  static constexpr unsigned granule_shift = 9;
  static constexpr std::size_t alignment = std::size_t{1} << granule_shift;

  // The range is divided into so many windows; most blocks are in the first few.
  static constexpr unsigned windows = 8;

  // Uses a part of somebody's reservation, `bytes` at `base`, a power of two: windows times what one block may have. It
  // and `budget` must outlive the heap. False when the kernel refuses memory for the tables.
  bool initialise(char* base, std::size_t bytes, const Reservation::Options& options, Budget* budget) noexcept;

  // `bytes` > 0. Null when the budget, the range or the machine's memory is exhausted.
  void* allocate(std::size_t bytes, BlockTag tag = BlockTag::plain, std::uint32_t flags = 0,
                 std::uint64_t site = 0) noexcept;
  // Frees the live block that starts at `pointer`; false, and nothing happens, if there is none. Of two calls with one
  // block, one succeeds.
  bool free(void* pointer) noexcept;

  // The block around an address of this heap's range. Lock-free. An empty Block outside the part ever used.
  Block find(const void* pointer) const noexcept {
    const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - base_);
    return find(window(static_cast<unsigned>(offset >> window_shift_)),
                offset & ((std::size_t{1} << window_shift_) - 1));
  }
  // The same in two steps, for who knows which window it is. Null: one that isn't used.
  const RunMap* window(unsigned number) const noexcept { return number < classes ? &runs_[number] : nullptr; }
  static Block find(const RunMap* window, std::size_t offset) noexcept;
  // Changes the flags of the live block starting at `pointer` (managed memory: attachment).
  bool set_flags(const void* pointer, std::uint32_t flags) noexcept;

  // Gives everything back that rests in shards, so that it can be joined.
  void flush() noexcept;
  // The same, and gives the memory of all free spans back to the machine. What they held is gone.
  void trim() noexcept;
  // Frees all blocks and gives their memory back to the machine (device reset). No block may be in use.
  void reset() noexcept;
  // Bytes that rest in shards: taken from the budget, but nobody's.
  std::size_t resting() const noexcept;
  // A GPU hands out pages of 2 MiB: blocks of more than 1 MiB have some to themselves, smaller ones share them
  // (recorded). The bytes of the former, and of their pages.
  static constexpr std::size_t device_page = std::size_t{2} << 20;
  struct Large {
    std::size_t bytes, pages;
  };
  Large large() const noexcept { return {large_bytes_, large_pages_}; }
  // Calls visit(const Block&) for each live block, in address order, under the heap's lock.
  template <class Visit> void each_live(Visit&& visit) {
    struct Guard {
      Lock& lock;
      explicit Guard(Lock& l) : lock(l) { lock.lock(); }
      ~Guard() { lock.unlock(); }
    } guard(lock_);
    for (const RunMap& runs : runs_) {
      if (!runs.ready()) continue;
      for (std::uint32_t index = runs.first(); index != RunMap::none; index = runs.after(index)) {
        const Block block = describe(runs, index);
        if (block.live) visit(block);
      }
    }
  }

  // Of address space that has been made usable, all windows together.
  std::size_t committed() const noexcept {
    std::size_t bytes = 0;
    for (const Reservation& range : ranges_) bytes += range.committed();
    return bytes;
  }
  Budget& budget() const noexcept { return *budget_; }

 private:
  static constexpr unsigned classes = 5;  // as many windows are used
  static constexpr unsigned shift_of(unsigned size_class) noexcept { return granule_shift + 3 * size_class; }
  // Up to 64 granules: 32 KiB, 256 KiB, 2 MiB, 16 MiB; the last has everything else.
  static constexpr unsigned class_of(std::size_t bytes) noexcept {
    const unsigned bits = static_cast<unsigned>(std::bit_width((bytes - 1) >> (granule_shift + 6)));
    return bits == 0 ? 0 : bits <= 9 ? 1 + (bits - 1) / 3 : classes - 1;
  }
  static constexpr unsigned shard_count = 8;
  static constexpr std::uint32_t small = 64;  // granules of the first class: a shard has a list per size
  static constexpr unsigned large_slots = 8;  // of the others, it remembers this many blocks
  static constexpr std::size_t shard_limit = std::size_t{2} << 20;  // bytes resting in one shard
  static constexpr unsigned batch = 8;  // blocks cut at a time for requests of up to `batchable` granules
  static constexpr std::uint32_t batchable = 16;

  // A span and the RunMap that has it.
  struct Place {
    std::uint32_t index = RunMap::none;
    unsigned size_class = 0;
    explicit operator bool() const noexcept { return index != RunMap::none; }
  };
  struct alignas(128) Shard {
    Lock lock;
    std::uint32_t generation = 0;
    Relaxed<std::size_t> resting{0};  // bytes; written under the lock
    std::uint32_t heads[small + 1] = {};
    Place large[large_slots] = {};
    unsigned clock = 0;  // the slot of `large` to fill next
  };

  Shard& my_shard() noexcept;
  Place pop(Shard& shard, std::size_t bytes, unsigned size_class) noexcept;
  Place push(Shard& shard, Place place) noexcept;
  Place take_central(Shard& shard, std::size_t bytes, unsigned size_class) noexcept;
  bool take_batch(Shard& shard, std::uint32_t granules, std::uint32_t* first) noexcept;
  void give_central(Place place) noexcept;
  void purge() noexcept;
  static Block describe(const RunMap& runs, std::uint32_t index) noexcept;
  Span& span(Place place) const noexcept { return runs_[place.size_class].span(place.index); }
  // What a block takes from the budget: the bytes that were asked for, in units of 512.
  static constexpr std::size_t charge(std::size_t bytes) noexcept { return (bytes + alignment - 1) & ~(alignment - 1); }
  std::size_t charge(Place place) const noexcept {
    const RunMap& runs = runs_[place.size_class];
    return place.size_class == 0 ? runs.bytes(runs.span(place.index)) : charge(runs.requested(runs.span(place.index)));
  }
  // The block that starts at an address of this heap's range.
  Place starting_at(const void* pointer) const noexcept {
    const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - base_);
    const auto window = static_cast<unsigned>(offset >> window_shift_);
    if (window >= classes) return {};
    return {runs_[window].at(offset & ((std::size_t{1} << window_shift_) - 1)), window};
  }
  // A block of so many bytes is taken out of the map, or given back. Under lock_. Large ones never rest in a shard.
  void count_large(std::size_t bytes, bool taken) noexcept;

  Budget* budget_ = nullptr;
  char* base_ = nullptr;
  unsigned window_shift_ = 0;
  std::array<Reservation, classes> ranges_;
  std::array<RunMap, classes> runs_;                      // each ready from its first block on
  Lock lock_;                                             // covers runs_
  Relaxed<std::size_t> large_bytes_{0}, large_pages_{0};  // written under lock_
  Shard shards_[shard_count];
};

}  // namespace mr::memory
