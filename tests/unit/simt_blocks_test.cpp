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

}  // namespace
