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

void wait_for(Stream& stream, std::uint64_t sequence) noexcept {
  engine::wait(*stream.queue, sequence, stream.context->wait_mode());
  memory::synchronized(stream.context->ordinal, stream.queue);
  simt::printf_flush(stream.context->device);  // a blocking copy is one of the calls that print what kernels said
}

}  // namespace

std::uint64_t enqueue_copy(Stream& stream, const Copy& copy) noexcept {
  Enqueue enqueue(stream);
  if (copy.is_linear() && !copy.flags) [[likely]] {
    auto* op = enqueue.push<engine::CopyOp>(engine::OpKind::copy);
    op->copy = {copy.dst, copy.src, copy.row};
  } else {
    auto* op = enqueue.push<engine::CopyBoxOp>(engine::OpKind::copy_box);
    op->copy = copy;
  }
  return enqueue.sequence();
}

std::uint64_t enqueue_fill(Stream& stream, const memory::Fill& fill) noexcept {
  Enqueue enqueue(stream);
  auto* op = enqueue.push<engine::FillOp>(engine::OpKind::fill);
  op->fill = fill;
  op->fill.coalesce();
  return enqueue.sequence();
}

void copy_async(Stream& stream, const CopyPlan& plan) noexcept {
  const bool both_host = on_host(plan.dst) && on_host(plan.src);
  if (plan.src == Kind::pageable && !both_host && plan.copy.bytes() <= most_staged) {
    Copy copy = plan.copy;
    if (memory::stage_source(copy)) {
      enqueue_copy(stream, copy);
      return;
    }
  }
  const std::uint64_t sequence = enqueue_copy(stream, plan.copy);
  if (both_host || plan.src == Kind::pageable || plan.dst == Kind::pageable) wait_for(stream, sequence);
}

void copy_taking_source(Stream& stream, const CopyPlan& plan) noexcept {
  if (!memory::on_device(plan.src)) {
    Copy copy = plan.copy;
    if (memory::stage_source(copy)) {
      const std::uint64_t sequence = enqueue_copy(stream, copy);
      if (plan.dst == Kind::pageable) wait_for(stream, sequence);
      return;
    }
  }
  wait_for(stream, enqueue_copy(stream, plan.copy));
}

// Work that stays on the device is not waited for - but when nothing is in its way it starts at once on a GPU, and
// programs that go on in a stream without order to it have been seen to rely on that. So it is done here and now then,
// but for the explorer, which looks for such programs.
bool done_at_once(Stream& stream) noexcept { return !observe::explorer && stream_idle(stream); }

void copy_and_wait(Stream& stream, const CopyPlan& plan) noexcept {
  const bool now = !plan.within_device() || done_at_once(stream);
  const std::uint64_t sequence = enqueue_copy(stream, plan.copy);
  if (now) wait_for(stream, sequence);
}

void fill_and_wait(Stream& stream, const memory::Fill& fill, Kind kind) noexcept {
  const bool now = !memory::on_device(kind) || done_at_once(stream);
  const std::uint64_t sequence = enqueue_fill(stream, fill);
  if (now) wait_for(stream, sequence);
}

}  // namespace mr::model
