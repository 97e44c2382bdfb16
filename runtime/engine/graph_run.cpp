#include <engine/graph_run.h>

#include <engine/graph_runner.h>

namespace mr::engine {

constinit thread_local GraphImage* running_image = nullptr;

GraphImage* current_image() noexcept { return running_image; }
ImageScope::ImageScope(GraphImage* image) noexcept : outer_(running_image) { running_image = image; }
ImageScope::~ImageScope() { running_image = outer_; }

bool GraphImage::set_value(std::uint64_t handle, std::uint32_t value) noexcept {
  std::size_t low = 0, high = handles.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (handles[middle].handle < handle)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == handles.size() || handles[low].handle != handle) return false;
  values[low].store(value, std::memory_order_relaxed);
  return true;
}

GraphImage::~GraphImage() {
  for (Queue* queue : idle_queues_) give_queue(queue);
  for (Queue* queue : gates)
    if (queue) give_queue(queue);
  if (free_payload) free_payload(payload_owner);
}

void GraphImage::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void GraphImage::release_after(Queue& queue, std::uint64_t sequence) noexcept {
  if (queue.completed() < sequence) {
    last_launch_.sequence = sequence;
    last_launch_.image = this;
    given_up_.store(&queue, std::memory_order_release);
    if (queue.add_waiter(last_launch_)) return;
  }
  release();
}

namespace {

// The operation in an event record's queue: reached, it waits for its record step.
OpResult gate(CustomOp& op, Queue&, Runner&, bool) {
  auto* state = reinterpret_cast<std::atomic<std::uintptr_t>*>(&op.data[0]);
  return state->exchange(1, std::memory_order_acq_rel) == 2 ? OpResult::done : OpResult::asynchronous;
}

}  // namespace

GraphOp* push_graph(Appender& appender, GraphImage& image, std::size_t slots) noexcept {
  auto* op = appender.push<GraphOp>(OpKind::custom, GraphOp::bytes(slots));
  op->flags = op_even_if_dead;
  op->run = GraphRun::launch;
  op->data[0] = &image;
  op->data[1] = reinterpret_cast<void*>(slots);
  return op;
}

CustomOp* push_gate(Appender& appender) noexcept {
  auto* op = appender.push<CustomOp>(OpKind::custom);
  op->flags = op_even_if_dead;
  op->run = gate;
  op->data[0] = nullptr;
  return op;
}

}  // namespace mr::engine
