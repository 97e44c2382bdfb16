// Batches of copies: their parts have no order among themselves, and each says when its source may be read.
#include <observe/array_layout.h>

#include "api_copy.h"

using namespace mr::check;

namespace {

struct Part {
  Touch from, to;
  cudaMemcpySrcAccessOrder order;
};

template <class Real>
cudaError_t operate_parts(ApiCall& call, cudaStream_t stream, bool per_thread, const std::vector<Part>& parts,
                          Real real_call) {
  std::vector<OpRef> ops;
  bool waits = false;
  for (const Part& part : parts)
    waits |= copy_waits(Form::asynchronous, reinterpret_cast<const void*>(part.to.begin),
                        reinterpret_cast<const void*>(part.from.begin));
  if (!parts.empty() && !capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      Order& order = checker->order;
      OpRef early;  // reads what may be read at any time from now on, until the batch has ended
      for (const Part& part : parts) {
        if (part.order == cudaMemcpySrcAccessOrderDuringApiCall)
          checker->touch(part.from, {order.segment_of(*call.thread.actor), reads, nullptr, call.call});
        if (part.order == cudaMemcpySrcAccessOrderAny && !early)
          early = order.make_early(s, *call.thread.actor, call.call);
      }
      ops = order.enqueue_batch(s, *call.thread.actor, call.call, parts.size(), early);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        ops[i]->touches.push_back(parts[i].to);
        if (parts[i].order == cudaMemcpySrcAccessOrderAny)
          early->touches.push_back(parts[i].from);
        else if (parts[i].order != cudaMemcpySrcAccessOrderDuringApiCall)
          ops[i]->touches.push_back(parts[i].from);
      }
      if (early) ops.push_back(early);
      call.expect(ops);
    }
  }
  const cudaError_t error = real_call();
  call.finish(error == cudaSuccess);
  if (waits && error == cudaSuccess && !ops.empty()) {
    std::scoped_lock hold(checker->lock);
    checker->order.join(*call.thread.actor, ops);
  }
  return error;
}

// One side of a box, of elements of so many bytes.
Touch side_of(const cudaMemcpy3DOperand& side, const cudaExtent& extent, std::size_t element, std::uint32_t kind) {
  Touch t;
  t.width = extent.width * element;
  t.rows = extent.height;
  t.slices = extent.depth;
  t.kind = kind;
  if (side.type == cudaMemcpyOperandTypeArray) {
    static const auto layout_of = MR_REAL(millrace_array_layout);
    mr::observe::ArrayLayout layout{};
    const auto& at = side.op.array.offset;
    if (!layout_of(side.op.array.array, &layout)) return {};
    t.pitch = layout.row_pitch;
    t.slice = layout.slice_pitch;
    t.begin = reinterpret_cast<std::uintptr_t>(layout.data) + at.z * t.slice + at.y * t.pitch + at.x * layout.element;
  } else {
    const auto& memory = side.op.ptr;
    t.pitch = (memory.rowLength ? memory.rowLength : extent.width) * element;
    t.slice = t.pitch * (memory.layerHeight ? memory.layerHeight : extent.height);
    t.begin = reinterpret_cast<std::uintptr_t>(memory.ptr);
  }
  return t;
}
std::size_t element_of(const cudaMemcpy3DBatchOp& operation) {
  static const auto layout_of = MR_REAL(millrace_array_layout);
  for (const cudaMemcpy3DOperand* side : {&operation.src, &operation.dst}) {
    mr::observe::ArrayLayout layout{};
    if (side->type == cudaMemcpyOperandTypeArray && layout_of(side->op.array.array, &layout)) return layout.element;
  }
  return 1;
}

}  // namespace

MR_TWINS(cudaMemcpyBatchAsync, _ptsz,
         (void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
          cudaMemcpyAttributes* attributes, std::size_t* indices, std::size_t kinds, cudaStream_t stream),
         (to, from, sizes, count, attributes, indices, kinds, stream)) {
  ApiCall call("cudaMemcpyBatchAsync");
  std::vector<Part> parts;
  std::size_t kind = 0;
  for (std::size_t i = 0; to && from && sizes && attributes && indices && kinds && i < count; ++i) {
    while (kind + 1 < kinds && indices[kind + 1] <= i) ++kind;
    parts.push_back(
        {linear(from[i], sizes[i], reads), linear(to[i], sizes[i], writes), attributes[kind].srcAccessOrder});
  }
  return operate_parts(call, stream, per_thread, parts,
                       [&] { return next(to, from, sizes, count, attributes, indices, kinds, stream); });
}
MR_TWINS(cudaMemcpy3DBatchAsync, _ptsz,
         (std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags, cudaStream_t stream),
         (count, operations, flags, stream)) {
  ApiCall call("cudaMemcpy3DBatchAsync");
  std::vector<Part> parts;
  for (std::size_t i = 0; operations && i < count; ++i) {
    const cudaMemcpy3DBatchOp& o = operations[i];
    const std::size_t element = element_of(o);
    parts.push_back(
        {side_of(o.src, o.extent, element, reads), side_of(o.dst, o.extent, element, writes), o.srcAccessOrder});
  }
  return operate_parts(call, stream, per_thread, parts, [&] { return next(count, operations, flags, stream); });
}
