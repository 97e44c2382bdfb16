// The engine by itself: order, waiting, helping, forward progress. Operations are custom ones, host functions, and
// kernels made by hand.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <engine/queue.h>
#include <engine/scheduler.h>
#include <engine/wait.h>
#include <engine/worker.h>
#include <gtest/gtest.h>
#include <simt/grid.h>

namespace {

using namespace mr;
using engine::Appender;
using engine::OpKind;
using engine::Queue;

struct World {
  simt::DeviceState device;
  engine::Domain domain;
  World() {
    domain.device = &device;
    domain.on_fault = [](engine::Domain&, simt::Fault, const simt::Grid&) { FAIL() << "unexpected fault"; };
  }
  Queue* queue(unsigned level = engine::priority_levels - 1) { return engine::take_queue(&domain, level); }
};
World& world() {
  static World* const w = new World;
  return *w;
}

std::uint64_t push_call(Queue& queue, void (*function)(void**), std::initializer_list<void*> data) {
  Appender a(queue);
  auto* op = a.push<engine::CustomOp>(OpKind::custom);
  op->run = [](engine::CustomOp& o, Queue&, engine::Runner&, bool) {
    reinterpret_cast<void (*)(void**)>(o.data[0])(o.data + 1);
    return engine::OpResult::done;
  };
  op->data[0] = reinterpret_cast<void*>(function);
  int i = 1;
  for (void* d : data) op->data[i++] = d;
  return a.sequence();
}
std::uint64_t push_wait(Queue& queue, Queue& on, std::uint64_t sequence) {
  Appender a(queue);
  auto* op = a.push<engine::WaitOp>(OpKind::wait);
  op->on = &on;
  op->sequence = sequence;
  return a.sequence();
}
std::uint64_t push_host(Queue& queue, void (*function)(void*), void* data) {
  engine::HostCall call{0, nullptr, function, data, nullptr};
  {
    Appender a(queue);
    auto* op = a.push<engine::HostOp>(OpKind::host);
    op->function = function;
    op->data = data;
    op->with_status = nullptr;
    call.record = op;
    call.sequence = a.sequence();
  }
  // Half of the waits for it call with the function, the others without.
  if (call.sequence % 2 == 0) engine::newest_host_call.enqueued(queue, call);
  return call.sequence;
}

// A kernel made by hand: one pointer argument.
struct HandKernel {
  MrParam param{0, 8, 8};
  MrKernel kernel{};
  HandKernel(MrRunBlocks blocks, MrRunLane lane, std::uint32_t flags) {
    kernel.name = "hand";
    kernel.run_blocks = blocks;
    kernel.run_lane = lane;
    kernel.params = &param;
    kernel.param_count = 1;
    kernel.args_size = 8;
    kernel.flags = flags;
  }
};
std::uint64_t push_kernel(Queue& queue, const MrKernel& kernel, std::uint32_t blocks, std::uint32_t threads,
                          void* argument) {
  Appender a(queue);
  auto* op = a.push<engine::KernelOp>(OpKind::kernel, engine::KernelOp::header + 8);
  char* args = reinterpret_cast<char*>(op) + engine::KernelOp::header;
  std::memcpy(args, &argument, 8);
  op->grid = simt::Grid{};
  op->grid.kernel = &kernel;
  op->grid.args = args;
  op->grid.grid[0] = blocks;
  op->grid.grid[1] = op->grid.grid[2] = 1;
  op->grid.block[0] = threads;
  op->grid.block[1] = op->grid.block[2] = 1;
  op->grid.total_blocks = blocks;
  op->grid.device = &world().device;
  if (simt::needs_residency(op->grid)) op->flags |= engine::op_workers_only;
  return a.sequence();
}

TEST(Queue, RunsInOrderAndGivesMemoryBack) {
  Queue& q = *world().queue();
  std::vector<int> seen;
  std::uint64_t last = 0;
  for (std::intptr_t i = 0; i < 20000; ++i)
    last = push_call(q,
                     [](void** d) {
                       static_cast<std::vector<int>*>(d[0])->push_back(
                           static_cast<int>(reinterpret_cast<std::intptr_t>(d[1])));
                     },
                     {&seen, reinterpret_cast<void*>(i)});
  engine::wait(q, last);
  ASSERT_EQ(seen.size(), 20000u);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
  engine::give_queue(&q);
}

TEST(Queue, WorkersRunWithoutAnybodyWaiting) {
  Queue& q = *world().queue();
  std::atomic<int> count{0};
  for (int i = 0; i < 100; ++i)
    push_call(q, [](void** d) { static_cast<std::atomic<int>*>(d[0])->fetch_add(1); }, {&count});
  while (count.load() != 100) std::this_thread::yield();
  engine::wait(q, q.tail());
  engine::give_queue(&q);
}

// Random programs: queues, operations that note their end, waits for random earlier points; each operation checks that
// all it was ordered behind has ended. Several threads enqueue, several wait, some operations are host functions.
struct Node {
  std::atomic<bool> ended{false};
  std::vector<Node*> before;
  std::atomic<int>* wrong;
  static void run(Node& n) {
    for (Node* b : n.before)
      if (!b->ended.load(std::memory_order_relaxed)) n.wrong->fetch_add(1);
    n.ended.store(true, std::memory_order_relaxed);
  }
};

void random_program(unsigned seed, int queues, int operations, int threads) {
  std::vector<Queue*> qs;
  for (int i = 0; i < queues; ++i) qs.push_back(world().queue(static_cast<unsigned>(i) % engine::priority_levels));
  std::atomic<int> wrong{0};
  std::mutex lock;
  struct Point {
    Queue* queue;
    std::uint64_t sequence;
    Node* node;
  };
  std::vector<Point> points;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Node*> last(static_cast<std::size_t>(queues), nullptr);
  auto enqueuer = [&](int t) {
    std::mt19937 rng(seed * 977u + static_cast<unsigned>(t));
    for (int i = 0; i < operations / threads; ++i) {
      Point wait_for{};
      {
        std::scoped_lock hold(lock);
        const std::size_t k = rng() % qs.size();
        auto node = std::make_unique<Node>();
        node->wrong = &wrong;
        if (last[k]) node->before.push_back(last[k]);
        for (unsigned w = rng() % 3; w && !points.empty(); --w) {
          const Point p = points[points.size() - 1 - rng() % std::min<std::size_t>(points.size(), 40)];
          push_wait(*qs[k], *p.queue, p.sequence);
          node->before.push_back(p.node);
        }
        std::uint64_t s;
        if (rng() % 8 == 0)
          s = push_host(*qs[k], [](void* d) { Node::run(*static_cast<Node*>(d)); }, node.get());
        else
          s = push_call(*qs[k], [](void** d) { Node::run(*static_cast<Node*>(d[0])); }, {node.get()});
        last[k] = node.get();
        points.push_back({qs[k], s, node.get()});
        nodes.push_back(std::move(node));
        if (rng() % 16 == 0) wait_for = points[rng() % points.size()];
      }
      if (wait_for.queue) {
        engine::wait(*wait_for.queue, wait_for.sequence,
                     rng() % 2 ? engine::WaitMode::automatic : engine::WaitMode::block);
        if (!wait_for.node->ended.load()) wrong.fetch_add(1);
      }
    }
  };
  std::vector<std::thread> ts;
  for (int t = 0; t < threads; ++t) ts.emplace_back(enqueuer, t);
  for (auto& t : ts) t.join();
  for (Queue* q : qs) engine::wait(*q, q->tail());
  EXPECT_EQ(wrong.load(), 0) << "seed " << seed;
  for (auto& n : nodes) EXPECT_TRUE(n->ended.load());
  for (Queue* q : qs) engine::give_queue(q);
}

TEST(Queue, RandomPrograms) {
  for (unsigned seed = 0; seed < 60; ++seed)
    random_program(seed, 1 + static_cast<int>(seed % 16), 400, 1 + static_cast<int>(seed % 4));
}

// Two queues that wait for each other in turn (who drains one keeps the other), a third one that waits for points of
// theirs, and threads that wait for points of all. Now and then a host function, or a grid that is spread.
struct Hops {
  struct Step {
    Hops* hops;
    int number;
    bool done = false;  // plain: the waits alone order it
  };
  std::vector<Step> steps;
  int next = 0;  // likewise
  std::atomic<int> wrong{0};
  static void run(Step& step) {
    if (std::exchange(step.hops->next, step.number + 1) != step.number) step.hops->wrong.fetch_add(1);
    step.done = true;
  }
};
void hop_block(MrBlock* block, std::uint64_t, std::uint64_t) {
  Hops::run(**static_cast<Hops::Step* const*>(block->args));
}
void look_block(MrBlock* block, std::uint64_t, std::uint64_t) {
  const auto& step = **static_cast<Hops::Step* const*>(block->args);
  if (!step.done) step.hops->wrong.fetch_add(1);
}

TEST(Queue, ThatWaitForEachOtherInTurn) {
  static const HandKernel hop(hop_block, nullptr, 0), look(look_block, nullptr, 0);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 rng(seed);
    constexpr int count = 600;
    Hops hops;
    for (int i = 0; i < count; ++i) hops.steps.push_back({&hops, i});
    Queue* const pair[2] = {world().queue(), world().queue()};
    Queue& third = *world().queue();
    std::vector<std::uint64_t> points(count);
    std::atomic<int> enqueued{0};
    std::vector<std::thread> waiters;
    for (unsigned t = 0; t < seed % 3; ++t)
      waiters.emplace_back([&, t] {
        std::mt19937 mine(seed * 7 + t);
        for (int i = 0; i < count; i += 1 + static_cast<int>(mine() % 20)) {
          while (enqueued.load(std::memory_order_acquire) <= i) std::this_thread::yield();
          engine::wait(*pair[i & 1], points[static_cast<std::size_t>(i)],
                       mine() % 2 ? engine::WaitMode::automatic : engine::WaitMode::block);
          if (!hops.steps[static_cast<std::size_t>(i)].done) hops.wrong.fetch_add(1);
        }
      });
    for (int i = 0; i < count; ++i) {
      Queue &a = *pair[i & 1], &b = *pair[~i & 1];
      Hops::Step& step = hops.steps[static_cast<std::size_t>(i)];
      std::uint64_t point;
      if (rng() % 64 == 0) {
        point = push_host(a, [](void* d) { Hops::run(*static_cast<Hops::Step*>(d)); }, &step);
      } else {
        point = push_kernel(a, hop.kernel, 1, 1, &step);
        if (rng() % 32 == 0) point = push_kernel(a, look.kernel, 50, 4, &step);
      }
      points[static_cast<std::size_t>(i)] = point;
      push_wait(b, a, point);
      if (rng() % 8 == 0) {
        push_wait(third, a, point);
        push_kernel(third, look.kernel, 1, 1, &step);
      }
      enqueued.store(i + 1, std::memory_order_release);
    }
    for (Queue* q : {pair[0], pair[1], &third}) engine::wait(*q, q->tail());
    for (std::thread& t : waiters) t.join();
    EXPECT_EQ(hops.wrong.load(), 0) << "seed " << seed;
    EXPECT_EQ(hops.next, count);
    for (Queue* q : {pair[0], pair[1], &third}) engine::give_queue(q);
  }
}

TEST(Queue, ManyShortBurstsAreNeverMissed) {
  // Each round ends with everybody possibly asleep: a lost wake-up would hang here.
  Queue& q = *world().queue();
  for (int round = 0; round < 3000; ++round) {
    std::atomic<int> done{0};
    push_host(q, [](void* d) { static_cast<std::atomic<int>*>(d)->store(1); }, &done);
    if (round % 2)
      engine::wait(q, q.tail(), engine::WaitMode::block);
    else
      while (!done.load()) std::this_thread::yield();
    engine::wait(q, q.tail());
  }
  engine::give_queue(&q);
}

TEST(HostFunction, BlockedOneHoldsUpOnlyItsQueue) {
  struct Gate {
    std::mutex m;
    std::condition_variable cv;
    bool open = false;
  } gate;
  std::vector<Queue*> blocked;
  for (int i = 0; i < 8; ++i) {
    blocked.push_back(world().queue());
    push_host(
        *blocked.back(),
        [](void* d) {
          auto& g = *static_cast<Gate*>(d);
          std::unique_lock hold(g.m);
          g.cv.wait(hold, [&] { return g.open; });
        },
        &gate);
  }
  Queue& free = *world().queue();
  std::atomic<int> ran{0};
  push_host(free, [](void* d) { static_cast<std::atomic<int>*>(d)->fetch_add(1); }, &ran);
  push_call(free, [](void** d) { static_cast<std::atomic<int>*>(d[0])->fetch_add(1); }, {&ran});
  engine::wait(free, free.tail());
  EXPECT_EQ(ran.load(), 2);
  for (Queue* q : blocked) EXPECT_TRUE(q->has_work());
  {
    std::scoped_lock hold(gate.m);
    gate.open = true;
  }
  gate.cv.notify_all();
  for (Queue* q : blocked) {
    engine::wait(*q, q->tail());
    engine::give_queue(q);
  }
  engine::give_queue(&free);
}

struct Flag {
  std::atomic<int> value{0};
};
void spin_lane(const void* args) {
  Flag* flag = *static_cast<Flag* const*>(args);
  while (flag->value.load(std::memory_order_acquire) == 0) simt::services()->poll();
}
void set_blocks(MrBlock* block, std::uint64_t, std::uint64_t) {
  static_cast<Flag*>(*static_cast<void* const*>(block->args))->value.store(1, std::memory_order_release);
}
void set_lane(const void* args) { (*static_cast<Flag* const*>(args))->value.store(1, std::memory_order_release); }
const HandKernel& spin_kernel() {
  static const HandKernel k(nullptr, spin_lane, MR_KERNEL_MAY_SPIN);
  return k;
}
const HandKernel& set_kernel() {
  static const HandKernel k(set_blocks, set_lane, 0);
  return k;
}

// A worker that has been called for a host function keeps the queue for what comes next: whatever that is, whoever
// enqueues it, and whether he waits or leaves it lying. Counters are plain: the queue's order is all that guards them.
TEST(HostFunction, WhoeverComesNextIsServedWhileTheWorkerHoldsTheQueue) {
  constexpr int rounds = 4000, threads = 2;
  Queue* const queues[2] = {world().queue(), world().queue()};
  std::uint64_t counts[2] = {0, 0};
  std::atomic<std::uint64_t> pushed[2] = {0, 0};
  std::vector<std::thread> hosts;
  hosts.reserve(threads);
  for (unsigned seed = 0; seed < threads; ++seed)
    hosts.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < rounds; ++i) {
        const unsigned which = random() % 4 == 0 ? 1 - seed : seed, kind = random() % 8;
        Queue& queue = *queues[which];
        std::uint64_t last;
        if (kind < 4) {
          last = push_host(queue, [](void* count) { ++*static_cast<std::uint64_t*>(count); }, &counts[which]);
          pushed[which].fetch_add(1);
        } else if (kind < 7) {
          last = push_call(queue, [](void** d) { ++*static_cast<std::uint64_t*>(d[0]); }, {&counts[which]});
          pushed[which].fetch_add(1);
        } else {
          last = push_wait(queue, *queues[1 - which], queues[1 - which]->completed());
        }
        if (random() % 8 != 0) engine::wait(queue, last);
      }
    });
  for (std::thread& host : hosts) host.join();
  for (unsigned q = 0; q < 2; ++q) {
    engine::wait(*queues[q], queues[q]->tail());
    EXPECT_EQ(counts[q], pushed[q].load());
    engine::give_queue(queues[q]);
  }
}

TEST(Progress, SixtyFourQueuesSpinOnAFlagThatTheLastOneSets) {
  Flag flag;
  std::vector<Queue*> qs;
  for (int i = 0; i < 64; ++i) {
    qs.push_back(world().queue());
    push_kernel(*qs.back(), spin_kernel().kernel, 1, 1, &flag);
  }
  qs.push_back(world().queue());
  push_kernel(*qs.back(), set_kernel().kernel, 1, 1, &flag);
  for (Queue* q : qs) engine::wait(*q, q->tail());
  for (Queue* q : qs) engine::give_queue(q);
}

TEST(Progress, WaitingForUrgentWorkReturnsWhileALessUrgentKernelSpins) {
  Flag held, other;
  Queue& low = *world().queue(engine::priority_levels - 1);
  Queue& high = *world().queue(0);
  push_kernel(low, spin_kernel().kernel, 4, 2, &held);
  push_kernel(high, set_kernel().kernel, 1, 1, &other);
  engine::wait(high, high.tail());
  EXPECT_EQ(other.value.load(), 1);
  EXPECT_TRUE(low.has_work());
  held.value.store(1);
  engine::wait(low, low.tail());
  engine::give_queue(&low);
  engine::give_queue(&high);
}

TEST(Progress, HostFunctionsRunWhileAllWorkersHaveResidents) {
  Flag flag;
  std::vector<Queue*> qs;
  for (int i = 0; i < 8; ++i) {
    qs.push_back(world().queue());
    push_kernel(*qs.back(), spin_kernel().kernel, 1, 1, &flag);
  }
  Queue& host = *world().queue();
  push_host(host, [](void* d) { static_cast<Flag*>(d)->value.store(1); }, &flag);
  for (Queue* q : qs) engine::wait(*q, q->tail());
  engine::wait(host, host.tail());
  for (Queue* q : qs) engine::give_queue(q);
  engine::give_queue(&host);
}

struct Counters {
  std::atomic<std::uint64_t> blocks{0}, sum{0};
};
void count_blocks(MrBlock* block, std::uint64_t first, std::uint64_t count) {
  auto& c = **static_cast<Counters* const*>(block->args);
  for (std::uint64_t i = first; i < first + count; ++i) c.sum.fetch_add(i, std::memory_order_relaxed);
  c.blocks.fetch_add(count, std::memory_order_relaxed);
}
TEST(Grid, EveryBlockRunsOnce) {
  static const HandKernel k(count_blocks, nullptr, 0);
  Queue& q = *world().queue();
  for (std::uint32_t blocks : {1u, 2u, 3u, 64u, 1000u, 100000u, 1000003u}) {
    Counters c;
    push_kernel(q, k.kernel, blocks, 1, &c);
    engine::wait(q, q.tail());
    EXPECT_EQ(c.blocks.load(), blocks);
    EXPECT_EQ(c.sum.load(), std::uint64_t{blocks} * (blocks - 1) / 2);
  }
  engine::give_queue(&q);
}

}  // namespace
