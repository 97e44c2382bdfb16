// Arrays as allocations and as sides of copies: what they touch is exact to the byte, as in linear memory.
// What kernels do with textures and surfaces is not looked at (docs/check.md).
#include <observe/array_layout.h>

#include "api_copy.h"

using namespace mr::check;

namespace {

bool lies(cudaArray_const_t array, mr::observe::ArrayLayout& layout) {
  static const auto ask = MR_REAL(millrace_array_layout);
  return array && ask(array, &layout);
}
char* data_of(cudaArray_const_t array) {
  mr::observe::ArrayLayout layout;
  return lies(array, layout) ? static_cast<char*>(layout.data) : nullptr;
}

void allocated(const ApiCall& call, cudaArray_const_t array) {
  mr::observe::ArrayLayout layout;
  if (!lies(array, layout)) return;
  const int device = current_device();
  std::scoped_lock hold(checker->lock);
  checker->add_allocation(layout.data, layout.slice_pitch * layout.slices, Memory::device, device, call.call);
}
void given_back(const ApiCall& call, const std::vector<char*>& data) {
  std::scoped_lock hold(checker->lock);
  checker->order.join_device(*call.thread.actor, -1);
  for (const char* p : data) {
    const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
    if (it == checker->allocations.end()) continue;
    checker->shadow.forget(it->first, it->second.end);
    checker->allocations.erase(it);
  }
}

std::vector<cudaArray_t> levels_of(cudaMipmappedArray_t array) {
  static const auto ask = MR_REAL(cudaGetMipmappedArrayLevel);
  std::vector<cudaArray_t> levels;
  for (cudaArray_t level; ask(&level, array, static_cast<unsigned>(levels.size())) == cudaSuccess;)
    levels.push_back(level);
  static const auto clear = MR_REAL(cudaGetLastError);
  clear();  // of the level behind the last one
  return levels;
}

// `width` bytes of `height` rows.
std::vector<Touch> part(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t width, std::size_t height,
                        std::uint32_t kind) {
  mr::observe::ArrayLayout layout;
  if (!lies(array, layout)) return {};
  return {rows(static_cast<char*>(layout.data) + y * layout.row_pitch + x, layout.row_pitch, width, height, kind)};
}

// `bytes` one behind the other, from row to row.
std::vector<Touch> run(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t bytes, std::uint32_t kind) {
  mr::observe::ArrayLayout layout;
  if (!lies(array, layout)) return {};
  const std::size_t row = layout.width * layout.element;
  std::vector<Touch> touches;
  while (bytes && x < row && y < layout.rows) {
    // The rest of a row, or as many whole ones as there are.
    const std::size_t width = std::min(bytes, row - x);
    const std::size_t height = x == 0 && bytes > row ? std::min(bytes / row, layout.rows - y) : 1;
    touches.push_back(
        rows(static_cast<char*>(layout.data) + y * layout.row_pitch + x, layout.row_pitch, width, height, kind));
    bytes -= width * height;
    x = 0;
    y += height;
  }
  return touches;
}

std::vector<Touch> both(std::vector<Touch> a, const std::vector<Touch>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

MR_ONE(cudaMallocArray,
       (cudaArray_t * out, const cudaChannelFormatDesc* d, std::size_t width, std::size_t height, unsigned flags),
       (out, d, width, height, flags)) {
  ApiCall call("cudaMallocArray");
  const cudaError_t error = next(out, d, width, height, flags);
  if (error == cudaSuccess) allocated(call, *out);
  return error;
}
MR_ONE(cudaMalloc3DArray, (cudaArray_t * out, const cudaChannelFormatDesc* d, cudaExtent extent, unsigned flags),
       (out, d, extent, flags)) {
  ApiCall call("cudaMalloc3DArray");
  const cudaError_t error = next(out, d, extent, flags);
  if (error == cudaSuccess) allocated(call, *out);
  return error;
}
MR_ONE(cudaMallocMipmappedArray,
       (cudaMipmappedArray_t * out, const cudaChannelFormatDesc* d, cudaExtent extent, unsigned levels, unsigned flags),
       (out, d, extent, levels, flags)) {
  ApiCall call("cudaMallocMipmappedArray");
  const cudaError_t error = next(out, d, extent, levels, flags);
  if (error == cudaSuccess)
    for (cudaArray_t level : levels_of(*out)) allocated(call, level);
  return error;
}
MR_ONE(cudaFreeArray, (cudaArray_t array), (array)) {
  ApiCall call("cudaFreeArray");
  char* data = data_of(array);
  const cudaError_t error = next(array);
  if (error == cudaSuccess && data) given_back(call, {data});
  return error;
}
MR_ONE(cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array)) {
  ApiCall call("cudaFreeMipmappedArray");
  std::vector<char*> data;
  if (array)
    for (cudaArray_t level : levels_of(array)) data.push_back(data_of(level));
  const cudaError_t error = next(array);
  if (error == cudaSuccess) given_back(call, data);
  return error;
}

// ---- copies ----

MR_COPY(cudaMemcpy2DToArray, _ptds, Form::synchronous, data_of(to), from,
        both({rows(from, pitch, width, height, reads)}, part(to, x, y, width, height, writes)), nullptr,
        (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
         std::size_t height, cudaMemcpyKind kind),
        (to, x, y, from, pitch, width, height, kind))
MR_COPY(cudaMemcpy2DToArrayAsync, _ptsz, Form::asynchronous, data_of(to), from,
        both({rows(from, pitch, width, height, reads)}, part(to, x, y, width, height, writes)), stream,
        (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
         std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (to, x, y, from, pitch, width, height, kind, stream))
MR_COPY(cudaMemcpy2DFromArray, _ptds, Form::synchronous, to, data_of(from),
        both(part(from, x, y, width, height, reads), {rows(to, pitch, width, height, writes)}), nullptr,
        (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t width,
         std::size_t height, cudaMemcpyKind kind),
        (to, pitch, from, x, y, width, height, kind))
MR_COPY(cudaMemcpy2DFromArrayAsync, _ptsz, Form::asynchronous, to, data_of(from),
        both(part(from, x, y, width, height, reads), {rows(to, pitch, width, height, writes)}), stream,
        (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t width,
         std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (to, pitch, from, x, y, width, height, kind, stream))
MR_COPY(cudaMemcpy2DArrayToArray, _ptds, Form::synchronous, data_of(to), data_of(from),
        both(part(from, from_x, from_y, width, height, reads), part(to, to_x, to_y, width, height, writes)), nullptr,
        (cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
         std::size_t from_y, std::size_t width, std::size_t height, cudaMemcpyKind kind),
        (to, to_x, to_y, from, from_x, from_y, width, height, kind))
MR_COPY(cudaMemcpyToArray, _ptds, Form::synchronous, data_of(to), from,
        both({linear(from, n, reads)}, run(to, x, y, n, writes)), nullptr,
        (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t n, cudaMemcpyKind kind),
        (to, x, y, from, n, kind))
MR_COPY(cudaMemcpyToArrayAsync, _ptsz, Form::asynchronous, data_of(to), from,
        both({linear(from, n, reads)}, run(to, x, y, n, writes)), stream,
        (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t n, cudaMemcpyKind kind,
         cudaStream_t stream),
        (to, x, y, from, n, kind, stream))
MR_COPY(cudaMemcpyFromArray, _ptds, Form::synchronous, to, data_of(from),
        both(run(from, x, y, n, reads), {linear(to, n, writes)}), nullptr,
        (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t n, cudaMemcpyKind kind),
        (to, from, x, y, n, kind))
MR_COPY(cudaMemcpyFromArrayAsync, _ptsz, Form::asynchronous, to, data_of(from),
        both(run(from, x, y, n, reads), {linear(to, n, writes)}), stream,
        (void* to, cudaArray_const_t from, std::size_t x, std::size_t y, std::size_t n, cudaMemcpyKind kind,
         cudaStream_t stream),
        (to, from, x, y, n, kind, stream))
MR_COPY(cudaMemcpyArrayToArray, _ptds, Form::synchronous, data_of(to), data_of(from),
        both(run(from, from_x, from_y, n, reads), run(to, to_x, to_y, n, writes)), nullptr,
        (cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
         std::size_t from_y, std::size_t n, cudaMemcpyKind kind),
        (to, to_x, to_y, from, from_x, from_y, n, kind))

namespace {
const void* target_of(const cudaMemcpy3DParms* p) {
  return !p ? nullptr : p->dstArray ? data_of(p->dstArray) : p->dstPtr.ptr;
}
const void* source_of(const cudaMemcpy3DParms* p) {
  return !p ? nullptr : p->srcArray ? data_of(p->srcArray) : p->srcPtr.ptr;
}
std::vector<Touch> box_of(const cudaMemcpy3DPeerParms* p) {
  if (!p) return {};
  cudaMemcpy3DParms plain{};
  plain.srcArray = p->srcArray;
  plain.srcPos = p->srcPos;
  plain.srcPtr = p->srcPtr;
  plain.dstArray = p->dstArray;
  plain.dstPos = p->dstPos;
  plain.dstPtr = p->dstPtr;
  plain.extent = p->extent;
  return box(plain);
}
}  // namespace

MR_COPY(cudaMemcpy3D, _ptds, Form::synchronous, target_of(p), source_of(p), p ? box(*p) : MR_LIST(), nullptr,
        (const cudaMemcpy3DParms* p), (p))
MR_COPY(cudaMemcpy3DAsync, _ptsz, Form::asynchronous, target_of(p), source_of(p), p ? box(*p) : MR_LIST(), stream,
        (const cudaMemcpy3DParms* p, cudaStream_t stream), (p, stream))
MR_TWINS(cudaMemcpy3DPeer, _ptds, (const cudaMemcpy3DPeerParms* p), (p)) {
  ApiCall call("cudaMemcpy3DPeer");
  if (!p) return next(p);
  const bool waits = copy_waits(Form::synchronous, p->dstArray ? data_of(p->dstArray) : p->dstPtr.ptr,
                                p->srcArray ? data_of(p->srcArray) : p->srcPtr.ptr);
  return operate(call, nullptr, per_thread, {box_of(p)}, waits, [&] { return next(p); });
}
MR_TWINS(cudaMemcpy3DPeerAsync, _ptsz, (const cudaMemcpy3DPeerParms* p, cudaStream_t stream), (p, stream)) {
  ApiCall call("cudaMemcpy3DPeerAsync");
  return operate(call, stream, per_thread, {box_of(p)}, false, [&] { return next(p, stream); });
}
