#include "prelude_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include "compile.h"
#include "dependencies.h"
#include "failure.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

constexpr const char* headers[] = {"millrace/device_prelude.h", "cuda_runtime.h"};
constexpr std::size_t kept_entries = 48;  // about 5 MB each

fs::path cache_folder() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  fs::path folder = variable("MILLRACE_CACHE");
  if (folder == "off" || folder == "0") return {};
  if (folder.empty() && !variable("XDG_CACHE_HOME").empty()) folder = variable("XDG_CACHE_HOME") / "millrace";
  if (folder.empty() && !variable("HOME").empty()) folder = variable("HOME") / ".cache" / "millrace";
  std::error_code error;
  if (folder.is_relative()) return {};
  fs::create_directories(folder, error);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? folder : fs::path();
}

// A macro of the user's can't change what the prelude means, unless the standard library reserves its name.
bool reserved(std::string_view macro) { return macro.starts_with('_') || macro.starts_with("NDEBUG"); }

// The part of a pass's flags that decides what the prelude means; nothing when a prelude can't be precompiled for them.
std::optional<Argv> relevant(const Argv& pass) {
  Argv kept;
  for (std::size_t i = 0; i < pass.size(); ++i) {
    const std::string& flag = pass[i];
    if (flag == "-include" || flag == "-imacros" || flag == "-include-pch" || flag.starts_with("-save-temps") ||
        flag.starts_with("--save-temps"))
      return {};
    if (flag == "-D" || flag == "-U" || flag == "-I" || flag == "-iquote") {
      if (++i == pass.size()) return {};
      if (flag[1] != 'I' && flag[1] != 'i' && reserved(pass[i])) kept.insert(kept.end(), {flag, pass[i]});
    } else if (flag.starts_with("-D") || flag.starts_with("-U")) {
      if (reserved(std::string_view(flag).substr(2))) kept.push_back(flag);
    } else if (flag == "-Wno-unused-command-line-argument" ||
               !(flag.starts_with("-I") || flag.starts_with("-L") ||
                 (flag.starts_with("-W") && flag.find(',') == flag.npos) || flag == "-w" ||
                 flag == "-fcolor-diagnostics")) {
      kept.push_back(flag);
    }
  }
  return kept;
}

std::string joined(const Argv& flags) {
  std::string line;
  for (const auto& flag : flags) line += shell_quote(flag) + " ";
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// FNV-1a: only a file's name; the entry's list holds the flags themselves.
std::string key(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016lx", hash);
  return digits;
}

// "SIZE SECONDS.NANOSECONDS NAME" of the file at `path`; empty when there is no such file.
std::string state(const std::string& path, const std::string& name) {
  struct stat file{};
  if (stat(path.c_str(), &file) != 0) return {};
  std::ostringstream line;
  line << file.st_size << ' ' << file.st_mtim.tv_sec << '.' << file.st_mtim.tv_nsec << ' ' << name;
  return line.str();
}

// The last line of a list is the precompiled prelude's own: one that was damaged, or is another process's, is made
// anew.
bool current(const fs::path& entry, const std::string& flags) {
  std::ifstream in(fs::path(entry).concat(".list"));
  std::string line, file;
  if (!std::getline(in, line) || line != flags) return false;
  while (std::getline(in, line)) {
    const auto first = line.find(' ');
    const auto second = first == line.npos ? first : line.find(' ', first + 1);
    if (second == line.npos) return false;
    file = line.substr(second + 1);
    if (state(file, file) != line) return false;
  }
  return file == fs::path(entry).concat(".pch");
}

// Entries not used for longest go first. A list's time of change is its last use.
void prune(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".list") entries.emplace_back(entry.last_write_time(error), entry.path());
  if (entries.size() <= kept_entries) return;
  std::sort(entries.begin(), entries.end());
  entries.resize(entries.size() - kept_entries);
  for (const auto& [time, list] : entries) {
    fs::remove(list, error);
    fs::remove(fs::path(list).replace_extension(".pch"), error);
  }
}

// One entry being made: in a file of its own, which then takes the entry's name.
struct Making {
  fs::path entry, temporary, rule;
  std::string flags;
  Child child;
};

Making start(const Options& o, const Toolchain& tools, const Argv& relevant_flags, const std::string& flags,
             const fs::path& entry) {
  Making m{entry, entry, TemporaryFolder::name("prelude", ".d"), flags, {}};
  m.temporary += "." + std::to_string(getpid());
  Argv argv = relevant_flags;
  argv.insert(argv.end(), {"-w", "-Xclang", "-emit-pch", "-MD", "-MF", m.rule, "-c",
                           tools.header("millrace/prelude.cu"), "-o", m.temporary});
  show(o, argv);
  m.child = Child::start(argv, TemporaryFolder::name("prelude", ".txt"));
  return m;
}

bool finish(Making& m, const Toolchain& tools) {
  std::error_code error;
  if (m.child.wait() != 0) {
    fs::remove(m.temporary, error);
    return false;
  }
  Argv files = prerequisites(read_file(m.rule));
  for (const char* part : {"libmrfrontend.so", "libmrpasses.so"}) files.push_back(tools.part(part));
  const fs::path prelude = fs::path(m.entry).concat(".pch");
  std::string list = m.flags + "\n";
  for (const auto& file : files) list += state(file, file) + "\n";
  list += state(m.temporary, prelude) + "\n";
  const fs::path temporary_list = fs::path(m.temporary).concat(".list");
  std::ofstream(temporary_list) << list;
  fs::rename(m.temporary, prelude, error);
  if (!error) fs::rename(temporary_list, fs::path(m.entry).concat(".list"), error);
  if (error) {
    fs::remove(m.temporary, error);
    fs::remove(temporary_list, error);
    return false;
  }
  return true;
}

}  // namespace

PreludeCache::PreludeCache(const Options& options, const Toolchain& tools)
    : folder_(options.dry_run ? fs::path() : cache_folder()), o_(options), tools_(tools) {}

Argv PreludeCache::included(const Toolchain& tools) {
  Argv flags;
  for (const char* header : headers) {
    tools.header(header);  // says which one is missing
    flags.insert(flags.end(), {"-include", header});
  }
  return flags;
}

std::vector<Argv> PreludeCache::flags(const std::vector<Argv>& passes) const {
  std::vector<Argv> result(passes.size(), included(tools_));
  if (folder_.empty()) return result;
  const auto use = [&](std::size_t pass, const fs::path& entry) {
    result[pass] = {"-Xclang", "-include-pch", "-Xclang", fs::path(entry).concat(".pch")};
  };
  std::vector<std::pair<std::size_t, Making>> missing;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const std::optional<Argv> decisive = relevant(passes[i]);
    if (!decisive) continue;
    const std::string text = joined(*decisive);
    const fs::path entry = folder_ / ("prelude-" + key(text));
    if (current(entry, text) && access(fs::path(entry).concat(".pch").c_str(), R_OK) == 0) {
      utimensat(AT_FDCWD, fs::path(entry).concat(".list").c_str(), nullptr, 0);
      use(i, entry);
    } else {
      missing.emplace_back(i, start(o_, tools_, *decisive, text, entry));
    }
  }
  // A prelude that can't be precompiled with these flags can't be compiled with them either: clang says why when it
  // meets the user's file.
  for (auto& [pass, making] : missing)
    if (finish(making, tools_)) use(pass, making.entry);
  if (!missing.empty()) prune(folder_);
  return result;
}

}  // namespace mrcc
