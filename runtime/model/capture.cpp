#include <model/capture.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <model/event.h>
#include <model/graph.h>
#include <model/graph_memory.h>
#include <model/launch.h>
#include <model/stream.h>

namespace mr::model {

namespace {
// A stream that takes part, or took part and was destroyed (stream is null then).
struct Member {
  Stream* stream = nullptr;
  bool blocking = false;
  // What the stream's next operation depends on.
  std::vector<EdgeRef> dependencies;
  // What capture_info gave out last.
  std::vector<GraphNode*> shown;
  std::vector<cudaGraphEdgeData> shown_data;
};
}  // namespace

// One capture, from begin to end. Referred to by its streams while it goes on, and by events recorded in it for as long
// as they are not recorded again. Everything is guarded by the one capture lock: captures are short, and what a call
// does may concern all of them.
class Capture {
 public:
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  const void* thread = nullptr;  // that began it
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  bool over = false;
  Graph* graph = nullptr;
  bool own_graph = true;                         // false: cudaStreamBeginCaptureToGraph
  std::vector<std::unique_ptr<Member>> members;  // the first is the origin
  std::size_t references = 1;

  Member* member_of(const Stream& stream) noexcept {
    for (const auto& member : members)
      if (member->stream == &stream) return member.get();
    return nullptr;
  }
  bool active() const noexcept { return !over && status == cudaStreamCaptureStatusActive; }
  void invalidate() noexcept { status = cudaStreamCaptureStatusInvalidated; }
};

namespace {

struct Captures {
  engine::SpinLock lock;
  std::vector<Capture*> going_on;
  std::uint64_t next_id = 1;
};
Captures& captures() {
  static Captures* const instance = new Captures;
  return *instance;
}
// Events recorded in a capture point here, at an operation that never completes.
engine::Queue& never_queue() {
  static engine::Queue* const instance = new engine::Queue;
  return *instance;
}
constexpr std::uint64_t never = ~std::uint64_t{0};

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
const void* this_thread() noexcept { return &thread_mode; }

// ---- all of the following: the capture lock is held ----

void drop(Capture* capture) noexcept {
  if (--capture->references == 0) delete capture;
}

// The capture is over: its streams are ordinary ones again.
void finish(Capture& capture) noexcept {
  for (const auto& member : capture.members)
    if (member->stream) member->stream->capture.store(nullptr, std::memory_order_release);
  capture.members.clear();
  capture.over = true;
  capture.graph->capturing = false;
  Captures& all = captures();
  std::erase(all.going_on, &capture);
  if (all.going_on.empty()) slow_word.fetch_and(~static_cast<std::uint32_t>(slow_capture), std::memory_order_relaxed);
}

// Rule 3. True when a blocking stream takes part in a capture.
bool implicit(bool invalidate) noexcept {
  bool found = false;
  for (Capture* capture : captures().going_on)
    for (const auto& member : capture->members)
      if (member->blocking && member->stream) {
        found = true;
        if (invalidate) capture->invalidate();
      }
  return found;
}

// Rule 4. True when the call is refused.
bool unsafe() noexcept {
  if (thread_mode != cudaStreamCaptureModeGlobal && thread_mode != cudaStreamCaptureModeThreadLocal) return false;
  bool found = false;
  for (Capture* capture : captures().going_on) {
    const bool mine = capture->thread == this_thread() && capture->mode != cudaStreamCaptureModeRelaxed;
    const bool global = thread_mode == cudaStreamCaptureModeGlobal && capture->mode == cudaStreamCaptureModeGlobal;
    if (!mine && !global) continue;
    capture->invalidate();
    found = true;
  }
  return found;
}

// Write locks of the events that a launch records; before the capture lock.
class EventLocks {
 public:
  EventLocks(Event* a, Event* b) noexcept : first_(a), second_(b != a ? b : nullptr) {
    if (first_) first_->write_lock.lock();
    if (second_) second_->write_lock.lock();
  }
  ~EventLocks() {
    if (second_) second_->write_lock.unlock();
    if (first_) first_->write_lock.unlock();
  }
  EventLocks(const EventLocks&) = delete;
  EventLocks& operator=(const EventLocks&) = delete;

 private:
  Event *const first_, *const second_;
};

enum class Turn { ordinary, refused, record };

// Rules 1 and 3 for work in a stream.
Turn turn(Stream& stream, Capture*& capture, cudaError_t& result) noexcept {
  capture = stream.capture.load(std::memory_order_relaxed);
  if (!capture) {
    if (!stream.is_legacy || !implicit(true)) return Turn::ordinary;
    result = cudaErrorStreamCaptureImplicit;
    return Turn::refused;
  }
  if (capture->active()) return Turn::record;
  result = cudaErrorStreamCaptureInvalidated;
  return Turn::refused;
}

// Appends a node behind what the stream depends on.
GraphNode* append(Capture& capture, Stream& stream, cudaGraphNodeType type) {
  Member& member = *capture.member_of(stream);
  GraphNode* node = add_node(*capture.graph, type, nullptr, nullptr, 0);
  for (const EdgeRef& edge : member.dependencies)
    connect(*edge.node, *node, legal_edge(edge.data, edge.node->type, type) ? edge.data : cudaGraphEdgeData{});
  member.dependencies.clear();
  member.dependencies.push_back({node, {}});
  return node;
}

void unite(std::vector<EdgeRef>& to, const std::vector<EdgeRef>& from) {
  for (const EdgeRef& edge : from) {
    const bool there = std::any_of(to.begin(), to.end(), [&](const EdgeRef& e) { return e.node == edge.node; });
    if (!there) to.push_back(edge);
  }
}

void release_record(Event& event) noexcept {
  Capture* capture = event.capture.load(std::memory_order_relaxed);
  if (!capture) return;
  event.capture.store(nullptr, std::memory_order_release);
  delete static_cast<std::vector<EdgeRef>*>(event.capture_nodes);
  event.capture_nodes = nullptr;
  drop(capture);
}

// The event stands for `nodes` of a capture from now on. Its write lock is held, too.
void stand_for(Event& event, Capture& capture, std::vector<EdgeRef> nodes) {
  release_record(event);
  ++capture.references;
  event.capture_nodes = new std::vector<EdgeRef>(std::move(nodes));
  event.capture_id = capture.id;
  event.capture.store(&capture, std::memory_order_release);
  event.stamp.ticket.fetch_add(1, std::memory_order_relaxed);  // an older stamp counts no more
  event.set_point(&never_queue(), never);
}

cudaError_t event_state(const Event& event) noexcept {
  const Capture* capture = event.capture.load(std::memory_order_acquire);
  if (!capture) return cudaSuccess;
  return capture->active() ? cudaErrorCapturedEvent : cudaErrorInvalidValue;
}

// Work for a stream, told by `fill` (called with the new node).
template <class Fill>
bool record_work(Stream& stream, cudaGraphNodeType type, cudaError_t& result, Fill&& fill) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::ordinary: return false;
  case Turn::refused: return true;
  case Turn::record: break;
  }
  fill(*append(*capture, stream, type));
  result = cudaSuccess;
  return true;
}

// The nodes that begin with given dependencies depend on, without doubles; false when one is no node of the graph.
bool given_dependencies(std::vector<EdgeRef>& out, const Graph& graph, GraphNode* const* nodes,
                        const cudaGraphEdgeData* data, std::size_t count) {
  if (count && !nodes) return false;
  std::vector<EdgeRef> made;
  for (std::size_t i = 0; i < count; ++i) {
    if (!nodes[i] || nodes[i]->graph != &graph) return false;
    unite(made, {{nodes[i], data ? data[i] : cudaGraphEdgeData{}}});
  }
  out = std::move(made);
  return true;
}

}  // namespace

// ---- work ----

bool capture_launch(Stream& stream, const LaunchRequest& request, cudaError_t& result) noexcept {
  const EventLocks hold_events(request.programmatic_event, request.completion_event);
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::ordinary: return false;
  case Turn::refused: return true;
  case Turn::record: break;
  }
  KernelData made{};
  result = make_kernel(made, *stream.context, capture->graph->arena, request);
  if (result != cudaSuccess) {
    capture->invalidate();
    return true;
  }
  if (!request.has_priority) made.priority = static_cast<std::int8_t>(stream.priority);
  if (request.programmatic)
    for (EdgeRef& edge : capture->member_of(stream)->dependencies)
      if (edge.node->type == cudaGraphNodeTypeKernel)
        edge.data = {cudaGraphKernelNodePortProgrammatic, 0, cudaGraphDependencyTypeProgrammatic, {}};
  GraphNode* node = append(*capture, stream, cudaGraphNodeTypeKernel);
  *(node->kernel = capture->graph->arena.make<KernelData>()) = made;
  // Events that the launch records lead to programmatic edges.
  if (request.programmatic_event)
    stand_for(*request.programmatic_event, *capture,
              {{node, {cudaGraphKernelNodePortProgrammatic, 0, cudaGraphDependencyTypeProgrammatic, {}}}});
  if (request.completion_event)
    stand_for(*request.completion_event, *capture,
              {{node, {cudaGraphKernelNodePortLaunchCompletion, 0, cudaGraphDependencyTypeProgrammatic, {}}}});
  return true;
}

bool capture_copy(Stream& stream, const memory::Copy& copy, cudaMemcpyKind kind, const cudaMemcpy3DParms* params,
                  cudaError_t& result) noexcept {
  if (copy.bytes() == 0) return capture_nothing(stream, result);
  return record_work(stream, cudaGraphNodeTypeMemcpy, result, [&](GraphNode& node) {
    node.copy = node.graph->arena.make<CopyData>();
    CopyData& data = *node.copy;
    data = {};
    data.copy = copy;
    data.one_dimensional = copy.height == 1 && copy.depth == 1;
    if (params) {
      data.params = *params;
    } else {
      const bool flat = data.one_dimensional;
      data.params.srcPtr = {const_cast<void*>(copy.src), flat ? 0 : copy.src_pitch, flat ? 0 : copy.row,
                            flat ? 0 : copy.height};
      data.params.dstPtr = {copy.dst, flat ? 0 : copy.dst_pitch, flat ? 0 : copy.row, flat ? 0 : copy.height};
      data.params.extent = {copy.row, copy.height, copy.depth};
      data.params.kind = kind;
    }
    data.source = memory::space().kind_of(copy.src);
    data.target = memory::space().kind_of(copy.dst);
    data.copy.coalesce();
  });
}

bool capture_fill(Stream& stream, const memory::Fill& fill, cudaError_t& result) noexcept {
  if (fill.bytes() == 0) return capture_nothing(stream, result);
  return record_work(stream, cudaGraphNodeTypeMemset, result, [&](GraphNode& node) {
    node.fill = node.graph->arena.make<FillData>();
    cudaMemsetParams params{};
    params.dst = fill.dst;
    params.pitch = fill.pitch;
    params.value = fill.value;
    params.elementSize = fill.element;
    params.width = fill.row / fill.element;
    params.height = fill.height * fill.depth;
    (void)make_fill(*node.fill, params, false);
    node.fill->fill = fill;
  });
}

bool capture_host(Stream& stream, cudaHostFn_t function, void* data, cudaError_t& result) noexcept {
  return record_work(stream, cudaGraphNodeTypeHost, result, [&](GraphNode& node) {
    node.host = node.graph->arena.make<HostData>();
    node.host->params = {function, data};
  });
}

bool capture_alloc(Stream& stream, void** out, std::size_t bytes, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::refused: return true;
  case Turn::ordinary:
    if (!unsafe()) return false;
    result = cudaErrorStreamCaptureUnsupported;
    return true;
  case Turn::record: break;
  }
  result = cudaSuccess;
  if (bytes == 0) {
    *out = nullptr;
    return true;
  }
  GraphAllocation* allocation = make_allocation(stream.context->ordinal, bytes, *capture->graph);
  if (!allocation) {
    result = cudaErrorMemoryAllocation;
    return true;
  }
  GraphNode* node = append(*capture, stream, cudaGraphNodeTypeMemAlloc);
  node->alloc = capture->graph->arena.make<AllocData>();
  cudaMemAllocNodeParams& params = node->alloc->params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location = {cudaMemLocationTypeDevice, stream.context->ordinal};
  params.bytesize = bytes;
  params.dptr = *out = address_of(*allocation);
  node->alloc->allocation = allocation;
  return true;
}

bool capture_free(Stream& stream, void* pointer, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::refused: return true;
  case Turn::ordinary:
    if (!unsafe()) return false;
    result = cudaErrorStreamCaptureUnsupported;
    return true;
  case Turn::record: break;
  }
  result = cudaSuccess;
  if (!pointer) return true;
  GraphAllocation* allocation = add_free(pointer, *capture->graph);
  if (!allocation) {
    result = cudaErrorInvalidValue;
    return true;
  }
  GraphNode* node = append(*capture, stream, cudaGraphNodeTypeMemFree);
  node->free = capture->graph->arena.make<FreeData>();
  *node->free = {pointer, allocation};
  return true;
}

bool capture_nothing(Stream& stream, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::ordinary: return false;
  case Turn::record: result = cudaSuccess; break;
  case Turn::refused: break;
  }
  return true;
}

bool capture_refuse(Stream& stream, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  if (turn(stream, capture, result) == Turn::ordinary) return false;
  if (capture) {
    capture->invalidate();
    result = cudaErrorStreamCaptureUnsupported;
  }
  return true;
}

// ---- events ----

bool capture_record(Stream& stream, Event& event, unsigned flags, cudaError_t& result) noexcept {
  if (flags & cudaEventRecordExternal)
    return record_work(stream, cudaGraphNodeTypeEventRecord, result, [&](GraphNode& node) {
      node.event = node.graph->arena.make<EventData>();
      node.event->event = &event;
    });
  // Lock order: an event's write lock before the capture lock.
  std::scoped_lock hold_event(event.write_lock);
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  switch (turn(stream, capture, result)) {
  case Turn::ordinary: return false;
  case Turn::refused: return true;
  case Turn::record: break;
  }
  stand_for(event, *capture, capture->member_of(stream)->dependencies);
  result = cudaSuccess;
  return true;
}

bool capture_wait(Stream& stream, Event* event, unsigned flags, cudaError_t& result) noexcept {
  const bool external = flags & cudaEventWaitExternal;
  if (external && event)
    return record_work(stream, cudaGraphNodeTypeWaitEvent, result, [&](GraphNode& node) {
      node.event = node.graph->arena.make<EventData>();
      node.event->event = event;
    });
  std::scoped_lock hold(captures().lock);
  Capture* mine;
  const Turn t = turn(stream, mine, result);
  if (t == Turn::refused) return true;
  if (!event) {
    if (!mine) return false;
    mine->invalidate();
    result = cudaErrorInvalidResourceHandle;
    return true;
  }
  Capture* theirs = event->capture.load(std::memory_order_relaxed);
  if (t == Turn::ordinary) {
    if (!theirs) return false;
    if (!theirs->active()) {
      result = cudaErrorInvalidValue;
      return true;
    }
    if (stream.is_legacy) {
      theirs->invalidate();
      result = cudaErrorStreamCaptureImplicit;
      return true;
    }
    // The stream takes part from here on.
    auto member = std::make_unique<Member>();
    member->stream = &stream;
    member->blocking = stream.blocking;
    member->dependencies = *static_cast<std::vector<EdgeRef>*>(event->capture_nodes);
    theirs->members.push_back(std::move(member));
    stream.capture.store(theirs, std::memory_order_release);
    result = cudaSuccess;
    return true;
  }
  result = cudaSuccess;
  if (theirs == mine) {
    unite(mine->member_of(stream)->dependencies, *static_cast<std::vector<EdgeRef>*>(event->capture_nodes));
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
  std::scoped_lock hold(captures().lock);
  if (Capture* capture = event.capture.load(std::memory_order_relaxed)) {
    result = event_state(event);
    if (capture->active()) capture->invalidate();
    return true;
  }
  if (!unsafe()) return false;
  result = cudaErrorStreamCaptureUnsupported;
  return true;
}

bool capture_elapsed(Event& start, Event& end, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  result = event_state(start);
  if (result == cudaSuccess) result = event_state(end);
  return result != cudaSuccess;
}

cudaError_t captured_event_error(const Event& event) noexcept {
  if (!event.capture.load(std::memory_order_acquire)) [[likely]]
    return cudaSuccess;
  std::scoped_lock hold(captures().lock);
  return event_state(event);
}

// ---- questions and unsafe calls ----

bool capture_stream_query(Stream& stream, cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  Capture* capture;
  if (turn(stream, capture, result) != Turn::ordinary) {
    if (capture) {
      capture->invalidate();
      result = cudaErrorStreamCaptureUnsupported;
    }
    return true;
  }
  if (!unsafe()) return false;
  result = cudaErrorStreamCaptureUnsupported;
  return true;
}

bool capture_unsafe(cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  if (!unsafe()) return false;
  result = cudaErrorStreamCaptureUnsupported;
  return true;
}

bool capture_device_synchronize(cudaError_t& result) noexcept {
  std::scoped_lock hold(captures().lock);
  if (captures().going_on.empty()) return false;
  for (Capture* capture : captures().going_on) capture->invalidate();
  result = cudaErrorStreamCaptureUnsupported;
  return true;
}

bool capture_implicit(Stream& stream, cudaError_t& result) noexcept {
  if (!stream.is_legacy) return false;
  std::scoped_lock hold(captures().lock);
  if (!implicit(false)) return false;
  result = cudaErrorStreamCaptureImplicit;
  return true;
}

// ---- bookkeeping ----

void capture_stream_destroyed(Stream& stream) noexcept {
  if (!stream.capture.load(std::memory_order_acquire)) return;
  Graph* graph = nullptr;
  {
    std::scoped_lock hold(captures().lock);
    Capture* capture = stream.capture.load(std::memory_order_relaxed);
    if (!capture) return;
    Member* member = capture->member_of(stream);
    if (member != capture->members.front().get()) {
      member->stream = nullptr;  // what it recorded stays
      stream.capture.store(nullptr, std::memory_order_relaxed);
      return;
    }
    if (capture->own_graph) graph = capture->graph;
    finish(*capture);
    drop(capture);
  }
  if (graph) (void)destroy_graph(*graph);
}

void capture_event_released(Event& event) noexcept {
  if (!event.capture.load(std::memory_order_relaxed)) [[likely]]
    return;
  std::scoped_lock hold(captures().lock);
  release_record(event);
}

// ---- the capture calls ----

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode, Graph* to_graph, GraphNode* const* dependencies,
                          const cudaGraphEdgeData* data, std::size_t count) noexcept {
  if (stream.is_legacy) return cudaErrorStreamCaptureUnsupported;
  Graph* graph = to_graph ? to_graph : create_graph();
  if (!graph) return cudaErrorMemoryAllocation;
  cudaError_t error = cudaSuccess;
  {
    Captures& all = captures();
    std::scoped_lock hold(all.lock);
    auto member = std::make_unique<Member>();
    if (stream.capture.load(std::memory_order_relaxed) || graph->capturing) {
      error = cudaErrorIllegalState;
    } else if (!given_dependencies(member->dependencies, *graph, dependencies, data, count)) {
      error = cudaErrorInvalidValue;
    } else {
      auto* capture = new Capture;
      capture->id = all.next_id++;
      capture->mode = mode;
      capture->thread = this_thread();
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
    std::scoped_lock hold(captures().lock);
    Capture* capture = stream.capture.load(std::memory_order_relaxed);
    if (!capture) return cudaErrorIllegalState;
    Member& origin = *capture->members.front();
    if (origin.stream != &stream) {
      capture->invalidate();
      return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != this_thread()) {
      error = cudaErrorStreamCaptureWrongThread;
    } else if (!capture->active()) {
      error = cudaErrorStreamCaptureInvalidated;
    } else {
      // Every other stream's work must lead somewhere: to what the origin depends on, or to further nodes.
      for (const auto& member : capture->members)
        for (const EdgeRef& last : member->dependencies) {
          const bool joined = !last.node->dependents.empty() ||
                              std::any_of(origin.dependencies.begin(), origin.dependencies.end(),
                                          [&](const EdgeRef& e) { return e.node == last.node; });
          if (!joined) error = cudaErrorStreamCaptureUnjoined;
        }
    }
    graph = capture->graph;
    own = capture->own_graph;
    finish(*capture);
    drop(capture);
  }
  if (error == cudaSuccess && out)
    *out = graph;
  else if (own)
    (void)destroy_graph(*graph);
  return error;
}

cudaError_t capture_status(Stream& stream, cudaStreamCaptureStatus* out) noexcept {
  std::scoped_lock hold(captures().lock);
  if (stream.is_legacy && implicit(false)) return cudaErrorStreamCaptureImplicit;
  const Capture* capture = stream.capture.load(std::memory_order_relaxed);
  *out = capture ? capture->status : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t capture_info(Stream& stream, CaptureInfo& out) noexcept {
  out = {};
  std::scoped_lock hold(captures().lock);
  if (stream.is_legacy && implicit(false)) return cudaErrorStreamCaptureImplicit;
  Capture* capture = stream.capture.load(std::memory_order_relaxed);
  if (!capture) return cudaSuccess;
  out.status = capture->status;
  if (!capture->active()) return cudaSuccess;
  out.id = capture->id;
  out.graph = capture->graph;
  Member& member = *capture->member_of(stream);
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
  std::scoped_lock hold(captures().lock);
  Capture* capture = stream.capture.load(std::memory_order_relaxed);
  if (!capture) return cudaErrorIllegalState;
  if (!capture->active()) return cudaErrorStreamCaptureInvalidated;
  if (flags > cudaStreamSetCaptureDependencies) return cudaErrorInvalidValue;
  std::vector<EdgeRef> given;
  if (!given_dependencies(given, *capture->graph, dependencies, data, count)) return cudaErrorInvalidValue;
  Member& member = *capture->member_of(stream);
  if (flags == cudaStreamSetCaptureDependencies)
    member.dependencies = std::move(given);
  else
    unite(member.dependencies, given);
  return cudaSuccess;
}

cudaStreamCaptureMode exchange_capture_mode(cudaStreamCaptureMode mode) noexcept {
  const cudaStreamCaptureMode previous = thread_mode;
  thread_mode = mode;
  return previous;
}

}  // namespace mr::model
