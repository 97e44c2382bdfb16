#include <memory/run_map.h>

#include <algorithm>
#include <bit>

namespace mr::memory {

bool RunMap::start() noexcept {
  const auto table = [](std::uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; };
  // A record for each granule would be far more than any program can use; records are committed as they are needed.
  const std::uint64_t records = std::min<std::uint64_t>(total_ + 2, std::uint64_t{1} << 28);
  if (!starts_.initialise(total_) || !spans_.reserve(table(records * sizeof(Span)), {.step = std::size_t{1} << 20}))
    return false;
  for (unsigned i = 0; i < tables; ++i) {
    if (!index_[i].reserve(table(((total_ >> unit_shift[i]) + 1) * 4), {.step = std::size_t{1} << 18})) return false;
    slots_[i] = reinterpret_cast<Relaxed<std::uint32_t>*>(index_[i].base());
  }
  if (!commit(1)) return false;
  const std::uint32_t all = new_span();
  if (all == none) return false;
  Span& span = this->span(all);
  span.start = 0;
  span.granules = static_cast<std::uint32_t>(total_);
  starts_.insert(0);
  note(all);
  link(all);
  return true;
}

bool RunMap::commit(std::uint64_t granules) noexcept {
  // The tables grow with the range: one entry beyond the end, where the rest of a split span starts.
  const std::uint64_t entries = std::min(granules + 1, total_);
  for (unsigned i = 0; i < tables; ++i)
    if (!index_[i].commit(std::min<std::size_t>(((entries >> unit_shift[i]) + 1) * 4, index_[i].size()))) return false;
  return starts_.grow(entries) && range_->commit(std::size_t{granules} << shift_);
}

std::uint32_t RunMap::entry_slowly(std::uint32_t start) const noexcept {
  // A span that reaches into the next word of the bitmap; the last span of the range has none behind it.
  if (const std::uint32_t index = slot(table_of(starts_.distance_to_next_word(start)), start); starts(index, start))
    return index;
  for (unsigned table = 0; table < tables; ++table)
    if (const std::uint32_t index = slot(table, start); starts(index, start)) return index;
  return none;
}

RunMap::Bin RunMap::bin_of(std::uint32_t granules) noexcept {
  if (granules < second) return {0, granules};
  const unsigned log = 31u - static_cast<unsigned>(std::countl_zero(granules));
  return {log - second_bits + 1, granules >> (log - second_bits) & (second - 1)};
}

void RunMap::link(std::uint32_t index) noexcept {
  Span& span = this->span(index);
  span.state.store(SpanState::free, std::memory_order_relaxed);
  const Bin bin = bin_of(span.granules);
  std::uint32_t& head = heads_[bin.row][bin.column];
  span.previous = none;
  span.next = head;
  if (head != none) this->span(head).previous = index;
  head = index;
  columns_[bin.row] |= 1u << bin.column;
  rows_ |= 1u << bin.row;
  dirty_ += std::size_t{span.owner} << shift_;
}

void RunMap::unlink(std::uint32_t index) noexcept {
  Span& span = this->span(index);
  const Bin bin = bin_of(span.granules);
  std::uint32_t& head = heads_[bin.row][bin.column];
  if (span.previous != none)
    this->span(span.previous).next = span.next;
  else
    head = span.next;
  if (span.next != none) this->span(span.next).previous = span.previous;
  if (head == none) {
    columns_[bin.row] &= ~(1u << bin.column);
    if (!columns_[bin.row]) rows_ &= ~(1u << bin.row);
  }
  dirty_ -= std::size_t{span.owner} << shift_;
}

std::uint32_t RunMap::fit(std::uint32_t granules) const noexcept {
  // A close fit among the spans of the request's own list, some of which are smaller: a bounded look keeps this O(1)
  // and fragmentation low ...
  const Bin own = bin_of(granules);
  std::uint32_t index = heads_[own.row][own.column];
  for (unsigned looks = 0; index != none && looks < 64; ++looks, index = span(index).next)
    if (span(index).granules >= granules) return index;
  // ... or the first list all of whose spans are large enough.
  const std::uint32_t columns = own.column + 1 < second ? columns_[own.row] & (~0u << (own.column + 1)) : 0;
  if (columns) return heads_[own.row][std::countr_zero(columns)];
  const std::uint32_t rows = own.row + 1 < first_levels ? rows_ & (~0u << (own.row + 1)) : 0;
  if (!rows) return none;
  const auto row = static_cast<unsigned>(std::countr_zero(rows));
  return heads_[row][std::countr_zero(columns_[row])];
}

std::uint32_t RunMap::take(std::uint32_t granules) noexcept {
  const std::uint32_t index = fit(granules);
  if (index == none) return none;
  Span& span = this->span(index);
  if (!commit(std::uint64_t{span.start} + granules)) return none;
  unlink(index);
  if (span.granules > granules) {
    const std::uint32_t rest = split(index, granules);
    if (rest == none) {  // no record left: hand out the whole span
      span.state.store(SpanState::resting, std::memory_order_relaxed);
      return index;
    }
    // Which granules of a span are untouched isn't known; the front of one is used first.
    const std::uint32_t dirty = span.owner;
    this->span(rest).owner = dirty > granules ? dirty - granules : 0;
    link(rest);
  }
  span.state.store(SpanState::resting, std::memory_order_relaxed);
  return index;
}

std::uint32_t RunMap::split(std::uint32_t index, std::uint32_t granules) noexcept {
  const std::uint32_t rest = new_span();
  if (rest == none) return none;
  Span& span = this->span(index);
  Span& other = this->span(rest);
  other.start = span.start + granules;
  other.granules = span.granules - granules;
  other.state.store(SpanState::resting, std::memory_order_relaxed);
  span.granules = granules;
  note(index);
  note(rest);
  starts_.insert(other.start);
  return rest;
}

void RunMap::join(std::uint32_t left, std::uint32_t right) noexcept {
  Span& from = span(right);
  span(left).granules = span(left).granules + from.granules;
  note(left);
  starts_.remove(from.start);
  drop_span(right);
}

std::uint32_t RunMap::give(std::uint32_t index) noexcept {
  Span* span = &this->span(index);
  span->owner = std::uint32_t{span->granules};
  const std::uint32_t next = after(index);
  if (next != none && this->span(next).state.load(std::memory_order_relaxed) == SpanState::free) {
    Span& right = this->span(next);
    unlink(next);
    span->granules = span->granules + right.granules;
    span->owner = span->owner + right.owner;
    starts_.remove(right.start);
    drop_span(next);
  }
  if (const std::uint32_t before = this->before(index); before != none) {
    Span& left = this->span(before);
    if (left.state.load(std::memory_order_relaxed) == SpanState::free) {
      unlink(before);
      left.granules = left.granules + span->granules;
      left.owner = left.owner + span->owner;
      starts_.remove(span->start);
      drop_span(index);
      index = before;
    }
  }
  note(index);
  link(index);
  return index;
}

void RunMap::purge(std::size_t keep) noexcept {
  for (unsigned row = first_levels; row-- > 0 && dirty_ > keep;) {
    for (unsigned column = second; column-- > 0 && dirty_ > keep;) {
      for (std::uint32_t index = heads_[row][column]; index != none && dirty_ > keep; index = span(index).next) {
        Span& span = this->span(index);
        if (span.owner == 0) continue;
        range_->discard(std::size_t{span.start} << shift_, bytes(span));
        dirty_ -= std::size_t{span.owner} << shift_;
        span.owner = 0;
      }
    }
  }
}

void RunMap::discard(std::uint32_t index, std::size_t offset, std::size_t bytes) noexcept {
  Span& span = this->span(index);
  range_->discard(offset, bytes);
  const auto clean = static_cast<std::uint32_t>(bytes >> shift_);
  const std::uint32_t before = span.owner, after = std::min(before, span.granules - clean);
  span.owner = after;
  dirty_ -= std::size_t{before - after} << shift_;
}

std::uint32_t RunMap::new_span() noexcept {
  if (spare_ != none) {
    const std::uint32_t index = spare_;
    spare_ = span(index).next;
    span(index).owner = 0;
    return index;
  }
  if ((std::size_t{span_end_} + 1) * sizeof(Span) > spans_.size() ||
      !spans_.commit((std::size_t{span_end_} + 1) * sizeof(Span)))
    return none;
  return span_end_++;
}

void RunMap::drop_span(std::uint32_t index) noexcept {
  Span& span = this->span(index);
  span.state.store(SpanState::unused, std::memory_order_relaxed);
  span.start = no_start;
  span.next = spare_;
  spare_ = index;
}

}  // namespace mr::memory
