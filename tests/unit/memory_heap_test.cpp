#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <memory/heap.h>
#include <memory/range_map.h>
#include <memory/start_map.h>

#include "sanitizers.h"

namespace mr::memory {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(StartMap, FindsThePredecessorAcrossLevels) {
  StartMap map;
  ASSERT_TRUE(map.initialise(std::uint64_t{1} << 30));
  ASSERT_TRUE(map.grow(std::uint64_t{1} << 30));
  EXPECT_EQ(map.before(5), StartMap::none);
  std::map<std::uint32_t, bool> model;
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t unit = random() >> (2 + random() % 28);
    if (random() % 3) {
      if (!map.contains(unit)) map.insert(unit);
      model[unit] = true;
    } else if (model.erase(unit)) {
      map.remove(unit);
    }
    const std::uint32_t probe = random() >> (2 + random() % 28);
    const auto after = model.upper_bound(probe);
    const std::uint32_t expected = after == model.begin() ? StartMap::none : std::prev(after)->first;
    ASSERT_EQ(map.before(probe), expected) << "round " << round;
  }
}

TEST(RangeMap, FindsTheRangeAroundAnAddressAndRefusesOverlaps) {
  RangeMap map;
  for (std::uintptr_t i = 0; i < 100; ++i)
    ASSERT_TRUE(map.insert({i * 1000 + 100, i * 1000 + 200, nullptr, static_cast<std::uint32_t>(i), 1, -1}));
  EXPECT_FALSE(map.insert({150, 160}));
  EXPECT_FALSE(map.insert({50, 101}));
  EXPECT_FALSE(map.insert({199, 300}));
  EXPECT_FALSE(map.insert({300, 300}));
  EXPECT_TRUE(map.insert({200, 300}));
  EXPECT_FALSE(map.find(99));
  EXPECT_EQ(map.find(100).flags, 0u);
  EXPECT_EQ(map.find(5199).flags, 5u);
  EXPECT_EQ(map.find(5199).device, -1);
  EXPECT_FALSE(map.find(5200));
  EXPECT_EQ(map.from(5200).begin, 6100u);
  EXPECT_TRUE(map.erase(5100));
  EXPECT_FALSE(map.erase(5100));
  EXPECT_FALSE(map.erase(6101));
  EXPECT_FALSE(map.find(5150));
  EXPECT_TRUE(map.set_flags(6100, 77));
  EXPECT_EQ(map.find(6150).flags, 77u);
}

TEST(RangeMap, ReadersSeeStableRangesWhileOthersComeAndGo) {
  RangeMap map;
  for (std::uintptr_t i = 0; i < 64; ++i)
    ASSERT_TRUE(map.insert({i * 100 + 1, i * 100 + 50, nullptr, static_cast<std::uint32_t>(i), 1, 0}));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
      const std::uintptr_t at = (random() % 64) * 100 + 60;
      if (!map.erase(at)) map.insert({at, at + 10, nullptr, 999, 1, 0});
    }
    stop = true;
  });
  int wrong = 0;
  while (!stop) {
    for (std::uintptr_t i = 0; i < 64; ++i) wrong += map.find(i * 100 + 25).flags != i;
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

class HeapTest : public testing::Test {
 protected:
  // Windows of so many bytes.
  void make(std::size_t window, std::size_t limit) {
    ASSERT_TRUE(range_.reserve(window * Heap::windows, {}));
    budget_ = std::make_unique<Budget>(limit);
    ASSERT_TRUE(heap_.initialise(range_.base(), window * Heap::windows, {.step = mib}, budget_.get()));
  }
  Reservation range_;
  std::unique_ptr<Budget> budget_;
  Heap heap_;
};

TEST_F(HeapTest, BlocksAreAlignedAndFoundByInnerAddresses) {
  make(256 * mib, 256 * mib);
  std::vector<std::pair<char*, std::size_t>> blocks;
  for (std::size_t bytes : {1, 2, 511, 512, 513, 4096, 40000, 70000, 1000000, 5000000}) {
    auto* p = static_cast<char*>(heap_.allocate(bytes, BlockTag::pitched, 7, 0x1234));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 512, 0u);
    std::memset(p, 0x5a, bytes);
    blocks.emplace_back(p, bytes);
  }
  for (auto [p, bytes] : blocks) {
    for (const char* q : {p, p + bytes / 2, p + bytes - 1}) {
      const Block block = heap_.find(q);
      ASSERT_TRUE(block.live);
      EXPECT_EQ(block.base, p);
      EXPECT_EQ(block.size, bytes);
      EXPECT_EQ(block.flags, 7u);
      EXPECT_EQ(block.site, 0x1234u);
      EXPECT_EQ(block.tag, BlockTag::pitched);
    }
  }
  for (auto [p, bytes] : blocks) {
    EXPECT_FALSE(heap_.free(p + 1));
    if (bytes > 512) {
      EXPECT_FALSE(heap_.free(p + 512));
    }
    EXPECT_TRUE(heap_.free(p));
    EXPECT_FALSE(heap_.free(p));
    EXPECT_FALSE(heap_.find(p).live);
  }
  heap_.flush();
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(HeapTest, GenerationsTellReusedAddressesApart) {
  make(64 * mib, 64 * mib);
  void* p = heap_.allocate(100);
  const auto first = heap_.find(p).generation;
  heap_.free(p);
  void* q = heap_.allocate(100);
  ASSERT_EQ(p, q);
  EXPECT_NE(heap_.find(q).generation, first);
}

TEST_F(HeapTest, TheBudgetIsExactAndFreedMemoryServesEveryShape) {
  make(256 * mib, 64 * mib);
  std::vector<void*> blocks;
  while (void* p = heap_.allocate(mib)) blocks.push_back(p);
  EXPECT_EQ(blocks.size(), 64u);
  EXPECT_EQ(heap_.allocate(1), nullptr);
  for (void* p : blocks) heap_.free(p);
  // Everything rests in shards or lies in pieces now; the largest block must still be possible.
  void* all = heap_.allocate(64 * mib);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(heap_.allocate(1), nullptr);
  EXPECT_TRUE(heap_.free(all));
  EXPECT_EQ(heap_.allocate(64 * mib + 1), nullptr);
  EXPECT_EQ(heap_.allocate(~std::size_t{0}), nullptr);
}

TEST_F(HeapTest, FragmentationStaysBelowAThird) {
  make(1024 * mib, 1024 * mib);
  std::mt19937 random(3);
  std::vector<std::pair<void*, std::size_t>> live;
  std::size_t used = 0, most_used = 0;
  for (int i = 0; i < 200000; ++i) {
    if (used < 200 * mib && (live.empty() || random() % 100 < 52)) {
      const std::size_t bytes = std::size_t{512} << random() % 9 | (random() % 4096);
      auto* p = static_cast<char*>(heap_.allocate(bytes));
      ASSERT_NE(p, nullptr);
      live.emplace_back(p, bytes);
      used += bytes;
    } else {
      const std::size_t at = random() % live.size();
      ASSERT_TRUE(heap_.free(live[at].first));
      used -= live[at].second;
      live[at] = live.back();
      live.pop_back();
    }
    most_used = std::max(most_used, used);
  }
  // In steps of 1 MiB.
  EXPECT_LE(static_cast<double>(heap_.committed()), 1.3 * static_cast<double>(most_used));
}

#ifndef MR_TEST_SANITIZED  // their own memory would be counted
// What the process has in memory, in bytes. Blocks that nobody touches have none.
std::size_t resident() {
  std::size_t all = 0, here = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file) {
    if (std::fscanf(file, "%zu %zu", &all, &here) != 2) here = 0;
    std::fclose(file);
  }
  return here * 4096;
}

// What a heap keeps for so many blocks of a size, in bytes for each.
double bookkeeping(std::size_t bytes, std::size_t count) {
  constexpr std::size_t window = std::size_t{128} << 30;
  Reservation range;
  Budget budget(window);
  std::vector<void*> blocks(count);
  const auto heap = std::make_unique<Heap>();
  EXPECT_TRUE(range.reserve(window * Heap::windows, {}));
  EXPECT_TRUE(heap->initialise(range.base(), window * Heap::windows, {}, &budget));
  const std::size_t before = resident();
  for (void*& block : blocks) EXPECT_NE(block = heap->allocate(bytes), nullptr);
  return static_cast<double>(resident() - before) / static_cast<double>(count);
}

// At most 64 bytes a block, whatever its size and however many there are. The tables' first pages count once: 32 KiB.
TEST_F(HeapTest, TrimGivesFreeMemoryBackAndNothingElse) {
  make(64 * mib, 256 * mib);
  constexpr std::size_t sizes[] = {4096, 100'000, 3 * mib, 20 * mib};
  std::vector<char*> kept, freed;
  for (const std::size_t bytes : sizes) {
    kept.push_back(static_cast<char*>(heap_.allocate(bytes)));
    freed.push_back(static_cast<char*>(heap_.allocate(bytes)));
    std::memset(kept.back(), 1, bytes);
    std::memset(freed.back(), 2, bytes);
  }
  for (char* block : freed) heap_.free(block);
  EXPECT_EQ(freed.back()[20 * mib - 1], 2);  // stays, for whoever comes next
  heap_.trim();
  EXPECT_EQ(heap_.resting(), 0u);
  // Pages that are touched again are new ones.
  for (std::size_t i = 1; i < std::size(sizes); ++i) EXPECT_EQ(freed[i][sizes[i] / 2], 0) << sizes[i];
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    EXPECT_EQ(kept[i][0], 1);
    EXPECT_EQ(kept[i][sizes[i] - 1], 1);
    heap_.free(kept[i]);
  }
}

TEST(Heap, BookkeepingIsSmall) {
  bookkeeping(512, 10);  // code's own pages
  for (const std::size_t count : {1000, 20000})
    for (std::size_t size = 512; size <= 64 * mib; size *= 2)
      for (const std::size_t bytes : {size, size + size / 8 + 1, size + size / 2 + 1}) {
        if (bytes * count > std::size_t{120} << 30) continue;
        const double each = bookkeeping(bytes, count);
        EXPECT_LE(each, 64 + 32 * 1024.0 / static_cast<double>(count)) << count << " blocks of " << bytes;
      }
}
#endif

TEST_F(HeapTest, RandomCallsKeepContentsAndNeverOverlap) {
  make(512 * mib, 96 * mib);
  std::mt19937 random(11);
  std::map<char*, std::size_t> live;
  const auto mark = [](char* p, std::size_t bytes) {
    const auto value = static_cast<char>(reinterpret_cast<std::uintptr_t>(p) >> 9);
    p[0] = p[bytes - 1] = value;
  };
  const auto right = [](const char* p, std::size_t bytes) {
    const auto value = static_cast<char>(reinterpret_cast<std::uintptr_t>(p) >> 9);
    return p[0] == value && p[bytes - 1] == value;
  };
  for (int i = 0; i < 50000; ++i) {
    if (random() % 2) {
      const std::size_t bytes = 1 + (random() >> (8 + random() % 20));
      auto* p = static_cast<char*>(heap_.allocate(bytes));
      if (!p) continue;
      const auto next = live.lower_bound(p);
      ASSERT_TRUE(next == live.end() || p + bytes <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= p);
      live.emplace(p, bytes);
      mark(p, bytes);
    } else if (!live.empty()) {
      auto at = live.lower_bound(range_.base() + random() % (3 * 512 * mib));
      if (at == live.end()) at = live.begin();
      ASSERT_TRUE(right(at->first, at->second));
      ASSERT_EQ(heap_.find(at->first + at->second - 1).base, at->first);
      ASSERT_TRUE(heap_.free(at->first));
      live.erase(at);
    }
  }
  std::size_t count = 0;
  heap_.each_live([&](const Block& block) {
    EXPECT_EQ(live.count(block.base), 1u);
    ++count;
  });
  EXPECT_EQ(count, live.size());
  for (auto [p, bytes] : live) EXPECT_TRUE(right(p, bytes));
  heap_.reset();
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_NE(heap_.allocate(96 * mib), nullptr);
}

TEST_F(HeapTest, ThreadsAllocateAndFreeEachOthersBlocks) {
  make(1024 * mib, 512 * mib);
  constexpr int threads = 4, slots = 64;
  std::array<std::atomic<char*>, slots> shared{};
  std::vector<std::thread> workers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 20000; ++i) {
        char* p = nullptr;
        if (random() % 4) {
          const std::size_t bytes = 1 + (random() >> (14 + random() % 16));
          p = static_cast<char*>(heap_.allocate(bytes));
          if (p) {
            *p = static_cast<char>(reinterpret_cast<std::uintptr_t>(p) >> 9);
            if (heap_.find(p).base != p) ++wrong;
          }
        }
        char* old = shared[random() % slots].exchange(p);
        if (old) {
          if (*old != static_cast<char>(reinterpret_cast<std::uintptr_t>(old) >> 9)) ++wrong;
          if (!heap_.free(old)) ++wrong;
        }
      }
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(wrong, 0);
  for (auto& slot : shared)
    if (slot) EXPECT_TRUE(heap_.free(slot));
  heap_.flush();
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(HeapTest, OneOfTwoRacingFreesWins) {
  make(64 * mib, 64 * mib);
  for (int round = 0; round < 200; ++round) {
    void* p = heap_.allocate(1000);
    std::atomic<int> won{0};
    std::thread other([&] { won += heap_.free(p); });
    won += heap_.free(p);
    other.join();
    ASSERT_EQ(won, 1);
  }
}

// A device that is reset while other host threads are at work: their blocks are freed once, by them or by the reset.
TEST_F(HeapTest, ResetsRaceWithFrees) {
  make(256 * mib, 64 * mib);
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  for (int t = 0; t < 3; ++t)
    workers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      while (!stop.load()) {
        void* p = heap_.allocate(1 + (random() >> (14 + random() % 16)));
        if (p) heap_.free(p);
      }
    });
  for (int i = 0; i < 2000; ++i) heap_.reset();
  stop.store(true);
  for (auto& worker : workers) worker.join();
  heap_.reset();
  EXPECT_EQ(budget_->used(), 0u);
  EXPECT_NE(heap_.allocate(64 * mib), nullptr);
}

}  // namespace
}  // namespace mr::memory
