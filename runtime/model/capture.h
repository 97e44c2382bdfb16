// Stream capture (specification 2.5.9.2; API reference, "Stream Management"): the one place that decides what a call
// does while a capture is going on.
//
// How API functions use it. Only when slow() says so, an API function asks the hook that stands for its kind of call:
//
//   if (slow()) [[unlikely]] {
//     cudaError_t result;
//     if (capture_launch(stream, request, result)) return fail(result);
//   }
//
// A hook returns true when the call is dealt with: recorded as a node (result == cudaSuccess), or refused (result says
// why, and whatever the refusal does to captures has been done). False: no capture is concerned, go on as usual. Hooks
// take handles that were resolved and arguments that were checked; where an error of the arguments counts first
// (invalid kinds, null pointers, bad flags) the API returns it before it asks. All hooks are thread-safe.
//
// Four rules cover all calls:
//   1. Work for a capturing stream is recorded; when its capture is invalidated already:
//   cudaErrorStreamCaptureInvalidated.
//   2. Asking for a capturing stream's or a captured event's completion, or work that can't be recorded, is refused and
//   invalidates.
//   3. Any use of the legacy stream while a blocking stream captures would depend on it:
//   cudaErrorStreamCaptureImplicit, invalidates.
//   4. A potentially unsafe call (allocation, waiting for something) is refused, and invalidates the captures in its
//   way: those that this
//      thread began, unless in relaxed mode, and all that were begun in global mode by any thread; a thread's own mode
//      (cudaThreadExchangeStreamCaptureMode) narrows that to its own captures, or to none.
#pragma once
#include <cstddef>

#include <driver_types.h>
#include <memory/copy.h>
#include <model/context.h>

namespace mr::memory {
class Pool;
}

namespace mr::model {

struct Stream;
struct Event;
struct Graph;
struct GraphNode;
struct LaunchRequest;

// ---- work for a stream ----

bool capture_launch(Stream& stream, const LaunchRequest& request, cudaError_t& result) noexcept;
// A copy as its node keeps it. `params` is what cudaGraphMemcpyNodeGetParams gives back; made from `copy` and `kind`
// when null.
bool capture_copy(Stream& stream, const memory::Copy& copy, cudaMemcpyKind kind, const cudaMemcpy3DParms* params,
                  cudaError_t& result) noexcept;
// `pitch`: what the node of a single row shows.
bool capture_fill(Stream& stream, const memory::Fill& fill, bool three_dimensional, std::size_t pitch,
                  cudaError_t& result) noexcept;
bool capture_host(Stream& stream, cudaHostFn_t function, void* data, cudaError_t& result) noexcept;
// Signals, or waits if those are given.
bool capture_external(Stream& stream, const cudaExternalSemaphore_t* semaphores,
                      const cudaExternalSemaphoreSignalParams* signals, const cudaExternalSemaphoreWaitParams* waits,
                      unsigned count, cudaError_t& result) noexcept;
// `pool` null: the current one of the stream's device. A node's memory can't be where some pools are.
bool capture_alloc(Stream& stream, void** out, std::size_t bytes, const memory::Pool* pool,
                   cudaError_t& result) noexcept;
bool capture_free(Stream& stream, void* pointer, cudaError_t& result) noexcept;
// Work without a node of its own: empty copies, discards and prefetches with nothing to do. Recorded as nothing.
bool capture_nothing(Stream& stream, cudaError_t& result) noexcept;
// Work that can't be recorded: stream callbacks, batch copies, synchronous copies and sets, graph launches. It ends the
// capture, unless that is not to be invalidated.
bool capture_refuse(Stream& stream, cudaError_t& result, bool invalidate = true) noexcept;

// ---- events ----

// flags: cudaEventRecordExternal makes an event record node; otherwise the event stands for the stream's dependencies.
bool capture_record(Stream& stream, Event& event, unsigned flags, cudaError_t& result) noexcept;
// Also for a stream that doesn't capture yet: waiting for a captured event makes it take part. `event` may be null: an
// invalid handle.
bool capture_wait(Stream& stream, Event* event, unsigned flags, cudaError_t& result) noexcept;
// cudaEventQuery, cudaEventSynchronize.
bool capture_event_query(Event& event, cudaError_t& result) noexcept;

// Why an event that stands for nodes of a capture can't be asked or waited for: cudaSuccess if it doesn't. After the
// capture is over this is found without slow(): such an event's point never completes, so calls that find an event's
// point incomplete ask this, and return what it says unless it says cudaSuccess.
cudaError_t captured_event_error(const Event& event) noexcept;

// ---- questions and unsafe calls ----

// cudaStreamQuery, cudaStreamSynchronize: of the capturing stream never, of others by rule 4. (cudaStreamGetFlags,
// GetId and GetDevice of the capturing stream: capture_refuse.)
bool capture_stream_query(Stream& stream, cudaError_t& result) noexcept;
// Rule 4: cudaMalloc, cudaFree, cudaHostAlloc, cudaDeviceSynchronize, cudaGraphInstantiate, cudaGraphExecDestroy, ...
bool capture_unsafe(cudaError_t& result) noexcept;
// cudaDeviceSynchronize: while anything is captured on the device, by whomever.
bool capture_device_synchronize(cudaError_t& result) noexcept;
// What every call on a stream begins with, the ones that record nothing too: refused for the legacy stream by rule 3,
// for a stream whose capture is invalidated by rule 1. It counts ahead of errors that only the driver finds: pointers,
// flags and attributes that don't do.
bool capture_bars(Stream& stream, cudaError_t& result) noexcept;
// Whether work for the stream becomes a node.
bool capture_records(Stream& stream) noexcept;

// ---- model bookkeeping (destroy_stream, record_event, destroy_event) ----

void capture_stream_destroyed(Stream& stream) noexcept;
// The event is recorded outside of captures, or destroyed: it no longer stands for anything in one. `event.write_lock`
// is held.
void capture_event_released(Event& event) noexcept;

// ---- the capture calls themselves ----

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode, Graph* to_graph, GraphNode* const* dependencies,
                          const cudaGraphEdgeData* data, std::size_t count) noexcept;
cudaError_t end_capture(Stream& stream, Graph** out) noexcept;
cudaError_t capture_status(Stream& stream, cudaStreamCaptureStatus* out) noexcept;
struct CaptureInfo {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  Graph* graph = nullptr;
  // Valid until the stream's next call.
  GraphNode* const* dependencies = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  bool has_edge_data = false;  // some dependency is not an ordinary one
};
cudaError_t capture_info(Stream& stream, CaptureInfo& out) noexcept;
cudaError_t update_capture_dependencies(Stream& stream, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                                        std::size_t count, unsigned flags) noexcept;
cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept;

}  // namespace mr::model
