// The part of other threads in a launch: steps that others may take, and steps that run in a queue of their own.
#include <cstring>
#include <mutex>

#include <engine/graph_runner.h>
#include <observe/trace.h>

namespace mr::engine {

void GraphRun::share() noexcept {
  const std::uint32_t most = Scheduler::get().target();
  const std::uint32_t now = image_.helpers_.load(std::memory_order_relaxed);
  const unsigned level = image_.queue_->level();
  become_parallel();
  const std::uint32_t count = publish_local();
  // This thread takes part itself; helpers that were asked before will find what is new.
  for (std::uint32_t asked = now; asked + 1 < most && asked - now < count; ++asked) ask_for_help(level);
}

std::uint32_t GraphRun::publish_local() noexcept {
  std::scoped_lock hold(image_.lock_);
  const std::uint32_t count = local_count_;
  while (local_ != none) {
    const std::uint32_t step = local_;
    local_ = image_.link[step];
    image_.link[step] = image_.shared_;
    image_.shared_ = step;
  }
  image_.shared_count_ += count;
  local_count_ = 0;
  return count;
}

void GraphRun::ask_for_help(unsigned level) noexcept {
  image_.helpers_.fetch_add(1, std::memory_order_relaxed);
  image_.retain();
  Queue& queue = branch_queue(level);
  Appender appender(queue);
  auto* op = appender.push<CustomOp>(OpKind::custom);
  op->flags = op_even_if_dead;
  op->run = help;
  op->data[0] = &image_;
}

void GraphRun::hand_over() noexcept {
  const unsigned level = image_.queue_->level();
  become_parallel();
  publish_local();
  ask_for_help(level);
}

Queue& GraphRun::branch_queue(unsigned level) noexcept {
  Queue* queue = nullptr;
  {
    std::scoped_lock hold(image_.lock_);
    for (std::size_t i = image_.idle_queues_.size(); i-- > 0;) {
      // One that was given back a moment ago may not have completed its operation yet; it must not be reset then.
      if (image_.idle_queues_[i]->has_work() || image_.idle_queues_[i]->level() != level) continue;
      queue = image_.idle_queues_[i];
      image_.idle_queues_[i] = image_.idle_queues_.back();
      image_.idle_queues_.pop_back();
      break;
    }
  }
  if (!queue) queue = take_queue(&image_.domain, level);
  queue->set_image(&image_);
  return *queue;
}

unsigned GraphRun::level_of(const Step& step) const noexcept {
  if (!image_.use_priorities) return image_.queue_->level();
  const int level = step.priority + static_cast<int>(priority_levels) - 1;
  return static_cast<unsigned>(level);
}

KernelOp* GraphRun::push_kernel(Appender& appender, const Step& step, const KernelWork& work) noexcept {
  // The record's arguments begin where KernelOp's do: 112 bytes in, or 128 where a parameter wants more alignment
  // than 16.
  const std::size_t offset = work.args_offset;
  auto* op = appender.push<KernelOp>(OpKind::kernel, offset + (work.bytes - work.args_offset));
  if (step.flags & step_resident) op->flags |= op_workers_only;
  op->grid = work.grid;
  auto* args = reinterpret_cast<char*>(op) + offset;
  std::memcpy(args, work.grid.args, work.bytes - work.args_offset);
  op->grid.args = args;
  if (work.grid.cluster)
    op->grid.cluster = reinterpret_cast<const std::uint32_t*>(
        args + (reinterpret_cast<const char*>(work.grid.cluster) - static_cast<const char*>(work.grid.args)));
  if (!observe::tracing) op->grid.grid_id = appender.sequence();  // tools tell steps by theirs
  return op;
}

void GraphRun::push_continuation(Appender& appender, std::uint32_t index, ContinueWith run) noexcept {
  auto* op = appender.push<CustomOp>(OpKind::custom);
  op->flags = op_even_if_dead;
  op->run = run;
  op->data[0] = &image_;
  op->data[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index));
}

void GraphRun::start_elsewhere(std::uint32_t index) noexcept {
  become_parallel();
  const Step& step = steps_[index];
  PortWork* const port = step.flags & step_port && !observe::explorer ? &open_port(index) : nullptr;
  Queue& queue = branch_queue(level_of(step));
  Appender appender(queue);
  if (observe::explorer && step.kind != StepKind::wait && !(step.flags & step_launches)) [[unlikely]] {
    push_continuation(appender, index, explored_step);
    return;
  }
  switch (step.kind) {
  case StepKind::kernel: {
    KernelOp* op = push_kernel(appender, step, *static_cast<KernelWork*>(step.payload));
    if (step.flags & step_launches && !port) image_.domain.on_launching(appender, *op);
    if (!port) break;
    op->grid.launch = reinterpret_cast<char*>(port) + 2;
    if (port->at[PortWork::begun] != PortWork::no_step) op->grid.flags |= simt::grid_tells_begin;
    push_port_end(appender, *port);
    break;
  }
  case StepKind::host: {
    const auto& work = *static_cast<HostWork*>(step.payload);
    auto* op = appender.push<HostOp>(OpKind::host);
    op->function = work.function;
    op->data = work.data;
    op->with_status = work.call;
    if (observe::subscriber) [[unlikely]]
      op->site = work.site;
    break;
  }
  case StepKind::wait: {
    const GraphSlot& slot = slot_of(step);
    auto* op = appender.push<WaitOp>(OpKind::wait);
    op->on = slot.queue;
    op->sequence = slot.sequence;
    break;
  }
  default: break;
  }
  push_continuation(appender, index);
}

OpResult GraphRun::end_with_environment(GraphImage& image, Queue& queue, bool elsewhere) noexcept {
  Environment* const environment = image.end_of_nodes();
  const bool in_chain = runs_in_chain(*environment, queue);
  image.launch_over(queue);
  // A chain's operation is over with the nodes; the host's goes on until the launch's environment is left.
  if (in_chain && elsewhere) queue.finish_asynchronous();
  leave_environment(environment);
  return in_chain ? OpResult::done : OpResult::asynchronous;
}

void GraphRun::note_step(const Step& step, std::uint64_t begin) const noexcept {
  if (!observe::recording()) return;
  observe::Detail d;
  switch (step.kind) {
  case StepKind::kernel: {
    const simt::Grid& grid = static_cast<const KernelWork*>(step.payload)->grid;
    if (grid.total_blocks > 1) return;  // it was an operation of a queue (spread)
    d.kind = trace_format::kernel;
    d.name = grid.kernel->name;
    for (int i = 0; i < 3; ++i) {
      d.grid[i] = grid.grid[i];
      d.block[i] = grid.block[i];
    }
    break;
  }
  case StepKind::copy:
  case StepKind::copy_box:
    d.kind = trace_format::copy;
    d.bytes = static_cast<const memory::Copy*>(step.payload)->bytes();
    break;
  case StepKind::fill:
    d.kind = trace_format::fill;
    d.bytes = static_cast<const memory::Fill*>(step.payload)->bytes();
    break;
  case StepKind::pattern: {
    const auto& fill = *static_cast<const PatternFill*>(step.payload);
    d.kind = trace_format::fill;
    d.bytes = fill.row * fill.height;
    break;
  }
  case StepKind::host: d.kind = trace_format::host; break;
  default: return;
  }
  observe::node_ran(image_.queue_, image_.queue_->completed() + 1, begin, d);
}

bool GraphRun::spread(std::uint32_t index, KernelWork& work) noexcept {
  // Whoever waits for nothing else may take what is on the list meanwhile.
  Queue& queue = branch_queue(level_of(steps_[index]));
  become_parallel();
  std::uint64_t sequence;
  const bool claimed = queue.try_claim(runner_.worker);
  {
    Appender appender(queue);
    push_kernel(appender, steps_[index], work);
    sequence = appender.sequence();
    if (!claimed) push_continuation(appender, index);
  }
  if (!claimed) return false;
  ++runner_.depth;
  const Drain result = drain(queue, runner_, sequence);
  --runner_.depth;
  settle(queue, runner_, result);
  if (result == Drain::reached) {
    std::scoped_lock hold(image_.lock_);
    image_.idle_queues_.push_back(&queue);
    return true;
  }
  Appender appender(queue);
  push_continuation(appender, index);
  return false;
}

}  // namespace mr::engine
