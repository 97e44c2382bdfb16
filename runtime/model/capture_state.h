// What captures are made of, and the rules of capture.h as the hooks apply them. For capture*.cpp only.
//
// All of it is guarded by one lock, which every function here but Captures::get and EventLocks requires to be held.
// Lock order: an event's write lock before it.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <engine/spinlock.h>
#include <model/capture.h>
#include <model/event.h>
#include <model/graph.h>
#include <model/stream.h>

namespace mr::model {

// A stream that takes part, or took part and was destroyed (stream is null then).
struct CaptureMember {
  Stream* stream = nullptr;
  bool blocking = false;
  // What the stream's next operation depends on.
  std::vector<EdgeRef> dependencies;
  // What capture_info gave out last.
  std::vector<GraphNode*> shown;
  std::vector<cudaGraphEdgeData> shown_data;
};

// One capture, from begin to end. Referred to by its streams while it goes on, and by events recorded in it for as long
// as they are not recorded again. Everything is guarded by the one capture lock: captures are short, and what a call
// does may concern all of them.
class Capture {
 public:
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  // that began it
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  bool over = false;
  Graph* graph = nullptr;
  bool own_graph = true;                                // false: cudaStreamBeginCaptureToGraph
  std::vector<std::unique_ptr<CaptureMember>> members;  // the first is the origin
  // What a stream depended on until the user took it off: nobody needs to join it.
  std::vector<const GraphNode*> let_go;
  std::size_t references = 1;

  CaptureMember* member_of(const Stream& stream) noexcept {
    for (const auto& member : members)
      if (member->stream == &stream) return member.get();
    return nullptr;
  }
  bool active() const noexcept { return !over && status == cudaStreamCaptureStatusActive; }
  void invalidate() noexcept { status = cudaStreamCaptureStatusInvalidated; }
};

struct Captures {
  engine::SpinLock lock;
  std::vector<Capture*> going_on;
  std::uint64_t next_id = 1;

  static Captures& get() noexcept;
};

// The calling thread, and its mode (cudaThreadExchangeStreamCaptureMode).
cudaStreamCaptureMode& thread_capture_mode() noexcept;
// A number that no other thread has, or ever had: a capture outlives the thread that began it.
std::uint64_t this_capture_thread() noexcept;

// Gives up one reference.
void drop(Capture* capture) noexcept;
// The capture is over: its streams are ordinary ones again.
void finish(Capture& capture) noexcept;

// Rule 3. True when a blocking stream takes part in a capture.
bool implicit(bool invalidate) noexcept;
// Rule 4. True when the call is refused: `result` says how.
bool unsafe(cudaError_t& result) noexcept;

enum class Turn : std::uint8_t {
  ordinary,  // no capture is concerned
  refused,   // `result` says how
  record,    // the capture is active
};
// Rules 1 and 3 for work in a stream.
Turn turn(Stream& stream, Capture*& capture, cudaError_t& result) noexcept;

// What hooks begin with: the lock, and whose turn it is.
//   Work work(stream, result);
//   if (work.turn != Turn::record) return work.dealt_with();
struct Work {
  Work(Stream& stream, cudaError_t& result) noexcept
      : hold(Captures::get().lock), turn(model::turn(stream, capture, result)) {
    if (turn == Turn::record) result = cudaSuccess;
  }
  bool dealt_with() const noexcept { return turn == Turn::refused; }

  std::scoped_lock<engine::SpinLock> hold;
  Capture* capture = nullptr;
  Turn turn;  // behind `capture`, which it sets
};

// Appends a node behind what the stream depends on.
GraphNode* append(Capture& capture, Stream& stream, cudaGraphNodeType type);
// Adds an edge. Of two edges from a node the ordinary one counts, or the first.
void unite(std::vector<EdgeRef>& to, const EdgeRef& edge);
void unite(std::vector<EdgeRef>& to, const std::vector<EdgeRef>& from);

// Write locks of the events that a launch records.
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
// The event stands for `nodes` of a capture from now on. Its write lock is held, too.
void stand_for(Event& event, Capture& capture, std::vector<EdgeRef> nodes);
// The event stands for nothing any more.
void release_record(Event& event) noexcept;
inline const std::vector<EdgeRef>& nodes_of(const Event& event) noexcept {
  return *static_cast<const std::vector<EdgeRef>*>(event.capture_nodes);
}
// Why an event can't be asked: cudaSuccess if no capture's record is its newest.
cudaError_t event_state(const Event& event) noexcept;

}  // namespace mr::model
