#include "diagnostics.h"

#include <algorithm>

namespace mrcc {
namespace {

std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_count(const std::string& line) {
  return line.find(" generated when compiling for ") != std::string::npos ||
         (line.ends_with(" generated.") && (line.find("error") != line.npos || line.find("warning") != line.npos));
}

bool starts_main(const std::string& line) {
  return line.find(": error: ") != line.npos || line.find(": warning: ") != line.npos ||
         line.find(": fatal error: ") != line.npos || line.find(": remark: ") != line.npos ||
         line.starts_with("error: ") || line.starts_with("warning: ") || line.starts_with("fatal error: ");
}

bool starts_include_stack(const std::string& line) {
  return line.starts_with("In file included from ") || line.starts_with("In module ");
}

// clang's error about an unknown name that is one of the driver API's functions: cu, then a capital letter.
bool names_driver_api(const std::string& line) {
  constexpr std::string_view unknown = "use of undeclared identifier 'cu";
  const auto at = line.find(unknown);
  return at != line.npos && at + unknown.size() < line.size() && line[at + unknown.size()] >= 'A' &&
         line[at + unknown.size()] <= 'Z';
}

struct Block {
  std::string shown;  // with colours
  std::string key;    // the main line and what follows it
  bool has_main = false, is_error = false, is_warning = false;
};

}  // namespace

void DiagnosticMerger::add(std::string_view text) {
  std::vector<Block> blocks;
  bool in_stack = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string raw(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string line = without_colours(raw);
    if (is_count(line)) continue;
    const bool stack = starts_include_stack(line), main = starts_main(line);
    // A block is: the include stack, the main line, source excerpts and notes.
    if (blocks.empty() || (stack && !in_stack) || (main && !in_stack)) blocks.emplace_back();
    in_stack = stack || (in_stack && !main && line.starts_with("                 from "));
    Block& b = blocks.back();
    b.shown += raw + "\n";
    if (main) {
      b.has_main = true;
      b.is_error = line.find("error: ") != line.npos;
      driver_api_ |= names_driver_api(line);
      b.is_warning = !b.is_error && line.find("warning: ") != line.npos;
      b.key += line + "\n";
    }
  }
  std::vector<std::string> added;
  for (const Block& b : blocks) {
    const std::string key = b.has_main ? b.key : without_colours(b.shown);
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) continue;
    added.push_back(key);
    text_ += b.shown;
    errors_ += b.is_error;
    warnings_ += b.is_warning;
  }
  keys_.insert(keys_.end(), added.begin(), added.end());
}

std::string DiagnosticMerger::merged() const {
  const auto count = [](int n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  std::string all = text_;
  if (driver_api_)
    all += "mrcc: note: the driver API's functions (cu...) are no part of Millrace, cuda.h has their types alone; the "
           "runtime API's (cuda...) do the same\n";
  if (warnings_ && errors_)
    all += count(warnings_, "warning") + " and " + count(errors_, "error") + " generated.\n";
  else if (errors_)
    all += count(errors_, "error") + " generated.\n";
  else if (warnings_)
    all += count(warnings_, "warning") + " generated.\n";
  return all;
}

}  // namespace mrcc
