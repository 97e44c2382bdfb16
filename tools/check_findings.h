// What the checker's library writes while the program runs (docs/check.md), with addresses turned into source lines.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "symbolize.h"

namespace millrace {

struct Side {
  std::string what, access, place, api;
  std::vector<Frame> frames;  // innermost first; headers of the runtime and of the standard library are left out
  std::string via_api;
  std::vector<Frame> via;
  std::vector<Frame> stream;  // where the stream was made
  Frame device;               // statement in a kernel; file empty: none
};

struct Finding {
  std::string kind, why, edge;
  Side a, b;
  std::string memory, buffer_name, buffer_api;
  std::vector<Frame> buffer;
  std::uint64_t buffer_bytes = 0, begin = 0, end = 0;
  std::string common_api, common_kernel;
  std::vector<Frame> common;
  std::uint64_t count = 1;
};

struct CheckResult {
  std::vector<Finding> findings;  // folded: one a pair of source lines and kind
  bool complete = false;          // the program came to its end
  bool started = false;           // the library was there
  std::uint64_t operations = 0, accesses = 0, bytes = 0, unchecked_kernels = 0;
  std::string other_version;     // what doesn't fit this version, and kept the program from being checked
  std::uint64_t unfinished = 0;  // operations that had not run when the program ended
  unsigned suppressed = 0;
};

// Reads the file that the library wrote. Throws std::runtime_error with a sentence.
CheckResult read_findings(const std::string& path);

}  // namespace millrace
