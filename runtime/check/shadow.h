// Who touched which bytes last: for each byte the accesses that a later one may still be unordered with.
//
// An access is forgotten when a later one that is ordered behind it makes it superfluous: whatever is unordered with
// the forgotten one is unordered with the later one too. So a byte's history is O(streams) long, whatever the number of
// operations, and each history is kept once (histories.h).
//
// Memory is an interval map of 256-byte granules: granules of one history follow each other in one segment; one that
// has several is a segment of its own with a byte for each byte, by a palette of the histories that occur in it. That
// is 1.6 bytes for each byte at most (2.3 when each word of a granule has another history), and nothing to speak of
// for what is touched as a whole. Under the checker's lock.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "histories.h"

namespace mr::check {

class Shadow {
 public:
  using OnConflict =
      std::function<void(const Access& before, const Access& now, std::uintptr_t begin, std::uintptr_t end)>;
  explicit Shadow(OnConflict on_conflict) : on_conflict_(std::move(on_conflict)) {}

  // Reports each earlier access that is in conflict, with the bytes, those that follow each other as one range.
  void touch(std::uintptr_t begin, std::uintptr_t end, const Access& access);
  // The memory is somebody else's from now on.
  void forget(std::uintptr_t begin, std::uintptr_t end);
  // Ranges of one history each. Looks at everything.
  std::size_t ranges() const;
  // About how much memory it takes.
  std::size_t bytes() const noexcept { return segments_.size() * 80 + details_ * 360 + histories_.size() * 160; }

  static bool conflict(std::uint32_t a, std::uint32_t b) noexcept {
    constexpr std::uint32_t changes = writes | frees | allocates;
    if (((a | b) & changes) == 0 || (a & b & atomic)) return false;
    return ((a & changes) && b) || ((b & changes) && a);
  }

 private:
  using Id = Histories::Id;
  static constexpr std::uintptr_t granule = 256;
  static std::uintptr_t granule_of(std::uintptr_t at) noexcept { return at & ~(granule - 1); }
  struct Detail {  // of one granule
    struct Entry {
      Id history;
      std::uint32_t count;  // of its bytes that have it; 0: the entry is free
    };
    std::uint8_t index[granule] = {};  // into the palette
    std::vector<Entry> palette;
  };
  struct Segment {  // whole granules
    std::uintptr_t end;
    Id history;                      // of all bytes, when there are no details
    std::unique_ptr<Detail> detail;  // of a single granule
  };
  using Map = std::map<std::uintptr_t, Segment>;

  // What the access that is being looked at makes of a history.
  struct Step {
    Id to;
    std::vector<Access> conflicts;
  };
  struct Found {
    Access before;
    std::uintptr_t begin, end;
  };

  void begin(const Access& access);
  const Step& step(Id from);
  Id next(Id from, std::uintptr_t begin, std::uintptr_t end);
  Map::iterator find(std::uintptr_t at);
  Map::iterator split(Map::iterator it, std::uintptr_t at);
  Map::iterator detailed(std::uintptr_t base);
  Map::iterator settle(Map::iterator it);
  template <class Next> void change(Detail& detail, std::uintptr_t from, std::uintptr_t until, Next&& next);
  Map::iterator change_whole(Map::iterator it, std::uintptr_t begin, std::uintptr_t end);
  void drop(const Segment& segment);

  Map segments_;
  Map::iterator cursor_ = segments_.end();  // where the last access ended: the next one mostly follows
  std::size_t details_ = 0;
  Histories histories_;
  // Of the newest access; they hold references. Another touch of the same access goes the same ways.
  Access access_;
  std::unordered_map<Id, Step> steps_;  // by the history before
  std::vector<Found> found_;
  OnConflict on_conflict_;
};

}  // namespace mr::check
