// Host threads: what pthreads order. The checker's library stands in front of the C library's functions, for the
// program and for libstdc++; std::thread, std::mutex, std::condition_variable and std::future come by here or by
// atomics that are instrumented (host.cpp).
#include <pthread.h>
#include <semaphore.h>

#include <mutex>

#include "next.h"
#include "state.h"

namespace mr::check {

void sync_release(std::uintptr_t object) {
  if (!watching()) return;
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  flush_touches(t);
  checker->order.release(*t.actor, checker->sync[object].clock);
}
void sync_acquire(std::uintptr_t object) {
  if (!watching()) return;
  ThreadState& t = self();
  Inside inside(t);
  std::scoped_lock hold(checker->lock);
  const auto it = checker->sync.find(object);
  if (it == checker->sync.end()) return;
  flush_touches(t);
  checker->order.acquire(*t.actor, it->second.clock);
}

namespace {

void release(const void* object) { sync_release(reinterpret_cast<std::uintptr_t>(object)); }
void acquire(const void* object) { sync_acquire(reinterpret_cast<std::uintptr_t>(object)); }

struct Start {
  void* (*function)(void*);
  void* argument;
  SyncVariable parent;
};

// Clocks of threads that have ended, until they are joined.
std::unordered_map<pthread_t, SyncVariable>& ended() {  // under the checker's lock
  static auto* all = new std::unordered_map<pthread_t, SyncVariable>;
  return *all;
}

// Runs when the thread ends, however it does.
struct AtEnd {
  ~AtEnd() {
    if (!checker) return;
    ThreadState& t = self();
    Inside inside(t);
    std::scoped_lock hold(checker->lock);
    flush_touches(t);
    const Time last = t.own.time;
    checker->order.release(*t.actor, ended()[pthread_self()].clock);
    checker->order.give_back(t.own.chain, last);
  }
};

void* begin(void* data) {
  auto* start = static_cast<Start*>(data);
  make_thread(true, &start->parent.clock);
  void* (*const function)(void*) = start->function;
  void* const argument = start->argument;
  {
    Inside inside(self());
    delete start;
  }
  const AtEnd at_end;
  return function(argument);
}

}  // namespace
}  // namespace mr::check

using namespace mr::check;

#define MR_FRONT extern "C" [[gnu::visibility("default")]]
#define MR_NEXT(name) static const auto next = next_function<decltype(&::name)>(#name)
// Functions whose first versions took other objects.
#define MR_NEXT_OF(name, version) static const auto next = next_function<decltype(&::name)>(#name, version)

MR_FRONT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                            void* argument) {
  MR_NEXT(pthread_create);
  if (!watching()) return next(thread, attributes, function, argument);
  Start* start;
  {
    ThreadState& t = self();
    Inside inside(t);
    start = new Start{function, argument, {}};
    std::scoped_lock hold(checker->lock);
    flush_touches(t);
    checker->order.release(*t.actor, start->parent.clock);
  }
  const int result = next(thread, attributes, begin, start);
  if (result) delete start;
  return result;
}
MR_FRONT int pthread_join(pthread_t thread, void** value) {
  MR_NEXT(pthread_join);
  const int result = next(thread, value);
  if (result == 0 && watching()) {
    ThreadState& t = self();
    Inside inside(t);
    std::scoped_lock hold(checker->lock);
    flush_touches(t);
    if (const auto it = ended().find(thread); it != ended().end()) {
      checker->order.acquire(*t.actor, it->second.clock);
      ended().erase(it);
    }
  }
  return result;
}

MR_FRONT int pthread_mutex_lock(pthread_mutex_t* m) {
  MR_NEXT(pthread_mutex_lock);
  const int result = next(m);
  if (result == 0) acquire(m);
  return result;
}
MR_FRONT int pthread_mutex_trylock(pthread_mutex_t* m) {
  MR_NEXT(pthread_mutex_trylock);
  const int result = next(m);
  if (result == 0) acquire(m);
  return result;
}
MR_FRONT int pthread_mutex_timedlock(pthread_mutex_t* m, const timespec* until) {
  MR_NEXT(pthread_mutex_timedlock);
  const int result = next(m, until);
  if (result == 0) acquire(m);
  return result;
}
MR_FRONT int pthread_mutex_unlock(pthread_mutex_t* m) {
  MR_NEXT(pthread_mutex_unlock);
  release(m);
  return next(m);
}
MR_FRONT int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  MR_NEXT_OF(pthread_cond_wait, "GLIBC_2.3.2");
  release(m);
  const int result = next(c, m);
  acquire(m);
  return result;
}
MR_FRONT int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const timespec* until) {
  MR_NEXT_OF(pthread_cond_timedwait, "GLIBC_2.3.2");
  release(m);
  const int result = next(c, m, until);
  acquire(m);
  return result;
}
MR_FRONT int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const timespec* until) {
  MR_NEXT(pthread_cond_clockwait);
  release(m);
  const int result = next(c, m, clock, until);
  acquire(m);
  return result;
}
MR_FRONT int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_rdlock);
  const int result = next(l);
  if (result == 0) acquire(l);
  return result;
}
MR_FRONT int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_wrlock);
  const int result = next(l);
  if (result == 0) acquire(l);
  return result;
}
MR_FRONT int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_tryrdlock);
  const int result = next(l);
  if (result == 0) acquire(l);
  return result;
}
MR_FRONT int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_trywrlock);
  const int result = next(l);
  if (result == 0) acquire(l);
  return result;
}
MR_FRONT int pthread_rwlock_unlock(pthread_rwlock_t* l) {
  MR_NEXT(pthread_rwlock_unlock);
  release(l);
  return next(l);
}
MR_FRONT int pthread_spin_lock(pthread_spinlock_t* l) {
  MR_NEXT(pthread_spin_lock);
  const int result = next(l);
  acquire(const_cast<const int*>(l));
  return result;
}
MR_FRONT int pthread_spin_unlock(pthread_spinlock_t* l) {
  MR_NEXT(pthread_spin_unlock);
  release(const_cast<const int*>(l));
  return next(l);
}
MR_FRONT int pthread_barrier_wait(pthread_barrier_t* b) {
  MR_NEXT(pthread_barrier_wait);
  release(b);
  const int result = next(b);
  acquire(b);
  return result;
}
MR_FRONT int pthread_once(pthread_once_t* once, void (*function)()) {
  MR_NEXT(pthread_once);
  const int result = next(once, function);
  release(once);
  acquire(once);
  return result;
}
MR_FRONT int sem_post(sem_t* s) {
  MR_NEXT(sem_post);
  release(s);
  return next(s);
}
MR_FRONT int sem_wait(sem_t* s) {
  MR_NEXT(sem_wait);
  const int result = next(s);
  if (result == 0) acquire(s);
  return result;
}
MR_FRONT int sem_trywait(sem_t* s) {
  MR_NEXT(sem_trywait);
  const int result = next(s);
  if (result == 0) acquire(s);
  return result;
}
MR_FRONT int sem_timedwait(sem_t* s, const timespec* until) {
  MR_NEXT(sem_timedwait);
  const int result = next(s, until);
  if (result == 0) acquire(s);
  return result;
}
