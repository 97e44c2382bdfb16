// Hooks for events and for questions: what stands for nodes, and what would have to wait for work that does not run.
#include <model/capture_state.h>

namespace mr::model {

namespace {

// An event node: records or waits at every launch of the graph.
bool record_node(Stream& stream, cudaGraphNodeType type, Event& event, cudaError_t& result) noexcept {
  const Work work(stream, result);
  if (work.turn != Turn::record) return work.dealt_with();
  GraphNode& node = *append(*work.capture, stream, type);
  node.event = node.graph->arena.make<EventData>();
  node.event->event = &event;
  return true;
}

}  // namespace

// ---- events ----

bool capture_record(Stream& stream, Event& event, unsigned flags, cudaError_t& result) noexcept {
  if (flags & cudaEventRecordExternal) return record_node(stream, cudaGraphNodeTypeEventRecord, event, result);
  std::scoped_lock hold_event(event.write_lock);
  const Work work(stream, result);
  if (work.turn != Turn::record) return work.dealt_with();
  stand_for(event, *work.capture, work.capture->member_of(stream)->dependencies);
  return true;
}

bool capture_wait(Stream& stream, Event* event, unsigned flags, cudaError_t& result) noexcept {
  const bool external = flags & cudaEventWaitExternal;
  if (external && event && captured_event_error(*event) != cudaErrorInvalidValue)
    return record_node(stream, cudaGraphNodeTypeWaitEvent, *event, result);
  const Work work(stream, result);
  if (work.turn == Turn::refused) return true;
  Capture* const mine = work.capture;
  if (!event) {
    if (!mine) return false;
    mine->invalidate();
    result = cudaErrorInvalidResourceHandle;
    return true;
  }
  Capture* theirs = event->capture.load(std::memory_order_relaxed);
  if (work.turn == Turn::ordinary) {
    if (!theirs) return false;
    if (external || !theirs->active()) {
      result = cudaErrorInvalidValue;
      return true;
    }
    if (stream.is_legacy) {
      theirs->invalidate();
      result = cudaErrorStreamCaptureImplicit;
      return true;
    }
    // The stream takes part from here on.
    auto member = std::make_unique<CaptureMember>();
    member->stream = &stream;
    member->blocking = stream.blocking;
    member->dependencies = nodes_of(*event);
    theirs->members.push_back(std::move(member));
    stream.capture.store(theirs, std::memory_order_release);
    result = cudaSuccess;
    return true;
  }
  result = cudaSuccess;
  if (theirs == mine) {
    unite(mine->member_of(stream)->dependencies, nodes_of(*event));
  } else if (!theirs) {
    if (!event->point().queue) return true;  // never recorded: nothing to wait for
    mine->invalidate();
    result = cudaErrorStreamCaptureIsolation;
  } else if (theirs->active()) {
    mine->invalidate();
    theirs->invalidate();
    result = cudaErrorStreamCaptureMerge;
  } else {
    mine->invalidate();
    result = cudaErrorInvalidValue;
  }
  return true;
}

bool capture_event_query(Event& event, cudaError_t& result) noexcept {
  std::scoped_lock hold(Captures::get().lock);
  if (Capture* capture = event.capture.load(std::memory_order_relaxed)) {
    result = event_state(event);
    if (capture->active()) capture->invalidate();
    return true;
  }
  return unsafe(result);
}

cudaError_t captured_event_error(const Event& event) noexcept {
  if (!event.capture.load(std::memory_order_acquire)) [[likely]]
    return cudaSuccess;
  std::scoped_lock hold(Captures::get().lock);
  return event_state(event);
}

// ---- questions and unsafe calls ----

bool capture_stream_query(Stream& stream, cudaError_t& result) noexcept {
  const Work work(stream, result);
  if (work.turn != Turn::ordinary) {
    if (work.capture) {
      work.capture->invalidate();
      result = cudaErrorStreamCaptureUnsupported;
    }
    return true;
  }
  return unsafe(result);
}

bool capture_unsafe(cudaError_t& result) noexcept {
  std::scoped_lock hold(Captures::get().lock);
  return unsafe(result);
}

bool capture_device_synchronize(cudaError_t& result) noexcept {
  std::scoped_lock hold(Captures::get().lock);
  if (Captures::get().going_on.empty()) return false;
  for (Capture* capture : Captures::get().going_on) capture->invalidate();
  result = cudaErrorStreamCaptureUnsupported;
  return true;
}

bool capture_bars(Stream& stream, cudaError_t& result) noexcept {
  cudaError_t why = cudaSuccess;
  if (Work(stream, why).turn != Turn::refused) return false;
  result = why;
  return true;
}

bool capture_records(Stream& stream) noexcept {
  cudaError_t ignored;
  return Work(stream, ignored).turn == Turn::record;
}

}  // namespace mr::model
