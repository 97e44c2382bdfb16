#include "dependencies.h"

#include <filesystem>
#include <set>

#include "process.h"

namespace mrcc {

namespace fs = std::filesystem;

Argv prerequisites(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == text.npos) return {};
  text.remove_prefix(colon + 2);
  Argv files;
  std::string file;
  const auto end_file = [&] {
    if (!file.empty()) files.push_back(std::move(file));
    file.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      end_file();
      ++i;
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      file += text[i];
      file += text[++i];
    } else if (text[i] == ' ') {
      end_file();
    } else if (text[i] == '\n') {
      break;
    } else {
      file += text[i];
    }
  }
  end_file();
  return files;
}

DependencyFile::DependencyFile(const Options& o, const std::string& input, const std::string& output) {
  std::string kind;
  bool target = false;
  for (std::size_t i = 0; i < o.dependencies.size(); ++i) {
    const std::string& flag = o.dependencies[i];
    if (flag == "-MD" || flag == "-MMD") kind = flag;
    if (flag == "-MP") phony_ = true;
    if (flag == "-MT" || flag == "-MQ") target = true;
    if (flag == "-MF" && i + 1 < o.dependencies.size()) host_file_ = o.dependencies[i + 1];
  }
  host_flags_ = o.dependencies;
  if (kind.empty()) return;
  const bool intermediate = o.phase == Phase::link || o.phase == Phase::device_link || o.phase == Phase::archive;
  const std::string stem = fs::path(input).stem();
  if (host_file_.empty()) {
    host_file_ = intermediate ? stem + ".d" : fs::path(output).replace_extension(".d").string();
    host_flags_.insert(host_flags_.end(), {"-MF", host_file_});
  }
  if (intermediate && !target) host_flags_.insert(host_flags_.end(), {"-MT", stem + ".o"});
  device_file_ = TemporaryFolder::name(stem, ".device.d");
  device_flags_ = {kind, "-MF", device_file_};
}

void DependencyFile::merge() const {
  if (device_file_.empty()) return;
  std::string rule = read_file(host_file_);
  const Argv host = prerequisites(rule);
  std::set<std::string> known(host.begin(), host.end());
  std::string added, phony;
  for (const std::string& file : prerequisites(read_file(device_file_))) {
    if (!known.insert(file).second) continue;
    added += " \\\n  " + file;
    phony += file + ":\n";
  }
  const auto colon = rule.find(": ");
  if (added.empty() || colon == rule.npos) return;
  rule.insert(colon + 1, added);
  if (phony_) rule += phony;
  write_file(host_file_, rule);
}

}  // namespace mrcc
