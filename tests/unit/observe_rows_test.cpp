// What the checker keeps of the blocks of a grid, against a plain list of all accesses: random kernels, whose blocks a
// few threads run in slices.
#include <check/block_runs.cpp>      // NOLINT(bugprone-suspicious-include): not part of the runtime's library
#include <check/block_words.cpp>     // NOLINT(bugprone-suspicious-include)
#include <check/collected_rows.cpp>  // NOLINT(bugprone-suspicious-include)
#include <simt/check_site.h>

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <set>

namespace mr::check {
namespace {

constexpr std::uintptr_t base = 0x7f0000000000;

struct Touched {
  std::uintptr_t begin, end;
  std::uint64_t block;
  unsigned way;
};

struct Kernel {
  std::vector<Touched> all;  // in the order of the threads
  BlockRuns runs;
  std::unique_ptr<BlockWords> words;
  std::unique_ptr<ChangedWords> changed;
};

bool in_conflict(unsigned a, unsigned b) {
  const std::uint32_t x = kind_of(a), y = kind_of(b);
  return ((x | y) & 2) && !(x & y & 4);
}
// The ways of the pairs that two blocks make on one byte.
template <class Runs> std::set<std::pair<unsigned, unsigned>> conflicts(const Runs& runs) {
  std::set<std::pair<unsigned, unsigned>> found;
  for (const auto& a : runs)
    for (const auto& b : runs)
      if (a.block != b.block && a.begin < b.end && b.begin < a.end && in_conflict(a.way, b.way))
        found.emplace(std::min<unsigned>(a.way, b.way), std::max<unsigned>(a.way, b.way));
  return found;
}

// Every statement is affine in the block's number, or goes where chance says.
Kernel run(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  static const MrCheckSite sites[8] = {};
  struct Statement {
    bool affine;
    std::uintptr_t begin;
    std::int64_t stride;
    std::uint64_t length, pitch, rows;
    Way way;
    unsigned unit;   // bytes of an uneven access
    unsigned skips;  // blocks that come by: all, or all but some
  };
  std::vector<Statement> statements(1 + below(5));
  for (Statement& s : statements) {
    s.affine = below(3) != 0;
    s.length = below(2) ? 4 * (1 + below(8)) : 64 * (1 + below(3));
    s.rows = below(3) ? 1 : 2 + below(3);
    s.pitch = s.length + 4 * below(200);
    s.stride = static_cast<std::int64_t>(s.length) * static_cast<std::int64_t>(below(5)) - (below(4) ? 0 : 64);
    s.begin = base + (std::uintptr_t{1} << 14) + 4096 * below(6) + 4 * below(8);
    s.unit = below(3) ? 4 : 1u << below(4);
    s.way = below(2) ? way_read : static_cast<Way>(below(ways));
    s.skips = below(3) ? 0 : 2 + below(3);
  }
  Kernel kernel;
  const unsigned blocks = 1 + below(40), threads = 1 + below(3);
  if (below(2)) kernel.words = BlockWords::take(below(2) ? blocks : 1u << 20, below(2));
  std::deque<MrCheckThread> here(threads);
  std::deque<CollectedRows> rows;
  if (below(2)) kernel.changed = std::make_unique<ChangedWords>();
  const std::uint64_t grid = below(2) ? blocks : 1u << 20;
  for (MrCheckThread& h : here) {
    rows.emplace_back(&h).set_words(kernel.words.get());
    rows.back().set_changed(kernel.changed.get(), grid);
  }
  std::vector<char> began(threads);
  for (unsigned block = 0; block < blocks;) {
    const unsigned thread = below(threads);
    for (unsigned slice = 1 + below(6); slice > 0 && block < blocks; --slice, ++block) {
      CollectedRows& r = rows[thread];
      if (began[thread])
        r.next_block(block);
      else
        r.begin(block, 0, false);
      began[thread] = 1;
      for (std::size_t i = 0; i < statements.size(); ++i) {
        const Statement& s = statements[i];
        if (s.skips && block % s.skips == 0) continue;
        const unsigned times = s.affine ? 1 : 80 + below(40);  // enough to be called uneven
        for (unsigned k = 0; k < times; ++k) {
          const std::uintptr_t begin = s.affine ? s.begin + static_cast<std::uintptr_t>(s.stride) * block
                                                : s.begin + s.unit * std::uintptr_t{below(8000 / s.unit)};
          const std::uint64_t length = s.affine ? s.length : s.unit;
          const std::uint64_t count = s.affine ? s.rows : 1;
          for (std::uint64_t row = 0; row < count; ++row)
            kernel.all.push_back({begin + s.pitch * row, begin + s.pitch * row + length, block, s.way});
          if (count == 1)
            r.touch(begin, begin + length, s.way, sites[i]);
          else
            r.touch_rows(begin, length, s.pitch, count, s.way, sites[i]);
        }
      }
      if (below(20) == 0) r.unload(kernel.runs);
    }
  }
  for (CollectedRows& r : rows) {
    r.hand_over(kernel.runs);
    r.clear();
  }
  if (kernel.words) kernel.words->hand_over(kernel.runs, way_read);
  if (kernel.changed) kernel.changed->hand_over(kernel.runs);
  kernel.runs.sort();
  return kernel;
}

// Everything at once, or in windows of some lines.
std::vector<Window> windows(unsigned seed) {
  constexpr std::uintptr_t touched = base + (std::uintptr_t{1} << 16);
  const std::uintptr_t lines[] = {0, 4, 37, 200};
  const std::uintptr_t size = 64 * lines[seed % 4];
  if (!size) return {Window{}};
  std::vector<Window> all{{0, base}, {touched, ~std::uintptr_t{0}}};
  for (std::uintptr_t at = base; at < touched; at += size) all.push_back({at, std::min(touched, at + size)});
  return all;
}

TEST(BlockRuns, FindTheConflictsOfAllAccesses) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    const Kernel kernel = run(seed);
    const auto rows = kernel.runs.progressions();
    const auto bundles = bundle(rows);
    const auto wanted = conflicts(kernel.all);
    std::set<std::pair<unsigned, unsigned>> found;
    for (const Window& window : windows(seed)) found.merge(conflicts(kernel.runs.suspects(bundles, window)));
    // Of a pair of writes there may be more pairs, of which one is enough.
    ASSERT_EQ(wanted.empty(), found.empty()) << "seed " << seed;
    for (const auto& pair : found) ASSERT_TRUE(wanted.contains(pair)) << "seed " << seed;
  }
}

TEST(BlockRuns, CoverWhatTheGridTouched) {
  for (unsigned seed = 0; seed < 80; ++seed) {
    const Kernel kernel = run(seed);
    const auto rows = kernel.runs.progressions();
    std::set<std::uintptr_t> wanted[ways], found[ways];
    for (const Touched& t : kernel.all)
      for (std::uintptr_t at = t.begin; at < t.end; ++at) wanted[t.way].insert(at);
    const auto bundles = bundle(rows);
    for (const Window& window : windows(seed))
      for (const GridRun& g : kernel.runs.grid(bundles, window))
        for (std::uintptr_t at = g.begin; at < g.end; ++at)
          ASSERT_TRUE(found[g.way].insert(at).second) << "seed " << seed;
    for (unsigned way = way_write; way < ways; ++way) ASSERT_EQ(wanted[way], found[way]) << "seed " << seed;
    // What a block has written itself it may read unseen.
    for (const std::uintptr_t at : found[way_read]) ASSERT_TRUE(wanted[way_read].contains(at)) << "seed " << seed;
    for (const std::uintptr_t at : wanted[way_read])
      ASSERT_TRUE(found[way_read].contains(at) || found[way_write].contains(at)) << "seed " << seed;
  }
}

TEST(BlockRuns, KeepEvenRowsOfAGridInOneProgression) {
  static const MrCheckSite site{};
  BlockRuns runs;
  MrCheckThread here[2] = {};
  CollectedRows threads[2] = {CollectedRows(&here[0]), CollectedRows(&here[1])};
  bool began[2] = {};
  for (std::uint64_t block = 0; block < 1000; ++block) {
    const std::size_t thread = block / 7 % 2;
    if (began[thread])
      threads[thread].next_block(block);
    else
      threads[thread].begin(block, 0, false);
    began[thread] = true;
    threads[thread].touch(base + 1024 * block, base + 1024 * (block + 1), way_write, site);
  }
  for (CollectedRows& t : threads) t.hand_over(runs);
  const auto rows = runs.progressions();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 1000u);
  EXPECT_EQ(rows[0].stride, 1024);
  EXPECT_TRUE(runs.suspects(bundle(rows)).empty());
}

}  // namespace
}  // namespace mr::check
