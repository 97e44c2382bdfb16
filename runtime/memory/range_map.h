// Address ranges that lie outside the space's own reservation: registered host memory, device variables of loaded
// images, pools' windows, memory of other processes.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <memory/lock.h>

namespace mr::memory {

// What a range holds. `owner` is the registrar's.
struct Range {
  std::uintptr_t begin = 0, end = 0;
  void* owner = nullptr;
  std::uint32_t flags = 0;
  std::uint8_t kind = 0;
  std::int16_t device = 0;
  explicit operator bool() const noexcept { return end != 0; }
};

// A sorted set of disjoint ranges. find() is lock-free and O(log n); insert and erase are O(n) under a lock and may
// allocate.
//
// Readers run beside a writer by sequence: the writer makes `sequence_` odd, changes the table, makes it even again; a
// reader whose sequence was odd or changed tries again. Every field is a relaxed atomic, so a torn read is only ever
// thrown away. A table that became too small is kept until the map dies, since a reader may still look at it: the sizes
// double, so that is as much again at most.
class RangeMap {
 public:
  RangeMap() = default;
  RangeMap(const RangeMap&) = delete;
  RangeMap& operator=(const RangeMap&) = delete;
  ~RangeMap();

  // False when [begin, end) overlaps a range that is there, is empty, or memory is exhausted.
  bool insert(const Range& range) noexcept;
  // Removes the range that begins at `begin`; returns it, or an empty one.
  Range erase(std::uintptr_t begin) noexcept;
  // Changes flags of the range that begins at `begin`; false if there is none.
  bool set_flags(std::uintptr_t begin, std::uint32_t flags) noexcept;
  // The range around an address, or an empty one.
  Range find(std::uintptr_t address) const noexcept;
  // The first range that ends after `address`, wherever it begins, or an empty one: for walks and for ranges that cross
  // borders.
  Range from(std::uintptr_t address) const noexcept;

 private:
  struct Slot {
    Relaxed<std::uintptr_t> begin, end;
    Relaxed<void*> owner;
    Relaxed<std::uint64_t> rest;  // flags, kind, device
  };
  struct Table {
    Table* older;
    std::uint32_t capacity;
    Slot slots[1];
  };
  static void put(Slot& slot, const Range& range) noexcept;
  static Range get(const Slot& slot) noexcept;
  std::uint32_t position(const Table* table, std::uint32_t count, std::uintptr_t address) const noexcept;
  bool grow() noexcept;
  // The table, for who holds lock_ (or is alone).
  Table* writers_table() const noexcept { return table_.load(std::memory_order_relaxed); }

  std::atomic<std::uint32_t> sequence_{0};  // odd while a writer is at it; see above
  Relaxed<std::uint32_t> count_;
  std::atomic<Table*> table_{nullptr};  // written under lock_, with release: its slots are there for whoever reads it
  Lock lock_;                           // writers
};

}  // namespace mr::memory
