// What the blocks of one grid touched, in little memory: a kernel's blocks mostly touch the same rows, each block so
// and so far behind its predecessor.
//
// A progression is one row of such blocks. What doesn't go evenly (gathers) is a bitmap by 64-byte line, which knows up
// to two blocks for each byte: of three that read a byte, two are in conflict with whatever fourth writes it.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

struct MrCheckSite;

namespace mr::check {

enum Way : unsigned { way_read, way_write, way_atomic, way_poll, ways };  // poll: reads atomically, or volatile
// Kind of an access made in this way.
std::uint32_t kind_of(unsigned way) noexcept;

// How many barriers of the grid, and of its cluster, a block has passed. Those of a cluster order its blocks only.
inline std::uint32_t grid_phase(std::uint32_t phase) noexcept { return phase >> 16; }
inline std::uint32_t make_phase(std::uint32_t grid, std::uint32_t cluster) noexcept {
  return grid << 16 | (cluster & 0xffff);
}

// Bytes that one block touched in one way, by one statement.
struct BlockRun {
  std::uintptr_t begin, end;
  std::uint64_t block;
  const MrCheckSite* site;
  std::uint32_t phase;  // make_phase
  std::uint8_t way;
  bool early;  // before the wait of a programmatic launch
};

// Blocks that follow each other, with gaps between the pieces.
struct Blocks {
  std::uint64_t first, count;
};
// Block `block + i` touched `rows` rows of `length` bytes, `pitch` apart, from `begin + i * stride` on, for i < count.
struct Progression {
  std::uintptr_t begin = 0;
  std::int64_t stride = 0;
  std::uint64_t length = 0, pitch = 0, rows = 1;
  std::uint64_t block = 0, count = 0;
  const MrCheckSite* site = nullptr;
  std::uint32_t phase = 0;
  std::uint8_t way = 0;
  bool early = false;
  std::uintptr_t at(std::uint64_t i) const noexcept { return begin + static_cast<std::uintptr_t>(stride) * i; }
  std::uintptr_t low() const noexcept { return stride < 0 ? at(count - 1) : begin; }
  std::uintptr_t high() const noexcept { return (stride < 0 ? begin : at(count - 1)) + pitch * (rows - 1) + length; }
};

// Sorted by block.
using BlockSet = std::vector<Blocks>;
// The same for any blocks: block b touched `row.begin + row.stride * (b - row.block)`. Its count means nothing. Sets
// are shared: most rows of a kernel have the same blocks.
struct Family {
  Progression row;
  std::shared_ptr<const BlockSet> blocks;
};

class BlockWords;
// Some block, and not the one that is named with it.
inline constexpr std::uint64_t unknown_block = ~std::uint64_t{0};

// Bytes of one line that one block touched.
struct LineRun {
  std::uint64_t line = 0, mask = 0, block = 0;
  const MrCheckSite* site = nullptr;
};
struct LineRuns {  // of one way, phase and kind of block
  std::uint32_t phase = 0;
  std::uint8_t way = 0;
  bool early = false;
  std::vector<std::vector<LineRun>> parts;  // who
  std::vector<LineRun> covers;              // all of it, without the block
  const BlockWords* words = nullptr;        // all of it and who, instead of both
};

// Bytes that the grid touched as a whole.
struct GridRun {
  std::uintptr_t begin, end;
  const MrCheckSite* site;
  unsigned way;
  bool early;
};

using Interval = std::pair<std::uintptr_t, std::uintptr_t>;
// Sorted and without overlaps.
using Intervals = std::vector<Interval>;

// Addresses that are looked at in one go. What a grid touched in small pieces is looked at window by window, so that
// lists of pieces stay short.
struct Window {
  std::uintptr_t begin = 0, end = ~std::uintptr_t{0};
  bool operator==(const Window&) const = default;
};

// The union of the rows of all progressions in the window; `disjoint` says whether no byte is in two of them.
Intervals union_of(const std::vector<const Progression*>& progressions, const Window& window, bool& disjoint);
bool intersect(const Intervals& a, const Intervals& b) noexcept;

// Progressions of one statement in one phase. Their union is made when it is asked for: of most nobody does.
struct Bundle {
  std::vector<const Progression*> rows;  // sorted by block
  std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
  const Progression& any() const { return *rows.front(); }
  bool near(std::uintptr_t from, std::uintptr_t to) const noexcept { return low < to && from < high; }
  const Intervals& bytes(const Window& window) const {
    if (!made_ || window_ != window) union_ = union_of(rows, window_ = window, disjoint_);
    made_ = true;
    return union_;
  }
  // No byte of the window is in two of the rows.
  bool disjoint(const Window& window) const { return bytes(window), disjoint_; }

 private:
  mutable Window window_;
  mutable Intervals union_;
  mutable bool made_ = false, disjoint_ = true;
};

struct BlockRuns {
  std::vector<Family> families;
  std::vector<LineRuns> lines;
  // Sorts what is to be looked at by windows: before all that follows.
  void sort();
  // The families' rows, what belongs together in one.
  std::vector<Progression> progressions() const;
  // All that was touched, in ascending windows of about as many pieces.
  std::vector<Window> windows(const std::vector<Bundle>& bundles) const;
  // What may be in conflict, one by one, sorted by address. All others aren't.
  std::vector<BlockRun> suspects(const std::vector<Bundle>& bundles, const Window& window = {}) const;
  std::vector<GridRun> grid(const std::vector<Bundle>& bundles, const Window& window = {}) const;
};
std::vector<Bundle> bundle(const std::vector<Progression>& progressions);

}  // namespace mr::check
