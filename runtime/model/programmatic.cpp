#include <model/programmatic.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <engine/queue.h>

namespace mr::model {
namespace {

// State of one launch of a kernel that calls the device functions (Grid::launch). Reused when the launch and what
// follows it are over.
struct Launch {
  // Blocks that have triggered. acq_rel: who fires sees what all blocks wrote before.
  std::atomic<std::uint64_t> triggered{0};
  std::uint64_t total = 0;
  // 0 nothing yet, 1 the operation in T waits, 2 fired. Exchanged (acq_rel) by both sides: the second to come completes
  // the operation.
  std::atomic<int> stage{0};
  engine::Queue* trigger_queue = nullptr;
  // What cudaGridDependencySynchronize waits for; null: nothing.
  engine::Queue* primary = nullptr;
  std::uint64_t primary_sequence = 0;
  // When this object is free again.
  engine::Queue* own = nullptr;
  std::uint64_t own_sequence = 0;
  engine::Queue* follower = nullptr;
  std::uint64_t follower_sequence = 0;

  bool over() const noexcept {
    return (!own || own->completed() >= own_sequence) && (!follower || follower->completed() >= follower_sequence);
  }
  void fire() noexcept {
    if (stage.exchange(2, std::memory_order_acq_rel) == 1) trigger_queue->finish_asynchronous();
  }
};

engine::OpResult wait_for_trigger(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  auto* launch = static_cast<Launch*>(op.data[0]);
  return launch->stage.exchange(1, std::memory_order_acq_rel) == 2 ? engine::OpResult::done
                                                                   : engine::OpResult::asynchronous;
}
engine::OpResult has_ended(engine::CustomOp& op, engine::Queue&, engine::Runner&, bool) {
  static_cast<Launch*>(op.data[0])->fire();
  return engine::OpResult::done;
}

template <class Into>
void push_custom(Into& appender, engine::OpResult (*run)(engine::CustomOp&, engine::Queue&, engine::Runner&, bool),
                 void* data) {
  auto* op = appender.template push<engine::CustomOp>(engine::OpKind::custom);
  op->flags = engine::op_even_if_dead;
  op->run = run;
  op->data[0] = data;
}

}  // namespace

// A stream's programmatic state: made when it is first needed, kept with the stream's slot.
struct Programmatic {
  std::mutex mutex;  // one programmatic launch of a stream at a time
  std::vector<std::unique_ptr<Launch>> launches;
  engine::Queue* triggers = nullptr;
  engine::Queue* secondaries[2] = {};  // used in turn: a secondary may be the next one's primary
  unsigned turn = 0;
  // The newest launch of a kernel that can trigger: a primary if nothing was enqueued behind it.
  Launch* newest = nullptr;
  std::uint64_t newest_tail = 0;  // tail of the stream's queue right behind it
  engine::Queue* newest_queue = nullptr;
  std::uint64_t newest_sequence = 0;

  Launch* take() {
    for (auto& launch : launches)
      if (launch.get() != newest && launch->over()) {
        launch->triggered.store(0, std::memory_order_relaxed);
        launch->stage.store(0, std::memory_order_relaxed);
        launch->primary = launch->own = launch->follower = nullptr;
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
  const unsigned level = level_of(stream.priority);
  p->triggers = engine::take_queue(&stream.context->domain, level);
  for (auto& queue : p->secondaries) queue = engine::take_queue(&stream.context->domain, level);
  stream.programmatic.store(p, std::memory_order_release);
  return *p;
}

template <class Into>
void push_kernel(Into& into, const LaunchRequest& request, const MrKernel& kernel, Stream& stream, Launch* launch) {
  auto* op = into.template push<engine::KernelOp>(engine::OpKind::kernel,
                                                  kernel_op_bytes(kernel, cluster_of(request, kernel).x != 0));
  fill_kernel_op(*op, request, kernel, *stream.context);
  op->grid.grid_id = into.sequence();
  op->grid.launch = launch;
  if (launch) launch->total = op->grid.total_blocks;
}

}  // namespace

void launch_programmatic(const LaunchRequest& request, const MrKernel& kernel, Stream& stream) {
  Programmatic& state = state_of(stream);
  std::scoped_lock hold(state.mutex);
  Launch* launch = (kernel.flags & MR_KERNEL_PDL) ? state.take() : nullptr;
  Launch* primary = state.newest;
  const bool overlaps = request.programmatic && primary && stream.queue->tail() == state.newest_tail &&
                        state.newest_queue->completed() < state.newest_sequence;
  if (!overlaps) {
    Enqueue enqueue(stream);
    push_kernel(enqueue, request, kernel, stream, launch);
    state.newest = launch;
    state.newest_queue = stream.queue;
    state.newest_sequence = state.newest_tail = enqueue.sequence();
    if (launch) {
      launch->own = stream.queue;
      launch->own_sequence = enqueue.sequence();
    }
    return;
  }
  engine::Queue& secondaries = *state.secondaries[state.turn++ & 1];
  std::uint64_t trigger_sequence;
  primary->trigger_queue = state.triggers;
  {
    engine::Appender appender(*state.triggers);
    push_custom(appender, wait_for_trigger, primary);
    trigger_sequence = appender.sequence();
  }
  std::uint64_t own_sequence;
  {
    engine::Appender appender(secondaries);
    auto* wait = appender.push<engine::WaitOp>(engine::OpKind::wait);
    wait->on = state.triggers;
    wait->sequence = trigger_sequence;
    if (launch) {
      launch->primary = state.newest_queue;
      launch->primary_sequence = state.newest_sequence;
    }
    push_kernel(appender, request, kernel, stream, launch);
    own_sequence = appender.sequence();
    if (launch) {
      launch->own = &secondaries;
      launch->own_sequence = own_sequence;
    }
  }
  // The primary's end fires its trigger if its blocks have not: behind it in its own queue.
  if (state.newest_queue != stream.queue) {
    engine::Appender appender(*state.newest_queue);
    push_custom(appender, has_ended, primary);
  }
  Enqueue enqueue(stream);
  if (state.newest_queue == stream.queue) push_custom(enqueue, has_ended, primary);
  auto* wait = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
  wait->on = &secondaries;
  wait->sequence = own_sequence;
  primary->follower = stream.queue;
  primary->follower_sequence = enqueue.sequence();
  state.newest = launch;
  state.newest_queue = &secondaries;
  state.newest_sequence = own_sequence;
  state.newest_tail = enqueue.sequence();
}

void programmatic_trigger(void* data, std::uint64_t) {
  auto* launch = static_cast<Launch*>(data);
  if (launch && launch->triggered.fetch_add(1, std::memory_order_acq_rel) + 1 == launch->total) launch->fire();
}

bool programmatic_ready(void* data) {
  auto* launch = static_cast<Launch*>(data);
  return !launch || !launch->primary || launch->primary->completed() >= launch->primary_sequence;
}

}  // namespace mr::model
