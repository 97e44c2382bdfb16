// Who runs: of all threads under control - the program's own and those that execute operations - one at a time.
//
// A thread gives control away at points: after a call of the runtime, where it would have to wait, between a kernel's
// slices, at the end of an operation. The policy chooses who goes on, among threads that can and queues whose front
// operation is ready. Where a thread would wait for something that only another thread can bring about (a mutex, a flag
// that it polls with yields), it looks again after others have got on.
//
// A thread that comes to no point for long may spin without a call, or wait in the kernel in a way that is not
// intercepted. It is asked to look at itself (step.h): where it goes around a loop in which nothing changes, or sleeps
// for a futex, that is a look like others', and it goes on when others have got on. One that computes (or counts while
// it spins) for very long has to give way to others where it is, and one that sleeps for something else is left to
// itself until its next point: where depends on the machine, and both are counted ("stalls").
#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <observe/explorer.h>
#include <observe/subscriber.h>

#include "policy.h"
#include "trace.h"

namespace mr::explore {

enum class State : std::uint8_t {
  running,  // has control
  enabled,  // could go on
  polling,  // looked at something that hadn't changed
  waiting,  // for a queue's sequence number
  idle,     // executes operations, and has none
  ended,
};

struct Stream;

// Slices of a kernel's blocks that run at once (Explorer::at_once).
struct Slices {
  void (*body)(void*, unsigned);
  void* data;
  unsigned count, left;
};

// Asked of a thread by a signal, because it came to no point for long.
enum class Asked : std::uint8_t {
  nothing,
  whether_it_spins,  // it is a look if it goes around in a loop in which nothing changes
  to_look,           // it sleeps for a futex: that is one
  to_give_way,       // it computes, or spins and counts: it is one where it is in the program's own code
};

struct Thread {
  unsigned id = 0;
  bool device = false;
  bool detached = false;  // left to itself after a stall
  State state = State::enabled;
  std::atomic<std::uint32_t> go{0};
  const void* wait_queue = nullptr;
  std::uint64_t wait_sequence = 0;
  std::uint64_t polled_at = 0;  // progress at the last look
  Stream* stream = nullptr;     // whose operation it executes
  Key key = 0;                  // of the event that it goes on with
  Key current = 0;              // of the one that it is in
  std::uint64_t slice = 0, pauses = 0;
  Slices* slices = nullptr;  // it runs number `slice` of them, or (waiting) waits for all
  // Steps through its instructions, to be stopped when `steps` have been the program's own (step.h).
  bool stepping = false;
  bool suspended = false;  // it would, but SIGTRAP is blocked
  std::uint64_t steps = 0, stop_at = 0, foreign_left = 0;
  std::atomic<Asked> asked{Asked::nothing};
  std::uint64_t asked_at = 0;  // `points` then; written before `asked`
  unsigned examined = 0;       // instructions that are still looked at, to see whether it spins
  bool gives_way = false;      // examined: it was asked to_give_way
  bool gave_way = false;       // it did, and has come to no point of its own since
  Key step_key = 0;            // of the event that is stepped through
  bool torn = false;           // it goes on with the rest of that
  std::uint64_t calls = 0, enqueued = 0, wakes = 0;
  std::uint32_t site = 0;      // of the last call
  std::uint32_t polls_at = 0;  // where it looks, once nothing goes on
  bool by_time = true;         // Controller::poll
  unsigned inside = 0;         // the runtime or the explorer: nothing of what happens is the program's
  pid_t tid = 0;
  std::uint64_t points = 0;
  unsigned clock_looks = 0;  // at clocks since it last let others go on
};

struct Stream {
  void* queue = nullptr;
  std::uint64_t id = 0;
  bool ready = false, known = false;
  Thread* runner = nullptr;
  observe::Front front{};
  Key key = 0;
  std::uint64_t age = 0;
};

// A call of the runtime that operations or nodes came from.
struct Origin {
  Key key = 0;
  std::uint32_t site = 0;
};

// Null for a thread that nobody announced.
extern thread_local Thread* thread_self __attribute__((tls_model("initial-exec")));

// Really, whatever the program's clocks show.
void sleep_us(long us);

class SpinLock {
 public:
  void lock() noexcept;
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// The time that the program's clocks show: a microsecond goes by with each look at it, what threads sleep, and what
// passes while nothing can go on. So what time it is, and which timeout expires, is a function of the seed, however
// long the schedule takes. Nanoseconds since the beginning.
class VirtualTime {
 public:
  static constexpr std::int64_t tsc_per_ns = 2;  // of the time stamp counter
  void pass(std::int64_t ns) noexcept { now_.fetch_add(ns, std::memory_order_relaxed); }
  std::int64_t read() noexcept { return now_.fetch_add(1000, std::memory_order_relaxed) + 1000; }

 private:
  std::atomic<std::int64_t> now_{0};
};

class Controller {
 public:
  Controller(std::uint64_t seed, std::uint64_t steps, const std::string& decisions);

  Trace trace;
  Policy policy;
  SpinLock lock;
  VirtualTime time;
  const observe::ExploredEngine* engine = nullptr;
  bool measure = false;  // write how many instructions events have, instead of stopping any

  // Points. The calling thread is `t`; it has control again when they return.
  void point(Thread& t, Key key) { reschedule(t, State::enabled, key); }
  // By itself, or as time goes by, it may do something else than look again.
  void poll(Thread& t, const char* in = nullptr, void* caller = nullptr) { look(t, true, in, caller); }
  // A look at a clock: who only waits for time to pass lets others go on now and then.
  void look_at_clock(Thread& t, void* caller);
  // Only others can end its wait.
  void poll_for_others(Thread& t, const char* in, void* caller) { look(t, false, in, caller); }
  // What it looked for has come: a point, and an event that decisions can name.
  void woke(Thread& t, const char* in, void* caller);
  void wait(Thread& t, const void* queue, std::uint64_t sequence);
  void pause(Thread& t, bool progress);
  void end(Thread& t) { reschedule(t, State::ended, 0); }
  bool has_ended(const Thread& t);
  // A thread that is about to be started.
  Thread* add_thread(bool device);
  // The calling thread is the first one, and has control.
  void begin_main() { thread_self = holder_; }
  // The first thing that such a thread does.
  void begin(Thread& t);

  // The event that `t` has just begun is stopped in the midst, if the policy says so. Not locked.
  void step(Thread& t, char what);
  void stop_stepping(Thread& t);
  // It has come there (in a signal handler; what is interrupted is the program's own code).
  void torn(Thread& t);

  void ready(void* queue);
  std::uint64_t block_order(Thread& t);
  std::uint32_t add_origin(const Origin& origin);
  void start_watching();
  void note_stall(Thread& t);
  void run_operations(Thread& t);
  void at_once(Thread& t, unsigned count, void (*body)(void*, unsigned), void* data);

 private:
  void reschedule(Thread& t, State as, Key key);
  // `in`: the C library's function that waits, called from `caller`; null where Thread::site says it.
  void look(Thread& t, bool by_time, const char* in, void* caller);
  void run_slice(Thread& t);
  static Key slice_key(const Thread& t);
  bool only_others_help(bool of_kernels_too) const;
  void tell_waiters(bool ends);
  std::uint64_t stream_of(const void* queue) const;
  std::uint32_t site_of(std::uint32_t tag) const { return tag < origins_.size() ? origins_[tag].site : 0; }
  // Chooses until there is somebody, and hands control to him. Locked; true if it is `t`.
  bool dispatch(Thread* t);
  bool collect(std::vector<Candidate>& candidates, std::vector<std::pair<Thread*, Stream*>>& who);
  void describe(Stream& stream);
  void settle_waits();
  void give(Thread& t);
  void sleep_until_given(Thread& t);
  Thread& device_thread();
  void watch();

  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unordered_map<void*, Stream*> by_queue_;
  std::unordered_map<Key, std::uint64_t> seen_;
  std::vector<Origin> origins_{1};
  Thread* holder_ = nullptr;
  std::uint64_t progress_ = 1;
  std::uint64_t measured_ = 0, measured_events_ = 0, planned_ = 0;
  std::uint64_t fruitless_ = 0;  // looks since something else than a look went on
  // Set by dispatch when those were many, read without the lock: threads that look note where.
  std::atomic<bool> stuck_{false};
  bool told_ = false;      // the trace says so already
  bool choosing_ = false;  // nobody runs: dispatch looks for one
  bool detached_ = false;  // some thread may be
};

extern Controller* controller;  // null until the explorer is on
// The calling thread, if what it does is the program's own and under control.
inline Thread* under_control() noexcept {
  return controller && thread_self && thread_self->inside == 0 ? thread_self : nullptr;
}
// A call of `api` from `caller`, as the trace numbers it: with the program's frames from there on. Takes the lock.
std::uint32_t note_site(Thread& t, const char* api, void* caller);
// What the thread does meanwhile is not the program's own.
struct Inside {
  explicit Inside(Thread& t) : t_(t) { ++t_.inside; }
  ~Inside() { --t_.inside; }
  Inside(const Inside&) = delete;
  Thread& t_;
};

}  // namespace mr::explore
