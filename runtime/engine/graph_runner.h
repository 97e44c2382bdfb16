// One thread's part in a launch of a graph: how graph_run.h's steps are run. For graph_run.cpp and graph_share.cpp
// only.
#pragma once
#include <cstdint>
#include <mutex>

#include <sched.h>

#include <engine/clock.h>
#include <engine/delay.h>
#include <engine/drain.h>
#include <engine/explore.h>
#include <engine/graph_launch.h>
#include <engine/graph_run.h>
#include <engine/queue.h>
#include <engine/scheduler.h>
#include <engine/worker.h>
#include <observe/explorer.h>
#include <observe/subscriber.h>

namespace mr::engine {

// The image that the calling thread runs steps of, or null.
extern constinit thread_local GraphImage* running_image;

// A step that takes longer than this is worth another thread's while (a cache line's way there and back is a third of a
// microsecond).
inline constexpr std::uint64_t heavy_ticks = 3 * ticks_per_us;
// Below this average even a wide level is done sooner by one thread.
inline constexpr std::uint32_t worthwhile_ticks = ticks_per_us / 2;
// How many steps are run between two looks at whether this worker should do something more urgent.
inline constexpr unsigned look_interval = 32;

// The steps of a launch in `queue` have ended; it has not completed yet.
inline void GraphImage::launch_over(Queue& queue) noexcept {
  if (for_device_launches)
    release();
  else if (given_up_.load(std::memory_order_acquire) == &queue && queue.completed() + 1 == last_launch_.sequence)
      [[unlikely]]
    settle(payload_owner);
}

// One thread's part in a launch.
class GraphRun {
 public:
  GraphRun(GraphImage& image, Runner& runner, bool parallel) noexcept
      : image_(image), steps_(image.steps.data()), next_(image.next.data()), runner_(runner), parallel_(parallel) {
    outer_ = running_image;
    running_image = &image;
  }
  ~GraphRun() {
    running_image = outer_;
    if (retained_) image_.release();
  }

  static OpResult launch(CustomOp& op, Queue& queue, Runner& runner, bool) {
    auto& graph = static_cast<GraphOp&>(op);
    auto& image = *static_cast<GraphImage*>(graph.data[0]);
    image.op_ = &graph;
    image.queue_ = &queue;
    const std::uint64_t number = ++image.launches_;
    for (std::size_t i = 0; i < image.handles.size(); ++i)
      if (image.handles[i].assign) image.values[i].store(image.handles[i].initial, std::memory_order_relaxed);
    bool ended;
    {
      GraphRun run(image, runner, false);
      const std::uint64_t begin = image.measured_ ? 0 : ticks();
      run.timing_ = !image.measured_;
      run.push_list(image.roots.data(), static_cast<std::uint32_t>(image.roots.size()));
      ended = run.work();
      if (ended && !run.parallel_ && run.timing_) {
        image.average_ = static_cast<std::uint32_t>((ticks() - begin) / (run.count_ + 1));
        image.measured_ = !observe::tracing;  // each step is timed then
      }
    }
    if (!ended) return OpResult::asynchronous;
    if (image.launch_line && !runner.worker) fetch_to_write(image.launch_line);
    if (image.launches_ != number) {
      // Others ran this launch to its end while this thread looked for steps, and what it found was the next launch's.
      finish(image);
      return OpResult::asynchronous;
    }
    if (image.environment_.load(std::memory_order_relaxed)) [[unlikely]]
      return end_with_environment(image, queue, false);
    image.launch_over(queue);
    return OpResult::done;
  }

  // Goes on behind a step that ran in a branch queue.
  static OpResult go_on(CustomOp& op, Queue& queue, Runner& runner, bool) {
    auto& image = *static_cast<GraphImage*>(op.data[0]);
    image.retain();  // for the queue's return, which may be after the launch's end
    {
      GraphRun run(image, runner, true);
      const std::uint32_t step = run.behind(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(op.data[1])));
      if (step != none) run.push_local(step);
      if (run.work()) run.finish_elsewhere();
    }
    give_back(image, queue);
    return OpResult::done;
  }

  static OpResult help(CustomOp& op, Queue& queue, Runner& runner, bool) {
    auto& image = *static_cast<GraphImage*>(op.data[0]);  // the operation holds a reference
    {
      GraphRun run(image, runner, true);
      if (run.work()) run.finish_elsewhere();
    }
    image.helpers_.fetch_sub(1, std::memory_order_relaxed);
    give_back(image, queue);
    return OpResult::done;
  }

  // Under the explorer (observe/explorer.h) each step that does something is an operation in a queue of its own, which
  // goes on with the step's successors.
  static OpResult explored_step(CustomOp& op, Queue& queue, Runner& runner, bool);
  // Of an operation in a queue: whether it is a launch, or a step under the explorer.
  static void describe(const CustomOp& op, observe::Front& front) noexcept;
  static trace_format::OperationKind trace_kind(const CustomOp& op) noexcept {
    return op.run == launch ? trace_format::graph : trace_format::internal;
  }

 private:
  static constexpr std::uint32_t none = GraphImage::none;

  static void give_back(GraphImage& image, Queue& queue) noexcept {
    {
      std::scoped_lock hold(image.lock_);
      image.idle_queues_.push_back(&queue);
    }
    image.release();
  }

  // Runs steps until none is left for this thread. True when the launch's end was among them.
  bool work() noexcept {
    for (;;) {
      std::uint32_t step = pop();
      if (step == none) break;
      do {
        step = run_step(step);
        if (ended_) return true;
        // Only with a step in hand: without one, another thread may come to the launch's end, and begin the next.
        if ((++count_ & (look_interval - 1)) == 0 && (step != none || local_ != none) && runner_.worker &&
            runner_.should_yield(image_.queue_->level())) {
          if (step != none) push_local(step);
          hand_over();
          return false;
        }
      } while (step != none);
    }
    if (runner_.in_host_function) runner_.leave_host_function();
    return false;
  }

  void finish_elsewhere() noexcept { finish(image_); }
  // By the thread that ran launch_end; whichever launch that belongs to (see `pop`), it is the one that runs.
  static void finish(GraphImage& image) noexcept {
    Queue& queue = *image.queue_;
    if (image.environment_.load(std::memory_order_relaxed)) [[unlikely]] {
      end_with_environment(image, queue, true);
      return;
    }
    // From here on the next launch may begin; this thread has nothing of this one any more.
    image.launch_over(queue);
    queue.finish_asynchronous();
  }

  // A thread without a step does not keep the launch from ending: what it finds on the shared list may belong to the
  // image's next launch. Whoever runs launch_end therefore asks the image which one has ended.
  std::uint32_t pop() noexcept {
    if (local_ != none) {
      const std::uint32_t step = local_;
      local_ = image_.link[step];
      --local_count_;
      return step;
    }
    if (!parallel_) return none;
    MR_DELAY();
    std::scoped_lock hold(image_.lock_);
    const std::uint32_t step = image_.shared_;
    if (step != none) {
      image_.shared_ = image_.link[step];
      --image_.shared_count_;
    }
    return step;
  }
  void push_local(std::uint32_t step) noexcept {
    image_.link[step] = local_;
    local_ = step;
    ++local_count_;
  }

  void become_parallel() noexcept {
    if (parallel_) return;
    parallel_ = true;
    // Another thread may come to the launch's end, and give its reference up, while this one still looks for steps.
    image_.retain();
    retained_ = true;
  }

  // Steps that only need to be run: all ready at once.
  void push_list(const std::uint32_t* list, std::uint32_t count) noexcept {
    for (std::uint32_t i = count; i-- > 0;) push_ready(list[i]);
  }
  // Steps that wait for others, or run by other means, begin at once; the rest wait for their turn on this thread's
  // list.
  void push_ready(std::uint32_t step) noexcept {
    if (!starts_elsewhere(steps_[step])) return push_local(step);
    start_elsewhere(step);
  }
  bool starts_elsewhere(const Step& step) const noexcept {
    if (step.flags & step_disabled) return false;
    if (observe::explorer && step.kind >= StepKind::kernel && step.kind <= StepKind::host) [[unlikely]]
      return true;
    switch (step.kind) {
    case StepKind::host:
      // On this worker only if nothing else of the launch can be held up by it.
      return !runner_.worker || runner_.residents || parallel_ || local_ != none || alone_is_doubtful_;
    case StepKind::kernel: return (step.flags & step_in_queue) && !image_.domain.dead();
    case StepKind::wait: {
      const GraphSlot& slot = slot_of(step);
      return slot.queue && slot.queue->completed() < slot.sequence;
    }
    default: return false;
    }
  }
  GraphSlot& slot_of(const Step& step) const noexcept {
    return image_.op_->slots()[reinterpret_cast<std::uintptr_t>(step.payload)];
  }

  // Counts `step` as run: pushes the successors that are ready, but returns the first of them to be run next.
  std::uint32_t behind(std::uint32_t index) noexcept {
    const Step& step = steps_[index];
    const std::uint32_t* successor = next_ + step.first_next;
    std::uint32_t chosen = none;
    if (step.next_count == 1) {
      if (!arrive(*successor)) return none;
      chosen = *successor;
    } else {
      alone_is_doubtful_ = step.next_count > 1;  // others may follow in this loop
      for (std::uint32_t i = step.next_count; i-- > 0;) {
        const std::uint32_t other = successor[i];
        if (!arrive(other)) continue;
        if (chosen != none) push_ready(chosen);
        chosen = other;
      }
      alone_is_doubtful_ = false;
      if (chosen == none) return none;
    }
    if (starts_elsewhere(steps_[chosen])) {
      start_elsewhere(chosen);
      return none;
    }
    return chosen;
  }
  bool arrive(std::uint32_t index) noexcept {
    const std::uint32_t needs = steps_[index].needs;
    if (needs == 1) return true;
    std::atomic<std::uint32_t>& left = image_.left[index];
    if (!parallel_) {
      const std::uint32_t now = left.load(std::memory_order_relaxed) - 1;
      left.store(now == 0 ? needs : now, std::memory_order_relaxed);
      return now == 0;
    }
    if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    left.store(needs, std::memory_order_relaxed);  // for the next time; before anything behind this step
    return true;
  }

  // Whether plain steps may be run by run_plain(): what the general way does besides is nothing then, for steps that
  // aren't heavy.
  bool plain_is_enough() const noexcept {
    return !timing_ && !observe::explorer && !runner_.in_host_function && !wide_and_worthwhile();
  }
  bool wide_and_worthwhile() const noexcept { return local_count_ >= 16 && image_.average_ > worthwhile_ticks; }

  // A chain of kernels with nothing special about them, as far as it goes. `index`: its first step, and then the step
  // that run_step() has to run or, when it is time to look around, return. False: `index` is what to go on with, or
  // none.
  bool run_plain(std::uint32_t& index) noexcept {
    for (;;) {
      const Step& step = steps_[index];
      if (step.kind != StepKind::kernel || step.flags || image_.heavy[index].load(std::memory_order_relaxed))
        return true;
      auto& work = *static_cast<KernelWork*>(step.payload);
      const std::uint64_t blocks = work.grid.total_blocks;
      if (blocks != 1 && !image_.measured_) return true;
      // In a dead context it is interrupted at once.
      const simt::Fault fault = simt::run_blocks(work.grid, 0, blocks);
      if (fault != simt::Fault::none && fault != simt::Fault::interrupted) [[unlikely]]
        image_.domain.on_fault(image_.domain, fault, work.grid);
      if (step.next_count != 1 || steps_[next_[step.first_next]].needs != 1) {
        index = behind(index);
        return false;
      }
      index = next_[step.first_next];
      if (starts_elsewhere(steps_[index])) {
        start_elsewhere(index);
        index = none;
        return false;
      }
      if ((++count_ & (look_interval - 1)) == look_interval - 1) return false;
    }
  }

  std::uint32_t run_step(std::uint32_t index) noexcept {
    if (plain_is_enough() && !run_plain(index)) return index;
    const Step& step = steps_[index];
    if (runner_.in_host_function && step.kind != StepKind::host) runner_.leave_host_function();
    if (step.kind == StepKind::nothing || step.flags & step_disabled) {
      if (step.flags & step_port) pass_ports(index);
      return behind(index);
    }
    const bool heavy = image_.heavy[index].load(std::memory_order_relaxed);
    if (heavy && local_ != none) share();
    const std::uint64_t begin = timing_ ? ticks() : 0;
    switch (step.kind) {
    case StepKind::kernel: {
      auto& work = *static_cast<KernelWork*>(step.payload);
      if (image_.domain.dead()) break;
      if (observe::explorer) [[unlikely]] {
        run_explored(image_.domain, work.grid, (step.flags & step_resident) != 0, &image_);
        break;
      }
      if (step.flags & step_in_queue) return start_elsewhere(index), none;
      if (work.grid.total_blocks == 1 || (image_.measured_ && !heavy)) {
        const simt::Fault fault = simt::run_blocks(work.grid, 0, work.grid.total_blocks);
        if (fault != simt::Fault::none && fault != simt::Fault::interrupted) [[unlikely]]
          image_.domain.on_fault(image_.domain, fault, work.grid);
      } else if (!spread(index, work)) {
        return none;
      }
      break;
    }
    case StepKind::copy:
      if (!image_.domain.dead()) {
        const auto& copy = *static_cast<const memory::Copy*>(step.payload);
        memory::run(memory::LinearCopy{copy.dst, copy.src, copy.row});
      }
      break;
    case StepKind::copy_box:
      if (!image_.domain.dead()) memory::run(*static_cast<memory::Copy*>(step.payload));
      break;
    case StepKind::fill:
      if (!image_.domain.dead()) memory::run(*static_cast<memory::Fill*>(step.payload));
      break;
    case StepKind::pattern:
      if (!image_.domain.dead()) fill_pattern(*static_cast<PatternFill*>(step.payload));
      break;
    case StepKind::host: {
      auto& work = *static_cast<HostWork*>(step.payload);
      if (!runner_.in_host_function) {
        runner_.in_host_function = true;
        Scheduler::get().enter_host_function();
      }
      HostOp op{};
      op.function = work.function;
      op.data = work.data;
      if (observe::subscriber) [[unlikely]]
        observe::subscriber->host_step(work.site);
      work.call(op, image_.domain.dead());
      if (begin && observe::tracing) [[unlikely]]
        note_step(step, begin);
      break;
    }
    case StepKind::record: open_gate(slot_of(step)); break;
    case StepKind::wait: break;  // its point has completed
    case StepKind::branch: return enter(index, *static_cast<BranchWork*>(step.payload), false);
    case StepKind::branch_end: return enter(index, *static_cast<BranchWork*>(step.payload), true);
    case StepKind::launch_end:
      if (runner_.in_host_function) runner_.leave_host_function();
      ended_ = true;
      return none;
    case StepKind::nothing: break;
    }
    if (begin && step.kind != StepKind::host) {
      const bool long_one = ticks() - begin > heavy_ticks;
      image_.heavy[index].store(long_one, std::memory_order_relaxed);
      if (long_one && local_ != none) share();
      if (observe::tracing) [[unlikely]]
        note_step(step, begin);
    } else if (wide_and_worthwhile()) {
      share();
    }
    if (step.flags & step_port) [[unlikely]]
      pass_ports(index);
    return behind(index);
  }

  // For a trace: the step that this thread has run itself since `begin` (ticks).
  void note_step(const Step& step, std::uint64_t begin) const noexcept;

  static void fill_pattern(const PatternFill& fill) noexcept {
    for (std::size_t y = 0; y < fill.height; ++y) {
      char* row = fill.dst + y * fill.pitch;
      for (std::size_t x = 0; x < fill.row; ++x) row[x] = static_cast<char>(fill.pattern >> 8 * (x & 3));
    }
  }

  std::uint32_t enter(std::uint32_t index, const BranchWork& work, bool again) noexcept {
    if ((again && !work.loop) || image_.domain.dead()) return behind(index);
    const std::uint32_t value = image_.values[work.value].load(std::memory_order_relaxed);
    const std::uint32_t body = work.selector ? value : (value ? 0u : 1u);
    if (body >= work.bodies) return behind(index);
    const Body& b = image_.bodies[work.first_body + body];
    if (b.root_count == 0) {
      // An empty body of a loop whose value stays would never end; nothing in it could change the value.
      return behind(index);
    }
    push_list(next_ + b.first_root, b.root_count);
    return none;
  }

  void open_gate(const GraphSlot& slot) noexcept {
    if (!slot.gate) return;
    if (slot.stamp && slot.stamp->ticket.load(std::memory_order_relaxed) == slot.ticket) {
      slot.stamp->time_ns.store(now_ns(), std::memory_order_relaxed);
      slot.stamp->done.store(slot.ticket, std::memory_order_release);
    }
    // Pairs with gate(): whoever comes second completes the operation.
    Queue& queue = *slot.queue;
    auto* state = reinterpret_cast<std::atomic<std::uintptr_t>*>(&slot.gate->data[0]);
    if (state->exchange(2, std::memory_order_acq_rel) == 1) return queue.finish_asynchronous();
    // The queue has not come to the gate yet. The event is complete before anything behind the record is: see to it.
    // All earlier operations of this queue are open gates, so whoever holds it has a few instructions to go.
    const std::uint64_t sequence = slot.sequence;
    for (unsigned spins = 0; queue.completed() < sequence; ++spins) {
      if (queue.try_claim(runner_.worker)) {
        ++runner_.depth;
        const Drain result = drain(queue, runner_, sequence);
        --runner_.depth;
        settle(queue, runner_, result);
      } else if (spins < 64) {
        cpu_pause();
      } else {
        sched_yield();
      }
    }
  }

  // The nodes have ended of a launch that is a device's, or has launched graphs (graph_share.cpp). `elsewhere`: the
  // operation went on by other means and has to be completed.
  static OpResult end_with_environment(GraphImage& image, Queue& queue, bool elsewhere) noexcept;

  // ---- other threads (graph_share.cpp) ----

  // Moves this thread's waiting steps to where others find them, and asks others to come.
  void share() noexcept;
  // All local steps go; returns how many.
  std::uint32_t publish_local() noexcept;
  // `level`: the launch's queue's, read while this thread had a step in hand.
  void ask_for_help(unsigned level) noexcept;
  // This worker has something more urgent to do: its steps go to whoever comes, for certain.
  void hand_over() noexcept;
  Queue& branch_queue(unsigned level) noexcept;
  unsigned level_of(const Step& step) const noexcept;
  static KernelOp* push_kernel(Appender& appender, const Step& step, const KernelWork& work) noexcept;
  using ContinueWith = OpResult (*)(CustomOp& op, Queue& queue, Runner& runner, bool);
  void push_continuation(Appender& appender, std::uint32_t index, ContinueWith run = go_on) noexcept;
  void start_elsewhere(std::uint32_t index) noexcept;
  // Kernels with ports (graph_port.cpp): begins a launch's state, with an operation for each moment's gate.
  PortWork& open_port(std::uint32_t index) noexcept;
  static void push_port_end(Appender& appender, PortWork& port) noexcept;
  // The kernel was passed over, or has run to its end here: all of its moments have come.
  void pass_ports(std::uint32_t index) noexcept;
  // A finite grid of several blocks: on this thread and on others. True when it has ended; false when a continuation
  // takes over.
  bool spread(std::uint32_t index, KernelWork& work) noexcept;

  GraphImage& image_;
  const Step* const steps_;
  const std::uint32_t* const next_;
  Runner& runner_;
  GraphImage* outer_;
  bool parallel_;
  bool retained_ = false;
  bool ended_ = false;
  bool timing_ = observe::tracing;
  bool alone_is_doubtful_ = false;
  std::uint32_t local_ = none, local_count_ = 0;
  unsigned count_ = 0;
};

}  // namespace mr::engine
