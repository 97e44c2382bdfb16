// The table of nvcc's options. One line an option: all its names without dashes, how it takes a value, and what it
// means.
#pragma once
#include <span>
#include <string_view>

namespace mrcc {

enum class Takes {
  nothing,   // -shared; "=true" and "=false" are understood
  value,     // -o file, -o=file
  sticky,    // -Ifile, -I file, -I=file
  optional,  // -O2, -O=2, -O 2: a value that is a number
};

enum class Opt {
  // phases
  preprocess,
  dependencies,
  dependencies_user,
  dependencies_compile,
  dependencies_compile_user,
  dependency_file,
  dependency_target,
  dependency_target_quoted,
  dependency_phony,
  compile,
  device_c,
  device_w,
  device_link,
  link,
  archive,
  run,
  assembly,
  image,
  no_gpu_format,
  // files
  output,
  output_directory,
  pre_include,
  library,
  define,
  undefine,
  include,
  system_include,
  library_path,
  language,
  // code generation
  debug,
  device_debug,
  line_info,
  optimize,
  exceptions_off,
  shared,
  standard,
  extended_lambda,
  relaxed_constexpr,
  bits,
  arch,
  code,
  gencode,
  rdc,
  whole_program,
  fast_math,
  fmad,
  default_stream,
  cudart,
  no_device_link,
  profile,
  template_depth,
  backtrace_limit,
  // the tools' own options
  xcompiler,
  xlinker,
  xarchive,
  // diagnostics
  no_warnings,
  werror,
  wno_deprecated,
  wreorder,
  // how to go about it
  verbose,
  dry_run,
  keep,
  keep_dir,
  time,
  run_arguments,
  options_file,
  help,
  version,
  list_arch,
  list_code,
  forward_unknown,
  // Millrace's own
  mrcc_march,
  mrcc_mode,
  mrcc_report,
  mrcc_check,
  // understood, and without a meaning here
  ignored
};

struct OptionRow {
  std::string_view names;  // separated by blanks; each may be written with one dash or two
  Takes takes;
  Opt id;
  std::string_view help;  // empty: not shown by --help
};

std::span<const OptionRow> option_table();

}  // namespace mrcc
