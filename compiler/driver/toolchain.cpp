#include "toolchain.h"

#include <unistd.h>

#include <cstdlib>
#include <set>

#include "failure.h"

namespace mrcc {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) { return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

fs::path in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (executable(candidate)) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

fs::path existing(fs::path path) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  throw Failure("the file " + path.string() +
                " is missing: the tree around mrcc is incomplete; build or install Millrace again");
}

const char* package_of(const std::string& tool) {
  if (tool.starts_with("clang")) return "clang-19";
  if (tool == "ld.lld") return "lld-19";
  return "llvm-19";
}

bool is_foreign_toolkit(const fs::path& folder, const Toolchain& tools) {
  std::error_code ignored;
  if (!fs::exists(folder / "cuda_runtime_api.h", ignored)) return false;
  return !fs::equivalent(folder, tools.include(), ignored);
}

bool has_foreign_runtime(const fs::path& folder, const Toolchain& tools) {
  std::error_code ignored;
  if (fs::equivalent(folder, tools.libraries(), ignored)) return false;
  for (const char* library : {"libcudart.so", "libcudart_static.a", "libcuda.so"})
    if (fs::exists(folder / library, ignored)) return true;
  return false;
}

void warn_foreign(const std::string& folder) {
  static std::set<std::string> told;
  if (told.insert(folder).second)
    warn("the folder " + folder + " holds another CUDA toolkit's headers and is left out: programs use Millrace's");
}

}  // namespace

Toolchain::Toolchain() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Failure("mrcc can't find its own executable (/proc/self/exe: " + error.message() + "): is /proc mounted?");
  root_ = self.parent_path().parent_path();
}

fs::path Toolchain::part(const char* name) const { return existing(libraries() / "millrace" / name); }

fs::path Toolchain::header(const char* name) const { return existing(include() / name); }

std::string Toolchain::tool(const std::string& name) const {
  if (const char* chosen = std::getenv("MILLRACE_LLVM"); chosen && *chosen) {
    const fs::path path = fs::path(chosen) / "bin" / name;
    if (executable(path)) return path;
    throw Failure("the tool " + path.string() +
                  " is missing: MILLRACE_LLVM must name the folder of an LLVM 19 installation");
  }
  const fs::path built = fs::path(MRCC_LLVM_BIN) / name;
  if (executable(built)) return built;
  for (const std::string& candidate : {name + "-19"})
    if (const fs::path path = in_path(candidate); !path.empty()) return path;
  throw Failure("the tool " + name + " of LLVM 19 is missing (looked for " + built.string() + " and " + name +
                "-19 in PATH): install the package " + package_of(name) +
                ", or set MILLRACE_LLVM to the folder of an LLVM 19 installation");
}

fs::path Toolchain::builtins() const {
  const fs::path clang = tool("clang++");
  std::error_code ignored;
  const fs::path llvm = fs::canonical(clang, ignored).parent_path().parent_path();
  for (const char* sub : {"lib/clang/19/lib/linux/libclang_rt.builtins-x86_64.a",
                          "lib/clang/19/lib/x86_64-unknown-linux-gnu/libclang_rt.builtins.a",
                          "lib/clang/19/lib/x86_64-pc-linux-gnu/libclang_rt.builtins.a"})
    if (fs::exists(llvm / sub, ignored)) return llvm / sub;
  return {};
}

std::string device_march(const Options& options) {
  if (!options.march.empty() && options.march != "native") return options.march;
  return __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : "x86-64-v3";
}

void drop_foreign_headers(Argv& flags, const Toolchain& tools) {
  Argv kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& f = flags[i];
    std::string folder;
    bool separate = false;
    if (f.starts_with("-I") && f.size() > 2) {
      folder = f.substr(2);
    } else if ((f == "-I" || f == "-isystem" || f == "-idirafter" || f == "-iquote") && i + 1 < flags.size()) {
      folder = flags[i + 1];
      separate = true;
    } else if (f.starts_with("-isystem") && f.size() > 8) {
      folder = f.substr(8);
    }
    if (!folder.empty() && is_foreign_toolkit(folder, tools)) {
      warn_foreign(folder);
      i += separate;
      continue;
    }
    kept.push_back(f);
    if (separate) kept.push_back(flags[++i]);
  }
  flags = std::move(kept);
}

void drop_foreign_toolkits_from_environment(const Toolchain& tools) {
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"}) {
    const bool libraries = std::string_view(name) == "LIBRARY_PATH";
    const char* value = std::getenv(name);
    if (!value) continue;
    std::string kept;
    bool changed = false;
    std::string_view rest(value);
    while (!rest.empty()) {
      const auto end = std::min(rest.find(':'), rest.size());
      const std::string folder(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!folder.empty() && (libraries ? has_foreign_runtime(folder, tools) : is_foreign_toolkit(folder, tools))) {
        if (!libraries) warn_foreign(folder);
        changed = true;
        continue;
      }
      kept += (kept.empty() ? "" : ":") + folder;
    }
    if (!changed) continue;
    if (kept.empty())
      unsetenv(name);
    else
      setenv(name, kept.c_str(), 1);
  }
}

}  // namespace mrcc
