// Where blocks begin: a bitmap with summaries, which answers "which block does this address lie in" in a few loads.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <memory/lock.h>
#include <memory/reservation.h>

namespace mr::memory {

// A set of unit numbers in [0, capacity) with predecessor search, 64-ary, so O(log64 capacity). One writer at a time
// (the owner's lock); readers need no lock: before(u) gives the right answer as long as the member it should find stays
// in the set during the call and no member comes or goes between it and u - true for an address inside a live block.
//
// Why that is safe: a summary bit is set after the word below it became nonzero and cleared after it became zero, so a
// stable member's path is always there; a stale summary bit only makes the search descend in vain and go on to the
// left.
class StartMap {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  bool initialise(std::uint64_t capacity) noexcept {
    std::uint64_t words = (capacity + 63) / 64;
    for (auto& level : levels_) {
      const std::size_t bytes = (words * 8 + page_bytes - 1) / page_bytes * page_bytes;
      if (!level.range.reserve(bytes, {.step = std::size_t{1} << 20})) return false;
      words = (words + 63) / 64;
    }
    return true;
  }
  // Makes members below `units` possible. Only by the writer.
  bool grow(std::uint64_t units) noexcept {
    for (auto& level : levels_) {
      units = (units + 63) / 64;
      const std::size_t bytes = units * 8;
      if (!level.range.commit(bytes < level.range.size() ? bytes : level.range.size())) return false;
    }
    return true;
  }

  void insert(std::uint32_t unit) noexcept {
    for (auto& level : levels_) {
      Relaxed<std::uint64_t>& word = level.word(unit >> 6);
      const std::uint64_t before = word;
      word = before | std::uint64_t{1} << (unit & 63);
      if (before) return;  // the summaries know of this word already
      unit >>= 6;
    }
  }
  void remove(std::uint32_t unit) noexcept {
    for (auto& level : levels_) {
      Relaxed<std::uint64_t>& word = level.word(unit >> 6);
      const std::uint64_t after = word & ~(std::uint64_t{1} << (unit & 63));
      word = after;
      if (after) return;
      unit >>= 6;
    }
  }
  bool contains(std::uint32_t unit) const noexcept { return levels_[0].word(unit >> 6) >> (unit & 63) & 1; }

  // How far the next member is from the member `unit`, when both are in one word; otherwise 0.
  std::uint32_t distance_in_word(std::uint32_t unit) const noexcept {
    return distance(levels_[0].word(unit >> 6), unit & 63);
  }
  // The same where the next word is the first that may have it; if there is none either, some number from 64 on.
  std::uint32_t distance_to_next_word(std::uint32_t unit) const noexcept {
    const std::size_t next = (unit >> 6) + std::size_t{1};
    if ((next + 1) * 8 > levels_[0].range.committed()) return 64;
    const std::uint64_t word = levels_[0].word(static_cast<std::uint32_t>(next));
    return 64 - (unit & 63) + static_cast<std::uint32_t>(std::countr_zero(word));
  }
  // The largest member <= unit, or none, and its distance_in_word().
  struct Member {
    std::uint32_t unit, distance;
  };
  Member member_before(std::uint32_t unit) const noexcept {
    const std::uint64_t word = levels_[0].word(unit >> 6), here = word & low(unit & 63);
    if (here) return {(unit & ~63u) | top(here), distance(word, top(here))};
    const std::uint32_t member = before_slowly(unit >> 6);
    return {member, member == none ? 0 : distance_in_word(member)};
  }

  // The largest member <= unit, or none.
  std::uint32_t before(std::uint32_t unit) const noexcept {
    const std::uint64_t here = levels_[0].word(unit >> 6) & low(unit & 63);
    if (here) return (unit & ~63u) | top(here);
    return before_slowly(unit >> 6);
  }

 private:
  struct Level {
    Reservation range;
    Relaxed<std::uint64_t>& word(std::uint32_t index) const noexcept {
      return reinterpret_cast<Relaxed<std::uint64_t>*>(range.base())[index];
    }
  };
  static constexpr std::uint64_t low(std::uint32_t bit) noexcept { return ~std::uint64_t{0} >> (63 - bit); }
  static std::uint32_t distance(std::uint64_t word, std::uint32_t bit) noexcept {
    const std::uint64_t behind = word >> bit >> 1;
    return behind ? static_cast<std::uint32_t>(std::countr_zero(behind)) + 1 : 0;
  }
  static std::uint32_t top(std::uint64_t word) noexcept {
    return 63u - static_cast<std::uint32_t>(std::countl_zero(word));
  }

  // The largest member in words of level 0 left of word `index`.
  std::uint32_t before_slowly(std::uint32_t index) const noexcept {
    std::size_t level = 1;
    // Invariant: no member of the set lies right of the part that bits < index of `level` stand for.
    while (level < levels_.size()) {
      const std::uint32_t bit = index & 63;
      const std::uint64_t left = bit ? levels_[level].word(index >> 6) & low(bit - 1) : 0;
      if (!left) {
        index >>= 6;
        ++level;
        continue;
      }
      index = (index & ~63u) | top(left);
      while (level > 0) {
        --level;
        const std::uint64_t word = levels_[level].word(index);
        if (!word) {  // a stale summary: go on left of it
          ++level;
          break;
        }
        index = index << 6 | top(word);
      }
      if (level == 0) return index;
    }
    return none;
  }

  // 64^6 units: enough for any 32-bit unit number. The last level has one word.
  std::array<Level, 6> levels_;
};

}  // namespace mr::memory
