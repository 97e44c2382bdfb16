// Loop mode and fiber mode: each lane of each block runs once, with the right indices, and barriers separate phases.
#include <gtest/gtest.h>

#include "simt_kernels.h"

namespace {
using namespace simt_test;

struct Counts {
  std::vector<int> per_block;
  std::vector<std::uint64_t> order;
};

TEST(SimtBlocks, LoopModeRunsEveryBlockOnceInOrder) {
  static Counts counts;
  counts = {std::vector<int>(1000), {}};
  const MrKernel k = loop_kernel(+[](MrBlock* b, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      ++counts.per_block[i];
      counts.order.push_back(i);
      EXPECT_EQ(b, lane()->block);
      EXPECT_EQ(b->threads, 12u);
      EXPECT_EQ(b->grid_dim[0], 1000u);
      EXPECT_TRUE(on_device_stack());
    }
  });
  DeviceState device;
  Launch launch(k, device, {1000}, {2, 3, 2});
  EXPECT_EQ(launch.run(), Fault::none);
  EXPECT_FALSE(on_device_stack());
  for (int n : counts.per_block) EXPECT_EQ(n, 1);
  for (std::size_t i = 0; i < counts.order.size(); ++i) EXPECT_EQ(counts.order[i], i);
}

TEST(SimtBlocks, FibersGiveEachLaneItsIndices) {
  struct Args {
    int* cells;
  };
  const MrKernel k = fiber_kernel(+[](const void* args) {
    const MrLane& l = *lane();
    const MrBlock& b = *l.block;
    EXPECT_EQ(l.linear, l.tid[0] + b.block_dim[0] * (l.tid[1] + b.block_dim[1] * l.tid[2]));
    EXPECT_LT(l.tid[0], b.block_dim[0]);
    EXPECT_LT(l.tid[1], b.block_dim[1]);
    EXPECT_LT(l.tid[2], b.block_dim[2]);
    ++static_cast<const Args*>(args)->cells[block_linear() * b.threads + l.linear];
  });
  std::vector<int> cells(2 * 3 * 2 * 5 * 7 * 3);
  Args args{cells.data()};
  DeviceState device;
  Launch launch(k, device, {2, 3, 2}, {5, 7, 3}, &args);
  EXPECT_EQ(launch.run(), Fault::none);
  for (int n : cells) EXPECT_EQ(n, 1);
}

TEST(SimtBlocks, BarrierSeparatesPhases) {
  struct Args {
    int* out;
  };
  MrKernel k = fiber_kernel(+[](const void* args) {
    int* shared = reinterpret_cast<int*>(lane()->block->shared);
    const std::uint32_t t = tid(), n = lane()->block->threads;
    int value = static_cast<int>(t);
    for (int round = 0; round < 10; ++round) {
      shared[t] = value;
      device()->barrier();
      value = shared[(t + 1) % n];
      device()->barrier();
    }
    static_cast<const Args*>(args)->out[block_linear() * n + t] = value;
  });
  k.static_shared = 1024 * sizeof(int);
  for (std::uint32_t threads : {1u, 31u, 32u, 33u, 256u, 1024u}) {
    std::vector<int> out(3 * threads, -1);
    Args args{out.data()};
    DeviceState device;
    Launch launch(k, device, {3}, {threads}, &args);
    EXPECT_EQ(launch.run(), Fault::none);
    for (std::uint32_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], static_cast<int>((i % threads + 10) % threads));
  }
}

TEST(SimtBlocks, EndedLanesCountAsArrived) {
  struct Args {
    int* out;
  };
  const MrKernel k = fiber_kernel(+[](const void* args) {
    const std::uint32_t t = tid();
    int* out = static_cast<const Args*>(args)->out;
    if (t % 3 == 0) return;
    const int count = device()->barrier_reduce(MR_BAR_COUNT, t % 2 == 0);
    if (t % 3 == 1) return;
    const int all = device()->barrier_reduce(MR_BAR_AND, t % 3 == 2), any = device()->barrier_reduce(MR_BAR_OR, t == 2);
    out[t] = count * 100 + all * 10 + any;
  });
  std::vector<int> out(96);
  Args args{out.data()};
  DeviceState device;
  Launch launch(k, device, {1}, {96}, &args);
  EXPECT_EQ(launch.run(), Fault::none);
  for (int t = 0; t < 96; ++t) EXPECT_EQ(out[t], t % 3 == 2 ? 3211 : 0) << t;
}

TEST(SimtBlocks, NamedBarriersCountTheirThreads) {
  // Warp 0 produces, warp 1 consumes; the rest of the block takes no part.
  struct Args {
    int* out;
  };
  MrKernel k = fiber_kernel(+[](const void* args) {
    int* shared = reinterpret_cast<int*>(lane()->block->shared);
    const std::uint32_t t = tid(), warp = t / 32;
    for (int round = 0; round < 5; ++round) {
      if (warp == 0) {
        device()->barrier_named(2, 64);  // the cells are free
        shared[t] = round * 100 + static_cast<int>(t);
        device()->barrier_named_arrive(1, 64);
      } else if (warp == 1) {
        device()->barrier_named_arrive(2, 64);
        device()->barrier_named(1, 64);
        static_cast<const Args*>(args)->out[round * 32 + static_cast<int>(t) - 32] = shared[63 - t];
      }
    }
    device()->barrier_named(0, 0);
    device()->barrier_named(3, 96);
  });
  k.static_shared = 32 * sizeof(int);
  int out[5 * 32];
  Args args{out};
  DeviceState device;
  Launch launch(k, device, {1}, {96}, &args);
  EXPECT_EQ(launch.run(), Fault::none) << last_fault(device).message;
  for (int i = 0; i < 5 * 32; ++i) EXPECT_EQ(out[i], i / 32 * 100 + 31 - i % 32);
}

TEST(SimtBlocks, SharedMemoryOfEachSizeIsWritableAndAligned) {
  MrKernel k = fiber_kernel(+[](const void*) {
    const MrBlock& b = *lane()->block;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.shared) % 1024, 0u);
    EXPECT_EQ(b.dynamic_offset % 16, 0u);
    EXPECT_GE(b.dynamic_offset, b.static_shared);
    std::memset(b.shared, 1, b.dynamic_offset + b.dynamic_shared);
  });
  DeviceState device;
  for (std::uint32_t statics : {0u, 1u, 1000u, 48u * 1024})
    for (std::uint32_t dynamic : {0u, 16u, 5000u, 227u * 1024 - 48 * 1024}) {
      k.static_shared = statics;
      Launch launch(k, device, {2}, {1});
      launch.grid.dynamic_shared = dynamic;
      EXPECT_EQ(launch.run(), Fault::none);
    }
}

TEST(SimtBlocks, ResidentLimitFollowsThreadsAndSharedMemory) {
  MrKernel k{};
  EXPECT_EQ(resident_limit(k, 1024, 0), 2u);
  EXPECT_EQ(resident_limit(k, 1000, 0), 2u);
  EXPECT_EQ(resident_limit(k, 256, 0), 8u);
  EXPECT_EQ(resident_limit(k, 32, 0), 32u);
  EXPECT_EQ(resident_limit(k, 32, 100 * 1024), 2u);
  EXPECT_EQ(resident_limit(k, 1, 227 * 1024), 1u);
  k.static_shared = 48 * 1024;
  EXPECT_EQ(resident_limit(k, 256, 0), 4u);
}

}  // namespace
