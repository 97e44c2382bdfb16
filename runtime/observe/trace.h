// A record of what was enqueued, what it waited for, and when it ran: the raw material of `millrace timeline`.
//
// Off unless the environment variable MILLRACE_TRACE names a file when the runtime is first used; then every operation
// record carries a non-zero tag (engine::Op::site), and the engine calls began/ended for tagged operations. When off,
// the cost is one test of a tag that lies in a line being read anyway. The file (trace_format.h) is mapped: what was
// recorded survives a crash, and a full disk ends the recording with a sentence.
//
// Thread-safe. Each thread has blocks of its own; a lock is taken for a new block or a name that the thread has not
// used before.
#pragma once
#include <x86intrin.h>

#include <cstdint>

#include <observe/trace_format.h>

namespace mr::observe {

struct Detail {
  trace_format::OperationKind kind = trace_format::unknown_operation;
  const char* name = nullptr;  // mangled kernel name; must live as long as the process
  std::uint64_t bytes = 0;     // copies and fills
  std::uint32_t grid[3] = {}, block[3] = {};
  const void* on = nullptr;  // waits: the queue and sequence number waited for
  std::uint64_t sequence = 0;
};

extern bool tracing;             // set before the first operation is enqueued, constant afterwards
void start_if_asked() noexcept;  // reads MILLRACE_TRACE; called when the first context is made
// A trace is written, and no tool follows the program (subscriber.h).
bool recording() noexcept;

// A new operation of a queue; returns its tag, 0 when no more are kept.
std::uint32_t enqueued(const void* queue, std::uint64_t sequence) noexcept;
// `follows`: right behind the operation that this thread has ended before; that time is taken for this one's beginning.
void began(std::uint32_t site, const Detail& detail, bool follows = false) noexcept;
void ended(std::uint32_t site) noexcept;
// A node of a graph has run on this thread since `began`, in the launch that is operation `sequence` of `queue`.
void node_ran(const void* queue, std::uint64_t sequence, std::uint64_t began, const Detail& detail) noexcept;
// What a queue is called in pictures, e.g. "stream 4, non-blocking". From now on; a reused queue gets a new name.
void name_queue(const void* queue, const char* name) noexcept;
// The clock of a trace: a third of what clock_gettime(2) costs, and the same on all processors.
inline std::uint64_t trace_now() noexcept { return __rdtsc(); }

}  // namespace mr::observe

// For what stands in front of the API (runtime/timeline): a call of `name` from the return address `pc` has lasted
// since `began` (millrace_trace_begin's; 0 when nothing is recorded). `name` lives as long as the process.
extern "C" std::uint64_t millrace_trace_begin() noexcept;
extern "C" void millrace_trace_call(const char* name, std::uint64_t began, const void* pc) noexcept;
