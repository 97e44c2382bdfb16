// How one address range is divided: every granule belongs to exactly one span, free or in use.
#pragma once
#include <cstddef>
#include <cstdint>

#include <memory/lock.h>
#include <memory/reservation.h>
#include <memory/start_map.h>

namespace mr::memory {

enum class SpanState : std::uint8_t {
  unused,   // a record without a span
  free,     // nobody's; never next to another free span
  live,     // handed out
  resting,  // in use as far as the RunMap knows, but kept by its owner for the next request (thread cache, pending
            // stream-ordered free)
};

// The record of one span: 48 bytes. With the 4 bytes of the index and at most a bit or two of the start map, that is
// all the bookkeeping of an allocation. Records are never unmapped, so that a look-up without the lock finds at worst
// an outdated one.
struct Span {
  Relaxed<std::uint32_t> start;  // first granule
  Relaxed<std::uint32_t> granules;
  Relaxed<std::uint64_t> requested;  // bytes asked for; live spans only
  Relaxed<std::uint64_t> site;       // return address of the allocating call, or 0
  std::uint32_t previous;            // free list or owner's list
  std::uint32_t next;
  Relaxed<std::uint32_t> generation;  // tells allocations at one address apart
  std::atomic<SpanState> state;       // live -> resting is a compare-exchange: of two frees of one block, one wins
  Relaxed<std::uint8_t> tag;          // what the owner uses the block for
  std::uint16_t reserved;
  Relaxed<std::uint32_t> owner;  // in use: the owner's; free: how many granules may hold memory (an estimate)
};
static_assert(sizeof(Span) == 48);

// Free spans in segregated lists with two levels (Masmano's TLSF): taking and giving are O(1) but for the start map's
// O(log), with the good fit first and low addresses kept together by splitting from the front. Not thread-safe, but for
// find() and at(), which need no lock.
class RunMap {
 public:
  static constexpr std::uint32_t none = 0;

  // Divides `range` (not yet committed; must outlive this) into granules of 1 << granule_shift bytes. False when memory
  // for the tables is refused.
  bool initialise(Reservation* range, unsigned granule_shift) noexcept;

  // A span of `granules` > 0 in state resting, its memory committed; none if there is no room or the kernel refuses
  // memory.
  std::uint32_t take(std::uint32_t granules) noexcept;
  // The free span that take() would cut these from; none if there is none.
  std::uint32_t fit(std::uint32_t granules) const noexcept;
  // Cuts [first, first + granules) off a span that take() gave: the rest becomes a span of its own. Returns the rest.
  std::uint32_t split(std::uint32_t index, std::uint32_t granules) noexcept;
  // Joins two neighbouring spans in use (right starts where left ends) into `left`.
  void join(std::uint32_t left, std::uint32_t right) noexcept;
  // The span that ends where this one starts; none for the first.
  std::uint32_t before(std::uint32_t index) const noexcept {
    const std::uint32_t start = span(index).start;
    return start == 0 ? none : static_cast<std::uint32_t>(entry(starts_.before(start - 1)));
  }
  // Makes the span free and joins it with its free neighbours. Returns the free span it became part of.
  std::uint32_t give(std::uint32_t index) noexcept;

  Span& span(std::uint32_t index) const noexcept { return reinterpret_cast<Span*>(spans_.base())[index]; }
  // The span around / starting at a byte offset; none outside the committed part. Lock-free; right for addresses in
  // live spans.
  std::uint32_t find(std::size_t offset) const noexcept {
    if (offset >= range_->committed()) return none;
    const std::uint32_t start = starts_.before(static_cast<std::uint32_t>(offset >> shift_));
    return start == StartMap::none ? none : static_cast<std::uint32_t>(entry(start));
  }
  std::uint32_t at(std::size_t offset) const noexcept {
    if (offset >= range_->committed() || (offset & ((std::size_t{1} << shift_) - 1))) return none;
    const auto start = static_cast<std::uint32_t>(offset >> shift_);
    return starts_.contains(start) ? static_cast<std::uint32_t>(entry(start)) : none;
  }
  std::uint32_t after(std::uint32_t index) const noexcept {
    const std::uint64_t start = std::uint64_t{span(index).start} + span(index).granules;
    return start < total_ ? static_cast<std::uint32_t>(entry(static_cast<std::uint32_t>(start))) : none;
  }
  // The first span of the range; together with after() a walk over all of them, under the lock.
  std::uint32_t first() const noexcept { return static_cast<std::uint32_t>(entry(0)); }

  char* address(const Span& span) const noexcept { return range_->base() + (std::size_t{span.start} << shift_); }
  std::size_t bytes(const Span& span) const noexcept { return std::size_t{span.granules} << shift_; }
  unsigned granule_shift() const noexcept { return shift_; }
  Reservation& range() const noexcept { return *range_; }

  // Free bytes whose pages may hold memory; give it back to the machine with purge(), largest spans first, until at
  // most `keep` are left.
  std::size_t dirty() const noexcept { return dirty_; }
  void purge(std::size_t keep) noexcept;

 private:
  static constexpr unsigned second_bits = 5, second = 1u << second_bits, first_levels = 32;
  struct Bin {
    unsigned row, column;
  };
  static Bin bin_of(std::uint32_t granules) noexcept;
  void link(std::uint32_t index) noexcept;
  void unlink(std::uint32_t index) noexcept;
  std::uint32_t new_span() noexcept;
  void drop_span(std::uint32_t index) noexcept;
  bool commit(std::uint64_t granules) noexcept;
  // The record of the span that starts at a granule.
  std::uint32_t entry(std::uint32_t start) const noexcept {
    if (const std::uint32_t index = large(start); index != none && span(index).start == start) return index;
    return small(start);
  }
  // The span's place or size has changed: its entry goes to where entry() looks.
  void note(std::uint32_t index) noexcept {
    const Span& span = this->span(index);
    (span.granules >= 1u << large_shift ? large(span.start) : small(span.start)) = index;
  }
  Relaxed<std::uint32_t>& small(std::uint32_t start) const noexcept {
    return reinterpret_cast<Relaxed<std::uint32_t>*>(index_.base())[start];
  }
  Relaxed<std::uint32_t>& large(std::uint32_t start) const noexcept {
    return reinterpret_cast<Relaxed<std::uint32_t>*>(large_index_.base())[start >> large_shift];
  }

  Reservation* range_ = nullptr;
  unsigned shift_ = 0;
  std::uint64_t total_ = 0;
  StartMap starts_;
  // granule -> span record, for granules where spans start. Of large spans, at most one starts in a stretch of granules
  // as long as the shortest of them: their entries stand in a table of stretches, so that none has a page for itself.
  // An entry there counts while its record says the same start; that of a record without a span says none.
  static constexpr unsigned large_shift = 6;
  static constexpr std::uint32_t no_start = ~std::uint32_t{0};
  Reservation index_, large_index_;
  Reservation spans_;  // records; number 0 is none
  std::uint32_t span_end_ = 1;
  std::uint32_t spare_ = none;  // unused records, linked by next
  std::size_t dirty_ = 0;
  std::uint32_t rows_ = 0;
  std::uint32_t columns_[first_levels] = {};
  std::uint32_t heads_[first_levels][second] = {};
};

}  // namespace mr::memory
