// The allocator of device, pinned and managed memory.
#pragma once
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
// A freed block rests in its thread's shard (one of a few, chosen per thread), where the next request of the same size
// finds it without meeting another thread; shards are bounded, and emptied when memory runs out. Everything else is one
// RunMap under one lock: O(log n). Memory is given back to the machine when free spans may hold more than a fixed share
// of it.
class Heap {
 public:
  static constexpr unsigned granule_shift = 9;
  static constexpr std::size_t alignment = std::size_t{1} << granule_shift;

  // `range` and `budget` must outlive the heap. False when the kernel refuses memory for the tables.
  bool initialise(Reservation* range, Budget* budget) noexcept;

  // `bytes` > 0. Null when the budget, the range or the machine's memory is exhausted.
  void* allocate(std::size_t bytes, BlockTag tag = BlockTag::plain, std::uint32_t flags = 0,
                 std::uint64_t site = 0) noexcept;
  // Frees the live block that starts at `pointer`; false, and nothing happens, if there is none. Of two calls with one
  // block, one succeeds.
  bool free(void* pointer) noexcept;

  // The block around an address of this heap's range. Lock-free. An empty Block outside the part ever used.
  Block find(const void* pointer) const noexcept;
  // Changes the flags of the live block starting at `pointer` (managed memory: attachment).
  bool set_flags(const void* pointer, std::uint32_t flags) noexcept;

  // Gives everything back that rests in shards, so that it can be joined.
  void flush() noexcept;
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
    for (std::uint32_t index = runs_.first(); index != RunMap::none; index = runs_.after(index)) {
      const Block block = describe(index);
      if (block.live) visit(block);
    }
  }

  Reservation& range() const noexcept { return runs_.range(); }
  Budget& budget() const noexcept { return *budget_; }

 private:
  static constexpr unsigned shard_count = 8;
  static constexpr std::uint32_t small = 64;  // granules; up to here a shard has a list per size
  static constexpr unsigned large_slots = 8;  // above, it remembers this many blocks
  static constexpr std::uint32_t shard_limit = 2u << (20 - granule_shift);  // granules resting in one shard
  static constexpr unsigned batch = 8;  // blocks cut at a time for requests of up to `batchable` granules
  static constexpr std::uint32_t batchable = 16;

  struct alignas(128) Shard {
    Lock lock;
    std::uint32_t generation = 0;
    Relaxed<std::uint32_t> resting;  // granules; written under the lock
    std::uint32_t heads[small + 1] = {};
    std::uint32_t large[large_slots] = {};
    unsigned clock = 0;  // the slot of `large` to fill next
  };

  Shard& my_shard() noexcept;
  std::uint32_t pop(Shard& shard, std::uint32_t granules) noexcept;
  std::uint32_t push(Shard& shard, std::uint32_t index) noexcept;
  std::uint32_t take_central(Shard& shard, std::uint32_t granules) noexcept;
  void give_central(std::uint32_t index) noexcept;
  Block describe(std::uint32_t index) const noexcept;
  // A block of so many granules is taken out of runs_, or given back. Under lock_. Large ones never rest in a shard.
  void count_large(std::uint32_t granules, bool taken) noexcept;

  Budget* budget_ = nullptr;
  RunMap runs_;
  Lock lock_;                                             // covers runs_
  Relaxed<std::size_t> large_bytes_{0}, large_pages_{0};  // written under lock_
  Shard shards_[shard_count];
};

}  // namespace mr::memory
