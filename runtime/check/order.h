// Happens-before over operations: what is ordered behind what, by the program's own calls.
//
// An Op is anything that touches memory at one point of the order: an operation of a stream, a node of one graph
// launch, or what a host thread (or host function) does between two of its synchronisations. Its predecessors are
// settled when it is enqueued; its clock is worked out (`resolve`) when it has been executed, because a predecessor may
// have learnt more meanwhile: a host function that waited for another thread.
//
// Two worlds are kept: the real one, and one in which all streams are blocking ones and all default streams are the
// same legacy stream. A pair that is ordered only there was meant to be ordered by the default stream.
//
// Everything here is used under the checker's lock (state.h).
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "clock.h"

namespace mr::check {

inline constexpr int real = 0, wished = 1, worlds = 2;

// Where a call was made: return addresses, innermost first.
struct CallSite {
  const char* api = "";  // function's name, a constant
  std::string kernel;    // mangled, of launches
  std::vector<std::uintptr_t> frames;
};
using Call = std::shared_ptr<const CallSite>;

struct Stream;
struct WaitOf;
struct KernelRecord;  // device.h

enum class Role : std::uint8_t {
  stream,              // an operation of a stream
  node,                // a node of a graph launch
  host,                // a host thread between two synchronisations
  host_function,       // in a stream
  node_host_function,  // in a graph
  point,               // orders, and touches nothing
};

enum Kind : std::uint32_t {
  reads = 1,
  writes = 2,
  atomic = 4,  // with one of or both the above: not in conflict with other atomic accesses
  frees = 8,
  allocates = 16,
};

// Rows of bytes.
struct Touch {
  std::uintptr_t begin = 0;
  std::size_t width = 0, pitch = 0, rows = 1, slice = 0, slices = 1;
  std::uint32_t kind = 0;
};

struct Op;
using OpRef = std::shared_ptr<Op>;

struct Op {
  Role role = Role::point;
  Chain chain = 0;
  Time time = 0;
  bool resolved = false;
  int device = 0;
  std::uint64_t number = 0;  // in the order of enqueueing
  std::uint64_t launch = 0;  // of the graph, 0 = none
  Clock clock[worlds];       // of the enqueuing thread until resolved
  std::vector<OpRef> before[worlds];
  Call call, via;  // via: what put it into a stream, when that is another call
  std::shared_ptr<Stream> stream;
  std::vector<Touch> touches;
  std::shared_ptr<KernelRecord> kernel;
  std::shared_ptr<const std::deque<WaitOf>> waits;  // of the host thread
};

// The newest operations of a stream: each is ordered behind all that it does not contain itself.
using Frontier = std::vector<OpRef>;
void add(Frontier& to, const OpRef& op);
inline void add(Frontier& to, const Frontier& from) {
  for (const OpRef& op : from) add(to, op);
}

struct Event;
struct RecordOf {  // one record of an event
  Frontier frontier[worlds];
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;
};
struct Event {
  std::deque<RecordOf> records;  // the newest last; older than the last few are forgotten
  bool captured = false;         // the newest record went into a graph
};

struct WaitOf {  // a wait of a stream or a host thread
  std::shared_ptr<Event> event;
  bool recorded = false;  // at the time
  RecordOf record;        // that counted
  std::uint64_t number = 0;
};

struct Stream {
  std::string name;  // for reports
  Call call;         // that made it; null for default streams
  int device = 0;
  bool blocking = true, legacy = false, default_stream = false, alive = true;
  Chain chain = 0;
  Time time = 0;
  // Further chains, used again and again so that clocks stay small: of the parts of its batches, and of what
  // programmatic launches do before they wait (two in turn: neighbours have no order).
  std::vector<std::pair<Chain, Time>> part_chains;
  std::pair<Chain, Time> early_chains[2] = {};
  unsigned early_turn = 0;
  Frontier frontier[worlds], previous[worlds];  // previous: before the newest operation
  std::deque<WaitOf> waits;
  std::deque<std::uint64_t> records;  // numbers of the records made in it
  bool programmatic_tail = false;     // the newest operation is a kernel
};

// Who runs host code: a thread, or a thread inside a host function.
struct Actor {
  Chain chain = 0;
  Time time = 1;
  Clock clock[worlds];
  OpRef segment;  // made when something is touched; given up when the clock changes
  Role role = Role::host;
  OpRef of;                                                                            // the host function's operation
  std::shared_ptr<std::deque<WaitOf>> waits = std::make_shared<std::deque<WaitOf>>();  // for events
};

class Order {
 public:
  Chain new_chain() { return next_chain_++; }
  // A chain, and the newest time in it, for somebody whose doings all come behind what the clocks know. Chains whose
  // owners are gone are taken again where all that was done in them is known, so that clocks stay small when streams,
  // threads and graphs come and go.
  std::pair<Chain, Time> take_chain(const Clock (&known)[worlds]);
  // Nothing more is done in the chain by its owner.
  void give_back(Chain chain, Time time) { spare_.emplace_back(chain, time); }
  // `by`: who makes it, if anybody does. It takes over the chain of a retired one that its maker knows all of, and is
  // waited for in its place.
  std::shared_ptr<Stream> make_stream(int device, bool blocking, bool legacy, bool default_stream, std::string name,
                                      const Actor* by = nullptr);
  // The stream is destroyed; what is in it still has to be waited for by the device, and comes before later legacy
  // work.
  void retire(std::shared_ptr<Stream> stream) { retired_.push_back(std::move(stream)); }

  // A new operation of `stream`, behind what is in it. `lane` is the chain (0: the stream's own) and `append` says
  // whether later operations are behind it.
  OpRef enqueue(const std::shared_ptr<Stream>& stream, Actor& by, Role role, Call call);
  // Operations without an order among themselves, behind what is in the stream; `early`: one more that is not behind
  // it.
  std::vector<OpRef> enqueue_batch(const std::shared_ptr<Stream>& stream, Actor& by, const Call& call,
                                   std::size_t count, const OpRef& early = nullptr);
  // Behind what the actor knows, and not what is in the stream.
  OpRef make_early(const std::shared_ptr<Stream>& stream, Actor& by, const Call& call);
  // `op`, the newest of its own stream, has a place in this one, too: behind what is in it, before what comes.
  void stand_in(const OpRef& op, Stream& stream);
  // An operation in the stream's chain that starts without waiting for the stream's newest one (programmatic launch).
  OpRef make_op(const std::shared_ptr<Stream>& stream, Actor& by, Role role, Call call, Chain chain, Time time);

  // What an event would record, or a synchronisation would wait for.
  Frontier newest(Stream& stream, int world);
  void record(Event& event, const std::shared_ptr<Stream>& stream);
  void wait(Stream& stream, const std::shared_ptr<Event>& event);

  // The actor goes on behind these.
  void join(Actor& actor, const Frontier& frontier);
  void join_real_and_wished(Actor& actor, Stream& stream);
  void join_device(Actor& actor, int device);
  // The event's newest record, if there is one.
  void join_event(Actor& actor, const std::shared_ptr<Event>& event);
  // What the actor did is known to whoever joins the clock.
  void release(Actor& actor, Clock (&into)[worlds]);
  void acquire(Actor& actor, const Clock (&from)[worlds]);
  // The operation that stands for what the actor does now.
  const OpRef& segment_of(Actor& actor);

  // After execution: the operation's clock is complete.
  void resolve(const OpRef& op);
  static bool ordered(const Op& a, const Op& b, int world = real) noexcept {
    return b.clock[world].of(a.chain) >= a.time;
  }
  static bool covers(const Frontier& frontier, const Op& a) noexcept {
    for (const OpRef& op : frontier)
      if (op.get() == &a || (op->chain == a.chain && op->time >= a.time) || ordered(a, *op)) return true;
    return false;
  }
  // The newest operation that both are behind.
  Call common(const Op& a, const Op& b) const;

  std::uint64_t next_number() { return ++number_; }
  const std::vector<std::weak_ptr<Stream>>& streams() const { return streams_; }
  void note_point(Chain chain, Time time, const Call& call);

 private:
  void behind(Op& op, Stream& stream);
  bool take_over(Stream& stream, const Actor& by);
  void wish(Actor& actor, const Frontier& frontier) const;
  void append(Stream& stream, const OpRef& op, bool after_all);
  Frontier& wished_default(int device);
  // With the event's newest record, if it has one; what follows from it is the caller's.
  WaitOf wait_of(const std::shared_ptr<Event>& event);

  Chain next_chain_ = 1;
  std::vector<std::pair<Chain, Time>> spare_;
  std::vector<std::shared_ptr<Stream>> retired_;
  std::uint64_t number_ = 0;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::vector<Frontier> wished_default_;
  struct Point {
    Time time;
    std::uint64_t number;
    Call call;
  };
  std::vector<std::deque<Point>> points_;  // by chain: the last few
};

}  // namespace mr::check
