#include "block_runs.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>

#include "block_words.h"

namespace mr::check {
namespace {

constexpr std::size_t few = 4096;          // intervals that are rather sorted
constexpr std::uint64_t sparse = 64 * 64;  // bytes to an interval from which on a bitmap isn't worth it

std::uint64_t step_of(const Progression& p) noexcept {
  return static_cast<std::uint64_t>(p.stride < 0 ? -p.stride : p.stride);
}

// Of `count` intervals of `length` bytes, `step` apart from `low` on: the numbers of those that reach into the window.
std::pair<std::uint64_t, std::uint64_t> numbers_in(const Window& w, std::uintptr_t low, std::uint64_t step,
                                                   std::uint64_t length, std::uint64_t count) noexcept {
  if (low >= w.end || low + step * (count - 1) + length <= w.begin) return {0, 0};
  if (count == 1 || step == 0) return {0, count};
  const std::uint64_t first = low + length > w.begin ? 0 : (w.begin - low - length) / step + 1;
  return {first, std::min(count, (w.end - low - 1) / step + 1)};
}

// Its intervals in the window. Rows that lie apart are intervals of their own; the others one.
struct Pieces {
  explicit Pieces(const Progression& p)
      : low(p.low()), step(step_of(p)), length(step <= p.length ? step * (p.count - 1) + p.length : p.length),
        count(step <= p.length ? 1 : p.count), pitch(p.pitch), rows(p.rows) {}
  std::uintptr_t low;
  std::uint64_t step, length, count, pitch, rows;
  std::pair<std::uint64_t, std::uint64_t> rows_in(const Window& w) const noexcept {
    return numbers_in(w, low, pitch, step * (count - 1) + length, rows);
  }
  std::pair<std::uint64_t, std::uint64_t> in_row(const Window& w, std::uint64_t row) const noexcept {
    return numbers_in(w, low + pitch * row, step, length, count);
  }
};
template <class F> void each_interval(const Progression& p, const Window& w, F&& f) {
  const Pieces pieces(p);
  const auto [row, rows] = pieces.rows_in(w);
  for (std::uint64_t r = row; r < rows; ++r) {
    const auto [first, last] = pieces.in_row(w, r);
    std::uintptr_t at = pieces.low + pieces.pitch * r + pieces.step * first;
    for (std::uint64_t i = first; i < last; ++i, at += pieces.step)
      f(std::max(at, w.begin), std::min(at + pieces.length, w.end));
  }
}
// Those of its intervals in the window that no single one of `known` contains.
template <class F> void each_outside(const Progression& p, const Intervals& known, const Window& w, F&& f) {
  const Pieces pieces(p);
  const auto [row, rows] = pieces.rows_in(w);
  for (std::uint64_t r = row; r < rows; ++r) {
    const auto [first, last] = pieces.in_row(w, r);
    for (std::uint64_t i = first; i < last;) {
      const std::uintptr_t at = pieces.low + pieces.pitch * r + pieces.step * i;
      const std::uintptr_t begin = std::max(at, w.begin), end = std::min(at + pieces.length, w.end);
      const auto it = std::upper_bound(known.begin(), known.end(), Interval{begin, ~std::uintptr_t{0}});
      if (it == known.begin() || std::prev(it)->second < end) {
        f(begin, end);
        ++i;
      } else {
        // With those behind it that lie in there too.
        i += pieces.count == 1 ? 1 : (std::prev(it)->second - end) / pieces.step + 1;
      }
    }
  }
}
std::uint64_t intervals_of(const Progression& p) noexcept { return p.rows * (step_of(p) <= p.length ? 1 : p.count); }
// Rows of one progression that overlap.
bool overlaps_itself(const Progression& p) noexcept { return p.count > 1 && step_of(p) < p.length; }

template <class F> void each_byte_run(std::uint64_t line, std::uint64_t mask, F&& f) {
  while (mask) {
    const unsigned at = static_cast<unsigned>(std::countr_zero(mask));
    const unsigned length = static_cast<unsigned>(std::countr_one(mask >> at));
    f(line * 64 + at, line * 64 + at + length);
    mask = at + length >= 64 ? 0 : mask & ~std::uint64_t{0} << (at + length);
  }
}

// A bit for each byte from `low` on.
class Bitmap {
 public:
  Bitmap(std::uintptr_t low, std::uintptr_t high) : low_(low & ~std::uintptr_t{63}), bits_((high - low_ + 63) / 64) {}
  void add(std::uintptr_t begin, std::uintptr_t end) {
    for (std::uintptr_t at = begin - low_, until = end - low_; at < until;) {
      const std::uintptr_t stop = std::min(until, (at | 63) + 1);
      const std::uint64_t length = stop - at;
      bits_[at / 64] |= (length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1) << (at & 63);
      at = stop;
    }
  }
  void add_line(std::uint64_t line, std::uint64_t mask) { bits_[line - low_ / 64] |= mask; }
  Intervals intervals() const {
    Intervals out;
    out.reserve(few);
    for (std::size_t word = 0; word < bits_.size(); ++word)
      each_byte_run(low_ / 64 + word, bits_[word], [&](std::uintptr_t begin, std::uintptr_t end) {
        if (!out.empty() && out.back().second == begin)
          out.back().second = end;
        else
          out.emplace_back(begin, end);
      });
    return out;
  }

 private:
  std::uintptr_t low_;
  std::vector<std::uint64_t> bits_;
};

std::uint64_t bytes_of(const Intervals& all) noexcept {
  std::uint64_t sum = 0;
  for (const Interval& i : all) sum += i.second - i.first;
  return sum;
}

bool touches(const Intervals& all, std::uintptr_t begin, std::uintptr_t end) noexcept {
  const auto it = std::upper_bound(all.begin(), all.end(), Interval{begin, ~std::uintptr_t{0}});
  return (it != all.end() && it->first < end) || (it != all.begin() && std::prev(it)->second > begin);
}

bool conflicting(unsigned a, unsigned b) noexcept {
  if (a == way_atomic && b == way_atomic) return false;
  const auto reads = [](unsigned w) { return w == way_read || w == way_poll; };
  if (reads(a) && reads(b)) return false;
  return !((a == way_atomic && b == way_poll) || (a == way_poll && b == way_atomic));
}

// In both, each block touches the same bytes.
bool same_by_block(const Bundle& a, const Bundle& b) {
  if (a.rows.size() != b.rows.size()) return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const Progression &p = *a.rows[i], &q = *b.rows[i];
    if (p.begin != q.begin || p.block != q.block || p.count != q.count || p.length != q.length || p.rows != q.rows ||
        p.pitch != q.pitch || (p.stride != q.stride && p.count > 1))
      return false;
  }
  return true;
}

Intervals union_of(std::vector<Interval> all) {
  std::sort(all.begin(), all.end());
  Intervals out;
  for (const Interval& i : all)
    if (!out.empty() && i.first <= out.back().second)
      out.back().second = std::max(out.back().second, i.second);
    else
      out.push_back(i);
  return out;
}
Intervals union_of(const std::vector<const LineRun*>& runs) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (const LineRun* r : runs) {
    low = std::min(low, r->line);
    high = std::max(high, r->line + 1);
  }
  if (runs.size() > few && (high - low) / runs.size() < sparse / 64) {
    Bitmap bits(low * 64, high * 64);
    for (const LineRun* r : runs) bits.add_line(r->line, r->mask);
    return bits.intervals();
  }
  std::vector<Interval> all;
  for (const LineRun* r : runs)
    each_byte_run(r->line, r->mask, [&](std::uintptr_t begin, std::uintptr_t end) { all.emplace_back(begin, end); });
  return union_of(std::move(all));
}
// Of runs that are sorted by line: those in the window. (Windows begin and end with lines.)
std::pair<const LineRun*, const LineRun*> in_window(const std::vector<LineRun>& runs, const Window& w) {
  const auto before = [](const LineRun& r, std::uintptr_t at) { return r.line < at / 64; };
  const auto first = std::lower_bound(runs.begin(), runs.end(), w.begin, before);
  const auto last = std::lower_bound(first, runs.end(), w.end, before);
  return {runs.data() + (first - runs.begin()), runs.data() + (last - runs.begin())};
}
// All that they cover of the window.
struct Covers {
  Covers(const LineRuns& runs, const Window& window) {
    if (runs.words) {
      runs.words->cover(window, made_);
      first = made_.data();
      last = first + made_.size();
    } else {
      std::tie(first, last) = in_window(runs.covers, window);
    }
  }
  const LineRun *first, *last;

 private:
  std::vector<LineRun> made_;
};
Intervals union_of(const LineRuns& runs, const Window& window) {
  const Covers covers(runs, window);
  std::vector<const LineRun*> all;
  all.reserve(static_cast<std::size_t>(covers.last - covers.first));
  for (const LineRun* r = covers.first; r != covers.last; ++r) all.push_back(r);
  return union_of(all);
}

Intervals both_of(const Intervals& a, const Intervals& b) {
  Intervals all, out;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  for (const Interval& i : all)
    if (!out.empty() && i.first <= out.back().second)
      out.back().second = std::max(out.back().second, i.second);
    else
      out.push_back(i);
  return out;
}
// What is in `a` and not in `b`.
template <class F> void each_difference(const Intervals& a, const Intervals& b, F&& f) {
  auto k = b.begin();
  for (auto [begin, end] : a) {
    while (k != b.end() && k->second <= begin) ++k;
    for (auto i = k; begin < end; ++i) {
      if (i == b.end() || i->first >= end) {
        f(begin, end);
        break;
      }
      if (begin < i->first) f(begin, i->first);
      begin = std::max(begin, i->second);
    }
  }
}

}  // namespace

std::uint32_t kind_of(unsigned way) noexcept {
  // reads = 1, writes = 2, atomic = 4 (order.h)
  static constexpr std::uint32_t kinds[ways] = {1, 2, 1 | 2 | 4, 1 | 4};
  return kinds[way];
}

Intervals union_of(const std::vector<const Progression*>& all, const Window& window, bool& disjoint) {
  Intervals out;
  std::uint64_t sum = 0, count = 0;
  std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
  disjoint = true;
  for (const Progression* p : all) {
    if (p->low() >= window.end || p->high() <= window.begin) continue;
    count += intervals_of(*p);
    low = std::min(low, p->low());
    high = std::max(high, p->high());
    disjoint &= !overlaps_itself(*p);
  }
  if (count == 0) return out;
  low = std::max(low, window.begin);
  high = std::min(high, window.end);
  if (count > few && (high - low) / count < sparse) {
    Bitmap bits(low, high);
    for (const Progression* p : all)
      each_interval(*p, window, [&](std::uintptr_t begin, std::uintptr_t end) {
        bits.add(begin, end);
        sum += end - begin;
      });
    out = bits.intervals();
  } else {
    std::vector<Interval> each;
    for (const Progression* p : all)
      each_interval(*p, window, [&](std::uintptr_t begin, std::uintptr_t end) {
        each.emplace_back(begin, end);
        sum += end - begin;
      });
    out = union_of(std::move(each));
  }
  disjoint &= bytes_of(out) == sum;
  return out;
}

bool intersect(const Intervals& a, const Intervals& b) noexcept {
  for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
    if (i->second <= k->first)
      ++i;
    else if (k->second <= i->first)
      ++k;
    else
      return true;
  }
  return false;
}

std::vector<Bundle> bundle(const std::vector<Progression>& progressions) {
  std::map<std::tuple<const MrCheckSite*, std::uint8_t, bool, std::uint32_t>, Bundle> by;
  for (const Progression& p : progressions) by[{p.site, p.way, p.early, p.phase}].rows.push_back(&p);
  std::vector<Bundle> all;
  for (auto& [key, b] : by) {
    std::sort(b.rows.begin(), b.rows.end(), [](const Progression* p, const Progression* q) {
      return p->block != q->block ? p->block < q->block : p->begin < q->begin;
    });
    for (const Progression* p : b.rows) {
      b.low = std::min(b.low, p->low());
      b.high = std::max(b.high, p->high());
    }
    all.push_back(std::move(b));
  }
  return all;
}

namespace {
void append(const Progression& row, const BlockSet& blocks, std::vector<Progression>& out) {
  const std::uintptr_t origin = row.begin - static_cast<std::uintptr_t>(row.stride) * row.block;
  for (const Blocks& b : blocks) {
    out.push_back(row);
    out.back().block = b.first;
    out.back().count = b.count;
    out.back().begin = origin + static_cast<std::uintptr_t>(row.stride) * b.first;
  }
}
}  // namespace

std::vector<Progression> BlockRuns::progressions() const {
  const auto key = [](const Progression& p) {
    return std::tuple(p.site, p.way, p.early, p.phase, p.length, p.stride, p.rows, p.pitch,
                      p.begin - static_cast<std::uintptr_t>(p.stride) * p.block);
  };
  std::vector<const Family*> order;
  order.reserve(families.size());
  for (const Family& f : families) order.push_back(&f);
  std::sort(order.begin(), order.end(), [&](const Family* a, const Family* b) { return key(a->row) < key(b->row); });
  std::vector<Progression> out;
  std::map<std::vector<const BlockSet*>, BlockSet> merged;
  std::vector<const BlockSet*> sets;
  for (std::size_t i = 0; i < order.size();) {
    const Progression& row = order[i]->row;
    sets.clear();
    for (; i < order.size() && key(order[i]->row) == key(row); ++i) sets.push_back(order[i]->blocks.get());
    if (sets.size() == 1) {
      append(row, *sets[0], out);
      continue;
    }
    std::sort(sets.begin(), sets.end());
    auto [known, fresh] = merged.try_emplace(sets);
    BlockSet& all = known->second;
    if (fresh) {
      BlockSet blocks;
      for (const BlockSet* set : sets) blocks.insert(blocks.end(), set->begin(), set->end());
      std::sort(blocks.begin(), blocks.end(), [](const Blocks& a, const Blocks& b) { return a.first < b.first; });
      for (const Blocks& b : blocks)
        if (!all.empty() && b.first <= all.back().first + all.back().count)
          all.back().count = std::max(all.back().count, b.first + b.count - all.back().first);
        else
          all.push_back(b);
    }
    append(row, all, out);
  }
  return out;
}

void BlockRuns::sort() {
  const auto by_line = [](const LineRun& a, const LineRun& b) { return a.line < b.line; };
  const auto sorted = [&](std::vector<LineRun>& runs) {
    if (!std::is_sorted(runs.begin(), runs.end(), by_line)) std::sort(runs.begin(), runs.end(), by_line);
  };
  for (LineRuns& l : lines) {
    sorted(l.covers);
    for (auto& part : l.parts) sorted(part);
  }
}

std::vector<Window> BlockRuns::windows(const std::vector<Bundle>& bundles) const {
  constexpr std::uint64_t most_pieces = 1u << 16, of_line = 8, smallest = 1u << 18;
  std::uint64_t pieces = 0;
  std::vector<Interval> touched;
  for (const Bundle& b : bundles) {
    for (const Progression* p : b.rows) pieces += intervals_of(*p);
    touched.emplace_back(b.low, b.high);
  }
  for (const LineRuns& l : lines) {
    if (l.words) {
      pieces += of_line * l.words->lines();
      for (const Window& page : l.words->pages()) touched.emplace_back(page.begin, page.end);
      continue;
    }
    pieces += of_line * l.covers.size();
    for (const LineRun& r : l.covers)
      if (!touched.empty() && r.line * 64 <= touched.back().second + smallest && r.line * 64 >= touched.back().first)
        touched.back().second = std::max<std::uintptr_t>(touched.back().second, r.line * 64 + 64);
      else
        touched.emplace_back(r.line * 64, r.line * 64 + 64);
  }
  if (pieces <= most_pieces) return {Window{}};
  for (Interval& i : touched) i = {i.first & ~(smallest - 1), (i.second + smallest - 1) & ~(smallest - 1)};
  std::vector<Window> all;
  const Intervals parts = union_of(std::move(touched));
  const std::uint64_t bytes = bytes_of(parts);
  const std::uint64_t size = std::max(smallest, bytes / (pieces / most_pieces + 1) & ~(smallest - 1));
  for (const auto& [begin, end] : parts)
    for (std::uintptr_t at = begin; at < end; at += size) all.push_back({at, std::min(end, at + size)});
  return all;
}

std::vector<BlockRun> BlockRuns::suspects(const std::vector<Bundle>& bundles, const Window& window) const {
  std::vector<char> expand(bundles.size());
  std::vector<Intervals> line_bytes(lines.size());
  bool writers = false;
  for (const Bundle& b : bundles) writers |= b.any().way == way_write || b.any().way == way_atomic;
  for (const LineRuns& l : lines) writers |= l.way == way_write || l.way == way_atomic;
  if (!writers) return {};
  for (std::size_t i = 0; i < lines.size(); ++i) line_bytes[i] = union_of(lines[i], window);
  std::vector<char> expand_lines(lines.size());
  // Bytes at which two of them may be in conflict.
  std::vector<Interval> where;
  const auto both = [&](const Intervals& a, const Intervals& b) {
    for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
      const std::uintptr_t begin = std::max(i->first, k->first), end = std::min(i->second, k->second);
      if (begin < end) where.emplace_back(begin, end);
      if (i->second < k->second)
        ++i;
      else
        ++k;
    }
  };
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const Bundle& a = bundles[i];
    if (!a.near(window.begin, window.end)) continue;
    if (a.any().way == way_write && !a.disjoint(window)) {
      expand[i] = true;
      where.insert(where.end(), a.bytes(window).begin(), a.bytes(window).end());
    }
    for (std::size_t k = i + 1; k < bundles.size(); ++k) {
      const Bundle& b = bundles[k];
      if (grid_phase(a.any().phase) != grid_phase(b.any().phase) || !conflicting(a.any().way, b.any().way) ||
          !a.near(b.low, b.high) || !b.near(window.begin, window.end) || !intersect(a.bytes(window), b.bytes(window)))
        continue;
      if (a.disjoint(window) && b.disjoint(window) && same_by_block(a, b)) continue;
      expand[i] = expand[k] = true;
      both(a.bytes(window), b.bytes(window));
    }
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (grid_phase(a.any().phase) != grid_phase(lines[k].phase) || !conflicting(a.any().way, lines[k].way) ||
          line_bytes[k].empty() || !a.near(line_bytes[k].front().first, line_bytes[k].back().second) ||
          !intersect(a.bytes(window), line_bytes[k]))
        continue;
      expand[i] = expand_lines[k] = true;
      both(a.bytes(window), line_bytes[k]);
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t k = i; k < lines.size(); ++k) {
      if (grid_phase(lines[i].phase) != grid_phase(lines[k].phase) || !conflicting(lines[i].way, lines[k].way) ||
          !intersect(line_bytes[i], line_bytes[k]))
        continue;
      if (i == k && lines[i].words) {
        for (const auto& [from, until] : line_bytes[i])
          lines[i].words->each_several(from, until, [&](std::uintptr_t begin, std::uintptr_t end) {
            where.emplace_back(begin, end);
            expand_lines[i] = true;
          });
        continue;
      }
      expand_lines[i] = expand_lines[k] = true;
      both(line_bytes[i], line_bytes[k]);
    }
  const Intervals at = union_of(std::move(where));
  std::vector<BlockRun> runs;
  for (std::size_t which = 0; which < bundles.size(); ++which) {
    if (!expand[which]) continue;
    for (const Progression* p : bundles[which].rows) {
      const std::uint64_t step = step_of(*p);
      const auto [row, rows] = numbers_in(window, p->low(), p->pitch, step * (p->count - 1) + p->length, p->rows);
      for (std::uint64_t r = row; r < rows; ++r) {
        const std::uintptr_t low = p->low() + p->pitch * r;
        const auto [first, last] = numbers_in(window, low, step, p->length, p->count);
        for (std::uint64_t i = first; i < last; ++i) {
          const std::uintptr_t begin = std::max(low + step * i, window.begin);
          const std::uintptr_t end = std::min(low + step * i + p->length, window.end);
          const std::uint64_t block = p->block + (p->stride < 0 ? p->count - 1 - i : i);
          if (touches(at, begin, end)) runs.push_back({begin, end, block, p->site, p->phase, p->way, p->early});
        }
      }
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!expand_lines[i]) continue;
    for (const auto& part : lines[i].parts) {
      const auto [first, last] = in_window(part, window);
      for (const LineRun* r = first; r != last; ++r)
        each_byte_run(r->line, r->mask, [&](std::uintptr_t begin, std::uintptr_t end) {
          if (touches(at, begin, end))
            runs.push_back({begin, end, r->block, r->site, lines[i].phase, lines[i].way, lines[i].early});
        });
    }
    if (!lines[i].words) continue;
    for (const auto& [from, until] : at)
      lines[i].words->each_block(from, until, [&](auto begin, auto end, std::uint64_t block, const MrCheckSite* site) {
        runs.push_back({begin, end, block, site, lines[i].phase, lines[i].way, lines[i].early});
      });
  }
  // Blocks that are known come first: a conflict names them.
  std::sort(runs.begin(), runs.end(), [](const BlockRun& a, const BlockRun& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.block < b.block;
  });
  return runs;
}

namespace {
// The union of the rows, or at least of those that are not known as a whole.
Intervals unknown_of(const std::vector<const Bundle*>& bundles, const Intervals& known, const Window& window) {
  constexpr std::size_t too_many = 16 * few;
  std::vector<Interval> fresh;
  bool all = known.empty();
  for (const Bundle* b : bundles)
    for (const Progression* p : b->rows) {
      if (all) break;
      each_outside(*p, known, window,
                   [&](std::uintptr_t begin, std::uintptr_t end) { fresh.emplace_back(begin, end); });
      all = fresh.size() > too_many;
    }
  if (!all) return union_of(std::move(fresh));
  Intervals bytes;
  for (const Bundle* b : bundles) bytes = bytes.empty() ? b->bytes(window) : both_of(bytes, b->bytes(window));
  return bytes;
}
}  // namespace

std::vector<GridRun> BlockRuns::grid(const std::vector<Bundle>& bundles, const Window& window) const {
  struct Site {
    std::vector<const Bundle*> rows;  // of each phase
    std::vector<const LineRun*> lines;
  };
  std::map<std::tuple<std::uint8_t, bool, const MrCheckSite*>, Site> by;
  for (const Bundle& b : bundles)
    if (b.near(window.begin, window.end)) by[{b.any().way, b.any().early, b.any().site}].rows.push_back(&b);
  std::deque<Covers> covers;
  for (const LineRuns& l : lines) {
    Site* last = nullptr;
    const MrCheckSite* of = nullptr;
    const Covers& all = covers.emplace_back(l, window);
    for (const LineRun* r = all.first; r != all.last; ++r) {
      if (!last || of != r->site) last = &by[{l.way, l.early, of = r->site}];
      last->lines.push_back(r);
    }
  }
  std::vector<GridRun> out;
  for (auto it = by.begin(); it != by.end();) {
    const std::uint8_t way = std::get<0>(it->first);
    const bool early = std::get<1>(it->first);
    // Each byte once in a way, of the statement that touches the most.
    std::vector<std::tuple<std::uint64_t, const MrCheckSite*, const Site*>> sites;
    for (; it != by.end() && std::get<0>(it->first) == way && std::get<1>(it->first) == early; ++it) {
      std::uint64_t most = 0;
      for (const Bundle* b : it->second.rows)
        for (const Progression* p : b->rows) most += p->count * p->rows * p->length;
      for (const LineRun* r : it->second.lines) most += static_cast<std::uint64_t>(std::popcount(r->mask));
      sites.emplace_back(most, std::get<2>(it->first), &it->second);
    }
    std::sort(sites.begin(), sites.end(), [](const auto& a, const auto& b) {
      return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : std::get<1>(a) < std::get<1>(b);
    });
    Intervals known;
    for (const auto& [most, site, of] : sites) {
      Intervals bytes = unknown_of(of->rows, known, window);
      if (!of->lines.empty()) bytes = both_of(bytes, union_of(of->lines));
      each_difference(bytes, known,
                      [&](std::uintptr_t begin, std::uintptr_t end) { out.push_back({begin, end, site, way, early}); });
      known = known.empty() ? std::move(bytes) : both_of(known, bytes);
    }
  }
  return out;
}

}  // namespace mr::check
