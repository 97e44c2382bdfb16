// The command line, parsed: what nvcc's grammar says, in terms of what mrcc does about it.
//
// nvcc's grammar isn't the usual one (single-dash long names, values joined by "=", list values split at commas, sticky
// short options, several spellings of everything), which is why a table of our own reads it instead of a library for
// GNU-style options. options_table.cpp holds the table, options.cpp what each entry does.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "process.h"

namespace mrcc {

enum class Language { cuda, cpp, c, assembler, object };

enum class Phase {
  preprocess,    // -E
  dependencies,  // -M, -MM
  assembly,      // -S: the host's, with the device image in it
  compile,       // -c, -dc, -dw
  device_link,   // -dlink: one object with the linked device image and its registration
  image,         // -cubin, -fatbin: the device image alone
  archive,       // -lib
  link           // an executable, or a shared library
};

struct Input {
  std::string path;
  Language language;
};

// One thing on the host linker's command line, in the user's order: an input (by its place) or an argument.
struct LinkItem {
  int input = -1;
  std::string argument;
};

struct Options {
  Phase phase = Phase::link;
  std::string output;            // -o; empty: nvcc's default name
  std::string output_directory;  // -odir
  std::vector<Input> inputs;
  std::vector<LinkItem> link;
  std::string unknown_input;  // the first file whose language can't be told; empty when there is none

  // Flags for clang, in the user's order.
  Argv both;             // both passes, and plain C and C++
  Argv host;             // host pass and plain C and C++ only
  Argv device;           // device pass only
  Argv dependencies;     // -MD and kin: host pass only, so that the file is written once
  std::string standard;  // -std=…, empty when not given
  Argv archive;          // -Xarchive

  bool relocatable = false;  // -rdc=true, -dc
  std::string image_suffix;  // -cubin, -fatbin: what the device image's file ends with; else empty
  bool shared = false;
  bool static_runtime = false;  // -cudart static
  bool no_runtime = false;      // -cudart none
  bool link_device = true;      // not -nodlink
  bool per_thread_stream = false;
  bool debug = false;         // -g
  bool device_debug = false;  // -G
  bool line_info = false;     // -lineinfo
  bool fused_multiply_add = true;
  bool fast_math = false;
  bool relaxed_constexpr = false, extended_lambda = false;
  bool no_dependency_target = false;
  std::string host_optimization;   // "-O2"; empty when not given
  std::vector<int> architectures;  // -arch and -gencode: 90 for sm_90
  bool feature_specific = false;   // sm_90a and kin
  int cuda_arch() const;           // __CUDA_ARCH__, 900 when nothing was given

  bool verbose = false, dry_run = false, run = false, time = false;
  Argv run_arguments;
  std::string keep_folder;  // --keep, --keep-dir; empty: temporary files are removed
  bool show_help = false, show_version = false;
  std::string list;  // --list-gpu-arch, --list-gpu-code

  // Millrace's own.
  std::string march;  // -mrcc-march=; empty or native: the highest x86-64 level of this machine
  std::string mode;   // -mrcc-mode=loop|fibers|auto
  bool report = false;
  bool check = false;  // -mrcc-check
};

// Parses argv[1..]. Reads response files and NVCC_PREPEND_FLAGS / NVCC_APPEND_FLAGS. Warns about what it doesn't know;
// throws Failure for what can't mean anything.
Options parse_options(const Argv& arguments);

// Splits text as a shell would: blanks separate, quotes and backslashes protect. For response files and environment.
Argv split_words(std::string_view text);
// Splits an nvcc list value: at commas and blanks outside quotes.
Argv split_list(std::string_view text);

std::string help_text();

}  // namespace mrcc
