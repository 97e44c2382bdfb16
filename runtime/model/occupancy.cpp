#include <model/occupancy.h>

#include <algorithm>

#include <model/device.h>

namespace mr::model {
namespace {

constexpr int register_unit = 256;  // per warp
constexpr std::size_t shared_unit = 128;

std::size_t round_up(std::size_t n, std::size_t unit) noexcept { return (n + unit - 1) / unit * unit; }
int warps_of(int threads) noexcept { return (threads + shape::warp - 1) / shape::warp; }

// By everything but shared memory.
int blocks_by_threads(const MrKernel& kernel, int threads) noexcept {
  if (threads > shape::max_threads_per_block) return 0;  // what launch bounds say doesn't count
  const int warps = warps_of(threads);
  const int by_threads = shape::max_threads_per_multiprocessor / (warps * shape::warp);
  const auto of_warp = static_cast<int>(
      round_up(static_cast<std::size_t>(registers_of(kernel)) * shape::warp, register_unit));
  const int by_registers = shape::registers_per_multiprocessor / of_warp / warps;
  return std::min({shape::max_blocks_per_multiprocessor, by_threads, by_registers});
}

// The shared memory that a multiprocessor is set up with: of the sizes there are, the smallest that the preference asks
// for and a block needs.
std::size_t shared_by_carveout(int carveout, std::size_t block) noexcept {
  if (carveout < 0) return shape::shared_per_multiprocessor;
  const std::size_t wanted = shape::shared_per_multiprocessor * static_cast<std::size_t>(carveout) / 100;
  for (const std::size_t kib : {8, 16, 32, 64, 100, 132, 164, 196})
    if (kib << 10 >= std::max(wanted, block)) return kib << 10;
  return shape::shared_per_multiprocessor;
}

}  // namespace

int registers_of(const MrKernel& kernel) noexcept {
  const int threads = kernel.max_threads ? static_cast<int>(kernel.max_threads) : shape::max_threads_per_block;
  const int most = std::min(255, shape::registers_per_multiprocessor / (warps_of(threads) * shape::warp));
  return std::clamp(static_cast<int>(kernel.registers), 16, std::max(most, 16));
}

int blocks_per_multiprocessor(const MrKernel& kernel, int threads, std::size_t dynamic_shared, int carveout) noexcept {
  const std::size_t used = kernel.static_shared + dynamic_shared;
  if (used > shape::shared_per_block_opt_in) return 0;
  const std::size_t each = round_up(used + shape::shared_reserved_per_block, shared_unit);
  const std::size_t by_shared = shared_by_carveout(carveout, each) / each;
  return std::min(blocks_by_threads(kernel, threads), static_cast<int>(by_shared));
}

bool dynamic_shared_for(const MrKernel& kernel, int blocks, int threads, std::size_t* bytes, int carveout) noexcept {
  if (blocks > blocks_by_threads(kernel, threads)) return false;
  // A single block has it all, whatever is preferred.
  const std::size_t all = shared_by_carveout(blocks == 1 ? -1 : carveout, 0);
  const std::size_t each = all / static_cast<std::size_t>(blocks) / shared_unit * shared_unit;
  if (each < std::max<std::size_t>(kernel.static_shared, shape::shared_reserved_per_block)) return false;
  *bytes = std::min(each, shape::shared_per_block_opt_in) - kernel.static_shared;
  return true;
}

std::uint64_t resident_blocks(const MrKernel& kernel, int threads, std::size_t dynamic_shared, int carveout) noexcept {
  return static_cast<std::uint64_t>(blocks_per_multiprocessor(kernel, threads, dynamic_shared, carveout)) *
         static_cast<std::uint64_t>(multiprocessors());
}

}  // namespace mr::model
