// Copies and sets (CUDA Runtime API, "Memory Management"; specification 2.5.2). Arrays' own copies are in array.cpp.
#include <api/copy_call.h>

using namespace mr;
using api::run_async;
using api::run_sync;

namespace {

cudaError_t copy(void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind, bool per_thread) {
  return run_sync([&](model::CopyPlan& plan) { return model::check_copy(plan, dst, src, bytes, kind); }, per_thread);
}
cudaError_t copy_async(void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                       bool per_thread) {
  return run_async([&](model::CopyPlan& plan) { return model::check_copy(plan, dst, src, bytes, kind); }, kind, nullptr,
                   stream, per_thread);
}

cudaMemcpy3DParms flat_parameters(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch,
                                  std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(src), src_pitch, 0, 0};
  p.dstPtr = {dst, dst_pitch, 0, 0};
  p.extent = {width, height, 1};
  p.kind = kind;
  return p;
}

cudaError_t copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                    std::size_t height, cudaMemcpyKind kind, bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) {
        return model::check_copy_2d(plan, dst, dst_pitch, src, src_pitch, width, height, kind);
      },
      per_thread);
}
cudaError_t copy_2d_async(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                          std::size_t height, cudaMemcpyKind kind, cudaStream_t stream, bool per_thread) {
  const cudaMemcpy3DParms p = flat_parameters(dst, dst_pitch, src, src_pitch, width, height, kind);
  return run_async(
      [&](model::CopyPlan& plan) {
        return model::check_copy_2d(plan, dst, dst_pitch, src, src_pitch, width, height, kind);
      },
      kind, &p, stream, per_thread);
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, bool per_thread) {
  if (!p) return api::result(cudaErrorInvalidValue);
  return run_sync([&](model::CopyPlan& plan) { return model::check_copy_3d(plan, *p); }, per_thread);
}
cudaError_t copy_3d_async(const cudaMemcpy3DParms* p, cudaStream_t stream, bool per_thread) {
  if (!p) return api::result(cudaErrorInvalidValue);
  return run_async([&](model::CopyPlan& plan) { return model::check_copy_3d(plan, *p); }, p->kind, p, stream,
                   per_thread);
}

cudaError_t copy_peer(void* dst, int dst_device, const void* src, int src_device, std::size_t bytes, bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) { return model::check_peer(plan, dst, dst_device, src, src_device, bytes); },
      per_thread);
}
cudaError_t copy_peer_async(void* dst, int dst_device, const void* src, int src_device, std::size_t bytes,
                            cudaStream_t stream, bool per_thread) {
  return run_async(
      [&](model::CopyPlan& plan) { return model::check_peer(plan, dst, dst_device, src, src_device, bytes); },
      cudaMemcpyDefault, nullptr, stream, per_thread, false);
}
cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, bool per_thread) {
  if (!p) return api::result(cudaErrorInvalidValue);
  return run_sync([&](model::CopyPlan& plan) { return model::check_peer_3d(plan, *p); }, per_thread);
}
cudaError_t copy_3d_peer_async(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool per_thread) {
  if (!p) return api::result(cudaErrorInvalidValue);
  return run_async([&](model::CopyPlan& plan) { return model::check_peer_3d(plan, *p); }, cudaMemcpyDefault, nullptr,
                   stream, per_thread, false);
}

cudaError_t to_symbol(const void* symbol, const void* src, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                      bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) { return model::check_to_symbol(plan, symbol, src, bytes, offset, kind, true); },
      per_thread);
}
cudaError_t from_symbol(void* dst, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                        bool per_thread) {
  return run_sync(
      [&](model::CopyPlan& plan) { return model::check_from_symbol(plan, dst, symbol, bytes, offset, kind, true); },
      per_thread);
}
cudaError_t to_symbol_async(const void* symbol, const void* src, std::size_t bytes, std::size_t offset,
                            cudaMemcpyKind kind, cudaStream_t stream, bool per_thread) {
  return run_async(
      [&](model::CopyPlan& plan) { return model::check_to_symbol(plan, symbol, src, bytes, offset, kind, false); },
      kind, nullptr, stream, per_thread);
}
cudaError_t from_symbol_async(void* dst, const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                              cudaStream_t stream, bool per_thread) {
  return run_async(
      [&](model::CopyPlan& plan) { return model::check_from_symbol(plan, dst, symbol, bytes, offset, kind, false); },
      kind, nullptr, stream, per_thread);
}

// ---- sets
// ------------------------------------------------------------------------------------------------------------

struct FillCall {
  void* dst;
  std::size_t pitch, slice_rows;
  int value;
  cudaExtent extent;
  bool three_dimensional;
  std::size_t shown_pitch;  // of a captured row: what was given, 0 for calls without
};

// Slices with a gap between them are set one by one: those in front of the first that lies outside are.
bool in_slices(const FillCall& call) { return call.extent.depth > 1 && call.slice_rows > call.extent.height; }
template <class Set> cudaError_t each_slice(FillCall call, Set&& set) {
  const std::size_t slices = call.extent.depth;
  call.extent.depth = 1;
  for (std::size_t i = 0; i < slices; ++i) {
    if (const cudaError_t error = set(call)) return error;
    call.dst = static_cast<char*>(call.dst) + call.pitch * call.slice_rows;
  }
  return cudaSuccess;
}

cudaError_t fill_sync(const FillCall& call, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  memory::Fill fill;
  bool empty;
  if (const cudaError_t error = model::check_fill(fill, empty, call.dst, call.pitch, call.slice_rows, call.value,
                                                  call.extent, call.three_dimensional))
    return api::result(error);
  if (empty) return cudaSuccess;
  memory::Kind kind;
  model::Stream& stream = api::default_stream(per_thread);
  if (const cudaError_t error = model::check_fill_target(fill, stream.context->ordinal, &kind)) {
    if (!in_slices(call)) return api::result(error);
    return each_slice(call, [&](const FillCall& slice) { return fill_sync(slice, per_thread); });
  }
  cudaError_t error;
  if (model::slow() && model::capture_refuse(stream, error)) return api::result(error);
  model::fill_and_wait(stream, fill, kind);
  return api::result(api::broken());
}

cudaError_t fill_async(const FillCall& call, cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  memory::Fill fill;
  bool empty;
  if (const cudaError_t error = model::check_fill(fill, empty, call.dst, call.pitch, call.slice_rows, call.value,
                                                  call.extent, call.three_dimensional))
    return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    // While it is captured, the target is not looked at.
    cudaError_t error;
    if (empty ? model::capture_nothing(*stream, error)
              : model::capture_fill(*stream, fill, call.three_dimensional, call.shown_pitch, error))
      return api::result(error);
  }
  if (empty) return cudaSuccess;
  memory::Kind kind;
  if (const cudaError_t error = model::check_fill_target(fill, stream->context->ordinal, &kind)) {
    if (!in_slices(call)) return api::result(error);
    return each_slice(call, [&](const FillCall& slice) { return fill_async(slice, handle, per_thread); });
  }
  model::enqueue_fill(*stream, fill);
  return cudaSuccess;
}

FillCall flat(void* dst, int value, std::size_t bytes) { return {dst, bytes, 1, value, {bytes, 1, 1}, false, 0}; }
FillCall rows(void* dst, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return {dst, pitch, height, value, {width, height, 1}, false, pitch};
}
FillCall box(const cudaPitchedPtr& dst, int value, const cudaExtent& extent) {
  return {dst.ptr, dst.pitch, dst.ysize, value, extent, true, dst.pitch};
}

}  // namespace

MR_TWINS(cudaMemcpy, _ptds, copy, (void* dst, const void* src, size_t bytes, cudaMemcpyKind kind), dst, src, bytes,
         kind)
MR_TWINS(cudaMemcpyAsync, _ptsz, copy_async,
         (void* dst, const void* src, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream), dst, src, bytes, kind,
         stream)
MR_TWINS(cudaMemcpy2D, _ptds, copy_2d,
         (void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
          cudaMemcpyKind kind),
         dst, dst_pitch, src, src_pitch, width, height, kind)
MR_TWINS(cudaMemcpy2DAsync, _ptsz, copy_2d_async,
         (void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
          cudaMemcpyKind kind, cudaStream_t stream),
         dst, dst_pitch, src, src_pitch, width, height, kind, stream)
MR_TWINS(cudaMemcpy3D, _ptds, copy_3d, (const cudaMemcpy3DParms* p), p)
MR_TWINS(cudaMemcpy3DAsync, _ptsz, copy_3d_async, (const cudaMemcpy3DParms* p, cudaStream_t stream), p, stream)
MR_API cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t bytes) {
  return copy_peer(dst, dst_device, src, src_device, bytes, false);
}
MR_API cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                           cudaStream_t stream) {
  return copy_peer_async(dst, dst_device, src, src_device, bytes, stream, false);
}
MR_TWINS(cudaMemcpy3DPeer, _ptds, copy_3d_peer, (const cudaMemcpy3DPeerParms* p), p)
MR_TWINS(cudaMemcpy3DPeerAsync, _ptsz, copy_3d_peer_async, (const cudaMemcpy3DPeerParms* p, cudaStream_t stream), p,
         stream)
MR_TWINS(cudaMemcpyToSymbol, _ptds, to_symbol,
         (const void* symbol, const void* src, size_t bytes, size_t offset, cudaMemcpyKind kind), symbol, src, bytes,
         offset, kind)
MR_TWINS(cudaMemcpyFromSymbol, _ptds, from_symbol,
         (void* dst, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind), dst, symbol, bytes, offset,
         kind)
MR_TWINS(cudaMemcpyToSymbolAsync, _ptsz, to_symbol_async,
         (const void* symbol, const void* src, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream),
         symbol, src, bytes, offset, kind, stream)
MR_TWINS(cudaMemcpyFromSymbolAsync, _ptsz, from_symbol_async,
         (void* dst, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream), dst,
         symbol, bytes, offset, kind, stream)

#define MR_FILL(name, call, parameters)                                                                                \
  MR_API name parameters { return fill_sync(call, false); }                                                            \
  MR_API name##_ptds parameters { return fill_sync(call, true); }
#define MR_FILL_ASYNC(name, call, ...)                                                                                 \
  MR_API name(__VA_ARGS__, cudaStream_t stream) { return fill_async(call, stream, false); }                            \
  MR_API name##_ptsz(__VA_ARGS__, cudaStream_t stream) { return fill_async(call, stream, true); }
#define MR_ARGUMENTS(...) (__VA_ARGS__)
MR_FILL(cudaMemset, flat(dst, value, bytes), MR_ARGUMENTS(void* dst, int value, size_t bytes))
MR_FILL(cudaMemset2D, rows(dst, pitch, value, width, height),
        MR_ARGUMENTS(void* dst, size_t pitch, int value, size_t width, size_t height))
MR_FILL(cudaMemset3D, box(dst, value, extent), MR_ARGUMENTS(cudaPitchedPtr dst, int value, cudaExtent extent))
MR_FILL_ASYNC(cudaMemsetAsync, flat(dst, value, bytes), void* dst, int value, size_t bytes)
MR_FILL_ASYNC(cudaMemset2DAsync, rows(dst, pitch, value, width, height), void* dst, size_t pitch, int value,
              size_t width, size_t height)
MR_FILL_ASYNC(cudaMemset3DAsync, box(dst, value, extent), cudaPitchedPtr dst, int value, cudaExtent extent)
