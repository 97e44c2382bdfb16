// Host threads: the C library's functions by which threads start, end and wait for each other. Under control nothing
// waits in the kernel: what can't go on yet looks again when others have got on, so a wait is a series of points.
// Condition variables wake without a reason, which is allowed. Sleeping is giving the others a chance.
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "controller.h"
#include "next.h"

namespace mr::explore {
namespace {

struct Start {
  void* (*function)(void*);
  void* argument;
  Thread* thread;
};

std::unordered_map<pthread_t, Thread*>& started() {  // under the controller's lock
  static auto* all = new std::unordered_map<pthread_t, Thread*>;
  return *all;
}

struct AtEnd {
  Thread* thread;
  ~AtEnd() {
    if (!controller || !thread) return;
    controller->end(*thread);
    thread_self = nullptr;
  }
};

void* begin(void* data) {
  const Start start = *static_cast<Start*>(data);
  delete static_cast<Start*>(data);
  // Thread-local, so that destructors of the program's own thread-local objects still run under control.
  static thread_local AtEnd at_end{nullptr};
  at_end.thread = start.thread;
  controller->begin(*start.thread);
  return start.function(start.argument);
}

std::int64_t nanoseconds(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

// Barriers of the program, by address; under the controller's lock.
struct Barrier {
  unsigned wanted = 0, there = 0;
  std::uint64_t round = 0;
};
std::unordered_map<const void*, Barrier>& barriers() {
  static auto* all = new std::unordered_map<const void*, Barrier>;
  return *all;
}
// Initializations that a thread is at, by their pthread_once_t.
std::unordered_set<const void*>& begun() {  // under the controller's lock
  static auto* all = new std::unordered_set<const void*>;
  return *all;
}

bool passed(clockid_t clock, const timespec& until) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
}

// Looks until `attempt` answers something else than EBUSY.
template <class Attempt> int look(Thread& t, const char* in, void* caller, Attempt attempt, bool by_time = false) {
  for (bool waited = false;; waited = true) {
    const int result = attempt();
    if (result != EBUSY) {
      if (waited) controller->woke(t, in, caller);
      return result;
    }
    if (by_time)
      controller->poll(t, in, caller);
    else
      controller->poll_for_others(t, in, caller);
  }
}

// How often each condition variable was signalled; under the controller's lock.
std::unordered_map<const void*, std::uint64_t>& signals() {
  static auto* all = new std::unordered_map<const void*, std::uint64_t>;
  return *all;
}
std::uint64_t signals_of(const pthread_cond_t* c) {
  const std::scoped_lock hold(controller->lock);
  const auto it = signals().find(c);
  return it == signals().end() ? 0 : it->second;
}
void note_signal(const pthread_cond_t* c) {
  if (!under_control()) return;
  const std::scoped_lock hold(controller->lock);
  ++signals()[c];
}

int wait_condition(Thread& t, void* caller, pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                   const timespec* until) {
  const char* in = until ? "pthread_cond_timedwait" : "pthread_cond_wait";
  const std::uint64_t before = signals_of(c);
  if (const int error = pthread_mutex_unlock(m)) return error;
  if (until)
    controller->poll(t, in, caller);
  else
    controller->poll_for_others(t, in, caller);
  const bool late = until && passed(clock, *until);
  pthread_mutex_lock(m);
  if (signals_of(c) != before) controller->woke(t, in, caller);
  return late ? ETIMEDOUT : 0;
}

int wait_semaphore(Thread& t, void* caller, sem_t* s, clockid_t clock, const timespec* until) {
  while (sem_trywait(s) != 0) {
    if (errno != EAGAIN) return -1;
    if (passed(clock, *until)) {
      errno = ETIMEDOUT;
      return -1;
    }
    controller->poll(t, "sem_timedwait", caller);
  }
  return 0;
}

// For those with a timeout.
template <class Attempt>
int look_until(Thread& t, const char* in, void* caller, clockid_t clock, const timespec* until, Attempt attempt) {
  return look(
      t, in, caller,
      [&] {
        const int result = attempt();
        return result == EBUSY && passed(clock, *until) ? ETIMEDOUT : result;
      },
      true);
}

}  // namespace
}  // namespace mr::explore

using namespace mr::explore;

#define MR_FRONT extern "C" [[gnu::visibility("default")]]
#define MR_CALLER __builtin_return_address(0)
#define MR_NEXT(name) static const auto next = next_function<decltype(&::name)>(#name)
#define MR_NEXT_OF(name, version) static const auto next = next_function<decltype(&::name)>(#name, version)

MR_FRONT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                            void* argument) {
  MR_NEXT(pthread_create);
  Thread* const t = under_control();
  if (!t) return next(thread, attributes, function, argument);
  controller->stop_stepping(*t);
  Thread* const child = controller->add_thread(false);
  child->key = mix(std::uint64_t{child->id} << 40, 5);  // its beginning is an event
  auto* start = new Start{function, argument, child};
  const int result = next(thread, attributes, begin, start);
  if (result) {
    delete start;
    const std::scoped_lock hold(controller->lock);
    child->state = State::ended;
    return result;
  }
  {
    const std::scoped_lock hold(controller->lock);
    started()[*thread] = child;
  }
  controller->point(*t, mix(std::uint64_t{t->id} << 40 | ++t->calls, 0));
  return 0;
}
MR_FRONT int pthread_join(pthread_t thread, void** value) {
  MR_NEXT(pthread_join);
  Thread* const t = under_control();
  if (t) {
    Thread* other = nullptr;
    {
      const std::scoped_lock hold(controller->lock);
      if (const auto it = started().find(thread); it != started().end()) other = it->second;
    }
    look(*t, "pthread_join", MR_CALLER, [&] { return other && !controller->has_ended(*other) ? EBUSY : 0; });
  }
  return next(thread, value);
}
MR_FRONT int pthread_mutex_lock(pthread_mutex_t* m) {
  MR_NEXT(pthread_mutex_lock);
  Thread* const t = thread_self;
  if (!controller || !t || t->device) {
    if (Thread* const function = under_control())
      return look(*function, "pthread_mutex_lock", MR_CALLER, [&] { return pthread_mutex_trylock(m); });
    return next(m);
  }
  return look(*t, "pthread_mutex_lock", MR_CALLER, [&] { return pthread_mutex_trylock(m); });
}
MR_FRONT int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) {
  MR_NEXT(pthread_mutex_timedlock);
  Thread* const t = under_control();
  if (!t) return next(m, until);
  return look_until(*t, "pthread_mutex_timedlock", MR_CALLER, CLOCK_REALTIME, until,
                    [&] { return pthread_mutex_trylock(m); });
}
MR_FRONT int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  MR_NEXT(pthread_mutex_clocklock);
  Thread* const t = under_control();
  if (!t) return next(m, clock, until);
  return look_until(*t, "pthread_mutex_clocklock", MR_CALLER, clock, until, [&] { return pthread_mutex_trylock(m); });
}
MR_FRONT int pthread_spin_lock(pthread_spinlock_t* l) {
  MR_NEXT(pthread_spin_lock);
  Thread* const t = under_control();
  return t ? look(*t, "pthread_spin_lock", MR_CALLER, [&] { return pthread_spin_trylock(l); }) : next(l);
}
MR_FRONT int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  MR_NEXT_OF(pthread_cond_wait, "GLIBC_2.3.2");
  Thread* const t = under_control();
  return t ? wait_condition(*t, MR_CALLER, c, m, CLOCK_REALTIME, nullptr) : next(c, m);
}
MR_FRONT int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  MR_NEXT_OF(pthread_cond_timedwait, "GLIBC_2.3.2");
  Thread* const t = under_control();
  return t ? wait_condition(*t, MR_CALLER, c, m, CLOCK_REALTIME, until) : next(c, m, until);
}
MR_FRONT int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  MR_NEXT(pthread_cond_clockwait);
  Thread* const t = under_control();
  return t ? wait_condition(*t, MR_CALLER, c, m, clock, until) : next(c, m, clock, until);
}
MR_FRONT int pthread_cond_signal(pthread_cond_t* c) {
  MR_NEXT_OF(pthread_cond_signal, "GLIBC_2.3.2");
  note_signal(c);
  return next(c);
}
MR_FRONT int pthread_cond_broadcast(pthread_cond_t* c) {
  MR_NEXT_OF(pthread_cond_broadcast, "GLIBC_2.3.2");
  note_signal(c);
  return next(c);
}
MR_FRONT int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_rdlock);
  Thread* const t = under_control();
  return t ? look(*t, "pthread_rwlock_rdlock", MR_CALLER, [&] { return pthread_rwlock_tryrdlock(l); }) : next(l);
}
MR_FRONT int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_wrlock);
  Thread* const t = under_control();
  return t ? look(*t, "pthread_rwlock_wrlock", MR_CALLER, [&] { return pthread_rwlock_trywrlock(l); }) : next(l);
}
MR_FRONT int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) {
  MR_NEXT(pthread_rwlock_clockrdlock);
  Thread* const t = under_control();
  if (!t) return next(l, clock, until);
  return look_until(*t, "pthread_rwlock_clockrdlock", MR_CALLER, clock, until,
                    [&] { return pthread_rwlock_tryrdlock(l); });
}
MR_FRONT int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock, const timespec* until) {
  MR_NEXT(pthread_rwlock_clockwrlock);
  Thread* const t = under_control();
  if (!t) return next(l, clock, until);
  return look_until(*t, "pthread_rwlock_clockwrlock", MR_CALLER, clock, until,
                    [&] { return pthread_rwlock_trywrlock(l); });
}
MR_FRONT int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes,
                                  unsigned count) noexcept {
  MR_NEXT(pthread_barrier_init);
  const int result = next(b, attributes, count);
  if (result == 0 && under_control()) {
    const std::scoped_lock hold(controller->lock);
    barriers()[b] = {count};
  }
  return result;
}
MR_FRONT int pthread_barrier_destroy(pthread_barrier_t* b) noexcept {
  MR_NEXT(pthread_barrier_destroy);
  if (controller) {
    const std::scoped_lock hold(controller->lock);
    barriers().erase(b);
  }
  return next(b);
}
MR_FRONT int pthread_barrier_wait(pthread_barrier_t* b) noexcept {
  MR_NEXT(pthread_barrier_wait);
  Thread* const t = under_control();
  std::uint64_t round = 0;
  if (t) {
    const std::scoped_lock hold(controller->lock);
    const auto it = barriers().find(b);
    if (it == barriers().end()) return next(b);
    Barrier& barrier = it->second;
    round = barrier.round;
    if (++barrier.there == barrier.wanted) {
      barrier.there = 0;
      ++barrier.round;
      return PTHREAD_BARRIER_SERIAL_THREAD;
    }
  } else {
    return next(b);
  }
  return look(*t, "pthread_barrier_wait", MR_CALLER, [&] {
    const std::scoped_lock hold(controller->lock);
    const auto it = barriers().find(b);  // who leaves first may destroy it
    return it != barriers().end() && it->second.round == round ? EBUSY : 0;
  });
}
// std::call_once is made of it.
MR_FRONT int pthread_once(pthread_once_t* once, void (*function)()) {
  MR_NEXT(pthread_once);
  Thread* const t = under_control();
  if (!t) return next(once, function);
  look(*t, "pthread_once", MR_CALLER, [&] {
    const std::scoped_lock hold(controller->lock);
    return begun().insert(once).second ? 0 : EBUSY;
  });
  struct Over {
    const void* once;
    ~Over() {  // it may throw
      if (!controller) return;
      const std::scoped_lock hold(controller->lock);
      begun().erase(once);
    }
  } const over{once};
  return next(once, function);
}
MR_FRONT int sem_wait(sem_t* s) {
  MR_NEXT(sem_wait);
  Thread* const t = under_control();
  if (!t) return next(s);
  bool waited = false;
  for (; sem_trywait(s) != 0; waited = true) {
    if (errno != EAGAIN) return -1;
    controller->poll_for_others(*t, "sem_wait", MR_CALLER);
  }
  if (waited) controller->woke(*t, "sem_wait", MR_CALLER);
  return 0;
}
MR_FRONT int sem_timedwait(sem_t* s, const timespec* until) {
  MR_NEXT(sem_timedwait);
  Thread* const t = under_control();
  if (!t) return next(s, until);
  return wait_semaphore(*t, MR_CALLER, s, CLOCK_REALTIME, until);
}
MR_FRONT int sched_yield() noexcept {
  MR_NEXT(sched_yield);
  Thread* const t = under_control();
  if (!t) return next();
  controller->poll(*t, "sched_yield", MR_CALLER);
  return 0;
}
MR_FRONT int sem_clockwait(sem_t* s, clockid_t clock, const timespec* until) {
  MR_NEXT(sem_clockwait);
  Thread* const t = under_control();
  if (!t) return next(s, clock, until);
  return wait_semaphore(*t, MR_CALLER, s, clock, until);
}
MR_FRONT int nanosleep(const timespec* time, timespec* rest) {
  MR_NEXT(nanosleep);
  Thread* const t = under_control();
  if (!t) return next(time, rest);
  controller->time.pass(nanoseconds(*time));
  controller->poll(*t, "nanosleep", MR_CALLER);
  return 0;
}
MR_FRONT int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest) {
  MR_NEXT(clock_nanosleep);
  Thread* const t = under_control();
  if (!t) return next(clock, flags, time, rest);
  timespec now{};
  if (flags & TIMER_ABSTIME) clock_gettime(clock, &now);
  if (const std::int64_t left = nanoseconds(*time) - nanoseconds(now); left > 0) controller->time.pass(left);
  controller->poll(*t, "clock_nanosleep", MR_CALLER);
  return 0;
}
MR_FRONT int usleep(useconds_t time) {
  MR_NEXT(usleep);
  Thread* const t = under_control();
  if (!t) return next(time);
  controller->time.pass(std::int64_t{time} * 1000);
  controller->poll(*t, "usleep", MR_CALLER);
  return 0;
}
MR_FRONT unsigned sleep(unsigned time) {
  MR_NEXT(sleep);
  Thread* const t = under_control();
  if (!t) return next(time);
  controller->time.pass(std::int64_t{time} * 1'000'000'000);
  controller->poll(*t, "sleep", MR_CALLER);
  return 0;
}
// Atomics and futures wait by this.
MR_FRONT long syscall(long number, ...) noexcept {
  MR_NEXT(syscall);
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  Thread* const t = number == SYS_futex ? under_control() : nullptr;
  const long operation = a[1] & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  if (!t || (operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET))
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  const auto value = __atomic_load_n(reinterpret_cast<const int*>(a[0]), __ATOMIC_SEQ_CST);
  if (value != static_cast<int>(a[2])) {
    errno = EAGAIN;
    return -1;
  }
  const auto* until = reinterpret_cast<const timespec*>(a[3]);
  if (until)
    controller->poll(*t, "futex", MR_CALLER);
  else
    controller->poll_for_others(*t, "futex", MR_CALLER);
  if (__atomic_load_n(reinterpret_cast<const int*>(a[0]), __ATOMIC_SEQ_CST) != value)
    controller->woke(*t, "futex", MR_CALLER);
  if (until && operation == FUTEX_WAIT_BITSET &&
      passed(a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, *until)) {
    errno = ETIMEDOUT;
    return -1;
  }
  return 0;
}
