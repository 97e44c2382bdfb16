// The barrier of a whole grid, shared by all threads that run blocks of it.
#pragma once
#include <atomic>
#include <cstdint>

#include <simt/grid.h>

namespace mr::simt {

struct GridShared {
  // {generation: 16, expected: 24, arrived: 24}, from the top. A block arrives when all its lanes wait; the arrival
  // that makes arrived == expected starts the next generation with arrived = 0. A block that ends without waiting
  // lowers `expected`. Every change is an acq_rel read-modify-write, so that the last arrival sees what all blocks did
  // before theirs; pollers load the word with acquire and thereby see it too.
  std::atomic<std::uint64_t> state{0};

  static constexpr std::uint64_t one_expected = std::uint64_t{1} << 24, count_mask = one_expected - 1;
  static std::uint32_t generation(std::uint64_t s) noexcept { return static_cast<std::uint32_t>(s >> 48); }
  static std::uint64_t expected(std::uint64_t s) noexcept { return s >> 24 & count_mask; }
  static std::uint64_t arrived(std::uint64_t s) noexcept { return s & count_mask; }

  // One block arrives; returns the generation it waits in: released once now() differs.
  std::uint32_t arrive() noexcept { return change(1, 0); }
  // One block has ended without arriving.
  void drop() noexcept { change(0, 1); }
  std::uint32_t now() const noexcept { return generation(state.load(std::memory_order_acquire)); }

 private:
  std::uint32_t change(std::uint64_t arrivals, std::uint64_t drops) noexcept {
    std::uint64_t old = state.load(std::memory_order_relaxed), next;
    do {
      next = old + arrivals - drops * one_expected;
      if (arrived(next) == expected(next))
        next = (std::uint64_t{(generation(old) + 1) & 0xffffu} << 48) | expected(next) << 24;
    } while (!state.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed));
    return generation(old);
  }
};

struct Self;
// The calling lane waits for all lanes of the grid. Fiber mode, cooperative launch.
void grid_barrier(Self s) noexcept;

}  // namespace mr::simt
