// Executing graphs: an executable graph flattened into arrays, and the operation that runs it.
//
// Image. Steps stand in a topological order that keeps chains together. Every step knows its successors (a slice of one
// array) and how many steps it waits for. Child graphs and conditional bodies are flattened into the same arrays: a
// step that begins them, their steps, and a step that their last ones lead to. One last step, `launch_end`, waits for
// everything.
//
// A launch is one custom operation in a stream. The thread that reaches it (a worker, or a host thread that helps) runs
// steps one after the other: the first successor that becomes ready is the next step, so a chain touches no queue;
// further ones wait on the thread's own list. As long as one thread alone works on a launch ("exclusive"), counting is
// done without locked instructions. The launch becomes parallel
//  - when steps take long enough for it to pay: waiting steps are moved to the image's shared list, and other workers
//  are asked to come;
//  - when a step can't run here: host functions, kernels that need residency, waits for other queues, grids of many
//  blocks. Such a step gets
//    a queue of its own ("branch queue") with a second operation behind it that goes on with the step's successors.
// Counters reset themselves: whoever brings one to zero sets it to its step's count again before the step runs, so a
// launch begins without touching the steps, and a loop's body can run again at once.
//
// An image never overlaps itself: the model orders its launches. It may be replaced or given up while launches are
// pending: those that device code makes hold a reference each; the host's hold none (two locked instructions less), and
// the host gives up its own reference when the newest one has completed (release_after).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <engine/op.h>
#include <engine/spinlock.h>
#include <engine/waiter.h>
#include <simt/grid.h>

namespace mr::engine {

class GraphImage;
class Environment;
enum class DeviceLaunch : std::uint8_t;

enum class StepKind : std::uint8_t {
  nothing,     // empty and disabled nodes, ends of child graphs
  kernel,      // KernelWork
  copy,        // memory::Copy that is_linear()
  copy_box,    // memory::Copy
  fill,        // memory::Fill
  pattern,     // PatternFill
  host,        // HostWork
  record,      // slot number in payload: opens the gate of an event record
  wait,        // slot number in payload: until another queue's point
  branch,      // BranchWork: a conditional node; starts one of its bodies, or none
  branch_end,  // BranchWork: the body has ended; again (while) or on
  launch_end,
};

enum StepFlags : std::uint8_t {
  step_disabled = 1u << 0,
  step_resident = 1u << 1,  // the kernel needs residency
  step_port = 1u << 2,      // a kernel with a PortWork
  step_launches = 1u << 3,  // a kernel that may launch kernels (Domain::on_launching)
  // What the kernel may do that the graph was instantiated with: others can't become one that may (the model's).
  step_parent = 1u << 4,   // launch kernels
  step_graphs = 1u << 5,   // launch graphs
  step_updates = 1u << 6,  // change nodes
  step_abilities = step_parent | step_graphs | step_updates,
  step_in_queue = step_resident | step_port | step_launches,  // kernels that get a queue
};

struct Step {
  void* payload = nullptr;
  std::uint32_t first_next = 0;  // in GraphImage::next
  std::uint32_t next_count = 0;
  std::uint32_t needs = 0;
  StepKind kind = StepKind::nothing;
  std::uint8_t flags = 0;
  std::int8_t priority = 0;        // CUDA's scale, for launches that use node priorities
  std::int8_t asked_priority = 0;  // by the node, before it was brought into that range: the model's
};
static_assert(sizeof(Step) == 24);

// A grid, its packed arguments (at grid.args, inside this block) and cluster extents behind them.
struct KernelWork {
  simt::Grid grid;
  // Bytes from the block's start to its end.
  std::uint32_t bytes;
  std::uint32_t args_offset;
  static constexpr std::size_t header = 112;
};
static_assert(sizeof(KernelWork) <= KernelWork::header);

// Rows of bytes that repeat a 4-byte pattern from each row's start.
struct PatternFill {
  char* dst;
  std::size_t row, height, pitch;
  std::uint32_t pattern;
};

struct HostWork {
  void (*call)(HostOp& op, bool dead);  // the model's wrapper
  void (*function)(void*);
  void* data;
  std::uint32_t site;  // observation tag; meaningful only while a tool is attached
};

struct BranchWork {
  std::uint32_t value;    // index of the handle's value in the image
  std::uint8_t loop;      // while: ask again at the end of the body
  std::uint8_t selector;  // switch: the value is the body's number; otherwise body 0 if not zero, body 1 if zero
  std::uint16_t reserved;
  std::uint32_t bodies;      // how many
  std::uint32_t first_body;  // in GraphImage::bodies
};
struct Body {
  std::uint32_t first_root, root_count;  // in GraphImage::next
};

// A kernel with edges that lead from other moments than its end, or a kernel behind such an edge (programmatic
// dependent launch in graphs). Each moment has a step of its own, whose successors are the edges' other ends; it is
// taken when the moment has come, at the latest at the kernel's end.
struct PortWork {
  static constexpr std::uint32_t no_step = ~std::uint32_t{0};
  enum Moment : unsigned { triggered, begun, moments };  // all blocks have

  // Completes an operation in a branch queue when the moment has come: 0 nothing yet, 1 the operation waits, 2 open.
  // Changed (acq_rel) by both sides; who comes second completes the operation.
  struct Gate {
    std::atomic<int> stage{0};
    Queue* queue = nullptr;
  };

  std::uint32_t step = no_step;
  std::uint32_t at[moments] = {no_step, no_step};  // the moments' steps
  std::vector<std::uint32_t> primaries;            // ports of the kernels that cudaGridDependencySynchronize waits for
  GraphImage* image = nullptr;

  // State of the launch that runs; set when the kernel is started.
  Gate gates[moments];
  std::uint64_t blocks = 0;
  std::atomic<std::uint64_t> triggers{0};  // acq_rel: who opens the gate sees what all blocks wrote before
  std::atomic<bool> ended{false};          // release; acquired by blocks that wait for the end

  void open(Moment moment) noexcept;
};

// Grid::launch of such a kernel, told from the model's own by its second bit.
inline bool is_port(const void* launch) noexcept { return (reinterpret_cast<std::uintptr_t>(launch) & 2) != 0; }
// simt's hooks for such grids: a block has triggered; all primaries have ended; all blocks have begun.
void port_triggered(void* launch) noexcept;
bool port_ready(void* launch) noexcept;
void port_begun(void* launch) noexcept;

// What a launch brings along for record and wait steps.
struct GraphSlot {
  Queue* queue;  // record: the gate's; wait: whom to wait for (null: nobody)
  std::uint64_t sequence;
  CustomOp* gate;    // record; null: the event is gone
  StampSlot* stamp;  // record with timing
  std::uint64_t ticket;
};

struct GraphOp : CustomOp {
  // data[0]: image, data[1]: slot count; slots follow.
  GraphSlot* slots() noexcept { return reinterpret_cast<GraphSlot*>(this + 1); }
  static constexpr std::size_t bytes(std::size_t slot_count) noexcept {
    return sizeof(GraphOp) + slot_count * sizeof(GraphSlot);
  }
};

// Built by the model, run by the engine. Everything but the running state is constant while launches are pending.
class GraphImage {
 public:
  explicit GraphImage(Domain& d) noexcept : domain(d) {}
  GraphImage(const GraphImage&) = delete;
  GraphImage& operator=(const GraphImage&) = delete;

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  // The last reference frees the image and gives its queues back.
  void release() noexcept;
  // The same when `queue` has completed `sequence`, the image's newest launch by the host.
  void release_after(Queue& queue, std::uint64_t sequence) noexcept;
  // Nobody but the caller has a reference: without launches by the host that are pending, it may be changed in place.
  bool unshared() const noexcept { return references_.load(std::memory_order_acquire) == 1; }

  Domain& domain;
  std::vector<Step> steps;
  std::vector<std::uint32_t> next;
  std::vector<Body> bodies;
  std::vector<std::uint32_t> roots;
  // How many of a step's predecessors have not run yet. Decremented acq_rel (parallel) or plainly (exclusive): what
  // predecessors wrote is visible to the step.
  std::vector<std::atomic<std::uint32_t>> left;
  // 1 for steps that took long in the launch that measured them. Relaxed: hints.
  std::vector<std::atomic<std::uint8_t>> heavy;
  // Intrusive lists of ready steps.
  std::vector<std::uint32_t> link;
  // Observation tags of steps that come from nodes; empty when no tool is attached.
  std::vector<std::uint32_t> tags;
  // Values of conditional handles. Relaxed: ordered by the steps around them.
  std::vector<std::atomic<std::uint32_t>> values;
  struct Handle {
    std::uint64_t handle;
    std::uint32_t initial;
    bool assign;  // set to `initial` at each launch
  };
  std::vector<Handle> handles;  // of values, sorted by handle
  std::vector<PortWork> ports;  // sorted by step
  std::vector<Queue*> gates;    // one per record slot, null for wait slots
  // The model's handle of an executable graph that device code may launch (cudaGetCurrentGraphExec); null for others.
  void* executable = nullptr;
  // What the host's next launch will write first. Asked for at a launch's end by a host thread that has run it: the
  // steps of a long one have driven it out of the first cache.
  const void* launch_line = nullptr;
  // Kernels whose parameters device code may set: the model's handles, and their steps.
  struct Updatable {
    void* handle;
    std::uint32_t step;
    bool off;          // as the host has it
    KernelWork* host;  // likewise; what device code sets goes to the step's own
  };
  std::vector<Updatable> updatable;  // sorted by step
  bool use_priorities = false;
  // Device code launches it, and each launch holds a reference. Constant once the image is launched.
  bool for_device_launches = false;
  // What holds the steps' payloads; given up with the image. `settle` is called before, at the end of the last launch
  // of an image that was given up, before that launch has completed.
  void* payload_owner = nullptr;
  void (*free_payload)(void* owner) = nullptr;
  void (*settle)(void* owner) = nullptr;

  PortWork& port_of(std::uint32_t step) noexcept;
  // Takes over another image's ports.
  void copy_ports(const GraphImage& from);
  // The launch of this image by device code begins, or the nodes of a launch have ended: what it runs in, if anything.
  void begin_device_launch(Environment& environment) noexcept;
  Environment* end_of_nodes() noexcept;
  // That of the launch that runs; made now if the host launched it and device code launched nothing yet.
  Environment& environment() noexcept;
  // Sets a conditional handle's value, if it is one of this image's.
  bool set_value(std::uint64_t handle, std::uint32_t value) noexcept;

 private:
  void launch_over(Queue& queue) noexcept;
  friend class GraphRun;
  // Launches by device code (graph_launch.h).
  friend bool launch_from_device(GraphImage& launcher, GraphImage& image, bool itself, DeviceLaunch how) noexcept;
  enum : std::uint8_t { idle, launched, again };
  friend GraphOp* push_graph(class Appender& appender, GraphImage& image, std::size_t slots) noexcept;
  ~GraphImage();

  // Steps for whoever comes, and idle branch queues. Under the lock; a thread that finds nothing leaves without a
  // trace.
  SpinLock lock_;
  std::uint32_t shared_ = none;
  std::uint32_t shared_count_ = 0;
  std::vector<Queue*> idle_queues_;
  // Threads asked to help and not gone yet. Relaxed: a limit, nothing more.
  std::atomic<std::uint32_t> helpers_{0};
  GraphOp* op_ = nullptr;
  Queue* queue_ = nullptr;  // of the launch
  // Launches begun. Read and written, like op_ and queue_, by threads with a step of the launch in hand alone: one
  // launch's last step happens before the next one's begin.
  std::uint64_t launches_ = 0;
  bool measured_ = false;      // a launch has found out which steps are heavy
  std::uint32_t average_ = 0;  // ticks a step in the last launch that one thread ran
  std::atomic<std::uint32_t> references_{1};
  // Where the newest launch is, once the image has been given up while that was pending; what it waits for (sequence)
  // is written before (release), and read by the queue's owner (acquire).
  std::atomic<Queue*> given_up_{nullptr};
  Waiter last_launch_;
  // Of an image for device code's launches: whether it is launched (waiting or running), and to run again behind
  // itself. Changed by who launches (acq_rel) and at the end of the nodes (release).
  std::atomic<std::uint8_t> pending_{idle};
  // Of the launch that runs, if device code made it or has launched something from it. Made under lock_ (release),
  // taken by who ends the nodes, behind all that could make it.
  std::atomic<Environment*> environment_{nullptr};

  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

// Appends a launch; the caller fills the slots before the appender publishes, and sees to it that the image lives until
// the launch has completed: by release_after(), or, for launches by device code, by a reference that the launch gives
// up.
GraphOp* push_graph(Appender& appender, GraphImage& image, std::size_t slots) noexcept;
// The gate of an event record: an operation that completes when the launch's record step runs.
CustomOp* push_gate(Appender& appender) noexcept;

// Device code set a conditional handle: the image that the calling thread runs steps or blocks of, or null.
GraphImage* current_image() noexcept;
// For the scope, the calling thread runs blocks of a queue's kernel.
class ImageScope {
 public:
  explicit ImageScope(GraphImage* image) noexcept;
  ~ImageScope();
  ImageScope(const ImageScope&) = delete;
  ImageScope& operator=(const ImageScope&) = delete;

 private:
  GraphImage* const outer_;
};

}  // namespace mr::engine
