// A record of what was enqueued, what it waited for, and when it ran: the raw material of `millrace timeline`.
//
// Off unless the environment variable MILLRACE_TRACE names a file when the runtime is first used; then every operation
// record carries a non-zero tag (engine::Op::site), and the engine calls began/ended for tagged operations. When off,
// the cost is one test of a tag that lies in a line being read anyway. The file is written at exit: JSON objects, one a
// line, described in docs/trace-format.md.
//
// Thread-safe. Memory: 128 bytes an operation, up to 2^24 operations; later ones are counted but not kept.
#pragma once
#include <cstdint>

namespace mr::observe {

struct Detail {
  const char* kind = "";       // "kernel", "copy", "fill", "host", "wait", "stamp", "custom"
  const char* name = nullptr;  // mangled kernel name; must live as long as the process
  std::uint64_t bytes = 0;     // copies and fills
  std::uint32_t grid[3] = {}, block[3] = {};
  const void* on = nullptr;  // waits: the queue and sequence number waited for
  std::uint64_t sequence = 0;
};

extern bool tracing;             // set before the first operation is enqueued, constant afterwards
void start_if_asked() noexcept;  // reads MILLRACE_TRACE; called when the first context is made

// A new operation of a queue; returns its tag, 0 when no more are kept.
std::uint32_t enqueued(const void* queue, std::uint64_t sequence) noexcept;
void began(std::uint32_t site, const Detail& detail) noexcept;
void ended(std::uint32_t site) noexcept;
// What a queue is called in pictures, e.g. "stream 4, non-blocking". From now on; a reused queue gets a new name.
void name_queue(const void* queue, const char* name) noexcept;

}  // namespace mr::observe
