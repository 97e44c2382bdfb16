// One program's diagnostics from its two passes, each shown once.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mrcc {

// Both passes read the same source, so most of what they say is the same. Prints the host pass's diagnostics, then
// those of the device pass that the host pass didn't have; clang's "N errors generated when compiling for …" lines of
// the two become one. A diagnostic is compared by its text from the first "error:" or "warning:" line on, colours
// removed. Errors about functions of the driver API get a note, once.
class DiagnosticMerger {
 public:
  // Adds clang's standard error output of one pass.
  void add(std::string_view text);
  // What is to be shown, ending with the count of warnings and errors when there are any.
  std::string merged() const;
  int errors() const { return errors_; }

 private:
  std::vector<std::string> keys_;
  std::string text_;
  int errors_ = 0, warnings_ = 0;
  bool driver_api_ = false;  // an error was about a function of the driver API
};

}  // namespace mrcc
