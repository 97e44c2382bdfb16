#include <memory/heap.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
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

bool Heap::initialise(char* base, std::size_t bytes, const Reservation::Options& options, Budget* budget) noexcept {
  budget_ = budget;
  base_ = base;
  const std::size_t window = bytes / windows;
  window_shift_ = static_cast<unsigned>(std::countr_zero(window));
  for (unsigned c = 0; c < classes; ++c) {
    ranges_[c].adopt(base + window * c, window, options);
    runs_[c].attach(&ranges_[c], shift_of(c));
  }
  return runs_[0].start();
}

Heap::Shard& Heap::my_shard() noexcept {
  // Threads are dealt out to shards in the order of their first allocation.
  static std::atomic<unsigned> next{0};
  [[gnu::tls_model("initial-exec")]] static thread_local unsigned mine = ~0u;
  if (mine == ~0u) mine = next.fetch_add(1, std::memory_order_relaxed) % shard_count;
  return shards_[mine];
}

Heap::Place Heap::pop(Shard& shard, std::size_t bytes, unsigned size_class) noexcept {
  const RunMap& runs = runs_[size_class];
  const std::uint32_t granules = runs.granules_of(bytes);
  if (size_class == 0) {
    const std::uint32_t index = shard.heads[granules];
    if (index != RunMap::none) {
      shard.heads[granules] = runs.span(index).next;
      shard.resting = shard.resting - runs.bytes(runs.span(index));
    }
    return {index, 0};
  }
  for (Place& slot : shard.large) {
    if (!slot || slot.size_class != size_class || span(slot).granules != granules) continue;
    const Place place = slot;
    const std::size_t before = charge(place), now = charge(bytes);
    if (now > before && !budget_->take(now - before)) return {};
    if (now < before) budget_->give(before - now);
    shard.resting = shard.resting - before;
    slot = {};
    return place;
  }
  return {};
}

// Puts a block to rest; returns one that has to go to the common map instead, or none.
Heap::Place Heap::push(Shard& shard, Place place) noexcept {
  const std::size_t bytes = charge(place);
  if (bytes > shard_limit / 2 || shard.resting + bytes > shard_limit) return place;
  shard.resting = shard.resting + bytes;
  if (const std::uint32_t granules = span(place).granules; place.size_class == 0 && granules <= small) {
    span(place).next = shard.heads[granules];
    shard.heads[granules] = place.index;
    return {};
  }
  Place& slot = shard.large[shard.clock++ % large_slots];
  const Place evicted = slot;
  slot = place;
  if (evicted) shard.resting = shard.resting - charge(evicted);
  return evicted;
}

// Several blocks at once, of which the first is returned and the others rest in the shard. Under lock_.
bool Heap::take_batch(Shard& shard, std::uint32_t granules, std::uint32_t* first) noexcept {
  RunMap& runs = runs_[0];
  const std::size_t bytes = std::size_t{granules} << granule_shift;
  if (!budget_->take(bytes * batch)) return false;
  std::uint32_t parts[batch];
  unsigned count = 0;
  parts[0] = runs.take(granules * batch);
  if (parts[0] != RunMap::none) ++count;
  if (count && runs.span(parts[0]).granules == granules * batch) {
    // Cut from the front, so that consecutive requests get consecutive addresses; the list is built back to front.
    while (count < batch) {
      const std::uint32_t rest = runs.split(parts[count - 1], granules);
      if (rest == RunMap::none) break;
      parts[count++] = rest;
    }
  }
  if (count < batch) {
    for (unsigned i = 0; i < count; ++i) runs.give(parts[i]);
    budget_->give(bytes * batch);
    return false;
  }
  for (unsigned i = batch - 1; i > 0; --i) {
    runs.span(parts[i]).next = shard.heads[granules];
    shard.heads[granules] = parts[i];
  }
  shard.resting = shard.resting + bytes * (batch - 1);
  *first = parts[0];
  return true;
}

Heap::Place Heap::take_central(Shard& shard, std::size_t bytes, unsigned size_class) noexcept {
  const std::lock_guard guard(lock_);
  if (size_class == 0) {
    const std::uint32_t granules = runs_[0].granules_of(bytes);
    std::uint32_t first;
    if (granules <= batchable && take_batch(shard, granules, &first)) return {first, 0};
  }
  const std::size_t cost = charge(bytes);
  if (!budget_->take(cost)) return {};
  // A window that is full of holes leaves it to the others.
  for (unsigned i = 0; i < classes; ++i) {
    const Place place{0, (size_class + i) % classes};
    RunMap& runs = runs_[place.size_class];
    if (!runs.ready() && !runs.start()) continue;
    const std::uint32_t index = runs.take(runs.granules_of(bytes));
    if (index == RunMap::none) continue;
    const Place taken{index, place.size_class};
    runs.set_requested(runs.span(index), bytes);
    // More than was asked for when span records ran out.
    if (const std::size_t all = charge(taken); all != cost && !budget_->take(all - cost)) {
      runs.give(index);
      continue;
    }
    count_large(cost, true);
    return taken;
  }
  budget_->give(cost);
  return {};
}

void Heap::count_large(std::size_t bytes, bool taken) noexcept {
  static_assert(shard_limit == device_page);
  if (bytes <= shard_limit / 2) return;
  const std::size_t pages = (bytes + device_page - 1) / device_page * device_page;
  large_bytes_ = taken ? large_bytes_ + bytes : large_bytes_ - bytes;
  large_pages_ = taken ? large_pages_ + pages : large_pages_ - pages;
}

void Heap::give_central(Place place) noexcept {
  const std::lock_guard guard(lock_);
  const std::size_t bytes = charge(place);
  count_large(bytes, false);
  budget_->give(bytes);
  runs_[place.size_class].give(place.index);
  purge();
}

// Under lock_. Gives memory back to the machine if much is free, that of large blocks first.
void Heap::purge() noexcept {
  std::size_t dirty = 0;
  for (const RunMap& runs : runs_) dirty += runs.dirty();
  if (dirty <= dirty_limit()) return;
  for (unsigned c = classes; c-- > 0;) {
    const std::size_t others = dirty - runs_[c].dirty(), keep = dirty_limit() / 2;
    runs_[c].purge(others < keep ? keep - others : 0);
    dirty = others + runs_[c].dirty();
  }
}

void* Heap::allocate(std::size_t bytes, BlockTag tag, std::uint32_t flags, std::uint64_t site) noexcept {
  if (bytes > std::size_t{1} << window_shift_) return nullptr;
  const unsigned size_class = class_of(bytes);
  Shard& shard = my_shard();
  std::uint32_t generation;
  Place place;
  {
    const std::lock_guard guard(shard.lock);
    generation = ++shard.generation;
    place = pop(shard, bytes, size_class);
    if (!place) place = take_central(shard, bytes, size_class);
  }
  if (!place) {
    // What rests may be all that is missing.
    flush();
    const std::lock_guard guard(shard.lock);
    place = take_central(shard, bytes, size_class);
    if (!place) return nullptr;
  }
  const RunMap& runs = runs_[place.size_class];
  Span& span = runs.span(place.index);
  runs.set_requested(span, bytes);
  span.site = site;
  span.owner = flags;
  span.tag = static_cast<std::uint8_t>(tag);
  // Unique over all threads until it wraps: each shard counts in steps of its own.
  span.generation = generation * shard_count + static_cast<std::uint32_t>(&shard - shards_);
  // From here on a reset may take the block away: it acquires what this thread did with the record.
  void* const address = runs.address(span);
  span.state.store(SpanState::live, std::memory_order_release);
  return address;
}

bool Heap::free(void* pointer) noexcept {
  const Place place = starting_at(pointer);
  if (!place) return false;
  SpanState expected = SpanState::live;
  // Of concurrent frees of one block, one wins here. Acquire: pairs with allocate(), since behind a reset the pointer
  // may be that of a block which another thread has been given meanwhile.
  if (!span(place).state.compare_exchange_strong(expected, SpanState::resting, std::memory_order_acquire,
                                                 std::memory_order_relaxed))
    return false;
  Shard& shard = my_shard();
  Place excess;
  {
    const std::lock_guard guard(shard.lock);
    excess = push(shard, place);
  }
  if (excess) give_central(excess);
  return true;
}

Block Heap::describe(const RunMap& runs, std::uint32_t index) noexcept {
  const Span& span = runs.span(index);
  Block block;
  block.base = runs.address(span);
  block.extent = runs.bytes(span);
  block.live = span.state.load(std::memory_order_relaxed) == SpanState::live;
  block.size = runs.requested(span);
  block.site = span.site;
  block.generation = span.generation;
  block.flags = span.owner;
  block.tag = static_cast<BlockTag>(static_cast<std::uint8_t>(span.tag));
  return block;
}

Block Heap::find(const RunMap* window, std::size_t offset) noexcept {
  const std::uint32_t index = window ? window->find(offset) : RunMap::none;
  return index == RunMap::none ? Block{} : describe(*window, index);
}

bool Heap::set_flags(const void* pointer, std::uint32_t flags) noexcept {
  const Place place = starting_at(pointer);
  if (!place || span(place).state.load(std::memory_order_relaxed) != SpanState::live) return false;
  span(place).owner = flags;
  return true;
}

void Heap::flush() noexcept {
  for (Shard& shard : shards_) {
    const std::lock_guard guard(shard.lock);
    for (std::uint32_t& head : shard.heads) {
      while (head != RunMap::none) {
        const std::uint32_t index = head;
        head = runs_[0].span(index).next;
        give_central({index, 0});
      }
    }
    for (Place& slot : shard.large) {
      if (slot) give_central(slot);
      slot = {};
    }
    shard.resting = std::size_t{0};
  }
}

void Heap::trim() noexcept {
  flush();
  const std::lock_guard guard(lock_);
  for (RunMap& runs : runs_)
    if (runs.ready()) runs.purge(0);
}

void Heap::reset() noexcept {
  flush();
  const std::lock_guard guard(lock_);
  for (unsigned c = 0; c < classes; ++c) {
    RunMap& runs = runs_[c];
    if (!runs.ready()) continue;
    for (std::uint32_t index = runs.first(); index != RunMap::none;) {
      // As in free(): another thread may be freeing the block, or the whole heap. Acquire: pairs with allocate(), whose
      // thread has had the record in its shard's lists.
      SpanState expected = SpanState::live;
      if (runs.span(index).state.compare_exchange_strong(expected, SpanState::resting, std::memory_order_acquire,
                                                         std::memory_order_relaxed)) {
        const std::size_t bytes = charge(Place{index, c});
        budget_->give(bytes);
        count_large(bytes, false);
        index = runs.give(index);
      }
      index = runs.after(index);
    }
    runs.purge(0);
  }
}

std::size_t Heap::resting() const noexcept {
  std::size_t bytes = 0;
  for (const Shard& shard : shards_) bytes += shard.resting;
  return bytes;
}

}  // namespace mr::memory
