#include <model/capture.h>

#include <algorithm>

#include <model/capture_state.h>

namespace mr::model {

// ---- bookkeeping ----

void capture_stream_destroyed(Stream& stream) noexcept {
  if (!stream.capture.load(std::memory_order_acquire)) return;
  Graph* graph;
  {
    std::scoped_lock hold(Captures::get().lock);
    Capture* capture = stream.capture.load(std::memory_order_relaxed);
    if (!capture) return;
    CaptureMember* member = capture->member_of(stream);
    if (member != capture->members.front().get()) {
      member->stream = nullptr;  // what it recorded stays
      stream.capture.store(nullptr, std::memory_order_relaxed);
      return;
    }
    graph = capture->graph;
    finish(*capture);
    drop(capture);
  }
  (void)destroy_graph(*graph);  // the caller's, too, as when a capture fails
}

void capture_event_released(Event& event) noexcept {
  if (!event.capture.load(std::memory_order_relaxed)) [[likely]]
    return;
  std::scoped_lock hold(Captures::get().lock);
  release_record(event);
}

// ---- the capture calls ----

namespace {

// The nodes that begin with given dependencies depend on, without doubles; false when one is no node of the graph, or
// an edge's data isn't for its kind.
bool given_dependencies(std::vector<EdgeRef>& out, const Graph& graph, GraphNode* const* nodes,
                        const cudaGraphEdgeData* data, std::size_t count) {
  if (count && !nodes) return false;
  std::vector<EdgeRef> made;
  for (std::size_t i = 0; i < count; ++i) {
    if (!valid_node(nodes[i]) || nodes[i]->graph != &graph) return false;
    // What comes behind it isn't known yet: as if a kernel.
    if (data && !legal_edge(data[i], nodes[i]->type, cudaGraphNodeTypeKernel)) return false;
    unite(made, {nodes[i], data ? data[i] : cudaGraphEdgeData{}});
  }
  out = std::move(made);
  return true;
}

}  // namespace

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode, Graph* to_graph, GraphNode* const* dependencies,
                          const cudaGraphEdgeData* data, std::size_t count) noexcept {
  if (stream.is_legacy) {
    std::scoped_lock hold(Captures::get().lock);
    return implicit(true) ? cudaErrorStreamCaptureImplicit : cudaErrorStreamCaptureUnsupported;
  }
  Graph* graph = to_graph ? to_graph : create_graph();
  if (!graph) return cudaErrorMemoryAllocation;
  cudaError_t error = cudaSuccess;
  {
    Captures& all = Captures::get();
    std::scoped_lock hold(all.lock);
    auto member = std::make_unique<CaptureMember>();
    if (stream.capture.load(std::memory_order_relaxed) || graph->capturing) {
      error = cudaErrorIllegalState;
    } else if (!given_dependencies(member->dependencies, *graph, dependencies, data, count)) {
      error = cudaErrorInvalidValue;
    } else {
      auto* capture = new Capture;
      capture->id = all.next_id++;
      capture->mode = mode;
      capture->thread = this_capture_thread();
      capture->graph = graph;
      capture->own_graph = !to_graph;
      member->stream = &stream;
      member->blocking = stream.blocking;
      capture->members.push_back(std::move(member));
      graph->capturing = true;
      all.going_on.push_back(capture);
      stream.capture.store(capture, std::memory_order_release);
      slow_word.fetch_or(slow_capture, std::memory_order_release);
    }
  }
  if (error != cudaSuccess && !to_graph) (void)destroy_graph(*graph);
  return error;
}

cudaError_t end_capture(Stream& stream, Graph** out) noexcept {
  cudaError_t error = cudaSuccess;
  Graph* graph = nullptr;
  bool own = false;
  {
    std::scoped_lock hold(Captures::get().lock);
    Capture* capture = stream.capture.load(std::memory_order_relaxed);
    if (!capture) return stream.is_legacy && implicit(true) ? cudaErrorStreamCaptureImplicit : cudaErrorIllegalState;
    CaptureMember& origin = *capture->members.front();
    if (origin.stream != &stream) {
      capture->invalidate();
      return cudaErrorStreamCaptureUnmatched;
    }
    if (!capture->active()) {
      error = cudaErrorStreamCaptureInvalidated;
    } else if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != this_capture_thread()) {
      error = cudaErrorStreamCaptureWrongThread;
    } else {
      // Every other stream's work must lead somewhere: to what the origin depends on, or to further nodes.
      for (const auto& member : capture->members)
        for (const EdgeRef& last : member->dependencies) {
          const bool joined = !last.node->dependents.empty() ||
                              std::any_of(origin.dependencies.begin(), origin.dependencies.end(),
                                          [&](const EdgeRef& e) { return e.node == last.node; }) ||
                              std::find(capture->let_go.begin(), capture->let_go.end(), last.node) !=
                                  capture->let_go.end();
          if (!joined) error = cudaErrorStreamCaptureUnjoined;
        }
    }
    graph = capture->graph;
    own = capture->own_graph;
    finish(*capture);
    drop(capture);
  }
  // A capture that failed takes its graph along, the caller's too: what has been recorded is not whole.
  if (error == cudaSuccess && out)
    *out = graph;
  else if (error != cudaSuccess || own)
    (void)destroy_graph(*graph);
  return error;
}

cudaError_t capture_status(Stream& stream, cudaStreamCaptureStatus* out) noexcept {
  std::scoped_lock hold(Captures::get().lock);
  if (stream.is_legacy && implicit(false)) return cudaErrorStreamCaptureImplicit;
  const Capture* capture = stream.capture.load(std::memory_order_relaxed);
  *out = capture ? capture->status : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t capture_info(Stream& stream, CaptureInfo& out) noexcept {
  out = {};
  std::scoped_lock hold(Captures::get().lock);
  if (stream.is_legacy && implicit(false)) return cudaErrorStreamCaptureImplicit;
  Capture* capture = stream.capture.load(std::memory_order_relaxed);
  if (!capture) return cudaSuccess;
  out.status = capture->status;
  if (!capture->active()) return cudaSuccess;
  out.id = capture->id;
  out.graph = capture->graph;
  CaptureMember& member = *capture->member_of(stream);
  member.shown.clear();
  member.shown_data.clear();
  for (const EdgeRef& edge : member.dependencies) {
    member.shown.push_back(edge.node);
    member.shown_data.push_back(edge.data);
    out.has_edge_data |= has_edge_data(edge.data);
  }
  out.dependencies = member.shown.data();
  out.edges = member.shown_data.data();
  out.count = member.shown.size();
  return cudaSuccess;
}

cudaError_t update_capture_dependencies(Stream& stream, GraphNode* const* dependencies, const cudaGraphEdgeData* data,
                                        std::size_t count, unsigned flags) noexcept {
  std::scoped_lock hold(Captures::get().lock);
  Capture* capture = stream.capture.load(std::memory_order_relaxed);
  if (!capture) return stream.is_legacy && implicit(true) ? cudaErrorStreamCaptureImplicit : cudaErrorIllegalState;
  if (!capture->active()) return cudaErrorStreamCaptureInvalidated;
  if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
  std::vector<EdgeRef> given;
  if (!given_dependencies(given, *capture->graph, dependencies, data, count)) return cudaErrorInvalidValue;
  CaptureMember& member = *capture->member_of(stream);
  if (flags == cudaStreamSetCaptureDependencies) {
    for (const EdgeRef& edge : member.dependencies) capture->let_go.push_back(edge.node);
    member.dependencies = std::move(given);
  } else {
    unite(member.dependencies, given);
  }
  return cudaSuccess;
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept {
  const cudaStreamCaptureMode previous = thread_capture_mode();
  thread_capture_mode() = mode;
  return previous;
}

}  // namespace mr::model
