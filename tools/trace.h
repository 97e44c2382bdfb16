// Reading the traces that programs write with MILLRACE_TRACE (docs/trace-format.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace millrace {

struct Operation {
  std::uint64_t id = 0;
  std::string queue;
  std::uint64_t sequence = 0, enqueued = 0, began = 0, ended = 0;  // nanoseconds of CLOCK_MONOTONIC; 0: did not happen
  unsigned thread = 0;
  std::string kind, name;  // kernel names demangled
  std::uint64_t bytes = 0;
  unsigned grid[3] = {}, block[3] = {};
  std::string on;  // waits: queue and number waited for
  std::uint64_t until = 0;
};

struct Trace {
  std::vector<Operation> operations;
  struct Name {
    std::string queue, name;
    std::uint64_t since;
  };
  std::vector<Name> names;
  std::uint64_t total = 0;  // enqueued; may be more than were kept
  // What a queue was called at a time.
  std::string name_of(const std::string& queue, std::uint64_t when) const;
};

// Throws std::runtime_error with a sentence.
Trace read_trace(const std::string& path);
// Runs a program with tracing on; returns its exit status and the trace. Throws as read_trace.
Trace run_traced(const std::vector<std::string>& command, int* status);

}  // namespace millrace
