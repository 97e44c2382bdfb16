// Hand-written kernels for tests of the simt room: ordinary functions that stand in for compiled device code.
#pragma once
#include <sys/mman.h>

#include <simt/fault.h>
#include <simt/grid.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace simt_test {

using namespace mr::simt;

// What compiled device code sees.
[[gnu::always_inline]] inline MrLane* lane() {
  std::uint64_t sp;
  asm volatile("mov %%rsp, %0" : "=r"(sp));
  return mr_lane_of(sp);
}
inline const MrServices* device() { return services(); }
inline std::uint32_t tid() { return lane()->linear; }
// An address that nothing may touch.
inline std::uint64_t wild_address() {
  static void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return reinterpret_cast<std::uint64_t>(page);
}
inline std::uint32_t block_linear() {
  const MrBlock& b = *lane()->block;
  return b.block_idx[0] + b.grid_dim[0] * (b.block_idx[1] + b.grid_dim[1] * b.block_idx[2]);
}

inline MrKernel fiber_kernel(MrRunLane body, std::uint32_t flags = MR_KERNEL_BARRIER) {
  MrKernel k{};
  k.name = "_Z6kernelPi";
  k.run_lane = body;
  k.flags = flags;
  return k;
}
inline MrKernel loop_kernel(MrRunBlocks thunk) {
  MrKernel k{};
  k.name = "_Z6kernelPi";
  k.run_blocks = thunk;
  k.run_lane = +[](const void*) {};
  return k;
}

struct Shape {
  std::uint32_t x = 1, y = 1, z = 1;
};

// One launch of a test.
struct Launch {
  Grid grid{};
  Launch(const MrKernel& kernel, DeviceState& device, Shape blocks, Shape threads, const void* args = nullptr,
         std::uint32_t flags = 0) {
    grid.kernel = &kernel;
    grid.args = args;
    const std::uint32_t g[3] = {blocks.x, blocks.y, blocks.z}, b[3] = {threads.x, threads.y, threads.z};
    std::memcpy(grid.grid, g, sizeof g);
    std::memcpy(grid.block, b, sizeof b);
    grid.flags = flags;
    grid.total_blocks = std::uint64_t{blocks.x} * blocks.y * blocks.z;
    grid.grid_id = 1;
    grid.device = &device;
    grid_open(grid);
  }
  ~Launch() { grid_close(grid); }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  Fault run() { return run_blocks(grid, 0, grid.total_blocks); }
  // Steps a resident of blocks [first, first + count) until it ends.
  Fault step_all(std::uint64_t first, std::uint64_t count) {
    Resident* r = start(grid, first, count);
    if (!r) return Fault::stack_error;
    while (true) {
      const StepResult s = step(r);
      if (s.step == Step::finished) return Fault::none;
      if (s.step == Step::faulted) return s.fault;
      if (!s.progress) std::this_thread::yield();  // another thread may have to come forward
    }
  }
};

}  // namespace simt_test
