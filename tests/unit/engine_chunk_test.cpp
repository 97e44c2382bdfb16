// Memory of operation records: it is given back to the system when much of it is free.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include <engine/chunk.h>
#include <gtest/gtest.h>

namespace {

using mr::engine::Chunk;

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

std::vector<Chunk*> take(std::size_t count) {
  std::vector<Chunk*> chunks;
  for (std::size_t i = 0; i < count; ++i) {
    chunks.push_back(mr::engine::take_chunk(64));
    std::memset(chunks.back()->begin(), 1, static_cast<std::size_t>(chunks.back()->end() - chunks.back()->begin()));
  }
  return chunks;
}

TEST(Chunks, FreeOnesLoseTheirMemoryAndAreUsedAgain) {
  constexpr std::size_t count = 16384;  // 64 MiB
  const std::vector<Chunk*> first = take(count);
  EXPECT_EQ(std::set<Chunk*>(first.begin(), first.end()).size(), count);
  EXPECT_FALSE(mr::engine::trim_chunks());
  for (Chunk* chunk : first) mr::engine::give_chunk(chunk);
  const std::size_t before = resident_bytes();
  while (mr::engine::trim_chunks()) {}
  EXPECT_LT(resident_bytes() + (50u << 20), before);
  // They come again before new ones are made.
  const std::vector<Chunk*> again = take(count);
  EXPECT_EQ(std::set<Chunk*>(again.begin(), again.end()), std::set<Chunk*>(first.begin(), first.end()));
  for (Chunk* chunk : again) {
    EXPECT_EQ(chunk->bytes, mr::engine::chunk_bytes);
    mr::engine::give_chunk(chunk);
  }
}

TEST(Chunks, AreTakenWhileFreeOnesAreTrimmed) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 20; ++i) {
        for (Chunk* chunk : take(1500)) {
          EXPECT_TRUE(std::all_of(chunk->begin(), chunk->end(), [](std::byte b) { return b == std::byte{1}; }));
          mr::engine::give_chunk(chunk);
        }
        for (int n = 0; n < t * 10; ++n) mr::engine::trim_chunks();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Chunks, ALongRecordHasOneOfItsOwn) {
  Chunk* const chunk = mr::engine::take_chunk(100'000);
  EXPECT_GE(chunk->end() - chunk->begin(), 100'000 + 64);
  std::memset(chunk->begin(), 1, 100'064);
  mr::engine::give_chunk(chunk);
}

}  // namespace
