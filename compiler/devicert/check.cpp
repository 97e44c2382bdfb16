// What instrumented device code calls (compiler/passes/check.h). The runtime stores a function in __mr_check_hook when
// it loads the image and a checker is attached; linked only into images that were built with -mrcc-check.
#include <simt/abi.h>

extern "C" {
[[gnu::visibility("default")]] void (*__mr_check_hook)(const MrBlock* block, const void* address, std::uint64_t bytes,
                                                       const void* site) = nullptr;

void __mr_check_access(const void* address, std::uint64_t bytes, const void* site) {
  if (!__mr_check_hook) return;
  std::uint64_t sp;
  __asm__("mov %%rsp, %0" : "=r"(sp));
  __mr_check_hook(mr_lane_of(sp)->block, address, bytes, site);
}
}
