// How copies and sets become operations, and what their calls wait for.
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

template <class Bytes> void enqueue_and_wait(Stream& stream, const Bytes& bytes) noexcept {
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
  memory::synchronized(stream.context->ordinal, stream.queue);
  simt::printf_flush(stream.context->device);  // a blocking copy is one of the calls that print what kernels said
}

}  // namespace

void enqueue_fill(Stream& stream, const memory::Fill& fill) noexcept { enqueue(stream, fill); }

void copy_async(Stream& stream, const CopyPlan& plan) noexcept {
  const bool both_host = on_host(plan.dst) && on_host(plan.src);
  if (plan.src == Kind::pageable && !both_host && plan.copy.bytes() <= most_staged) {
    Copy copy = plan.copy;
    if (memory::stage_source(copy)) {
      enqueue(stream, copy);
      return;
    }
  }
  if (both_host || plan.src == Kind::pageable || plan.dst == Kind::pageable)
    enqueue_and_wait(stream, plan.copy);
  else
    enqueue(stream, plan.copy);
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
// programs that go on in a stream without order to it have been seen to rely on that. So it is done here and now then,
// but for the explorer, which looks for such programs.
bool done_at_once(Stream& stream) noexcept { return !observe::explorer && stream_idle(stream); }

void copy_and_wait(Stream& stream, const CopyPlan& plan) noexcept {
  if (!plan.within_device() || done_at_once(stream))
    enqueue_and_wait(stream, plan.copy);
  else
    enqueue(stream, plan.copy);
}

void fill_and_wait(Stream& stream, const memory::Fill& fill, Kind kind) noexcept {
  if (!memory::on_device(kind) || done_at_once(stream))
    enqueue_and_wait(stream, fill);
  else
    enqueue(stream, fill);
}

}  // namespace mr::model
