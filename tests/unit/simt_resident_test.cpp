// Residents: lanes, blocks and grids that wait for each other, on one thread and on two.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "simt_kernels.h"

namespace {
using namespace simt_test;

constexpr std::uint32_t spin = MR_KERNEL_MAY_SPIN;

template <class Until> void spin_until(Until until) {
  while (!until()) device()->poll();
}

struct FlagArgs {
  std::atomic<int>* flag;
  int* out;
};

TEST(SimtResident, LanesOfOneWarpWaitForEachOther) {
  // Lane n waits for lane n+1, so that the first ones to run are the last ones to go on.
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        const FlagArgs& a = *static_cast<const FlagArgs*>(args);
        const int t = static_cast<int>(tid());
        spin_until([&] { return a.flag->load() == 31 - t; });
        a.out[t] = a.flag->fetch_add(1);
      },
      spin);
  std::atomic<int> flag{0};
  int out[32];
  FlagArgs args{&flag, out};
  DeviceState device;
  Launch launch(k, device, {1}, {32}, &args);
  EXPECT_TRUE(needs_residency(launch.grid));
  EXPECT_EQ(launch.step_all(0, 1), Fault::none);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], 31 - t);
}

TEST(SimtResident, BlocksOfOneResidentWaitForEachOther) {
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        const FlagArgs& a = *static_cast<const FlagArgs*>(args);
        const int b = static_cast<int>(block_linear());
        if (tid() == 0) {
          spin_until([&] { return a.flag->load() == 99 - b; });
          a.flag->fetch_add(1);
        }
        device()->barrier();
        if (tid() == 39) a.out[b] = 1;
      },
      spin);
  std::atomic<int> flag{0};
  int out[100] = {};
  FlagArgs args{&flag, out};
  DeviceState device;
  Launch launch(k, device, {100}, {40}, &args);
  EXPECT_EQ(launch.step_all(0, 100), Fault::none);
  for (int n : out) EXPECT_EQ(n, 1);
}

TEST(SimtResident, YieldsWhileItSpinsOnTheHost) {
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        const FlagArgs& a = *static_cast<const FlagArgs*>(args);
        spin_until([&] { return a.flag->load() != 0; });
        a.out[tid()] = 1;
      },
      spin);
  std::atomic<int> flag{0};
  int out[33] = {};
  FlagArgs args{&flag, out};
  DeviceState device;
  Launch launch(k, device, {1}, {33}, &args);
  Resident* r = start(launch.grid, 0, 1);
  ASSERT_NE(r, nullptr);
  for (int i = 0; i < 5; ++i) {
    const StepResult s = step(r);
    EXPECT_EQ(s.step, Step::yielded);
    EXPECT_FALSE(s.progress);
    EXPECT_EQ(s.not_before_ns, 0u);
  }
  flag = 1;
  EXPECT_EQ(step(r).step, Step::finished);
  for (int n : out) EXPECT_EQ(n, 1);
}

TEST(SimtResident, SleepersSayWhenTheyWake) {
  const MrKernel k = fiber_kernel(+[](const void*) { device()->nanosleep(tid() == 0 ? 900'000 : 1'000'000); }, spin);
  DeviceState device;
  Launch launch(k, device, {1}, {2});
  Resident* r = start(launch.grid, 0, 1);
  ASSERT_NE(r, nullptr);
  StepResult s = step(r);
  // Both sleep unless the test itself was held up for that long.
  if (s.step == Step::yielded && s.not_before_ns) {
    while (static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) < s.not_before_ns) {}
    s = step(r);
    EXPECT_TRUE(s.progress);
  }
  while (s.step == Step::yielded) s = step(r);
  EXPECT_EQ(s.step, Step::finished);
}

TEST(SimtResident, TwoResidentsOfOneThreadPlayPingPong) {
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        const FlagArgs& a = *static_cast<const FlagArgs*>(args);
        const int me = static_cast<int>(block_linear());
        for (int i = 0; i < 100; ++i) {
          spin_until([&] { return a.flag->load() % 2 == me; });
          a.flag->fetch_add(1);
        }
      },
      spin);
  std::atomic<int> flag{0};
  FlagArgs args{&flag, nullptr};
  DeviceState device;
  Launch launch(k, device, {2}, {1}, &args);
  Resident* r[2] = {start(launch.grid, 1, 1), start(launch.grid, 0, 1)};
  bool live[2] = {true, true};
  while (live[0] || live[1])
    for (int i = 0; i < 2; ++i)
      if (live[i]) live[i] = step(r[i]).step == Step::yielded;
  EXPECT_EQ(flag, 200);
}

TEST(SimtResident, TwoThreadsPlayPingPong) {
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        const FlagArgs& a = *static_cast<const FlagArgs*>(args);
        const int me = static_cast<int>(block_linear());
        for (int i = 0; i < 30; ++i) {
          spin_until([&] { return a.flag->load() % 2 == me; });
          a.flag->fetch_add(1);
        }
      },
      spin);
  std::atomic<int> flag{0};
  FlagArgs args{&flag, nullptr};
  DeviceState device;
  Launch launch(k, device, {2}, {1}, &args);
  std::thread other([&] { EXPECT_EQ(launch.step_all(1, 1), Fault::none); });
  EXPECT_EQ(launch.step_all(0, 1), Fault::none);
  other.join();
  EXPECT_EQ(flag, 60);
}

// ---- Grid barrier ---------------------------------------------------------------------------------------------------

struct GridArgs {
  int* cells;  // plain memory: the barrier alone orders the accesses
  int rounds;
  std::uint32_t seed;
  int* wrong;
};

// Each block writes its cell, then reads all others' after the barrier.
void grid_phases(const void* args) {
  const GridArgs& a = *static_cast<const GridArgs*>(args);
  const std::uint32_t b = block_linear(), blocks = lane()->block->grid_dim[0];
  std::uint32_t noise = a.seed + b * 7919 + tid();
  for (int round = 1; round <= a.rounds; ++round) {
    for (noise = noise * 1664525 + 1013904223; noise >> 30; noise = noise * 1664525 + 1013904223) device()->poll();
    if (tid() == 1) a.cells[b] = round;
    device()->grid_sync();
    for (std::uint32_t i = tid(); i < blocks; i += lane()->block->threads)
      if (a.cells[i] != round) ++*a.wrong;
    device()->grid_sync();
  }
}
const MrKernel grid_kernel = fiber_kernel(grid_phases, spin | MR_KERNEL_BARRIER | MR_KERNEL_GRID_SYNC);

TEST(SimtResident, GridBarrierOnOneThread) {
  int cells[12] = {}, wrong = 0;
  GridArgs args{cells, 20, 1, &wrong};
  DeviceState device;
  {
    Launch launch(grid_kernel, device, {12}, {50}, &args, grid_cooperative);
    EXPECT_EQ(launch.step_all(0, 12), Fault::none);
  }
  Launch launch(grid_kernel, device, {12}, {50}, &args, grid_cooperative);
  Resident* r[3] = {start(launch.grid, 0, 5), start(launch.grid, 5, 1), start(launch.grid, 6, 6)};
  bool live[3] = {true, true, true};
  while (live[0] || live[1] || live[2])
    for (int i = 0; i < 3; ++i)
      if (live[i]) live[i] = step(r[i]).step == Step::yielded;
  EXPECT_EQ(wrong, 0);
  for (int c : cells) EXPECT_EQ(c, 20);
}

TEST(SimtResident, GridBarrierOnTwoThreads) {
  DeviceState device;
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    int cells[6] = {}, wrong = 0;
    GridArgs args{cells, 5, seed, &wrong};
    Launch launch(grid_kernel, device, {6}, {2}, &args, grid_cooperative);
    std::thread other([&] { EXPECT_EQ(launch.step_all(2, 4), Fault::none); });
    EXPECT_EQ(launch.step_all(0, 2), Fault::none);
    other.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(SimtResident, EndedBlocksDontHoldUpTheGridBarrier) {
  const MrKernel k = fiber_kernel(
      +[](const void* args) {
        if (block_linear() % 2 == 1) return;
        if (tid() % 3 == 1) return;
        device()->grid_sync();
        if (tid() == 0) ++static_cast<const FlagArgs*>(args)->out[block_linear()];
        device()->grid_sync();
      },
      MR_KERNEL_GRID_SYNC);
  int out[9] = {};
  FlagArgs args{nullptr, out};
  DeviceState device;
  Launch launch(k, device, {9}, {5}, &args, grid_cooperative);
  EXPECT_EQ(launch.step_all(0, 9), Fault::none);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(out[i], i % 2 == 0);
}

TEST(SimtResident, GridBarrierWithoutCooperativeLaunchTraps) {
  const MrKernel k = fiber_kernel(+[](const void*) { device()->grid_sync(); }, MR_KERNEL_GRID_SYNC);
  DeviceState device;
  Launch launch(k, device, {2}, {4});
  EXPECT_EQ(launch.step_all(0, 2), Fault::trap);
  EXPECT_NE(std::strstr(last_fault(device).message, "cudaLaunchCooperativeKernel"), nullptr)
      << last_fault(device).message;
  clear_fault(device);
}

// ---- Clusters
// ---------------------------------------------------------------------------------------------------------

TEST(SimtResident, ClustersShareTheirMemory) {
  struct Args {
    int* out;
  };
  MrKernel k = fiber_kernel(
      +[](const void* args) {
        MrLane* l = lane();
        MrBlock& b = *l->block;
        const std::uint32_t rank = b.block_idx[0] % 2 + 2 * (b.block_idx[1] % 2);
        int* mine = reinterpret_cast<int*>(b.shared);
        mine[l->linear] = static_cast<int>(block_linear() * 100 + l->linear);
        device()->cluster_arrive();
        if (rank == 3 && l->linear >= 4) return;  // ended lanes count as arrived
        device()->cluster_wait();
        const std::uint32_t other = (rank + 1) % 4;
        int* theirs = static_cast<int*>(device()->cluster_map_shared(mine, other));
        EXPECT_EQ(device()->cluster_rank_of_shared(theirs + 3), other);
        EXPECT_EQ(device()->cluster_rank_of_shared(mine), rank);
        EXPECT_EQ(device()->cluster_map_shared(theirs + 2, rank), mine + 2);
        static_cast<const Args*>(args)->out[block_linear() * 8 + l->linear] = theirs[7 - l->linear];
        device()->cluster_arrive();
        device()->cluster_wait();
      },
      MR_KERNEL_CLUSTER_SYNC);
  k.static_shared = 8 * sizeof(int);
  std::vector<int> out(8 * 8, -1);
  Args args{out.data()};
  DeviceState device;
  Launch launch(k, device, {4, 2}, {8}, &args);
  const std::uint32_t extents[3] = {2, 2, 1};
  launch.grid.cluster = extents;
  EXPECT_EQ(launch.step_all(4, 4), Fault::none);
  EXPECT_EQ(launch.step_all(0, 4), Fault::none);
  for (int b = 0; b < 8; ++b) {
    const int x = b % 4, y = b / 4, rank = x % 2 + 2 * (y % 2), other = (rank + 1) % 4;
    const int neighbour = x / 2 * 2 + other % 2 + 4 * (y / 2 * 2 + other / 2);
    for (int t = 0; t < 8; ++t)
      EXPECT_EQ(out[static_cast<std::size_t>(b * 8 + t)], rank == 3 && t >= 4 ? -1 : neighbour * 100 + 7 - t)
          << b << ' ' << t;
  }
}

// ---- Giving up
// --------------------------------------------------------------------------------------------------------

TEST(SimtResident, DeadContextInterrupts) {
  const MrKernel spinner = fiber_kernel(+[](const void*) { spin_until([] { return false; }); }, spin);
  const MrKernel waiter = fiber_kernel(+[](const void*) { device()->grid_sync(); }, MR_KERNEL_GRID_SYNC);
  DeviceState device;
  Launch one(spinner, device, {3}, {40}), two(waiter, device, {2}, {4}, nullptr, grid_cooperative);
  Resident *r = start(one.grid, 0, 3), *q = start(two.grid, 0, 1);
  EXPECT_EQ(step(r).step, Step::yielded);
  EXPECT_EQ(step(q).step, Step::yielded);
  device.dead = true;
  for (Resident* x : {r, q}) {
    const StepResult s = step(x);
    EXPECT_EQ(s.step, Step::faulted);
    EXPECT_EQ(s.fault, Fault::interrupted);
  }
  EXPECT_EQ(last_fault(device).fault, Fault::none);
}

TEST(SimtResident, DeadContextStopsBlockLoops) {
  static DeviceState device;
  static std::uint64_t blocks_run;
  blocks_run = 0;
  device.dead = false;
  const MrKernel k = loop_kernel(+[](MrBlock*, std::uint64_t, std::uint64_t count) {
    blocks_run += count;
    device.dead = true;
  });
  Launch launch(k, device, {100000}, {1});
  EXPECT_EQ(launch.run(), Fault::interrupted);
  EXPECT_LT(blocks_run, 100000u);
}

TEST(SimtResident, DeadlockIsReported) {
  const MrKernel k = fiber_kernel(+[](const void*) {
    if (tid() == 0)
      device()->warp_sync(3);
    else
      device()->barrier();
  });
  DeviceState device;
  Launch launch(k, device, {1}, {64});
  EXPECT_EQ(launch.run(), Fault::bad_synchronization);
  EXPECT_NE(std::strstr(last_fault(device).message, "warp operation"), nullptr) << last_fault(device).message;
  clear_fault(device);
  EXPECT_EQ(launch.step_all(0, 1), Fault::bad_synchronization);
  clear_fault(device);
}

TEST(SimtResident, MoreLanesThanStacksAreRefused) {
  const MrKernel k = fiber_kernel(+[](const void*) {}, spin);
  DeviceState device;
  Launch launch(k, device, {1u << 20}, {1024});
  EXPECT_EQ(start(launch.grid, 0, 1u << 20), nullptr);
  EXPECT_EQ(launch.step_all(0, 4), Fault::none);
}

// ---- Programmatic launch
// ----------------------------------------------------------------------------------------------

TEST(SimtResident, ProgrammaticWaitYieldsUntilTheModelIsReady) {
  static int triggers, ready_after;
  triggers = 0;
  ready_after = 3;
  Hooks hooks{};
  hooks.pdl_trigger = [](void* launch, std::uint64_t block) {
    EXPECT_EQ(launch, &triggers);
    EXPECT_LT(block, 2u);
    ++triggers;
  };
  hooks.pdl_ready = [](void*) { return ready_after-- <= 0; };
  set_hooks(hooks);
  const MrKernel k = fiber_kernel(
      +[](const void*) {
        device()->pdl_wait();
        device()->pdl_trigger();
      },
      MR_KERNEL_PDL);
  DeviceState device;
  Launch launch(k, device, {2}, {3});
  launch.grid.launch = &triggers;
  EXPECT_TRUE(needs_residency(launch.grid));
  EXPECT_EQ(launch.step_all(0, 2), Fault::none);
  EXPECT_EQ(triggers, 2);
  set_hooks({});
}

}  // namespace
