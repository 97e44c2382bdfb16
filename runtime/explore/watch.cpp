// The controller's watch over the thread that has control.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "controller.h"
#include "next.h"

namespace mr::explore {
namespace {

std::uint64_t cpu_ns(pid_t tid) {
  timespec time{};
  clock_gettime(static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6u), &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u + static_cast<std::uint64_t>(time.tv_nsec);
}

bool read_of_task(pid_t tid, const char* what, char* text, std::size_t size) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, what);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return length > 0;
}

// The thread sleeps in the kernel until somebody or a timer wakes it. (Disk and memory are waited for in another state,
// D, which ends by itself.)
bool sleeps(pid_t tid) {
  char text[512];
  if (!read_of_task(tid, "stat", text, sizeof text)) return false;
  const char* end = std::strrchr(text, ')');
  return end && end[2] == 'S';
}

bool is_in_futex(pid_t tid) {
  char text[256];
  return read_of_task(tid, "syscall", text, sizeof text) && std::strtol(text, nullptr, 10) == SYS_futex;
}

}  // namespace

void Controller::start_watching() {
  static const auto create = next_function<decltype(&::pthread_create)>("pthread_create");
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_t thread;
  if (create(
          &thread, nullptr, [](void* self) -> void* { return static_cast<Controller*>(self)->watch(), nullptr; },
          this) == 0)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Controller::note_stall(Thread& t) {
  const std::scoped_lock hold(lock);
  t.gave_way = true;
  trace.print("S\n");
}

// What decides here is how much a thread has computed and whether it sleeps, never how much time has gone by: the
// process may be stopped, or wait for a processor, as long as it likes.
void Controller::watch() {
  constexpr std::uint64_t suspicious_cpu_ns = 200'000'000, long_cpu_ns = 1'000'000'000, again_cpu_ns = 20'000'000,
                          most_cpu_ns = 3'000'000'000;
  constexpr unsigned asleep_for_futex = 2, most_asleep = 4;  // looks in a row
  const Thread* last = nullptr;
  std::uint64_t points = 0, cpu_before = 0;
  unsigned asleep = 0;
  Asked asked = Asked::nothing;  // since it came to that point
  for (;;) {
    sleep_us(10'000);
    const std::scoped_lock hold(lock);
    Thread* t = holder_;
    if (choosing_ || !t->tid || t->stepping || t->suspended || (t->device && t->inside)) {
      last = nullptr;
      continue;
    }
    if (t != last || t->points != points) {
      last = t;
      points = t->points;
      cpu_before = cpu_ns(t->tid);
      asleep = 0;
      asked = Asked::nothing;
      continue;
    }
    asleep = sleeps(t->tid) ? asleep + 1 : 0;
    const std::uint64_t cpu = cpu_ns(t->tid) - cpu_before;
    const auto ask = [&](Asked what) {
      asked = what;
      t->asked_at = t->points;
      t->asked.store(what, std::memory_order_release);
      tgkill(getpid(), t->tid, SIGTRAP);
    };
    if (asked == Asked::nothing && asleep >= asleep_for_futex && is_in_futex(t->tid)) {
      ask(Asked::to_look);
      continue;
    }
    if (asked == Asked::nothing && cpu >= suspicious_cpu_ns && !t->gave_way) {
      ask(Asked::whether_it_spins);
      continue;
    }
    if (asked != Asked::to_give_way && cpu >= (t->gave_way ? again_cpu_ns : long_cpu_ns)) {
      ask(Asked::to_give_way);
      continue;
    }
    if (asleep < most_asleep && cpu < most_cpu_ns) continue;
    settle_waits();
    std::vector<Candidate> candidates;
    std::vector<std::pair<Thread*, Stream*>> who;
    if (!collect(candidates, who) || t->points != points || holder_ != t) continue;
    t->detached = true;
    detached_ = true;
    if (t->current) policy.done(t->current);
    t->current = 0;
    ++progress_;
    trace.print("S\n");
    dispatch(nullptr);
    last = nullptr;
  }
}

}  // namespace mr::explore
