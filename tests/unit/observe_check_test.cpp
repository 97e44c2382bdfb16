// The checker's clocks, shadow and order; and a generator of random multi-stream programs whose verdicts are known by
// construction.
#include <check/order.cpp>   // NOLINT(bugprone-suspicious-include): not part of the runtime's library
#include <check/shadow.cpp>  // NOLINT(bugprone-suspicious-include)

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace mr::check {
namespace {

TEST(Clock, KnowsTheNewestTimeOfEachChain) {
  Clock clock;
  EXPECT_EQ(clock.of(3), 0u);
  clock.raise(3, 5);
  clock.raise(1, 2);
  clock.raise(3, 4);
  EXPECT_EQ(clock.of(3), 5u);
  EXPECT_EQ(clock.of(1), 2u);
  EXPECT_EQ(clock.of(2), 0u);
}

TEST(Clock, JoinTakesTheLaterOfBoth) {
  Clock a, b;
  a.raise(1, 5);
  a.raise(7, 1);
  b.raise(0, 3);
  b.raise(1, 4);
  b.raise(7, 2);
  b.raise(9, 9);
  EXPECT_TRUE(a.join(b));
  EXPECT_EQ(a.of(0), 3u);
  EXPECT_EQ(a.of(1), 5u);
  EXPECT_EQ(a.of(7), 2u);
  EXPECT_EQ(a.of(9), 9u);
  EXPECT_FALSE(a.join(b));
  EXPECT_EQ(a.times().size(), 4u);
}

// One world of streams and what the shadow reports.
struct World {
  Order order;
  Actor host;
  std::set<std::pair<const Op*, const Op*>> reported;
  Shadow shadow{[this](const Access& a, const Access& b, std::uintptr_t, std::uintptr_t) {
    reported.emplace(a.op.get(), b.op.get());
  }};
  World() { host.chain = order.new_chain(); }
  std::shared_ptr<Stream> stream(bool blocking = false) {
    return order.make_stream(0, blocking, false, false, "stream");
  }
  std::shared_ptr<Stream> legacy() { return order.make_stream(0, true, true, true, "the default stream"); }
  OpRef enqueue(const std::shared_ptr<Stream>& s) { return order.enqueue(s, host, Role::stream, nullptr); }
  void run(const OpRef& op, std::uintptr_t begin, std::uintptr_t end, std::uint32_t kind) {
    order.resolve(op);
    shadow.touch(begin, end, {op, kind, nullptr, nullptr});
  }
  void host_touch(std::uintptr_t begin, std::uintptr_t end, std::uint32_t kind) {
    shadow.touch(begin, end, {order.segment_of(host), kind, nullptr, nullptr});
  }
  bool clean() const { return reported.empty(); }
};

TEST(Shadow, UnorderedWritesOfOneByteConflict) {
  World w;
  const auto a = w.enqueue(w.stream()), b = w.enqueue(w.stream());
  w.run(a, 100, 200, writes);
  w.run(b, 199, 300, writes);
  EXPECT_FALSE(w.clean());
}

TEST(Shadow, NeighboursDoNotConflict) {
  World w;
  const auto a = w.enqueue(w.stream()), b = w.enqueue(w.stream());
  w.run(a, 100, 200, writes);
  w.run(b, 200, 300, writes);
  w.run(b, 50, 100, writes);
  EXPECT_TRUE(w.clean());
}

TEST(Shadow, ReadersDoNotConflictAndAWriterConflictsWithEach) {
  World w;
  const auto a = w.enqueue(w.stream()), b = w.enqueue(w.stream()), c = w.enqueue(w.stream());
  w.run(a, 0x1000, 0x1100, reads);
  w.run(b, 0x1000, 0x1100, reads);
  EXPECT_TRUE(w.clean());
  w.run(c, 0x1080, 0x1081, writes);
  EXPECT_EQ(w.reported.size(), 2u);
}

TEST(Shadow, AtomicsConflictWithPlainAccessesOnly) {
  World w;
  const auto a = w.enqueue(w.stream()), b = w.enqueue(w.stream()), c = w.enqueue(w.stream());
  w.run(a, 0x1000, 0x1004, reads | writes | atomic);
  w.run(b, 0x1000, 0x1004, reads | writes | atomic);
  EXPECT_TRUE(w.clean());
  w.run(c, 0x1000, 0x1004, reads);
  EXPECT_FALSE(w.clean());
}

TEST(Shadow, RangesOfOneStoryAreOne) {
  World w;
  const auto s = w.stream();
  const auto a = w.enqueue(s);
  for (std::uintptr_t at = 0; at < 100; ++at) w.run(a, 0x1000 + at * 8, 0x1008 + at * 8, writes);
  EXPECT_EQ(w.shadow.ranges(), 1u);
}

TEST(Shadow, UseBehindAFreeIsReportedThoughOrdered) {
  World w;
  const auto s = w.stream();
  const auto freed = w.enqueue(s), used = w.enqueue(s), again = w.enqueue(s);
  w.run(freed, 0x1000, 0x2000, frees);
  w.run(used, 0x1000, 0x1004, reads);
  EXPECT_EQ(w.reported.size(), 1u);
  w.run(again, 0x1000, 0x2000, allocates);
  const auto later = w.enqueue(s);
  w.run(later, 0x1000, 0x1004, writes);
  EXPECT_EQ(w.reported.size(), 1u);
}

TEST(Order, AnEventCoversWhatWasThereWhenItWasRecorded) {
  World w;
  const auto a = w.stream(), b = w.stream();
  const auto event = std::make_shared<Event>();
  const auto first = w.enqueue(a);
  w.order.record(*event, a);
  const auto second = w.enqueue(a);
  w.order.wait(*b, event);
  const auto third = w.enqueue(b);
  w.order.resolve(second);
  w.order.resolve(third);
  EXPECT_TRUE(Order::ordered(*first, *third));
  EXPECT_FALSE(Order::ordered(*second, *third));
}

TEST(Order, AWaitBeforeTheFirstRecordHasNoEffect) {
  World w;
  const auto a = w.stream(), b = w.stream();
  const auto event = std::make_shared<Event>();
  w.order.wait(*b, event);
  const auto first = w.enqueue(a);
  w.order.record(*event, a);
  const auto second = w.enqueue(b);
  w.order.resolve(second);
  EXPECT_FALSE(Order::ordered(*first, *second));
}

TEST(Order, TheLegacyStreamIsABarrierForBlockingStreams) {
  World w;
  const auto a = w.stream(true), b = w.stream(true), c = w.stream(false), zero = w.legacy();
  const auto first = w.enqueue(a), beside = w.enqueue(c), barrier = w.enqueue(zero), second = w.enqueue(b),
             third = w.enqueue(c);
  w.order.resolve(second);
  w.order.resolve(third);
  EXPECT_TRUE(Order::ordered(*first, *second));
  EXPECT_TRUE(Order::ordered(*barrier, *second));
  EXPECT_FALSE(Order::ordered(*beside, *second));
  EXPECT_FALSE(Order::ordered(*barrier, *third));
  // In the world where all streams are blocking, everything is ordered.
  EXPECT_TRUE(Order::ordered(*beside, *second, wished));
  EXPECT_TRUE(Order::ordered(*barrier, *third, wished));
}

TEST(Order, TheHostIsBehindWhatItWaitedFor) {
  World w;
  const auto s = w.stream();
  w.host_touch(0x1000, 0x1004, writes);
  const auto op = w.enqueue(s);
  w.run(op, 0x1000, 0x1004, reads | writes);
  EXPECT_TRUE(w.clean());  // what the thread did before it enqueued the operation comes before it
  w.order.join(w.host, w.order.newest(*s, real));
  w.host_touch(0x1000, 0x1004, reads);
  EXPECT_TRUE(w.clean());
  const auto late = w.enqueue(s);
  w.host_touch(0x1000, 0x1004, writes);
  w.run(late, 0x1000, 0x1004, reads);
  EXPECT_FALSE(w.clean());
}

TEST(Order, WhatAHostFunctionLearnsReachesTheOperationsBehindIt) {
  World w;
  const auto s = w.stream();
  const auto function = w.enqueue(s), behind = w.enqueue(s);
  Actor other;
  other.chain = w.order.new_chain();
  const OpRef deed = w.order.segment_of(other);
  Clock passed[worlds];
  w.order.release(other, passed);
  // The function runs, and acquires what the other thread released.
  w.order.resolve(function);
  function->clock[real].join(passed[real]);
  w.order.resolve(behind);
  EXPECT_TRUE(Order::ordered(*deed, *behind));
}

// A random program: operations in streams that use buffers, and the records and waits that order every conflicting
// pair. Then one wait is left out; the reference knows by reachability which pairs that leaves unordered.
struct RandomProgram {
  struct Step {
    unsigned stream;
    std::vector<std::pair<unsigned, std::uint32_t>> uses;  // buffer, kind
    std::vector<unsigned> waits;                           // for these earlier steps, by events recorded behind them
  };
  std::vector<Step> steps;
  unsigned streams;

  explicit RandomProgram(std::mt19937& random) {
    streams = 2 + random() % 4;
    const unsigned buffers = 1 + random() % 4, count = 4 + random() % 20;
    for (unsigned i = 0; i < count; ++i) {
      Step step{static_cast<unsigned>(random() % streams), {}, {}};
      for (unsigned n = 1 + random() % 2; n > 0; --n)
        step.uses.emplace_back(random() % buffers, random() % 3 == 0 ? writes : random() % 2 ? reads : reads | writes);
      steps.push_back(step);
      const auto before = closure();
      std::vector<bool> known = before[i];
      for (unsigned j = i; j-- > 0;)
        if (!known[j] && in_conflict(steps[j], steps[i])) {
          steps[i].waits.push_back(j);
          for (unsigned k = 0; k <= j; ++k) known[k] = known[k] || k == j || before[j][k];
        }
    }
  }
  static bool in_conflict(const Step& a, const Step& b) {
    for (const auto& [x, kx] : a.uses)
      for (const auto& [y, ky] : b.uses)
        if (x == y && ((kx | ky) & writes)) return true;
    return false;
  }
  // before[i][j]: step j is ordered before step i.
  std::vector<std::vector<bool>> closure() const {
    std::vector<std::vector<bool>> before(steps.size(), std::vector<bool>(steps.size(), false));
    const auto add = [&](unsigned i, unsigned j) {
      before[i][j] = true;
      for (unsigned k = 0; k < j; ++k) before[i][k] = before[i][k] || before[j][k];
    };
    for (unsigned i = 0; i < steps.size(); ++i) {
      for (unsigned j = i; j-- > 0;)
        if (steps[j].stream == steps[i].stream) {
          add(i, j);
          break;
        }
      for (const unsigned j : steps[i].waits) add(i, j);
    }
    return before;
  }
  std::set<std::pair<unsigned, unsigned>> races() const {
    const auto before = closure();
    std::set<std::pair<unsigned, unsigned>> result;
    for (unsigned i = 0; i < steps.size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        if (!before[i][j] && in_conflict(steps[j], steps[i])) result.emplace(j, i);
    return result;
  }
  // Enqueues everything, then executes in a random order that the program allows; the pairs that were reported.
  std::set<std::pair<unsigned, unsigned>> check(std::mt19937& random) const {
    World w;
    std::vector<std::shared_ptr<Stream>> handles;
    for (unsigned s = 0; s < streams; ++s) handles.push_back(w.stream());
    std::vector<std::shared_ptr<Event>> events;
    std::vector<OpRef> ops;
    for (const Step& step : steps) {
      for (const unsigned j : step.waits) w.order.wait(*handles[step.stream], events[j]);
      ops.push_back(w.enqueue(handles[step.stream]));
      events.push_back(std::make_shared<Event>());
      w.order.record(*events.back(), handles[step.stream]);
    }
    const auto before = closure();
    std::vector<bool> done(steps.size(), false);
    for (std::size_t left = steps.size(); left > 0; --left) {
      std::vector<unsigned> ready;
      for (unsigned i = 0; i < steps.size(); ++i) {
        bool waits = done[i];
        for (unsigned j = 0; j < steps.size() && !waits; ++j) waits = before[i][j] && !done[j];
        if (!waits) ready.push_back(i);
      }
      const unsigned i = ready[random() % ready.size()];
      done[i] = true;
      for (const auto& [buffer, kind] : steps[i].uses) w.run(ops[i], buffer * 64, buffer * 64 + 64, kind);
    }
    std::set<std::pair<unsigned, unsigned>> result;
    for (const auto& [a, b] : w.reported) {
      unsigned x = 0, y = 0;
      for (unsigned i = 0; i < ops.size(); ++i) {
        if (ops[i].get() == a) x = i;
        if (ops[i].get() == b) y = i;
      }
      result.emplace(std::min(x, y), std::max(x, y));
    }
    return result;
  }
};

TEST(RandomPrograms, VerdictsAreThoseKnownByConstruction) {
  unsigned broken = 0;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    std::mt19937 random(seed);
    RandomProgram program(random);
    ASSERT_TRUE(program.races().empty()) << "seed " << seed;
    ASSERT_TRUE(program.check(random).empty()) << "a correct program was reported, seed " << seed;
    std::vector<std::pair<unsigned, unsigned>> edges;
    for (unsigned i = 0; i < program.steps.size(); ++i)
      for (unsigned n = 0; n < program.steps[i].waits.size(); ++n) edges.emplace_back(i, n);
    if (edges.empty()) continue;
    const auto [step, wait] = edges[random() % edges.size()];
    auto& waits = program.steps[step].waits;
    waits.erase(waits.begin() + wait);
    const auto races = program.races();
    const auto reported = program.check(random);
    for (const auto& pair : reported) ASSERT_TRUE(races.count(pair)) << "a false report, seed " << seed;
    ASSERT_EQ(reported.empty(), races.empty()) << "a missed race, seed " << seed;
    broken += !races.empty();
  }
  EXPECT_GT(broken, 1000u);
}

}  // namespace
}  // namespace mr::check
