// Reading the traces that programs write with MILLRACE_TRACE (docs/trace-format.md).
#pragma once
#include <observe/trace_format.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "symbolize.h"

namespace millrace {

namespace trace_format = mr::trace_format;

struct Span : trace_format::Span {
  std::uint32_t thread = 0;
};

// What was enqueued and what ran of it, in one. Nodes of graphs have queue 0.
struct Operation : trace_format::Operation {
  std::uint64_t began = 0, ended = 0;
  std::uint64_t bytes = 0, on = 0, until = 0;
  std::uint32_t kind = trace_format::unknown_operation, name = 0;
  std::uint32_t by = 0, thread = 0;  // who enqueued it, who began it
  std::uint32_t grid[3] = {}, block[3] = {};
};

// Times are nanoseconds of CLOCK_MONOTONIC, 0 for what did not happen.
struct Trace {
  std::vector<Operation> operations;   // by the time at which they were enqueued, or began
  std::vector<Span> spans;             // by thread, then by their beginning
  std::vector<std::string> texts{""};  // by number; kernels' names demangled
  std::uint64_t lost = 0;
  std::uint32_t pid = 0;
  bool complete = false;  // the program ended by itself

  // What the queue was called at that time; empty for the runtime's own.
  const std::string& name_of(std::uint64_t queue, std::uint64_t when) const;
  // Source lines of texts that are sites.
  std::map<std::uint32_t, std::string> places;

  struct Name {
    std::uint64_t since;
    std::string name;
  };
  std::map<std::uint64_t, std::vector<Name>> names;  // of queues
};

// Throws std::runtime_error with a sentence when the file can't be read or is none. One that was cut short gives what
// is there.
Trace read_trace(const std::string& path);

// Runs the command with its trace in a temporary file. Exit status of the command in `status`, 128 + signal if it died
// of one.
Trace run_traced(const std::vector<std::string>& command, int* status);

}  // namespace millrace
