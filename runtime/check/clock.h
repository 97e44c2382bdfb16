// Vector clocks of the checker: what is known to have happened, as the newest time of each chain.
//
// A chain is a sequence of points that follow each other: a host thread, a stream, one path through an executable
// graph, the host functions of a stream. Chains that a clock knows nothing of take no room, so that thousands of
// streams cost only those that met them. Not thread-safe.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mr::check {

using Chain = std::uint32_t;
using Time = std::uint32_t;

class Clock {
 public:
  // 0: nothing of this chain is known.
  Time of(Chain chain) const noexcept {
    const auto at = find(chain);
    return at != times_.end() && at->first == chain ? at->second : 0;
  }
  void raise(Chain chain, Time time) {
    const auto at = times_.begin() + (find(chain) - times_.cbegin());
    if (at == times_.end() || at->first != chain)
      times_.insert(at, {chain, time});
    else
      at->second = std::max(at->second, time);
  }
  // Afterwards this clock knows what either knew. Returns whether that is more than before.
  bool join(const Clock& other) {
    bool more = false;
    std::size_t missing = 0;
    auto mine = times_.begin();
    for (const auto& [chain, time] : other.times_) {
      while (mine != times_.end() && mine->first < chain) ++mine;
      if (mine == times_.end() || mine->first != chain) {
        ++missing;
      } else if (mine->second < time) {
        mine->second = time;
        more = true;
      }
    }
    if (missing == 0) return more;
    std::vector<std::pair<Chain, Time>> merged;
    merged.reserve(times_.size() + missing);
    auto a = times_.cbegin();
    for (const auto& entry : other.times_) {
      while (a != times_.cend() && a->first < entry.first) merged.push_back(*a++);
      if (a != times_.cend() && a->first == entry.first)
        merged.push_back(*a++);
      else
        merged.push_back(entry);
    }
    merged.insert(merged.end(), a, times_.cend());
    times_ = std::move(merged);
    return true;
  }
  const std::vector<std::pair<Chain, Time>>& times() const noexcept { return times_; }

 private:
  std::vector<std::pair<Chain, Time>>::const_iterator find(Chain chain) const noexcept {
    return std::lower_bound(times_.begin(), times_.end(), chain,
                            [](const auto& entry, Chain wanted) { return entry.first < wanted; });
  }
  std::vector<std::pair<Chain, Time>> times_;  // sorted by chain
};

}  // namespace mr::check
