// Who touched which bytes last: an interval map from addresses to the accesses that a later one may still be unordered
// with.
//
// An access is forgotten when a later one that is ordered behind it makes it superfluous: whatever is unordered with
// the forgotten one is unordered with the later one too. So memory is O(ranges x streams), whatever the number of
// operations. Under the checker's lock.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "order.h"

struct MrCheckSite;

namespace mr::check {

struct Access {
  OpRef op;
  std::uint32_t kind = 0;             // Kind
  const MrCheckSite* site = nullptr;  // device statement
  Call where;                         // host statement
};

class Shadow {
 public:
  using OnConflict =
      std::function<void(const Access& before, const Access& now, std::uintptr_t begin, std::uintptr_t end)>;
  explicit Shadow(OnConflict on_conflict) : on_conflict_(std::move(on_conflict)) {}

  void touch(std::uintptr_t begin, std::uintptr_t end, const Access& access);
  // The memory is somebody else's from now on.
  void forget(std::uintptr_t begin, std::uintptr_t end);
  std::size_t ranges() const noexcept { return ranges_.size(); }

  static bool conflict(std::uint32_t a, std::uint32_t b) noexcept {
    constexpr std::uint32_t changes = writes | frees | allocates;
    if (((a | b) & changes) == 0 || (a & b & atomic)) return false;
    return ((a & changes) && b) || ((b & changes) && a);
  }

 private:
  struct Range {
    std::uintptr_t end;
    std::vector<Access> accesses;
  };
  using Map = std::map<std::uintptr_t, Range>;
  Map::iterator split(std::uintptr_t at);
  void add(std::uintptr_t begin, Range& range, const Access& access);
  Map ranges_;
  OnConflict on_conflict_;
};

}  // namespace mr::check
