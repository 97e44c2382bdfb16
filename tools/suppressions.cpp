#include "suppressions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace millrace {
namespace {

// As the checker names them (runtime/check/report.cpp).
constexpr std::string_view kinds[] = {
    "stream-stream", "stream-host", "host-stream", "default-stream-assumption", "never-recorded-event",
    "stale-event",   "graph-graph", "graph-host",  "unordered-callback",        "intra-grid",
    "peer",          "pool",        "lifetime",
};

bool looks_like_kind(const std::string& word) {
  return !word.empty() && std::ranges::all_of(word, [](unsigned char c) { return std::islower(c) || c == '-'; });
}

}  // namespace

std::vector<Suppression> read_suppressions(const std::string& path) {
  std::vector<Suppression> result;
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("the suppressions in {} could not be read; check the name", path));
  unsigned number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    if (line.empty()) continue;
    const auto colon = line.find(':');
    const std::string kind = line.substr(0, std::min(colon, line.size()));
    if (colon == line.npos || line.starts_with("::") || line.compare(colon, 2, "::") == 0) {
      result.push_back({"*", line});  // a qualified name, for instance
    } else if (kind == "*" || std::ranges::find(kinds, kind) != std::end(kinds)) {
      result.push_back({kind, line.substr(colon + 1)});
    } else if (looks_like_kind(kind)) {
      throw std::runtime_error(fmt::format("{}:{}: there is no kind of finding \"{}\"; the kinds are {}, and * for any",
                                           path, number, kind, fmt::join(kinds, ", ")));
    } else {
      result.push_back({"*", line});
    }
  }
  return result;
}

bool Suppression::covers(const Finding& finding) const {
  if (kind != "*" && kind != finding.kind) return false;
  if (text.empty() || text == "*") return true;
  const auto in = [&](const std::string& name) { return name.find(text) != name.npos; };
  for (const Side* side : {&finding.a, &finding.b}) {
    if (in(side->what) || in(side->device.file)) return true;
    for (const Frame& frame : side->frames)
      if (in(frame.function) || in(frame.file)) return true;
  }
  return false;
}

}  // namespace millrace
