#include "step.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "controller.h"
#include "next.h"
#include "signals.h"

namespace mr::explore {
namespace {

constexpr greg_t trap_flag = 0x100;

struct Range {
  std::uintptr_t begin, end;
};
Range ranges[32];  // not the program's own code; constant after prepare_stepping
unsigned range_count = 0;

int look_at(dl_phdr_info* info, std::size_t, void*) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const std::string name = slash ? slash + 1 : info->dlpi_name;
  bool foreign = false;
  for (const char* prefix :
       {"libmillrace_", "libcudart.", "libc.so", "libstdc++.", "libm.so", "libgcc_s.", "ld-linux", "linux-vdso",
        "libpthread", "libdl.", "librt.", "libc++", "libunwind.", "libgomp.", "libomp.", "libiomp5.", "libtbb"})
    foreign |= name.starts_with(prefix);
  if (!foreign) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || range_count == std::size(ranges)) continue;
    ranges[range_count++] = {info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  return 0;
}

// ---- threads that come to no point for long ----

// What repeats where a thread goes around in a loop in which nothing changes: its registers, and what its function has
// on the stack. A loop that counts somewhere else is taken for one too; being stopped in it for others is what a
// schedule may do to it.
class Loop {
 public:
  explicit Loop(const greg_t* registers) : wanted_(0) { take(registers); }
  // One instruction further. True when the state has been there.
  bool closes(const greg_t* registers) {
    if (registers[REG_RIP] == state_[REG_RIP] && same(registers)) return true;
    if (++length_ < wanted_) return false;
    take(registers);  // Brent's way to find a cycle: twice as far each time
    return false;
  }
  void begin_again(const greg_t* registers) {
    wanted_ = 0;
    take(registers);
  }

 private:
  static constexpr std::size_t general = REG_RIP + 1, red_zone = 128, frame = 512;
  static const void* frame_of(const greg_t* r) { return reinterpret_cast<const char*>(r[REG_RSP]) - red_zone; }
  bool same(const greg_t* r) const {
    return std::memcmp(state_, r, sizeof state_) == 0 && std::memcmp(frame_, frame_of(r), readable(r)) == 0;
  }
  static std::size_t readable(const greg_t* r) {  // never beyond the page
    const auto at = static_cast<std::size_t>(r[REG_RSP]);
    return red_zone + std::min(frame, 4096 - at % 4096);
  }
  void take(const greg_t* r) {
    std::memcpy(state_, r, sizeof state_);
    std::memcpy(frame_, frame_of(r), readable(r));
    wanted_ = wanted_ ? wanted_ * 2 : 64;
    length_ = 0;
  }
  greg_t state_[general];
  unsigned char frame_[red_zone + frame];
  unsigned length_ = 0, wanted_;
};
thread_local std::optional<Loop> loop __attribute__((tls_model("initial-exec")));

void look_from_handler(Thread& t, const greg_t* registers) {
  const int error = errno;
  controller->poll(t, "a loop that looks at memory", reinterpret_cast<void*>(registers[REG_RIP]));
  errno = error;
}

// True when the signal was the controller's question.
bool answer(Thread& t, const siginfo_t& info, greg_t* registers) {
  if (info.si_code != SI_TKILL || info.si_pid != getpid()) return false;
  const Asked asked = t.asked.exchange(Asked::nothing, std::memory_order_acquire);
  if (asked == Asked::nothing) return false;
  if (t.asked_at != t.points || t.stepping || t.suspended || !under_control()) return true;
  if (asked == Asked::to_look) {
    look_from_handler(t, registers);  // the system call begins again behind it
    return true;
  }
  constexpr unsigned instructions = 20'000;
  t.gives_way = asked == Asked::to_give_way;
  t.examined = t.gives_way ? 1 : instructions;
  loop.emplace(registers);
  registers[REG_EFL] |= trap_flag;
  return true;
}

// Behind an instruction of a thread that is examined.
void examine(Thread& t, greg_t* registers) {
  constexpr unsigned instructions_again = 2'000;
  if (!under_control() || t.stepping) {
    t.examined = 0;
    return;
  }
  if (t.gives_way) {
    // Not in the midst of a library, whose locks others may need.
    if (!own_code(static_cast<std::uintptr_t>(registers[REG_RIP]))) return;
    controller->note_stall(t);
    look_from_handler(t, registers);
    t.examined = 0;
    return;
  }
  if (--t.examined == 0) return;
  if (!loop->closes(registers)) return;
  look_from_handler(t, registers);
  // Others have got on. It may still go around.
  t.examined = instructions_again;
  loop->begin_again(registers);
}

// ---- threads that are stopped in the midst ----

// Whether the trap flag was it. Virtual machines lose the processor's word for that (DR6) once in a great many traps,
// and the kernel takes them for a breakpoint instruction's then.
bool from_trap_flag(const siginfo_t& info, const greg_t* registers) {
  if (info.si_code == TRAP_TRACE) return true;
  constexpr unsigned char int3 = 0xcc;
  return info.si_code == TRAP_BRKPT && (registers[REG_EFL] & trap_flag) &&
         reinterpret_cast<const unsigned char*>(registers[REG_RIP])[-1] != int3;
}

void on_trap(int signal, siginfo_t* info, void* opaque) {
  auto& registers = static_cast<ucontext_t*>(opaque)->uc_mcontext.gregs;
  Thread* const t = thread_self;
  if (t && answer(*t, *info, registers)) return;
  if (!t || !from_trap_flag(*info, registers)) {
    pass_on(signal, info, opaque);
    return;
  }
  if (t->examined) {
    examine(*t, registers);
    if (t->examined) return;
  }
  if (!t->stepping || t->foreign_left == 0) {
    registers[REG_EFL] &= ~trap_flag;
    return;
  }
  if (!own_code(static_cast<std::uintptr_t>(registers[REG_RIP]))) {
    --t->foreign_left;
    return;
  }
  if (++t->steps < t->stop_at) return;
  registers[REG_EFL] &= ~trap_flag;
  if (controller->measure) return;
  t->stepping = false;
  const int error = errno;
  controller->torn(*t);
  errno = error;
}

}  // namespace

bool own_code(std::uintptr_t pc) {
  for (unsigned i = 0; i < range_count; ++i)
    if (pc >= ranges[i].begin && pc < ranges[i].end) return false;
  return true;
}

void prepare_stepping() {
  dl_iterate_phdr(look_at, nullptr);
  chain(SIGTRAP, on_trap);
}

bool can_step() {
  static const auto mask = next_function<decltype(&::pthread_sigmask)>("pthread_sigmask");
  sigset_t blocked;
  return mask(SIG_BLOCK, nullptr, &blocked) == 0 && !sigismember(&blocked, SIGTRAP);
}

void begin_stepping() {
  // Below the red zone.
  asm volatile("lea -128(%%rsp), %%rsp\n"
               "pushfq\n"
               "orq $0x100, (%%rsp)\n"
               "popfq\n"
               "lea 128(%%rsp), %%rsp\n" ::
                   : "memory", "cc");
}

}  // namespace mr::explore
