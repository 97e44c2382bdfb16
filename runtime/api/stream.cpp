// Streams (CUDA Runtime API, "Stream Management"; specification 2.5.2, 2.5.6, 2.5.7).
#include <api/export.h>
#include <model/event.h>
#include <model/stream.h>

using namespace mr;

namespace {

cudaError_t create(cudaStream_t* out, unsigned flags, int priority) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!out || (flags & ~static_cast<unsigned>(cudaStreamNonBlocking))) return api::result(cudaErrorInvalidValue);
  return api::result(model::create_stream(out, flags, priority));
}

cudaError_t query(cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  if (!model::stream_idle(*stream)) return api::result(cudaErrorNotReady);
  return api::result(api::broken());
}

cudaError_t synchronize(cudaStream_t handle, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  model::stream_wait(*stream, stream->context->wait_mode());
  return api::result(api::broken());
}

cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (flags & ~1u) return api::result(cudaErrorInvalidValue);
  auto* event = reinterpret_cast<model::Event*>(event_handle);
  if (!model::valid_event(event)) return api::result(cudaErrorInvalidResourceHandle);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  model::stream_wait_event(*stream, *event);
  return cudaSuccess;
}

cudaError_t add_callback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags, bool per_thread) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (!callback || flags) return api::result(cudaErrorInvalidValue);
  model::Stream* stream = model::resolve(handle, per_thread);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  model::enqueue_callback(*stream, handle, callback, data);
  return cudaSuccess;
}

}  // namespace

MR_API cudaStreamCreate(cudaStream_t* out) { return create(out, cudaStreamDefault, 0); }
MR_API cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) { return create(out, flags, 0); }
MR_API cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) { return create(out, flags, priority); }
MR_API cudaStreamDestroy(cudaStream_t handle) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  if (reinterpret_cast<std::uintptr_t>(handle) <= 2) return api::result(cudaErrorInvalidResourceHandle);
  model::Stream* stream = model::resolve(handle, false);
  if (!stream) return api::result(cudaErrorInvalidResourceHandle);
  return api::result(model::destroy_stream(*stream));
}
MR_TWINS(cudaStreamQuery, _ptsz, query, (cudaStream_t stream), stream)
MR_TWINS(cudaStreamSynchronize, _ptsz, synchronize, (cudaStream_t stream), stream)
MR_TWINS(cudaStreamWaitEvent, _ptsz, wait_event, (cudaStream_t stream, cudaEvent_t event, unsigned flags), stream, event, flags)
MR_TWINS(cudaStreamAddCallback, _ptsz, add_callback, (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags), stream,
         callback, data, flags)
