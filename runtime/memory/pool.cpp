#include <memory/pool.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include <memory/space.h>

namespace mr::memory {
namespace {

OrderTest order;

constexpr std::uint64_t block_magic = 0x6b636f6c62726d01ull;

std::uint32_t granules_of(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + Heap::alignment - 1) >> Heap::granule_shift);
}

}  // namespace

std::atomic<int> pools_watching{0};

void set_order_test(const OrderTest& test) noexcept { order = test; }

// All pools, for the calls that concern every one of them.
class PoolRegistry {
 public:
  static PoolRegistry& get() noexcept {
    static PoolRegistry* const instance = new PoolRegistry;
    return *instance;
  }
  void add(Pool* pool) {
    const std::lock_guard guard(lock_);
    pools_.push_back(pool);
  }
  bool contains(const Pool* pool) noexcept {
    const std::lock_guard guard(lock_);
    return std::find(pools_.begin(), pools_.end(), pool) != pools_.end() && !pool->destroyed_;
  }
  void visit_all(void (*visit)(Pool&, void*), void* data) {
    const std::lock_guard guard(lock_);
    for (Pool* pool : pools_)
      if (!pool->destroyed_) visit(*pool, data);
  }
  void synchronized(int device, void* queue) noexcept {
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < pools_.size();) {
      Pool* pool = pools_[i];
      if (pool->watching_ && (pool->options_.device == device || pool->options_.device < 0)) pool->synchronized(queue);
      if (pool->finished())
        remove(i);
      else
        ++i;
    }
  }
  bool reclaim(int device) noexcept {
    std::size_t before = 0, after = 0;
    const std::lock_guard guard(lock_);
    for (Pool* pool : pools_) {
      if (pool->options_.device != device || pool->imported_) continue;
      const std::lock_guard pool_guard(pool->lock_);
      before += pool->reserved_;
      pool->retire_done();
      pool->trim_locked(0);
      after += pool->reserved_;
    }
    return after < before;
  }
  void sweep(Pool* pool) noexcept {
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < pools_.size(); ++i)
      if (pools_[i] == pool && pool->finished()) {
        remove(i);
        return;
      }
  }
  void drop(int device) noexcept {
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < pools_.size();) {
      if (pools_[i]->options_.device == device)
        remove(i);
      else
        ++i;
    }
  }

 private:
  // Called with lock_ held and nobody using the pool.
  void remove(std::size_t at) noexcept {
    Pool* pool = pools_[at];
    pools_[at] = pools_.back();
    pools_.pop_back();
    if (pool->watching_) pools_watching.fetch_sub(1, std::memory_order_relaxed);
    space().ranges().erase(reinterpret_cast<std::uintptr_t>(pool->range_.base()));
    if (pool->budget_) pool->budget_->give(pool->reserved_);
    delete pool;
  }

  std::mutex lock_;
  std::vector<Pool*> pools_;
};

bool valid_pool(const Pool* pool) noexcept { return pool && PoolRegistry::get().contains(pool); }
bool reclaim(int device) noexcept {
  const bool pools = PoolRegistry::get().reclaim(device);
  Heap& heap = space().device_heap(device);
  const bool resting = heap.resting() != 0;
  heap.flush();
  return pools || resting;
}
void synchronized_slowly(int device, void* queue) noexcept { PoolRegistry::get().synchronized(device, queue); }
void each_pool(void (*visit)(Pool&, void*), void* data) { PoolRegistry::get().visit_all(visit, data); }
void drop_pools(int device) noexcept { PoolRegistry::get().drop(device); }

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
                                   .shared = options.exportable};
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

Pool* Pool::import(int fd, int device) noexcept {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return nullptr;
  auto* pool = new (std::nothrow) Pool;
  if (!pool) {
    close(own);
    return nullptr;
  }
  pool->options_.device = device;
  pool->imported_ = true;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (!pool->range_.map_shared(own, bytes, {.step = step, .key = space().device_key(), .shared = true})) {
    close(own);
    delete pool;
    return nullptr;
  }
  pool->streams_.emplace_back();
  pool->access = std::uint64_t{0x100000001} << device;
  const auto begin = reinterpret_cast<std::uintptr_t>(pool->range_.base());
  space().ranges().insert({begin, begin + bytes, pool, pool_window, static_cast<std::uint8_t>(Kind::device),
                           static_cast<std::int16_t>(device)});
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

// ---- what a stream holds
// ---------------------------------------------------------------------------------------------

Pool::Stream* Pool::stream_of(void* queue, bool make) noexcept {
  if (recent_ && recent_->queue == queue) return recent_;
  const auto found = numbers_.find(queue);
  if (found != numbers_.end()) return recent_ = streams_[found->second].get();
  if (!make) return nullptr;
  auto stream = std::make_unique<Stream>();
  stream->queue = queue;
  stream->number = static_cast<std::uint32_t>(streams_.size());
  numbers_.emplace(queue, stream->number);
  recent_ = stream.get();
  streams_.push_back(std::move(stream));
  return recent_;
}

namespace {
unsigned bin_of(std::uint32_t granules) noexcept {
  return std::min(31u - static_cast<unsigned>(std::countl_zero(granules)), 27u);
}
}  // namespace

void Pool::hold(Stream& stream, std::uint32_t index) noexcept {
  Span& span = runs_.span(index);
  const unsigned bin = bin_of(span.granules);
  std::uint32_t& head = stream.heads[bin];
  span.previous = RunMap::none;
  span.next = head;
  if (head != RunMap::none) runs_.span(head).previous = index;
  head = index;
  stream.bits |= 1u << bin;
  ++stream.count;
  ++held_;
}

void Pool::unhold(Stream& stream, std::uint32_t index) noexcept {
  Span& span = runs_.span(index);
  const unsigned bin = bin_of(span.granules);
  std::uint32_t& head = stream.heads[bin];
  if (span.previous != RunMap::none)
    runs_.span(span.previous).next = span.next;
  else
    head = span.next;
  if (span.next != RunMap::none) runs_.span(span.next).previous = span.previous;
  if (head == RunMap::none) stream.bits &= ~(1u << bin);
  --stream.count;
  --held_;
}

// Takes a block off the stream's lists and leaves what is more than `granules` with the stream.
void Pool::cut(Stream& stream, std::uint32_t index, std::uint32_t granules) noexcept {
  unhold(stream, index);
  Span& span = runs_.span(index);
  if (span.granules == granules) return;
  const std::uint32_t rest = runs_.split(index, granules);
  if (rest == RunMap::none) return;
  Span& other = runs_.span(rest);
  other.owner = std::uint32_t{span.owner};
  other.site = std::uint64_t{span.site};
  hold(stream, rest);
}

std::uint32_t Pool::take_held(Stream& stream, std::uint32_t granules) noexcept {
  const unsigned bin = bin_of(granules);
  std::uint32_t index = stream.heads[bin];
  for (unsigned looks = 0; index != RunMap::none && looks < 32; ++looks, index = runs_.span(index).next)
    if (runs_.span(index).granules >= granules) {
      cut(stream, index, granules);
      return index;
    }
  const std::uint32_t larger = bin + 1 < bins ? stream.bits & (~0u << (bin + 1)) : 0;
  if (!larger) return RunMap::none;
  index = stream.heads[std::countr_zero(larger)];
  cut(stream, index, granules);
  return index;
}

// A block of another stream whose free is ordered before `queue` by events.
std::uint32_t Pool::take_following(void* queue, std::uint32_t granules) noexcept {
  for (const auto& stream : streams_) {
    if (!stream || !stream->count || stream->queue == queue) continue;
    for (std::uint32_t bits = stream->bits & (~0u << bin_of(granules)); bits; bits &= bits - 1) {
      std::uint32_t index = stream->heads[std::countr_zero(bits)];
      for (unsigned looks = 0; index != RunMap::none && looks < 32; ++looks, index = runs_.span(index).next) {
        const Span& span = runs_.span(index);
        if (span.granules < granules || !order.before({stream->queue, span.site}, queue)) continue;
        cut(*stream, index, granules);
        return index;
      }
    }
  }
  return RunMap::none;
}

// Any block of any stream, for which the allocating stream then has to wait.
std::uint32_t Pool::take_waiting(std::uint32_t granules, StreamPoint* wait) noexcept {
  for (const auto& stream : streams_) {
    if (!stream || !stream->count) continue;
    const std::uint32_t index = take_held(*stream, granules);
    if (index == RunMap::none) continue;
    *wait = {stream->queue, runs_.span(index).site};
    return index;
  }
  return RunMap::none;
}

void Pool::retire(Stream& stream) noexcept {
  for (std::uint32_t& head : stream.heads) {
    while (head != RunMap::none) {
      const std::uint32_t index = head;
      head = runs_.span(index).next;
      runs_.give(index);
    }
  }
  stream.bits = 0;
  held_ -= stream.count;
  stream.count = 0;
}

// Makes everything free whose point has completed.
void Pool::retire_done(Stream& stream) noexcept {
  if (!stream.count) return;
  if (order.done({stream.queue, stream.newest})) {
    retire(stream);
    return;
  }
  for (std::uint32_t bits = stream.bits; bits; bits &= bits - 1) {
    std::uint32_t index = stream.heads[std::countr_zero(bits)];
    while (index != RunMap::none) {
      const std::uint32_t next = runs_.span(index).next;
      if (order.done({stream.queue, runs_.span(index).site})) {
        unhold(stream, index);
        runs_.give(index);
      }
      index = next;
    }
  }
}

void Pool::retire_done() noexcept {
  if (!held_) return;
  for (const auto& stream : streams_)
    if (stream) retire_done(*stream);
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

// ---- allocation
// ------------------------------------------------------------------------------------------------------

Pool::Result Pool::allocate(std::size_t bytes, void* queue, std::uint64_t site) noexcept {
  Result result;
  if (imported_ || bytes > range_.size()) return result;
  const std::uint32_t granules = granules_of(bytes);
  const std::lock_guard guard(lock_);
  std::uint32_t index = RunMap::none;
  Stream* stream = stream_of(queue, false);
  if (stream && stream->count) index = take_held(*stream, granules);
  if (index == RunMap::none && held_) {
    if (reuse_follow) index = take_following(queue, granules);
    if (index == RunMap::none && reuse_opportunistic) retire_done();
  }
  if (index == RunMap::none) index = take_free(granules);
  if (index == RunMap::none) {
    // Less memory than asked for is free anywhere: first what is done, whatever the attributes say, then what can be
    // waited for.
    retire_done();
    index = take_free(granules);
    if (index == RunMap::none && reuse_internal) index = take_waiting(granules, &result.wait);
    if (index == RunMap::none) return result;
  }
  Span& span = runs_.span(index);
  span.requested = bytes;
  span.site = site;
  span.owner = std::uint32_t{0};
  span.tag = static_cast<std::uint8_t>(BlockTag::ordered);
  span.generation = span.generation + 1;
  span.state.store(SpanState::live, std::memory_order_relaxed);
  ++live_;
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
  result.pointer = runs_.address(span);
  return result;
}

bool Pool::free(void* pointer, StreamPoint point) noexcept {
  if (imported_) return true;  // only its owner's process can free the memory
  std::uint32_t index = runs_.at(static_cast<std::size_t>(static_cast<char*>(pointer) - range_.base()));
  if (index == RunMap::none) return false;
  bool last = false;
  {
    const std::lock_guard guard(lock_);
    Span& span = runs_.span(index);
    SpanState expected = SpanState::live;
    if (!span.state.compare_exchange_strong(expected, SpanState::resting, std::memory_order_relaxed)) return false;
    used_ -= span.requested;
    --live_;
    if (!point.queue) {
      runs_.give(index);
      // No stream will be waited for on its account, so what is too much goes back now.
      if (reserved_ > release_threshold) trim_locked(release_threshold);
    } else {
      Stream& stream = *stream_of(point.queue, true);
      const std::uint32_t number = stream.number;
      span.owner = number;
      span.site = point.sequence;
      stream.newest = std::max(stream.newest, point.sequence);
      // Joined with what the stream freed beside it: the newer point holds for both.
      if (const std::uint32_t next = runs_.after(index); next != RunMap::none) {
        const Span& right = runs_.span(next);
        if (right.state.load(std::memory_order_relaxed) == SpanState::resting && right.owner == number) {
          unhold(stream, next);
          runs_.join(index, next);
        }
      }
      if (const std::uint32_t before = runs_.before(index); before != RunMap::none) {
        Span& left = runs_.span(before);
        if (left.state.load(std::memory_order_relaxed) == SpanState::resting && left.owner == number) {
          unhold(stream, before);
          runs_.join(before, index);
          left.site = point.sequence;
          index = before;
        }
      }
      hold(stream, index);
      watch();
    }
    last = finished();
  }
  if (last) PoolRegistry::get().sweep(this);
  return true;
}

Block Pool::describe(std::uint32_t index) const noexcept {
  const Span& span = runs_.span(index);
  Block block;
  block.base = runs_.address(span);
  block.extent = runs_.bytes(span);
  block.size = span.requested;
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

// ---- other processes
// -------------------------------------------------------------------------------------------------

int Pool::export_file() noexcept { return range_.file() < 0 ? -1 : fcntl(range_.file(), F_DUPFD_CLOEXEC, 0); }

bool Pool::name_block(const void* pointer, BlockName* name) const noexcept {
  if (!options_.exportable || imported_) return false;
  const Block block = find(pointer);
  if (!block.live || block.base != pointer) return false;
  *name = {block_magic, static_cast<std::uint64_t>(block.base - range_.base()), block.size, {}};
  return true;
}

void* Pool::import_block(const BlockName& name) const noexcept {
  if (!imported_ || name.magic != block_magic || name.offset >= range_.size() ||
      name.bytes > range_.size() - name.offset)
    return nullptr;
  return range_.base() + name.offset;
}

}  // namespace mr::memory
