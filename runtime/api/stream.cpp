// Streams (CUDA Runtime API, "Stream Management"; specification 2.5.2, 2.5.6, 2.5.7).
#include <api/export.h>
#include <model/capture.h>
#include <model/event.h>
#include <model/stream.h>
#include <simt/printf.h>

using namespace mr;

namespace {

cudaError_t create(cudaStream_t* out, unsigned flags, int priority) {
  if (!out || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking))) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::create_stream(out, flags, priority));
}

cudaError_t query(cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_stream_query(*stream, captured)) return api::result(captured);
  }
  if (!model::stream_idle(*stream)) return cudaErrorNotReady;  // an answer, not a failure: the slot keeps what it has
  return api::result(api::failed(*stream->context));
}

cudaError_t synchronize(cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_stream_query(*stream, captured)) return api::result(captured);
  }
  model::stream_wait(*stream);
  simt::printf_flush(stream->context->device);
  return api::result(api::failed(*stream->context));
}

cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags, bool per_thread) {
  if (flags & ~static_cast<unsigned>(cudaEventWaitExternal)) [[unlikely]] {
    model::Stream* const in = model::slow() ? model::resolve(handle, per_thread) : nullptr;
    cudaError_t barred;
    return api::result(in && model::capture_bars(*in, barred) ? barred : cudaErrorInvalidValue);
  }
  if (const cudaError_t error = api::refused()) return api::result(error);
  auto* event = reinterpret_cast<model::Event*>(event_handle);
  if (!model::valid_event(event)) event = nullptr;
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_wait(*stream, event, flags, captured)) return api::result(captured);
  }
  if (!event) return api::result(cudaErrorInvalidResourceHandle);
  const cudaError_t unable = event->capture.load(std::memory_order_relaxed) ? model::captured_event_error(*event)
                                                                            : cudaSuccess;
  if (flags & cudaEventWaitExternal)  // makes sense in a capture only
    return api::result(unable == cudaErrorInvalidValue ? unable : cudaErrorIllegalState);
  if (unable != cudaSuccess) [[unlikely]]
    return api::result(unable);
  model::stream_wait_event(*stream, *event);
  return cudaSuccess;
}

cudaError_t add_callback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags,
                         bool per_thread) {
  if (!callback || flags) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_refuse(*stream, captured)) return api::result(captured);
  }
  model::enqueue_callback(*stream, handle, callback, data);
  return cudaSuccess;
}

// The getters: a stream, and an answer that is there at once.
template <class T, class Read> cudaError_t ask(cudaStream_t handle, T* out, bool per_thread, Read read) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  *out = static_cast<T>(read(*stream));
  return cudaSuccess;
}

// Calls that a capture bars only as it does all: nothing else about them concerns it.
bool barred(model::Stream* stream, cudaError_t& result) noexcept {
  return model::slow() && stream && model::capture_bars(*stream, result);
}

cudaError_t get_priority(cudaStream_t handle, int* out, bool per_thread) {
  if (model::slow()) [[unlikely]] {
    cudaError_t error;
    if (barred(model::resolve(handle, per_thread), error)) return api::result(error);
  }
  return ask(handle, out, per_thread, [](model::Stream& s) { return s.priority.load(std::memory_order_relaxed); });
}
// Of a stream that is being captured these can't be asked (and asking spoils the capture); its priority and attributes
// can.
template <class T, class Read> cudaError_t ask_outside(cudaStream_t handle, T* out, bool per_thread, Read read) {
  if (model::slow()) [[unlikely]] {
    model::Stream* stream = model::resolve(handle, per_thread);
    cudaError_t captured;
    if (stream && model::capture_refuse(*stream, captured)) return api::result(captured);
  }
  return ask(handle, out, per_thread, read);
}
cudaError_t get_flags(cudaStream_t handle, unsigned* out, bool per_thread) {
  return ask_outside(handle, out, per_thread, [](model::Stream& s) { return s.flags; });
}
cudaError_t get_id(cudaStream_t handle, unsigned long long* out, bool per_thread) {
  return ask_outside(handle, out, per_thread, [](model::Stream& s) { return s.id; });
}
cudaError_t get_device(cudaStream_t handle, int* out, bool per_thread) {
  return ask_outside(handle, out, per_thread, [](model::Stream& s) { return s.context->ordinal; });
}

cudaError_t get_attribute(cudaStream_t handle, cudaLaunchAttributeID id, cudaLaunchAttributeValue* out,
                          bool per_thread) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (cudaError_t error; barred(stream, error)) return api::result(error);
  return api::result(model::get_attribute(*stream, id, out));
}

cudaError_t set_attribute(cudaStream_t handle, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value,
                          bool per_thread) {
  if (!value) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (cudaError_t error; barred(stream, error)) return api::result(error);
  return api::result(model::set_attribute(*stream, id, *value));
}

cudaError_t copy_attributes(cudaStream_t to_handle, cudaStream_t from_handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* to = model::resolve(to_handle, per_thread);
  model::Stream* from = model::resolve(from_handle, per_thread);
  if (!to || !from) return api::result(cudaErrorInvalidResourceHandle);
  if (cudaError_t error; barred(to, error) || barred(from, error)) return api::result(error);
  model::copy_attributes(*to, *from);
  return cudaSuccess;
}

}  // namespace

MR_API cudaStreamCreate(cudaStream_t* out) { return create(out, cudaStreamDefault, 0); }
MR_API cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) { return create(out, flags, 0); }
MR_API cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return create(out, flags, priority);
}
MR_API cudaStreamDestroy(cudaStream_t handle) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return api::result(cudaErrorInvalidResourceHandle);
  model::Stream* stream = model::resolve(handle, false);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  return api::result(model::destroy_stream(*stream));
}
MR_TWINS(cudaStreamQuery, _ptsz, query, (cudaStream_t stream), stream)
MR_TWINS(cudaStreamSynchronize, _ptsz, synchronize, (cudaStream_t stream), stream)
MR_TWINS(cudaStreamWaitEvent, _ptsz, wait_event, (cudaStream_t stream, cudaEvent_t event, unsigned flags), stream,
         event, flags)
MR_TWINS(cudaStreamAddCallback, _ptsz, add_callback,
         (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags), stream, callback, data,
         flags)
MR_TWINS(cudaStreamGetPriority, _ptsz, get_priority, (cudaStream_t stream, int* priority), stream, priority)
MR_TWINS(cudaStreamGetFlags, _ptsz, get_flags, (cudaStream_t stream, unsigned* flags), stream, flags)
MR_TWINS(cudaStreamGetId, _ptsz, get_id, (cudaStream_t stream, unsigned long long* id), stream, id)
MR_TWINS(cudaStreamGetDevice, _ptsz, get_device, (cudaStream_t stream, int* device), stream, device)
MR_TWINS(cudaStreamGetAttribute, _ptsz, get_attribute,
         (cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value), stream, id, value)
MR_TWINS(cudaStreamSetAttribute, _ptsz, set_attribute,
         (cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value), stream, id, value)
MR_TWINS(cudaStreamCopyAttributes, _ptsz, copy_attributes, (cudaStream_t dst, cudaStream_t src), dst, src)
