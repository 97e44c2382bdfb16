// What the simt room's primitives cost: launching blocks, starting lanes, switching between them, barriers, warp
// operations.
#include <benchmark/benchmark.h>

#include <simt/fault.h>
#include <simt/grid.h>

#include <cstring>

namespace {

using namespace mr::simt;

[[gnu::always_inline]] inline MrLane* lane() {
  std::uint64_t sp;
  asm("mov %%rsp, %0" : "=r"(sp));
  return mr_lane_of(sp);
}
const MrServices* device;

struct Args {
  std::uint32_t rounds;
};
std::uint32_t rounds(const void* args) { return static_cast<const Args*>(args)->rounds; }

Grid grid_of(const MrKernel& kernel, std::uint32_t blocks, std::uint32_t threads, DeviceState& state,
             const Args* args) {
  device = services();
  Grid g{};
  g.kernel = &kernel;
  g.args = args;
  g.grid[0] = blocks;
  g.grid[1] = g.grid[2] = 1;
  g.block[0] = threads;
  g.block[1] = g.block[2] = 1;
  g.total_blocks = blocks;
  g.device = &state;
  return g;
}

void empty_thunk(MrBlock*, std::uint64_t, std::uint64_t) {}
void empty_lane(const void*) {}
void barrier_lane(const void* a) {
  for (std::uint32_t i = rounds(a); i; --i) device->barrier();
}
void sync_lane(const void* a) {
  for (std::uint32_t i = rounds(a); i; --i) device->warp_sync(~0u);
}
void shuffle_lane(const void* a) {
  std::uint64_t v = lane()->linear;
  for (std::uint32_t i = rounds(a); i; --i) v += device->shuffle(~0u, MR_SHFL_XOR, v, 1, 32, nullptr);
  benchmark::DoNotOptimize(v);
}
void ballot_lane(const void* a) {
  std::uint32_t v = lane()->linear;
  for (std::uint32_t i = rounds(a); i; --i) v += device->ballot(~0u, static_cast<int>(v & 1));
  benchmark::DoNotOptimize(v);
}
void reduce_lane(const void* a) {
  std::uint32_t v = lane()->linear;
  for (std::uint32_t i = rounds(a); i; --i) v += device->reduce(~0u, MR_RED_ADD, v);
  benchmark::DoNotOptimize(v);
}
void poll_lane(const void* a) {
  for (std::uint32_t i = rounds(a); i; --i) device->poll();
}

void loop_launch(benchmark::State& state) {
  MrKernel k{};
  k.run_blocks = empty_thunk;
  DeviceState d;
  const Grid g = grid_of(k, 1, 32, d, nullptr);
  for (auto _ : state) run_blocks(g, 0, 1);
}
BENCHMARK(loop_launch)->Name("loop: run_blocks of an empty 1x32 kernel");

void fiber_launch(benchmark::State& state) {
  MrKernel k{};
  k.run_lane = empty_lane;
  DeviceState d;
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  const Grid g = grid_of(k, 1, threads, d, nullptr);
  for (auto _ : state) run_blocks(g, 0, 1);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * threads);
}
BENCHMARK(fiber_launch)->Name("fibers: run_blocks of an empty block")->Arg(1)->Arg(32)->Arg(256)->Arg(1024);

// Per lane and operation: start and finish are spread over many rounds.
void per_lane(benchmark::State& state, MrRunLane body) {
  MrKernel k{};
  k.run_lane = body;
  DeviceState d;
  const Args args{100};
  const auto threads = static_cast<std::uint32_t>(state.range(0));
  const Grid g = grid_of(k, 1, threads, d, &args);
  for (auto _ : state) run_blocks(g, 0, 1);
  const auto operations = static_cast<double>(state.iterations()) * threads * args.rounds;
  state.counters["per_lane"] = benchmark::Counter(operations,
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(per_lane, barrier, barrier_lane)->Arg(32)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(per_lane, warp_sync, sync_lane)->Arg(32)->Arg(256);
BENCHMARK_CAPTURE(per_lane, shuffle, shuffle_lane)->Arg(32)->Arg(256);
BENCHMARK_CAPTURE(per_lane, ballot, ballot_lane)->Arg(32);
BENCHMARK_CAPTURE(per_lane, reduce, reduce_lane)->Arg(32);
BENCHMARK_CAPTURE(per_lane, poll, poll_lane)->Arg(2)->Arg(32);

// A whole resident: start, one step to its end.
void resident(benchmark::State& state) {
  MrKernel k{};
  k.run_lane = empty_lane;
  k.flags = MR_KERNEL_MAY_SPIN;
  DeviceState d;
  const Grid g = grid_of(k, 1, static_cast<std::uint32_t>(state.range(0)), d, nullptr);
  for (auto _ : state) step(start(g, 0, 1));
}
BENCHMARK(resident)->Name("resident: start and step to the end")->Arg(1)->Arg(32);

// One step of a resident whose only lane polls.
void spinning_step(benchmark::State& state) {
  MrKernel k{};
  k.run_lane = +[](const void*) {
    while (true) device->poll();
  };
  k.flags = MR_KERNEL_MAY_SPIN;
  DeviceState d;
  const Grid g = grid_of(k, 1, 1, d, nullptr);
  Resident* r = start(g, 0, 1);
  for (auto _ : state) step(r);
  d.dead = true;
  step(r);
}
BENCHMARK(spinning_step)->Name("resident: a step of one polling lane");

}  // namespace

BENCHMARK_MAIN();
