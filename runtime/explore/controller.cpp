#include "controller.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "next.h"
#include "step.h"

namespace mr::explore {

Controller* controller = nullptr;
thread_local Thread* thread_self __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

long futex(std::atomic<std::uint32_t>& word, int what, std::uint32_t value) {
  static const auto next = next_function<long (*)(long, ...)>("syscall");
  return next(SYS_futex, &word, what | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

char what_of(const observe::Front& front) {
  switch (front.kind[0]) {
  case 'h': return 'x';
  case 'k':
  case 'c':
  case 'f':
  case 'g': return front.kind[0];
  default: return 'o';
  }
}

}  // namespace

void sleep_us(long us) {
  static const auto next = next_function<decltype(&::nanosleep)>("nanosleep");
  const timespec time = {us / 1000000, us % 1000000 * 1000};
  next(&time, nullptr);
}

void SpinLock::lock() noexcept {
  static const auto yield = next_function<decltype(&::sched_yield)>("sched_yield");
  while (held_.exchange(true, std::memory_order_acquire))
    while (held_.load(std::memory_order_relaxed)) yield();
}

Controller::Controller(std::uint64_t seed, std::uint64_t steps, const std::string& decisions)
    : policy(seed, steps, decisions) {
  holder_ = add_thread(false);
  holder_->state = State::running;
  holder_->tid = gettid();
}

Thread* Controller::add_thread(bool device) {
  const std::scoped_lock hold(lock);
  auto thread = std::make_unique<Thread>();
  thread->id = static_cast<unsigned>(threads_.size());
  thread->device = device;
  if (device) thread->inside = 1;
  threads_.push_back(std::move(thread));
  return threads_.back().get();
}

bool Controller::has_ended(const Thread& t) {
  const std::scoped_lock hold(lock);
  return t.state == State::ended;
}

void Controller::give(Thread& t) {
  t.go.store(1, std::memory_order_release);
  futex(t.go, FUTEX_WAKE, 1);
}

void Controller::sleep_until_given(Thread& t) {
  while (t.go.load(std::memory_order_acquire) == 0) futex(t.go, FUTEX_WAIT, 0);
  t.go.store(0, std::memory_order_relaxed);
}

void Controller::begin(Thread& t) {
  t.tid = gettid();
  thread_self = &t;
  sleep_until_given(t);
}

void Controller::ready(void* queue) {
  const std::scoped_lock hold(lock);
  Stream*& stream = by_queue_[queue];
  if (!stream) {
    streams_.push_back(std::make_unique<Stream>());
    stream = streams_.back().get();
    stream->queue = queue;
    stream->id = streams_.size();
  }
  stream->ready = true;
  stream->known = false;
}

std::uint32_t Controller::add_origin(const Origin& origin) {
  const std::scoped_lock hold(lock);
  origins_.push_back(origin);
  return static_cast<std::uint32_t>(origins_.size() - 1);
}

std::uint64_t Controller::block_order(Thread& t) {
  const std::scoped_lock hold(lock);
  if (!t.current) return 0;
  const std::uint64_t order = policy.block_order(t.current);
  if (order) trace.print("B %lx %lx\n", t.current, order);
  return order;
}

void Controller::wait(Thread& t, const void* queue, std::uint64_t sequence) {
  t.wait_queue = queue;
  t.wait_sequence = sequence;
  reschedule(t, State::waiting, t.device ? 0 : mix(std::uint64_t{t.id} << 40 | t.calls, 1));
}

void Controller::pause(Thread& t, bool progress) {
  Key key = 0;
  if (progress && t.slices)
    key = mix(slice_key(t), ++t.pauses);
  else if (progress && t.stream)
    key = mix(t.stream->key, ++t.slice);
  reschedule(t, progress ? State::enabled : State::polling, key);
}

void Controller::step(Thread& t, char what) {
  // Limits of a run's own instructions and events: some seconds where traps are slow.
  constexpr std::uint64_t most_of_one = 20'000, most_of_host = 4'000, most_of_all = 200'000, most_events = 500,
                          most_planned = 25'000;
  // How many instructions of other code there are is no function of the seed: libraries poll, clear memory by the
  // kilobyte, resolve symbols. So they decide nothing but whether an event is given up as a whole, far from the usual
  // number, and what was measured has room to grow.
  constexpr std::uint64_t most_foreign = 100'000, room = 4;
  const Key key = t.slices ? slice_key(t) : t.stream ? t.stream->key : t.current;
  if (!key) return;
  if (measure) {
    if (measured_ > most_of_all || measured_events_ == most_events) return;
    t.foreign_left = most_foreign;
    t.stop_at = what == 'h' ? most_of_host : most_of_one;
  } else {
    t.foreign_left = most_foreign * room;
    const std::scoped_lock hold(lock);
    t.stop_at = planned_ > most_planned
                    ? 0
                    : policy.tear(key, what, t.slices ? t.stream->key : key, t.slices ? t.slices->count : 1);
    if (!t.stop_at) return;
    planned_ += t.stop_at + 500;
  }
  if (!can_step()) return;
  t.step_key = key;
  t.steps = 0;
  t.stepping = true;
  begin_stepping();
}

void Controller::stop_stepping(Thread& t) {
  t.examined = 0;
  if (!t.stepping && !t.suspended) return;
  t.stepping = t.suspended = false;
  if (!measure) return;
  const std::scoped_lock hold(lock);
  measured_ += t.steps;
  ++measured_events_;
  trace.print("L %lx %lx\n", t.step_key, t.foreign_left ? t.steps : 0);
}

void Controller::torn(Thread& t) {
  const Key rest = mix(t.step_key, 0x7ea4);
  {
    const std::scoped_lock hold(lock);
    trace.print("T %lx %lx\n", t.step_key, t.steps);
    policy.torn(rest);
    t.torn = true;
  }
  reschedule(t, State::enabled, rest);
}

void Controller::reschedule(Thread& t, State as, Key key) {
  const Inside inside(t);
  stop_stepping(t);
  bool mine;
  {
    const std::scoped_lock hold(lock);
    if (t.current) policy.done(t.current);
    t.current = 0;
    ++t.points;
    t.clock_looks = 0;
    if (as != State::polling) {
      ++progress_;
      t.gave_way = false;
    }
    t.polled_at = progress_;
    t.key = key;
    t.state = as;
    mine = false;
    if (t.detached)
      t.detached = false;  // somebody else has control
    else
      mine = dispatch(&t);
  }
  if (!mine && as != State::ended) sleep_until_given(t);
}

void Controller::describe(Stream& s) {
  s.known = true;
  if (!engine->front(s.queue, s.front)) {
    s.front.kind = "wait";  // nothing there: running it finds that out
    return;
  }
  if (s.front.kind[0] == 'w') return;
  const Origin none{};
  const auto origin = [&](std::uint32_t tag) { return tag < origins_.size() ? origins_[tag] : none; };
  s.age = (std::uint64_t{s.front.tag} << 20) + s.front.step;  // in the order of the calls
  const Key from = origin(s.front.tag).key;
  const Key base = from ? mix(from, s.front.step) : mix(0xd0 + s.id, 0);
  const std::uint64_t again = seen_[base]++;
  s.key = again ? mix(base, again) : base;
}

// Waits are no choices: a queue whose front is one goes on or is parked at once.
void Controller::settle_waits() {
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      Stream& s = *streams_[i];
      if (!s.ready || s.runner || s.known) continue;
      describe(s);
      if (s.front.kind[0] != 'w') continue;
      s.ready = false;
      lock.unlock();
      engine->run_front(s.queue);
      lock.lock();
      again = true;
    }
  }
}

bool Controller::collect(std::vector<Candidate>& candidates, std::vector<std::pair<Thread*, Stream*>>& who) {
  candidates.clear();
  who.clear();
  for (const auto& owned : threads_) {
    Thread& t = *owned;
    if (t.state == State::polling   ? progress_ <= t.polled_at
        : t.state == State::waiting ? (t.slices ? t.slices->left != 0 : !engine->reached(t.wait_queue, t.wait_sequence))
                                    : t.state != State::enabled)
      continue;
    Candidate c;
    c.key = t.key;
    c.polling = t.state == State::polling;
    c.host = !t.stream;
    c.task = t.stream ? t.stream->id << 8 : std::uint64_t{t.id} << 8 | 1;
    if (t.slices && t.state != State::waiting) c.task |= 2 + t.slice % 250;
    if (t.stream) {
      c.what = what_of(t.stream->front);
      c.underway = true;
      c.age = t.stream->age;
    }
    candidates.push_back(c);
    who.emplace_back(&t, nullptr);
  }
  for (const auto& owned : streams_) {
    Stream& s = *owned;
    if (!s.ready || s.runner || !s.known) continue;
    Candidate c;
    c.key = s.key;
    c.what = what_of(s.front);
    c.task = s.id << 8;
    c.age = s.age;
    candidates.push_back(c);
    who.emplace_back(nullptr, &s);
  }
  return !candidates.empty();
}

bool Controller::dispatch(Thread* t) {
  std::vector<Candidate> candidates;
  std::vector<std::pair<Thread*, Stream*>> who;
  choosing_ = true;
  for (;;) {
    settle_waits();
    // One that was left to itself may see by now what it was waiting for.
    for (unsigned i = 0; i < 4 && detached_; ++i) {
      detached_ = false;
      for (const auto& thread : threads_) detached_ |= thread->detached;
      if (!detached_) break;
      lock.unlock();
      sleep_us(500);
      lock.lock();
    }
    if (collect(candidates, who)) break;
    bool polls = false;
    for (const auto& thread : threads_) polls |= thread->state == State::polling;
    lock.unlock();
    // Looks, a millisecond each. Kernels may look at the clock; not for that long.
    constexpr std::uint64_t soon = 50, stuck = 100, told = 200, told_if_timed = 2000, told_of_kernels = 8000;
    const long us = fruitless_ < soon ? 100 : 1000;
    sleep_us(us);
    time.pass(us * 1000);
    lock.lock();
    if (polls) ++progress_;
    ++fruitless_;
    stuck_.store(fruitless_ > stuck, std::memory_order_relaxed);
    if (fruitless_ == told || fruitless_ == told_if_timed || fruitless_ == told_of_kernels) {
      const bool ends = only_others_help(fruitless_ == told_of_kernels);
      if (ends || (fruitless_ == told_if_timed && !told_)) tell_waiters(ends);
    }
  }
  choosing_ = false;
  const std::size_t chosen = policy.choose(candidates);
  if (!candidates[chosen].polling) fruitless_ = 0;
  Thread* next = who[chosen].first;
  Stream* stream = who[chosen].second;
  const bool begins = stream != nullptr;
  if (stream) {
    next = t && t->device && t->state == State::idle ? t : &device_thread();
    next->stream = stream;
    next->key = stream->key;
    next->slice = 0;
    stream->runner = next;
    stream->ready = false;
  }
  next->state = State::running;
  next->current = next->key;
  if (next->key) {
    const Stream* s = next->stream;
    const Candidate& c = candidates[chosen];
    std::uint32_t site = next->site, via = 0;
    if (s) {
      site = site_of(s->front.step ? s->front.node_tag : s->front.tag);
      if (s->front.step) via = site_of(s->front.tag);
    }
    const char what = next->torn ? 't' : begins || !s ? c.what : 'r';
    next->torn = false;
    trace.print("E %lx %c %x %x %lx %lx %s\n", next->key, what, site, via, c.task,
                what == 't' ? next->steps : next->slice, s && s->front.name ? s->front.name : "-");
  }
  holder_ = next;
  if (next == t) return true;
  give(*next);
  return false;
}

void Controller::look(Thread& t, bool by_time, const char* in, void* caller) {
  if (stuck_.load(std::memory_order_relaxed)) {
    const std::uint32_t site = in ? note_site(t, in, caller) : t.site;
    const std::scoped_lock hold(lock);
    t.polls_at = site;
  }
  t.by_time = by_time;
  reschedule(t, State::polling, 0);
}

void Controller::woke(Thread& t, const char* in, void* caller) {
  if (t.device) return;
  stop_stepping(t);
  t.site = note_site(t, in, caller);
  point(t, mix(std::uint64_t{t.id} << 40 | ++t.wakes, 4));
}

void Controller::look_at_clock(Thread& t, void* caller) {
  constexpr unsigned often = 256;
  if (++t.clock_looks % often == 0) poll(t, "a loop that looks at a clock", caller);
}

std::uint64_t Controller::stream_of(const void* queue) const {
  const auto it = by_queue_.find(const_cast<void*>(queue));
  return it == by_queue_.end() ? 0 : it->second->id;
}

// Nothing but each other can end any thread's wait. Locked.
bool Controller::only_others_help(bool of_kernels_too) const {
  return std::all_of(threads_.begin(), threads_.end(), [&](const auto& t) {
    const bool in_kernel = t->device && t->inside;
    return !t->detached && (t->state != State::polling || (in_kernel ? of_kernels_too : !t->by_time));
  });
}

// Who waits for what. Locked.
void Controller::tell_waiters(bool ends) {
  told_ = true;
  trace.print("D %x\n", ends);
  for (const auto& thread : threads_) {
    const bool waits = thread->state == State::waiting;
    if ((!waits && thread->state != State::polling) || (thread->stream && thread->inside)) continue;
    trace.print("W h %x %x %lx %lx\n", thread->id, waits ? thread->site : thread->polls_at,
                waits ? stream_of(thread->wait_queue) : 0, thread->stream ? thread->stream->id : 0);
  }
  for (const auto& stream : streams_) {
    observe::Front front{};
    const bool runs = stream->runner != nullptr;
    if (!runs && (stream->ready || !engine->front(stream->queue, front))) continue;
    if (runs) front = stream->front;
    trace.print("W %c %lx %x %x %lx %s\n", runs ? what_of(front) : 'w', stream->id,
                site_of(front.step ? front.node_tag : front.tag), front.step ? site_of(front.tag) : 0,
                stream_of(front.on), front.name ? front.name : "-");
  }
  if (ends) kill(getpid(), SIGKILL);
}

namespace {

void* device_main(void* data) {
  auto& t = *static_cast<Thread*>(data);
  controller->engine->as_worker(
      [](void* p) {
        auto& thread = *static_cast<Thread*>(p);
        controller->begin(thread);
        controller->run_operations(thread);
      },
      &t);
  return nullptr;
}

}  // namespace

Key Controller::slice_key(const Thread& t) { return mix(t.stream->key, 0x51ce'0000 + t.slice); }

void Controller::at_once(Thread& t, unsigned count, void (*body)(void*, unsigned), void* data) {
  Slices slices{body, data, count, count};
  stop_stepping(t);
  {
    const std::scoped_lock hold(lock);
    for (unsigned i = 0; i < count; ++i) {
      Thread& one = device_thread();
      one.stream = t.stream;
      one.slices = &slices;
      one.slice = i;
      one.pauses = 0;
      one.key = slice_key(one);
      one.state = State::enabled;
    }
    t.slices = &slices;
  }
  reschedule(t, State::waiting, 0);
  t.slices = nullptr;
}

void Controller::run_slice(Thread& t) {
  step(t, 'k');
  t.slices->body(t.slices->data, static_cast<unsigned>(t.slice));
  stop_stepping(t);
  const std::scoped_lock hold(lock);
  --t.slices->left;
  t.slices = nullptr;
  t.stream = nullptr;
}

void Controller::run_operations(Thread& t) {
  for (;;) {
    if (t.slices) {
      run_slice(t);
      reschedule(t, State::idle, 0);
      continue;
    }
    Stream& s = *t.stream;
    const char what = what_of(s.front);
    if (what == 'x') t.inside = 0;
    if (what == 'x' || what == 'k') step(t, what);
    engine->run_front(s.queue);
    t.inside = 1;
    stop_stepping(t);
    {
      const std::scoped_lock hold(lock);
      s.runner = nullptr;
      t.stream = nullptr;
    }
    reschedule(t, State::idle, 0);
  }
}

// One that has no operation. Locked.
Thread& Controller::device_thread() {
  for (const auto& thread : threads_)
    if (thread->device && thread->state == State::idle) return *thread;
  auto owned = std::make_unique<Thread>();
  Thread& t = *owned;
  t.id = static_cast<unsigned>(threads_.size());
  t.device = true;
  t.inside = 1;
  threads_.push_back(std::move(owned));
  // Signals are the program's threads' but for those that say something about the thread itself.
  sigset_t all, before;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGURG}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // this may be a handler, with more blocked
  static const auto create = next_function<decltype(&::pthread_create)>("pthread_create");
  pthread_t thread;
  if (create(&thread, nullptr, device_main, &t) != 0) {
    std::fprintf(stderr, "millrace: the explorer could not start a thread; raise the limit on threads (ulimit -u)\n");
    std::abort();
  }
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return t;
}

}  // namespace mr::explore
