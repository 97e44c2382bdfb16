// Precompiled preludes: what every .cu file knows before its first line (millrace/device_prelude.h, cuda_runtime.h and
// the standard headers they bring) is the larger part of a short program's compile time, and the same for all programs
// that are compiled with the same flags.
//
// A cache of the user's: $MILLRACE_CACHE, or millrace in $XDG_CACHE_HOME or ~/.cache; MILLRACE_CACHE=off, or a folder
// that can't be made or written, and everything is parsed each time. An entry is a precompiled header and a list of the
// flags and files that went into it, with their sizes and times of change: it is used only while all are as they were.
// Entries appear by renaming, so any number of mrcc's may share a folder.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "options.h"
#include "process.h"
#include "toolchain.h"

namespace mrcc {

class PreludeCache {
 public:
  PreludeCache(const Options& options, const Toolchain& tools);

  // For each pass, given as a clang command without its input, output and prelude: the flags that bring the prelude in.
  // Precompiles what isn't there yet, all passes at once. With --dryrun, and for commands whose meaning a precompiled
  // prelude could change (-include, -save-temps), the flags just include the headers.
  std::vector<Argv> flags(const std::vector<Argv>& passes) const;
  // The flags that include the prelude's headers, for one pass.
  static Argv included(const Toolchain& tools);

 private:
  std::filesystem::path folder_;  // empty: no cache
  const Options& o_;
  const Toolchain& tools_;
};

}  // namespace mrcc
