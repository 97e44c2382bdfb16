// Where mrcc finds what it needs: its own tree, relative to its executable, and clang 19's tools.
#pragma once
#include <filesystem>

#include "options.h"

namespace mrcc {

// The tree is ROOT/{bin/mrcc,include,lib,lib/millrace}; the build folder has the same shape. Nothing in it is absolute,
// so a tree can be moved. LLVM's tools are looked for in $MILLRACE_LLVM/bin, where the build found them, and in PATH.
class Toolchain {
 public:
  // Throws Failure when mrcc's own executable can't be found.
  Toolchain();

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path include() const { return root_ / "include"; }
  std::filesystem::path libraries() const { return root_ / "lib"; }
  // A file of lib/millrace; throws a sentence naming it when it isn't there.
  std::filesystem::path part(const char* name) const;
  // The same for a header or a folder of headers, by its name in include.
  std::filesystem::path header(const char* name) const;
  // "clang++", "clang", "ld.lld", "llvm-link", "llvm-ar", …; throws a sentence naming what is missing and what to do.
  std::string tool(const std::string& name) const;
  // compiler-rt's builtins, for helper functions that code generation calls (128-bit division and the like).
  std::filesystem::path builtins() const;

 private:
  std::filesystem::path root_;
};

// The -march= of device code: what the user chose, or the highest of x86-64-v3 and -v4 that this machine runs. Only
// levels, and no processors' names: the runtime can tell at load whether a machine has a level, and machines of one
// level make the same image.
std::string device_march(const Options& options);

// Removes folders that hold another CUDA toolkit's headers from a list of clang flags, with a warning each: -I would
// put them before Millrace's own.
void drop_foreign_headers(Argv& flags, const Toolchain& tools);
// The same for CPATH and kin, and without a warning for LIBRARY_PATH.
void drop_foreign_toolkits_from_environment(const Toolchain& tools);

}  // namespace mrcc
