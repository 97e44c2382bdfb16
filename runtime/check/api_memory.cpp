// Allocation, copies and sets.
#include "api.h"
#include "api_copy.h"

using namespace mr::check;

// ---- allocation ----

namespace {
void allocated(const ApiCall& call, const void* p, std::size_t bytes, Memory memory) {
  const int device = current_device();
  std::scoped_lock hold(checker->lock);
  checker->add_allocation(p, bytes, memory, device, call.call);
}
}  // namespace

MR_ONE(cudaMalloc, (void** p, std::size_t bytes), (p, bytes)) {
  ApiCall call("cudaMalloc");
  const cudaError_t error = next(p, bytes);
  if (error == cudaSuccess) allocated(call, *p, bytes, Memory::device);
  return error;
}
MR_ONE(cudaMallocPitch, (void** p, std::size_t* pitch, std::size_t width, std::size_t height),
       (p, pitch, width, height)) {
  ApiCall call("cudaMallocPitch");
  const cudaError_t error = next(p, pitch, width, height);
  if (error == cudaSuccess) allocated(call, *p, *pitch * height, Memory::device);
  return error;
}
MR_ONE(cudaMalloc3D, (cudaPitchedPtr * p, cudaExtent extent), (p, extent)) {
  ApiCall call("cudaMalloc3D");
  const cudaError_t error = next(p, extent);
  if (error == cudaSuccess) allocated(call, p->ptr, p->pitch * extent.height * extent.depth, Memory::device);
  return error;
}
MR_ONE(cudaMallocHost, (void** p, std::size_t bytes), (p, bytes)) {
  ApiCall call("cudaMallocHost");
  const cudaError_t error = next(p, bytes);
  if (error == cudaSuccess) allocated(call, *p, bytes, Memory::pinned);
  return error;
}
MR_ONE(cudaHostAlloc, (void** p, std::size_t bytes, unsigned flags), (p, bytes, flags)) {
  ApiCall call("cudaHostAlloc");
  const cudaError_t error = next(p, bytes, flags);
  if (error == cudaSuccess) allocated(call, *p, bytes, Memory::pinned);
  return error;
}
MR_ONE(cudaHostRegister, (void* p, std::size_t bytes, unsigned flags), (p, bytes, flags)) {
  ApiCall call("cudaHostRegister");
  const cudaError_t error = next(p, bytes, flags);
  if (error == cudaSuccess) allocated(call, p, bytes, Memory::registered);
  return error;
}
MR_ONE(cudaMallocManaged, (void** p, std::size_t bytes, unsigned flags), (p, bytes, flags)) {
  ApiCall call("cudaMallocManaged");
  const cudaError_t error = next(p, bytes, flags);
  if (error == cudaSuccess) allocated(call, *p, bytes, Memory::managed);
  return error;
}

namespace {
// Who allocated it; asked before the memory is given back: another thread may have got it by the time that this one
// hears of it.
Call allocated_by(const void* p) {
  std::scoped_lock hold(checker->lock);
  const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
  return it == checker->allocations.end() ? nullptr : it->second.call;
}
// Memory that the runtime waits for before it takes it back.
void given_back(const ApiCall& call, const void* p, const Call& by) {
  std::scoped_lock hold(checker->lock);
  checker->order.join_device(*call.thread.actor, -1);
  const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == checker->allocations.end() || it->second.call != by) return;
  checker->shadow.forget(it->first, it->second.end);
  checker->allocations.erase(it);
}
bool of_pool(const void* p) {
  const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
  return it != checker->allocations.end() && it->second.memory == Memory::pool;
}
}  // namespace

MR_ONE(cudaFree, (void* p), (p)) {
  ApiCall call("cudaFree");
  bool pool = false;
  if (p) {
    // Waits for nothing when the memory is stream-ordered.
    std::scoped_lock hold(checker->lock);
    pool = of_pool(p);
    if (pool) {
      const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
      checker->touch(it->first, it->second.end,
                     {checker->order.segment_of(*call.thread.actor), frees, nullptr, call.call});
    }
  }
  const Call by = allocated_by(p);
  const cudaError_t error = next(p);
  if (p && !pool && error == cudaSuccess) given_back(call, p, by);
  return error;
}
MR_ONE(cudaFreeHost, (void* p), (p)) {
  ApiCall call("cudaFreeHost");
  const Call by = allocated_by(p);
  const cudaError_t error = next(p);
  if (p && error == cudaSuccess) given_back(call, p, by);
  return error;
}
MR_ONE(cudaHostUnregister, (void* p), (p)) {
  ApiCall call("cudaHostUnregister");
  const Call by = allocated_by(p);
  const cudaError_t error = next(p);
  if (p && error == cudaSuccess) given_back(call, p, by);
  return error;
}

namespace {
template <class Allocate>
cudaError_t allocate_in_stream(ApiCall& call, void** p, std::size_t bytes, cudaStream_t stream, bool per_thread,
                               Allocate allocate) {
  OpRef op;
  if (!capturing(stream, per_thread)) {
    std::scoped_lock hold(checker->lock);
    if (const auto s = stream_of(stream, per_thread)) {
      op = checker->order.enqueue(s, *call.thread.actor, Role::stream, call.call);
      call.expect({op});
    }
  }
  const cudaError_t error = allocate();
  if (error == cudaSuccess && p && *p) {
    const int device = current_device();
    std::scoped_lock hold(checker->lock);
    checker->add_allocation(*p, bytes, Memory::pool, device, call.call, false);
    if (op) {
      // What had the memory before was enqueued before it was given back, which may have been during this call.
      op->number = checker->order.next_number();
      checker->allocations[reinterpret_cast<std::uintptr_t>(*p)].born = op->number;
      op->touches.push_back(linear(*p, bytes, allocates));
    }
  }
  call.finish(error == cudaSuccess && !call.noded);
  return error;
}
}  // namespace

MR_TWINS(cudaMallocAsync, _ptsz, (void** p, std::size_t bytes, cudaStream_t stream), (p, bytes, stream)) {
  ApiCall call("cudaMallocAsync");
  return allocate_in_stream(call, p, bytes, stream, per_thread, [&] { return next(p, bytes, stream); });
}
MR_TWINS(cudaMallocFromPoolAsync, _ptsz, (void** p, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
         (p, bytes, pool, stream)) {
  ApiCall call("cudaMallocFromPoolAsync");
  return allocate_in_stream(call, p, bytes, stream, per_thread, [&] { return next(p, bytes, pool, stream); });
}

MR_TWINS(cudaFreeAsync, _ptsz, (void* p, cudaStream_t stream), (p, stream)) {
  ApiCall call("cudaFreeAsync");
  std::vector<Touch> touches;
  {
    std::scoped_lock hold(checker->lock);
    const auto it = checker->allocations.find(reinterpret_cast<std::uintptr_t>(p));
    if (it != checker->allocations.end()) touches.push_back(linear(p, it->second.end - it->first, frees));
  }
  return operate(call, stream, per_thread, {touches}, false, [&] { return next(p, stream); });
}

// ---- copies ----

MR_COPY(cudaMemcpy, _ptds, Form::synchronous, to, from, MR_LIST(linear(from, n, reads), linear(to, n, writes)), nullptr,
        (void* to, const void* from, std::size_t n, cudaMemcpyKind kind), (to, from, n, kind))
MR_COPY(cudaMemcpyAsync, _ptsz, Form::asynchronous, to, from, MR_LIST(linear(from, n, reads), linear(to, n, writes)),
        stream, (void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream),
        (to, from, n, kind, stream))
MR_COPY(cudaMemcpy2D, _ptds, Form::synchronous, to, from,
        MR_LIST(rows(from, from_pitch, width, height, reads), rows(to, to_pitch, width, height, writes)), nullptr,
        (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
         std::size_t height, cudaMemcpyKind kind),
        (to, to_pitch, from, from_pitch, width, height, kind))
MR_COPY(cudaMemcpy2DAsync, _ptsz, Form::asynchronous, to, from,
        MR_LIST(rows(from, from_pitch, width, height, reads), rows(to, to_pitch, width, height, writes)), stream,
        (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
         std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
        (to, to_pitch, from, from_pitch, width, height, kind, stream))
MR_COPY(cudaMemcpyToSymbol, _ptds, Form::synchronous, symbol_address(symbol, n), from,
        MR_LIST(linear(from, n, reads), linear(symbol_address(symbol, n) + offset, n, writes)), nullptr,
        (const void* symbol, const void* from, std::size_t n, std::size_t offset, cudaMemcpyKind kind),
        (symbol, from, n, offset, kind))
MR_COPY(cudaMemcpyToSymbolAsync, _ptsz, Form::asynchronous, symbol_address(symbol, n), from,
        MR_LIST(linear(from, n, reads), linear(symbol_address(symbol, n) + offset, n, writes)), stream,
        (const void* symbol, const void* from, std::size_t n, std::size_t offset, cudaMemcpyKind kind,
         cudaStream_t stream),
        (symbol, from, n, offset, kind, stream))
MR_COPY(cudaMemcpyFromSymbol, _ptds, Form::synchronous, to, symbol_address(symbol, n),
        MR_LIST(linear(symbol_address(symbol, n) + offset, n, reads), linear(to, n, writes)), nullptr,
        (void* to, const void* symbol, std::size_t n, std::size_t offset, cudaMemcpyKind kind),
        (to, symbol, n, offset, kind))
MR_COPY(cudaMemcpyFromSymbolAsync, _ptsz, Form::asynchronous, to, symbol_address(symbol, n),
        MR_LIST(linear(symbol_address(symbol, n) + offset, n, reads), linear(to, n, writes)), stream,
        (void* to, const void* symbol, std::size_t n, std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream),
        (to, symbol, n, offset, kind, stream))

MR_ONE(cudaMemcpyPeer, (void* to, int to_device, const void* from, int from_device, std::size_t n),
       (to, to_device, from, from_device, n)) {
  ApiCall call("cudaMemcpyPeer");
  const bool waits = copy_waits(Form::synchronous, to, from);
  return operate(call, nullptr, false, {MR_LIST(linear(from, n, reads), linear(to, n, writes))}, waits,
                 [&] { return next(to, to_device, from, from_device, n); });
}
MR_TWINS(cudaMemcpyPeerAsync, _ptsz,
         (void* to, int to_device, const void* from, int from_device, std::size_t n, cudaStream_t stream),
         (to, to_device, from, from_device, n, stream)) {
  ApiCall call("cudaMemcpyPeerAsync");
  return operate(call, stream, per_thread, {MR_LIST(linear(from, n, reads), linear(to, n, writes))}, false,
                 [&] { return next(to, to_device, from, from_device, n, stream); });
}
// ---- sets ----

#define MR_SET(name, suffix, form, p, touches, stream, PARAMETERS, ARGUMENTS)                                          \
  MR_TWINS(name, suffix, PARAMETERS, ARGUMENTS) {                                                                      \
    ApiCall call(#name);                                                                                               \
    const bool waits = set_waits(form, p);                                                                             \
    return operate(call, stream, per_thread, {touches}, waits, [&] { return next ARGUMENTS; });                        \
  }

MR_SET(cudaMemset, _ptds, Form::synchronous, p, MR_LIST(linear(p, n, writes)), nullptr,
       (void* p, int value, std::size_t n), (p, value, n))
MR_SET(cudaMemsetAsync, _ptsz, Form::asynchronous, p, MR_LIST(linear(p, n, writes)), stream,
       (void* p, int value, std::size_t n, cudaStream_t stream), (p, value, n, stream))
MR_SET(cudaMemset2D, _ptds, Form::synchronous, p, MR_LIST(rows(p, pitch, width, height, writes)), nullptr,
       (void* p, std::size_t pitch, int value, std::size_t width, std::size_t height), (p, pitch, value, width, height))
MR_SET(cudaMemset2DAsync, _ptsz, Form::asynchronous, p, MR_LIST(rows(p, pitch, width, height, writes)), stream,
       (void* p, std::size_t pitch, int value, std::size_t width, std::size_t height, cudaStream_t stream),
       (p, pitch, value, width, height, stream))

namespace {
std::vector<Touch> cube(const cudaPitchedPtr& p, const cudaExtent& e) {
  Touch t = rows(p.ptr, p.pitch, e.width, e.height, writes);
  t.slice = p.pitch * p.ysize;
  t.slices = e.depth;
  return {t};
}
}  // namespace
MR_SET(cudaMemset3D, _ptds, Form::synchronous, p.ptr, cube(p, e), nullptr, (cudaPitchedPtr p, int value, cudaExtent e),
       (p, value, e))
MR_SET(cudaMemset3DAsync, _ptsz, Form::asynchronous, p.ptr, cube(p, e), stream,
       (cudaPitchedPtr p, int value, cudaExtent e, cudaStream_t stream), (p, value, e, stream))
