#include <model/memory_copy.h>

#include <limits>

#include <memory/pool.h>
#include <model/context.h>
#include <model/memory_array.h>
#include <model/stream.h>

namespace mr::model {

using memory::Copy;
using memory::Kind;

namespace {

constexpr bool named_device_dst(cudaMemcpyKind kind) noexcept {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
constexpr bool named_device_src(cudaMemcpyKind kind) noexcept {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}
constexpr bool valid_kind(cudaMemcpyKind kind) noexcept { return static_cast<unsigned>(kind) <= cudaMemcpyDefault; }

// a * b + c, or the largest number if that overflows.
std::size_t times_plus(std::size_t a, std::size_t b, std::size_t c) noexcept {
  std::size_t product, sum;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum))
    return std::numeric_limits<std::size_t>::max();
  return sum;
}

// One side of a copy as memory: what look_up says of all bytes from the first to the last.
cudaError_t take_side(const void* start, std::size_t span, Kind* kind) noexcept {
  if (!start) return cudaErrorInvalidValue;
  Operand operand;
  if (!look_up(start, span, &operand)) return cudaErrorInvalidValue;
  *kind = operand.kind;
  return cudaSuccess;
}

// The direction word is only held against pageable memory: a side that it calls the device's must be memory that
// devices can reach.
cudaError_t check_direction(const CopyPlan& plan, cudaMemcpyKind kind) noexcept {
  if (named_device_dst(kind) && plan.dst == Kind::pageable) return cudaErrorInvalidValue;
  if (named_device_src(kind) && plan.src == Kind::pageable) return cudaErrorInvalidValue;
  return cudaSuccess;
}

}  // namespace

cudaError_t check_copy(CopyPlan& plan, void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind) noexcept {
  plan.empty = bytes == 0;
  if (plan.empty) return cudaSuccess;
  if (!valid_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (const cudaError_t error = take_side(dst, bytes, &plan.dst)) return error;
  if (const cudaError_t error = take_side(src, bytes, &plan.src)) return error;
  plan.copy = memory::linear_copy(dst, src, bytes);
  return check_direction(plan, kind);
}

cudaError_t check_copy_2d(CopyPlan& plan, void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept {
  plan.empty = width == 0 || height == 0;
  if (plan.empty) return cudaSuccess;
  const bool short_pitch = dst_pitch < width || src_pitch < width;
  if (height > 1 && short_pitch) return cudaErrorInvalidPitchValue;
  if (!valid_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  // One row needs no pitch, but a pitch that is given must not be wrong.
  if ((dst_pitch && dst_pitch < width) || (src_pitch && src_pitch < width)) return cudaErrorInvalidValue;
  if (const cudaError_t error = take_side(dst, times_plus(height - 1, dst_pitch, width), &plan.dst)) return error;
  if (const cudaError_t error = take_side(src, times_plus(height - 1, src_pitch, width), &plan.src)) return error;
  plan.copy = memory::linear_copy(dst, src, width);
  plan.copy.height = height;
  plan.copy.dst_pitch = dst_pitch;
  plan.copy.src_pitch = src_pitch;
  plan.copy.coalesce();
  return check_direction(plan, kind);
}

// ---- three dimensions
// ------------------------------------------------------------------------------------------------

namespace {

// One side of a box: where it starts, and how far rows and slices are apart.
struct BoxSide {
  char* start = nullptr;
  std::size_t pitch = 0, slice = 0;
  Kind kind = Kind::pageable;
};

struct Box {
  std::size_t row;  // bytes
  std::size_t height, depth;
};

// `position` counts elements of `element` bytes in x: on the linear side too, when the other side is an array.
cudaError_t linear_side(BoxSide* side, const cudaPitchedPtr& memory, const cudaPos& position, std::size_t element,
                        const Box& box) noexcept {
  const std::size_t x = times_plus(position.x, element, 0);
  if (memory.pitch && times_plus(1, x, box.row) > memory.pitch) return cudaErrorInvalidValue;
  if (memory.ysize && times_plus(1, position.y, box.height) > memory.ysize) return cudaErrorInvalidValue;
  side->pitch = memory.pitch;
  side->slice = times_plus(memory.pitch, memory.ysize, 0);
  const std::size_t before = times_plus(position.z, side->slice, times_plus(position.y, side->pitch, x));
  const std::size_t span = times_plus(box.depth - 1, side->slice, times_plus(box.height - 1, side->pitch, box.row));
  const std::size_t whole = times_plus(1, before, span);
  if (whole == std::numeric_limits<std::size_t>::max()) return cudaErrorInvalidValue;
  side->start = static_cast<char*>(memory.ptr) + before;
  // All from the block's first byte on must belong to one block, not only what is touched.
  return take_side(memory.ptr, whole, &side->kind);
}

cudaError_t array_side(BoxSide* side, const memory::Surface& surface, const cudaPos& position,
                       const cudaExtent& extent) noexcept {
  if (times_plus(1, position.x, extent.width) > surface.width ||
      times_plus(1, position.y, extent.height) > surface.height ||
      times_plus(1, position.z, extent.depth) > surface.depth)
    return cudaErrorInvalidValue;
  side->start = surface.at(position.x * surface.format.element_bytes(), position.y, position.z);
  side->pitch = surface.row_pitch;
  side->slice = surface.slice_pitch;
  side->kind = Kind::device;
  return cudaSuccess;
}

void fill_plan(CopyPlan& plan, const BoxSide& dst, const BoxSide& src, const Box& box) noexcept {
  Copy& copy = plan.copy;
  copy = memory::linear_copy(dst.start, src.start, box.row);
  copy.height = box.height;
  copy.depth = box.depth;
  copy.dst_pitch = dst.pitch;
  copy.src_pitch = src.pitch;
  copy.dst_slice = dst.slice;
  copy.src_slice = src.slice;
  copy.coalesce();
  plan.dst = dst.kind;
  plan.src = src.kind;
}

// The pitch rules that the runtime checks before anything else; in the units of the extent, whatever the elements are.
bool pitch_too_small(const cudaPitchedPtr& memory, const cudaExtent& extent) noexcept {
  if ((extent.height > 1 || extent.depth > 1) && memory.pitch < extent.width) return true;
  return extent.depth > 1 && memory.ysize < extent.height;
}

}  // namespace

cudaMemcpy3DParms shown_parameters(const cudaMemcpy3DParms& parameters) noexcept {
  cudaMemcpy3DParms shown = parameters;
  if (shown.dstArray) {
    if (shown.kind == cudaMemcpyHostToHost) shown.kind = cudaMemcpyHostToDevice;
    if (shown.kind == cudaMemcpyDeviceToHost || (shown.srcArray && shown.kind == cudaMemcpyDefault))
      shown.kind = cudaMemcpyDeviceToDevice;
    shown.dstPtr = {};
  }
  if (shown.srcArray) shown.srcPtr = {};
  return shown;
}

cudaError_t check_copy_3d(CopyPlan& plan, const cudaMemcpy3DParms& p) noexcept {
  plan.empty = p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0;
  if (plan.empty) return cudaSuccess;
  if (!valid_kind(p.kind)) return cudaErrorInvalidMemcpyDirection;
  // A source that is the device's can't be called the host's; with a target that is an array, it is corrected.
  if (p.srcArray && (p.kind == cudaMemcpyHostToHost || p.kind == cudaMemcpyHostToDevice)) return cudaErrorInvalidValue;
  const cudaMemcpyKind kind = shown_parameters(p).kind;
  // Exactly one of array and pointer on each side.
  if (!p.srcArray == !p.srcPtr.ptr) return cudaErrorInvalidValue;
  if (!p.srcArray && pitch_too_small(p.srcPtr, p.extent)) return cudaErrorInvalidPitchValue;
  if (!p.dstArray == !p.dstPtr.ptr) return cudaErrorInvalidValue;
  if (!p.dstArray && pitch_too_small(p.dstPtr, p.extent)) return cudaErrorInvalidPitchValue;
  const Array* src_array = p.srcArray ? array_of(p.srcArray) : nullptr;
  const Array* dst_array = p.dstArray ? array_of(p.dstArray) : nullptr;
  if ((p.srcArray && !src_array) || (p.dstArray && !dst_array)) return cudaErrorInvalidResourceHandle;
  std::size_t element = 1;
  if (src_array) element = src_array->surface.format.element_bytes();
  if (dst_array) {
    if (src_array && element != dst_array->surface.format.element_bytes()) return cudaErrorInvalidValue;
    element = dst_array->surface.format.element_bytes();
  }
  const Box box{times_plus(p.extent.width, element, 0), p.extent.height, p.extent.depth};
  BoxSide src, dst;
  if (const cudaError_t error = src_array ? array_side(&src, src_array->surface, p.srcPos, p.extent)
                                          : linear_side(&src, p.srcPtr, p.srcPos, element, box))
    return error;
  if (const cudaError_t error = dst_array ? array_side(&dst, dst_array->surface, p.dstPos, p.extent)
                                          : linear_side(&dst, p.dstPtr, p.dstPos, element, box))
    return error;
  fill_plan(plan, dst, src, box);
  return check_direction(plan, kind);
}

cudaError_t check_peer_3d(CopyPlan& plan, const cudaMemcpy3DPeerParms& p) noexcept {
  if (p.srcDevice < 0 || p.srcDevice >= device_count() || p.dstDevice < 0 || p.dstDevice >= device_count())
    return cudaErrorInvalidDevice;
  cudaMemcpy3DParms same{};
  same.srcArray = p.srcArray;
  same.srcPos = p.srcPos;
  same.srcPtr = p.srcPtr;
  same.dstArray = p.dstArray;
  same.dstPos = p.dstPos;
  same.dstPtr = p.dstPtr;
  same.extent = p.extent;
  // Both sides are the devices', as with a linear copy: pageable memory is neither's.
  same.kind = cudaMemcpyDeviceToDevice;
  return check_copy_3d(plan, same);
}

cudaError_t check_peer(CopyPlan& plan, void* dst, int dst_device, const void* src, int src_device,
                       std::size_t bytes) noexcept {
  plan.empty = bytes == 0;
  if (plan.empty) return cudaSuccess;
  if (dst_device < 0 || dst_device >= device_count() || src_device < 0 || src_device >= device_count())
    return cudaErrorInvalidDevice;
  // Both sides are the devices': pageable memory is neither's.
  return check_copy(plan, dst, src, bytes, cudaMemcpyDeviceToDevice);
}

// ---- arrays in two dimensions
// ----------------------------------------------------------------------------------------

namespace {

cudaError_t flat_side(BoxSide* side, const memory::Surface& surface, std::size_t x, std::size_t y, std::size_t width,
                      std::size_t height) noexcept {
  if (times_plus(1, x, width) > surface.row_bytes() || times_plus(1, y, height) > surface.height)
    return cudaErrorInvalidValue;
  side->start = surface.at(x, y, 0);
  side->pitch = surface.row_pitch;
  side->slice = surface.slice_pitch;
  side->kind = Kind::device;
  return cudaSuccess;
}

cudaError_t flat_memory(BoxSide* side, const void* pointer, std::size_t pitch, std::size_t width,
                        std::size_t height) noexcept {
  if (pitch && pitch < width) return cudaErrorInvalidValue;
  side->start = static_cast<char*>(const_cast<void*>(pointer));
  side->pitch = pitch;
  return take_side(pointer, times_plus(height - 1, pitch, width), &side->kind);
}

}  // namespace

cudaError_t check_to_array(CopyPlan& plan, cudaArray_t dst, std::size_t x, std::size_t y, const void* src,
                           std::size_t src_pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept {
  plan.empty = width == 0 || height == 0;
  if (plan.empty) return cudaSuccess;
  if (height > 1 && src_pitch < width) return cudaErrorInvalidPitchValue;
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const Array* array = array_of(dst);
  if (!array) return cudaErrorInvalidResourceHandle;
  BoxSide to, from;
  if (const cudaError_t error = flat_side(&to, array->surface, x, y, width, height)) return error;
  if (const cudaError_t error = flat_memory(&from, src, src_pitch, width, height)) return error;
  fill_plan(plan, to, from, {width, height, 1});
  return check_direction(plan, kind);
}

cudaError_t check_from_array(CopyPlan& plan, void* dst, std::size_t dst_pitch, cudaArray_const_t src, std::size_t x,
                             std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) noexcept {
  plan.empty = width == 0 || height == 0;
  if (plan.empty) return cudaSuccess;
  if (height > 1 && dst_pitch < width) return cudaErrorInvalidPitchValue;
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const Array* array = array_of(src);
  if (!array) return cudaErrorInvalidResourceHandle;
  BoxSide to, from;
  if (const cudaError_t error = flat_side(&from, array->surface, x, y, width, height)) return error;
  if (const cudaError_t error = flat_memory(&to, dst, dst_pitch, width, height)) return error;
  fill_plan(plan, to, from, {width, height, 1});
  return check_direction(plan, kind);
}

cudaError_t check_between_arrays(CopyPlan& plan, cudaArray_t dst, std::size_t dst_x, std::size_t dst_y,
                                 cudaArray_const_t src, std::size_t src_x, std::size_t src_y, std::size_t width,
                                 std::size_t height, cudaMemcpyKind kind) noexcept {
  plan.empty = width == 0 || height == 0;
  if (plan.empty) return cudaSuccess;
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (!dst) return cudaErrorInvalidValue;
  const Array *to_array = array_of(dst), *from_array = array_of(src);
  if (!to_array || !from_array) return cudaErrorInvalidResourceHandle;
  BoxSide to, from;
  if (const cudaError_t error = flat_side(&to, to_array->surface, dst_x, dst_y, width, height)) return error;
  if (const cudaError_t error = flat_side(&from, from_array->surface, src_x, src_y, width, height)) return error;
  fill_plan(plan, to, from, {width, height, 1});
  return cudaSuccess;
}

// ---- symbols
// ---------------------------------------------------------------------------------------------------------

namespace {

constexpr bool in_symbol(std::size_t size, std::size_t bytes, std::size_t offset) noexcept {
  return offset <= size && bytes <= size - offset;
}

}  // namespace

cudaError_t check_to_symbol(CopyPlan& plan, const void* symbol, const void* src, std::size_t bytes, std::size_t offset,
                            cudaMemcpyKind kind, bool range_first) noexcept {
  plan.empty = bytes == 0;
  if (plan.empty) return cudaSuccess;
  char* start = nullptr;
  std::size_t size = 0;
  if (const cudaError_t error = symbol_address(symbol, &start, &size)) return error;
  if (range_first && !in_symbol(size, bytes, offset)) return cudaErrorInvalidValue;
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!in_symbol(size, bytes, offset)) return cudaErrorInvalidValue;
  start += offset;
  return check_copy(plan, start, src, bytes, kind);
}

cudaError_t check_from_symbol(CopyPlan& plan, void* dst, const void* symbol, std::size_t bytes, std::size_t offset,
                              cudaMemcpyKind kind, bool range_first) noexcept {
  plan.empty = bytes == 0;
  if (plan.empty) return cudaSuccess;
  char* start = nullptr;
  std::size_t size = 0;
  if (const cudaError_t error = symbol_address(symbol, &start, &size)) return error;
  if (range_first && !in_symbol(size, bytes, offset)) return cudaErrorInvalidValue;
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!in_symbol(size, bytes, offset)) return cudaErrorInvalidValue;
  start += offset;
  return check_copy(plan, dst, start, bytes, kind);
}

// ---- boxes of a batch
// ------------------------------------------------------------------------------------------------

cudaError_t check_batch_3d(CopyPlan& plan, const cudaMemcpy3DBatchOp& operation) noexcept {
  const cudaExtent& extent = operation.extent;
  plan.empty = false;
  plan.outside = false;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaErrorInvalidValue;
  if (operation.srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
      operation.srcAccessOrder > cudaMemcpySrcAccessOrderAny)
    return cudaErrorInvalidValue;
  if (operation.flags & ~static_cast<unsigned>(cudaMemcpyFlagPreferOverlapWithCompute)) return cudaErrorInvalidValue;
  std::size_t element = 0;
  for (const cudaMemcpy3DOperand* side : {&operation.src, &operation.dst}) {
    if (side->type == cudaMemcpyOperandTypeArray) {
      const Array* array = array_of(side->op.array.array);
      if (!array) return cudaErrorInvalidValue;
      const std::size_t bytes = array->surface.format.element_bytes();
      if (element && element != bytes) return cudaErrorInvalidValue;
      element = bytes;
    } else if (side->type != cudaMemcpyOperandTypePointer) {
      return cudaErrorInvalidValue;
    }
  }
  if (!element) element = 1;
  const Box box{times_plus(extent.width, element, 0), extent.height, extent.depth};
  for (const cudaMemcpy3DOperand* side : {&operation.src, &operation.dst}) {
    const auto& pointer = side->op.ptr;
    if (side->type == cudaMemcpyOperandTypePointer && ((pointer.rowLength && pointer.rowLength < extent.width) ||
                                                       (pointer.layerHeight && pointer.layerHeight < extent.height)))
      return cudaErrorInvalidValue;
  }
  const auto take = [&](BoxSide* side, const cudaMemcpy3DOperand& operand) -> cudaError_t {
    if (operand.type == cudaMemcpyOperandTypeArray) {
      const auto& offset = operand.op.array.offset;
      return array_side(side, array_of(operand.op.array.array)->surface, {offset.x, offset.y, offset.z}, extent);
    }
    const auto& pointer = operand.op.ptr;
    cudaPitchedPtr memory{};
    memory.ptr = pointer.ptr;
    memory.pitch = times_plus(pointer.rowLength ? pointer.rowLength : extent.width, element, 0);
    memory.ysize = pointer.layerHeight ? pointer.layerHeight : extent.height;
    return linear_side(side, memory, {0, 0, 0}, element, box);
  };
  BoxSide src, dst;
  plan.outside = true;
  if (const cudaError_t error = take(&src, operation.src)) return error;
  if (const cudaError_t error = take(&dst, operation.dst)) return error;
  plan.outside = false;
  fill_plan(plan, dst, src, box);
  return cudaSuccess;
}

// ---- fills
// -----------------------------------------------------------------------------------------------------------

cudaError_t check_fill(memory::Fill& fill, bool& empty, void* dst, std::size_t pitch, std::size_t slice_rows, int value,
                       const cudaExtent& extent, bool three_dimensional) noexcept {
  empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  if (empty) return cudaSuccess;
  if ((extent.height > 1 || extent.depth > 1) && pitch < extent.width) return cudaErrorInvalidValue;
  if (three_dimensional && slice_rows < extent.height) return cudaErrorInvalidValue;
  fill = memory::linear_fill(dst, static_cast<std::uint32_t>(value) & 0xff, extent.width);
  fill.height = extent.height;
  fill.depth = extent.depth;
  fill.pitch = pitch;
  fill.slice = times_plus(pitch, slice_rows, 0);
  return cudaSuccess;
}

cudaError_t check_fill_target(const memory::Fill& fill, int device, Kind* kind) noexcept {
  const std::size_t span = times_plus(fill.depth - 1, fill.slice, times_plus(fill.height - 1, fill.pitch, fill.row));
  if (const cudaError_t error = take_side(fill.dst, span, kind)) return error;
  if (*kind == Kind::pinned && !reaches(memory::space().find(fill.dst), current_device())) return cudaErrorInvalidValue;
  // A set is the stream's device's work; copies are of both.
  if (memory::space().devices() > 1 && *kind == Kind::device &&
      !reaches_device_memory(memory::space().find(fill.dst), device)) [[unlikely]]
    return cudaErrorInvalidValue;
  return *kind == Kind::pageable ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace mr::model
