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

}  // extern "C"

namespace {
struct Gather {
  const MrLane* lane;
  const char* base;
  std::int64_t scale;
  const char* index;
  std::int64_t step;
  std::uint64_t count, bytes;
  const void* site;

  template <class Index> void run() const {
    const MrBlock& block = *lane->block;
    const std::uint64_t number = mr_check_block_number(block);
    MrCheckReads* table = nullptr;
    MrCheckReads::Page* page = nullptr;
    std::uint64_t key = ~std::uint64_t{0};  // the page's
    const char* from = index;
    for (std::uint64_t left = count; left > 0; --left, from += step) {
      const auto at = reinterpret_cast<std::uint64_t>(base + scale * *reinterpret_cast<const Index*>(from));
      if (at >> MrCheckReads::page_bits != key) {
        const MrCheckThread* const here = *mr_check_thread_of(reinterpret_cast<std::uint64_t>(lane));
        table = here && here->runs(block) && bytes == 4 ? here->reads : nullptr;
        page = table ? table->page_of(at) : nullptr;
        key = page ? at >> MrCheckReads::page_bits : ~std::uint64_t{0};
      }
      if (page && (at & 3) == 0)
        table->note(*page, MrCheckReads::word_of(at), number, site);
      else
        tell(lane, reinterpret_cast<const void*>(at), bytes, site);
    }
  }
};
}  // namespace

extern "C" {
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

// `count` reads of `bytes` at base + scale * index, for a row of indices, `step` apart: `form` is an index's size, and
// 16 if it has a sign.
void __mr_check_gather(const char* base, std::int64_t scale, const char* index, std::int64_t step, std::uint64_t count,
                       std::uint64_t form, std::uint64_t bytes, const void* site) {
  if (!__mr_check_hook) return;
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  const MrLane* const lane = mr_lane_of(sp);
  const Gather g{lane, base, scale, index, step, count, bytes, site};
  switch (form) {
  case 4 + 16: return g.run<std::int32_t>();
  case 4: return g.run<std::uint32_t>();
  case 2 + 16: return g.run<std::int16_t>();
  case 2: return g.run<std::uint16_t>();
  case 1 + 16: return g.run<std::int8_t>();
  case 1: return g.run<std::uint8_t>();
  default: return g.run<std::int64_t>();
  }
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
