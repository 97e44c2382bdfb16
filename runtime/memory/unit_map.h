// A set of numbers below some bound, one bit each: which units of an address range are backed.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mr::memory {

// Ranges are [from, to). The table is as long as its largest member wants it. Not thread-safe.
class UnitMap {
 public:
  // No member is as large.
  std::size_t bound() const noexcept { return words_.size() * 64; }
  bool contains(std::size_t unit) const noexcept {
    return unit < bound() && (words_[unit / 64] >> (unit % 64) & 1) != 0;
  }
  std::size_t count(std::size_t from, std::size_t to) const noexcept {
    std::size_t members = 0;
    each_word(from, std::min(to, bound()), [&](std::size_t word, std::uint64_t mask) {
      members += static_cast<std::size_t>(std::popcount(words_[word] & mask));
    });
    return members;
  }
  // The first member from `from` on, or `to`.
  std::size_t next(std::size_t from, std::size_t to) const noexcept {
    const std::size_t end = std::min(to, bound());
    for (std::size_t unit = from; unit < end; unit = (unit / 64 + 1) * 64)
      if (const std::uint64_t rest = words_[unit / 64] >> (unit % 64); rest)
        return std::min(unit + static_cast<std::size_t>(std::countr_zero(rest)), to);
    return to;
  }
  void insert(std::size_t from, std::size_t to) {
    if (to > bound()) words_.resize((to + 63) / 64);
    each_word(from, to, [&](std::size_t word, std::uint64_t mask) { words_[word] |= mask; });
  }
  void remove(std::size_t from, std::size_t to) noexcept {
    each_word(from, std::min(to, bound()), [&](std::size_t word, std::uint64_t mask) { words_[word] &= ~mask; });
  }

 private:
  template <class Visit> static void each_word(std::size_t from, std::size_t to, Visit visit) {
    while (from < to) {
      const std::size_t end = std::min(to, (from / 64 + 1) * 64);
      visit(from / 64, (~std::uint64_t{0} >> (64 - (end - from))) << (from % 64));
      from = end;
    }
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace mr::memory
