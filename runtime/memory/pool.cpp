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
  pool->chunks_.assign((window / step + 63) / 64, 0);
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

std::uint32_t Pool::take_free(std::uint32_t granules) noexcept {
  const std::uint32_t index = runs_.take(granules);
  if (index == RunMap::none) return index;
  const Span& span = runs_.span(index);
  const std::size_t from = (std::size_t{span.start} << Heap::granule_shift) / step;
  const std::size_t to = ((std::size_t{span.start} + span.granules) * Heap::alignment + step - 1) / step;
  std::size_t missing = 0;
  for (std::size_t chunk = from; chunk < to; ++chunk) missing += !(chunks_[chunk / 64] >> (chunk % 64) & 1);
  const std::size_t limit = options_.max_size ? (options_.max_size + step - 1) / step * step : ~std::size_t{0};
  if (missing) {
    if (reserved_ + missing * step > limit || !budget_->take(missing * step)) {
      runs_.give(index);
      return RunMap::none;
    }
    for (std::size_t chunk = from; chunk < to; ++chunk) chunks_[chunk / 64] |= std::uint64_t{1} << (chunk % 64);
    reserved_ += missing * step;
    reserved_high_ = std::max(reserved_high_, reserved_);
  }
  return index;
}

void Pool::trim_locked(std::size_t keep) noexcept {
  // Rounded up to whole steps, with the overflow of the real runtime: a request to keep everything keeps nothing.
  keep = (keep + step - 1) / step * step;
  for (std::size_t word = chunks_.size(); word-- > 0 && reserved_ > keep;) {
    for (std::uint64_t bits = chunks_[word]; bits && reserved_ > keep;) {
      const unsigned bit = 63u - static_cast<unsigned>(std::countl_zero(bits));
      bits &= ~(std::uint64_t{1} << bit);
      const std::size_t offset = (word * 64 + bit) * step;
      const std::uint32_t index = runs_.find(offset);
      if (index == RunMap::none) continue;
      const Span& span = runs_.span(index);
      if (span.state.load(std::memory_order_relaxed) != SpanState::free) continue;
      if ((std::size_t{span.start} + span.granules) << Heap::granule_shift < offset + step) continue;
      chunks_[word] &= ~(std::uint64_t{1} << bit);
      reserved_ -= step;
      budget_->give(step);
    }
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
