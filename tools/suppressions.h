// Findings that `millrace check` is told not to report (docs/check.md).
#pragma once
#include <string>
#include <vector>

#include "check_findings.h"

namespace millrace {

// One line of the file: `KIND:TEXT` or `TEXT`; `#` begins a comment. It covers a finding whose kind is KIND (`*`: any)
// and that has TEXT (nothing or `*`: any) in a function's or a file's name on either side.
struct Suppression {
  std::string kind, text;
  bool covers(const Finding& finding) const;
};

// Throws std::runtime_error, with a sentence, when the file can't be read or a line names a kind that there isn't.
std::vector<Suppression> read_suppressions(const std::string& path);

}  // namespace millrace
