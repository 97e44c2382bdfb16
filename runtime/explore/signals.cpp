#include "signals.h"

#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "clocks.h"
#include "controller.h"
#include "next.h"
#include "step.h"

extern char** environ;

namespace mr::explore {
namespace {

// Whoever else wants it.
struct Chained {
  bool ours = false;
  struct sigaction action{};
};
Chained trap, fault;

Chained* chained(int signal) { return signal == SIGTRAP ? &trap : signal == SIGSEGV ? &fault : nullptr; }

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static const auto next = next_function<decltype(&::sigaction)>("sigaction");
  return next(signal, action, old);
}

int set_action(int signal, const struct sigaction* action, struct sigaction* old) {
  Chained* const c = chained(signal);
  if (c && c->ours && controller) {
    const struct sigaction wanted = action ? *action : (struct sigaction){};  // may be the same object as `old`
    if (old) *old = c->action;
    if (action) c->action = wanted;
    return 0;
  }
  if (!action || !fault.ours) return real_sigaction(signal, action, old);
  struct sigaction mine = *action;
  sigdelset(&mine.sa_mask, SIGSEGV);  // the handler may look at the time stamp counter
  return real_sigaction(signal, &mine, old);
}

}  // namespace

void chain(int signal, Handler handler) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&action.sa_mask, own);
  if (signal == SIGSEGV) sigemptyset(&action.sa_mask);  // the runtime's handler expects that
  Chained& c = *chained(signal);
  real_sigaction(signal, &action, &c.action);
  c.ours = true;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = chained(signal)->action;
  if (action.sa_flags & SA_SIGINFO) return action.sa_sigaction(signal, info, context);
  if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) return action.sa_handler(signal);
  if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  real_sigaction(signal, &standard, nullptr);
  if (signal == SIGTRAP || info->si_code <= 0) raise(signal);  // else the instruction faults again
}

}  // namespace mr::explore

namespace {
// Around functions that block signals, SIGTRAP among them, for a while: a trap would be the end then. Stepping goes on
// when SIGTRAP gets through again.
class Blocks {
 public:
  Blocks() {
    using namespace mr::explore;
    if (!controller || !thread_self) return;
    thread_self->examined = 0;
    if (!thread_self->stepping && !thread_self->suspended) return;
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

// Reading the time stamp counter raises it.
int keep_faults(int result) {
  if (!mr::explore::counter_is_ours()) return result;
  static const auto next = mr::explore::next_function<decltype(&::pthread_sigmask)>("pthread_sigmask");
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  next(SIG_UNBLOCK, &faults, nullptr);
  return result;
}
}  // namespace

#define MR_FRONT extern "C" [[gnu::visibility("default")]]
#define MR_BLOCKS(result, name, parameters, ...)                                                                       \
  MR_FRONT result name parameters {                                                                                    \
    static const auto next = mr::explore::next_function<result(*) parameters>(#name);                                  \
    const Blocks blocks;                                                                                               \
    return next(__VA_ARGS__);                                                                                          \
  }
// Of which another program may come.
#define MR_STARTS(result, name, parameters, ...)                                                                       \
  MR_FRONT result name parameters {                                                                                    \
    static const auto next = mr::explore::next_function<result(*) parameters>(#name);                                  \
    const Blocks blocks;                                                                                               \
    const mr::explore::RealClocks clocks;                                                                              \
    return next(__VA_ARGS__);                                                                                          \
  }
MR_BLOCKS(pid_t, fork, () noexcept, )
MR_BLOCKS(int, raise, (int signal) noexcept, signal)
MR_BLOCKS(int, pthread_kill, (pthread_t thread, int signal) noexcept, thread, signal)
MR_STARTS(int, system, (const char* command), command)
MR_STARTS(FILE*, popen, (const char* command, const char* mode), command, mode)
MR_STARTS(int, posix_spawn,
          (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
          child, path, actions, attributes, arguments, environment)
MR_STARTS(int, posix_spawnp,
          (pid_t * child, const char* file, const posix_spawn_file_actions_t* actions,
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
          child, file, actions, attributes, arguments, environment)
MR_STARTS(int, execve, (const char* path, char* const* arguments, char* const* environment) noexcept, path, arguments,
          environment)
MR_STARTS(int, execv, (const char* path, char* const* arguments) noexcept, path, arguments)
MR_STARTS(int, execvp, (const char* file, char* const* arguments) noexcept, file, arguments)
MR_STARTS(int, execvpe, (const char* file, char* const* arguments, char* const* environment) noexcept, file, arguments,
          environment)
MR_STARTS(int, fexecve, (int file, char* const* arguments, char* const* environment) noexcept, file, arguments,
          environment)
namespace {
std::vector<char*> words_of(const char* first, va_list list) {
  std::vector<char*> words{const_cast<char*>(first)};
  while (words.back()) words.push_back(va_arg(list, char*));
  return words;
}
}  // namespace
MR_FRONT int execl(const char* path, const char* argument, ...) noexcept {
  va_list list;
  va_start(list, argument);
  const std::vector<char*> words = words_of(argument, list);
  va_end(list);
  return execv(path, words.data());
}
MR_FRONT int execlp(const char* file, const char* argument, ...) noexcept {
  va_list list;
  va_start(list, argument);
  const std::vector<char*> words = words_of(argument, list);
  va_end(list);
  return execvp(file, words.data());
}
MR_FRONT int execle(const char* path, const char* argument, ...) noexcept {
  va_list list;
  va_start(list, argument);
  const std::vector<char*> words = words_of(argument, list);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, words.data(), environment);
}
MR_FRONT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  static const auto next = mr::explore::next_function<decltype(&::pthread_sigmask)>("pthread_sigmask");
  const Blocks blocks;
  return keep_faults(next(how, set, old));
}
MR_FRONT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  static const auto next = mr::explore::next_function<decltype(&::sigprocmask)>("sigprocmask");
  const Blocks blocks;
  return keep_faults(next(how, set, old));
}
MR_FRONT void abort() noexcept {
  static const auto next = mr::explore::next_function<void (*)()>("abort");
  const Blocks blocks;
  next();
  __builtin_unreachable();
}
MR_FRONT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return mr::explore::set_action(signal, action, old);
}
// As the C library's: restarts system calls, and stays installed.
MR_FRONT sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (handler == SIG_ERR || mr::explore::set_action(number, &action, &before) != 0) return SIG_ERR;
  return before.sa_handler;
}
