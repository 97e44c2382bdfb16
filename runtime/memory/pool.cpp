#include <memory/pool.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include <memory/pool_registry.h>
#include <memory/space.h>

namespace mr::memory {

Pool* Pool::create(const PoolOptions& options) noexcept {
  auto* pool = new (std::nothrow) Pool;
  if (!pool) return nullptr;
  pool->options_ = options;
  Space& all = space();
  const bool shared_kind = options.host || options.managed;
  pool->budget_ = options.host      ? &all.pinned_heap().budget()
                  : options.managed ? &all.managed_heap().budget()
                                    : &all.device_budget(options.device);
  // The window is as large as what it draws from, so that fragmentation never runs out of addresses before memory; a
  // process with very many pools gets smaller ones.
  std::size_t window = (std::bit_ceil(pool->budget_->total()) + step - 1) / step * step;
  const Reservation::Options range{.step = step,
                                   .key = shared_kind ? all.shared_key() : all.device_key(),
                                   .huge_pages = !options.exportable,
                                   .shared = options.exportable,
                                   .file = options.host ? host_pool_file : "millrace"};
  while (!pool->range_.reserve(window, range)) {
    window /= 2;
    if (window < 2 * step) {
      delete pool;
      return nullptr;
    }
  }
  if (!pool->runs_.initialise(&pool->range_, Heap::granule_shift)) {
    delete pool;
    return nullptr;
  }
  pool->streams_.emplace_back();
  if (!options.host && !options.managed) pool->access = std::uint64_t{0x100000001} << options.device;
  const auto begin = reinterpret_cast<std::uintptr_t>(pool->range_.base());
  const Kind kind = options.host ? Kind::pinned : options.managed ? Kind::managed : Kind::device;
  if (!all.ranges().insert({begin, begin + window, pool, pool_window, static_cast<std::uint8_t>(kind),
                            static_cast<std::int16_t>(options.device)})) {
    delete pool;
    return nullptr;
  }
  PoolRegistry::get().add(pool);
  return pool;
}

void Pool::destroy() noexcept {
  {
    const std::lock_guard guard(lock_);
    destroyed_ = true;
    if (live_ == 0) {
      // Frees that have not completed keep their memory until a synchronisation finds them done; without any there is
      // nothing to wait for.
      retire_done();
      if (held_) watch();
    }
  }
  PoolRegistry::get().sweep(this);
}

// ---- memory of the device
// --------------------------------------------------------------------------------------------

// The units that lie wholly inside a span, as far as any is backed.
Pool::Units Pool::units_inside(const Span& span) const noexcept {
  const std::size_t begin = std::size_t{span.start} << Heap::granule_shift;
  const std::size_t from = (begin + unit - 1) / unit, to = (begin + runs_.bytes(span)) / unit;
  return {from, std::max(from, std::min(to, backed_.bound()))};
}

std::uint32_t Pool::take_free(std::uint32_t granules) noexcept {
  const std::uint32_t index = runs_.take(granules);
  if (index == RunMap::none) return index;
  const Span& span = runs_.span(index);
  const std::size_t begin = std::size_t{span.start} << Heap::granule_shift;
  const std::size_t from = begin / unit, to = (begin + runs_.bytes(span) + unit - 1) / unit;
  const std::size_t missing = to - from - backed_.count(from, to);
  if (missing) {
    // Holes are given up before the pool grows beyond five quarters of what was in use at its peak, or if it can't
    // grow.
    const std::uint64_t most = std::max(used_high_, used_ + runs_.bytes(span));
    const bool lavish = reserved_ + growth(missing) > most + most / 4;
    if (lavish ? !take_back(missing) && !reserve(missing) : !reserve(missing) && !take_back(missing)) {
      runs_.give(index);
      return RunMap::none;
    }
    spare_ -= missing;
    backed_.insert(from, to);
  }
  return index;
}

// The bytes that must be reserved for `units` units more than are backed.
std::size_t Pool::growth(std::size_t units) const noexcept {
  return units <= spare_ ? 0 : (units - spare_ + units_of_step - 1) / units_of_step * step;
}

// Sees to it that `units` units are to spare, by steps of the device's memory. False, and nothing happens, when the
// limit or the device doesn't allow that.
bool Pool::reserve(std::size_t units) noexcept {
  const std::size_t bytes = growth(units);
  if (bytes == 0) return true;
  const std::size_t limit = options_.max_size ? (options_.max_size + step - 1) / step * step : ~std::size_t{0};
  if (reserved_ + bytes > limit || !budget_->take(bytes)) return false;
  reserved_ += bytes;
  reserved_high_ = std::max(reserved_high_, reserved_);
  spare_ += bytes / unit;
  return true;
}

// The same by units that free memory has, whose pages go back to the machine, largest spans first.
bool Pool::take_back(std::size_t units) noexcept {
  std::size_t found = spare_;
  runs_.each_free([&](std::uint32_t index) {
    const Units inside = units_inside(runs_.span(index));
    found += backed_.count(inside.from, inside.to);
    return found < units;
  });
  if (found < units) return false;
  runs_.each_free([&](std::uint32_t index) {
    Units inside = units_inside(runs_.span(index));
    while (spare_ < units) {
      const std::size_t from = backed_.next(inside.from, inside.to);
      if (from == inside.to) break;
      std::size_t to = from;
      while (to < inside.to && spare_ < units && backed_.contains(to)) {
        ++to;
        ++spare_;
      }
      backed_.remove(from, to);
      runs_.discard(index, from * unit, (to - from) * unit);
      inside.from = to;
    }
    return spare_ < units;
  });
  return true;
}

void Pool::trim_locked(std::size_t keep) noexcept {
  // Rounded up to whole steps, with the overflow of the real runtime: a request to keep everything keeps nothing.
  keep = (keep + step - 1) / step * step;
  for (std::size_t at = (backed_.bound() + units_of_step - 1) / units_of_step; at-- > 0 && reserved_ > keep;) {
    const std::size_t from = at * units_of_step, to = from + units_of_step;
    const std::size_t units = backed_.count(from, to);
    if (!units) continue;
    const std::uint32_t index = runs_.find(at * step);
    if (index == RunMap::none) continue;
    const Span& span = runs_.span(index);
    if (span.state.load(std::memory_order_relaxed) != SpanState::free) continue;
    if ((std::size_t{span.start} + span.granules) << Heap::granule_shift < (at + 1) * step) continue;
    backed_.remove(from, to);
    spare_ += units;
    if (spare_ < units_of_step) continue;
    spare_ -= units_of_step;
    reserved_ -= step;
    budget_->give(step);
  }
  // The pages stay with the process for the next request, up to a share of the machine's memory.
  constexpr std::size_t limit = std::size_t{512} << 20;
  if (runs_.dirty() > limit) runs_.purge(limit / 2);
}

void Pool::watch() noexcept {
  if (watching_) return;
  watching_ = true;
  pools_watching.fetch_add(1, std::memory_order_relaxed);
}

void Pool::synchronized(void* queue) noexcept {
  const std::lock_guard guard(lock_);
  if (queue) {
    Stream* stream = stream_of(queue, false);
    if (!stream) return;
    retire_done(*stream);
  } else {
    retire_done();
  }
  if (reserved_ > release_threshold) trim_locked(release_threshold);
  if (held_) return;
  watching_ = false;
  pools_watching.fetch_sub(1, std::memory_order_relaxed);
}

void Pool::trim(std::size_t keep) noexcept {
  const std::lock_guard guard(lock_);
  retire_done();
  trim_locked(keep);
}

Block Pool::describe(std::uint32_t index) const noexcept {
  const Span& span = runs_.span(index);
  Block block;
  block.base = runs_.address(span);
  block.extent = runs_.bytes(span);
  block.size = runs_.requested(span);
  block.live = span.state.load(std::memory_order_relaxed) == SpanState::live;
  block.site = block.live ? std::uint64_t{span.site} : 0;
  block.generation = span.generation;
  block.tag = BlockTag::ordered;
  return block;
}

Block Pool::find(const void* pointer) const noexcept {
  if (imported_) {
    Block block;
    block.base = range_.base();
    block.size = block.extent = range_.size();
    block.tag = BlockTag::ordered;
    block.live = true;
    return block;
  }
  const std::uint32_t index = runs_.find(static_cast<std::size_t>(static_cast<const char*>(pointer) - range_.base()));
  return index == RunMap::none ? Block{} : describe(index);
}

Pool::Usage Pool::usage() const noexcept {
  const std::lock_guard guard(lock_);
  return {used_, used_high_, reserved_, reserved_high_};
}
void Pool::reset_used_high() noexcept {
  const std::lock_guard guard(lock_);
  used_high_ = used_;
}
void Pool::reset_reserved_high() noexcept {
  const std::lock_guard guard(lock_);
  reserved_high_ = reserved_;
}
std::uint64_t Pool::live_blocks() const noexcept {
  const std::lock_guard guard(lock_);
  return live_;
}

}  // namespace mr::memory
