// The checker's clocks, shadow and order; and a generator of random multi-stream programs whose verdicts are known by
// construction.
#include <check/order.cpp>   // NOLINT(bugprone-suspicious-include): not part of the runtime's library
#include <check/shadow.cpp>  // NOLINT(bugprone-suspicious-include)

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
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
  std::shared_ptr<Stream> made_stream() { return order.make_stream(0, false, false, false, "stream", &host); }
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

// Against a list of accesses for each byte.
TEST(Shadow, RandomTouchesFindWhatAListOfEachByteFinds) {
  constexpr std::uintptr_t base = 0x1000, size = 3000;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    World w;
    std::vector<std::shared_ptr<Stream>> streams;
    for (unsigned i = 0; i < 1 + below(4); ++i) streams.push_back(w.stream());
    std::vector<std::vector<std::pair<OpRef, std::uint32_t>>> bytes(size);
    std::set<std::pair<const Op*, const Op*>> wanted;
    for (unsigned i = 0; i < 60; ++i) {
      const auto op = w.enqueue(streams[below(static_cast<unsigned>(streams.size()))]);
      const unsigned step = below(3) ? 1 : 4 * (1 + below(20));
      const std::uint32_t kind = below(3) ? std::uint32_t{reads} : std::uint32_t{writes};
      std::uintptr_t begin = below(size), end = begin + 1 + below(below(2) ? 40 : 2000);
      if (below(4) == 0) begin &= ~std::uintptr_t{255}, end = (end + 255) & ~std::uintptr_t{255};
      end = std::min(end, size);
      if (below(12) == 0) {
        w.shadow.forget(base + begin, base + end);
        for (std::uintptr_t at = begin; at < end; ++at) bytes[at].clear();
        continue;
      }
      const std::uintptr_t width = step == 1 ? end - begin : 1 + below(step);
      for (std::uintptr_t at = begin; at < end; at += step == 1 ? end - begin : step) {
        const std::uintptr_t until = std::min(end, at + width);
        w.run(op, base + at, base + until, kind);
        for (std::uintptr_t b = at; b < until; ++b) {
          for (const auto& [before, how] : bytes[b])
            if (before != op && Shadow::conflict(how, kind) && !Order::ordered(*before, *op))
              wanted.emplace(before.get(), op.get());
          bytes[b].emplace_back(op, kind);
        }
      }
    }
    // What a later write stands for isn't reported once more: the same bytes conflict with that.
    for (const auto& pair : w.reported) ASSERT_TRUE(wanted.contains(pair)) << "seed " << seed;
    ASSERT_EQ(wanted.empty(), w.reported.empty()) << "seed " << seed;
    std::set<const Op*> found, sought;
    for (const auto& pair : w.reported) found.insert(pair.second);
    for (const auto& pair : wanted) sought.insert(pair.second);
    ASSERT_EQ(sought, found) << "seed " << seed;
  }
}

TEST(Shadow, ReportsBytesThatFollowEachOtherOnce) {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> reported;
  World w;
  Shadow shadow([&](const Access&, const Access&, std::uintptr_t begin, std::uintptr_t end) {
    reported.emplace_back(begin, end);
  });
  const auto a = w.enqueue(w.stream()), b = w.enqueue(w.stream());
  w.order.resolve(a);
  w.order.resolve(b);
  shadow.touch(0x1010, 0x3021, {a, writes, nullptr, nullptr});
  shadow.touch(0x1000, 0x3f00, {b, writes, nullptr, nullptr});
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0], std::pair(std::uintptr_t{0x1010}, std::uintptr_t{0x3021}));
}

// Worst cases: two generations of writers and readers in two streams, of which each byte has another one than its
// neighbour. Counts the bytes that the shadow has allocated.
TEST(Shadow, TakesAtMostFourBytesForEachByte) {
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  constexpr std::uintptr_t base = 1u << 20, size = 1u << 20;
  for (const std::uintptr_t unit : {1u, 2u, 4u, 8u, 24u, 100u}) {
    const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
    const std::size_t before = used();
    World w;
    const auto event = std::make_shared<Event>();
    std::size_t most = 0;
    for (int generation = 0; generation < 2; ++generation)
      for (const std::uint32_t kind : {writes, reads}) {
        std::vector<OpRef> ops;
        for (int i = 0; i < 4; ++i) ops.push_back(w.enqueue(w.stream()));
        for (const OpRef& op : ops) w.order.resolve(op);
        std::mt19937 random(7);
        for (std::uintptr_t at = 0; at + unit <= size; at += unit)
          w.shadow.touch(base + at, base + at + unit, {ops[random() % ops.size()], kind, nullptr, nullptr});
        most = std::max(most, used() - before);
        w.reported.clear();
      }
    EXPECT_LE(most, 4 * size) << "units of " << unit << " bytes";
    if (unit <= 100) EXPECT_GE(w.shadow.bytes(), most / 4);
  }
#endif  // with sanitizers, their allocators' own bytes count
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

TEST(Order, AStreamGoesOnInTheChainOfADestroyedOneThatItsMakerHasWaitedFor) {
  World w;
  for (int i = 0; i < 10; ++i) {
    const auto s = w.made_stream();
    w.run(w.enqueue(s), 0, 64, reads | writes);
    w.order.join_real_and_wished(w.host, *s);
    w.order.retire(s);
  }
  EXPECT_TRUE(w.clean());
  EXPECT_LE(w.host.clock[real].times().size(), 2u);
}

TEST(Order, AStreamGoesOnInNoChainThatItsMakerDoesNotKnowTheEndOf) {
  World w;
  const auto a = w.made_stream();
  const auto waited_for = w.enqueue(a);
  w.order.join_real_and_wished(w.host, *a);
  const auto last = w.enqueue(a);
  w.order.retire(a);
  const auto next = w.enqueue(w.made_stream());
  w.run(last, 0, 64, writes);
  w.run(next, 0, 64, writes);
  EXPECT_FALSE(w.clean());
  EXPECT_TRUE(Order::ordered(*waited_for, *next));
}

TEST(Order, AStreamIsNotBehindWhatADestroyedOneOnlyWaitedFor) {
  World w;
  const auto a = w.made_stream(), b = w.made_stream();
  const auto write = w.enqueue(b);
  const auto event = std::make_shared<Event>();
  w.order.record(*event, b);
  w.enqueue(a);
  w.order.join_real_and_wished(w.host, *a);
  w.order.wait(*a, event);
  w.order.retire(a);
  const auto read = w.enqueue(w.made_stream());
  w.run(write, 0, 64, writes);
  w.run(read, 0, 64, reads);
  EXPECT_FALSE(w.clean());
}

// A random program: operations in streams that use buffers, streams that are destroyed and made, waits of the host for
// streams, and the records and waits that order every conflicting pair. Then one wait is left out; the reference knows
// by reachability which pairs that leaves unordered.
struct RandomProgram {
  struct Step {
    unsigned stream;
    std::vector<std::pair<unsigned, std::uint32_t>> uses;  // buffer, kind
    std::vector<unsigned> waits;                           // for these earlier steps, by events recorded behind them
    std::vector<unsigned> joins = {};                      // streams that the host waits for first
    std::vector<unsigned> retires = {};                    // and that are destroyed then
  };
  std::vector<Step> steps;
  unsigned streams;

  explicit RandomProgram(std::mt19937& random) {
    streams = 2 + random() % 4;
    std::vector<unsigned> alive(streams);
    for (unsigned s = 0; s < streams; ++s) alive[s] = s;
    const unsigned buffers = 1 + random() % 4, count = 4 + random() % 20;
    for (unsigned i = 0; i < count; ++i) {
      Step step{0, {}, {}};
      if (random() % 4 == 0) step.joins.push_back(alive[random() % alive.size()]);
      if (unsigned& s = alive[random() % alive.size()]; random() % 4 == 0) {
        step.retires.push_back(s);
        s = streams++;
      }
      step.stream = alive[random() % alive.size()];
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
    std::vector<unsigned> known;  // to the host
    for (unsigned i = 0; i < steps.size(); ++i) {
      const auto newest = [&](unsigned stream, auto&& found) {
        for (unsigned j = i; j-- > 0;)
          if (steps[j].stream == stream) return found(j);
      };
      newest(steps[i].stream, [&](unsigned j) { add(i, j); });
      // What the stream waited for without an operation behind it, the host waits for too: there is none here, as
      // waits are made right before operations.
      for (const unsigned stream : steps[i].joins) newest(stream, [&](unsigned j) { known.push_back(j); });
      for (const unsigned j : known) add(i, j);
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
    handles.resize(streams);
    std::vector<std::shared_ptr<Event>> events;
    std::vector<OpRef> ops;
    for (const Step& step : steps) {
      for (const unsigned s : step.joins)
        if (handles[s]) w.order.join_real_and_wished(w.host, *handles[s]);
      for (const unsigned s : step.retires)
        if (handles[s]) w.order.retire(std::move(handles[s]));
      if (!handles[step.stream]) handles[step.stream] = w.made_stream();
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

unsigned number_from(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

TEST(RandomPrograms, VerdictsAreThoseKnownByConstruction) {
  unsigned broken = 0;
  // Others by hand: MILLRACE_TEST_FIRST_SEED=100000 MILLRACE_TEST_SEEDS=50000.
  const unsigned first = number_from("MILLRACE_TEST_FIRST_SEED", 1), seeds = number_from("MILLRACE_TEST_SEEDS", 4000);
  for (unsigned seed = first; seed < first + seeds; ++seed) {
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
  EXPECT_GT(broken, seeds / 5);
}

}  // namespace
}  // namespace mr::check
