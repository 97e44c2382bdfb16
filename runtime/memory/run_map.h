// How one address range is divided: every granule belongs to exactly one span, free or in use.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
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

// The record of one span: 40 bytes. With at most two entries of the index and a bit or two of the start map for each
// 4 KiB, that is all the bookkeeping of an allocation. Records are never unmapped, so that a look-up without the lock
// finds at worst an outdated one.
struct Span {
  Relaxed<std::uint32_t> start;  // first granule
  Relaxed<std::uint32_t> granules;
  Relaxed<std::uint64_t> site;  // return address of the allocating call, or 0
  std::uint32_t previous;       // free list or owner's list
  std::uint32_t next;
  Relaxed<std::uint32_t> generation;  // tells allocations at one address apart
  Relaxed<std::uint32_t> owner;       // in use: the owner's; free: how many granules may hold memory (an estimate)
  Relaxed<std::uint32_t> slack;       // bytes that weren't asked for, of what has been handed out
  std::atomic<SpanState> state;       // live -> resting under a lock or by compare-exchange: of two frees, one wins
  Relaxed<std::uint8_t> tag;          // what the owner uses the block for
};
static_assert(sizeof(Span) == 40);

// Free spans in segregated lists with two levels (Masmano's TLSF): taking and giving are O(1) but for the start map's
// O(log), with the good fit first and low addresses kept together by splitting from the front. Not thread-safe, but for
// find() and at(), which need no lock.
class RunMap {
 public:
  static constexpr std::uint32_t none = 0;

  // Divides `range` (not yet committed; must outlive this) into granules of 1 << granule_shift bytes. False when memory
  // for the tables is refused. In two steps: look-ups are possible behind the first, and find nothing.
  bool initialise(Reservation* range, unsigned granule_shift) noexcept {
    attach(range, granule_shift);
    return start();
  }
  void attach(Reservation* range, unsigned granule_shift) noexcept {
    range_ = range;
    shift_ = granule_shift;
    total_ = range->size() >> granule_shift;
  }
  bool start() noexcept;
  bool ready() const noexcept { return span_end_ > 1; }

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
    const StartMap::Member member = starts_.member_before(static_cast<std::uint32_t>(offset >> shift_));
    return member.unit == StartMap::none ? none : entry(member.unit, member.distance);
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
  // The bytes that were asked for, of a live span.
  std::size_t requested(const Span& span) const noexcept { return bytes(span) - span.slack; }
  void set_requested(Span& span, std::size_t asked) const noexcept {
    span.slack = static_cast<std::uint32_t>(std::min<std::size_t>(bytes(span) - asked, ~std::uint32_t{0}));
  }
  std::uint32_t granules_of(std::size_t bytes) const noexcept {
    return static_cast<std::uint32_t>((bytes + (std::size_t{1} << shift_) - 1) >> shift_);
  }
  Reservation& range() const noexcept { return *range_; }

  // Free bytes whose pages may hold memory; give it back to the machine with purge(), largest spans first, until at
  // most `keep` are left.
  std::size_t dirty() const noexcept { return dirty_; }
  void purge(std::size_t keep) noexcept;
  // Gives the pages of a part of a free span back.
  void discard(std::uint32_t index, std::size_t offset, std::size_t bytes) noexcept;
  // Calls visit(index) for the free spans, those of longer lists first, until it returns false.
  template <class Visit> void each_free(Visit&& visit) {
    for (unsigned row = first_levels; row-- > 0;)
      for (unsigned column = second; column-- > 0;)
        for (std::uint32_t index = heads_[row][column]; index != none; index = span(index).next)
          if (!visit(index)) return;
  }

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
  // The record of the span that starts at a granule; none if there is none.
  std::uint32_t entry(std::uint32_t start) const noexcept { return entry(start, starts_.distance_in_word(start)); }
  std::uint32_t entry(std::uint32_t start, std::uint32_t distance) const noexcept {
    // Where the next span starts says how long this one is, and so where its entry stands. Without one near, it is most
    // likely a long one.
    const std::uint32_t index = slot(distance ? by_width[std::bit_width(distance)] : tables - 1, start);
    return starts(index, start) ? index : entry_slowly(start);
  }
  std::uint32_t entry_slowly(std::uint32_t start) const noexcept;
  bool starts(std::uint32_t index, std::uint32_t start) const noexcept {
    return index != none && span(index).start == start;
  }
  // The span's place or size has changed: its entry goes to where entry() looks.
  void note(std::uint32_t index) noexcept {
    const Span& span = this->span(index);
    slot(table_of(span.granules), span.start) = index;
  }
  // By lengths: the table of spans of at least 1, 4, 16, 32 and 64 granules.
  static constexpr unsigned tables = 5;
  static constexpr std::uint8_t unit_shift[tables] = {0, 2, 4, 5, 6};
  static constexpr std::uint8_t by_width[] = {0, 0, 0, 1, 1, 2, 3, 4};  // of lengths with so many bits, up to 64
  static unsigned table_of(std::uint32_t granules) noexcept {
    return by_width[std::bit_width(std::min(granules, 64u))];
  }
  Relaxed<std::uint32_t>& slot(unsigned table, std::uint32_t start) const noexcept {
    return slots_[table][start >> unit_shift[table]];
  }

  Reservation* range_ = nullptr;
  unsigned shift_ = 0;
  std::uint64_t total_ = 0;
  StartMap starts_;
  // granule -> span record, for granules where spans start, in tables by the spans' lengths. A table's entries stand
  // for stretches as long as the shortest of its spans, so that at most one starts in each, and none has a page of
  // entries for itself. An entry counts while its record says the same start; that of a record without a span says
  // none.
  static constexpr std::uint32_t no_start = ~std::uint32_t{0};
  std::array<Reservation, tables> index_;
  std::array<Relaxed<std::uint32_t>*, tables> slots_{};  // where they begin
  Reservation spans_;                                    // records; number 0 is none
  std::uint32_t span_end_ = 1;
  std::uint32_t spare_ = none;  // unused records, linked by next
  std::size_t dirty_ = 0;
  std::uint32_t rows_ = 0;
  std::uint32_t columns_[first_levels] = {};
  std::uint32_t heads_[first_levels][second] = {};
};

}  // namespace mr::memory
