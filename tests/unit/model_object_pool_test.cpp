#include <model/object_pool.h>

#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mr::model {
namespace {

struct Thing {
  std::atomic<bool> live{false};
  Thing* next_free = nullptr;
};

// There is one pool of each kind in the process, and it is never destroyed.
ObjectPool<Thing>& pool() {
  static auto* const instance = new ObjectPool<Thing>(600);
  return *instance;
}

std::vector<Thing*> take(std::size_t count) {
  std::vector<Thing*> things;
  for (std::size_t i = 0; i < count; ++i) {
    Thing* thing = pool().take();
    if (!thing) break;
    EXPECT_FALSE(ObjectPool<Thing>::valid(thing));
    thing->live.store(true, std::memory_order_release);
    EXPECT_TRUE(ObjectPool<Thing>::valid(thing));
    things.push_back(thing);
  }
  return things;
}

void release(const std::vector<Thing*>& things) {
  for (Thing* thing : things) {
    thing->live.store(false, std::memory_order_relaxed);
    pool().release(thing);
  }
}

TEST(ObjectPool, ThreadsGiveBackWhatTheyKeptWhenTheyEnd) {
  for (int round = 0; round < 20; ++round)
    std::thread([] {
      const std::vector<Thing*> things = take(550);
      ASSERT_EQ(things.size(), 550u);
      release(things);
      const std::vector<Thing*> again = take(550);
      EXPECT_EQ(std::set<Thing*>(again.begin(), again.end()), std::set<Thing*>(things.begin(), things.end()));
      release(again);
    }).join();
}

TEST(ObjectPool, WhatOneThreadTookAnotherOneMayGiveBack) {
  // In threads of their own: what the main thread keeps, it keeps to the end.
  std::vector<Thing*> things;
  std::thread([&] {
    things = take(600);
    ASSERT_EQ(things.size(), 600u);
    EXPECT_EQ(pool().take(), nullptr);
  }).join();
  std::thread([&] { release(things); }).join();
  std::thread([&] {
    things = take(600);
    EXPECT_EQ(std::set<Thing*>(things.begin(), things.end()).size(), 600u);
    release(things);
  }).join();
}

TEST(ObjectPool, ThreadsTakeAndGiveBackAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 2000; ++i) release(take(static_cast<std::size_t>(i % 7)));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mr::model
