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

}  // namespace

int registers_of(const MrKernel& kernel) noexcept {
  const int threads = kernel.max_threads ? static_cast<int>(kernel.max_threads) : shape::max_threads_per_block;
  const int most = std::min(255, shape::registers_per_multiprocessor / (warps_of(threads) * shape::warp));
  return std::clamp(static_cast<int>(kernel.registers), 16, std::max(most, 16));
}

int blocks_per_multiprocessor(const MrKernel& kernel, int threads, std::size_t dynamic_shared) noexcept {
  const std::size_t used = kernel.static_shared + dynamic_shared;
  if (used > shape::shared_per_block_opt_in) return 0;
  const std::size_t by_shared = shape::shared_per_multiprocessor /
                                round_up(used + shape::shared_reserved_per_block, shared_unit);
  return std::min(blocks_by_threads(kernel, threads), static_cast<int>(by_shared));
}

bool dynamic_shared_for(const MrKernel& kernel, int blocks, int threads, std::size_t* bytes) noexcept {
  if (blocks > blocks_by_threads(kernel, threads)) return false;
  const std::size_t each = shape::shared_per_multiprocessor / static_cast<std::size_t>(blocks) / shared_unit *
                           shared_unit;
  if (each < kernel.static_shared) return false;
  *bytes = std::min(each, shape::shared_per_block_opt_in) - kernel.static_shared;
  return true;
}

std::uint64_t resident_blocks(const MrKernel& kernel, int threads, std::size_t dynamic_shared) noexcept {
  return static_cast<std::uint64_t>(blocks_per_multiprocessor(kernel, threads, dynamic_shared)) *
         static_cast<std::uint64_t>(multiprocessors());
}

}  // namespace mr::model
