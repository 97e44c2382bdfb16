// How mrcc gives up: a sentence for the user and an exit status. main() prints it as "mrcc: error: SENTENCE".
#pragma once
#include <stdexcept>
#include <string>

namespace mrcc {

// An empty sentence means that the diagnostics are already on the screen (a tool failed and said why).
struct Failure : std::runtime_error {
  explicit Failure(const std::string& sentence, int status = 1) : std::runtime_error(sentence), status(status) {}
  int status;
};

void warn(const std::string& sentence);
// Drops warnings from now on (-w).
void silence_warnings();

}  // namespace mrcc
