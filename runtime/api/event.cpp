// Events (CUDA Runtime API, "Event Management"; specification 2.5.3).
//
// Host functions may ask for an event's state: queries, waits for completed events and elapsed times are not refused
// there.
#include <api/export.h>
#include <engine/wait.h>
#include <memory/pool.h>
#include <model/capture.h>
#include <model/event.h>
#include <model/event_ipc.h>
#include <model/stream.h>
#include <simt/printf.h>

using namespace mr;

namespace {

model::Event* event_of(cudaEvent_t handle) noexcept {
  auto* event = reinterpret_cast<model::Event*>(handle);
  return model::valid_event(event) ? event : nullptr;
}

cudaError_t create(cudaEvent_t* out, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (!out || (flags & ~known) || ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)))
    return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::create_event(out, flags));
}

cudaError_t record(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags, bool per_thread) {
  if (flags & ~static_cast<unsigned>(cudaEventRecordExternal)) [[unlikely]] {
    if (!event_of(handle)) return api::result(cudaErrorInvalidResourceHandle);
    model::Stream* const to = model::slow() ? model::resolve(stream_handle, per_thread) : nullptr;
    cudaError_t barred;
    return api::result(to && model::capture_bars(*to, barred) ? barred : cudaErrorInvalidValue);
  }
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Event* event = event_of(handle);
  if (!event) return api::result(cudaErrorInvalidResourceHandle);
  model::Stream* stream = model::resolve(stream_handle, per_thread);
  if (!stream || stream->context != event->context) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_record(*stream, *event, flags, captured)) return api::result(captured);
  }
  if (flags & cudaEventRecordExternal) return api::result(cudaErrorIllegalState);  // makes sense in a capture only
  model::record_event(*event, *stream);
  return cudaSuccess;
}
cudaError_t record_plain(cudaEvent_t handle, cudaStream_t stream, bool per_thread) {
  return record(handle, stream, 0, per_thread);
}

}  // namespace

MR_API cudaEventCreate(cudaEvent_t* out) { return create(out, cudaEventDefault); }
MR_API cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) { return create(out, flags); }
MR_TWINS(cudaEventRecord, _ptsz, record_plain, (cudaEvent_t event, cudaStream_t stream), event, stream)
MR_TWINS(cudaEventRecordWithFlags, _ptsz, record, (cudaEvent_t event, cudaStream_t stream, unsigned flags), event,
         stream, flags)

MR_API cudaEventQuery(cudaEvent_t handle) {
  if (const cudaError_t error = api::broken()) return api::result(error);
  model::Event* event = event_of(handle);
  if (!event) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_event_query(*event, captured)) return api::result(captured);
  }
  if (event->ipc) [[unlikely]] {
    if (!model::shared_complete(*event)) return cudaErrorNotReady;
  } else if (!event->point().complete()) {
    if (const cudaError_t error = model::captured_event_error(*event)) return api::result(error);
    return cudaErrorNotReady;  // an answer, not a failure: the slot keeps what it has
  }
  return api::result(api::failed(*event->context));
}

MR_API cudaEventSynchronize(cudaEvent_t handle) {
  if (const cudaError_t error = api::broken()) return api::result(error);
  model::Event* event = event_of(handle);
  if (!event) return api::result(cudaErrorInvalidResourceHandle);
  if (model::slow()) [[unlikely]] {
    cudaError_t captured;
    if (model::capture_event_query(*event, captured)) return api::result(captured);
  }
  const model::RecordPoint point = event->point();
  if (event->ipc) [[unlikely]] {
    if (model::in_host_function() && !model::shared_complete(*event)) return api::result(cudaErrorNotPermitted);
    model::wait_shared(*event, event->context->wait_mode());
  } else if (!point.complete()) {
    if (const cudaError_t error = model::captured_event_error(*event)) return api::result(error);
    if (model::in_host_function()) return api::result(cudaErrorNotPermitted);
    engine::wait(*point.queue, point.sequence,
                 event->flags & cudaEventBlockingSync ? engine::WaitMode::block : event->context->wait_mode());
  }
  memory::synchronized(event->context->ordinal, point.queue);
  simt::printf_flush(event->context->device);
  return api::result(api::failed(*event->context));
}

MR_API cudaEventDestroy(cudaEvent_t handle) {
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Event* event = event_of(handle);
  if (!event) return api::result(cudaErrorInvalidResourceHandle);
  model::destroy_event(*event);
  return cudaSuccess;
}

MR_API cudaEventElapsedTime(float* ms, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  if (!ms) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::broken()) return api::result(error);
  model::Event* start = event_of(start_handle);
  model::Event* end = event_of(end_handle);
  if (!start || !end || start->context != end->context) return api::result(cudaErrorInvalidResourceHandle);
  for (const model::Event* event : {start, end}) {  // all about one ahead of the other
    if (const cudaError_t error = model::captured_event_error(*event)) return api::result(error);
    if (!event->timed() || !event->point().queue) return api::result(cudaErrorInvalidResourceHandle);
  }
  return api::result(model::elapsed_time(ms, *start, *end));
}

MR_API cudaIpcGetEventHandle(cudaIpcEventHandle_t* out, cudaEvent_t handle) {
  if (!handle) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  model::Event* event = event_of(handle);
  if (!event || !event->ipc) return api::result(cudaErrorInvalidResourceHandle);
  if (!out) return api::result(cudaErrorInvalidValue);
  return api::result(model::export_event(*event, out));
}

MR_API cudaIpcOpenEventHandle(cudaEvent_t* out, cudaIpcEventHandle_t handle) {
  if (!out) return api::result(cudaErrorInvalidValue);
  if (const cudaError_t error = api::refused()) return api::result(error);
  return api::result(model::import_event(handle, out));
}
