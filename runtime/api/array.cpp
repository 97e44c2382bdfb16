// CUDA arrays (CUDA Runtime API, "Memory Management"): making them, asking about them, copying from and to them.
#include <algorithm>
#include <bit>

#include <api/copy_call.h>
#include <model/memory_array.h>
#include <observe/array_layout.h>

using namespace mr;
using api::run_async;
using api::run_sync;

namespace {

cudaError_t refused_unsafe() {
  if (const cudaError_t error = api::refused()) return error;
  cudaError_t error;
  if (model::slow() && model::capture_unsafe(error)) return error;
  return cudaSuccess;
}

cudaError_t create(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags,
                   bool three_dimensional, void* site) {
  if (!out || !desc) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  model::Array* array = nullptr;
  const cudaError_t error = model::create_array(&array, *desc, extent, flags, three_dimensional,
                                                reinterpret_cast<std::uint64_t>(site));
  *out = reinterpret_cast<cudaArray_t>(array);
  return api::result(error);
}

}  // namespace

MR_API cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                       unsigned flags) {
  return create(out, desc, {width, height, 0}, flags, false, __builtin_return_address(0));
}
MR_API cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent, unsigned flags) {
  return create(out, desc, extent, flags, true, __builtin_return_address(0));
}
MR_API cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                unsigned levels, unsigned flags) {
  if (!out || !desc) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  model::MipmappedArray* array = nullptr;
  const cudaError_t error = model::create_mipmapped(&array, *desc, extent, levels, flags,
                                                    reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
  *out = reinterpret_cast<cudaMipmappedArray_t>(array);
  return api::result(error);
}
MR_API cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t handle, unsigned level) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::MipmappedArray* array = model::mipmapped_of(handle);
  if (!array) return api::result(cudaErrorInvalidResourceHandle);
  if (level >= array->level_count) return api::result(cudaErrorInvalidValue);
  *out = reinterpret_cast<cudaArray_t>(array->levels[level]);
  return cudaSuccess;
}
MR_API cudaFreeArray(cudaArray_t handle) {
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  if (!handle) return cudaSuccess;
  model::Array* array = model::array_of(handle);
  return api::result(array ? model::destroy_array(*array) : cudaErrorInvalidResourceHandle);
}
MR_API cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
  if (const cudaError_t error = refused_unsafe()) return api::result(error);
  if (!handle) return cudaSuccess;
  model::MipmappedArray* array = model::mipmapped_of(handle);
  return api::result(array ? model::destroy_mipmapped(*array) : cudaErrorInvalidResourceHandle);
}

MR_API cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags, cudaArray_t handle) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::Array* array = model::array_of(handle);
  if (desc) *desc = array ? array->desc : cudaChannelFormatDesc{};
  if (extent) *extent = array ? array->extent : cudaExtent{};
  if (flags) *flags = array ? array->flags : 0;
  return api::result(array ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
MR_API cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t handle) {
  if (!desc) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  const model::Array* array = model::array_of(handle);
  if (!array) return api::result(cudaErrorInvalidResourceHandle);
  *desc = array->desc;
  return cudaSuccess;
}
extern "C" [[gnu::visibility("default")]] bool millrace_array_layout(const void* handle,
                                                                     observe::ArrayLayout* layout) noexcept {
  const model::Array* array = model::array_of(static_cast<cudaArray_const_t>(handle));
  if (!array) return false;
  const memory::Surface& s = array->surface;
  *layout = {s.data, s.format.element_bytes(), s.width, s.height, s.depth, s.row_pitch, s.slice_pitch};
  return true;
}

// Planes are of planar formats, which this device has none of.
MR_API cudaArrayGetPlane(cudaArray_t*, cudaArray_t handle, unsigned) {
  return api::result(model::array_of(handle) ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
}

namespace {

std::size_t bytes_of(const model::Array& array) { return array.surface.slice_pitch * array.surface.depth; }
std::size_t bytes_of(const model::MipmappedArray& array) {
  std::size_t bytes = 0;
  for (unsigned i = 0; i < array.level_count; ++i) bytes += bytes_of(*array.levels[i]);
  return bytes;
}

// The tiles that a sparse array would be mapped by. All of it has memory from the start here, as if it were smaller
// than a tile: one tail of everything.
cudaError_t sparse(cudaArraySparseProperties* out, const model::Array* array, std::size_t bytes) {
  if (!array || !out || !(array->flags & cudaArraySparse)) return cudaErrorInvalidValue;
  struct Tile {
    unsigned width, height, depth;
  };
  constexpr Tile flat[] = {{256, 256, 1}, {256, 128, 1}, {128, 128, 1}, {128, 64, 1}, {64, 64, 1}};
  constexpr Tile deep[] = {{64, 32, 32}, {32, 32, 32}, {32, 32, 16}, {32, 16, 16}, {16, 16, 16}};
  const bool solid = array->extent.depth != 0 && !(array->flags & cudaArrayLayered);
  const Tile tile = (solid ? deep : flat)[std::countr_zero(array->surface.format.element_bytes())];
  *out = {};
  out->tileExtent.width = tile.width;
  out->tileExtent.height = tile.height;
  out->tileExtent.depth = tile.depth;
  constexpr std::size_t tile_bytes = 64 << 10;
  out->miptailSize = (bytes + tile_bytes - 1) / tile_bytes * tile_bytes;
  out->flags = cudaArraySparsePropertiesSingleMipTail;
  return cudaSuccess;
}

}  // namespace

MR_API cudaArrayGetSparseProperties(cudaArraySparseProperties* out, cudaArray_t handle) {
  const model::Array* array = model::array_of(handle);
  return api::result(sparse(out, array, array ? bytes_of(*array) : 0));
}
MR_API cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* out, cudaMipmappedArray_t handle) {
  const model::MipmappedArray* array = model::mipmapped_of(handle);
  return api::result(sparse(out, array ? array->levels[0] : nullptr, array ? bytes_of(*array) : 0));
}

namespace {

// Of arrays whose memory is mapped later; ours is there from the start.
cudaError_t requirements(cudaArrayMemoryRequirements* out, unsigned flags, std::size_t bytes) {
  if (!out || !(flags & cudaArrayDeferredMapping)) return cudaErrorInvalidValue;
  *out = {};
  out->alignment = 65536;
  out->size = (bytes + 65535) & ~std::size_t{65535};
  return cudaSuccess;
}

}  // namespace

MR_API cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaArray_t handle, int) {
  if (!handle) return api::result(cudaErrorInvalidValue);
  const model::Array* array = model::array_of(handle);
  if (!array) return api::result(cudaErrorInvalidResourceHandle);
  return api::result(requirements(out, array->flags, bytes_of(*array)));
}
MR_API cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaMipmappedArray_t handle, int) {
  const model::MipmappedArray* array = model::mipmapped_of(handle);
  if (!array) return api::result(cudaErrorInvalidResourceHandle);
  return api::result(requirements(out, array->levels[0]->flags, bytes_of(*array)));
}

extern "C" __attribute__((visibility("default"))) cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// ---- copies of rows
// --------------------------------------------------------------------------------------------------

namespace {

// What a captured copy shows: positions of arrays in elements.
cudaMemcpy3DParms parameters(std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.extent = {width, height, 1};
  p.kind = kind;
  return p;
}
std::size_t elements(cudaArray_const_t handle, std::size_t bytes) {
  const model::Array* array = model::array_of(handle);
  return array ? bytes / array->surface.format.element_bytes() : bytes;
}

cudaError_t to_array(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t pitch,
                     std::size_t width, std::size_t height, cudaMemcpyKind kind, bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) { return model::check_to_array(plan, dst, x, y, src, pitch, width, height, kind); },
      per_thread);
}
cudaError_t to_array_async(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t pitch,
                           std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                           bool per_thread) {
  cudaMemcpy3DParms p = parameters(elements(dst, width), height, kind);
  p.dstArray = dst;
  p.dstPos = {elements(dst, x), y, 0};
  p.srcPtr = {const_cast<void*>(src), pitch, 0, 0};
  return run_async(
      [&](model::CopyPlan& plan) { return model::check_to_array(plan, dst, x, y, src, pitch, width, height, kind); },
      kind, &p, stream, per_thread);
}
cudaError_t from_array(void* dst, std::size_t pitch, cudaArray_const_t src, std::size_t x, std::size_t y,
                       std::size_t width, std::size_t height, cudaMemcpyKind kind, bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) { return model::check_from_array(plan, dst, pitch, src, x, y, width, height, kind); },
      per_thread);
}
cudaError_t from_array_async(void* dst, std::size_t pitch, cudaArray_const_t src, std::size_t x, std::size_t y,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                             bool per_thread) {
  cudaMemcpy3DParms p = parameters(elements(src, width), height, kind);
  p.srcArray = const_cast<cudaArray_t>(src);
  p.srcPos = {elements(src, x), y, 0};
  p.dstPtr = {dst, pitch, 0, 0};
  return run_async(
      [&](model::CopyPlan& plan) { return model::check_from_array(plan, dst, pitch, src, x, y, width, height, kind); },
      kind, &p, stream, per_thread);
}
cudaError_t between_arrays(cudaArray_t dst, std::size_t dst_x, std::size_t dst_y, cudaArray_const_t src,
                           std::size_t src_x, std::size_t src_y, std::size_t width, std::size_t height,
                           cudaMemcpyKind kind, bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) {
        return model::check_between_arrays(plan, dst, dst_x, dst_y, src, src_x, src_y, width, height, kind);
      },
      per_thread);
}

// ---- copies of bytes that run on from row to row (deprecated forms)
// --------------------------------------------------

// Cuts `count` bytes that begin at byte x of row y into at most three boxes of whole or partial rows; visit(x, y,
// width, height, bytes before).
template <class Visit>
cudaError_t each_box(std::size_t row_bytes, std::size_t x, std::size_t y, std::size_t count, Visit&& visit) {
  std::size_t done = 0;
  while (done < count) {
    const std::size_t left = count - done;
    if (x == row_bytes) {
      x = 0;
      ++y;
    }
    std::size_t width = std::min(row_bytes - x, left), height = 1;
    if (x == 0 && left >= row_bytes) height = left / row_bytes;
    if (const cudaError_t error = visit(x, y, width, height, done)) return error;
    done += width * height;
    y += height;
    x = 0;
  }
  return cudaSuccess;
}

// The bytes of a row of such a copy's array. Boxes that reach beyond the array are refused one by one.
cudaError_t run_of(cudaArray_const_t handle, std::size_t x, std::size_t* row_bytes) {
  const model::Array* array = model::array_of(handle);
  if (!array) return cudaErrorInvalidResourceHandle;
  *row_bytes = array->surface.row_bytes();
  return x > *row_bytes ? cudaErrorInvalidValue : cudaSuccess;  // the end of a row is the next one's beginning
}

constexpr bool one_of(cudaMemcpyKind kind, cudaMemcpyKind a, cudaMemcpyKind b) {
  return kind == a || kind == b || kind == cudaMemcpyDefault;
}

// Recorded: these forms take words that are no direction, and copy nothing then.
constexpr bool no_direction(cudaMemcpyKind kind) { return static_cast<unsigned>(kind) > cudaMemcpyDefault; }

cudaError_t bytes_to_array(cudaArray_t dst, std::size_t x, std::size_t y, const void* src, std::size_t count,
                           cudaMemcpyKind kind, const cudaStream_t* stream, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (count == 0) return cudaSuccess;
  std::size_t row;
  if (no_direction(kind)) return cudaSuccess;
  if (!one_of(kind, cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice))
    return api::result(cudaErrorInvalidMemcpyDirection);
  if (const cudaError_t error = run_of(dst, x, &row)) return api::result(error);
  return each_box(row, x, y, count,
                  [&](std::size_t bx, std::size_t by, std::size_t width, std::size_t height, std::size_t before) {
                    const char* from = static_cast<const char*>(src) + before;
                    return stream ? to_array_async(dst, bx, by, from, width, width, height, kind, *stream, per_thread)
                                  : to_array(dst, bx, by, from, width, width, height, kind, per_thread);
                  });
}
cudaError_t bytes_from_array(void* dst, cudaArray_const_t src, std::size_t x, std::size_t y, std::size_t count,
                             cudaMemcpyKind kind, const cudaStream_t* stream, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (count == 0) return cudaSuccess;
  std::size_t row;
  if (no_direction(kind)) return cudaSuccess;
  if (!one_of(kind, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice))
    return api::result(cudaErrorInvalidMemcpyDirection);
  if (const cudaError_t error = run_of(src, x, &row)) return api::result(error);
  return each_box(row, x, y, count,
                  [&](std::size_t bx, std::size_t by, std::size_t width, std::size_t height, std::size_t before) {
                    char* to = static_cast<char*>(dst) + before;
                    return stream ? from_array_async(to, width, src, bx, by, width, height, kind, *stream, per_thread)
                                  : from_array(to, width, src, bx, by, width, height, kind, per_thread);
                  });
}
cudaError_t bytes_between_arrays(cudaArray_t dst, std::size_t dst_x, std::size_t dst_y, cudaArray_const_t src,
                                 std::size_t src_x, std::size_t src_y, std::size_t count, cudaMemcpyKind kind,
                                 bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (count == 0) return cudaSuccess;
  std::size_t dst_row, src_row;
  if (!one_of(kind, cudaMemcpyDeviceToDevice, cudaMemcpyDefault)) return api::result(cudaErrorInvalidMemcpyDirection);
  if (const cudaError_t error = run_of(dst, dst_x, &dst_row)) return api::result(error);
  if (const cudaError_t error = run_of(src, src_x, &src_row)) return api::result(error);
  if (const cudaError_t error = refused_unsafe()) return api::result(error);  // unlike all other copies (recorded)
  // The cuts of both arrays: row by row of the target, each piece cut again at the source's rows.
  return each_box(dst_row, dst_x, dst_y, count,
                  [&](std::size_t bx, std::size_t by, std::size_t width, std::size_t height, std::size_t before) {
                    for (std::size_t r = 0; r < height; ++r) {
                      const std::size_t position = src_y * src_row + src_x + before + r * width;
                      const cudaError_t error = each_box(
                          src_row, position % src_row, position / src_row, width,
                          [&](std::size_t sx, std::size_t sy, std::size_t w, std::size_t h, std::size_t b) {
                            return between_arrays(dst, bx + b, by + r, src, sx, sy, w, h, kind, per_thread);
                          });
                      if (error) return error;
                    }
                    return cudaSuccess;
                  });
}

}  // namespace

MR_TWINS(cudaMemcpy2DToArray, _ptds, to_array,
         (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t width, size_t height,
          cudaMemcpyKind kind),
         dst, x, y, src, pitch, width, height, kind)
MR_TWINS(cudaMemcpy2DToArrayAsync, _ptsz, to_array_async,
         (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t width, size_t height,
          cudaMemcpyKind kind, cudaStream_t stream),
         dst, x, y, src, pitch, width, height, kind, stream)
MR_TWINS(cudaMemcpy2DFromArray, _ptds, from_array,
         (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height,
          cudaMemcpyKind kind),
         dst, pitch, src, x, y, width, height, kind)
MR_TWINS(cudaMemcpy2DFromArrayAsync, _ptsz, from_array_async,
         (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width, size_t height,
          cudaMemcpyKind kind, cudaStream_t stream),
         dst, pitch, src, x, y, width, height, kind, stream)
MR_TWINS(cudaMemcpy2DArrayToArray, _ptds, between_arrays,
         (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x, size_t src_y, size_t width,
          size_t height, cudaMemcpyKind kind),
         dst, dst_x, dst_y, src, src_x, src_y, width, height, kind)
MR_TWINS(cudaMemcpyToArray, _ptds, bytes_to_array,
         (cudaArray_t dst, size_t x, size_t y, const void* src, size_t count, cudaMemcpyKind kind), dst, x, y, src,
         count, kind, nullptr)
MR_TWINS(cudaMemcpyFromArray, _ptds, bytes_from_array,
         (void* dst, cudaArray_const_t src, size_t x, size_t y, size_t count, cudaMemcpyKind kind), dst, src, x, y,
         count, kind, nullptr)
MR_TWINS(cudaMemcpyToArrayAsync, _ptsz, bytes_to_array,
         (cudaArray_t dst, size_t x, size_t y, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream),
         dst, x, y, src, count, kind, &stream)
MR_TWINS(cudaMemcpyFromArrayAsync, _ptsz, bytes_from_array,
         (void* dst, cudaArray_const_t src, size_t x, size_t y, size_t count, cudaMemcpyKind kind, cudaStream_t stream),
         dst, src, x, y, count, kind, &stream)
MR_TWINS(cudaMemcpyArrayToArray, _ptds, bytes_between_arrays,
         (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x, size_t src_y, size_t count,
          cudaMemcpyKind kind),
         dst, dst_x, dst_y, src, src_x, src_y, count, kind)
