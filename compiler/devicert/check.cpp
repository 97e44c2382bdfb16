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

// What the thread's own notes don't take, its checker is told: little.
[[gnu::noinline]] static void tell(const MrLane* lane, const void* address, std::uint64_t bytes, const void* opaque) {
  if (!__mr_check_hook) return;
  const MrBlock* const block = lane->block;
  const auto* const site = static_cast<const MrCheckSite*>(opaque);
  const auto at = reinterpret_cast<std::uint64_t>(address);
  MrCheckThread* const here = *mr_check_thread_of(reinterpret_cast<std::uint64_t>(lane));
  if (here && here->runs(*block) && site->kind && (site->kind & ~(MR_CHECK_READ | MR_CHECK_WRITE)) == 0) {
    if (here->goes_on(at, at + bytes, site)) return;
    if (here->reads && bytes <= 16 && site->kind == MR_CHECK_READ &&
        here->reads->read(at, bytes, mr_check_block_number(*block), site))
      return;
  }
  __mr_check_hook(block, address, bytes, site, 0, 1);
}

void __mr_check_access(const void* address, std::uint64_t bytes, const void* site) {
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  const MrLane* const lane = mr_lane_of(sp);
  // Most gathers end here.
  if (bytes == 4 && static_cast<const MrCheckSite*>(site)->kind == MR_CHECK_READ) {
    const MrCheckThread* const here = *mr_check_thread_of(reinterpret_cast<std::uint64_t>(lane));
    if (here && here->reads && here->runs(*lane->block) && here->reads->known(reinterpret_cast<std::uint64_t>(address)))
      return;
  }
  tell(lane, address, bytes, site);
}

// `count` rows of `bytes`, `stride` apart, if an index didn't wrap around on the way: the last access is where it was
// expected. Otherwise that one is all that is known.
void __mr_check_range(const char* address, std::uint64_t bytes, std::int64_t stride, std::uint64_t count,
                      const void* expected, const void* exact, const void* site) {
  if (!__mr_check_hook || !count) return;
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  const MrLane* const lane = mr_lane_of(sp);
  const MrBlock* const block = lane->block;
  if (expected != exact) {
    __mr_check_hook(block, exact, 1, site, 0, 1);
    return;
  }
  if (stride < 0) {
    address += stride * static_cast<std::int64_t>(count - 1);
    stride = -stride;
  }
  const auto step = static_cast<std::uint64_t>(stride);
  if (step <= bytes) return tell(lane, address, bytes + step * (count - 1), site);
  __mr_check_hook(block, address, bytes, site, step, count);
}
}
