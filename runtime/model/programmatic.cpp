#include <model/programmatic.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <engine/graph_run.h>
#include <engine/queue.h>
#include <model/device_launch.h>
#include <model/event.h>

namespace mr::model {
namespace {

// A point in time that a launch brings about: an operation in a queue that completes when the gate is opened.
struct Gate {
  // 0 nothing yet, 1 the operation waits, 2 open; never goes down while it is in use. Changed (acq_rel) by both sides:
  // the second to come completes the operation. It may be opened several times.
  std::atomic<int> stage{0};
  engine::Queue* queue = nullptr;  // null: nobody has asked for the point
  std::uint64_t sequence = 0;

  void open() noexcept {
    if (stage.exchange(2, std::memory_order_acq_rel) == 1) queue->finish_asynchronous();
  }
  bool passed() const noexcept { return !queue || queue->completed() >= sequence; }
};

// State of one launch that others may follow before it has ended (Grid::launch). Reused when the launch and what
// follows it are over.
struct Launch {
  // Blocks that have triggered. acq_rel: who opens the gate sees what all blocks wrote before.
  std::atomic<std::uint64_t> triggered{0};
  std::uint64_t total = 0;
  Gate trigger;  // all blocks have triggered or ended
  Gate begin;    // all blocks have begun
  // What cudaGridDependencySynchronize waits for.
  std::vector<RecordPoint> primaries;
  // When this object is free again: its kernel, and what stands behind that for its sake, have completed.
  engine::Queue* own = nullptr;
  std::uint64_t own_sequence = 0;
  engine::Queue* follower = nullptr;
  std::uint64_t follower_sequence = 0;

  bool over() const noexcept {
    return (!own || own->completed() >= own_sequence) && (!follower || follower->completed() >= follower_sequence) &&
           trigger.passed() && begin.passed();
  }
};

engine::OpResult wait_at_gate(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  auto* gate = static_cast<Gate*>(op.data[0]);
  int nothing = 0;
  return gate->stage.compare_exchange_strong(nothing, 1, std::memory_order_acq_rel) ? engine::OpResult::asynchronous
                                                                                    : engine::OpResult::done;
}
engine::OpResult has_ended(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  auto* launch = static_cast<Launch*>(op.data[0]);
  launch->begin.open();
  launch->trigger.open();
  return engine::OpResult::done;
}

template <class Into>
void push_custom(Into& appender, engine::OpResult (*run)(engine::CustomOp&, engine::Queue&, engine::Runner&, bool),
                 void* data) {
  auto* op = appender.template push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead | engine::op_prompt;
  op->run = run;
  op->data[0] = data;
}

}  // namespace

// A stream's programmatic state: made when it is first needed, kept with the stream's slot.
struct Programmatic {
  std::mutex mutex;  // one programmatic launch of a stream at a time
  std::vector<std::unique_ptr<Launch>> launches;
  // Where gates stand: each in the order of the launches, which is the order in which they open.
  engine::Queue* triggers = nullptr;
  engine::Queue* begins = nullptr;
  engine::Queue* secondaries[2] = {};  // used in turn: a secondary may be the next one's primary
  unsigned turn = 0;
  unsigned level = 0;  // of the secondaries: the stream's, as of the newest launch
  // The newest launch with state of its own: a primary if nothing was enqueued behind it.
  Launch* newest = nullptr;
  std::uint64_t newest_tail = 0;  // tail of the stream's queue right behind it
  engine::Queue* newest_queue = nullptr;
  std::uint64_t newest_sequence = 0;
  bool newest_has_end = false;  // "has ended" stands behind it already
  // Kernels that the stream has waited for by programmatic events: primaries of the next launch if nothing comes
  // between.
  std::vector<RecordPoint> waited_for;
  std::uint64_t waited_tail = 0;

  // The stream's priority may have been changed, or the stream be another one in the same slot.
  void follow_priority(const Stream& stream) noexcept {
    const unsigned wanted = level_of(stream.priority.load(std::memory_order_relaxed));
    if (level == wanted) return;
    level = wanted;
    for (engine::Queue* queue : secondaries) queue->set_level(level);
  }

  Launch* take() {
    for (auto& launch : launches)
      if (launch.get() != newest && launch->over()) {
        launch->triggered.store(0, std::memory_order_relaxed);
        for (Gate* gate : {&launch->trigger, &launch->begin}) {
          gate->stage.store(0, std::memory_order_relaxed);
          gate->queue = nullptr;
        }
        launch->primaries.clear();
        launch->own = launch->follower = nullptr;
        return launch.get();
      }
    launches.push_back(std::make_unique<Launch>());
    return launches.back().get();
  }
};

namespace {

Programmatic& state_of(Stream& stream) {
  static std::mutex making;
  if (Programmatic* p = stream.programmatic.load(std::memory_order_acquire)) return *p;
  std::scoped_lock hold(making);
  if (Programmatic* p = stream.programmatic.load(std::memory_order_relaxed)) return *p;
  auto* p = new Programmatic;
  p->level = level_of(stream.priority);
  // Gates take no time, and what waits for them may be urgent.
  for (engine::Queue** queue : {&p->triggers, &p->begins}) *queue = engine::take_queue(&stream.context->domain, 0);
  for (auto& queue : p->secondaries) queue = engine::take_queue(&stream.context->domain, p->level);
  stream.programmatic.store(p, std::memory_order_release);
  return *p;
}

// The operation of a gate, unless it has one already. Before the gate can be opened by anybody but the kernel.
void ask_for(Gate& gate, engine::Queue& queue) {
  if (gate.queue) return;
  gate.queue = &queue;
  engine::Appender appender(queue);
  push_custom(appender, wait_at_gate, &gate);
  gate.sequence = appender.sequence();
}

template <class Into>
void push_kernel(Into& into, const LaunchRequest& request, const MrKernel& kernel, Stream& stream, Launch* launch) {
  auto* op = into.template push<engine::KernelOp>(engine::OpKind::kernel,
                                                  kernel_op_bytes(kernel, cluster_of(request, kernel).x != 0));
  fill_kernel_op(*op, request, kernel, *stream.context);
  op->grid.grid_id = into.sequence();
  op->grid.launch = launch;
  if (request.has_priority) give_priority(*op, into.queue(), request.priority);
  if (!launch) return;
  launch->total = op->grid.total_blocks;
  if (request.completion_event || request.programmatic_event) op->grid.flags |= simt::grid_tells_begin;
}

// Events that the launch records. Those of a kernel that can't reach their point early are ordinary records.
void record_events(const LaunchRequest& request, const MrKernel& kernel, Programmatic& state, Launch& launch,
                   RecordPoint end) {
  if (Event* event = request.programmatic_event) {
    const bool triggers = (kernel.flags & MR_KERNEL_PDL) != 0 && !request.trigger_at_block_start;
    Gate& gate = triggers ? launch.trigger : launch.begin;
    ask_for(gate, triggers ? *state.triggers : *state.begins);
    record_point(*event, {gate.queue, gate.sequence}, end);
  }
  if (Event* event = request.completion_event) {
    ask_for(launch.begin, *state.begins);
    record_point(*event, {launch.begin.queue, launch.begin.sequence}, {});
  }
}

}  // namespace

void launch_programmatic(const LaunchRequest& request, const MrKernel& kernel, Stream& stream) {
  Programmatic& state = state_of(stream);
  std::scoped_lock hold(state.mutex);
  state.follow_priority(stream);
  const bool has_events = request.programmatic_event || request.completion_event;
  Launch* launch = has_events || (kernel.flags & MR_KERNEL_PDL) ? state.take() : nullptr;
  Launch* primary = state.newest;
  const std::uint64_t tail = stream.queue->tail();
  const bool overlaps = request.programmatic && primary && tail == state.newest_tail &&
                        state.newest_queue->completed() < state.newest_sequence;
  if (launch && !state.waited_for.empty() && tail == state.waited_tail) launch->primaries = state.waited_for;
  state.waited_for.clear();
  if (!overlaps) {
    {
      Enqueue enqueue(stream);
      push_kernel(enqueue, request, kernel, stream, launch);
      state.newest_sequence = enqueue.sequence();
      if (has_events) push_custom(enqueue, has_ended, launch);
      state.newest_tail = enqueue.sequence();
    }
    state.newest = launch;
    state.newest_queue = stream.queue;
    state.newest_has_end = has_events;
    if (launch) {
      launch->own = stream.queue;
      launch->own_sequence = state.newest_tail;
    }
    if (has_events) record_events(request, kernel, state, *launch, {stream.queue, state.newest_sequence});
    return;
  }
  engine::Queue& secondaries = *state.secondaries[state.turn++ & 1];
  ask_for(primary->trigger, *state.triggers);
  std::uint64_t own_sequence;
  {
    engine::Appender appender(secondaries);
    auto* wait = appender.push<engine::WaitOp>(engine::OpKind::wait);
    wait->on = primary->trigger.queue;
    wait->sequence = primary->trigger.sequence;
    if (launch) launch->primaries.push_back({state.newest_queue, state.newest_sequence});
    push_kernel(appender, request, kernel, stream, launch);
    own_sequence = appender.sequence();
    if (has_events) push_custom(appender, has_ended, launch);
    if (launch) {
      launch->own = &secondaries;
      launch->own_sequence = appender.sequence();
    }
  }
  // The primary's end opens its gates if its blocks have not: behind it in its own queue.
  if (!state.newest_has_end && state.newest_queue != stream.queue) {
    engine::Appender appender(*state.newest_queue);
    push_custom(appender, has_ended, primary);
    primary->own_sequence = appender.sequence();
  }
  {
    Enqueue enqueue(stream);
    if (!state.newest_has_end && state.newest_queue == stream.queue) push_custom(enqueue, has_ended, primary);
    auto* wait = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
    wait->on = &secondaries;
    wait->sequence = own_sequence;
    primary->follower = stream.queue;
    primary->follower_sequence = enqueue.sequence();
    state.newest_tail = enqueue.sequence();
  }
  state.newest = launch;
  state.newest_queue = &secondaries;
  state.newest_sequence = own_sequence;
  state.newest_has_end = has_events;
  if (has_events) record_events(request, kernel, state, *launch, {&secondaries, own_sequence});
}

void wait_for_programmatic(Stream& stream, const RecordPoint& end) {
  Programmatic& state = state_of(stream);
  std::scoped_lock hold(state.mutex);
  const std::uint64_t tail = stream.queue->tail();
  if (tail != state.waited_tail) state.waited_for.clear();
  state.waited_for.push_back(end);
  state.waited_tail = tail;
}

void programmatic_trigger(void* data, std::uint64_t) {
  if (is_family(data)) return;
  if (engine::is_port(data)) return engine::port_triggered(data);
  auto* launch = static_cast<Launch*>(data);
  if (launch && launch->triggered.fetch_add(1, std::memory_order_acq_rel) + 1 == launch->total) launch->trigger.open();
}

void programmatic_begun(engine::Domain&, const simt::Grid& grid) {
  if (engine::is_port(grid.launch)) return engine::port_begun(grid.launch);
  static_cast<Launch*>(grid.launch)->begin.open();
}

bool programmatic_ready(void* data) {
  if (!data || is_family(data)) return true;
  if (engine::is_port(data)) return engine::port_ready(data);
  auto* launch = static_cast<Launch*>(data);
  for (const RecordPoint& primary : launch->primaries)
    if (!primary.complete()) return false;
  return true;
}

}  // namespace mr::model
