#include <model/capture_state.h>

#include <algorithm>
#include <atomic>

namespace mr::model {
namespace {

// Events recorded in a capture point here, at an operation that never completes.
engine::Queue& never_queue() {
  static engine::Queue* const instance = new engine::Queue;
  return *instance;
}
constexpr std::uint64_t never = ~std::uint64_t{0};

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

}  // namespace

Captures& Captures::get() noexcept {
  static Captures* const instance = new Captures;
  return *instance;
}

cudaStreamCaptureMode& thread_capture_mode() noexcept { return thread_mode; }

std::uint64_t this_capture_thread() noexcept {
  static std::atomic<std::uint64_t> count{0};
  thread_local const std::uint64_t number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

void drop(Capture* capture) noexcept {
  if (--capture->references == 0) delete capture;
}

void finish(Capture& capture) noexcept {
  for (const auto& member : capture.members)
    if (member->stream) member->stream->capture.store(nullptr, std::memory_order_release);
  capture.members.clear();
  capture.over = true;
  capture.graph->capturing = false;
  Captures& all = Captures::get();
  std::erase(all.going_on, &capture);
  if (all.going_on.empty()) slow_word.fetch_and(~static_cast<std::uint32_t>(slow_capture), std::memory_order_relaxed);
}

bool implicit(bool invalidate) noexcept {
  bool found = false;
  for (Capture* capture : Captures::get().going_on)
    for (const auto& member : capture->members)
      if (member->blocking && member->stream) {
        found = true;
        if (invalidate) capture->invalidate();
      }
  return found;
}

bool unsafe(cudaError_t& result) noexcept {
  if (thread_mode != cudaStreamCaptureModeGlobal && thread_mode != cudaStreamCaptureModeThreadLocal) return false;
  bool found = false;
  for (Capture* capture : Captures::get().going_on) {
    const bool mine = capture->thread == this_capture_thread() && capture->mode != cudaStreamCaptureModeRelaxed;
    const bool global = thread_mode == cudaStreamCaptureModeGlobal && capture->mode == cudaStreamCaptureModeGlobal;
    if (!mine && !global) continue;
    capture->invalidate();
    found = true;
    result = cudaErrorStreamCaptureUnsupported;
  }
  return found;
}

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

GraphNode* append(Capture& capture, Stream& stream, cudaGraphNodeType type) {
  CaptureMember& member = *capture.member_of(stream);
  GraphNode* node = add_node(*capture.graph, type, nullptr, nullptr, 0);
  for (const EdgeRef& edge : member.dependencies) connect(*edge.node, *node, edge.data);
  member.dependencies.clear();
  member.dependencies.push_back({node, {}});
  return node;
}

void unite(std::vector<EdgeRef>& to, const EdgeRef& edge) {
  const auto at = std::find_if(to.begin(), to.end(), [&](const EdgeRef& e) { return e.node == edge.node; });
  if (at == to.end())
    to.push_back(edge);
  else if (!has_edge_data(edge.data))
    at->data = {};
}

void unite(std::vector<EdgeRef>& to, const std::vector<EdgeRef>& from) {
  for (const EdgeRef& edge : from) unite(to, edge);
}

void release_record(Event& event) noexcept {
  Capture* capture = event.capture.load(std::memory_order_relaxed);
  if (!capture) return;
  event.capture.store(nullptr, std::memory_order_release);
  delete static_cast<std::vector<EdgeRef>*>(event.capture_nodes);
  event.capture_nodes = nullptr;
  drop(capture);
}

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

}  // namespace mr::model
