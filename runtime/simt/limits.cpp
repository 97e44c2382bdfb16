// resident_limit: how many blocks one virtual multiprocessor holds.
#include <algorithm>

#include <simt/grid.h>
#include <simt/stacks.h>
#include <simt/windows.h>

namespace mr::simt {
namespace {

// Of one multiprocessor (compute capability 9.0).
constexpr std::uint32_t most_blocks = 32, most_threads = 2048;
constexpr std::uint64_t shared_bytes = 228 * 1024, reserved_per_block = 1024, shared_granularity = 128;

}  // namespace

std::uint32_t resident_limit(const MrKernel& kernel, std::uint32_t threads_per_block,
                             std::uint64_t dynamic_shared) noexcept {
  const std::uint32_t threads = std::max((threads_per_block + MR_WARP - 1) / MR_WARP * MR_WARP, MR_WARP);
  const std::uint64_t used = ((kernel.static_shared + std::uint64_t{15}) & ~std::uint64_t{15}) + dynamic_shared +
                             reserved_per_block;
  const std::uint64_t shared = (used + shared_granularity - 1) / shared_granularity * shared_granularity;
  std::uint64_t limit = std::min<std::uint64_t>(most_blocks, most_threads / threads);
  limit = std::min(limit, shared_bytes / shared);
  limit = std::min<std::uint64_t>(limit, StackPool::instance().capacity() / threads);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(limit, 1));
}

}  // namespace mr::simt
