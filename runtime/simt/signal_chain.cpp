#include <simt/signal_chain.h>

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <mutex>

#include <simt/lock.h>

// The C library's own, by the name that nobody stands in front of.
extern "C" int __sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MR_SANITIZER_OWNS_SIGACTION 1  // it stands in front of sigaction itself
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MR_SANITIZER_OWNS_SIGACTION 1  // it stands in front of sigaction itself
#endif
#endif

namespace mr::simt::signal_chain {
namespace {

// Two places for the program's action, so that a handler never reads one that is being written: `current` says which is
// valid (released after writing; acquired by handlers). Written under `lock` with signals blocked.
struct Chained {
  struct sigaction actions[2] = {};
  std::atomic<unsigned> current{0};
  std::atomic<const void*> own{nullptr};  // our handler's address, null until taken; released last by take
};

Chained chain[NSIG];
Lock lock;

const void* handler_of(const struct sigaction& action) noexcept {
  return reinterpret_cast<const void*>(action.sa_flags & SA_SIGINFO
                                           ? reinterpret_cast<std::uintptr_t>(action.sa_sigaction)
                                           : reinterpret_cast<std::uintptr_t>(action.sa_handler));
}

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

void set(Chained& c, const struct sigaction& action) noexcept {
  const unsigned other = 1 - c.current.load(std::memory_order_relaxed);
  c.actions[other] = action;
  c.current.store(other, std::memory_order_release);
}

}  // namespace

void take(int signal, const struct sigaction& action) noexcept {
  // By whatever stands in front of ours (the explorer), whose handler lets through what is for us. Looked up: a call of
  // a function that this file defines may be inlined.
  const auto found = reinterpret_cast<decltype(&::sigaction)>(dlsym(RTLD_DEFAULT, "sigaction"));
  const auto first = found ? found : &__sigaction;
  struct sigaction before{};
  first(signal, nullptr, &before);
  Chained& c = chain[signal];
  {
    const SignalsBlocked blocked;
    const std::lock_guard guard(lock);
    set(c, before);
    c.own.store(handler_of(action), std::memory_order_release);
  }
  first(signal, &action, nullptr);
}

struct sigaction program_action(int signal) noexcept {
  const Chained& c = chain[signal];
  return c.actions[c.current.load(std::memory_order_acquire)];
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction action = program_action(signal);
  const bool handled = (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  if (!handled) {
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;
    // The default action: the instruction faults again without us. A signal that somebody sent, or a trap, has to be
    // repeated.
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    __sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0 || signal == SIGTRAP) raise(signal);
    return;
  }
  if (static_cast<unsigned>(action.sa_flags) & SA_RESETHAND) {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    const SignalsBlocked blocked;
    const std::lock_guard guard(lock);
    set(chain[signal], standard);
  }
  // Ours was entered with this signal blocked and nothing else; returning restores the interrupted mask.
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, nullptr);
  if (action.sa_flags & SA_NODEFER && !sigismember(&action.sa_mask, signal)) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  }
  if (action.sa_flags & SA_SIGINFO) return action.sa_sigaction(signal, info, context);
  action.sa_handler(signal);
}

}  // namespace mr::simt::signal_chain

#ifndef MR_SANITIZER_OWNS_SIGACTION
namespace chains = mr::simt::signal_chain;

extern "C" [[gnu::visibility("default")]] int sigaction(int signal, const struct sigaction* action,
                                                        struct sigaction* old) noexcept {
  if (signal <= 0 || signal >= NSIG) return __sigaction(signal, action, old);
  chains::Chained& c = chains::chain[signal];
  const void* own = c.own.load(std::memory_order_acquire);
  if (!own || (action && chains::handler_of(*action) == own)) return __sigaction(signal, action, old);
  const struct sigaction wanted = action ? *action : (struct sigaction){};
  struct sigaction before{};
  {
    const chains::SignalsBlocked blocked;
    const std::lock_guard guard(chains::lock);
    before = chains::program_action(signal);
    if (action) chains::set(c, wanted);
  }
  if (old) *old = before;
  return 0;
}

// As the C library's: restarts system calls, and stays installed.
extern "C" [[gnu::visibility("default")]] sighandler_t signal(int number, sighandler_t handler) noexcept {
  struct sigaction action{}, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (handler == SIG_ERR || sigaction(number, &action, &before) != 0) return SIG_ERR;
  return before.sa_handler;
}
#endif
