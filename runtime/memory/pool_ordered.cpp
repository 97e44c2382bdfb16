// Stream-ordered allocation: what streams hold of a pool - memory that was freed in them and is not known to be free
// for all - and how requests are served from it. One file, since the short way of allocating and freeing goes through
// it.
#include <algorithm>
#include <bit>

#include <memory/pool.h>
#include <memory/pool_registry.h>

namespace mr::memory {
namespace {

OrderTest order;

std::uint32_t granules_of(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>((bytes + Heap::alignment - 1) >> Heap::granule_shift);
}
unsigned bin_of(std::uint32_t granules) noexcept {
  return std::min(31u - static_cast<unsigned>(std::countl_zero(granules)), 27u);
}

}  // namespace

void set_order_test(const OrderTest& test) noexcept { order = test; }

Pool::Stream* Pool::stream_of(void* queue, bool make) noexcept {
  static_assert(std::tuple_size_v<decltype(recent_)> == 64);
  Stream*& recent = recent_[reinterpret_cast<std::uintptr_t>(queue) * 0x9e3779b97f4a7c15 >> 58];
  if (recent && recent->queue == queue) return recent;
  const auto found = numbers_.find(queue);
  if (found != numbers_.end()) return recent = streams_[found->second].get();
  if (!make) return nullptr;
  auto stream = std::make_unique<Stream>();
  stream->queue = queue;
  stream->number = static_cast<std::uint32_t>(streams_.size());
  numbers_.emplace(queue, stream->number);
  recent = stream.get();
  streams_.push_back(std::move(stream));
  return recent;
}

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

// The closest fit for `granules` in a stream's lists, as far as a bounded look sees; none if nothing is large enough.
std::uint32_t Pool::fit(const Stream& stream, std::uint32_t granules) const noexcept {
  std::uint32_t best = RunMap::none, least = ~0u;
  for (std::uint32_t bits = stream.bits & (~0u << bin_of(granules)); bits && best == RunMap::none; bits &= bits - 1) {
    std::uint32_t index = stream.heads[std::countr_zero(bits)];
    for (unsigned looks = 0; index != RunMap::none && looks < 64; ++looks, index = runs_.span(index).next) {
      const std::uint32_t size = runs_.span(index).granules;
      if (size < granules || size >= least) continue;
      best = index;
      least = size;
      if (size == granules) break;
    }
  }
  return best;
}

// A block that the stream has freed. Not one that is cut to pieces while memory that is free for all fits better: large
// blocks would be lost to small requests, and the pool would grow by what large requests then miss.
std::uint32_t Pool::take_held(Stream& stream, std::uint32_t granules) noexcept {
  const std::uint32_t index = fit(stream, granules);
  if (index == RunMap::none) return index;
  const std::uint32_t size = runs_.span(index).granules;
  if (size - granules > granules / 8)
    if (const std::uint32_t other = runs_.fit(granules); other != RunMap::none && runs_.span(other).granules < size)
      return RunMap::none;
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
    const std::uint32_t index = fit(*stream, granules);
    if (index == RunMap::none) continue;
    cut(*stream, index, granules);
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
  runs_.set_requested(span, bytes);
  span.site = site;
  span.owner = std::uint32_t{0};
  span.tag = static_cast<std::uint8_t>(BlockTag::ordered);
  span.generation = span.generation + 1;
  span.state.store(SpanState::live, std::memory_order_relaxed);
  ++live_;
  used_ += runs_.requested(span);
  used_high_ = std::max(used_high_, used_);
  result.pointer = runs_.address(span);
  return result;
}

bool Pool::free(void* pointer, StreamPoint point) noexcept {
  if (imported_) return true;  // only its owner's process can free the memory
  bool last = false;
  {
    const std::lock_guard guard(lock_);
    std::uint32_t index = runs_.at(static_cast<std::size_t>(static_cast<char*>(pointer) - range_.base()));
    if (index == RunMap::none) return false;
    // All of a pool's states change under its lock: of two frees of one block, the first one finds it live.
    Span& span = runs_.span(index);
    if (span.state.load(std::memory_order_relaxed) != SpanState::live) return false;
    span.state.store(SpanState::resting, std::memory_order_relaxed);
    used_ -= runs_.requested(span);
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

}  // namespace mr::memory
