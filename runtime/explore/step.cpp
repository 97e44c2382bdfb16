#include "step.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "controller.h"
#include "next.h"

namespace mr::explore {
namespace {

constexpr greg_t trap_flag = 0x100;

struct Range {
  std::uintptr_t begin, end;
};
Range ranges[32];  // not the program's own code; constant after prepare_stepping
unsigned range_count = 0;

struct sigaction chained{};  // whoever else wants SIGTRAP

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

bool own_code(std::uintptr_t pc) {
  for (unsigned i = 0; i < range_count; ++i)
    if (pc >= ranges[i].begin && pc < ranges[i].end) return false;
  return true;
}

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
  if (!t || !from_trap_flag(*info, registers)) {
    if (chained.sa_flags & SA_SIGINFO) return chained.sa_sigaction(signal, info, opaque);
    if (chained.sa_handler != SIG_DFL && chained.sa_handler != SIG_IGN) return chained.sa_handler(signal);
    static const auto next = next_function<decltype(&::sigaction)>("sigaction");
    next(SIGTRAP, &chained, nullptr);
    raise(SIGTRAP);
    return;
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

void prepare_stepping() {
  dl_iterate_phdr(look_at, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&action.sa_mask, own);
  static const auto next = next_function<decltype(&::sigaction)>("sigaction");
  next(SIGTRAP, &action, &chained);
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

namespace {
// Around functions that block signals, SIGTRAP among them, for a while: a trap would be the end then. Stepping goes on
// when SIGTRAP gets through again.
class Blocks {
 public:
  Blocks() {
    using namespace mr::explore;
    if (!controller || !thread_self || !(thread_self->stepping || thread_self->suspended)) return;
    t_ = thread_self;
    t_->stepping = false;
    t_->suspended = true;
  }
  ~Blocks() {
    using namespace mr::explore;
    if (!t_ || !can_step()) return;
    t_->suspended = false;
    t_->stepping = true;
    begin_stepping();
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

 private:
  mr::explore::Thread* t_ = nullptr;
};
}  // namespace
#define MR_BLOCKS(result, name, parameters, ...)                                                                       \
  extern "C" [[gnu::visibility("default")]] result name parameters {                                                   \
    static const auto next = mr::explore::next_function<result(*) parameters>(#name);                                  \
    const Blocks blocks;                                                                                               \
    return next(__VA_ARGS__);                                                                                          \
  }
MR_BLOCKS(pid_t, fork, () noexcept, )
MR_BLOCKS(int, system, (const char* command), command)
MR_BLOCKS(FILE*, popen, (const char* command, const char* mode), command, mode)
MR_BLOCKS(int, raise, (int signal) noexcept, signal)
MR_BLOCKS(int, pthread_kill, (pthread_t thread, int signal) noexcept, thread, signal)
MR_BLOCKS(int, posix_spawn,
          (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
          child, path, actions, attributes, arguments, environment)
MR_BLOCKS(int, posix_spawnp,
          (pid_t * child, const char* file, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
          child, file, actions, attributes, arguments, environment)
MR_BLOCKS(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* old) noexcept, how, set, old)
MR_BLOCKS(int, sigprocmask, (int how, const sigset_t* set, sigset_t* old) noexcept, how, set, old)
extern "C" [[gnu::visibility("default")]] void abort() noexcept {
  static const auto next = mr::explore::next_function<void (*)()>("abort");
  const Blocks blocks;
  next();
  __builtin_unreachable();
}

// The runtime's handler for SIGTRAP, and the program's, come behind the explorer's.
extern "C" [[gnu::visibility("default")]] int sigaction(int signal, const struct sigaction* action,
                                                        struct sigaction* old) noexcept {
  using namespace mr::explore;
  static const auto next = next_function<decltype(&::sigaction)>("sigaction");
  if (signal != SIGTRAP || !controller) return next(signal, action, old);
  if (old) *old = chained;
  if (action) chained = *action;
  return 0;
}
