// How copies and sets become operations, and what their calls wait for.
#include <mutex>

#include <memory/pool.h>
#include <model/context.h>
#include <model/memory_copy.h>
#include <model/stream.h>
#include <observe/explorer.h>
#include <simt/printf.h>

namespace mr::model {

using memory::Copy;
using memory::Kind;

namespace {

// Uploads from pageable memory up to this size are taken at the call, and the call returns while the stream is held;
// larger ones hold the host. (Recorded: 1 MiB returns, 8 MiB doesn't.)
constexpr std::size_t most_staged = std::size_t{1} << 20;
// From here on taking the source costs more than a look at whether the copy can't be made at once instead.
constexpr std::size_t least_at_once = std::size_t{4} << 10;

constexpr bool on_host(Kind kind) noexcept { return kind == Kind::pageable || memory::is_page_locked(kind); }

void push(Enqueue& enqueue, const Copy& copy) noexcept {
  if (copy.is_linear() && !copy.flags) [[likely]] {
    auto* op = enqueue.push<engine::CopyOp>(engine::OpKind::copy);
    op->copy = {copy.dst, copy.src, copy.row};
  } else {
    auto* op = enqueue.push<engine::CopyBoxOp>(engine::OpKind::copy_box);
    op->copy = copy;
  }
}

void push(Enqueue& enqueue, const memory::Fill& fill) noexcept {
  auto* op = enqueue.push<engine::FillOp>(engine::OpKind::fill);
  op->fill = fill;
  op->fill.coalesce();
}

template <class Bytes> void enqueue(Stream& stream, const Bytes& bytes) noexcept {
  Enqueue enqueue(stream);
  push(enqueue, bytes);
}

// The devices, besides the stream's own, in whose default streams a copy has its place, too: a copy between devices in
// a legacy stream stands in those of both (recorded: tests/conformance/own/device-peer-copy-order.cu).
class OtherDevices {
 public:
  OtherDevices(const Stream& stream, const CopyPlan& plan) noexcept {
    if (!stream.is_legacy || memory::space().devices() == 1) [[likely]]
      return;
    if (!plan.within_device()) return;
    const int dst = memory::space().find(plan.copy.dst).device, src = memory::space().find(plan.copy.src).device;
    if (dst == src) return;
    for (const int device : {dst, src})
      if (device >= 0 && device != stream.context->ordinal) contexts_[count_++] = &context_of(device);
  }
  bool empty() const noexcept { return count_ == 0; }
  Context* const* begin() const noexcept { return contexts_; }
  Context* const* end() const noexcept { return contexts_ + count_; }

 private:
  Context* contexts_[2] = {};
  unsigned count_ = 0;
};

// Held while a copy takes its places, so that of two copies between the same devices one comes first in all of them.
std::mutex between_devices;

void wait_for(Enqueue& enqueue, engine::Queue& queue, std::uint64_t sequence) noexcept {
  if (queue.completed() >= sequence) return;
  auto* op = enqueue.push<engine::WaitOp>(engine::OpKind::wait);
  op->on = &queue;
  op->sequence = sequence;
}

// Waits name operations that are enqueued already, so they can't form a circle.
void enqueue_between(Stream& stream, const OtherDevices& others, const Copy& copy) noexcept {
  const std::scoped_lock hold(between_devices);
  std::uint64_t before[2] = {}, sequence;
  unsigned n = 0;
  for (const Context* other : others) before[n++] = Enqueue(*other->legacy).sequence();
  {
    Enqueue enqueue(stream);
    n = 0;
    for (const Context* other : others) wait_for(enqueue, *other->legacy->queue, before[n++]);
    push(enqueue, copy);
    sequence = enqueue.sequence();
  }
  for (const Context* other : others) {
    Enqueue behind(*other->legacy);
    wait_for(behind, *stream.queue, sequence);
  }
}

// Enqueues, and does it on this thread unless somebody else has the queue.
template <class Bytes> void enqueue_and_run(Stream& stream, const Bytes& bytes) noexcept {
  std::uint64_t sequence;
  bool mine = false;
  {
    Enqueue enqueue(stream);
    push(enqueue, bytes);
    sequence = enqueue.sequence();
    enqueue.claim_for(mine);
  }
  const engine::WaitMode mode = stream.context->wait_mode();
  if (mine)
    engine::wait_as_owner(*stream.queue, sequence, mode);
  else
    engine::wait(*stream.queue, sequence, mode);
}

template <class Bytes> void enqueue_and_wait(Stream& stream, const Bytes& bytes) noexcept {
  enqueue_and_run(stream, bytes);
  memory::synchronized(stream.context->ordinal, stream.queue);
  simt::printf_flush(stream.context->device);  // a blocking copy is one of the calls that print what kernels said
}

// Nothing is in the way of what is enqueued now: it begins at once, and is as well done here and now. Not for the
// explorer, which looks for programs that rely on it.
bool done_at_once(Stream& stream) noexcept {
  if (observe::explorer || !stream_idle(stream)) return false;
  return !stream.blocking || stream.is_legacy || !stream.context->legacy->queue->has_work();
}

}  // namespace

void enqueue_fill(Stream& stream, const memory::Fill& fill) noexcept { enqueue(stream, fill); }

void copy_async(Stream& stream, const CopyPlan& plan) noexcept {
  const bool both_host = on_host(plan.dst) && on_host(plan.src);
  if (plan.src == Kind::pageable && !both_host && plan.copy.bytes() <= most_staged) {
    if (plan.copy.bytes() >= least_at_once && done_at_once(stream)) {
      enqueue_and_run(stream, plan.copy);
      return;
    }
    Copy copy = plan.copy;
    if (memory::stage_source(copy)) {
      enqueue(stream, copy);
      return;
    }
  }
  if (both_host || plan.src == Kind::pageable || plan.dst == Kind::pageable)
    enqueue_and_wait(stream, plan.copy);
  else if (const OtherDevices others(stream, plan); others.empty()) [[likely]]
    enqueue(stream, plan.copy);
  else
    enqueue_between(stream, others, plan.copy);
}

void copy_taking_source(Stream& stream, const CopyPlan& plan) noexcept {
  if (!memory::on_device(plan.src)) {
    Copy copy = plan.copy;
    if (memory::stage_source(copy)) {
      if (plan.dst == Kind::pageable)
        enqueue_and_wait(stream, copy);
      else
        enqueue(stream, copy);
      return;
    }
  }
  enqueue_and_wait(stream, plan.copy);
}

// Work that stays on the device is not waited for - but when nothing is in its way it starts at once on a GPU, and
// programs that go on in a stream without order to it have been seen to rely on that.
void copy_and_wait(Stream& stream, const CopyPlan& plan) noexcept {
  if (!plan.within_device()) return enqueue_and_wait(stream, plan.copy);
  const OtherDevices others(stream, plan);
  bool at_once = done_at_once(stream);
  for (const Context* other : others) at_once = at_once && stream_idle(*other->legacy);
  if (at_once)
    enqueue_and_wait(stream, plan.copy);
  else if (others.empty())
    enqueue(stream, plan.copy);
  else
    enqueue_between(stream, others, plan.copy);
}

void fill_and_wait(Stream& stream, const memory::Fill& fill, Kind kind) noexcept {
  if (!memory::on_device(kind) || done_at_once(stream))
    enqueue_and_wait(stream, fill);
  else
    enqueue(stream, fill);
}

}  // namespace mr::model
