// The checker's state: one lock over everything, and what each thread keeps to itself.
#pragma once
#include <cuda_runtime_api.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device.h"
#include "order.h"
#include "ordinary.h"
#include "report.h"
#include "shadow.h"

namespace mr::check {

class SpinLock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire))
      while (held_.load(std::memory_order_relaxed)) sched_yield();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

enum class Memory : std::uint8_t { device, pinned, managed, registered, pool, variable };

struct Allocation {
  std::uintptr_t end = 0;
  Memory memory = Memory::device;
  int device = 0;
  Call call;
  std::string name;        // of variables
  std::uint64_t born = 0;  // number of the operation that allocates it
};

struct SyncVariable {
  Clock clock[worlds];
};

// A record of the runtime's that belongs to one API call.
struct Group {
  std::vector<OpRef> ops;
  std::uint32_t pending = 0;
  bool closed = false;   // the API call has returned
  bool dropped = false;  // and failed, or was captured
  std::shared_ptr<struct GraphLaunch> launch;
};

// ---- graphs (graphs.cpp) ----
struct NodeInfo {
  Call call;
  std::vector<cudaGraph_t> bodies;  // of conditional nodes
};
struct MirrorNode {
  const void* handle = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Call call;
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> early;  // those whose trigger is enough for it to begin
  std::uint32_t inside = 0;          // at the end of a child graph: how many nodes in front of this one are in it
  std::vector<Touch> touches;
  std::shared_ptr<Event> event;
  std::string kernel;  // mangled
  std::uint32_t tag = 0;
  bool enabled = true;
  Chain chain = 0, early_chain = 0;
  Time steps = 0;  // position in its chain
};
struct GraphLaunch {
  std::vector<OpRef> ops;
  std::vector<std::uint32_t> tags;  // of its steps, as they were
  struct ExecMirror* exec = nullptr;
};
struct ExecMirror {
  std::vector<MirrorNode> nodes;
  std::vector<std::pair<Chain, Time>> chains;
  Frontier last;
  std::deque<std::shared_ptr<GraphLaunch>> launches;
};
struct StepTag {
  ExecMirror* exec = nullptr;
  std::uint32_t node = 0;
};

struct HostTouch {
  std::uintptr_t begin = 0, end = 0, pc = 0;
  std::uint32_t kind = 0;
  std::vector<std::uintptr_t> frames;
};

struct ApiCall;

struct ThreadState {
  Actor own;
  Actor* actor = &own;  // the host function's while one runs
  unsigned inside = 0;  // the runtime or the checker: nothing of what happens is the program's
  ApiCall* call = nullptr;
  std::uintptr_t call_pc = 0;
  std::vector<std::uintptr_t> frames;  // return addresses of instrumented functions
  HostTouch touches[8];
  unsigned touch_count = 0;
  StackRange function_stack;                             // while it runs a host function: its own
  std::uint32_t step_tag = 0;                            // of the graph's host step that is about to run
  std::vector<std::shared_ptr<Stream>> default_streams;  // per-thread ones, by device
  unsigned number = 0;
  Clock at_end[worlds];
};

struct Checker {
  Checker();
  SpinLock lock;
  Order order;
  Report report;
  Shadow shadow;
  std::map<std::uintptr_t, Allocation> allocations;
  std::unordered_map<cudaStream_t, std::shared_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Stream>> legacy;  // by device
  std::unordered_map<cudaEvent_t, std::shared_ptr<Event>> events;
  std::unordered_map<cudaExternalSemaphore_t, std::shared_ptr<Event>> semaphores;
  std::unordered_map<std::uintptr_t, SyncVariable> sync;
  std::unordered_map<std::uint32_t, std::shared_ptr<Group>> groups;
  std::unordered_map<std::uint32_t, StepTag> steps;
  std::unordered_map<const void*, NodeInfo> nodes;
  std::unordered_map<const void*, std::unique_ptr<ExecMirror>> execs;
  // Of host functions, by the chain of their operations: functions of one chain follow each other.
  std::unordered_map<Chain, std::pair<Chain, Time>> function_chains;
  std::map<std::vector<std::uintptr_t>, Call> host_statements;  // by their frames
  std::uint32_t next_tag = 1;
  std::uint64_t next_launch = 1;
  unsigned next_stream = 1, next_thread = 0;
  std::unordered_set<std::string> checked_kernels;  // mangled names: those that tell what they touch
  std::atomic<std::uint64_t> operations{0}, accesses{0}, bytes{0}, unchecked_kernels{0};
  std::uint64_t unfinished = 0;  // operations that had not run when the program ended
  bool api_only = false;

  // Where host accesses matter: bit per page, by its number modulo the size.
  std::atomic<std::uint64_t> pages[1024] = {};
  bool interesting(std::uintptr_t address) const noexcept {
    const std::uintptr_t page = address >> 12;
    return pages[page >> 6 & 1023].load(std::memory_order_relaxed) >> (page & 63) & 1;
  }

  // `fresh`: nothing that was there before can still be touched by pending operations.
  void add_allocation(const void* p, std::size_t bytes, Memory memory, int device, const Call& call, bool fresh = true);
  const Allocation* allocation_of(std::uintptr_t address, std::uintptr_t* begin = nullptr) const;
  // All of [begin, end) that lies in known memory.
  void touch(std::uintptr_t begin, std::uintptr_t end, const Access& access);
  void touch(const Touch& rows, const Access& access);
  void executed(const OpRef& op);
  void finish(std::uint32_t tag, const std::shared_ptr<Group>& group);
  // The process is a fork of the one that has been checked until now.
  void begin_child();
};

// Null until the checker is on.
extern Checker* checker;
extern thread_local ThreadState* thread_state __attribute__((tls_model("initial-exec")));
// A thread of the program's own is one that it has started; what others do (the runtime's workers, outside of host
// functions) is nobody's.
// `parent`: what it knows from the start.
ThreadState& make_thread(bool of_program = false, const Clock (*parent)[worlds] = nullptr);
inline ThreadState& self() { return thread_state ? *thread_state : make_thread(); }
// True when what the calling thread does is the program's own doing.
inline bool watching() noexcept { return checker && self().inside == 0; }

struct Inside {
  explicit Inside(ThreadState& t) : t_(t) { ++t_.inside; }
  ~Inside() { --t_.inside; }
  ThreadState& t_;
};
struct Locked {
  Locked() { checker->lock.lock(); }
  ~Locked() { checker->lock.unlock(); }
};

// The calling thread's stack, as a call of `api` from `pc`.
Call call_site(ThreadState& t, const char* api, std::uintptr_t pc);
// Takes over what the thread touched since the last synchronisation. Under the lock.
void flush_touches(ThreadState& t);
// The calling thread passes what it did on to whoever acquires the object. Without the lock.
void sync_release(std::uintptr_t object);
void sync_acquire(std::uintptr_t object);
// The calling thread's code touches these bytes at `pc`. Without the lock.
void host_access(const void* p, std::size_t bytes, std::uint32_t kind, std::uintptr_t pc);

// One call of the API, from before the runtime sees it until it returns. Without the lock.
struct ApiCall {
  ApiCall(const char* api);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ThreadState& thread;
  Call call;
  ApiCall* outer;
  std::shared_ptr<Group> group;
  std::uint32_t tag = 0;
  bool noded = false;  // a graph got a node
  std::vector<std::pair<const void*, std::uint32_t>> instantiated;
  // Gives the group its operations, before the runtime is called. Under the lock.
  void expect(std::vector<OpRef> ops);
  // The runtime's answer.
  void finish(bool succeeded);
};

// The device's legacy stream, under the lock.
const std::shared_ptr<Stream>& legacy_stream_of(int device);
std::shared_ptr<Stream> stream_of(cudaStream_t handle, bool per_thread);
int current_device();

// Runs `body` with the thread acting as a host function of `op`.
class FunctionScope {
 public:
  FunctionScope(const OpRef& op, Role role);
  ~FunctionScope();

 private:
  ThreadState& t_;
  Actor actor_;
  Actor* outer_;
  OpRef op_;
  unsigned inside_;
  std::vector<std::uintptr_t> frames_;
  StackRange stack_;
};

}  // namespace mr::check
