#include "clocks.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <x86intrin.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "controller.h"
#include "next.h"
#include "signals.h"
#include "step.h"

namespace mr::explore {
namespace {

bool counter_traps = false;  // constant once there are threads

// ---- the time stamp counter ----

std::uint64_t real_counter(unsigned& processor) {
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
  const std::uint64_t value = __rdtscp(&processor);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  return value;
}

// The kernel's functions that programs read clocks with; they need the real one.
bool in_vdso(std::uintptr_t pc) {
  static const std::uintptr_t begin = getauxval(AT_SYSINFO_EHDR);
  constexpr std::uintptr_t most = 16384;
  return pc - begin < most;
}

// What SIGSEGV means otherwise is the runtime's or the program's business.
void on_fault(int signal, siginfo_t* info, void* opaque) {
  auto& registers = static_cast<ucontext_t*>(opaque)->uc_mcontext.gregs;
  if (info->si_code == SI_KERNEL && counter_traps) {
    const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
    const bool rdtsc = code[0] == 0x0f && code[1] == 0x31;
    const bool rdtscp = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
    if (rdtsc || rdtscp) {
      const int error = errno;
      Thread* const t = thread_self;
      unsigned processor = 0;
      std::uint64_t value;
      if (!t || !controller || in_vdso(reinterpret_cast<std::uintptr_t>(code))) {
        value = real_counter(processor);
      } else {
        value = static_cast<std::uint64_t>(controller->time.read() * VirtualTime::tsc_per_ns);
        if (under_control() && own_code(reinterpret_cast<std::uintptr_t>(code)))
          controller->look_at_clock(*t, const_cast<unsigned char*>(code));
      }
      errno = error;
      registers[REG_RAX] = static_cast<std::uint32_t>(value);
      registers[REG_RDX] = static_cast<greg_t>(value >> 32);
      if (rdtscp) registers[REG_RCX] = processor;
      registers[REG_RIP] += rdtscp ? 3 : 2;
      return;
    }
  }
  pass_on(signal, info, opaque);
}

}  // namespace

void prepare_clocks() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);  // the beginnings, while the kernel's functions are as usual
  // Where keys protect memory, a handler can't read the instruction.
  const char* keys = std::getenv("MILLRACE_PROTECT");
  if (!keys || std::strcmp(keys, "0") != 0) return;
  chain(SIGSEGV, on_fault);
  counter_traps = prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
}

void leave_clocks() {
  if (counter_traps) prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

bool counter_is_ours() { return counter_traps; }

RealClocks::RealClocks() {
  int now = 0;
  traps_ = counter_traps && prctl(PR_GET_TSC, &now) == 0 && now == PR_TSC_SIGSEGV;
  if (traps_) prctl(PR_SET_TSC, PR_TSC_ENABLE);
}
RealClocks::~RealClocks() {
  if (traps_) prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}

}  // namespace mr::explore

using namespace mr::explore;

#define MR_FRONT extern "C" [[gnu::visibility("default")]]

namespace {
// Nanoseconds that the clock shows; -1 where it is none of the program's, or one that isn't stood in front of.
std::int64_t shown(clockid_t clock) {
  static const auto next = next_function<decltype(&::clock_gettime)>("clock_gettime");
  if (!controller || !thread_self || clock < 0 || clock > CLOCK_BOOTTIME) return -1;
  static std::int64_t beginnings[CLOCK_BOOTTIME + 1] = {};
  static std::once_flag once;
  std::call_once(once, [] {
    for (const clockid_t c : {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME}) {
      timespec now{};
      next(c, &now);
      beginnings[c] = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }
    beginnings[CLOCK_REALTIME_COARSE] = beginnings[CLOCK_REALTIME];
    beginnings[CLOCK_MONOTONIC_COARSE] = beginnings[CLOCK_MONOTONIC_RAW] = beginnings[CLOCK_MONOTONIC];
    // What was computed is no more than what has passed: those of processor time begin with 0.
  });
  return beginnings[clock] + controller->time.read();
}
void look_at_clock(void* caller) {
  if (Thread* const t = under_control()) controller->look_at_clock(*t, caller);
}
}  // namespace

MR_FRONT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto next = next_function<decltype(&::clock_gettime)>("clock_gettime");
  const std::int64_t now = shown(clock);
  if (now < 0) return next(clock, time);
  look_at_clock(__builtin_return_address(0));
  *time = {now / 1'000'000'000, now % 1'000'000'000};
  return 0;
}
MR_FRONT int gettimeofday(timeval* time, void* zone) noexcept {
  static const auto next = next_function<int (*)(timeval*, void*)>("gettimeofday");
  const std::int64_t now = shown(CLOCK_REALTIME);
  if (now < 0) return next(time, zone);
  look_at_clock(__builtin_return_address(0));
  *time = {now / 1'000'000'000, now % 1'000'000'000 / 1000};
  return 0;
}
MR_FRONT int timespec_get(timespec* time, int base) noexcept {
  static const auto next = next_function<decltype(&::timespec_get)>("timespec_get");
  const std::int64_t now = base == TIME_UTC ? shown(CLOCK_REALTIME) : -1;
  if (now < 0) return next(time, base);
  look_at_clock(__builtin_return_address(0));
  *time = {now / 1'000'000'000, now % 1'000'000'000};
  return base;
}
MR_FRONT time_t time(time_t* seconds) noexcept {
  static const auto next = next_function<time_t (*)(time_t*)>("time");
  const std::int64_t now = shown(CLOCK_REALTIME);
  if (now < 0) return next(seconds);
  look_at_clock(__builtin_return_address(0));
  const auto whole = static_cast<time_t>(now / 1'000'000'000);
  if (seconds) *seconds = whole;
  return whole;
}
MR_FRONT clock_t clock() noexcept {
  static const auto next = next_function<clock_t (*)()>("clock");
  const std::int64_t now = shown(CLOCK_PROCESS_CPUTIME_ID);
  if (now < 0) return next();
  look_at_clock(__builtin_return_address(0));
  return static_cast<clock_t>(now / 1000);
}
