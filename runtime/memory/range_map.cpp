#include <memory/range_map.h>

#include <cstdlib>
#include <mutex>
#include <new>

namespace mr::memory {

RangeMap::~RangeMap() {
  for (Table* table = writers_table(); table;) {
    Table* older = table->older;
    std::free(table);
    table = older;
  }
}

void RangeMap::put(Slot& slot, const Range& range) noexcept {
  slot.begin = range.begin;
  slot.end = range.end;
  slot.owner = range.owner;
  slot.rest = std::uint64_t{range.flags} << 32 | std::uint64_t{range.kind} << 16 |
              static_cast<std::uint16_t>(range.device);
}

Range RangeMap::get(const Slot& slot) noexcept {
  const std::uint64_t rest = slot.rest;
  Range range;
  range.begin = slot.begin;
  range.end = slot.end;
  range.owner = slot.owner;
  range.flags = static_cast<std::uint32_t>(rest >> 32);
  range.kind = static_cast<std::uint8_t>(rest >> 16);
  range.device = static_cast<std::int16_t>(rest);
  return range;
}

// Number of the first slot that ends after `address`.
std::uint32_t RangeMap::position(const Table* table, std::uint32_t count, std::uintptr_t address) const noexcept {
  std::uint32_t low = 0;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    if (table->slots[low + half].end <= address) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

bool RangeMap::grow() noexcept {
  Table* const old = writers_table();
  const std::uint32_t capacity = old ? old->capacity * 2 : 16;
  void* memory = std::malloc(sizeof(Table) + (capacity - 1) * sizeof(Slot));
  if (!memory) return false;
  auto* table = static_cast<Table*>(memory);
  table->older = old;
  table->capacity = capacity;
  for (std::uint32_t i = 0; i < capacity; ++i) new (&table->slots[i]) Slot;
  for (std::uint32_t i = 0; i < count_; ++i) put(table->slots[i], get(old->slots[i]));
  table_.store(table, std::memory_order_release);  // a reader that sees the table sees its slots: pairs with from()
  return true;
}

bool RangeMap::insert(const Range& range) noexcept {
  if (range.begin >= range.end) return false;
  const std::lock_guard guard(lock_);
  const std::uint32_t count = count_;
  Table* table = writers_table();
  const std::uint32_t at = table ? position(table, count, range.begin) : 0;
  if (at < count && table->slots[at].begin < range.end) return false;
  if (!table || table->capacity == count) {
    if (!grow()) return false;
    table = writers_table();
  }
  const std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  sequence_.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // the odd number comes before the changes
  for (std::uint32_t i = count; i > at; --i) put(table->slots[i], get(table->slots[i - 1]));
  put(table->slots[at], range);
  count_ = count + 1;
  sequence_.store(sequence + 2, std::memory_order_release);
  return true;
}

Range RangeMap::erase(std::uintptr_t begin) noexcept {
  const std::lock_guard guard(lock_);
  Table* const table = writers_table();
  const std::uint32_t count = count_;
  const std::uint32_t at = table ? position(table, count, begin) : count;
  if (at >= count || table->slots[at].begin != begin) return {};
  const Range gone = get(table->slots[at]);
  const std::uint32_t sequence = sequence_.load(std::memory_order_relaxed);
  sequence_.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::uint32_t i = at; i + 1 < count; ++i) put(table->slots[i], get(table->slots[i + 1]));
  count_ = count - 1;
  sequence_.store(sequence + 2, std::memory_order_release);
  return gone;
}

bool RangeMap::set_flags(std::uintptr_t begin, std::uint32_t flags) noexcept {
  const std::lock_guard guard(lock_);
  Table* const table = writers_table();
  const std::uint32_t count = count_;
  const std::uint32_t at = table ? position(table, count, begin) : count;
  if (at >= count || table->slots[at].begin != begin) return false;
  Range range = get(table->slots[at]);
  range.flags = flags;
  put(table->slots[at], range);  // one field changes: no reader can tear it
  return true;
}

Range RangeMap::from(std::uintptr_t address) const noexcept {
  for (;;) {
    const std::uint32_t before = sequence_.load(std::memory_order_acquire);
    if (!(before & 1)) {
      const Table* const table = table_.load(std::memory_order_acquire);  // pairs with grow()
      std::uint32_t count = count_;
      if (!table || count == 0) {
        count = 0;
      } else if (count > table->capacity) {
        count = table->capacity;  // of another table; the sequence will tell
      }
      Range range;
      if (count) {
        const std::uint32_t at = position(table, count, address);
        if (at < count) range = get(table->slots[at]);
      }
      std::atomic_thread_fence(std::memory_order_acquire);  // the reads come before the second look
      if (sequence_.load(std::memory_order_relaxed) == before) return range;
    }
    _mm_pause();
  }
}

Range RangeMap::find(std::uintptr_t address) const noexcept {
  const Range range = from(address);
  return range.begin <= address ? range : Range{};
}

}  // namespace mr::memory
