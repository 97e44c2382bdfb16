#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <memory/pool.h>
#include <memory/space.h>

namespace mr::memory {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// Streams as the tests see them: how far each has come, and what it waits for.
struct FakeQueue {
  std::uint64_t tail = 0, done = 0;
  std::set<std::pair<FakeQueue*, std::uint64_t>> waited;
};

bool is_done(StreamPoint point) { return static_cast<FakeQueue*>(point.queue)->done >= point.sequence; }
bool is_before(StreamPoint point, void* queue) {
  for (auto [on, sequence] : static_cast<FakeQueue*>(queue)->waited)
    if (on == point.queue && sequence >= point.sequence) return true;
  return false;
}

class PoolTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(space().initialise({.devices = 2, .device_bytes = 512 * mib}));
    set_order_test({is_done, is_before});
  }
  void SetUp() override { pool = Pool::create({.device = 1}); }
  void TearDown() override {
    a.done = a.tail;
    b.done = b.tail;
    synchronized(1, nullptr);
    if (pool) pool->destroy();
    EXPECT_EQ(space().device_budget(1).used(), 0u);
  }
  StreamPoint point(FakeQueue& queue) { return {&queue, ++queue.tail}; }
  void* take(std::size_t bytes, FakeQueue& queue) {
    const auto result = pool->allocate(bytes, &queue);
    EXPECT_EQ(result.wait.queue, nullptr);
    return result.pointer;
  }
  Pool* pool = nullptr;
  FakeQueue a, b;
};

TEST_F(PoolTest, UsedCountsRequestsAndReservedCountsSteps) {
  void* p = take(1, a);
  EXPECT_EQ(pool->usage().used, 1u);
  EXPECT_EQ(pool->usage().reserved, Pool::step);
  void* q = take(40 * mib, a);
  EXPECT_EQ(pool->usage().used, 40 * mib + 1);
  EXPECT_EQ(pool->usage().reserved, 2 * Pool::step);
  EXPECT_EQ(space().total_bytes(1) - space().free_bytes(1), 2 * Pool::step);
  EXPECT_EQ(space().kind_of(p), Kind::device);
  EXPECT_EQ(space().device_of(q), 1);
  const Pointer inner = space().find(static_cast<char*>(q) + mib);
  EXPECT_EQ(inner.owner, pool);
  EXPECT_EQ(inner.block.base, q);
  EXPECT_EQ(inner.block.size, 40 * mib);
  EXPECT_TRUE(pool->free(p, point(a)));
  EXPECT_FALSE(pool->free(p, point(a)));
  EXPECT_FALSE(pool->free(static_cast<char*>(q) + 512, point(a)));
  EXPECT_EQ(pool->usage().used, 40 * mib);
  EXPECT_EQ(pool->usage().used_high, 40 * mib + 1);
  EXPECT_TRUE(pool->free(q, point(a)));
  EXPECT_EQ(pool->usage().reserved, 2 * Pool::step);
}

TEST_F(PoolTest, AStreamReusesSplitsAndJoinsWhatItFreed) {
  void* p = take(40 * mib, a);
  pool->free(p, point(a));
  EXPECT_EQ(take(40 * mib, a), p);
  pool->free(p, point(a));
  void* q = take(20 * mib, a);
  void* r = take(20 * mib, a);
  EXPECT_EQ(q, p);
  EXPECT_EQ(static_cast<char*>(r) - static_cast<char*>(q), static_cast<std::ptrdiff_t>(20 * mib));
  pool->free(r, point(a));
  pool->free(q, point(a));
  EXPECT_EQ(take(40 * mib, a), p);
  EXPECT_EQ(pool->usage().reserved, 2 * Pool::step);
  pool->free(p, point(a));
}

TEST_F(PoolTest, AnotherStreamReusesOnlyWhatIsOrderedBeforeIt) {
  pool->release_threshold = ~std::uint64_t{0};
  void* p = take(32 * mib, a);
  pool->free(p, point(a));
  void* q = take(32 * mib, b);
  EXPECT_NE(p, q);
  pool->free(q, point(b));
  b.done = b.tail;
  pool->synchronized(&b);
  // By an event ...
  pool->reuse_follow = 0;
  void* r = take(64 * mib, b);
  pool->reuse_follow = 1;
  EXPECT_NE(r, p);
  b.waited.insert({&a, a.tail});
  void* s = take(32 * mib, b);
  EXPECT_EQ(s, p);
  // ... or because it is done.
  pool->free(s, point(b));
  b.done = b.tail;
  EXPECT_EQ(take(32 * mib, a), p);
  pool->reuse_opportunistic = 0;
  pool->free(p, point(a));
  a.done = a.tail;
  void* t = take(16 * mib, b);
  EXPECT_TRUE(t < p || t >= static_cast<char*>(p) + 32 * mib);
  pool->synchronized(&a);
  pool->free(r, point(b));
  pool->free(t, point(b));
}

TEST_F(PoolTest, OnlyWhenMemoryRunsOutAStreamIsMadeToWait) {
  void* p = take(400 * mib, a);
  pool->free(p, point(a));
  pool->reuse_internal = 0;
  EXPECT_EQ(pool->allocate(300 * mib, &b).pointer, nullptr);
  pool->reuse_internal = 1;
  const auto result = pool->allocate(300 * mib, &b);
  EXPECT_EQ(result.pointer, p);
  EXPECT_EQ(result.wait.queue, &a);
  EXPECT_EQ(result.wait.sequence, a.tail);
  EXPECT_EQ(pool->allocate(600 * mib, &b).pointer, nullptr);
  pool->free(p, point(b));
}

TEST_F(PoolTest, ASynchronisationGivesBackWhatIsAboveTheThreshold) {
  void* p = take(2 * mib, a);
  void* q = take(2 * mib, b);
  pool->free(p, point(a));
  synchronized(1, &a);
  EXPECT_EQ(pool->usage().reserved, Pool::step);  // not done yet, and q lives there
  a.done = a.tail;
  synchronized(1, &a);
  EXPECT_EQ(pool->usage().reserved, Pool::step);
  pool->free(q, point(b));
  b.done = b.tail;
  synchronized(1, &a);
  EXPECT_EQ(pool->usage().reserved, Pool::step);  // another stream's
  synchronized(1, &b);
  EXPECT_EQ(pool->usage().reserved, 0u);
  EXPECT_EQ(pool->usage().reserved_high, Pool::step);
  EXPECT_EQ(pools_watching.load(), 0);
  pool->release_threshold = ~std::uint64_t{0};
  p = take(2 * mib, a);
  pool->free(p, point(a));
  a.done = a.tail;
  synchronized(1, nullptr);
  EXPECT_EQ(pool->usage().reserved, Pool::step);
  pool->trim(mib);
  EXPECT_EQ(pool->usage().reserved, Pool::step);
  pool->trim(~std::size_t{0});  // as recorded: a request to keep everything keeps nothing
  EXPECT_EQ(pool->usage().reserved, 0u);
}

TEST_F(PoolTest, ADestroyedPoolLivesAsLongAsItsBlocksAndTheirWork) {
  auto* p = static_cast<char*>(take(mib, a));
  pool->destroy();
  EXPECT_FALSE(valid_pool(pool));
  *p = 1;
  EXPECT_EQ(space().kind_of(p), Kind::device);
  EXPECT_TRUE(pool->free(p, point(a)));
  *p = 2;  // work enqueued before the free may still run
  EXPECT_EQ(space().kind_of(p), Kind::device);
  a.done = a.tail;
  synchronized(1, &a);
  EXPECT_EQ(space().kind_of(p), Kind::pageable);
  pool = nullptr;
}

TEST_F(PoolTest, TheLimitOfAPoolHolds) {
  Pool* small = Pool::create({.device = 1, .max_size = 64 * mib});
  void* p = small->allocate(32 * mib, &a).pointer;
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(small->allocate(33 * mib, &a).pointer, nullptr);
  void* q = small->allocate(32 * mib, &a).pointer;
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(small->allocate(1, &a).pointer, nullptr);
  small->free(p, {});
  small->free(q, {});
  EXPECT_EQ(small->usage().reserved, 0u);
  small->destroy();
}

// Traces of programs with a stream, or two, that come up with their work now and then: what a pool takes from its
// device is little more than what it has handed out, at the worst of times, though it takes steps of 32 MiB.
TEST_F(PoolTest, FragmentationIsBounded) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    const bool two = seed & 8;
    const std::size_t peak = (seed & 16 ? 200 : 320) * mib;
    Pool* const traced = Pool::create({.device = 1});
    ASSERT_NE(traced, nullptr);
    std::mt19937 random(seed);
    std::vector<std::pair<void*, std::size_t>> live;
    std::size_t used = 0, used_most = 0, reserved_most = 0;
    // Small blocks, large ones, or both; sizes that repeat, as programs' sizes do, or any.
    const unsigned least = seed & 1 ? 9 : 13, range = seed & 2 ? 8 : 9;
    const auto size = [&] {
      const std::size_t power = std::size_t{1} << (least + random() % range);
      return seed & 4 ? power : power + random() % power;
    };
    for (int i = 0; i < 20000; ++i) {
      FakeQueue& queue = two && random() % 2 ? b : a;
      // Programs grow to their peak, shrink, and grow again.
      const bool growing = (i / 2500) % 2 == 0;
      if (used < peak && (live.empty() || random() % 100 < (growing ? 65u : 40u))) {
        const std::size_t bytes = size();
        const auto result = traced->allocate(bytes, &queue);
        ASSERT_NE(result.pointer, nullptr);
        if (result.wait.queue) queue.waited.insert({static_cast<FakeQueue*>(result.wait.queue), result.wait.sequence});
        live.emplace_back(result.pointer, bytes);
        used += bytes;
      } else {
        const std::size_t at = random() % live.size();
        ASSERT_TRUE(traced->free(live[at].first, point(queue)));
        used -= live[at].second;
        live[at] = live.back();
        live.pop_back();
        if (random() % 4 == 0) queue.done = queue.tail;
      }
      used_most = std::max(used_most, used);
      reserved_most = std::max<std::size_t>(reserved_most, traced->usage().reserved);
    }
    // Below about 100 MiB in use, the steps that hold it may be more already.
    const std::size_t steps = (used_most + Pool::step - 1) / Pool::step * Pool::step;
    EXPECT_LE(reserved_most, std::max(static_cast<std::size_t>(1.3 * static_cast<double>(used_most)), steps))
        << "seed " << seed << ": " << reserved_most / mib << " MiB for " << used_most / mib;
    a.done = a.tail;
    b.done = b.tail;
    for (auto& [block, bytes] : live) ASSERT_TRUE(traced->free(block, {}));
    synchronized(1, nullptr);
    traced->destroy();
  }
}

// Eight streams that come up with their work at every sixteenth free: what a stream freed and hasn't come up to is that
// stream's alone, and so in use, but for what it has taken again itself.
TEST_F(PoolTest, FragmentationOfManyStreamsIsBounded) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    Pool* const traced = Pool::create({.device = 1});
    ASSERT_NE(traced, nullptr);
    std::mt19937 random(seed);
    std::array<FakeQueue, 8> queues;
    std::array<std::size_t, 8> pending{};
    std::vector<std::pair<void*, std::size_t>> live;
    std::size_t used = 0, in_use_most = 0, reserved_most = 0;
    const unsigned least = seed & 1 ? 9 : 13;
    for (int i = 0; i < 20000; ++i) {
      const std::size_t number = random() % queues.size();
      FakeQueue& queue = queues[number];
      if (used < 200 * mib && (live.empty() || random() % 100 < 55)) {
        const std::size_t power = std::size_t{1} << (least + random() % 9);
        const std::size_t bytes = seed & 2 ? power : power + random() % power;
        const auto result = traced->allocate(bytes, &queue);
        ASSERT_NE(result.pointer, nullptr);
        ASSERT_EQ(result.wait.queue, nullptr);
        live.emplace_back(result.pointer, bytes);
        used += bytes;
        pending[number] -= std::min(pending[number], bytes);
      } else {
        const std::size_t at = random() % live.size();
        ASSERT_TRUE(traced->free(live[at].first, point(queue)));
        used -= live[at].second;
        pending[number] += live[at].second;
        live[at] = live.back();
        live.pop_back();
        if (random() % 16 == 0) {
          queue.done = queue.tail;
          pending[number] = 0;
        }
      }
      in_use_most = std::max(in_use_most, std::accumulate(pending.begin(), pending.end(), used));
      reserved_most = std::max<std::size_t>(reserved_most, traced->usage().reserved);
    }
    // Whole steps, as a GPU's pools take them.
    const auto most = static_cast<std::size_t>(1.3 * static_cast<double>(in_use_most));
    EXPECT_LE(reserved_most, (most + Pool::step - 1) / Pool::step * Pool::step)
        << "seed " << seed << ": " << reserved_most / mib << " MiB for " << in_use_most / mib;
    for (FakeQueue& queue : queues) queue.done = queue.tail;
    for (auto& [block, bytes] : live) ASSERT_TRUE(traced->free(block, {}));
    synchronized(1, nullptr);
    traced->destroy();
  }
}

// Free memory in holes is of use to what fits into none of them: no more is reserved, and a limit isn't reached.
TEST_F(PoolTest, HolesGiveTheirMemoryToWhatFitsNone) {
  Pool* const limited = Pool::create({.device = 1, .max_size = 2 * Pool::step});
  std::vector<char*> blocks;
  for (int i = 0; i < 64; ++i) {
    auto* p = static_cast<char*>(limited->allocate(mib, &a).pointer);
    ASSERT_NE(p, nullptr);
    std::memset(p, 0x5a, mib);
    blocks.push_back(p);
  }
  EXPECT_EQ(limited->allocate(1, &a).pointer, nullptr);
  for (int i = 0; i < 64; i += 2) ASSERT_TRUE(limited->free(blocks[i], {}));
  auto* large = static_cast<char*>(limited->allocate(32 * mib, &a).pointer);
  ASSERT_NE(large, nullptr);
  std::memset(large, 0x33, 32 * mib);
  EXPECT_EQ(limited->usage().reserved, 2 * Pool::step);
  EXPECT_EQ(limited->allocate(1, &a).pointer, nullptr);
  for (int i = 1; i < 64; i += 2)
    for (std::size_t at = 0; at < mib; at += 4096) ASSERT_EQ(blocks[i][at], 0x5a);
  // Where the holes are used again, they have memory again.
  ASSERT_TRUE(limited->free(large, {}));
  for (int i = 0; i < 64; i += 2) {
    blocks[i] = static_cast<char*>(limited->allocate(mib, &a).pointer);
    ASSERT_NE(blocks[i], nullptr);
    std::memset(blocks[i], 0x77, mib);
  }
  EXPECT_EQ(limited->usage().reserved, 2 * Pool::step);
  for (char* p : blocks) ASSERT_TRUE(limited->free(p, {}));
  EXPECT_EQ(limited->usage().reserved, 0u);
  limited->destroy();
}

TEST_F(PoolTest, ExportedMemoryIsTheSameMemory) {
  Pool* shared = Pool::create({.device = 1, .exportable = true});
  const int fd = shared->export_file();
  ASSERT_GE(fd, 0);
  EXPECT_EQ(pool->export_file(), -1);
  Pool* imported = Pool::import(fd, 1);
  ASSERT_NE(imported, nullptr);
  auto* p = static_cast<char*>(shared->allocate(1000, &a).pointer);
  std::memset(p, 0x5a, 1000);
  BlockName name;
  EXPECT_FALSE(shared->name_block(p + 512, &name));
  ASSERT_TRUE(shared->name_block(p, &name));
  auto* q = static_cast<char*>(imported->import_block(name));
  ASSERT_NE(q, nullptr);
  EXPECT_NE(q, p);
  EXPECT_EQ(q[999], 0x5a);
  q[0] = 7;
  EXPECT_EQ(p[0], 7);
  EXPECT_EQ(imported->allocate(1, &a).pointer, nullptr);
  EXPECT_EQ(space().kind_of(q), Kind::device);
  imported->destroy();
  shared->free(p, {});
  shared->destroy();
  close(fd);
}

TEST_F(PoolTest, ThreadsInTheirOwnStreamsNeverShareLiveMemory) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      FakeQueue queue;
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<char*, std::size_t>> live;
      for (int i = 0; i < 5000; ++i) {
        if (live.size() < 20 && random() % 2) {
          const std::size_t bytes = 1 + (random() >> (12 + random() % 18));
          auto* p = static_cast<char*>(pool->allocate(bytes, &queue).pointer);
          if (!p) continue;
          p[0] = p[bytes - 1] = static_cast<char>(t);
          live.emplace_back(p, bytes);
        } else if (!live.empty()) {
          const std::size_t at = random() % live.size();
          auto [p, bytes] = live[at];
          wrong += p[0] != t || p[bytes - 1] != t;
          wrong += !pool->free(p, {&queue, ++queue.tail});
          live[at] = live.back();
          live.pop_back();
        }
      }
      for (auto [p, bytes] : live) wrong += !pool->free(p, {});
      queue.done = ~std::uint64_t{0};
      pool->synchronized(&queue);  // the stream of this thread ends with it
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(pool->usage().used, 0u);
}

}  // namespace
}  // namespace mr::memory
