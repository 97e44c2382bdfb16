// Operation records: the unit of work in a queue.
//
// A record is 64-byte aligned, a whole number of cache lines long, and lives in a chunk of its queue from enqueue until
// it has completed. Records are plain data: they are neither constructed nor destroyed, the queue's owner just steps
// over them.
//   kernel with up to 16 bytes of arguments: 128 bytes; with 64 bytes: 192; small copies, sets, host functions,
//   waits: 64.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <memory/copy.h>
#include <simt/grid.h>

namespace mr::engine {

class Queue;
struct Runner;

enum class OpKind : std::uint8_t {
  jump,  // continue in another chunk
  kernel,
  copy,      // linear
  copy_box,  // rows and slices
  fill,      // bytes set to a value
  host,      // host function: runtime threads only
  wait,      // until another queue completed up to a sequence number
  stamp,     // store the time
  custom,    // a function of the model (graph launch, batch copy, stream-ordered bookkeeping ...)
};

enum OpFlags : std::uint8_t {
  op_even_if_dead =
      1u << 0,  // runs also when the context has died (host functions decide by what was recorded, clean-ups)
  op_workers_only = 1u << 1,  // never on a helping host thread
  // Takes no time, and others, of any urgency, may wait for it: runs right behind what it follows.
  op_prompt = 1u << 2,
  // The upper three bits: a level of its own plus one (kernels launched with a priority), or 0 for the queue's.
};
inline constexpr unsigned op_level_shift = 5;

struct Op {
  OpKind kind;
  std::uint8_t flags;
  std::uint16_t lines;  // length of the record in cache lines
  std::uint32_t site;   // observation tag, 0 when nothing observes
};

struct JumpOp : Op {
  Op* next;
};

struct KernelOp : Op {
  // The packed arguments follow in the record (args_offset), cluster extents behind them if there are any.
  simt::Grid grid;
  static constexpr std::size_t header = 112;  // arguments aligned up to 16 begin here
};
static_assert(sizeof(Op) == 8 && sizeof(KernelOp) <= KernelOp::header);

struct CopyOp : Op {
  memory::LinearCopy copy;
};

struct CopyBoxOp : Op {
  memory::Copy copy;  // may own its source (staged pageable memory): run or abandoned exactly once
};

struct FillOp : Op {
  memory::Fill fill;
};

struct HostOp : Op {
  void (*function)(void*);
  void* data;
  // Alternative form with the stream's state (stream callbacks): called instead of `function` if not null.
  void (*with_status)(HostOp& op, bool dead);
  void* extra[2];
  static constexpr std::uint16_t lines_of = 1;
};

struct WaitOp : Op {
  Queue* on;
  std::uint64_t sequence;  // until on->completed() >= sequence
};

// Where a stamp goes. The slot outlives the operation (type-stable memory); `ticket` says which record of the event
// this is: an older stamp never overwrites a newer one.
struct StampSlot {
  std::atomic<std::uint64_t> ticket{0};  // of the newest record, set at enqueue
  std::atomic<std::uint64_t> done{0};    // ticket whose time is in `time_ns`
  std::atomic<std::uint64_t> time_ns{0};
};
struct StampOp : Op {
  StampSlot* slot;
  std::uint64_t ticket;
};

// What a custom operation's function answers.
enum class OpResult : std::uint8_t {
  done,          // completed
  asynchronous,  // it (or what it started) calls Queue::finish_asynchronous exactly once, on any thread
  workers,       // can't go on on a helping thread: give the queue to a worker, which calls the function again
};

struct CustomOp : Op {
  // Runs the operation; `dead` says that the context has died (clean up, do nothing else).
  OpResult (*run)(CustomOp& op, Queue& queue, Runner& runner, bool dead);
  void* data[6];
  // May be longer; `lines` says how long.
};
static_assert(sizeof(JumpOp) <= 64 && sizeof(CopyOp) <= 64 && sizeof(FillOp) <= 64 && sizeof(HostOp) <= 64 &&
              sizeof(WaitOp) <= 64 && sizeof(StampOp) <= 64 && sizeof(CustomOp) <= 64);

// What all queues of one device context share with the engine. Owned by the model, never freed.
struct Domain {
  simt::DeviceState* device = nullptr;
  // A kernel of this domain faulted (called once per faulting grid, on the thread that saw it, before the grid's
  // operation completes). The model sets the sticky error and device->dead.
  void (*on_fault)(Domain& domain, simt::Fault fault, const simt::Grid& grid) = nullptr;
  // All blocks of a grid with resident blocks and grid_tells_begin have begun (once a grid, on any worker).
  void (*on_begun)(Domain& domain, const simt::Grid& grid) = nullptr;
  // A graph's kernel that may launch kernels is about to be published: gives it what it needs, and puts operations
  // behind it that complete when all of its descendants have.
  void (*on_launching)(class Appender& appender, KernelOp& op) = nullptr;
  void* context = nullptr;  // the model's
  // How many launches device code may still make while somebody waits for the domain to run dry, for the device's
  // reset: graphs and kernels that launch themselves for ever would keep it from that for ever. Relaxed: a limit,
  // nothing more.
  static constexpr std::int32_t unlimited = 0x7fffffff, most_when_closing = 1 << 17;
  std::atomic<std::int32_t> launches_left{unlimited};

  // Device code is about to launch something.
  bool takes_launch() noexcept {
    return launches_left.load(std::memory_order_relaxed) == unlimited ||
           launches_left.fetch_sub(1, std::memory_order_relaxed) > 0;
  }
  bool dead() const noexcept { return device->dead.load(std::memory_order_acquire); }
};

}  // namespace mr::engine
