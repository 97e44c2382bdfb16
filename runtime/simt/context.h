// Stack switching: the assembly of context.S, and the same with the sanitizers told.
#pragma once
#include <cstdint>

#include <simt/abi.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MR_SIMT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define MR_SIMT_TSAN 1
#endif
#endif
#if !defined(MR_SIMT_ASAN) && defined(__SANITIZE_ADDRESS__)
#define MR_SIMT_ASAN 1
#endif
#if !defined(MR_SIMT_TSAN) && defined(__SANITIZE_THREAD__)
#define MR_SIMT_TSAN 1
#endif
// Functions that leave one stack and arrive on another: the sanitizers' own entry and exit marks would end up on
// different stacks.
#if defined(MR_SIMT_ASAN) || defined(MR_SIMT_TSAN)
#define MR_SIMT_SWITCHES __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define MR_SIMT_SWITCHES
#endif
#ifdef MR_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef MR_SIMT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

extern "C" {
// See context.S for the four contracts.
std::uint64_t mr_simt_call(std::uint64_t* save, std::uint64_t top, void* function, void* a, std::uint64_t b,
                           std::uint64_t c);
std::uint64_t mr_simt_switch(std::uint64_t* save, std::uint64_t to, std::uint64_t value);
std::uint64_t mr_simt_start(std::uint64_t* save, std::uint64_t top);
[[noreturn]] void mr_simt_jump(std::uint64_t to, std::uint64_t value);
// Not a function: where a suspended context goes on (rsp = the context, rax = the value it is resumed with).
void mr_simt_resume();
// Runs lanes on the stack it was started on, one after the other, until another stack has to go on; never returns.
[[noreturn]] MR_SIMT_SWITCHES void mr_simt_lane_main();
}

namespace mr::simt {

// What a suspended host context is resumed with.
enum Leave : std::uint64_t { leave_idle = 0, leave_abandoned = 1 };

// Not volatile: a function always goes on on the stack it began on.
inline std::uint64_t stack_pointer() noexcept {
  std::uint64_t sp;
  asm("mov %%rsp, %0" : "=r"(sp));
  return sp;
}
// The lane whose stack the caller runs on. Only on a device stack.
inline MrLane* current_lane() noexcept { return mr_lane_of(stack_pointer()); }

// What the sanitizers know of one stack (host or lane). Empty in ordinary builds.
struct SanitizedStack {
#ifdef MR_SIMT_ASAN
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake = nullptr;
#endif
#ifdef MR_SIMT_TSAN
  void* fiber = nullptr;
#endif
};

// Tells the sanitizers that the thread is about to leave `from` for `to`. `forever`: nothing on `from` will run again.
[[gnu::always_inline]] inline void sanitizer_leave([[maybe_unused]] SanitizedStack& from,
                                                   [[maybe_unused]] SanitizedStack& to,
                                                   [[maybe_unused]] bool forever) noexcept {
#ifdef MR_SIMT_ASAN
  __sanitizer_start_switch_fiber(forever ? nullptr : &from.fake, to.bottom, to.size);
  if (forever) from.fake = nullptr;
#endif
#ifdef MR_SIMT_TSAN
  __tsan_switch_to_fiber(to.fiber, 0);
#endif
}
// Tells them that it has arrived on `self`; `previous` learns its extent where it wasn't known (the host's stack).
[[gnu::always_inline]] inline void sanitizer_arrive([[maybe_unused]] SanitizedStack& self,
                                                    [[maybe_unused]] SanitizedStack* previous) noexcept {
#ifdef MR_SIMT_ASAN
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(self.fake, &bottom, &size);
  if (previous) {
    previous->bottom = bottom;
    previous->size = size;
  }
#endif
}

}  // namespace mr::simt
