#include <memory/heap.h>

#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace mr::memory {
namespace {

// How much free memory may stay with the process: an eighth of the machine's.
std::size_t dirty_limit() noexcept {
  static const std::size_t limit = [] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const std::size_t machine = pages > 0 ? static_cast<std::size_t>(pages) * page_bytes : std::size_t{1} << 30;
    return std::max(machine / 8, std::size_t{64} << 20);
  }();
  return limit;
}

}  // namespace

bool Heap::initialise(Reservation* range, Budget* budget) noexcept {
  budget_ = budget;
  return runs_.initialise(range, granule_shift);
}

Heap::Shard& Heap::my_shard() noexcept {
  // Threads are dealt out to shards in the order of their first allocation.
  static std::atomic<unsigned> next{0};
  [[gnu::tls_model("initial-exec")]] static thread_local unsigned mine = ~0u;
  if (mine == ~0u) mine = next.fetch_add(1, std::memory_order_relaxed) % shard_count;
  return shards_[mine];
}

std::uint32_t Heap::pop(Shard& shard, std::uint32_t granules) noexcept {
  if (granules <= small) {
    const std::uint32_t index = shard.heads[granules];
    if (index != RunMap::none) {
      shard.heads[granules] = runs_.span(index).next;
      shard.resting = shard.resting - granules;
    }
    return index;
  }
  for (std::uint32_t& slot : shard.large) {
    if (slot != RunMap::none && runs_.span(slot).granules == granules) {
      const std::uint32_t index = slot;
      slot = RunMap::none;
      shard.resting = shard.resting - granules;
      return index;
    }
  }
  return RunMap::none;
}

// Puts a block to rest; returns one that has to go to the common map instead, or none.
std::uint32_t Heap::push(Shard& shard, std::uint32_t index) noexcept {
  Span& span = runs_.span(index);
  const std::uint32_t granules = span.granules;
  if (granules > shard_limit / 2 || shard.resting + granules > shard_limit) return index;
  shard.resting = shard.resting + granules;
  if (granules <= small) {
    span.next = shard.heads[granules];
    shard.heads[granules] = index;
    return RunMap::none;
  }
  std::uint32_t& slot = shard.large[shard.clock++ % large_slots];
  const std::uint32_t evicted = slot;
  slot = index;
  if (evicted != RunMap::none) shard.resting = shard.resting - runs_.span(evicted).granules;
  return evicted;
}

std::uint32_t Heap::take_central(Shard& shard, std::uint32_t granules) noexcept {
  const std::lock_guard guard(lock_);
  if (granules <= batchable) {
    const std::size_t bytes = (std::size_t{granules} * batch) << granule_shift;
    if (budget_->take(bytes)) {
      const std::uint32_t first = runs_.take(granules * batch);
      if (first != RunMap::none && runs_.span(first).granules == granules * batch) {
        // Cut from the front, so that consecutive requests get consecutive addresses; the list is built back to front.
        std::uint32_t parts[batch];
        unsigned count = 1;
        parts[0] = first;
        while (count < batch) {
          const std::uint32_t rest = runs_.split(parts[count - 1], granules);
          if (rest == RunMap::none) break;
          parts[count++] = rest;
        }
        if (count == batch) {
          for (unsigned i = batch - 1; i > 0; --i) {
            runs_.span(parts[i]).next = shard.heads[granules];
            shard.heads[granules] = parts[i];
          }
          shard.resting = shard.resting + granules * (batch - 1);
          return first;
        }
        for (unsigned i = 0; i < count; ++i) runs_.give(parts[i]);
      } else if (first != RunMap::none) {
        runs_.give(first);
      }
      budget_->give(bytes);
    }
  }
  const std::size_t bytes = std::size_t{granules} << granule_shift;
  if (!budget_->take(bytes)) return RunMap::none;
  const std::uint32_t index = runs_.take(granules);
  if (index == RunMap::none) {
    budget_->give(bytes);
    return RunMap::none;
  }
  const std::uint32_t got = runs_.span(index).granules;  // more than asked for when span records ran out
  if (got != granules && !budget_->take(std::size_t{got - granules} << granule_shift)) {
    runs_.give(index);
    budget_->give(bytes);
    return RunMap::none;
  }
  count_large(got, true);
  return index;
}

void Heap::count_large(std::uint32_t granules, bool taken) noexcept {
  static_assert((std::size_t{shard_limit} << granule_shift) == device_page);
  if (granules <= shard_limit / 2) return;
  const std::size_t bytes = std::size_t{granules} << granule_shift;
  const std::size_t pages = (bytes + device_page - 1) / device_page * device_page;
  large_bytes_ = taken ? large_bytes_ + bytes : large_bytes_ - bytes;
  large_pages_ = taken ? large_pages_ + pages : large_pages_ - pages;
}

void Heap::give_central(std::uint32_t index) noexcept {
  const std::lock_guard guard(lock_);
  count_large(runs_.span(index).granules, false);
  budget_->give(runs_.bytes(runs_.span(index)));
  runs_.give(index);
  if (runs_.dirty() > dirty_limit()) runs_.purge(dirty_limit() / 2);
}

void* Heap::allocate(std::size_t bytes, BlockTag tag, std::uint32_t flags, std::uint64_t site) noexcept {
  if (bytes > range().size()) return nullptr;
  const auto granules = static_cast<std::uint32_t>((bytes + alignment - 1) >> granule_shift);
  Shard& shard = my_shard();
  std::uint32_t generation, index;
  {
    const std::lock_guard guard(shard.lock);
    generation = ++shard.generation;
    index = pop(shard, granules);
    if (index == RunMap::none) index = take_central(shard, granules);
  }
  if (index == RunMap::none) {
    // What rests may be all that is missing.
    flush();
    const std::lock_guard guard(shard.lock);
    index = take_central(shard, granules);
    if (index == RunMap::none) return nullptr;
  }
  Span& span = runs_.span(index);
  runs_.set_requested(span, bytes);
  span.site = site;
  span.owner = flags;
  span.tag = static_cast<std::uint8_t>(tag);
  // Unique over all threads until it wraps: each shard counts in steps of its own.
  span.generation = generation * shard_count + static_cast<std::uint32_t>(&shard - shards_);
  // From here on a reset may take the block away: it acquires what this thread did with the record.
  void* const address = runs_.address(span);
  span.state.store(SpanState::live, std::memory_order_release);
  return address;
}

bool Heap::free(void* pointer) noexcept {
  const std::uint32_t index = runs_.at(static_cast<std::size_t>(static_cast<char*>(pointer) - range().base()));
  if (index == RunMap::none) return false;
  Span& span = runs_.span(index);
  SpanState expected = SpanState::live;
  // Of concurrent frees of one block, one wins here. Acquire: pairs with allocate(), since behind a reset the pointer
  // may be that of a block which another thread has been given meanwhile.
  if (!span.state.compare_exchange_strong(expected, SpanState::resting, std::memory_order_acquire,
                                          std::memory_order_relaxed))
    return false;
  Shard& shard = my_shard();
  std::uint32_t excess;
  {
    const std::lock_guard guard(shard.lock);
    excess = push(shard, index);
  }
  if (excess != RunMap::none) give_central(excess);
  return true;
}

Block Heap::describe(std::uint32_t index) const noexcept {
  const Span& span = runs_.span(index);
  Block block;
  block.base = runs_.address(span);
  block.extent = runs_.bytes(span);
  block.live = span.state.load(std::memory_order_relaxed) == SpanState::live;
  block.size = runs_.requested(span);
  block.site = span.site;
  block.generation = span.generation;
  block.flags = span.owner;
  block.tag = static_cast<BlockTag>(static_cast<std::uint8_t>(span.tag));
  return block;
}

Block Heap::find(const void* pointer) const noexcept {
  const std::uint32_t index = runs_.find(static_cast<std::size_t>(static_cast<const char*>(pointer) - range().base()));
  return index == RunMap::none ? Block{} : describe(index);
}

bool Heap::set_flags(const void* pointer, std::uint32_t flags) noexcept {
  const std::uint32_t index = runs_.at(static_cast<std::size_t>(static_cast<const char*>(pointer) - range().base()));
  if (index == RunMap::none || runs_.span(index).state.load(std::memory_order_relaxed) != SpanState::live) return false;
  runs_.span(index).owner = flags;
  return true;
}

void Heap::flush() noexcept {
  for (Shard& shard : shards_) {
    const std::lock_guard guard(shard.lock);
    for (std::uint32_t& head : shard.heads) {
      while (head != RunMap::none) {
        const std::uint32_t index = head;
        head = runs_.span(index).next;
        give_central(index);
      }
    }
    for (std::uint32_t& slot : shard.large) {
      if (slot != RunMap::none) give_central(slot);
      slot = RunMap::none;
    }
    shard.resting = std::uint32_t{0};
  }
}

void Heap::reset() noexcept {
  flush();
  const std::lock_guard guard(lock_);
  for (std::uint32_t index = runs_.first(); index != RunMap::none;) {
    // As in free(): another thread may be freeing the block, or the whole heap. Acquire: pairs with allocate(), whose
    // thread has had the record in its shard's lists.
    SpanState expected = SpanState::live;
    if (runs_.span(index).state.compare_exchange_strong(expected, SpanState::resting, std::memory_order_acquire,
                                                        std::memory_order_relaxed)) {
      budget_->give(runs_.bytes(runs_.span(index)));
      count_large(runs_.span(index).granules, false);
      index = runs_.give(index);
    }
    index = runs_.after(index);
  }
  runs_.purge(0);
}

std::size_t Heap::resting() const noexcept {
  std::size_t granules = 0;
  for (const Shard& shard : shards_) granules += shard.resting;
  return granules << granule_shift;
}

}  // namespace mr::memory
