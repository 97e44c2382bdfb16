// What instrumented device code calls (compiler/passes/check.h). The runtime stores a function in __mr_check_hook when
// it loads the image and a checker is attached; linked only into images that were built with -mrcc-check.
#include <simt/abi.h>
#include <simt/check_site.h>

extern "C" {
[[gnu::visibility("default")]] extern const std::uint32_t __mr_check_version;
const std::uint32_t __mr_check_version = mr_check_version;
[[gnu::visibility("default")]] void (*__mr_check_hook)(const MrBlock* block, const void* address, std::uint64_t bytes,
                                                       const void* site, std::uint64_t pitch,
                                                       std::uint64_t rows) = nullptr;

void __mr_check_access(const void* address, std::uint64_t bytes, const void* site) {
  if (!__mr_check_hook) return;
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  const MrLane* const lane = mr_lane_of(sp);
  const MrBlock* const block = lane->block;
  if (static_cast<const MrCheckSite*>(site)->kind == MR_CHECK_READ) {
    const MrCheckFilter* const filter = *mr_check_filter_of(reinterpret_cast<std::uint64_t>(lane));
    if (filter && filter->grid_id == block->grid_id && bytes <= 16 &&
        filter->knows(reinterpret_cast<std::uint64_t>(address), bytes))
      return;
  }
  __mr_check_hook(block, address, bytes, site, 0, 1);
}

// `count` rows of `bytes`, `stride` apart, if an index didn't wrap around on the way: the last access is where it was
// expected. Otherwise that one is all that is known.
void __mr_check_range(const char* address, std::uint64_t bytes, std::int64_t stride, std::uint64_t count,
                      const void* expected, const void* exact, const void* site) {
  if (!__mr_check_hook || !count) return;
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  const MrBlock* block = mr_lane_of(sp)->block;
  if (expected != exact) {
    __mr_check_hook(block, exact, 1, site, 0, 1);
    return;
  }
  if (stride < 0) {
    address += stride * static_cast<std::int64_t>(count - 1);
    stride = -stride;
  }
  const auto step = static_cast<std::uint64_t>(stride);
  if (step <= bytes) {
    __mr_check_hook(block, address, bytes + step * (count - 1), site, 0, 1);
    return;
  }
  __mr_check_hook(block, address, bytes, site, step, count);
}
}
