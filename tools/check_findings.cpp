#include "check_findings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace millrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void collect(const json& frames, std::map<Address, std::vector<Frame>>& addresses) {
  for (const json& frame : frames) addresses[{frame[0], frame[1]}];
}

void collect_all(const json& value, std::map<Address, std::vector<Frame>>& addresses) {
  if (!value.is_object()) return;
  for (const auto& [key, child] : value.items()) {
    if (key == "frames")
      collect(child, addresses);
    else
      collect_all(child, addresses);
  }
}

std::vector<Frame> frames_of(const json& value, const std::map<Address, std::vector<Frame>>& addresses) {
  std::vector<Frame> frames;
  if (!value.contains("frames")) return frames;
  for (const json& frame : value["frames"])
    for (const Frame& f : addresses.at({frame[0], frame[1]}))
      if (!foreign(f)) frames.push_back(f);
  return frames;
}

Side side_of(const json& value, const std::map<Address, std::vector<Frame>>& addresses) {
  Side side;
  side.what = value.value("what", "");
  side.access = value.value("access", "");
  side.place = value.value("place", "");
  side.api = value.value("api", "");
  side.frames = frames_of(value, addresses);
  // The stub that launches a kernel has the kernel's name and line.
  if (side.what.starts_with("kernel ") && side.frames.size() > 1) {
    const auto plain = [](const std::string& name) { return name.substr(0, name.find_first_of("(<")); };
    if (plain(side.frames.front().function) == plain(side.what.substr(7))) side.frames.erase(side.frames.begin());
  }
  if (value.contains("via")) {
    side.via_api = value["via"].value("api", "");
    side.via = frames_of(value["via"], addresses);
  }
  if (value.contains("stream")) side.stream = frames_of(value["stream"], addresses);
  if (value.contains("device")) {
    side.device.file = value["device"].value("file", "");
    side.device.line = value["device"].value("line", 0u);
    side.device.function = value["device"].value("function", "");
  }
  return side;
}

std::string place_key(const Side& side) {
  const Frame f = side.frames.empty() ? Frame{} : side.frames.front();
  return fmt::format("{}:{}:{}", f.file, f.line, side.what);
}

}  // namespace

CheckResult read_findings(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(fmt::format("the findings in {} could not be read", path));
  CheckResult result;
  std::vector<json> lines;
  json counts = json::object();
  for (std::string line; std::getline(in, line);) {
    json value = json::parse(line, nullptr, false);
    if (value.is_discarded()) continue;  // cut short
    if (value.contains("other_version")) {
      result.other_version = value.value("other_version", "");
    } else if (value.contains("started")) {
      result.started = true;
    } else if (value.contains("summary")) {
      if (!value.value("child", false)) result.complete = value.value("complete", false);
      result.operations += value.value("operations", std::uint64_t{0});
      result.accesses += value.value("accesses", std::uint64_t{0});
      result.bytes += value.value("bytes", std::uint64_t{0});
      result.unchecked_kernels += value.value("unchecked_kernels", std::uint64_t{0});
      result.unfinished += value.value("unfinished", std::uint64_t{0});
      counts.update(value["counts"]);
    } else if (value.contains("finding")) {
      lines.push_back(std::move(value));
    }
  }
  std::map<Address, std::vector<Frame>> addresses;
  for (const json& line : lines) collect_all(line, addresses);
  symbolize(addresses);
  std::map<std::string, std::size_t> known;
  for (const json& line : lines) {
    Finding f;
    f.kind = line.value("kind", "");
    f.why = line.value("why", "");
    f.edge = line.value("edge", "");
    f.a = side_of(line["a"], addresses);
    f.b = side_of(line["b"], addresses);
    const json& buffer = line["buffer"];
    f.memory = buffer.value("memory", "");
    f.buffer_name = buffer.value("name", "");
    f.buffer_api = buffer.value("api", "");
    f.buffer_bytes = buffer.value("bytes", std::uint64_t{0});
    f.begin = buffer.value("begin", std::uint64_t{0});
    f.end = buffer.value("end", std::uint64_t{0});
    f.buffer = frames_of(buffer, addresses);
    if (line.contains("common")) {
      f.common_api = line["common"].value("api", "");
      f.common_kernel = line["common"].value("kernel", "");
      f.common = frames_of(line["common"], addresses);
    }
    const std::string id = std::to_string(line["finding"].get<std::uint64_t>());
    if (counts.is_object() && counts.contains(id)) f.count = counts[id];
    // The same two lines by other call paths are the same mistake.
    const std::string key = fmt::format("{}|{}|{}|{}:{}|{}:{}", f.kind, place_key(f.a), place_key(f.b),
                                        f.kind == "intra-grid" ? f.a.device.line : 0, 0,
                                        f.kind == "intra-grid" ? f.b.device.line : 0, 0);
    const auto [it, fresh] = known.emplace(key, result.findings.size());
    if (fresh)
      result.findings.push_back(std::move(f));
    else
      result.findings[it->second].count += f.count;
  }
  return result;
}

}  // namespace millrace
