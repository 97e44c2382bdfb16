// A tool that decides what runs when: `millrace explore`.
//
// The tool is a library of its own (runtime/explore) that hands its table to millrace_explore before the first context
// is made, and gets the engine's. From then on the engine starts no workers and waiting threads don't help: queues that
// have work are reported to the tool, and the tool's threads run them, one operation at a time, in an order that the
// tool chooses among all orders that the queues allow. Nothing of this costs anything while no tool is attached: the
// engine looks at observe::explorer only where it lists a queue, where a thread has to wait, and where a graph's step
// becomes ready.
//
// Contract of the tool: of all threads that it runs, one at a time is let go on; Explorer's functions are where the
// others are stopped. They are called without any of the engine's locks, but for ready(), which must return at once.
#pragma once
#include <cstdint>

namespace mr::observe {

struct Explorer {
  // The queue has work, and nobody runs it; once for each run_front. It may turn out to have none.
  void (*ready)(void* queue);
  // Returns when the queue has completed `sequence` (ExploredEngine::reached).
  void (*wait)(const void* queue, std::uint64_t sequence);
  // Between two slices of a kernel's blocks, or two rounds of blocks that wait for something (no progress: all of them
  // polled), or where device code has made a queue ready. Others may run before it returns.
  void (*pause)(bool progress);
  // How the blocks of the kernel that this thread begins are run: 0 in index order in one go. Otherwise in slices, with
  // pauses between them: the lowest byte says how many at most, the next one their order (0 by index, 1 backwards, 2 by
  // a permutation that the upper bits choose, 3 at once: by at_once).
  std::uint64_t (*block_order)();
  // Calls body(data, i) for each i below `count` on threads of the tool, which may stop one in its midst for others.
  // Returns when all have returned.
  void (*at_once)(unsigned count, void (*body)(void*, unsigned), void* data);
};

// What the next run_front would run.
struct Front {
  const char* kind;             // "kernel", "copy", "fill", "host", "wait", "graph", "other"
  const char* name;             // of kernels, mangled; null otherwise
  std::uint32_t tag;            // Subscriber::enqueued's; of a graph's step: the launch's
  std::uint32_t node_tag;       // of a graph's step: Subscriber::node_instantiated's; 0 otherwise
  std::uint32_t step;           // of a graph's step: its number plus one; 0 otherwise
  std::uint64_t bytes, blocks;  // of copies and fills; of kernels
  const void* on;               // of waits: the queue waited for
};

struct ExploredEngine {
  // Makes the calling thread one that may run operations, for the time of `body`.
  void (*as_worker)(void (*body)(void*), void* data);
  // False when nothing is there to be run.
  bool (*front)(void* queue, Front& front);
  // Runs the operation at the front of a queue that was reported ready. If there is more, the queue is reported again.
  void (*run_front)(void* queue);
  bool (*reached)(const void* queue, std::uint64_t sequence);
};
inline constexpr unsigned explorer_version = 3;

// Null, or the tool. Set before the first context is made, constant afterwards.
extern const Explorer* explorer;

}  // namespace mr::observe

// Attaches a tool. Null when its version is another one.
extern "C" const mr::observe::ExploredEngine* millrace_explore(const mr::observe::Explorer* tool, unsigned version);
